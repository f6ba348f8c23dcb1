"""The tables of the paper: which subsets stand side by side, and under which heading."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any

from timevista_hf.published import load_published
from timevista_hf.results.anomalies import METRICS, AnomalyScores, SubsetScores
from timevista_hf.synthesis.anomalies import AnomalySubset, find_subset


@dataclass(frozen=True, kw_only=True)
class PaperTable:
    """Hold one table as the paper has it, filled from a run.

    Parameters
    ----------
    number : int, optional
        From 2 to 34; None for the subsets that the paper does not have.
    title : str
        What its subsets have in common.
    headings : tuple of str
        What tells them apart, one a column.
    columns : tuple of SubsetScores
        The subsets of the run, in the order of the paper.
    """

    number: int | None
    title: str
    headings: tuple[str, ...]
    columns: tuple[SubsetScores, ...]

    @property
    def rows(self) -> list[tuple[AnomalyScores | None, ...]]:
        """The raters, the run's judge first: a score for each column, None where one lacks it."""
        known = [{(row.kind, row.rater): row for row in column.rows} for column in self.columns]
        raters = dict.fromkeys(rater for column in known for rater in column)
        order = ("judge", "chance", "published")
        ordered = sorted(raters, key=lambda rater: order.index(rater[0]))
        return [tuple(column.get(rater) for column in known) for rater in ordered]


def arrange_tables(scores: Sequence[SubsetScores]) -> list[PaperTable]:
    """Arrange a run's subsets in the tables of the paper; those without any are left out.

    A subset stands in every table that shows it: tables 4, 6 and 26 have some in common.

    Parameters
    ----------
    scores : sequence of SubsetScores

    Returns
    -------
    list of PaperTable
        In the order of the paper; subsets that it does not have come last, without a number.

    Examples
    --------
    >>> arrange_tables([])
    []
    """
    known = {one.subset: one for one in scores}
    tables = [
        _table(number, [known[name] for name in subsets if name in known])
        for number, subsets in _paper_tables().items()
        if not known.keys().isdisjoint(subsets)
    ]
    placed = {name for subsets in _paper_tables().values() for name in subsets}
    others = [one for one in scores if one.subset not in placed]
    return [*tables, _table(None, others)] if others else tables


def to_records(scores: Sequence[SubsetScores]) -> dict[str, list[dict[str, Any]]]:
    """Turn a run's scores into plain values for JSON; undefined is nan, scores are in [0, 1].

    Parameters
    ----------
    scores : sequence of SubsetScores

    Returns
    -------
    dict of str to list of dict
        ``subsets`` with all raters of each, ``tables`` in the layout of the paper.

    Examples
    --------
    >>> to_records([])
    {'subsets': [], 'tables': []}
    """
    return {
        "subsets": [
            {"subset": one.subset, **_parts(one.subset), "rows": [_record(row) for row in one.rows]}
            for one in scores
        ],
        "tables": [_table_record(table) for table in arrange_tables(scores)],
    }


@cache
def _paper_tables() -> dict[int, list[str]]:
    tables: dict[int, dict[str, None]] = {}
    for row in load_published("visual_time_anomaly"):
        tables.setdefault(int(row["table"]), {}).setdefault(row["subset"])
    return {number: [*subsets] for number, subsets in tables.items()}


def _table(number: int | None, columns: list[SubsetScores]) -> PaperTable:
    subsets = [_find(one.subset) for one in columns]
    if number is None:
        title, headings = "Not in the paper", [one.subset for one in columns]
    else:
        shown = [find_subset(name) for name in _paper_tables()[number]]
        title = _title(shown)
        several = len({one.base for one in shown}) > 1
        headings = [
            (f"{BASES[one.base]}: " if several else "") + one.anomaly.replace("_", " ")
            for one in subsets
            if one is not None
        ]
    return PaperTable(number=number, title=title, headings=tuple(headings), columns=tuple(columns))


def _title(subsets: list[AnomalySubset]) -> str:
    one = subsets[0]
    parts = ["multivariate" if one.granularity == "variate" else "univariate"]
    if one.granularity != "variate" and len({other.granularity for other in subsets}) == 1:
        parts.append(f"{one.granularity}s")
    if len({other.base for other in subsets}) == 1:
        parts.append(BASES[one.base])
    if one.granularity == "variate":
        parts.append(f"{one.num_variates} variates")
    if one.irregularity:
        parts.append(f"{one.irregularity} % of the steps missing")
    return ", ".join(parts)


def _parts(name: str) -> dict[str, Any]:
    subset = _find(name)
    return {} if subset is None else asdict(subset)


def _find(name: str) -> AnomalySubset | None:
    try:
        return find_subset(name)
    except ValueError:  # series of the user's own
        return None


def _record(row: AnomalyScores) -> dict[str, Any]:
    scores = {name: asdict(getattr(row, name)) for name in (*METRICS, "clean")}
    record = {"rater": row.rater, "kind": row.kind, **scores}
    if row.kind != "judge":
        return record
    counts = ("asked", "scored", "coverage", "failures", "empty", "rejected", "hallucinated")
    return {**record, **{name: getattr(row, name) for name in counts}}


def _table_record(table: PaperTable) -> dict[str, Any]:
    rows = []
    for cells in table.rows:
        one = next(cell for cell in cells if cell is not None)
        scores = [
            None if cell is None else {name: getattr(cell, name).mean for name in METRICS}
            for cell in cells
        ]
        rows.append({"rater": one.rater, "kind": one.kind, "scores": scores})
    return {
        "table": table.number,
        "title": table.title,
        "columns": [one.subset for one in table.columns],
        "rows": rows,
    }


BASES = {
    "sine": "sine",
    "sine_cosine": "sine and cosine",
    "symbols": "Symbols",
    "articulary_word_recognition": "ArticularyWordRecognition",
}
