"""The curve that a series is expected to follow where nothing is anomalous, and its noise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.ndimage import median_filter

from timevista_hf.judges.builtin._cycles import SHORTEST, find_period
from timevista_hf.judges.builtin._detect_waves import (
    TINY,
    deviation,
    fit_wave,
    strongest_frequency,
    weigh_hard,
    weigh_mildly,
)
from timevista_hf.judges.builtin._measures import filled

ROUNDS = 4  # of reweighting the neighbours
NEAR = 3  # steps to either side: the neighbours that tell noise from curve
HARMONICS = 10  # of a cycle, at most
CYCLES = 3  # that a series must hold before one is expected to come again
CLIP = 1.2  # deviations from the median beyond which a value says nothing of the cycle's length
SAME = 0.1  # share of a period by which two ways of finding it may differ
ALIKE = 1.1  # spread about a fit, over the best, that passes for a shorter cycle
WORSE = 1.6  # spread about a cycle, over that about the neighbours, that passes as noise
UNSEEN = 0.015  # share of the curve's height: spread that a plot hardly shows


@dataclass(frozen=True, eq=False)
class Expectation:
    """A curve that follows most of a series and is blind to what is rare in it."""

    curve: np.ndarray  # [T]
    noise: float  # deviation of the values from the curve, outliers aside
    period: float | None  # steps, where the curve is a cycle that comes again


def expect(values: np.ndarray, reach: int) -> Expectation:
    """Fit a cycle, or a curve through the neighbours where no cycle is as good.

    Parameters
    ----------
    values : np.ndarray of shape (T,)
        nan where missing.
    reach : int
        Steps to either side that are neighbours.
    """
    cycle = _expect_cycle(values)
    if cycle is not None:
        near = deviation(values - smooth_robustly(values, NEAR))
        if cycle.noise <= max(WORSE * near, UNSEEN * float(np.ptp(cycle.curve))):
            return cycle
    curve = smooth_robustly(values, reach)
    return Expectation(curve, deviation(values - curve), None)


def smooth_robustly(values: np.ndarray, reach: int) -> np.ndarray:
    """Draw a parabola through the neighbours of each step, outliers and gaps aside.

    No step takes part in its own parabola, so that few neighbours do not look like little noise.
    """
    reach = max(1, min(reach, (values.size - 1) // 2))
    u = np.arange(-reach, reach + 1) / (reach + 1)
    kernel = (1 - np.abs(u) ** 3) ** 3
    kernel[reach] = 0.0
    curve = np.asarray(median_filter(filled(values), 2 * reach + 1, mode="nearest"))
    least = max(
        UNSEEN * float(np.ptp(curve)), TINY
    )  # or a curve without noise loses its neighbours
    for _ in range(ROUNDS):
        curve = _parabolas(values, weigh_hard(values - curve, least), u, kernel)
    return curve


def _parabolas(
    values: np.ndarray, weights: np.ndarray, u: np.ndarray, kernel: np.ndarray
) -> np.ndarray:
    known = np.where(weights > 0, weights * values, 0.0)
    moments = [np.convolve(weights, (kernel * u**k)[::-1], "same") for k in range(5)]
    sums = [np.convolve(known, (kernel * u**k)[::-1], "same") for k in range(3)]
    matrix = np.stack([np.stack(moments[k : k + 3], axis=-1) for k in range(3)], axis=-1)
    matrix += np.diag([1e-9, 1e-6, 1e-4])  # with few neighbours: a line, or their mean
    return np.asarray(np.linalg.solve(matrix, np.stack(sums, axis=-1)[..., None])[:, 0, 0])


def _expect_cycle(values: np.ndarray) -> Expectation | None:
    """Take the shortest cycle of those that fit about as well as the best."""
    fits = [_fit(values, period) for period in _periods(values)]
    best = min((fit.noise for fit in fits), default=0.0)
    alike = [fit for fit in fits if fit.noise <= ALIKE * best]
    return min(alike, key=lambda fit: fit.period or 0.0, default=None)


def _fit(values: np.ndarray, period: float) -> Expectation:
    observed = int(np.isfinite(values).sum())
    harmonics = max(1, min(HARMONICS, int(period / 2) - 1, observed // 12))
    wave = fit_wave(values, 1 / period, harmonics, 2, weigh_mildly, weigh_hard)
    return Expectation(wave.curve, deviation(values - wave.curve), 1 / wave.frequency)


def _periods(values: np.ndarray) -> list[float]:
    """Suggest periods: the lag at which the series repeats, and the peak of its spectrum."""
    centre = float(np.nanmedian(values))
    limit = CLIP * deviation(values - centre)
    clipped = np.clip(filled(values), centre - limit, centre + limit)
    t = np.linspace(-1, 1, clipped.size)
    frequency = strongest_frequency(
        clipped - np.polyval(np.polyfit(t, clipped, 2), t), CYCLES, SHORTEST
    )
    peak = 1 / frequency if frequency else None
    lag = find_period(clipped[:0], clipped)
    if lag is not None and peak is not None and abs(lag - peak) < SAME * peak:
        lag = None
    return [period for period in (lag, peak) if period and CYCLES * period <= values.size]
