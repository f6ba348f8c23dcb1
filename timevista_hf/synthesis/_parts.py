"""Any series as level, gain and shape: known of a synthetic one, estimated of a real one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.interpolate import CubicSpline

from timevista_hf.cases import ForecastCase
from timevista_hf.synthesis.timevista import SyntheticSeries

FEWEST = 1.5  # cycles in a horizon, below which it has no season
SHORTEST = 4  # steps in a cycle
REPEATS = 0.3  # rise of the autocorrelation from a dip to the peak of a lag that repeats
VISIBLE = 0.15  # share of the truth's range from which a cycle is seen
FAINT = 1e-3  # share of the mean gain below which no gain falls
WHOLE = 12  # steps in a cycle from which a shift is a whole number of them


@dataclass(frozen=True, eq=False)
class Parts:
    """A series as ``level + gain * shape``, over history and horizon."""

    level: np.ndarray  # [T + H]
    gain: np.ndarray  # [T + H], positive
    shape: np.ndarray  # [T + H]
    phase: np.ndarray  # [T + H], in cycles, ascending
    period: float  # steps in a cycle
    horizon: int

    def late(self, lag: float) -> np.ndarray:
        """Return the shape of the horizon, later by a share of a cycle; earlier where negative."""
        if self.period >= WHOLE:  # steps that stay steps keep their roughness
            lag = round(lag * self.period) / self.period
        wanted = self.phase[-self.horizon :] - lag
        wanted = wanted - (wanted > self.phase[-1]) + (wanted < self.phase[0])
        steps = np.arange(self.phase.size)
        return np.asarray(CubicSpline(steps, self.shape)(np.interp(wanted, self.phase, steps)))


def parts_of(case: ForecastCase | SyntheticSeries) -> Parts:
    """Return the parts of a series, or estimate them."""
    if isinstance(case, SyntheticSeries):
        parts = (case.trend, case.amplitude, case.motif, case.phase)
        return Parts(*parts, period=float(case.season_length), horizon=case.truth.size)
    past, truth = filled(case.history), filled(case.truth)
    values, horizon = np.concatenate([past, truth]), truth.size
    found = [_split(values, horizon, at) for at in _periods(past, truth, case.season_length)]
    heights = [float(np.ptp((parts.gain * parts.shape)[-horizon:])) for parts in found]
    visible = VISIBLE * float(np.ptp(truth))
    clear = next((i for i, height in enumerate(heights) if height >= visible), None)
    return found[int(np.argmax(heights)) if clear is None else clear]


def filled(values: np.ndarray) -> np.ndarray:
    """Bridge gaps with straight lines; a series without any value becomes zeros."""
    steps, known = np.arange(values.size), np.isfinite(values)
    return np.interp(steps, steps[known], values[known]) if known.any() else np.zeros(values.size)


def _periods(past: np.ndarray, truth: np.ndarray, season: int | None) -> list[float]:
    """Return the season, the lag at which the series repeats, and a third of the horizon."""
    longest = truth.size / FEWEST
    known = [float(season)] if season is not None and SHORTEST <= season <= longest else []
    recent = np.concatenate([past[-3 * truth.size :], truth])
    return [*known, *_repeating_lag(recent, longest), max(truth.size / 3, float(SHORTEST))]


def _split(values: np.ndarray, horizon: int, period: float) -> Parts:
    """Take the mean over a cycle as the level, and the deviation over a cycle as the gain."""
    level = _running_mean(values, round(period), drifts=True)
    cycle = values - level
    gain = np.sqrt(_running_mean(cycle**2, round(period), drifts=False))
    gain = np.maximum(gain, FAINT * gain.mean() or 1.0)
    phase = np.arange(values.size) / period
    return Parts(level, gain, cycle / gain, phase, period=period, horizon=horizon)


def _repeating_lag(values: np.ndarray, longest: float) -> list[float]:
    """Return the lag of the first high peak of the autocorrelation, if there is one."""
    steps = np.linspace(-1, 1, values.size)
    rest = values - np.polynomial.Polynomial.fit(steps, values, min(3, values.size - 1))(steps)
    spectrum = np.fft.rfft(rest, 2 * values.size)
    lags = np.arange(int(longest) + 2)
    products = np.fft.irfft(np.abs(spectrum) ** 2)[lags] / (values.size - lags)
    inner = products[1:-1]
    peaks = np.flatnonzero((inner > products[:-2]) & (inner >= products[2:])) + 1
    rise = products[peaks] - np.minimum.accumulate(products)[peaks]
    peaks = peaks[(peaks >= SHORTEST) & (rise > REPEATS * products[0])]
    high = peaks[products[peaks] >= 0.85 * products[peaks].max(initial=0)]
    return [float(lag) for lag in high[:1]]


def _running_mean(values: np.ndarray, period: int, *, drifts: bool) -> np.ndarray:
    """Average over a cycle about each step; the ends are drawn on by a cycle."""
    period = max(1, min(period, values.size // 2))
    kernel = np.full(period, 1 / period)
    if period % 2 == 0:
        kernel = np.convolve(kernel, [0.5, 0.5])
    reach = kernel.size // 2
    before = _next_cycle(values[::-1], period, drifts)[:reach][::-1]
    after = _next_cycle(values, period, drifts)[:reach]
    return np.convolve(np.concatenate([before, values, after]), kernel, mode="valid")


def _next_cycle(values: np.ndarray, period: int, drifts: bool) -> np.ndarray:
    """Repeat the last cycle, moved by as much as it was from the one before it if that drifts."""
    last, before = values[-period:], values[-2 * period : -period]
    return np.asarray(last + drifts * (last.mean() - before.mean()))
