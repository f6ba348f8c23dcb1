"""Precision, recall and F1 of sets of ids, such as the anomalous variates of a series."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Literal

import numpy as np


@dataclass(frozen=True, eq=False)
class SetScores:
    """Hold the scores of N samples, each a set of ids, and two ways to average them.

    All scores lie in [0, 1]; 1 is perfect. Precision is nan where nothing is predicted, recall
    where nothing is true, F1 where neither is: undefined, and not 0.

    Parameters
    ----------
    precision, recall, f1 : ndarray of shape (N,)
        The scores of each sample.
    mean_precision, mean_recall, mean_f1 : float
        The means over the samples that have the score.
    micro_precision, micro_recall, micro_f1 : float
        The scores of all ids of all samples taken together.
    rejected : ndarray of shape (N,)
        How many predicted ids of each sample were dropped because they can be none.
    """

    precision: np.ndarray  # [N]
    recall: np.ndarray  # [N]
    f1: np.ndarray  # [N]
    mean_precision: float
    mean_recall: float
    mean_f1: float
    micro_precision: float
    micro_recall: float
    micro_f1: float
    rejected: np.ndarray  # [N]


def set_precision_recall_f1(
    y_true: Sequence[Any],
    y_pred: Sequence[Any],
    *,
    n_labels: int,
    invalid: Literal["raise", "drop"] = "raise",
) -> SetScores:
    r"""Compare predicted with true ids, sample by sample and over all samples.

    .. math::
        P = \frac{|A \cap B|}{|B|}, \qquad R = \frac{|A \cap B|}{|A|}, \qquad
        F_1 = \frac{2\,|A \cap B|}{|A| + |B|}

    with :math:`A` the set of true ids of a sample and :math:`B` the set of predicted ones. The
    micro scores take the sums of numerators and denominators over samples.

    Parameters
    ----------
    y_true, y_pred : sequence of N sequences of int
        Ids from 0 to ``n_labels - 1``, in any order; an id that occurs twice counts once.
    n_labels : int
        How many ids there are, ≥ 1.
    invalid : {"raise", "drop"}
        What to do with a predicted id that is no integer, negative, or beyond the last: nothing
        is cast, and no id counts from the end. Dropped ids are counted and otherwise ignored, as
        if they were not in the answer. In `y_true` they are always an error.

    Returns
    -------
    SetScores
        The scores of each sample, their means, and the micro scores, in [0, 1]; 1 is perfect.

    Raises
    ------
    ValueError
        For an id that can be none, as above; for unequal numbers of samples, and an `n_labels`
        that is no integer of at least 1. The message names the sample.

    See Also
    --------
    chance_set : What a random answer of the same size scores.

    Examples
    --------
    >>> scores = set_precision_recall_f1([[3, 4], [0]], [[4, 5, 6], [0]], n_labels=9)
    >>> scores.f1, round(scores.micro_precision, 2)
    (array([0.4, 1. ]), 0.5)
    """
    check_labels(n_labels)
    if invalid not in ("raise", "drop"):
        raise ValueError(f"`invalid` must be one of raise, drop, got {invalid!r}")
    truth, _ = read_ids("y_true", y_true, n_labels)
    prediction, rejected = read_ids("y_pred", y_pred, n_labels, drop=invalid == "drop")
    if len(truth) != len(prediction):
        raise ValueError(f"`y_true` has {len(truth)} samples but `y_pred` has {len(prediction)}")
    shared = [len(a & b) for a, b in zip(truth, prediction, strict=True)]
    return score_counts(
        np.array(shared, dtype=np.float64), sizes(truth), sizes(prediction), rejected
    )


def check_labels(n_labels: object) -> None:
    """Refuse a number of ids that is no integer of at least 1."""
    if not is_integer(n_labels) or n_labels < 1:  # type: ignore[operator]
        raise ValueError(f"`n_labels` must be an integer of at least 1, got {n_labels!r}")


def read_ids(
    name: str, samples: Any, n_labels: int, *, drop: bool = False
) -> tuple[list[set[int]], np.ndarray]:
    """Read the ids of each sample, and count those that can be none."""
    try:
        rows = [list(r.tolist() if isinstance(r, np.ndarray) else r) for r in samples]
    except TypeError as error:
        raise ValueError(f"`{name}` must be a sequence of sequences of ids: {error}") from error
    found = [[int(value) for value in row if _is_label(value, n_labels)] for row in rows]
    rejected = np.array([len(r) - len(f) for r, f in zip(rows, found, strict=True)], dtype=np.intp)
    if rejected.any() and not drop:
        raise _id_fault(name, rows, n_labels)
    return [set(ids) for ids in found], rejected


def sizes(sets: Sequence[set[int]]) -> np.ndarray:
    """Count the ids of each sample."""
    return np.array([len(ids) for ids in sets], dtype=np.float64)


def score_counts(
    shared: np.ndarray, true: np.ndarray, predicted: np.ndarray, rejected: np.ndarray
) -> SetScores:
    """Score numbers of ids: shared, true and predicted of each sample, [N]."""
    parts = ((shared, predicted), (shared, true), (2 * shared, true + predicted))
    precision, recall, f1 = (_ratios(top, bottom) for top, bottom in parts)
    micro = [_ratios(top.sum(keepdims=True), bottom.sum(keepdims=True)) for top, bottom in parts]
    micro_precision, micro_recall, micro_f1 = (float(ratio[0]) for ratio in micro)
    return SetScores(
        precision=precision,
        recall=recall,
        f1=f1,
        mean_precision=_mean(precision),
        mean_recall=_mean(recall),
        mean_f1=_mean(f1),
        micro_precision=micro_precision,
        micro_recall=micro_recall,
        micro_f1=micro_f1,
        rejected=rejected,
    )


def _ratios(top: np.ndarray, bottom: np.ndarray) -> np.ndarray:
    ratios = np.full(bottom.shape, np.nan)
    np.divide(top, bottom, out=ratios, where=bottom > 0)
    return ratios


def _mean(values: np.ndarray) -> float:
    defined = values[~np.isnan(values)]
    return float(defined.mean()) if defined.size else float("nan")


def _id_fault(name: str, rows: list[list[Any]], n_labels: int) -> ValueError:
    ids = ((sample, value) for sample, row in enumerate(rows) for value in row)
    sample, value = next(pair for pair in ids if not _is_label(pair[1], n_labels))
    rule = f"must hold integers from 0 to {n_labels - 1}"
    return ValueError(f"sample {sample}: `{name}` {rule}, got {value!r}")


def _is_label(value: Any, n_labels: int) -> bool:
    return is_integer(value) and 0 <= value < n_labels


def is_integer(value: object) -> bool:
    """Tell integers from all else, truth values and whole floats included."""
    return isinstance(value, Integral) and not isinstance(value, bool)
