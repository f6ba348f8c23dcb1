"""Judge forecasts and find anomalies on plots, with rubrics, judges, benchmarks and metrics."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from timevista_hf._names import register_names as _register_names
from timevista_hf._version import __version__

if TYPE_CHECKING:
    from timevista_hf._names import list_metrics, load_dataset, load_metric, unregister_names
    from timevista_hf.cases import ForecastCase
    from timevista_hf.io import read_forecasts, read_judgments, write_judgments
    from timevista_hf.judges import Store, list_judges, load_judge
    from timevista_hf.pipeline import judge_cases
    from timevista_hf.rendering import Style, render_case
    from timevista_hf.rubrics import Judgment, Rubric, list_rubrics, load_rubric, select_rubrics
    from timevista_hf.scoring import score_forecasts

__all__ = [
    "ForecastCase",
    "Judgment",
    "Rubric",
    "Store",
    "Style",
    "__version__",
    "judge_cases",
    "list_judges",
    "list_metrics",
    "list_rubrics",
    "load_dataset",
    "load_judge",
    "load_metric",
    "load_rubric",
    "read_forecasts",
    "read_judgments",
    "render_case",
    "score_forecasts",
    "select_rubrics",
    "unregister_names",
    "write_judgments",
]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used, so that importing the package stays light."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"timevista_hf.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)


_HOMES = {
    "ForecastCase": "cases",
    "Judgment": "rubrics",
    "Rubric": "rubrics",
    "Store": "judges",
    "Style": "rendering",
    "judge_cases": "pipeline",
    "list_judges": "judges",
    "list_metrics": "_names",
    "list_rubrics": "rubrics",
    "load_dataset": "_names",
    "load_judge": "judges",
    "load_metric": "_names",
    "load_rubric": "rubrics",
    "read_forecasts": "io",
    "read_judgments": "io",
    "render_case": "rendering",
    "score_forecasts": "scoring",
    "select_rubrics": "rubrics",
    "unregister_names": "_names",
    "write_judgments": "io",
}

_register_names()
