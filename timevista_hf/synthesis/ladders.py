"""Ladders: forecasts damaged in one dimension alone, in five grades that read as scores.

A grade means what the level of that score says in the dimension's micro rubric; the size of each
damage is the rubric's own:

========= ==================================================================================
dimension damage
========= ==================================================================================
trend     the level is moved, or a slope is added whose end is off by as much
motif     the shape is blended with another one, or smoothed, to an angle between the two
phase     the cycle comes late or early by a share of its length
magnitude the cycle is made taller or flatter by a factor
========= ==================================================================================

Grade 5 is the truth itself. The parts of a synthetic series are known; those of any other are
estimated: the level is the mean over a cycle, and what rides on it the cycle. A cycle is the season
that is known, else the lag at which the series repeats, else a third of the horizon, as in the
rubrics: the first that fits into the horizon one and a half times, and is tall enough to be seen.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Literal, get_args

import numpy as np
from scipy.ndimage import gaussian_filter1d

from timevista_hf.cases import ForecastCase
from timevista_hf.loading.known import check_known
from timevista_hf.rubrics import HIGHEST, LOWEST, load_rubric
from timevista_hf.synthesis._motifs import MOTIFS, Motif
from timevista_hf.synthesis._parts import Parts, filled, parts_of
from timevista_hf.synthesis.timevista import SyntheticSeries

Dimension = Literal["trend", "motif", "phase", "magnitude"]

DIMENSIONS: tuple[Dimension, ...] = get_args(Dimension)
GRADES = range(LOWEST, HIGHEST + 1)
FEWEST = 5  # steps of a horizon that can have another shape
TURNS = 48  # places of a cycle at which another motif is tried
UNLIKE = 4  # motifs that a shape may be blended with: those about a radian away
WIDTHS = np.geomspace(0.01, 0.25, 40)  # of the bell that smooths, as shares of a cycle


def make_ladder(
    case: ForecastCase | SyntheticSeries, dimension: Dimension, *, seed: int = 0
) -> list[ForecastCase]:
    """Make the five forecasts of a series that are ever better in one dimension.

    Parameters
    ----------
    case : ForecastCase or SyntheticSeries
        The series; a prediction that it holds is not used.
    dimension : {"trend", "motif", "phase", "magnitude"}
    seed : int
        What is drawn once for the ladder: the direction and the kind of the damage.

    Returns
    -------
    list of ForecastCase
        Grades 1 (worst) to 5 (the truth); the `model` tells, as "trend-1".

    Raises
    ------
    ValueError
        For an unknown dimension, and as `damage` does.

    Examples
    --------
    >>> from timevista_hf.synthesis.timevista import make_series
    >>> [case.model for case in make_ladder(make_series(0), "phase")]
    ['phase-1', 'phase-2', 'phase-3', 'phase-4', 'phase-5']
    """
    own = case if isinstance(case, ForecastCase) else case.forecast(case.truth)
    return [
        replace(
            own,
            prediction=damage(case, dimension, grade, seed=seed),
            model=f"{dimension}-{grade}",
        )
        for grade in GRADES
    ]


def damage(
    case: ForecastCase | SyntheticSeries, dimension: Dimension, grade: int, *, seed: int = 0
) -> np.ndarray:
    """Return the truth, damaged in one dimension.

    Parameters
    ----------
    case : ForecastCase or SyntheticSeries
        The series; a prediction that it holds is not used.
    dimension : {"trend", "motif", "phase", "magnitude"}
    grade : int
        The score that the result deserves in that dimension: 1 (worst) to 5 (the truth). The other
        three deserve a 5.
    seed : int
        Decides the direction and the kind of the damage; the same for all grades of a ladder.

    Returns
    -------
    np.ndarray of shape (H,)
        In the unit of the truth. Missing steps of the truth are bridged by straight lines.

    Raises
    ------
    ValueError
        For an unknown dimension, a grade that is none, a series without movement, which has nothing
        to damage, and the motif of a horizon below 5 steps.

    Examples
    --------
    >>> wave = [0, 2, 3, 2, 0, -2, -3, -2] * 6
    >>> case = ForecastCase(
    ...     id="a", history=wave[:32], truth=wave[32:], prediction=wave[32:], season_length=8
    ... )
    >>> taller = damage(case, "magnitude", 3, seed=1)
    >>> round(float(taller.max()), 2)
    4.8
    """
    check_known("`dimension`", dimension, DIMENSIONS)
    if grade not in GRADES:
        raise ValueError(f"`grade` must be an integer from {LOWEST} to {HIGHEST}, got {grade!r}")
    truth = filled(case.truth)
    height = _visible_range(case)
    if dimension == "motif" and truth.size < FEWEST:
        raise ValueError(
            f"series {case.id!r}: a horizon of {truth.size} steps has no shape to replace; a motif "
            f"needs at least {FEWEST}"
        )
    if grade == HIGHEST:
        return truth
    size = _sizes(dimension)[HIGHEST - grade]
    rng = np.random.default_rng([DIMENSIONS.index(dimension), seed])
    sign = float(rng.choice([-1.0, 1.0]))
    if dimension == "trend":
        return truth + sign * size * height * _drift(truth.size, rng)
    parts = parts_of(case)
    level, gain, shape = (part[-truth.size :] for part in (parts.level, parts.gain, parts.shape))
    if dimension == "magnitude":
        return np.asarray(level + gain * shape * np.exp(sign * size))
    if dimension == "phase":
        return np.asarray(level + gain * parts.late(sign * size))
    return np.asarray(level + gain * _other_shape(parts, size, rng))


@cache
def _sizes(dimension: Dimension) -> tuple[float, ...]:
    """Return the errors at which a forecast scores 5, 4, 3, 2 and 1."""
    return tuple(map(float, load_rubric(dimension).twin["errors"]))


def _visible_range(case: ForecastCase | SyntheticSeries) -> float:
    """Return the height of the truth in a plot, lone outliers left out."""
    truth, past = filled(case.truth), filled(case.history)[-3 * case.truth.size :]
    height = max(_range(truth), 0.25 * _range(past)) or float(np.ptp(truth))
    if height == 0:
        name = f"series {case.id!r}"
        raise ValueError(f"{name}: history and truth never move, there is nothing to damage")
    return height


def _range(values: np.ndarray) -> float:
    padded = np.pad(values, 1, mode="edge")
    return float(np.ptp(np.median(np.stack([padded[:-2], values, padded[2:]]), axis=0)))


def _drift(horizon: int, rng: np.random.Generator) -> np.ndarray:
    return np.linspace(0, 1, horizon) if rng.integers(2) else np.ones(horizon)


def _other_shape(parts: Parts, angle: float, rng: np.random.Generator) -> np.ndarray:
    """Return a shape that stands at an angle to the horizon's own, and is as tall."""
    own = parts.shape[-parts.horizon :]
    smoothed, pick = bool(rng.integers(2)), int(rng.integers(UNLIKE))
    other = _smoothed(parts, angle) if smoothed else None
    if other is None:
        other = _blended(parts, angle, pick)
    mean = own.mean()
    return np.asarray(mean + (other - other.mean()) * (_height(own, parts) / _height(other, parts)))


def _smoothed(parts: Parts, angle: float) -> np.ndarray | None:
    """Smear the shape until it stands at that angle; None where it stays what it is."""
    cycle = round(parts.period)
    drawn_on = np.concatenate([parts.shape, parts.shape[-cycle:]])[-parts.horizon - 2 * cycle :]
    own = parts.shape[-parts.horizon :]

    def smear(width: float) -> np.ndarray:
        soft = gaussian_filter1d(drawn_on, width * parts.period, mode="nearest")
        return np.asarray(soft[-parts.horizon - cycle : -cycle])

    angles = np.maximum.accumulate([_angle(own, smear(width)) for width in WIDTHS])
    if angles[-1] < _sizes("motif")[-1]:
        return None
    return smear(float(np.interp(angle, angles, WIDTHS)))


def _blended(parts: Parts, angle: float, pick: int) -> np.ndarray:
    """Turn the shape towards another motif, within the part that no shift explains."""
    own, phase = parts.shape[-parts.horizon :], parts.phase[-parts.horizon :]
    others = sorted(
        (_best_turn(own, phase, Motif(name)) for name in MOTIFS),
        key=lambda other: abs(_angle(own, other) - 1),
    )
    centred = own - own.mean()
    axes = np.column_stack([np.ones_like(own), own, np.gradient(own)])
    rest = others[pick] - axes @ np.linalg.lstsq(axes, others[pick], rcond=None)[0]
    rest *= np.linalg.norm(centred) / np.linalg.norm(rest)
    return np.asarray(np.cos(angle) * centred + np.sin(angle) * rest)


def _best_turn(own: np.ndarray, phase: np.ndarray, motif: Motif) -> np.ndarray:
    turned = motif(phase + np.arange(TURNS)[:, None] / TURNS)
    return np.asarray(turned[np.argmax(turned @ (own - own.mean()))])


def _angle(own: np.ndarray, other: np.ndarray) -> float:
    own, other = own - own.mean(), other - other.mean()
    size = float(np.linalg.norm(own) * np.linalg.norm(other)) or 1.0
    return float(np.arccos(np.clip(own @ other / size, -1, 1)))


def _height(shape: np.ndarray, parts: Parts) -> float:
    """Median over the cycles of the height from lowest to highest step."""
    width = max(2, min(round(parts.period), shape.size))
    windows = np.lib.stride_tricks.sliding_window_view(shape, width)[:: max(1, width // 2)]
    return float(np.median(np.ptp(windows, axis=1)))
