"""Where each cycle of a forecast lies in the truth, and how alike the two are there."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from timevista_hf.judges.builtin._cycles import SHORTEST, TINY, level_curve, noise_level

NOISE_SHARE = 0.35  # of a window's variance, at most, that passes as noise
DOUBT = 0.12  # correlation that a lag of a whole cycle must gain to be believed
SHARPEST = 1e-12  # curvature of a correlation below which its peak has no vertex
FINER = (0.15, 0.08, 0.05)  # how far a window may move in each round, as a share of the cycle


@dataclass(frozen=True, eq=False)
class Alignment:
    """The forecast's windows of one cycle, each at its best place in the truth."""

    lags: np.ndarray  # [H] steps that the forecast is late
    likeness: float  # median correlation of the shapes, allowing for noise
    spread_ratio: np.ndarray  # [K] log ratio of deviations, forecast over truth
    height_ratio: np.ndarray  # [K] log ratio of ranges

    @property
    def angle(self) -> float:
        """Angle between the shapes, in radians: 0 is the same, π/2 is unrelated."""
        return float(np.arccos(self.likeness))


def align(past: np.ndarray, truth: np.ndarray, cycle: np.ndarray, period: float) -> Alignment:
    """Align the cyclic part of a forecast with the truth.

    A straight line of lags is sought first; then every window may move a little on its own.

    Parameters
    ----------
    past, truth : np.ndarray of shape (T,), (H,)
    cycle : np.ndarray of shape (H,)
        The forecast less its level.
    period : float
        Steps in a cycle.
    """
    extended = _extended(past, truth, period)
    own_noise = min(noise_level(cycle), 1.25 * extended.noise)
    reach = min(int(np.ceil(period * 0.65)) + 1, extended.margin)
    line = _lag_line(_similarity(extended.cycle, extended.margin, cycle, period, reach), period)
    lags, found = np.linspace(*line, cycle.size), []
    for share in FINER:
        shifted = _shifted(extended, lags)
        reach = max(1, round(share * period))
        table = _similarity(shifted, extended.margin, cycle, period, reach)
        inside = shifted[extended.margin : extended.margin + cycle.size]
        place = np.argmax(table.values, axis=1)
        noise = _Noise(extended.noise, own_noise, _shared_noise(inside, cycle))
        likeness = _likeness(table, place, noise, cycle.size)
        found.append(Alignment(lags, likeness, *_ratios(table, place, noise)))
        trust = float(np.clip((likeness - 0.5) / 0.3, 0, 1))
        lags = lags + trust * _remaining_lags(table, place, cycle.size)
    return max(found, key=lambda alignment: alignment.likeness)


@dataclass(frozen=True, eq=False)
class _Extended:
    """The truth's cyclic part, continued by a cycle on both sides."""

    cycle: np.ndarray  # [margin + H + margin]
    margin: int
    noise: float


@dataclass(frozen=True, eq=False)
class _Similarity:
    """How well each window of the forecast fits the truth at each lag."""

    values: np.ndarray  # [K, L] correlation
    lags: np.ndarray  # [L] steps
    centres: np.ndarray  # [K] middle of each window, in steps of the horizon
    truth_spread: np.ndarray  # [K, L] deviation
    truth_height: np.ndarray  # [K, L] range
    spread: np.ndarray  # [K] deviation of the forecast
    height: np.ndarray  # [K] range of the forecast


@dataclass(frozen=True)
class _Noise:
    truth: float  # deviation
    own: float  # deviation
    shared: float  # covariance


def _extended(past: np.ndarray, truth: np.ndarray, period: float) -> _Extended:
    margin = int(np.ceil(period * 1.1)) + 2
    here = truth - level_curve(truth, period)  # alone, as the forecast's cycle was found
    lead = past[-2 * margin :]
    joined = np.concatenate([lead, truth])
    cycle = joined - level_curve(joined, period)
    before = cycle[: lead.size][-margin:]
    lacking = margin - before.size
    earlier = _continued(here, period, np.arange(-margin, lacking - margin))
    later = _continued(here, period, np.arange(here.size, here.size + margin))
    noise = min(noise_level(here), _unrepeated(cycle, period))
    return _Extended(np.concatenate([earlier, before, here, later]), margin, noise)


def _continued(cycle: np.ndarray, period: float, at: np.ndarray) -> np.ndarray:
    """Continue a cyclic curve beyond its ends from the nearest whole cycle inside."""
    n = cycle.size
    turns = np.where(at < 0, np.ceil(-at / period), -np.ceil((at - n + 1) / period))
    return np.asarray(np.interp(at + turns * period, np.arange(n), cycle))


def _unrepeated(cycle: np.ndarray, period: float) -> float:
    """Deviation of what one cycle does not share with the one before it."""
    lags = range(max(1, round(period) - 1), round(period) + 2)
    found = [np.std(cycle[lag:] - cycle[:-lag]) for lag in lags if cycle.size > lag + 3]
    return float(min(found, default=np.inf) / np.sqrt(2))


def _similarity(
    truth: np.ndarray, margin: int, cycle: np.ndarray, period: float, reach: int
) -> _Similarity:
    """Compare windows of one cycle, half a cycle apart, shifted by up to `reach` steps."""
    width = min(max(SHORTEST, round(period)), cycle.size)
    count = max(2, round(2 * (cycle.size - width) / width) + 1)
    starts = np.unique(np.round(np.linspace(0, cycle.size - width, count)).astype(int))
    lags = np.arange(-reach, reach + 1)
    windows = np.lib.stride_tricks.sliding_window_view(truth, width)
    own = np.lib.stride_tricks.sliding_window_view(cycle, width)[starts]
    index = np.clip(margin + starts[:, None] - lags, 0, windows.shape[0] - 1)  # [K, L]
    centred = own - own.mean(axis=1, keepdims=True)
    products = np.einsum("klw,kw->kl", windows[index], centred) / width
    truth_spread, spread = windows.std(axis=1)[index], own.std(axis=1)
    return _Similarity(
        values=products / np.maximum(truth_spread * spread[:, None], TINY),
        lags=lags,
        centres=starts + (width - 1) / 2,
        truth_spread=truth_spread,
        truth_height=np.ptp(windows, axis=1)[index],
        spread=spread,
        height=np.ptp(own, axis=1),
    )


def _lag_line(table: _Similarity, period: float) -> tuple[float, float]:
    """Find the lags at the start and the end whose straight line fits best; near 0 in doubt."""
    grid = np.linspace(-0.6, 0.6, 49) * period
    place = np.linspace(0, 1, table.spread.size)
    lines = grid[:, None, None] * (1 - place) + grid[None, :, None] * place  # [A, B, K]
    weight = table.truth_spread[:, table.lags.size // 2]
    weight = weight / max(weight.sum(), TINY)
    fit = _between(table, lines) @ weight
    fit -= DOUBT * np.abs(lines).mean(axis=2) / period
    fit -= DOUBT * np.abs(lines[..., -1] - lines[..., 0]) / period
    fit[np.abs(lines).max(axis=2) > table.lags[-1]] = -np.inf
    first, last = np.unravel_index(int(np.argmax(fit)), fit.shape)
    return float(grid[first]), float(grid[last])


def _between(table: _Similarity, lags: np.ndarray) -> np.ndarray:
    """Look the table up between whole lags."""
    position = np.clip(lags - table.lags[0], 0, table.lags.size - 1.001)
    low = position.astype(int)
    part = position - low
    k = np.arange(table.spread.size)
    return np.asarray((1 - part) * table.values[k, low] + part * table.values[k, low + 1])


def _shifted(extended: _Extended, lags: np.ndarray) -> np.ndarray:
    """Move the truth to where the forecast has it."""
    t = np.arange(-extended.margin, lags.size + extended.margin)
    lag = np.interp(t, np.arange(lags.size), lags)
    return np.asarray(np.interp(t - lag, t, extended.cycle))


def _remaining_lags(table: _Similarity, place: np.ndarray, horizon: int) -> np.ndarray:
    """Return what is left of the lag in each window, smoothed and drawn out over the horizon."""
    k = np.arange(place.size)
    inner = np.clip(place, 1, table.lags.size - 2)
    before, here, after = (table.values[k, inner + step] for step in (-1, 0, 1))
    bend = np.minimum(before - 2 * here + after, -SHARPEST)
    vertex = np.where(inner == place, np.clip(0.5 * (before - after) / bend, -0.5, 0.5), 0)
    left = _median_of_three(table.lags[place] + vertex)
    return np.asarray(np.interp(np.arange(horizon), table.centres, left))


def _median_of_three(values: np.ndarray) -> np.ndarray:
    if values.size < 3:
        return values
    padded = np.pad(values, 1, mode="edge")
    return np.asarray(np.median(np.stack([padded[:-2], padded[1:-1], padded[2:]]), axis=0))


def _likeness(table: _Similarity, place: np.ndarray, noise: _Noise, horizon: int) -> float:
    """Median correlation of the windows at their places, had there been no noise.

    Noises that differ still correlate by chance: three standard errors pass as likeness.
    """
    k = np.arange(place.size)
    truth, own = table.truth_spread[k, place], table.spread
    clean_truth, clean_own = _without_noise(truth, noise.truth), _without_noise(own, noise.own)
    removed = np.sqrt((truth**2 - clean_truth**2) * (own**2 - clean_own**2))
    together = table.values[k, place] * truth * own - np.minimum(noise.shared, removed)
    size = np.maximum(clean_truth * clean_own, TINY)
    chance = 3 * max(0.0, noise.truth * noise.own - noise.shared) / np.sqrt(horizon)
    return float(np.clip(np.median((together + np.minimum(chance, 0.05 * size)) / size), -1, 1))


def _without_noise(spread: np.ndarray, noise: float) -> np.ndarray:
    return np.asarray(np.sqrt(spread**2 - np.minimum(noise**2, NOISE_SHARE * spread**2)))


def _shared_noise(truth: np.ndarray, own: np.ndarray) -> float:
    """Covariance of the noise in both, where the forecast copies the truth's."""
    return max(0.0, (noise_level(truth + own) ** 2 - noise_level(truth - own) ** 2) / 4)


def _ratios(table: _Similarity, place: np.ndarray, noise: _Noise) -> tuple[np.ndarray, np.ndarray]:
    k = np.arange(place.size)
    spread = _log_ratio(
        _without_noise(table.spread, noise.own),
        _without_noise(table.truth_spread[k, place], noise.truth),
    )
    truth_height = table.truth_height[k, place]
    height = _log_ratio(
        table.height - np.minimum(3 * noise.own, 0.6 * table.height),
        truth_height - np.minimum(3 * noise.truth, 0.6 * truth_height),
    )
    return spread, height


def _log_ratio(given: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    floor = 1e-4 * max(float(np.max(wanted)), TINY)
    return np.asarray(np.log(np.maximum(given, floor) / np.maximum(wanted, floor)))
