"""The closed form of affiliation: score events that are sorted, apart, and counted from zero.

The zone of a true event ends halfway to its neighbours, or with the range. A score is one minus a
loss. At distance d from the event, a predicted point loses the share of the zone that lies nearer
to the event; at distance d from the prediction, a true point loses the share of the zone that lies
nearer to the point. Both shares are straight in d between a few kinks, so every integral over a
stretch of distances is an area under a ramp.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

Event = tuple[float, float]


@dataclass(frozen=True, eq=False)
class Events:
    """The events of N samples, one after the other, counted from the start of their range."""

    starts: np.ndarray  # [E]
    stops: np.ndarray  # [E]
    samples: np.ndarray  # [E]
    offsets: np.ndarray  # [N + 1], where the events of a sample start

    def part(self, first: int, stop: int) -> Events:
        """Take the samples from `first` to before `stop`."""
        own = slice(self.offsets[first], self.offsets[stop])
        offsets = self.offsets[first : stop + 1] - self.offsets[first]
        return Events(self.starts[own], self.stops[own], self.samples[own] - first, offsets)


class _Pieces(NamedTuple):
    """The predictions, cut at the borders of the zones, each beside its zone."""

    zone: np.ndarray  # [P], sorted
    start: np.ndarray  # [P]
    stop: np.ndarray  # [P]
    true_start: np.ndarray  # [P]
    true_stop: np.ndarray  # [P]
    left: np.ndarray  # [P]
    right: np.ndarray  # [P]


def score_zones(
    truth: Events, prediction: Events, lengths: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Score all zones of all samples: precision, nan where nothing is predicted, and recall."""
    ends = truth.offsets + prediction.offsets
    firsts = np.flatnonzero(np.diff(ends[:-1] // _BLOCK_EVENTS, prepend=-1)).tolist()
    blocks = [
        _score_block(truth.part(first, stop), prediction.part(first, stop), lengths[first:stop])
        for first, stop in pairwise([*firsts, lengths.size])
    ]
    precision, recall = np.concatenate([np.zeros((2, 0)), *blocks], axis=1)
    return precision, recall


def average_zones(
    truth: Events, precision: np.ndarray, recall: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Average the zones of each sample: precision where it is defined, recall over all."""
    defined = ~np.isnan(precision)
    samples = truth.offsets.size - 1
    sums = np.bincount(truth.samples, np.where(defined, precision, 0.0), samples)
    with np.errstate(invalid="ignore"):
        return (
            sums / np.bincount(truth.samples, defined, samples),
            np.bincount(truth.samples, recall, samples) / np.diff(truth.offsets),
        )


def harmonic_mean(precision: np.ndarray, recall: np.ndarray) -> np.ndarray:
    """Compute F1: 0 where nothing is predicted or both are 0, nan where recall is nan."""
    total = precision + recall
    f1 = np.where(np.isnan(recall), np.nan, 0.0)
    np.divide(2 * precision * recall, total, out=f1, where=total > 0)
    return f1


def score_sample(
    truth: Sequence[Event], prediction: Sequence[Event], length: float
) -> tuple[list[float], list[float]]:
    """Score the zones of one sample: `score_zones` without what numpy costs a call."""
    precisions, recalls = [], []
    left, first, last, count = 0.0, 0, len(truth) - 1, len(prediction)
    for zone, (start, stop) in enumerate(truth):
        right = length if zone == last else (stop + truth[zone + 1][0]) / 2
        if first < count and prediction[first][0] < right:
            pieces, first = _cut(prediction, first, left, right)
            precision = 1 - _precision_loss(pieces, start, stop, left, right)
            recall = 1 - _recall_loss(pieces, start, stop, left, right)
            precisions.append(precision if precision > 0 else 0.0)  # not a rounding error below
            recalls.append(recall if recall > 0 else 0.0)
        else:
            precisions.append(math.nan)
            recalls.append(0.0)
        left = right
    return precisions, recalls


def average_sample(precisions: list[float], recalls: list[float]) -> tuple[float, float, float]:
    """Average the zones of one sample, as `average_zones`, and compute its F1."""
    if not recalls:
        return math.nan, math.nan, math.nan
    recall = sum(recalls) / len(recalls)
    defined = [value for value in precisions if value == value]  # nan is not itself
    if not defined:
        return math.nan, recall, 0.0
    precision = sum(defined) / len(defined)
    total = precision + recall
    return precision, recall, 2 * precision * recall / total if total > 0 else 0.0


def _score_block(truth: Events, prediction: Events, lengths: np.ndarray) -> np.ndarray:
    """Score the zones of some samples: precision and recall, [2, Z]."""
    left, right = _borders(truth, lengths)  # [Z]
    pieces = _cut_all(truth, prediction, left, right)
    zones, sizes = left.size, right - left
    width = np.bincount(pieces.zone, pieces.stop - pieces.start, zones)  # [Z]
    lost = np.bincount(pieces.zone, _precision_losses(pieces), zones)
    missed = np.bincount(pieces.zone, _recall_losses(pieces), zones)
    with np.errstate(invalid="ignore"):
        precision = 1 - lost / (sizes * width)  # 0 / 0 where nothing is predicted
    recall = 1 - missed / (sizes * (truth.stops - truth.starts))
    recall[width == 0] = 0.0
    scores: np.ndarray = np.maximum(np.stack([precision, recall]), 0.0)  # no rounding error below
    return scores


def _borders(truth: Events, lengths: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Find where each zone begins and ends."""
    left, right = np.empty((2, truth.starts.size))
    left[1:] = right[:-1] = (truth.stops[:-1] + truth.starts[1:]) / 2
    some = np.diff(truth.offsets) > 0  # samples with a zone
    left[truth.offsets[:-1][some]] = 0.0
    right[truth.offsets[1:][some] - 1] = lengths[some]
    return left, right


def _cut_all(truth: Events, prediction: Events, left: np.ndarray, right: np.ndarray) -> _Pieces:
    low, high = truth.offsets[prediction.samples], truth.offsets[prediction.samples + 1]
    first = _bisect(right, prediction.starts, low, high, np.less_equal)
    stop = np.minimum(first + 1, high)
    beyond = stop < high  # most end in the zone that they start in, which takes no search
    beyond &= prediction.stops > left[np.minimum(stop, left.size - 1)] if left.size else False
    stop[beyond] = _bisect(left, prediction.stops[beyond], stop[beyond], high[beyond], np.less)
    counts = stop - first
    whole = np.repeat(np.arange(counts.size), counts)  # [P]
    zone = np.arange(whole.size) + (first - np.cumsum(counts) + counts)[whole]
    zone_left, zone_right = left[zone], right[zone]
    return _Pieces(
        zone,
        np.maximum(prediction.starts[whole], zone_left),
        np.minimum(prediction.stops[whole], zone_right),
        truth.starts[zone],
        truth.stops[zone],
        zone_left,
        zone_right,
    )


def _bisect(
    borders: np.ndarray, values: np.ndarray, low: np.ndarray, high: np.ndarray, below: np.ufunc
) -> np.ndarray:
    """Find the first border in [low, high) that is not below the value; each has its own bounds."""
    # One search a sample would cost a call each; one search over all needs a key that holds the
    # sample too, and shifting the samples apart to make one rounds away the borders' last digits.
    if borders.size == 0:
        return low
    for _ in range(int((high - low).max(initial=0)).bit_length()):
        middle = (low + high) >> 1
        passed = (low < high) & below(borders[np.minimum(middle, borders.size - 1)], values)
        low, high = np.where(passed, middle + 1, low), np.where(passed, high, middle)
    return low


def _precision_losses(pieces: _Pieces) -> np.ndarray:
    """Integrate the loss of each piece, times the length of its zone."""
    _, start, stop, true_start, true_stop, left, right = pieces
    size, cap = true_stop - true_start, np.minimum(true_start - left, right - true_stop)
    before, after = np.minimum(stop, true_start) - start, stop - np.maximum(start, true_stop)
    losses = _far_losses(true_start - stop, before, size, cap)
    losses += _far_losses(start - true_stop, after, size, cap)
    return losses


def _far_losses(
    low: np.ndarray, width: np.ndarray, size: np.ndarray, cap: np.ndarray
) -> np.ndarray:
    np.maximum(low, 0.0, out=low)
    np.maximum(width, 0.0, out=width)
    losses = width / 2
    losses += low
    losses += size
    losses *= width
    losses += _ramp_areas(low, width, cap)
    return losses


def _recall_losses(pieces: _Pieces) -> np.ndarray:
    """Integrate the loss of the true points that each piece is nearest to, times the zone."""
    zone, start, stop, true_start, true_stop, left, right = pieces
    nearest_from, nearest_to = left.copy(), right.copy()
    # Towards the border, points nearer to the border than to the piece lose no more.
    cap_before, cap_after = (start - left) / 2, (right - stop) / 2
    inner = np.flatnonzero(zone[1:] == zone[:-1])
    nearest_to[inner] = nearest_from[inner + 1] = (stop[inner] + start[inner + 1]) / 2
    cap_before[inner + 1] = cap_after[inner] = start[inner + 1] - stop[inner]  # out of reach
    before = np.minimum(true_stop, start) - np.maximum(true_start, nearest_from)
    after = np.minimum(true_stop, nearest_to) - np.maximum(true_start, stop)
    losses = _near_losses(start - true_stop, before, cap_before)
    losses += _near_losses(true_start - stop, after, cap_after)
    return losses


def _near_losses(low: np.ndarray, width: np.ndarray, cap: np.ndarray) -> np.ndarray:
    np.maximum(low, 0.0, out=low)
    np.maximum(width, 0.0, out=width)
    return 2 * _ramp_areas(low, width, cap)


def _ramp_areas(low: np.ndarray, width: np.ndarray, cap: np.ndarray) -> np.ndarray:
    """Integrate min(d, cap) over the distances d from low to low + width."""
    # From the width and not from the two ends, whose difference a far, short stretch would lose.
    rising = cap - low
    np.maximum(rising, 0.0, out=rising)  # in place: new arrays would cost more than the arithmetic
    np.minimum(rising, width, out=rising)
    areas: np.ndarray = rising / 2
    areas += low
    areas *= rising
    level = width - rising
    level *= cap
    areas += level
    return areas


def _cut(
    prediction: Sequence[Event], first: int, left: float, right: float
) -> tuple[list[Event], int]:
    """Cut a zone's pieces; return them and the first prediction that reaches the next zone."""
    pieces: list[Event] = []
    for index in range(first, len(prediction)):
        start, stop = prediction[index]
        if start >= right:
            return pieces, index
        pieces.append((start if start > left else left, stop if stop < right else right))
        if stop > right:
            return pieces, index
    return pieces, len(prediction)


def _precision_loss(
    pieces: list[Event], true_start: float, true_stop: float, left: float, right: float
) -> float:
    # Conditional expressions throughout: calls of min and max would take half of the time.
    size, before, after = true_stop - true_start, true_start - left, right - true_stop
    cap = before if before < after else after
    loss = total = 0.0
    for start, stop in pieces:
        total += stop - start
        if start < true_start:
            apart = stop < true_start
            low, width = (
                true_start - stop if apart else 0.0,
                (stop if apart else true_start) - start,
            )
            loss += width * (size + low + width / 2) + _ramp_area(low, width, cap)
        if stop > true_stop:
            apart = start > true_stop
            low, width = start - true_stop if apart else 0.0, stop - (start if apart else true_stop)
            loss += width * (size + low + width / 2) + _ramp_area(low, width, cap)
    return loss / ((right - left) * total)


def _recall_loss(
    pieces: list[Event], true_start: float, true_stop: float, left: float, right: float
) -> float:
    loss, previous = 0.0, pieces[0][0]
    if previous > true_start:
        loss = _loss_before(previous, left, true_start, true_stop, (previous - left) / 2)
    for start, stop in pieces:
        if previous < start and previous < true_stop and start > true_start:
            middle = (previous + start) / 2
            if middle > true_start:
                loss += _loss_after(previous, middle, true_start, true_stop, math.inf)
            if middle < true_stop:
                loss += _loss_before(start, middle, true_start, true_stop, math.inf)
        previous = stop
    if previous < true_stop:
        loss += _loss_after(previous, right, true_start, true_stop, (right - previous) / 2)
    return 2 * loss / ((right - left) * (true_stop - true_start))


def _loss_before(
    start: float, nearest_from: float, true_start: float, true_stop: float, cap: float
) -> float:
    """Integrate the loss of the true points before a piece, from where it is the nearest."""
    first = true_start if true_start > nearest_from else nearest_from
    apart = start > true_stop
    return _ramp_area(
        start - true_stop if apart else 0.0, (true_stop if apart else start) - first, cap
    )


def _loss_after(
    stop: float, nearest_to: float, true_start: float, true_stop: float, cap: float
) -> float:
    """Integrate the loss of the true points after a piece, up to where it is the nearest."""
    last = true_stop if true_stop < nearest_to else nearest_to
    apart = stop < true_start
    return _ramp_area(
        true_start - stop if apart else 0.0, last - (true_start if apart else stop), cap
    )


def _ramp_area(low: float, width: float, cap: float) -> float:
    rising = cap - low
    if rising >= width:
        return width * (low + width / 2)
    if rising <= 0:
        return cap * width
    return rising * (low + rising / 2) + cap * (width - rising)


# Scored together: far above, the intermediate arrays fall out of the processor's cache; far below,
# the calls cost more than the arithmetic.
_BLOCK_EVENTS = 1 << 14
