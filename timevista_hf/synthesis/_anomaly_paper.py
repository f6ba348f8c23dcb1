"""The paper's series, bit for bit: one legacy random stream a subset, drawn in its order."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import lru_cache

import numpy as np

from timevista_hf.synthesis._subsets import AnomalySubset

COUNT = 100  # series a split; the second split continues the stream of the first
STEPS = {"sine": 400, "sine_cosine": 200}

Series = tuple[np.ndarray, np.ndarray, tuple[int, ...]]  # values, events [E, 2], variates


def draw_splits(subset: AnomalySubset, base: np.ndarray | None) -> Iterator[Series]:
    """Draw the training series, then those of the test, on the first real case [T, C] if any."""
    rng = np.random.RandomState(0)
    for _ in ("train", "test"):
        freq = 0.04
        for _ in range(COUNT):
            if subset.granularity == "variate":
                yield _draw_variates(rng, subset, base)
                continue
            yield _draw_univariate(rng, subset, base, freq)
            if subset.anomaly == "seasonal":
                freq *= 3  # defect G1: the tripled frequency stays


def _draw_univariate(
    rng: np.random.RandomState, subset: AnomalySubset, base: np.ndarray | None, freq: float
) -> Series:
    if base is None:
        normal = _wave(rng, "sine", STEPS["sine"], freq, 1.5, 0.0, 0.05)
    else:
        # An array of objects is summed from left to right, as the paper's was: other last bits.
        normal = base[:, 0].astype(object)
    values = normal.copy()
    labels = np.zeros(normal.size)
    if subset.granularity == "point":
        _spoil_points(rng, subset.anomaly, normal, values, labels)
    else:
        _spoil_ranges(rng, subset.anomaly, freq, normal, values, labels)
    values = values.astype(np.float64)
    if subset.irregularity:
        missing = _draw_missing(rng, normal.size, subset.irregularity)
        values[missing] = labels[missing] = np.nan
    points = np.flatnonzero(labels == 1)
    if subset.granularity == "point":
        return values, np.column_stack([points, points + 1]), ()
    return values, np.array(_runs(labels)).reshape(-1, 2), ()


def _spoil_points(
    rng: np.random.RandomState,
    anomaly: str,
    normal: np.ndarray,
    values: np.ndarray,
    labels: np.ndarray,
) -> None:
    low, high = min(normal), max(normal)
    size = normal.size
    for position in (rng.random_sample(round(0.05 * size)) * size).astype(int):
        spread = np.std(normal[max(0, position - 5) : min(position + 5, size)])
        value = (normal[position] * (3.5 if anomaly == "global" else 2.5)) * spread
        if anomaly == "global":
            value = high if 0 <= value < high else low if low < value < 0 else value
        elif value > high:
            value = high * min(0.95, abs(rng.normal(0, 0.5)))
        elif value < low:
            value = low * min(0.95, abs(rng.normal(0, 0.5)))
        values[position] = value
        labels[position] = 1


def _spoil_ranges(
    rng: np.random.RandomState,
    anomaly: str,
    freq: float,
    normal: np.ndarray,
    values: np.ndarray,
    labels: np.ndarray,
) -> None:
    size = normal.size
    positions = (rng.random_sample(round(0.05 * size / 10)) * size).astype(int)
    square = _square_of_sines(rng, size, freq) if anomaly == "shapelet" else None
    for position in positions:
        start, stop = max(0, position - 5), min(size, position + 5)
        if anomaly == "trend":
            slope = (-1, 1)[rng.randint(0, 2)] * 0.5 * np.arange(stop - start)
            values[start:stop] = normal[start:stop] + slope
            values[stop:] += slope[-1]
        else:
            other = _wave(rng, "sine", size, freq * 3, 1.5, 0.0, 0.05) if square is None else square
            values[start:stop] = other[start:stop]
        labels[start:stop] = 1


def _square_of_sines(rng: np.random.RandomState, size: int, freq: float) -> np.ndarray:
    total = np.zeros(size)
    for order in range(1, 40, 2):
        total += (1 / order) * _wave(rng, "sine", size, freq * order, 1.5, 0.0, 0.03)
    return total


def _runs(labels: np.ndarray) -> list[tuple[int, int]]:
    """Find where 1 opens and 0 closes a run; a missing label does neither."""
    runs, start = [], None
    for step, label in enumerate(labels):
        if label == 1 and start is None:
            start = step
        elif label == 0 and start is not None:
            runs.append((start, step))
            start = None
    return runs if start is None else [*runs, (start, len(labels))]


def _draw_variates(
    rng: np.random.RandomState, subset: AnomalySubset, base: np.ndarray | None
) -> Series:
    count = subset.num_variates
    if base is None:
        kinds = ("sine", "cosine")
        columns = [
            _random_wave(rng, kinds[rng.randint(0, 2)], STEPS["sine_cosine"]) for _ in range(count)
        ]
    else:
        columns = [*base.T[_draw_columns(rng, base.shape[1], count)]]
    size = columns[0].size
    anomalous = rng.randint(1, math.isqrt(count))
    variates = rng.permutation(count)[:anomalous]
    for variate in variates:
        columns[variate] = _random_wave(rng, subset.anomaly, size)
    values = np.column_stack(columns)
    if subset.irregularity:
        for column in values.T:
            column[_draw_missing(rng, size, subset.irregularity)] = np.nan
    return values, np.empty((0, 2), dtype=np.int64), tuple(sorted(variates.tolist()))


def _draw_columns(rng: np.random.RandomState, known: int, count: int) -> np.ndarray:
    if count < known:
        return rng.permutation(known)[:count]
    return np.append(np.arange(known), rng.randint(0, known, count - known)).astype(int)


def _draw_missing(rng: np.random.RandomState, size: int, irregularity: int) -> np.ndarray:
    return rng.permutation(size)[: int(size * (irregularity / 100))]


def _random_wave(rng: np.random.RandomState, shape: str, size: int) -> np.ndarray:
    freq, coef = rng.uniform(0.03, 0.05), rng.uniform(0.5, 2)
    offset, noise = rng.uniform(-1, 1), rng.uniform(0.05, 0.20)
    return _wave(rng, shape, size, freq, coef, offset, noise)


def _wave(
    rng: np.random.RandomState,
    shape: str,
    size: int,
    freq: float,
    coef: float,
    offset: float,
    noise: float,
) -> np.ndarray:
    if shape == "random_walk":
        return coef * np.cumsum(rng.normal(0, noise, size)) + offset
    return coef * (_shape(shape, size, freq) + noise * rng.normal(0, 1, size)) + offset


@lru_cache(maxsize=64)
def _shape(shape: str, size: int, freq: float) -> np.ndarray:
    steps = np.arange(size)
    phase = ((2 * np.pi) * freq) * steps
    if shape == "sine":
        return _by_libm(math.sin, phase)
    if shape == "cosine":
        return _by_libm(math.cos, phase)
    if shape == "square":
        return np.where(phase % (2 * np.pi) < np.pi, 1.0, -1.0)
    if shape == "sawtooth":
        return (phase % (2 * np.pi)) / np.pi - 1
    triangle: np.ndarray = 2 * np.abs(((steps * freq) % 1) - 0.5) - 1  # defect G6: from -1 to 0
    return triangle


def _by_libm(function: Callable[[float], float], phase: np.ndarray) -> np.ndarray:
    # numpy's own sine differs in the last bit on some processors.
    return np.array([function(value) for value in phase.tolist()])
