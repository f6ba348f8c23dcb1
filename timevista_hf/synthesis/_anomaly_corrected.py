"""The corrected series: each from a seed of its own, each anomaly of a guaranteed size."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from math import isqrt

import numpy as np

from timevista_hf.synthesis import _waves
from timevista_hf.synthesis._subsets import AnomalySubset

STEPS = {"sine": 400, "sine_cosine": 200}
MIN_STEPS = 50
CLEAN_EVERY = 10  # the last of each ten series is clean

FREQ = 0.04  # periods a step
AMPLITUDE = 1.5
NOISE = 0.05  # standard deviation, in half the height of the series
POINT_SHARE = 0.05  # at most so many of the steps
POINT_GAP = 5
STEPS_A_RANGE = 200  # at most one range for so many steps, rounded
RANGE_LENGTHS = (10, 20)
RANGE_GAP = 20
# Least deviations, in standard deviations of the series without noise.
GLOBAL = (0.5, 1.5)  # beyond all that is normal
CONTEXTUAL = 0.5  # from the step itself and both neighbours
TREND = (1.5, 2.5)  # at the top of the slope
SHAPELET = (0.75, 1.0)  # root mean square over the range

VARIATE_FREQS = (0.03, 0.05)
VARIATE_COEFS = (0.5, 2.0)
VARIATE_OFFSETS = (-1.0, 1.0)
# A triangle departs from the nearest sine by 0.069 (root mean square): more than the noise.
VARIATE_NOISES = (0.02, 0.06)


@dataclass(frozen=True, eq=False)
class Drawn:
    """A series as it is, as it was before anything was wrong with it, and its labels."""

    values: np.ndarray  # [T] or [T, M]
    normal: np.ndarray  # the same
    events: np.ndarray  # [E, 2]
    variates: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class _Normal:
    """A normal univariate series, and what an anomaly has to know of it."""

    smooth: np.ndarray  # [T], without noise
    values: np.ndarray  # [T], with noise
    cycles: np.ndarray  # [T], periods gone by; only the sine has a season

    @property
    def spread(self) -> float:
        return float(np.std(self.smooth))

    @property
    def low(self) -> float:
        return float(self.values.min())

    @property
    def high(self) -> float:
        return float(self.values.max())


def draw_series(
    subset: AnomalySubset, split: str, index: int, *, steps: int, cases: np.ndarray | None
) -> Drawn:
    """Draw one series, whatever was drawn before it; on real cases [N, T, C] if any."""
    rng = _generator(subset.name, split, index)
    clean = index % CLEAN_EVERY == CLEAN_EVERY - 1
    real = None
    if cases is not None:
        real = _pick_columns(subset, split, index, steps, cases)
    if subset.granularity == "variate":
        return _draw_variates(subset, rng, steps, real, clean=clean)
    return _draw_univariate(subset, rng, steps, real, clean=clean)


def _generator(*names: object) -> np.random.Generator:
    digest = hashlib.sha256("/".join(map(str, names)).encode()).digest()
    return np.random.default_rng(int.from_bytes(digest, "big"))


def _draw_univariate(
    subset: AnomalySubset,
    rng: np.random.Generator,
    steps: int,
    real: np.ndarray | None,
    *,
    clean: bool,
) -> Drawn:
    cycles = FREQ * np.arange(steps) + rng.random()
    smooth = AMPLITUDE * _waves.sine(cycles) if real is None else real[:, 0]
    noise = NOISE * np.ptp(smooth) / 2 * rng.standard_normal(steps)
    normal = _Normal(smooth=smooth, values=smooth + noise, cycles=cycles)
    events = np.empty((0, 2), dtype=np.int64) if clean else _place(subset, rng, steps)
    values = normal.values.copy()
    for start, stop in events.tolist():
        values[start:stop] = _ANOMALIES[subset.anomaly](normal, start, stop, rng)
    missing = _drop_steps(rng, steps, steps * subset.irregularity // 100, events)
    values[missing] = np.nan
    return Drawn(values=values, normal=normal.values, events=events, variates=())


def _place(subset: AnomalySubset, rng: np.random.Generator, steps: int) -> np.ndarray:
    """Draw how many anomalies there are, how long, and where: apart, and off both ends."""
    if subset.granularity == "point":
        most, gap = round(POINT_SHARE * steps), POINT_GAP
        lengths = np.ones(rng.integers(1, most + 1), dtype=np.int64)
    else:
        most, gap = max(1, round(steps / STEPS_A_RANGE)), RANGE_GAP
        shortest, longest = RANGE_LENGTHS
        longest = min(longest, steps // 5)
        lengths = rng.integers(shortest, longest + 1, rng.integers(1, most + 1))
    taken = np.cumsum(lengths + gap) - lengths - gap
    free = steps - 2 - int(lengths.sum()) - gap * (lengths.size - 1)
    starts = 1 + taken + np.sort(rng.integers(0, free + 1, lengths.size))
    return np.column_stack([starts, starts + lengths])


def _global(normal: _Normal, start: int, stop: int, rng: np.random.Generator) -> np.ndarray:
    """Leave the range of all that is normal, above or below."""
    beyond = rng.uniform(*GLOBAL, stop - start) * normal.spread
    return np.where(rng.random(stop - start) < 0.5, normal.high + beyond, normal.low - beyond)


def _contextual(normal: _Normal, start: int, stop: int, rng: np.random.Generator) -> np.ndarray:
    """Stay within the range, but away from this step and its neighbours."""
    around = normal.values[start - 1 : stop + 1]
    least = CONTEXTUAL * normal.spread
    rooms = np.array([normal.high - around.max(), around.min() - normal.low])
    fitting = np.flatnonzero(rooms >= min(least, rooms.max()))
    side = rng.choice(fitting)
    away = rng.uniform(min(least, rooms[side]), rooms[side])
    return np.array([around.max() + away if side == 0 else around.min() - away])


def _seasonal(normal: _Normal, start: int, stop: int, rng: np.random.Generator) -> np.ndarray:
    """Go on three times as fast."""
    before = normal.cycles[start - 1]
    fast = AMPLITUDE * _waves.sine(before + 3 * (normal.cycles[start:stop] - before))
    return np.asarray(normal.values[start:stop] - normal.smooth[start:stop] + fast)


def _trend(normal: _Normal, start: int, stop: int, rng: np.random.Generator) -> np.ndarray:
    """Slope away from the level and back to it."""
    length = stop - start
    slopes = 1 - np.abs(2 * np.arange(1, length + 1) / (length + 1) - 1)
    height = rng.choice([-1, 1]) * rng.uniform(*TREND) * normal.spread
    return np.asarray(normal.values[start:stop] + height * slopes / slopes.max())


def _shapelet(normal: _Normal, start: int, stop: int, rng: np.random.Generator) -> np.ndarray:
    """Put two square waves in place of the shape, near its level and within the range."""
    smooth = normal.smooth[start:stop]
    size = rng.uniform(*SHAPELET) * normal.spread
    wave = _waves.square(2 * (np.arange(stop - start) + 0.5) / (stop - start))
    # Against the shape, so that the two are never alike: their distance is at least `size`.
    wave *= -1 if wave @ (smooth - smooth.mean()) > 0 else 1
    level = np.clip(smooth.mean(), normal.low + size, normal.high - size)
    return np.asarray(normal.values[start:stop] - smooth + level + size * wave)


def _drop_steps(rng: np.random.Generator, steps: int, count: int, events: np.ndarray) -> np.ndarray:
    """Draw missing steps that leave each end of an event, and its neighbours, to be seen."""
    missing = np.zeros(steps, dtype=bool)
    inside, kept = np.zeros(steps, dtype=bool), np.zeros(steps, dtype=bool)
    for start, stop in events.tolist():
        inside[start:stop] = True
        kept[start - 1 : start + 2] = kept[stop - 2 : stop + 1] = True
    for step in rng.permutation(steps).tolist():
        if count == 0:
            break
        # Inside a range, two steps in a row remain between missing ones: a line is drawn.
        crowded = inside[step] and missing[step - 2 : step + 3].any()
        if not kept[step] and not crowded:
            missing[step] = True
            count -= 1
    return missing


def _draw_variates(
    subset: AnomalySubset,
    rng: np.random.Generator,
    steps: int,
    real: np.ndarray | None,
    *,
    clean: bool,
) -> Drawn:
    count = subset.num_variates
    cycles = np.arange(steps)[:, None] * rng.uniform(*VARIATE_FREQS, count) + rng.random(count)
    if real is None:
        shapes = _waves.sine(cycles)
        sizes, levels = rng.uniform(*VARIATE_COEFS, count), rng.uniform(*VARIATE_OFFSETS, count)
    else:
        levels, sizes = (real.max(axis=0) + real.min(axis=0)) / 2, np.ptp(real, axis=0) / 2
        sizes[sizes == 0] = 1  # a constant variate
        shapes = (real - levels) / sizes
    noise = rng.uniform(*VARIATE_NOISES, count) * rng.standard_normal((steps, count))
    anomalous = 0 if clean else rng.integers(1, max(1, isqrt(count) - 1) + 1)
    variates = np.sort(rng.permutation(count)[:anomalous])
    spoiled = shapes.copy()
    for variate in variates:
        spoiled[:, variate] = _wave(subset.anomaly, cycles[:, variate], rng)
    values = levels + sizes * (spoiled + noise)
    for column in values.T:
        column[rng.permutation(steps)[: steps * subset.irregularity // 100]] = np.nan
    return Drawn(
        values=values,
        normal=levels + sizes * (shapes + noise),
        events=np.empty((0, 2), dtype=np.int64),
        variates=tuple(variates.tolist()),
    )


def _wave(shape: str, cycles: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    if shape == "random_walk":
        return _waves.random_walk(cycles.size, rng)
    return _SHAPES[shape](cycles)


def _pick_columns(
    subset: AnomalySubset, split: str, index: int, steps: int, cases: np.ndarray
) -> np.ndarray:
    """Take M different columns of this series' own cases; mirrored where cases are too few."""
    # Training and test share no case, unless there is but one.
    mine = cases[int(split == "train") :: 2] if len(cases) > 1 else cases
    needed = -(-subset.num_variates // cases.shape[2])
    if needed > len(_MIRRORS) * len(mine):
        raise ValueError(
            f"{subset.name}: {subset.num_variates} different variates need {needed} cases, and "
            f"the file has {len(cases)}, each used in {len(_MIRRORS)} ways; give the archive's file"
        )
    order = _generator(subset.name, split, "cases").permutation(len(mine))
    views = []
    for view in range(index * needed, (index + 1) * needed):
        turn, place = divmod(view, len(mine))
        views.append(_MIRRORS[turn % len(_MIRRORS)](mine[order[place]]))
    columns = np.concatenate(views, axis=1)
    chosen = _generator(subset.name, split, index, "columns").permutation(columns.shape[1])
    return _stretched(columns[:, chosen[: subset.num_variates]], steps)


def _stretched(columns: np.ndarray, steps: int) -> np.ndarray:
    if steps == len(columns):
        return columns
    old, new = np.linspace(0, 1, len(columns)), np.linspace(0, 1, steps)
    return np.column_stack([np.interp(new, old, column) for column in columns.T])


_ANOMALIES: dict[str, Callable[[_Normal, int, int, np.random.Generator], np.ndarray]] = {
    "global": _global,
    "contextual": _contextual,
    "seasonal": _seasonal,
    "trend": _trend,
    "shapelet": _shapelet,
}
_SHAPES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "triangle": _waves.triangle,
    "square": _waves.square,
    "sawtooth": _waves.sawtooth,
}
_MIRRORS: tuple[Callable[[np.ndarray], np.ndarray], ...] = (
    lambda case: case,
    lambda case: case[::-1],
    lambda case: -case,
    lambda case: -case[::-1],
)
