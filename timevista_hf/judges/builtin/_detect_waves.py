"""Waves fitted to a series with gaps: a fundamental, its harmonics and a smooth level."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

ROUNDS = 8  # of reweighting and of refining the frequency: more change nothing that a plot shows
UNWEIGHTED = 4  # rounds where only the frequency is refined
FURTHEST = 0.25  # cycles over the series that the frequency may change by; half in each round
ROUNDING = 1e-9  # share of the largest value: a difference that is none
TINY = 1e-300  # keeps a division by a vanishing size finite

Weigh = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True, eq=False)
class Wave:
    """A wave about the middle of the series: level, then sines, then cosines."""

    curve: np.ndarray  # [T]
    frequency: float  # cycles a step
    sines: np.ndarray  # [K]
    cosines: np.ndarray  # [K]


def scaled(values: np.ndarray) -> tuple[np.ndarray, float] | None:
    """Take the median off and divide by the largest value; None where a series does not move."""
    observed = values[np.isfinite(values)]
    largest = float(np.abs(observed).max(initial=0.0))
    if largest == 0 or np.ptp(observed / largest) <= ROUNDING:
        return None
    shares = values / largest
    return shares - np.nanmedian(shares), largest


def strongest_frequency(values: np.ndarray, fewest: float, shortest: float) -> float | None:
    """Return the peak of the spectrum between `fewest` cycles and one in `shortest` steps."""
    size = 4 << values.size.bit_length()
    power = np.abs(np.fft.rfft(values - values.mean(), size)) ** 2
    power[: math.ceil(fewest * size / values.size)] = 0
    power[int(size / shortest) + 1 :] = 0
    return int(np.argmax(power)) / size if power.any() else None


def fit_wave(
    values: np.ndarray, frequency: float, harmonics: int, degree: int, *weighings: Weigh
) -> Wave:
    """Fit a wave, its frequency with it, by least squares.

    Parameters
    ----------
    values : np.ndarray of shape (T,)
        nan where missing.
    frequency : float
        Cycles a step to start from.
    harmonics, degree : int
        How many multiples of the frequency, and the degree of the level.
    *weighings : callable
        Weights for the next round from the residuals, each used for its share of the rounds.
    """
    known = np.isfinite(values)
    t = np.arange(values.size) - (values.size - 1) / 2
    weights, slope = known.astype(float), np.empty((t.size, 0))
    rounds = ROUNDS if weighings else UNWEIGHTED
    for turn in range(rounds):
        columns, changes = _columns(t, frequency, harmonics, degree)
        parts = np.hstack([columns, slope])
        solution = _solve(parts[known], values[known], weights[known])
        solution, step = solution[: columns.shape[1]], solution[columns.shape[1] :]
        wave = Wave(columns @ solution, frequency, *np.split(solution[degree + 1 :], 2))
        slope = (changes @ solution)[:, None]  # of the curve, with the frequency
        furthest = FURTHEST / t.size / 2**turn
        frequency += float(np.clip(step, -furthest, furthest).sum())
        frequency = float(np.clip(frequency, FURTHEST / t.size, 0.5))
        if weighings:
            weights = weighings[turn * len(weighings) // rounds](values - wave.curve)
    return wave


def deviation(residuals: np.ndarray) -> float:
    """Estimate a standard deviation from the median of what is observed."""
    observed = residuals[np.isfinite(residuals)]
    return float(np.median(np.abs(observed)) / 0.6745)


def weigh_mildly(residuals: np.ndarray) -> np.ndarray:
    """Huber's weights: outliers pull, but no further for being further away."""
    limit = max(1.3 * deviation(residuals), TINY)
    return np.asarray(np.nan_to_num(limit / np.maximum(np.abs(residuals), limit)))


def weigh_hard(residuals: np.ndarray, least: float = TINY) -> np.ndarray:
    """Tukey's weights: outliers do not count, missing steps neither; up to `least` none is one."""
    limit = max(4.7 * deviation(residuals), least)
    share = np.nan_to_num(np.abs(residuals) / limit, nan=1.0)
    return np.asarray((1 - np.minimum(share, 1) ** 2) ** 2)


def _columns(
    t: np.ndarray, frequency: float, harmonics: int, degree: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return what a wave is made of, and how that changes with the frequency."""
    turn = 2 * np.pi * t[:, None] * np.arange(1, harmonics + 1)
    sines, cosines = np.sin(frequency * turn), np.cos(frequency * turn)
    level = (t[:, None] / max(float(t[-1]), 1.0)) ** np.arange(degree + 1)
    changes = np.hstack([np.zeros_like(level), turn * cosines, -turn * sines])
    return np.hstack([level, sines, cosines]), changes


def _solve(columns: np.ndarray, values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Solve weighted least squares; columns that say nothing get next to nothing."""
    size = np.sqrt(np.maximum(weights @ columns**2, TINY))
    even = columns / size
    matrix = even.T @ (even * weights[:, None]) + 1e-9 * np.eye(size.size)
    return np.asarray(np.linalg.solve(matrix, even.T @ (weights * values)) / size)
