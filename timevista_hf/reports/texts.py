"""The tables of a run as text: Markdown to read, CSV to compute with."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping, Sequence

from timevista_hf.results.anomalies import METRICS, AnomalyScores, SubsetScores
from timevista_hf.results.tables import arrange_tables


def to_markdown(scores: Sequence[SubsetScores], run: Mapping[str, object]) -> str:
    """Write a run's tables in the layout of the paper, in per cent.

    Parameters
    ----------
    scores : sequence of SubsetScores
    run : mapping
        With ``edition`` and ``convention``, which say what the numbers may be compared with.

    Returns
    -------
    str
        Markdown.

    Examples
    --------
    >>> print(to_markdown([], {"edition": "paper", "convention": "paper"}).splitlines()[0])
    # Anomalies found on plots
    """
    lines = ["# Anomalies found on plots", "", *(f"- {note}" for note in explain_run(run))]
    for table in arrange_tables(scores):
        number = f"Table {table.number}: " if table.number else ""
        heads = [f"{heading} {metric}" for heading in table.headings for metric in _SHORT]
        lines += ["", f"## {number}{table.title}", "", _line(["rater", "kind", *heads])]
        lines.append(_line(["---", "---", *["---:"] * len(heads)]))
        lines += [_table_line(row) for row in table.rows]
    return "\n".join(lines) + "\n"


def to_csv(scores: Sequence[SubsetScores]) -> str:
    """Write all scores of a run, a row a rater and subset, in [0, 1]; undefined is empty.

    Parameters
    ----------
    scores : sequence of SubsetScores

    Returns
    -------
    str
        CSV with a header.

    Examples
    --------
    >>> to_csv([]).split(",")[:3]
    ['subset', 'rater', 'kind']
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    estimates = (*METRICS, "clean")
    ends = [f"{name}{end}" for name in estimates for end in ("", "_low", "_high")]
    writer.writerow(["subset", "rater", "kind", *ends, *_COUNTS])
    for one in scores:
        for row in one.rows:
            values = [getattr(row, name) for name in estimates]
            numbers = [_exact(n) for value in values for n in (value.mean, value.low, value.high)]
            judged = row.kind == "judge"
            counts = [_exact(getattr(row, name)) if judged else "" for name in _COUNTS]
            writer.writerow([one.subset, row.rater, row.kind, *numbers, *counts])
    return text.getvalue()


def explain_run(run: Mapping[str, object]) -> list[str]:
    """Say what a run's numbers mean, and what they may be compared with.

    Parameters
    ----------
    run : mapping
        With ``edition`` and ``convention``.

    Returns
    -------
    list of str
        Sentences.

    Examples
    --------
    >>> explain_run({"edition": "corrected", "convention": "honest"})[1]
    'An answer that could not be read counts as one that names nothing.'
    """
    found = [
        "Precision, recall and F1 are means over the series with anomalies, in per cent. "
        "Everything, random, grid and echo are answers that do not look at the series: a judge "
        "that does not beat them has seen nothing."
    ]
    if run.get("convention") == "paper":
        found.append(
            "Scored by the paper's convention: answers that its rule cannot read are left out, so "
            "that a judge may gain by failing; compare how many were scored."
        )
    else:
        found.append("An answer that could not be read counts as one that names nothing.")
    if run.get("edition") == "paper":
        found.append(
            "In the paper's edition subsets share series and labels: intervals resample the series "
            "of one subset, and numbers of several subsets are not independent."
        )
    else:
        found.append(
            "Published numbers are of other series, those of the paper's edition: beside this "
            "corrected edition they compare nothing. Clean series count in their own column only; "
            "an answer that names nothing scores 100 there."
        )
    return found


def percent(value: float) -> str:
    """Write a share in per cent with two decimals, as the paper does."""
    return "–" if math.isnan(value) else f"{100 * value:.2f}"


def _table_line(cells: Sequence[AnomalyScores | None]) -> str:
    one = next(cell for cell in cells if cell is not None)
    shown = [
        "–" if cell is None else percent(getattr(cell, name).mean)
        for cell in cells
        for name in METRICS
    ]
    return _line([one.rater, one.kind, *shown])


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cell.replace('|', '¦') for cell in cells)} |"


def _exact(value: float) -> str:
    return "" if isinstance(value, float) and math.isnan(value) else repr(value)


_SHORT = ("P", "R", "F1")
_COUNTS = ("asked", "scored", "coverage", "empty", "rejected", "hallucinated")
