"""What a random answer scores: the level that a detector has to beat."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from timevista_hf.metrics._events import (
    EventTable,
    flatten_events,
    read_columns,
    read_ranges,
    read_samples,
)
from timevista_hf.metrics._sets import (
    SetScores,
    check_labels,
    is_integer,
    read_ids,
    score_counts,
    sizes,
)
from timevista_hf.metrics._zones import Events, average_zones, harmonic_mean, score_zones


@dataclass(frozen=True, eq=False)
class ChanceAffiliation:
    """Hold the mean scores of random answers to N samples, and their standard errors.

    Parameters
    ----------
    precision, recall, f1 : ndarray of shape (N,)
        The mean over the draws, in [0, 1]. Precision is nan for an answer of size 0.
    precision_error, recall_error, f1_error : ndarray of shape (N,)
        The standard error of that mean; for a mean over samples, the errors' root sum of squares
        over N.
    draws : int
        How many answers to each sample were drawn.
    """

    precision: np.ndarray  # [N]
    recall: np.ndarray  # [N]
    f1: np.ndarray  # [N]
    precision_error: np.ndarray  # [N]
    recall_error: np.ndarray  # [N]
    f1_error: np.ndarray  # [N]
    draws: int


def chance_affiliation(
    y_true: Sequence[Any] | EventTable,
    *,
    ranges: Any,
    size: int | Sequence[Any],
    step: float = 1,
    draws: int = 200,
    seed: int | np.random.Generator = 0,
) -> ChanceAffiliation:
    """Estimate what `affiliation_precision_recall` gives a random answer of a given size.

    An answer places its events on whole steps of the range, in random order and without overlap,
    every placement as likely as every other. Events that touch are joined.

    Parameters
    ----------
    y_true : sequence of N sequences of (start, stop), of N arrays (E, 2), or EventTable
        The true events, as in `affiliation_precision_recall`; no sample without any.
    ranges : (start, stop), or array_like of shape (N, 2)
        The time that was searched, a whole number of steps long.
    size : int, or sequence of N int, or sequence of N sequences of float
        How many points, each one step long, an answer has; or the lengths of its events, in the
        unit of `ranges`, whole numbers of steps.
    step : float
        The distance of neighbouring time steps, > 0.
    draws : int
        Answers to draw for each sample, ≥ 2. The standard error of a sample's score is about
        0.3 over the root of this number.
    seed : int or numpy.random.Generator
        What the draws follow from: the same seed gives the same result.

    Returns
    -------
    ChanceAffiliation
        Mean precision, recall and F1 of each sample, and their standard errors.

    Raises
    ------
    ValueError
        As `affiliation_precision_recall` raises; for lengths that are no whole, positive numbers
        of steps, and for events that do not fit into their range. The message names the sample.

    Examples
    --------
    >>> chance = chance_affiliation([[(180, 220)]], ranges=(0, 400), size=1, draws=5000)
    >>> chance.precision.round(1), bool(chance.precision_error < 0.005)
    (array([0.5]), True)
    """
    _check_numbers(step, draws)
    rows = read_samples("y_true", y_true)
    spans = read_ranges(ranges, len(rows))
    truth = flatten_events(read_columns("y_true", rows, spans, merge=False), spans, merge=False)
    lengths = np.asarray(spans.lengths)  # [N]
    blocks = _read_blocks(size, len(rows), step)
    groups = _group(blocks, _count_steps(truth, lengths, step))
    return _average_draws(truth, lengths, groups, step, draws, np.random.default_rng(seed))


def chance_set(y_true: Sequence[Any], *, n_labels: int, size: int | Sequence[int]) -> SetScores:
    r"""Compute what `set_precision_recall_f1` gives a random answer of a given size on average.

    The answer is drawn evenly from all sets of its size. The number of ids that it shares with
    the truth is then hypergeometric, with mean :math:`|A||B| / n` for :math:`|A|` true ids,
    :math:`|B|` predicted ones and :math:`n` labels. All scores are proportional to that number,
    so putting the mean in its place is exact.

    Parameters
    ----------
    y_true : sequence of N sequences of int
        The true ids, as in `set_precision_recall_f1`.
    n_labels : int
        How many ids there are, ≥ 1.
    size : int, or sequence of N int
        How many ids an answer names, from 0 to `n_labels`.

    Returns
    -------
    SetScores
        The expected scores, in [0, 1]. An answer that names all ids has ``size=n_labels``.

    Raises
    ------
    ValueError
        As `set_precision_recall_f1` raises, and for a size out of bounds; the message names the
        sample.

    Examples
    --------
    >>> chance = chance_set([[3, 4], [0]], n_labels=9, size=3)
    >>> chance.recall.round(3), round(chance.micro_precision, 3)
    (array([0.333, 0.333]), 0.167)
    """
    check_labels(n_labels)
    truth, rejected = read_ids("y_true", y_true, n_labels)
    counts = _read_counts(size, len(truth))
    for sample, count in enumerate(counts):
        if not is_integer(count) or not 0 <= count <= n_labels:
            rule = f"must be an integer from 0 to {n_labels}"
            raise ValueError(f"sample {sample}: `size` {rule}, got {count!r}")
    true, predicted = sizes(truth), np.array(counts, dtype=np.float64)
    return score_counts(true * predicted / n_labels, true, predicted, rejected)


@dataclass(frozen=True, eq=False)
class _Group:
    """The samples whose answers have the same number of events, K."""

    samples: np.ndarray  # [G]
    lengths: np.ndarray  # [G, K], in steps
    free: np.ndarray  # [G], steps between and around the events


def _check_numbers(step: float, draws: int) -> None:
    if not isinstance(step, Real) or not 0 < step < math.inf:
        raise ValueError(f"`step` must be a number above 0, got {step!r}")
    if not is_integer(draws) or draws < 2:
        raise ValueError(f"`draws` must be an integer of at least 2, got {draws!r}")


def _read_counts(size: Any, count: int) -> list[Any]:
    if is_integer(size):
        return [size] * count
    try:
        counts = list(size)
    except TypeError as error:
        raise ValueError(f"`size` must be one size or one a sample, got {size!r}") from error
    if len(counts) != count:
        raise ValueError(f"`size` has {len(counts)} entries for {count} samples")
    return counts


def _read_blocks(size: Any, count: int, step: float) -> list[np.ndarray]:
    """Read the lengths of each answer's events, in steps."""
    blocks = []
    for sample, entry in enumerate(_read_counts(size, count)):
        place = f"sample {sample}: `size`"
        if is_integer(entry):
            if entry < 0:
                raise ValueError(f"{place} must not be negative, got {entry!r}")
            blocks.append(np.ones(entry, dtype=np.int64))
        else:
            blocks.append(_whole_steps(place, entry, step))
    return blocks


def _whole_steps(place: str, lengths: ArrayLike, step: float) -> np.ndarray:
    try:
        ratios = np.asarray(lengths, dtype=np.float64) / step
    except (TypeError, ValueError) as error:
        raise ValueError(f"{place} must hold lengths, got {lengths!r}") from error
    steps = np.rint(ratios)
    if steps.ndim != 1 or not ((steps >= 1) & np.isclose(ratios, steps, rtol=0, atol=1e-6)).all():
        raise ValueError(f"{place} must be whole numbers of steps of {step}, got {lengths!r}")
    return steps.astype(np.int64)


def _count_steps(truth: Events, lengths: np.ndarray, step: float) -> list[int]:
    """Count the steps of each range; a sample without truth has no level of chance."""
    steps = []
    for sample, (events, length) in enumerate(zip(np.diff(truth.offsets), lengths, strict=True)):
        if events == 0:
            raise ValueError(f"sample {sample}: `y_true` must hold an event, got none")
        place = f"sample {sample}: the length of `ranges`"
        steps.append(int(_whole_steps(place, [length], step)[0]))
    return steps


def _group(blocks: list[np.ndarray], steps: list[int]) -> list[_Group]:
    groups: dict[int, list[int]] = defaultdict(list)
    for sample, (lengths, room) in enumerate(zip(blocks, steps, strict=True)):
        if lengths.sum() > room:
            taken = f"takes {lengths.sum()} steps"
            raise ValueError(f"sample {sample}: `size` {taken}, but the range has {room}")
        if lengths.size:
            groups[lengths.size].append(sample)
    return [
        _Group(
            np.array(samples),
            np.stack([blocks[sample] for sample in samples]),
            np.array([steps[sample] - blocks[sample].sum() for sample in samples]),
        )
        for samples in groups.values()
    ]


def _average_draws(
    truth: Events,
    lengths: np.ndarray,
    groups: list[_Group],
    step: float,
    draws: int,
    rng: np.random.Generator,
) -> ChanceAffiliation:
    samples = lengths.size
    copies = max(1, min(draws, _SAMPLES_AT_ONCE // max(1, samples)))
    sums, squares = np.zeros((2, 3, samples))
    for first in range(0, draws, copies):
        times = min(copies, draws - first)
        spans = np.tile(lengths, times)
        answers = _draw(groups, spans, samples, times, step, rng)
        events = _repeat(truth, times)
        precision, recall = average_zones(events, *score_zones(events, answers, spans))
        scores = np.stack([precision, recall, harmonic_mean(precision, recall)])
        scores = scores.reshape(3, times, samples)
        sums += scores.sum(axis=1)
        squares += np.square(scores).sum(axis=1)
    means = sums / draws
    # A score that never varies may leave a variance a rounding error below 0.
    variances = np.maximum(squares - draws * means**2, 0.0) / (draws - 1)
    precision, recall, f1 = means
    precision_error, recall_error, f1_error = np.sqrt(variances / draws)
    return ChanceAffiliation(precision, recall, f1, precision_error, recall_error, f1_error, draws)


def _repeat(events: Events, times: int) -> Events:
    count = events.offsets.size - 1
    samples = (events.samples + count * np.arange(times)[:, None]).ravel()
    starts, stops = np.tile(events.starts, times), np.tile(events.stops, times)
    return Events(starts, stops, samples, np.searchsorted(samples, np.arange(count * times + 1)))


def _draw(
    groups: list[_Group],
    lengths: np.ndarray,
    count: int,
    times: int,
    step: float,
    rng: np.random.Generator,
) -> Events:
    """Draw one answer to each sample, `times` over."""
    parts = [_place(group, count, times, rng) for group in groups]
    empty = np.zeros(0, dtype=np.int64)
    starts, stops, samples = (
        np.concatenate([empty, *columns])
        for columns in zip((empty, empty, empty), *parts, strict=True)
    )
    order = np.argsort(samples, kind="stable")
    starts, stops, samples = starts[order], stops[order], samples[order]
    apart = np.ones(starts.size + 1, dtype=bool)
    apart[1:-1] = (starts[1:] > stops[:-1]) | (samples[1:] != samples[:-1])
    starts, stops, samples = starts[apart[:-1]], stops[apart[1:]], samples[apart[:-1]]
    ends = np.minimum(stops * step, lengths[samples])
    return Events(
        starts * step, ends, samples, np.searchsorted(samples, np.arange(lengths.size + 1))
    )


def _place(
    group: _Group, count: int, times: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Place the events of a group on their ranges: flat starts, stops and samples, in steps."""
    samples = (group.samples + count * np.arange(times)[:, None]).ravel()  # [R]
    lengths = rng.permuted(np.tile(group.lengths, (times, 1)), axis=1)  # [R, K]
    events = lengths.shape[1]
    # Choosing which of the free steps and events, in a row, are the events gives each row a chance.
    slots = _subsets(np.tile(group.free, times) + events, events, rng)  # [R, K]
    starts = slots - np.arange(events) + np.cumsum(lengths, axis=1) - lengths
    return starts.ravel(), (starts + lengths).ravel(), np.repeat(samples, events)


def _subsets(sizes: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
    """Draw `count` different numbers below each size, sorted, every set as likely [R, K]."""
    # R. Floyd's way: a number that is taken makes room for the last one allowed in its turn.
    drawn = np.full((sizes.size, count), -1)
    for turn in range(count):
        last = sizes - count + turn
        number = rng.integers(0, last + 1)
        taken = (drawn[:, :turn] == number[:, None]).any(axis=1)
        drawn[:, turn] = np.where(taken, last, number)
    return np.sort(drawn, axis=1)


_SAMPLES_AT_ONCE = 1 << 14  # scored together: bounds the memory, and fills numpy's calls
