"""The real datasets of TimeVista: where their files are, how they are read, and how they are cut.

One entry a dataset says all of it: origin, licence, unit, step, season, rubric, the rule of its
windows and their number in Table 3 of the paper. Where the table does not say how a number came
about, `Source.notes` states the rule that is used here, as the package's own.
"""

from timevista_hf.sources._catalog import list_sources, load_source, window_lengths
from timevista_hf.sources._read import read_series
from timevista_hf.sources._source import Hub, Part, Source, SourceSeries, Web
from timevista_hf.sources._windows import Blocks, Cutoffs, Rolling, TestSpan, Window, WindowRule

__all__ = [
    "Blocks",
    "Cutoffs",
    "Hub",
    "Part",
    "Rolling",
    "Source",
    "SourceSeries",
    "TestSpan",
    "Web",
    "Window",
    "WindowRule",
    "list_sources",
    "load_source",
    "read_series",
    "window_lengths",
]
