"""The built-in judge: follows the rubrics by measuring, offline and free. It is no vision model."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any, Literal

import numpy as np

from timevista_hf.cases import AnomalyCase, ForecastCase
from timevista_hf.constraints import find_breaches
from timevista_hf.judges._base import Reply, Request
from timevista_hf.judges.builtin._detector import detect
from timevista_hf.judges.builtin._measures import Measurement, measure
from timevista_hf.judges.builtin._words import describe
from timevista_hf.rubrics import HIGHEST, LOWEST, Rubric, load_rubric

ASPECTS = ("trend", "motif", "phase", "magnitude")
CRITICAL = 0.25  # weight from which an aspect bounds the score of the whole
FEWEST = 0.5  # share of the observed steps that a forecast must hold to be measured
VERSION = 1  # changes whenever a measurement does


class BuiltinJudge:
    """Score a case by the numeric twins of the rubrics.

    The twin of a micro rubric gives the errors at which the score is still 5, 4, 3, 2 and 1; in
    between it is linear. A macro rubric's twin weighs the four aspects, its hard constraints cap
    the score. The score before rounding is the reply's `expected_score`.

    Asked for anomalies, it names what is unlike the rest of the series, by robust measurements of
    the values alone.

    Examples
    --------
    >>> from timevista_hf.rubrics import load_rubric
    >>> wave = [0, 2, 3, 2, 0, -2, -3, -2] * 6
    >>> case = ForecastCase(id="a", history=wave, truth=wave, prediction=wave)
    >>> request = Request(case, load_rubric("phase"), prompt="")
    >>> [(_, reply)] = BuiltinJudge().ask([request])
    >>> reply.expected_score
    5.0
    """

    name = "builtin"
    modality: Literal["numbers"] = "numbers"

    @property
    def identity(self) -> Mapping[str, Any]:
        """What can change an answer: how it measures, and the twins that the whole is made of."""
        twins = {name: _errors(load_micro(name)) for name in ASPECTS}
        return {"judge": self.name, "version": VERSION, "twins": twins}

    def ask(self, requests: Iterable[Request]) -> Iterator[tuple[Request, Reply]]:
        """Answer each request in turn; a case is measured once for all its rubrics."""
        case: ForecastCase | None = None
        for request in requests:
            if isinstance(request.case, AnomalyCase):
                yield request, _detection(request.case)
                continue
            if request.case is not case:
                case = request.case
                missing = _missing(case)
                measured = None if missing else measure(case)
            if measured is None:
                yield request, Reply(text="", status="error", reason=missing)
            else:
                [rubric] = request.question.parts  # the pipeline asks it no joint questions
                yield request, _reply(case, rubric, measured)


def _detection(case: AnomalyCase) -> Reply:
    found = detect(case)
    answer = {"rationale": found.rationale, "anomalies": found.anomalies}
    return Reply(text=json.dumps(answer, ensure_ascii=False))


def _missing(case: ForecastCase) -> str:
    observed = np.isfinite(case.truth)
    given = int(np.sum(observed & np.isfinite(case.prediction)))
    if given >= FEWEST * observed.sum():
        return ""
    return f"the forecast holds {given} of the {int(observed.sum())} observed steps"


def _reply(case: ForecastCase, rubric: Rubric, measured: Measurement) -> Reply:
    if rubric.dimension in ASPECTS:
        score = _score(measured, rubric.dimension, _errors(rubric))
        rationale = describe(measured, rubric.dimension)
    else:
        score, rationale = _overall(case, rubric, measured)
    verdict = {"rationale": rationale, "score": _rounded(score)}
    return Reply(text=json.dumps(verdict, ensure_ascii=False), expected_score=round(score, 4))


def _overall(case: ForecastCase, rubric: Rubric, measured: Measurement) -> tuple[float, str]:
    weights = rubric.twin.get("weights") or dict.fromkeys(ASPECTS, 1 / len(ASPECTS))
    scores = {name: _score(measured, name, _errors(load_micro(name))) for name in ASPECTS}
    critical = {name: scores[name] for name in ASPECTS if weights[name] >= CRITICAL} or scores
    worst = min(critical, key=lambda name: critical[name])
    mean = sum(weights[name] * scores[name] for name in ASPECTS) / sum(weights.values())
    score = min(mean, scores[worst] + 1)
    parts = ", ".join(f"{name} {scores[name]:.1f}" for name in ASPECTS)
    said = [f"Measured {parts}.", describe(measured, worst)]
    breaches = find_breaches(case, rubric.constraints)
    if breaches:
        cap = min(breach.constraint.cap for breach in breaches)
        score = min(score, float(cap))
        said.append(f"Capped at {cap}: {'; '.join(breach.message for breach in breaches)}.")
    return score, " ".join(said)


def _score(measured: Measurement, aspect: str, errors: list[float]) -> float:
    scores = np.arange(HIGHEST, LOWEST - 1, -1)
    return float(np.interp(getattr(measured, aspect), errors, scores))


def _errors(rubric: Rubric) -> list[float]:
    """Return the rubric's own twin, or that of the shipped rubric of its dimension."""
    errors = rubric.twin.get("errors") or load_micro(rubric.dimension).twin["errors"]
    if len(errors) != HIGHEST or sorted(errors) != list(errors):
        raise ValueError(
            f"rubric {rubric.name!r}: `twin.errors` must be {HIGHEST} ascending numbers, "
            f"got {errors!r}"
        )
    return [float(error) for error in errors]


@cache
def load_micro(dimension: str) -> Rubric:
    """Load a shipped micro rubric once."""
    return load_rubric(dimension)


def _rounded(score: float) -> int:
    return math.floor(score + 0.5)
