"""The tables that `timevista detect` prints."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from timevista_hf.results.anomalies import METRICS, AnomalyScores, Estimate, SubsetScores


def detection_table(scores: Sequence[SubsetScores]) -> Table:
    """Show each subset's scores in per cent: the judge's, those of chance, published ones."""
    table = _empty("Anomalies found, in per cent, with the 95 % interval over series")
    for name in ("P", "R", "F1", "clean"):
        table.add_column(name, justify="right")
    for one in scores:
        table.add_row(Text(one.subset, style="bold"))
        table.add_row(*_cells(one.judge))
        for title, rows in (("by chance", one.chance), ("published", one.published)):
            if rows:
                table.add_row(f"  {title}", style="dim")
            for row in rows:
                table.add_row(*_cells(row, indent="    "), style="dim")
        table.add_section()
    return table


def answer_table(scores: Sequence[SubsetScores]) -> Table:
    """Show how many of the judge's answers could be read, and what was odd about them."""
    table = _empty("Answers")
    for name in ("asked", "scored", "coverage", "failed", "hallucinated\nruns"):
        table.add_column(name, justify="right")
    for one in scores:
        row = one.judge
        coverage, failed = f"{row.coverage:.1%}", f"{1 - row.coverage:.1%}"
        counts = [str(row.asked), str(row.scored), coverage, failed, str(row.hallucinated)]
        table.add_row(Text(one.subset), *counts)
    return table


def _empty(title: str) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold", box=SIMPLE_HEAD)
    table.pad_edge, table.padding = False, (0, 1, 0, 0)
    table.add_column("subset", overflow="fold", min_width=12)
    return table


def _cells(row: AnomalyScores, indent: str = "  ") -> list[str | Text]:
    estimates = [_estimate(getattr(row, name)) for name in (*METRICS, "clean")]
    return [Text(f"{indent}{row.rater}"), *estimates]


def _estimate(value: Estimate) -> str:
    if math.isnan(value.mean):
        return "–"
    if math.isnan(value.low):
        return f"{100 * value.mean:.2f}"
    return f"{100 * value.mean:.2f}\n{100 * value.low:.1f}–{100 * value.high:.1f}"
