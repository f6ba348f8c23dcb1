"""The evaluate modules: beside this file in a wheel, in the root's `metrics/` in a checkout."""

from pathlib import Path

_here = Path(__file__).parent
if not (_here / "vlm_judge").is_dir():
    __path__.append(str(_here.parents[1] / "metrics"))
