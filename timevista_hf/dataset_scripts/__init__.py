"""The datasets' builders: beside this file in a wheel, in `dataset_scripts/` in a checkout."""

from pathlib import Path

_here = Path(__file__).parent
if not (_here / "visual_time_anomaly").is_dir():
    __path__.append(str(_here.parents[1] / "dataset_scripts"))
