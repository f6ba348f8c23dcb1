"""Datasets from their builders: the rows that they yield, and folders of Parquet.

A builder in `dataset_scripts/` is a `datasets.GeneratorBasedBuilder` of which two things are asked:
its configurations list their parts (`config.parts`, names such as "corrected/sine-trend"), and
`_generate_examples` takes a list `parts` of such names and a `split`. A part in one split becomes
one file of a built dataset, whatever configuration it is built for.

Two more it may have: `config.made_of`, a text that differs when the files it reads do, and
`describe_copy(files)`, which gives the card of a built dataset front matter and a section.
"""

from timevista_hf.building._anomaly_rows import anomaly_case, anomaly_rows
from timevista_hf.building._build import Build, build_dataset
from timevista_hf.building._rated_rows import hash_rated, rated_case, rated_parts, rated_rows
from timevista_hf.building._series_card import (
    SeriesStatistics,
    describe_series,
    published_statistics,
    summarize_series,
)
from timevista_hf.building._series_rows import series_case, series_parts, series_rows

__all__ = [
    "Build",
    "SeriesStatistics",
    "anomaly_case",
    "anomaly_rows",
    "build_dataset",
    "describe_series",
    "hash_rated",
    "published_statistics",
    "rated_case",
    "rated_parts",
    "rated_rows",
    "series_case",
    "series_parts",
    "series_rows",
    "summarize_series",
]
