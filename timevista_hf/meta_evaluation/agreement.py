"""Judge a judge: its scores, and errors, against grades or ratings that are known."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from timevista_hf.building import rated_case
from timevista_hf.cases import ForecastCase
from timevista_hf.judges import Judge
from timevista_hf.metrics import bootstrap_interval, dtw_batch, mae, mse
from timevista_hf.metrics.agreement import Interval
from timevista_hf.pipeline import judge_cases
from timevista_hf.rubrics import HIGHEST, LOWEST, Rubric, load_rubric
from timevista_hf.synthesis.ladders import DIMENSIONS

Among = Literal["own", "all"]

ERRORS = ("−MSE", "−MAE", "−DTW", "random")


@dataclass(frozen=True)
class Alignment:
    """How well a rater orders forecasts as they are known to be.

    Parameters
    ----------
    rater : str
        Name of the judge, or one of `ERRORS`; less error is better, hence the sign.
    dimension : str
    among : {"own", "all"}
        Cases that differ in this dimension alone, or, of ladders, in any of the four: the ones
        damaged in another then have the best score here.
    spearman, kendall : Interval
        Rank correlation with what is known, and its bootstrap interval over cases.
    """

    rater: str
    dimension: str
    among: Among
    spearman: Interval
    kendall: Interval


@dataclass(frozen=True, eq=False)
class _Known:
    """A case, the dimension it was made or rated for, and the score it deserves in each."""

    case: ForecastCase
    dimension: str
    deserved: Mapping[str, float]
    rubrics: tuple[Rubric, ...]


def align_judge(
    rows: Iterable[Mapping[str, Any]],
    judge: Judge | None = None,
    *,
    resamples: int = 9999,
    seed: int = 0,
) -> list[Alignment]:
    """Compare a judge, three errors and chance with what is known of forecasts.

    A row of a ladder says what its forecast deserves in all four dimensions: its grade in the one
    that was damaged, the best score in the others. One that people rated says it for one dimension.

    Parameters
    ----------
    rows : iterable of mapping
        Of the dataset `meta_timevista`; those without grade and rating are passed over.
    judge : Judge, optional
        None compares the errors alone.
    resamples, seed : int
        Of the bootstrap, see `bootstrap_interval`; the seed also draws the random scores.

    Returns
    -------
    list of Alignment
        By dimension, then by rater. A case that a judge did not score is left out; its share is
        seen in `Interval.n`.

    Raises
    ------
    ValueError
        For a row that is no valid case, or names a rubric that is not shipped.

    Examples
    --------
    >>> from itertools import islice
    >>> from timevista_hf.building import rated_rows
    >>> from timevista_hf.judges import load_judge
    >>> rows = islice(rated_rows("ladders/magnitude"), 10)
    >>> found = align_judge(rows, load_judge("builtin"), resamples=99)
    >>> [one.rater for one in found if one.dimension == "magnitude" and one.among == "own"]
    ['builtin', '−MSE', '−MAE', '−DTW', 'random']
    """
    known = [entry for row in rows if (entry := _known(row)) is not None]
    raters = {} if judge is None else {judge.name: _judged(known, judge)}
    raters |= {name: _constant(values) for name, values in _errors(known, seed).items()}
    dimensions = dict.fromkeys(name for entry in known for name in entry.deserved)
    return [
        Alignment(rater, dimension, among, *intervals)
        for dimension in dimensions
        for rater, score in raters.items()
        for among, chosen in _groups(known, dimension).items()
        for intervals in [_intervals(known, chosen, dimension, score, resamples, seed)]
    ]


def format_alignments(alignments: Iterable[Alignment]) -> str:
    """Write alignments as a Markdown table, a row a dimension and rater.

    Parameters
    ----------
    alignments : iterable of Alignment

    Returns
    -------
    str
        Estimates with their 95 % intervals; a dash where one is undefined.
    """
    cells: dict[tuple[str, str], dict[Among, str]] = {}
    for one in alignments:
        pair = f"{_said(one.spearman)} | {_said(one.kendall)}"
        cells.setdefault((one.dimension, one.rater), {})[one.among] = pair
    groups = [*dict.fromkeys(among for pairs in cells.values() for among in pairs)]
    head = [f"{name}, {_WORDS[among]}" for among in groups for name in ("Spearman", "Kendall")]
    lines = ["| dimension | rater | " + " | ".join(head) + " |"]
    lines.append("|---" * (2 + len(head)) + "|")
    for (dimension, rater), pairs in cells.items():
        said = [pairs.get(among, pairs["own"]) for among in groups]  # the same where own are all
        lines.append(f"| {dimension} | {rater} | {' | '.join(said)} |")
    return "\n".join(lines)


Score = Callable[[int, str], float]


def _known(row: Mapping[str, Any]) -> _Known | None:
    score = row["rating"] if row["grade"] is None else row["grade"]
    if score is None:
        return None
    others = dict.fromkeys(DIMENSIONS, float(HIGHEST)) if row["source"] == "ladder" else {}
    deserved = {**others, row["dimension"]: float(score)}
    names = [dimension for dimension in others if dimension != row["dimension"]]
    rubrics = [load_rubric(name) for name in (row["rubric"].partition("@")[0], *names)]
    return _Known(rated_case(row), row["dimension"], deserved, tuple(rubrics))


def _judged(known: list[_Known], judge: Judge) -> Score:
    rubrics = {entry.case: entry.rubrics for entry in known}
    judged = judge_cases((entry.case for entry in known), rubrics.__getitem__, judge)
    scores = [{one.dimension: one.score for one in entry.judgments} for entry in judged]

    def score(place: int, dimension: str) -> float:
        found = scores[place][dimension]
        return np.nan if found is None else float(found)

    return score


def _errors(known: list[_Known], seed: int) -> dict[str, np.ndarray]:
    pairs = [(entry.case.truth, entry.case.prediction) for entry in known]
    warped = dtw_batch([truth for truth, _ in pairs], [made for _, made in pairs])
    drawn = np.random.default_rng(seed).integers(LOWEST, HIGHEST, len(known), endpoint=True)
    errors = [[-error(*pair) for pair in pairs] for error in (mse, mae)]
    return dict(zip(ERRORS, map(np.asarray, (*errors, -warped, drawn)), strict=True))


def _constant(values: np.ndarray) -> Score:
    """Give the same score whatever the dimension."""
    return lambda place, dimension: float(values[place])


def _groups(known: list[_Known], dimension: str) -> dict[Among, list[int]]:
    every = [place for place, entry in enumerate(known) if dimension in entry.deserved]
    own = [place for place in every if known[place].dimension == dimension]
    return {"own": own} if own == every else {"own": own, "all": every}


def _intervals(
    known: list[_Known],
    chosen: list[int],
    dimension: str,
    score: Score,
    resamples: int,
    seed: int,
) -> tuple[Interval, Interval]:
    deserved = [known[place].deserved[dimension] for place in chosen]
    scores = [score(place, dimension) for place in chosen]
    spearman = bootstrap_interval(scores, deserved, resamples=resamples, seed=seed)
    kendall = bootstrap_interval(
        scores, deserved, statistic="kendall", resamples=resamples, seed=seed
    )
    return spearman, kendall


def _said(interval: Interval) -> str:
    if np.isnan(interval.estimate):
        return "–"
    low, high = f"{interval.low:.2f}", f"{interval.high:.2f}"
    return f"{interval.estimate:.3f} ({low} to {high})".replace("-", "−")


_WORDS: dict[Among, str] = {"own": "own cases", "all": "all cases"}
