"""Scores of anomaly detection: affiliation of events, sets of variates, and the level of chance."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from timevista_hf.loading.known import check_known
from timevista_hf.metrics._chance import ChanceAffiliation, chance_affiliation, chance_set
from timevista_hf.metrics._events import (
    EventTable,
    Ranges,
    flatten_events,
    read_columns,
    read_ranges,
    read_samples,
    split_events,
)
from timevista_hf.metrics._sets import SetScores, set_precision_recall_f1
from timevista_hf.metrics._zones import (
    average_sample,
    average_zones,
    harmonic_mean,
    score_sample,
    score_zones,
)

__all__ = [
    "Affiliation",
    "ChanceAffiliation",
    "EventTable",
    "SetScores",
    "affiliation_precision_recall",
    "chance_affiliation",
    "chance_set",
    "events_from_mask",
    "events_from_points",
    "set_precision_recall_f1",
    "summarize_affiliation",
]


@dataclass(frozen=True, eq=False)
class Affiliation:
    """Hold the affiliation scores of N samples.

    Parameters
    ----------
    precision, recall, f1 : ndarray of shape (N,)
        In [0, 1]; 1 is perfect. nan where a sample was skipped; precision also where nothing is
        predicted, unless it is set to 0 there.
    skipped : int
        Samples without a true event.
    precision_zones, recall_zones : list of N ndarrays of shape (E,), optional
        The scores of each true event's zone, where asked for. Precision is nan in a zone without
        prediction, and recall is 0.
    """

    precision: np.ndarray  # [N]
    recall: np.ndarray  # [N]
    f1: np.ndarray  # [N]
    skipped: int
    precision_zones: list[np.ndarray] | None = None
    recall_zones: list[np.ndarray] | None = None


def events_from_mask(mask: ArrayLike) -> np.ndarray:
    """Find the runs of a mask of steps.

    Parameters
    ----------
    mask : array_like of shape (T,)
        Booleans, or 0 and 1: whether a step is anomalous.

    Returns
    -------
    ndarray of shape (E, 2)
        The runs as half-open (start, stop), in steps, in order. Empty for a mask without runs.

    Raises
    ------
    ValueError
        For a mask that is not one-dimensional, or holds something else than 0 and 1.

    Examples
    --------
    >>> events_from_mask([0, 1, 1, 0, 1]).tolist()
    [[1, 3], [4, 5]]
    """
    values = np.asarray(mask)
    if values.ndim != 1:
        raise ValueError(f"`mask` must have 1 dimension, got {values.ndim}")
    if values.dtype.kind not in "biuf" or not np.isin(values, (0, 1)).all():
        raise ValueError(f"`mask` must hold booleans, or 0 and 1, got {mask!r}")
    edges = np.diff(values.astype(np.int8), prepend=0, append=0)
    return np.flatnonzero(edges).reshape(-1, 2)


def events_from_points(points: ArrayLike) -> np.ndarray:
    """Make each point an event that is one step long.

    Parameters
    ----------
    points : array_like of shape (K,)
        Whole steps, in any order; a point that occurs twice counts once.

    Returns
    -------
    ndarray of shape (E, 2)
        Half-open (point, point + 1), sorted. Events of neighbouring points touch: score them with
        ``merge=True``.

    Raises
    ------
    ValueError
        For points that are not one-dimensional or no integers.

    Examples
    --------
    >>> events_from_points([51, 2, 106]).tolist()
    [[2, 3], [51, 52], [106, 107]]
    """
    steps = np.asarray(points)
    if steps.ndim != 1 or (steps.size and steps.dtype.kind not in "iu"):
        raise ValueError(f"`points` must be a flat sequence of integers, got {points!r}")
    starts = np.unique(steps.astype(np.int64))
    return np.column_stack([starts, starts + 1])


def affiliation_precision_recall(
    y_true: Sequence[Any] | EventTable,
    y_pred: Sequence[Any] | EventTable,
    *,
    ranges: Any,
    empty_prediction: Literal["nan", "zero"] = "nan",
    empty_truth: Literal["raise", "skip"] = "raise",
    merge: bool = False,
    zones: bool = False,
) -> Affiliation:
    r"""Score how near the predicted events lie to the true ones.

    The range is cut into zones halfway between neighbouring true events. With :math:`J` a true
    event, :math:`E` its zone, :math:`Q` what is predicted inside the zone, :math:`X` a point drawn
    evenly from the zone, and :math:`\delta` the distance,

    .. math::
        P_E = \frac{1}{|Q|} \int_Q \Pr[\delta(X, J) \ge \delta(x, J)]\,dx, \qquad
        R_E = \frac{1}{|J|} \int_J \Pr[\delta(X, y) \ge \delta(y, Q)]\,dy .

    The precision of a sample is the mean of :math:`P_E` over the zones that hold a prediction, its
    recall the mean of :math:`R_E` over all zones, with 0 where there is no prediction [1]_. F1 is
    their harmonic mean. A random answer scores a precision of about 0.5: see `chance_affiliation`.

    The integrals are taken in closed form, all samples in one pass, in
    :math:`O((n + m) \log(n + m))` time and linear memory for :math:`n` true and :math:`m`
    predicted events. Times are counted from the start of their range before they become floats,
    so that epoch times in seconds, milliseconds or nanoseconds lose nothing.

    Parameters
    ----------
    y_true, y_pred : sequence of N sequences of (start, stop), of N arrays (E, 2), or EventTable
        Half-open events, in the unit of `ranges`: sorted, apart, and inside their range. A single
        sample is a list of one. What an answer scores that echoes the example in a prompt is the
        score of that example N times over.
    ranges : (start, stop), or array_like of shape (N, 2)
        The time that was searched, once for all samples or one a sample.
    empty_prediction : {"nan", "zero"}
        The precision of a sample for which nothing is predicted. Its recall and F1 are 0.
    empty_truth : {"raise", "skip"}
        Whether a sample without a true event is an error or is left out, with nan as its scores.
    merge : bool
        Take the events of a sample as a set of times: in any order, overlapping and touching
        events joined, and what lies outside of the range cut off.
    zones : bool
        Whether to keep the scores of each zone.

    Returns
    -------
    Affiliation
        Precision, recall and F1 of each sample, in [0, 1]; 1 is perfect.

    Raises
    ------
    ValueError
        For events that are no pairs of finite numbers, are empty or reversed, and without `merge`
        also for those that are unsorted, overlap, touch or leave their range; for a sample without
        a true event; for ranges that do not fit. The message names the sample and the event.

    See Also
    --------
    summarize_affiliation : The mean over samples, with answers that could not be read.

    References
    ----------
    .. [1] A. Huet, J. M. Navarro and D. Rossi, "Local Evaluation of Time Series Anomaly Detection
       Algorithms", KDD 2022. doi:10.1145/3534678.3539339

    Examples
    --------
    >>> scores = affiliation_precision_recall([[(3, 5)]], [[(0, 1), (3, 6)]], ranges=(0, 8))
    >>> scores.precision, scores.recall
    (array([0.6875]), array([1.]))
    """
    check_known("`empty_prediction`", empty_prediction, ("nan", "zero"))
    check_known("`empty_truth`", empty_truth, ("raise", "skip"))
    true_rows, predicted_rows = read_samples("y_true", y_true), read_samples("y_pred", y_pred)
    if len(true_rows) != len(predicted_rows):
        raise ValueError(
            f"`y_true` has {len(true_rows)} samples but `y_pred` has {len(predicted_rows)}"
        )
    spans = read_ranges(ranges, len(true_rows))
    scores = None if merge else _score_few(true_rows, predicted_rows, spans, zones=zones)
    if scores is None:
        scores = _score_many(true_rows, predicted_rows, spans, merge=merge, zones=zones)
    if scores.skipped and empty_truth == "raise":
        sample = int(np.isnan(scores.recall).argmax())
        raise ValueError(
            f"sample {sample}: `y_true` must hold an event in the range, got "
            f"{list(true_rows)[sample]!r}; empty_truth='skip' leaves such samples out"
        )
    if empty_prediction == "zero":
        np.copyto(scores.precision, 0.0, where=np.isnan(scores.precision) & (scores.f1 == 0))
    return scores


def summarize_affiliation(
    y_true: Sequence[Any] | EventTable,
    y_pred: Sequence[Any] | EventTable,
    *,
    ranges: Any,
    convention: Literal["honest", "paper"] = "honest",
    empty_truth: Literal["raise", "skip"] = "raise",
    merge: bool = False,
) -> dict[str, float | int]:
    """Average `affiliation_precision_recall` over samples, some of whose answers have failed.

    ``"honest"`` counts an answer that could not be read as one that predicts nothing, so that
    refusing never raises recall or F1. Predicting nothing scores 0 in both; its precision is
    undefined and left out of that mean, ``unparsable + empty_predictions`` times. Nothing is
    rounded.

    ``"paper"`` averages as the authors of VisualTimeAnomaly [1]_ do in `src/result_agg.py` [2]_,
    for comparison with their tables: predicting nothing scores 0 in all three
    (``compute_metrics``); an answer that could not be read is left out of the means
    (``prediction[i] == None``); each sample is rounded to 3 decimals first; F1 is the mean of the
    samples' F1. They draw events on a vector of steps, which joins and clips them, as
    ``merge=True`` does, and add 1 to the inclusive end of a predicted interval.

    Parameters
    ----------
    y_true : sequence of N sequences of (start, stop), of N arrays (E, 2), or EventTable
        The true events.
    y_pred : sequence of N such sequences or None, or EventTable
        The predicted events; None for an answer that could not be read.
    ranges : (start, stop), or array_like of shape (N, 2)
        The time that was searched.
    convention : {"honest", "paper"}
        How empty and failed answers count, as above.
    empty_truth : {"raise", "skip"}
        Whether a sample without a true event is an error or is left out.
    merge : bool
        Join and clip events, as in `affiliation_precision_recall`.

    Returns
    -------
    dict of str to float or int
        ``precision``, ``recall``, ``f1``: means in [0, 1], 1 is perfect, nan where there is
        nothing to average. ``asked``: samples with a true event. ``unparsable``: those of them
        whose answer could not be read. ``judged``: the others. ``coverage``: judged / asked.
        ``empty_predictions``: judged ones that predict nothing. ``skipped``: samples without a
        true event.

    Raises
    ------
    ValueError
        As `affiliation_precision_recall` raises, and for an unknown convention.

    References
    ----------
    .. [1] X. Xu et al., "Can Multimodal LLMs Perform Time Series Anomaly Detection?", 2025.
       arXiv:2502.17812
    .. [2] https://github.com/mllm-ts/VisualTimeAnomaly at 3d18d64

    Examples
    --------
    >>> truth, answers = [[(2, 4)], [(7, 9)]], [[(2, 4)], None]
    >>> summarize_affiliation(truth, answers, ranges=(0, 10))["f1"]
    0.5
    >>> summarize_affiliation(truth, answers, ranges=(0, 10), convention="paper")["f1"]
    1.0
    """
    check_known("`convention`", convention, ("honest", "paper"))
    answers = read_samples("y_pred", y_pred)
    scores = affiliation_precision_recall(
        y_true,
        [() if answer is None else answer for answer in answers],
        ranges=ranges,
        empty_truth=empty_truth,
        merge=merge,
    )
    asked = ~np.isnan(scores.f1)
    judged = asked & np.array([answer is not None for answer in answers], dtype=bool)
    empty = judged & np.isnan(scores.precision)
    means = _honest_means(scores, asked) if convention == "honest" else _paper_means(scores, judged)
    counts = {"judged": int(judged.sum()), "asked": int(asked.sum())}
    return {
        **dict(zip(("precision", "recall", "f1"), means, strict=True)),
        **counts,
        "coverage": counts["judged"] / counts["asked"] if counts["asked"] else math.nan,
        "empty_predictions": int(empty.sum()),
        "unparsable": counts["asked"] - counts["judged"],
        "skipped": scores.skipped,
    }


def _score_few(y_true: Any, y_pred: Any, ranges: Ranges, *, zones: bool) -> Affiliation | None:
    """Score sample by sample in plain Python; None where that is slow, or something is wrong."""
    if not 0 < len(y_true) <= _FEW or ranges.exact is not None:
        return None
    truth = split_events(y_true, ranges)
    prediction = split_events(y_pred, ranges) if truth is not None else None
    if truth is None or prediction is None:
        return None
    parts = [*map(score_sample, truth, prediction, ranges.lengths)]
    precision, recall, f1 = np.array([average_sample(*part) for part in parts]).T
    if not zones:
        return Affiliation(precision, recall, f1, truth.count([]))
    kept = ([np.array(part[side], dtype=np.float64) for part in parts] for side in (0, 1))
    return Affiliation(precision, recall, f1, truth.count([]), *kept)


def _score_many(
    y_true: Any, y_pred: Any, ranges: Ranges, *, merge: bool, zones: bool
) -> Affiliation:
    """Score all samples in one pass over arrays."""
    truth, prediction = (
        flatten_events(read_columns(name, rows, ranges, merge=merge), ranges, merge=merge)
        for name, rows in (("y_true", y_true), ("y_pred", y_pred))
    )
    precisions, recalls = score_zones(truth, prediction, np.asarray(ranges.lengths))
    precision, recall = average_zones(truth, precisions, recalls)
    f1 = harmonic_mean(precision, recall)
    skipped = int(np.isnan(recall).sum())
    if not zones:
        return Affiliation(precision, recall, f1, skipped)
    kept = (np.split(values, truth.offsets[1:])[:-1] for values in (precisions, recalls))
    return Affiliation(precision, recall, f1, skipped, *kept)


def _honest_means(scores: Affiliation, asked: np.ndarray) -> list[float]:
    defined = asked & ~np.isnan(scores.precision)
    kept = ((scores.precision, defined), (scores.recall, asked), (scores.f1, asked))
    return [_mean(values[where]) for values, where in kept]


def _paper_means(scores: Affiliation, judged: np.ndarray) -> list[float]:
    columns = (np.nan_to_num(scores.precision), scores.recall, scores.f1)
    # Python's round, as the authors do: numpy's scales by 1000 first, which moves some ties.
    return [_mean(np.array([round(v, 3) for v in c[judged].tolist()])) for c in columns]


def _mean(values: np.ndarray) -> float:
    return float(values.mean()) if values.size else math.nan


_FEW = 32  # samples, up to which plain Python may be faster than numpy
