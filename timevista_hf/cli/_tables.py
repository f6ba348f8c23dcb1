"""The tables that the commands print."""

from __future__ import annotations

import math
from collections.abc import Mapping

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from timevista_hf.costs import CostEstimate
from timevista_hf.results.forecasts import ModelSummary, RaterAgreement, ScoreSummary


def score_table(models: list[ModelSummary]) -> Table:
    """Show each model's mean score and interval, overall and by dimension."""
    dimensions = list(dict.fromkeys(name for model in models for name in model.dimensions))
    table = _empty("Mean score from 1 to 5, with its 95 % interval over cases", "model")
    for name in ("overall", *dimensions):
        table.add_column(name.replace("_", " "), justify="right")
    for model in models:
        scores = [model.overall, *(model.dimensions.get(name) for name in dimensions)]
        table.add_row(Text(model.model), *map(_score, scores))
    return table


def error_table(models: list[ModelSummary]) -> Table:
    """Show each model's cases, coverage and mean errors."""
    table = _empty("Mean errors over cases, 0 is perfect", "model")
    for name in ("cases", "coverage", "MAE", "MASE", "DTW"):
        table.add_column(name, justify="right")
    for model in models:
        coverage = "–" if math.isnan(model.coverage) else f"{model.coverage:.0%}"
        errors = [_error(model, name) for name in ("mae", "mase", "dtw")]
        table.add_row(Text(model.model), str(model.cases), coverage, *errors)
    return table


def agreement_table(agreement: Mapping[str, RaterAgreement]) -> Table:
    """Show how alike the judges of a panel, or the runs of one judge, score."""
    table = _empty("Agreement of the raters, 1 is perfect, 0 is chance", "dimension")
    for name in ("alpha", "all alike", "median"):
        table.add_column(name, justify="right")
    for dimension, found in agreement.items():
        numbers = (found.alpha, found.exact_match, found.median)
        table.add_row(dimension.replace("_", " "), *map(_two_places, numbers))
    return table


def cost_table(judge: str, estimate: CostEstimate) -> Table:
    """Show what a run would use and cost."""
    table = _empty(f"What {judge} would take", "what")
    table.add_column("estimate", justify="right")
    table.add_row("questions to ask", f"{estimate.calls:,}")
    table.add_row("answers known already", f"{estimate.stored:,}")
    table.add_row("input tokens", f"{estimate.input_tokens:,}")
    table.add_row("of them pictures", f"{estimate.image_tokens:,}")
    table.add_row("output tokens", f"{estimate.output_tokens:,}")
    table.add_row("US dollars", f"{estimate.usd:,.2f}")
    table.add_row("US dollars in batch files", f"{estimate.usd_batch:,.2f}")
    table.add_row("prices of", estimate.price_date or "–")
    return table


def _two_places(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.2f}"


def _empty(title: str, first: str) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold", box=SIMPLE_HEAD)
    table.pad_edge, table.padding = False, (0, 1, 0, 0)
    table.add_column(first, overflow="fold", min_width=12)
    return table


def _score(score: ScoreSummary | None) -> str:
    if score is None or math.isnan(score.mean):
        return "–"
    if math.isnan(score.low):
        return f"{score.mean:.2f}"
    return f"{score.mean:.2f}\n{score.low:.1f}–{score.high:.1f}"


def _error(model: ModelSummary, name: str) -> str:
    value, undefined = model.errors.get(name, math.nan), model.undefined.get(name, 0)
    said = "–" if math.isnan(value) else f"{value:.4g}"
    return f"{said} ({undefined} undefined)" if undefined else said
