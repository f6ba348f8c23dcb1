"""For each folder of metrics/: a call, and the same number from the plain functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import timevista_hf as tv
from timevista_hf.metrics import (
    affiliation_precision_recall,
    bootstrap_interval,
    forecast_errors,
    gwet_ac2,
    kendall,
    krippendorff_alpha,
    pairwise_agreement,
    set_precision_recall_f1,
    spearman,
    weighted_kappa,
)
from timevista_hf.results.forecasts import case_score


@dataclass(frozen=True)
class Example:
    """Inputs that come one a row, options of `compute`, and what part of the answer must be."""

    inputs: Mapping[str, list[Any]]
    plain: Callable[[], Mapping[str, Any]]
    options: Mapping[str, Any] = field(default_factory=dict)
    own_option: str = ""  # one that may be given at load instead


def _waves() -> tuple[list[list[float]], list[list[float]], list[list[float]]]:
    steps = np.arange(96)
    daily = 50 + 10 * np.sin(2 * np.pi * steps / 24)
    late = 50 + 10 * np.sin(2 * np.pi * (steps - 6) / 24)
    return (
        [daily[:48].tolist()] * 2,
        [daily[48:].tolist()] * 2,
        [daily[48:].tolist(), late[48:].tolist()],
    )


_HISTORY, _TRUTH, _FORECAST = _waves()


def _judged() -> dict[str, Any]:
    rows = zip(_HISTORY, _TRUTH, _FORECAST, strict=True)
    cases = [
        tv.ForecastCase(id=str(row), history=history, truth=truth, prediction=prediction)
        for row, (history, truth, prediction) in enumerate(rows)
    ]
    judged = list(tv.judge_cases(cases, tv.select_rubrics("macro"), tv.load_judge("builtin")))
    return {
        "overall": float(np.mean([case_score(entry.judgments) for entry in judged])),
        "without_knowledge": float(np.mean([entry.judgments[0].score for entry in judged])),
        "rationales": [{j.dimension: j.rationale for j in entry.judgments} for entry in judged],
        "coverage": 1.0,
    }


def _errors() -> dict[str, Any]:
    pasts, truths, forecasts = _ERRORS["history"], _ERRORS["references"], _ERRORS["predictions"]
    rows = [
        forecast_errors(truth, forecast, past, season_length=2)
        for truth, forecast, past in zip(truths, forecasts, pasts, strict=True)
    ]
    return {name: float(np.mean([row[name] for row in rows])) for name in rows[0]} | {"rows": 3}


_ERRORS = {
    "references": [[3.0, 5.0, 4.0], [2.0, 2.5, 3.5, 1.0], [1.0, 9.0, 2.0]],
    "predictions": [[2.0, 5.5, 4.0], [2.0, 2.0, 2.0, 2.0], [1.0, 8.0, 3.0]],
    "history": [[1.0, 2.0, 4.0], [4.0, 5.0, 7.0, 3.0], [1.0, 1.0, 2.0, 5.0]],
}


def _affiliation() -> dict[str, Any]:
    answered = [answer or [] for answer in _ANSWERS["predictions"]]
    scores = affiliation_precision_recall(_ANSWERS["references"], answered, ranges=(0, 100))
    return {
        "precision": float(np.nanmean(scores.precision)),
        "recall": float(np.mean(scores.recall)),
        "f1": float(np.mean(scores.f1)),
        "unparsable": 1,
        "coverage": 0.75,
    }


def _variates() -> dict[str, Any]:
    scores = set_precision_recall_f1([[3, 4], [0], [2]], [[4, 5, 6], [0], []], n_labels=9)
    return {
        "precision": scores.mean_precision,
        "recall": scores.mean_recall,
        "f1": scores.mean_f1,
        "micro_precision": scores.micro_precision,
        "micro_recall": scores.micro_recall,
        "micro_f1": scores.micro_f1,
        "rejected": 0,
        "unparsable": 1,
    }


def _correlations() -> dict[str, Any]:
    scores, human = _SCORES["predictions"], _SCORES["references"]
    interval = bootstrap_interval(human, scores, statistic="kendall", resamples=500, seed=1)
    return {
        "spearman": spearman(scores, human),
        "kendall": kendall(scores, human),
        "kendall_interval": [interval.low, interval.high],
        "n": 7,
    }


def _agreement() -> dict[str, Any]:
    ratings = np.array(_RATINGS, dtype=np.float64).T
    pairs = [(0, 1), (0, 2), (1, 2)]
    kappas = [weighted_kappa(ratings[i], ratings[j], levels=[1, 2, 3, 4]) for i, j in pairs]
    return {
        "alpha_nominal": krippendorff_alpha(ratings, level="nominal"),
        "alpha_ordinal": krippendorff_alpha(ratings, level="ordinal"),
        "alpha_interval": krippendorff_alpha(ratings, level="interval"),
        "spearman": pairwise_agreement(ratings, statistic="spearman"),
        "kendall": pairwise_agreement(ratings, statistic="kendall"),
        "kappa": float(np.mean(kappas)),
        "ac2": gwet_ac2(ratings, levels=[1, 2, 3, 4]),
        "missing": 2,
    }


_ANSWERS = {
    "predictions": [[[10, 20]], [], None, [[40, 50], [70, 71]]],
    "references": [[[12, 22]], [[30, 40]], [[5, 6]], [[42, 44], [90, 99]]],
}
_SCORES = {
    "predictions": [4.0, 2.0, 5.0, 3.0, 1.0, 4.0, None, 3.0],
    "references": [5.0, 2.0, 4.0, 3.0, 2.0, 4.0, 1.0, 1.0],
}
_RATINGS = [[1, 1, None], [2, 2, 3], [3, 3, 3], [3, 4, 3], [2, 2, 2], [None, 1, 1]]

EXAMPLES = {
    "affiliation_f1": Example(
        inputs=_ANSWERS, options={"ranges": [0, 100]}, own_option="ranges", plain=_affiliation
    ),
    "annotator_agreement": Example(
        inputs={"predictions": _RATINGS},
        options={"levels": [1, 2, 3, 4]},
        own_option="levels",
        plain=_agreement,
    ),
    "forecast_error": Example(
        inputs={name: _ERRORS[name] for name in ("predictions", "references")},
        options={"history": _ERRORS["history"], "season_length": 2},
        own_option="season_length",
        plain=_errors,
    ),
    "judge_correlation": Example(
        inputs=_SCORES,
        options={"resamples": 500, "seed": 1},
        own_option="seed",
        plain=_correlations,
    ),
    "variate_f1": Example(
        inputs={
            "predictions": [[4, 5, 6], [0], None],
            "references": [[3, 4], [0], [2]],
        },
        options={"n_labels": 9},
        own_option="n_labels",
        plain=_variates,
    ),
    "vlm_judge": Example(
        inputs={"predictions": _FORECAST, "references": _TRUTH},
        options={"history": _HISTORY, "level": "macro"},
        own_option="level",
        plain=_judged,
    ),
}
