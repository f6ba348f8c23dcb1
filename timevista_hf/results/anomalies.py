"""Detections of a subset to its scores, with chance and the published numbers beside them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Literal, get_args

import numpy as np

from timevista_hf.cases import AnomalyCase
from timevista_hf.detection import Answer, Detection, DetectionQuestion, parse_paper
from timevista_hf.loading.known import check_known
from timevista_hf.published import load_published
from timevista_hf.results._chance import CHANCE, chance_answers, random_scores
from timevista_hf.results._measures import is_clean, measure_answers
from timevista_hf.rubrics import UnparsableReplyError

Convention = Literal["honest", "paper"]
Kind = Literal["judge", "chance", "published"]
METRICS = ("precision", "recall", "f1")

_Detections = dict[str, list[Detection | None]]  # by series, one a run
_Answers = dict[str, list[Answer | None]]


@dataclass(frozen=True)
class Estimate:
    """Hold a mean over series, in [0, 1].

    Parameters
    ----------
    mean : float
        1 is perfect; nan where nothing is defined.
    low, high : float
        95 % bootstrap interval of the mean, series resampled; nan where there is none.
    """

    mean: float = math.nan
    low: float = math.nan
    high: float = math.nan


@dataclass(frozen=True, kw_only=True)
class AnomalyScores:
    """Hold what one rater scores on a subset: a judge, an answer by chance, a published model.

    Parameters
    ----------
    rater : str
    kind : {"judge", "chance", "published"}
    precision, recall, f1 : Estimate
        Over the series with anomalies.
    clean : Estimate
        Share of the clean series of which the answer says that nothing is anomalous.
    asked, scored : int
        Answers asked for, those about clean series too, and those that count in the means.
    failures : mapping of str to int
        Answers that could not be read, by status; "missing" where there is no detection, and
        "unparsable" what only the paper's rule cannot read.
    empty : int
        Answers that name nothing about a series with anomalies.
    rejected : int
        Entries left out, as `Detection.rejected`.
    hallucinated : int
        Answers that count on instead of looking, as `Detection.hallucinated_run`.
    """

    rater: str
    kind: Kind
    precision: Estimate = Estimate()
    recall: Estimate = Estimate()
    f1: Estimate = Estimate()
    clean: Estimate = Estimate()
    asked: int = 0
    scored: int = 0
    failures: Mapping[str, int] = field(default_factory=dict)
    empty: int = 0
    rejected: int = 0
    hallucinated: int = 0

    @property
    def coverage(self) -> float:
        """Part of the asked answers that could be read, in [0, 1]; nan where none was asked."""
        read = self.asked - sum(self.failures.values())
        return read / self.asked if self.asked else math.nan


@dataclass(frozen=True, kw_only=True)
class SubsetScores:
    """Hold a judge's scores on a subset, and what stands beside them.

    Parameters
    ----------
    subset : str
    judge : AnomalyScores
    chance : tuple of AnomalyScores
        What answers score that do not look: "everything" names all steps or variates; "random" as
        many anomalies as there are, as long as they are, anywhere; "grid" every 50th step or
        every second variate; "echo" the example of the paper's prompt.
    published : tuple of AnomalyScores
        The paper's models on the paper's series of that subset; empty where it has none.
    series_f1 : mapping of str to float
        F1 of each series with anomalies, mean over runs; nan where it is left out.
    """

    subset: str
    judge: AnomalyScores
    chance: tuple[AnomalyScores, ...]
    published: tuple[AnomalyScores, ...]
    series_f1: Mapping[str, float]

    @property
    def rows(self) -> list[AnomalyScores]:
        """All of them: the judge, chance, published."""
        return [self.judge, *self.chance, *self.published]


def score_subset(
    cases: Sequence[AnomalyCase],
    detections: Iterable[Detection],
    *,
    convention: Convention = "honest",
    seed: int = 0,
) -> SubsetScores:
    """Score what one judge found in the series of one subset.

    Points and ranges are scored by affiliation, variates as sets, each series alone; runs of a
    series are averaged, then series. Clean series have a score of their own.

    ``"honest"`` counts an answer that could not be read as one that names nothing: its recall and
    F1 are 0, its precision is undefined, as is that of an empty answer. Time is that of the
    series.

    ``"paper"`` repeats the evaluation of the paper, for comparison with its tables. It reads the
    reply anew by `parse_paper`, leaves what it cannot read out of the means, gives an empty answer
    a precision of 0, takes missing steps of a single variate out of the time axis, and rounds
    each score to 3 decimals.

    Parameters
    ----------
    cases : sequence of AnomalyCase
        All series of the subset.
    detections : iterable of Detection
        Of one judge, in any order: they are matched by id. A series without one counts as failed.
    convention : {"honest", "paper"}
    seed : int
        Of the bootstrap and of the random answers.

    Returns
    -------
    SubsetScores

    Raises
    ------
    ValueError
        Where there is no case, cases differ in subset or kind, and for detections of an unknown
        series, of several judges, or of the same run twice.

    Examples
    --------
    >>> from timevista_hf.judges import load_judge
    >>> from timevista_hf.pipeline import detect_anomalies
    >>> values = [0, 0, 9, 0, 0, 0, 0, 0]
    >>> case = AnomalyCase(id="a", values=values, granularity="point", events=[(2, 3)])
    >>> [found] = detect_anomalies([case], load_judge("mock"))
    >>> round(score_subset([case], found.detections).judge.f1.mean, 3)
    0.556
    """
    check_known("`convention`", convention, get_args(Convention))
    subset = _check_alike(cases)
    table, judge = _match(cases, detections)
    answers = {
        case.id: [_answer(case, one, convention) for one in table[case.id]] for case in cases
    }
    anomalous = [case for case in cases if not is_clean(case)]
    scores = _series_scores(anomalous, [answers[case.id] for case in anomalous], convention)
    precision, recall, f1 = (_estimate(row, seed) for row in scores)
    judged = AnomalyScores(
        rater=judge,
        kind="judge",
        precision=precision,
        recall=recall,
        f1=f1,
        clean=_estimate(_clean_scores(cases, answers, convention), seed),
    )
    return SubsetScores(
        subset=subset,
        judge=_counted(judged, anomalous, table, answers, convention),
        chance=_chance(cases, anomalous, convention, seed),
        published=published_scores(subset),
        series_f1=dict(zip((case.id for case in anomalous), scores[2].tolist(), strict=True)),
    )


def published_scores(subset: str) -> tuple[AnomalyScores, ...]:
    """Return what the paper's models score on its series of a subset; empty for one it lacks.

    Parameters
    ----------
    subset : str

    Examples
    --------
    >>> published_scores("sine-global")[0].rater, published_scores("sine-global")[0].f1.mean
    ('GPT-4o', 0.1791)
    """
    return tuple(
        AnomalyScores(
            rater=model,
            kind="published",
            precision=found["precision"],
            recall=found["recall"],
            f1=found["f1"],
        )
        for model, found in _published().get(subset, {}).items()
    )


def _check_alike(cases: Sequence[AnomalyCase]) -> str:
    kinds = {(case.subset or "", case.granularity, case.num_variates) for case in cases}
    if len(kinds) != 1:
        raise ValueError(
            f"`cases` must be series of one subset, of one kind, got {len(kinds)} kinds: "
            f"{sorted(kinds)}"
        )
    return next(iter(kinds))[0]


def _match(
    cases: Sequence[AnomalyCase], detections: Iterable[Detection]
) -> tuple[_Detections, str]:
    """Give each series its detections, one a run, and the judge's name."""
    found: dict[tuple[str, int], Detection] = {}
    for one in detections:
        if (one.case_id, one.run) in found:
            raise ValueError(f"series {one.case_id!r}, run {one.run}: has two detections")
        found[one.case_id, one.run] = one
    strange = {name for name, _ in found} - {case.id for case in cases}
    if strange:
        raise ValueError(f"series {min(strange)!r}: has a detection, but is none of the cases")
    judges = sorted({one.judge for one in found.values()})
    if len(judges) > 1:
        raise ValueError(f"`detections` must be of one judge, got {', '.join(judges)}")
    runs = sorted({run for _, run in found}) or [0]
    table = {case.id: [found.get((case.id, run)) for run in runs] for case in cases}
    return table, (judges or [""])[0]


def _answer(
    case: AnomalyCase, detection: Detection | None, convention: Convention
) -> Answer | None:
    """Return what an answer names; None where it could not be read."""
    if detection is None:
        return None
    if convention == "paper":
        try:
            question = DetectionQuestion(case.granularity, case.steps, case.num_variates)
            return parse_paper(detection.text, question)
        except UnparsableReplyError:
            return None
    if detection.status != "ok":
        return None
    return Answer(detection.events, detection.variates, rejected=detection.rejected)


def _status(detection: Detection | None) -> str:
    """Say why there is no answer."""
    if detection is None:
        return "missing"
    return "unparsable" if detection.status == "ok" else detection.status


def _counted(
    scores: AnomalyScores,
    anomalous: Sequence[AnomalyCase],
    table: _Detections,
    answers: _Answers,
    convention: Convention,
) -> AnomalyScores:
    """Add what was asked, what failed, and what was odd about the answers."""
    found = [one for row in table.values() for one in row]
    read = [one for row in answers.values() for one in row]
    failed = [one for one, answer in zip(found, read, strict=True) if answer is None]
    named = [answer for case in anomalous for answer in answers[case.id] if answer is not None]
    return replace(
        scores,
        asked=len(found),
        scored=len(found) - (len(failed) if convention == "paper" else 0),
        failures=dict(sorted(Counter(map(_status, failed)).items())),
        empty=sum(not (one.events.size or one.variates) for one in named),
        rejected=sum(one.rejected for one in found if one),
        hallucinated=sum(one.hallucinated_run for one in found if one),
    )


def _series_scores(
    cases: Sequence[AnomalyCase],
    answers: Sequence[Sequence[Answer | None]],
    convention: Convention,
) -> np.ndarray:
    """Score each series, mean over runs [3, N]; nan where a score is not in the means."""
    if not cases:
        return np.empty((3, 0))
    runs = len(answers[0])
    flat = [answer for row in answers for answer in row]
    repeated = [case for case in cases for _ in range(runs)]
    paper = convention == "paper"
    scores = measure_answers(repeated, [one or Answer() for one in flat], compress=paper)
    if paper:
        scores = np.vectorize(_rounded, otypes=[float])(scores)
        scores[:, [one is None for one in flat]] = math.nan
    return _means(scores.reshape(3, len(cases), runs))


def _rounded(score: float) -> float:
    # Python's round, as the authors do: numpy's scales by 1000 first, which moves some ties.
    return 0.0 if math.isnan(score) else round(score, 3)


def _clean_scores(
    cases: Sequence[AnomalyCase],
    answers: _Answers,
    convention: Convention,
) -> np.ndarray:
    """Score the clean series, mean over runs [N]: 1 where the answer says that there is none."""
    failed = math.nan if convention == "paper" else 0.0
    rows = [
        [failed if one is None else float(one.says_none) for one in answers[case.id]]
        for case in cases
        if is_clean(case)
    ]
    return _means(np.array(rows)) if rows else np.empty(0)


def _chance(
    cases: Sequence[AnomalyCase],
    anomalous: Sequence[AnomalyCase],
    convention: Convention,
    seed: int,
) -> tuple[AnomalyScores, ...]:
    always = [chance_answers(case) for case in anomalous]
    false_alarm = Estimate(0.0) if len(anomalous) < len(cases) else Estimate()
    rows = []
    for name in CHANCE:
        if name == "random":  # of as many as there are: of a clean series it would be right
            scores, clean = random_scores(anomalous, convention == "paper", seed), Estimate()
        else:
            answers = [[one[name]] for one in always]
            scores, clean = _series_scores(anomalous, answers, convention), false_alarm
        precision, recall, f1 = (Estimate(_mean(row)) for row in scores)
        rows.append(
            AnomalyScores(
                rater=name, kind="chance", precision=precision, recall=recall, f1=f1, clean=clean
            )
        )
    return tuple(rows)


def _estimate(values: np.ndarray, seed: int) -> Estimate:
    """Average over series; the interval resamples them, those without the score too."""
    defined = np.isfinite(values)
    if defined.sum() < 2:
        return Estimate(_mean(values))
    drawn = _resamples(values.size, seed)
    counts = drawn @ defined.astype(float)
    sums = drawn @ np.where(defined, values, 0.0)
    low, high = np.quantile(sums[counts > 0] / counts[counts > 0], [0.025, 0.975])
    return Estimate(_mean(values), float(low), float(high))


@lru_cache(maxsize=8)
def _resamples(count: int, seed: int) -> np.ndarray:
    """Draw how often each of so many series stands in a resample [RESAMPLES, count]."""
    generator = np.random.default_rng(seed)
    return generator.multinomial(count, np.full(count, 1 / count), size=RESAMPLES).astype(float)


def _means(values: np.ndarray) -> np.ndarray:
    """Average the last axis over what is defined."""
    defined = np.isfinite(values)
    counts = defined.sum(axis=-1)
    means = np.full(counts.shape, math.nan)
    np.divide(np.where(defined, values, 0.0).sum(axis=-1), counts, out=means, where=counts > 0)
    return means


def _mean(values: np.ndarray) -> float:
    return float(_means(values))


@lru_cache(maxsize=1)
def _published() -> dict[str, dict[str, dict[str, Estimate]]]:
    """Order the published numbers: subset, model, metric."""
    known: dict[str, dict[str, dict[str, Estimate]]] = {}
    for row in load_published("visual_time_anomaly"):
        model = known.setdefault(row["subset"], {}).setdefault(row["model"], {})
        model[row["metric"]] = Estimate(round(float(row["percent"]) / 100, 6))
    return known


RESAMPLES = 9999
