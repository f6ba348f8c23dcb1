"""The rubric files: beside this module in a wheel, in the root's `rubrics/` in a checkout."""

from pathlib import Path

_here = Path(__file__).parent
if not (_here / "micro").is_dir():
    __path__.append(str(_here.parents[1] / "rubrics"))
