"""Judge forecasts and find anomalies on plots, with rubrics, judges, benchmarks and metrics."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from timevista_hf._version import __version__
from timevista_hf.loading.names import register_names as _register_names

if TYPE_CHECKING:
    from timevista_hf.cases import AnomalyCase, ForecastCase
    from timevista_hf.detection import Detection
    from timevista_hf.io import (
        read_detections,
        read_forecasts,
        read_judgments,
        write_detections,
        write_judgments,
    )
    from timevista_hf.judges import JudgeOptions, Store, list_judges, list_presets, load_judge
    from timevista_hf.loading.names import (
        list_datasets,
        list_metrics,
        load_dataset,
        load_metric,
        unregister_names,
    )
    from timevista_hf.pipeline import detect_anomalies, judge_cases
    from timevista_hf.rendering import AnomalyStyle, Style, render_anomalies, render_case
    from timevista_hf.rubrics import Judgment, Rubric, list_rubrics, load_rubric, select_rubrics
    from timevista_hf.runs.forecasts import score_forecasts
    from timevista_hf.sources import list_sources, read_series
    from timevista_hf.synthesis.anomalies import list_subsets, make_anomalies

__all__ = [
    "AnomalyCase",
    "AnomalyStyle",
    "Detection",
    "ForecastCase",
    "JudgeOptions",
    "Judgment",
    "Rubric",
    "Store",
    "Style",
    "__version__",
    "detect_anomalies",
    "judge_cases",
    "list_datasets",
    "list_judges",
    "list_metrics",
    "list_presets",
    "list_rubrics",
    "list_sources",
    "list_subsets",
    "load_dataset",
    "load_judge",
    "load_metric",
    "load_rubric",
    "make_anomalies",
    "read_detections",
    "read_forecasts",
    "read_judgments",
    "read_series",
    "render_anomalies",
    "render_case",
    "score_forecasts",
    "select_rubrics",
    "unregister_names",
    "write_detections",
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
    "AnomalyCase": "cases",
    "AnomalyStyle": "rendering",
    "Detection": "detection",
    "ForecastCase": "cases",
    "JudgeOptions": "judges",
    "Judgment": "rubrics",
    "Rubric": "rubrics",
    "Store": "judges",
    "Style": "rendering",
    "detect_anomalies": "pipeline",
    "judge_cases": "pipeline",
    "list_datasets": "loading.names",
    "list_judges": "judges",
    "list_metrics": "loading.names",
    "list_presets": "judges",
    "list_rubrics": "rubrics",
    "list_sources": "sources",
    "list_subsets": "synthesis.anomalies",
    "load_dataset": "loading.names",
    "load_judge": "judges",
    "load_metric": "loading.names",
    "load_rubric": "rubrics",
    "make_anomalies": "synthesis.anomalies",
    "read_detections": "io",
    "read_forecasts": "io",
    "read_judgments": "io",
    "read_series": "sources",
    "render_anomalies": "rendering",
    "render_case": "rendering",
    "score_forecasts": "runs.forecasts",
    "select_rubrics": "rubrics",
    "unregister_names": "loading.names",
    "write_detections": "io",
    "write_judgments": "io",
}

_register_names()
