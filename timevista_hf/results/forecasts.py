"""Judgments to a ranked table of models: means that state their coverage and their interval."""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from timevista_hf.metrics import consistency, krippendorff_alpha
from timevista_hf.rubrics import (
    HIGHEST,
    LOWEST,
    MACRO_DIMENSIONS,
    MICRO_DIMENSIONS,
    Judgment,
)


@dataclass(frozen=True)
class ScoreSummary:
    """Summarize scores from 1 (worst) to 5 (best) over the cases of one model.

    Parameters
    ----------
    mean : float
        Mean over cases; nan where nothing was judged.
    low, high : float
        95 % bootstrap interval of `mean`, cases resampled; nan with fewer than two judged cases.
    judged, asked : int
        Judgments that hold a score, and all that were asked for.
    """

    mean: float
    low: float
    high: float
    judged: int
    asked: int

    @property
    def coverage(self) -> float:
        """Judged over asked, in [0, 1]; nan where nothing was asked."""
        return self.judged / self.asked if self.asked else math.nan


@dataclass(frozen=True)
class ModelSummary:
    """Hold what all judgments say about one model.

    Parameters
    ----------
    model : str
    overall : ScoreSummary
        Of the case scores; a case's score is the mean over its judged dimensions.
    dimensions : mapping of str to ScoreSummary
        In the order of the rubrics: micro, macro, then any others by name.
    cases : int
        Distinct cases that a judgment was asked for.
    errors : mapping of str to float
        Mean of each error metric over the cases where it is defined, in the metric's unit.
    undefined : mapping of str to int
        Cases where the metric is not defined and so not in the mean.
    failures : mapping of str to int
        Judgments without a score, by status.
    breaches : int
        Hard constraints broken, summed over judgments, failed ones too.
    """

    model: str
    overall: ScoreSummary
    dimensions: Mapping[str, ScoreSummary]
    cases: int
    errors: Mapping[str, float]
    undefined: Mapping[str, int]
    failures: Mapping[str, int]
    breaches: int

    @property
    def coverage(self) -> float:
        """Part of the asked judgments that hold a score, in [0, 1]; nan where none was asked."""
        return self.overall.coverage


@dataclass(frozen=True)
class RaterAgreement:
    """How alike several judges, or runs of one judge, score the same cases in one dimension.

    Parameters
    ----------
    alpha : float
        Krippendorff's alpha at the ordinal level; 1 is agreement, 0 is chance, nan is undefined.
    exact_match : float
        Part of the cases that all scored on which all agree, in [0, 1].
    median : float
        Mean over cases of the median over raters, from 1 to 5.
    means : mapping of str to float
        Each rater's own mean.
    """

    alpha: float
    exact_match: float
    median: float
    means: Mapping[str, float]


class Scoreboard:
    """Collect judgments as they come, in any order, and summarize them by model.

    A judgment costs nine bytes and a model's error eight; the texts are not kept. The summary does
    not depend on the order of arrival.

    Examples
    --------
    >>> from timevista_hf.rubrics import Judgment
    >>> board = Scoreboard()
    >>> for case_id, score in [("a", 4), ("b", 2), ("c", None)]:
    ...     board.add(
    ...         Judgment(
    ...             case_id=case_id, cutoff=None, model="naive", dataset=None, level="micro",
    ...             dimension="trend", rubric="trend@1", judge="builtin",
    ...             status="ok" if score else "error", score=score, expected_score=None,
    ...             rationale="",
    ...         )
    ...     )
    >>> summary = board.summarize()[0]
    >>> summary.overall.mean, summary.overall.judged, summary.overall.asked
    (3.0, 2, 3)
    """

    def __init__(self) -> None:
        self._cases: dict[tuple[str, str | None], int] = {}
        self._dimensions: dict[str, int] = {}
        self._raters: dict[str, int] = {}
        self._tallies: dict[str, _Tally] = {}

    def add(self, judgment: Judgment) -> None:
        """Count one judgment; repeats of a case and dimension are averaged.

        Raises
        ------
        ValueError
            For a judgment of status ``"ok"`` without a score from 1 to 5.
        """
        score = _checked_score(judgment)
        tally = self._tally(judgment.model)
        case = (judgment.case_id, judgment.cutoff)
        tally.cases.append(self._cases.setdefault(case, len(self._cases)))
        tally.dimensions.append(
            self._dimensions.setdefault(judgment.dimension, len(self._dimensions))
        )
        rater = judgment.judge + (f", run {judgment.run + 1}" if judgment.run else "")
        tally.raters.append(self._raters.setdefault(rater, len(self._raters)))
        tally.scores.append(score or 0)
        tally.breaches += len(judgment.breaches)
        if judgment.status != "ok":
            tally.failures[judgment.status] += 1

    def add_errors(self, model: str, errors: Mapping[str, float]) -> None:
        """Count one case's error metrics; one that is nan or infinite counts as undefined."""
        tally = self._tally(model)
        for name, value in errors.items():
            tally.errors.setdefault(name, array("d")).append(value)

    def summarize(self, *, seed: int = 0, resamples: int = 9999) -> list[ModelSummary]:
        """Rank the models by their overall mean, best first, then by name.

        Models may differ in coverage: compare that too before trusting a rank. A model without
        any score comes last. A model's interval does not depend on which others are present.

        Parameters
        ----------
        seed : int
            Of the bootstrap.
        resamples : int
            Draws of the bootstrap, at least 1.

        Raises
        ------
        ValueError
            For `resamples` below 1.
        """
        if resamples < 1:
            raise ValueError(f"`resamples` must be at least 1, got {resamples!r}")
        models = [self._summarize(model, seed, resamples) for model in self._tallies]
        return sorted(models, key=_rank)

    def agreement(self) -> dict[str, RaterAgreement]:
        """Compare the judges of a panel, or the runs of one judge, by dimension.

        Empty where there is one rater. A case, model and dimension is one unit.
        """
        if len(self._raters) < 2:
            return {}
        columns = [
            np.concatenate([np.asarray(getattr(t, name)) for t in self._tallies.values()])
            for name in ("cases", "dimensions", "raters", "scores")
        ]
        sizes = [len(tally.cases) for tally in self._tallies.values()]
        models = np.repeat(np.arange(len(sizes)), sizes)
        found = {}
        for name, dimension in sorted(self._dimensions.items(), key=_position):
            mine = columns[1] == dimension
            cases, _, raters, scores = (column[mine] for column in columns)
            _, units = np.unique(np.stack([models[mine], cases]), axis=1, return_inverse=True)
            ratings = np.full((len(self._raters), int(units.max()) + 1), math.nan)
            ratings[raters, units.ravel()] = np.where(scores > 0, scores, math.nan)
            found[name] = _agreement(ratings, list(self._raters))
        return found

    def _tally(self, model: str) -> _Tally:
        return self._tallies.setdefault(model, _Tally())

    def _summarize(self, model: str, seed: int, resamples: int) -> ModelSummary:
        tally = self._tallies[model]
        dimensions, scores = np.asarray(tally.dimensions), np.asarray(tally.scores)
        cases, rows = np.unique(np.asarray(tally.cases), return_inverse=True)
        matrix = _case_scores(rows, dimensions, scores, (cases.size, len(self._dimensions)))
        ordered = sorted(self._dimensions.items(), key=_position)
        return ModelSummary(
            model=model,
            overall=_summary(_row_means(matrix), scores, seed, resamples),
            dimensions={
                name: _summary(matrix[:, column], scores[dimensions == column], seed, resamples)
                for name, column in ordered
                if (dimensions == column).any()
            },
            cases=int(cases.size),
            errors={name: _mean(np.asarray(values)) for name, values in tally.errors.items()},
            undefined={
                name: int(np.sum(~np.isfinite(values))) for name, values in tally.errors.items()
            },
            failures=dict(sorted(tally.failures.items())),
            breaches=tally.breaches,
        )


def case_score(judgments: Sequence[Judgment]) -> float:
    """Average one case's scores over its judged dimensions; nan where none was judged.

    Parameters
    ----------
    judgments : sequence of Judgment
        All of one case and model; failed ones are left out, repeats of a dimension averaged first.

    Returns
    -------
    float
        From 1 (worst) to 5 (best).
    """
    scores: dict[str, list[int]] = {}
    for judgment in judgments:
        if judgment.status == "ok" and judgment.score is not None:
            scores.setdefault(judgment.dimension, []).append(judgment.score)
    means = [sum(repeats) / len(repeats) for repeats in scores.values()]
    return _mean(np.array(means))


def bootstrap_interval(
    values: np.ndarray, *, seed: int = 0, resamples: int = 9999
) -> tuple[float, float]:
    r"""Compute the 95 % percentile bootstrap interval of a mean.

    Resampling :math:`n` values with replacement draws how often each distinct value
    :math:`v_k`, present :math:`n_k` times, occurs: a multinomial count with probabilities
    :math:`n_k / n`. Scores take few distinct values, so the counts are drawn instead of the
    values: the same distribution, in a fraction of the time and memory.

    Parameters
    ----------
    values : ndarray of shape (n,)
        NaN is left out.
    seed : int
    resamples : int

    Returns
    -------
    low, high : float
        nan with fewer than two values.

    References
    ----------
    Efron and Tibshirani (1993), An Introduction to the Bootstrap, section 13.3.
    doi:10.1201/9780429246593

    Examples
    --------
    >>> bootstrap_interval(np.array([3.0, 3.0, 3.0]))
    (3.0, 3.0)
    """
    values = values[np.isfinite(values)]
    if values.size < 2:
        return math.nan, math.nan
    distinct, counts = np.unique(values, return_counts=True)
    generator = np.random.default_rng(seed)
    means = np.empty(resamples)
    step = max(1, _CHUNK // distinct.size)
    for start in range(0, resamples, step):
        size = min(step, resamples - start)
        drawn = generator.multinomial(values.size, counts / values.size, size=size)
        means[start : start + size] = drawn @ distinct / values.size
    low, high = np.quantile(means, [0.025, 0.975])
    return float(low), float(high)


def to_records(models: Sequence[ModelSummary]) -> list[dict[str, object]]:
    """Turn summaries into rows for JSON and tables, in the order given; undefined is None.

    Returns
    -------
    list of dict
        Keys `rank` (from 1; None without a score), `model`, `overall`, `dimensions`, `cases`,
        `coverage`, `errors`, `undefined`, `failures` and `breaches`; a score is a dict of `mean`,
        `low`, `high`, `judged` and `asked`.
    """
    return [
        {
            "rank": None if math.isnan(summary.overall.mean) else position,
            "model": summary.model,
            "overall": _score_record(summary.overall),
            "dimensions": {n: _score_record(score) for n, score in summary.dimensions.items()},
            "cases": summary.cases,
            "coverage": _defined(summary.coverage),
            "errors": {name: _defined(value) for name, value in summary.errors.items()},
            "undefined": dict(summary.undefined),
            "failures": dict(summary.failures),
            "breaches": summary.breaches,
        }
        for position, summary in enumerate(models, start=1)
    ]


class _Tally:
    """One model's judgments and errors, as flat arrays of small numbers."""

    def __init__(self) -> None:
        self.cases = array("i")
        self.dimensions = array("h")
        self.raters = array("h")
        self.scores = array("b")  # 0 is a judgment without a score
        self.errors: dict[str, array[float]] = {}
        self.failures: Counter[str] = Counter()
        self.breaches = 0


def _agreement(ratings: np.ndarray, raters: list[str]) -> RaterAgreement:
    rated = ratings[:, np.isfinite(ratings).any(axis=0)]
    return RaterAgreement(
        alpha=krippendorff_alpha(ratings, level="ordinal"),
        exact_match=consistency(ratings).exact_match,
        median=_mean(np.nanmedian(rated, axis=0)) if rated.size else math.nan,
        means={rater: _mean(row) for rater, row in zip(raters, ratings, strict=True)},
    )


def _checked_score(judgment: Judgment) -> int | None:
    """Return the score of a judgment, None for a failed one."""
    if judgment.status != "ok":
        return None
    if judgment.score is None or not LOWEST <= judgment.score <= HIGHEST:
        raise ValueError(
            f"series {judgment.case_id!r}, model {judgment.model!r}, dimension "
            f"{judgment.dimension!r}: a judgment of status 'ok' must hold a score from {LOWEST} to "
            f"{HIGHEST}, got {judgment.score!r}"
        )
    return judgment.score


def _summary(values: np.ndarray, scores: np.ndarray, seed: int, resamples: int) -> ScoreSummary:
    low, high = bootstrap_interval(values, seed=seed, resamples=resamples)
    judged = int(np.count_nonzero(scores))
    return ScoreSummary(_mean(values), low, high, judged=judged, asked=int(scores.size))


def _case_scores(
    rows: np.ndarray, columns: np.ndarray, scores: np.ndarray, shape: tuple[int, int]
) -> np.ndarray:
    sums, counts = np.zeros(shape), np.zeros(shape)
    np.add.at(sums, (rows, columns), scores)
    np.add.at(counts, (rows, columns), scores > 0)
    return _divide(sums, counts)  # [C, D], nan where there is no score


def _row_means(matrix: np.ndarray) -> np.ndarray:
    return _divide(np.nansum(matrix, axis=1), np.sum(np.isfinite(matrix), axis=1))


def _divide(sums: np.ndarray, counts: np.ndarray) -> np.ndarray:
    quotient = np.full(sums.shape, math.nan)
    quotient[counts > 0] = sums[counts > 0] / counts[counts > 0]
    return quotient


def _mean(values: np.ndarray) -> float:
    """Average the finite values; the exact sum makes the order of arrival irrelevant."""
    finite = values[np.isfinite(values)]
    return math.fsum(finite.tolist()) / finite.size if finite.size else math.nan


def _rank(summary: ModelSummary) -> tuple[float, str]:
    mean = summary.overall.mean
    return (math.inf if math.isnan(mean) else -mean, summary.model)


def _position(entry: tuple[str, int]) -> tuple[int, str]:
    name = entry[0]
    return (_ORDER.index(name) if name in _ORDER else len(_ORDER), name)


def _score_record(score: ScoreSummary) -> dict[str, object]:
    return {
        "mean": _defined(score.mean),
        "low": _defined(score.low),
        "high": _defined(score.high),
        "judged": score.judged,
        "asked": score.asked,
    }


def _defined(value: float) -> float | None:
    return value if math.isfinite(value) else None


_ORDER = (*MICRO_DIMENSIONS, *MACRO_DIMENSIONS)

_CHUNK = 1 << 20  # counts drawn at once: 8 MiB
