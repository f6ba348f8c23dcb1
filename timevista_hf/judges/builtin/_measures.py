"""Numeric twins of the micro rubrics: errors in trend, motif, phase and magnitude."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from timevista_hf.cases import ForecastCase
from timevista_hf.judges.builtin import _swings
from timevista_hf.judges.builtin._alignment import Alignment, align
from timevista_hf.judges.builtin._cycles import find_period, level_curve, repeats, running_mean

FLAT = 0.02  # share of the truth's movement below which a forecast shows none
FAINT = 0.12  # share below which a forecast shows none unless it repeats, or swings without cycle
ROUNDING = 1e-12  # share of the largest value: a range that is none
FAR = 1e6  # ranges of the truth beyond which a forecast is as wrong as can be
LOST = 0.5  # share of a cycle: the phase error where there is nothing to align
UNRELATED = np.pi / 2  # radians: the motif error where there is no shape
VANISHED = 9.0  # log ratio: the magnitude error where there is no movement


@dataclass(frozen=True)
class Measurement:
    """What was measured of one case; each error is 0 for a perfect forecast."""

    period: float | None  # steps in a cycle, None where nothing repeats
    span: float  # steps in a cycle or, without one, in a typical swing
    still: bool  # the truth itself does not move
    flat: bool  # the forecast does not move although the truth does
    trend: float  # error of the level, as a share of the truth's range
    level: float  # mean error of the level, in units
    end: float  # error of the level at the end, in units
    motif: float  # angle between the shapes, in radians
    likeness: float  # correlation of the shapes
    phase: float  # shift, as a share of the span, at most 0.5
    lag_start: float  # steps late (+) or early (-) at the start of the horizon
    lag_end: float  # the same at its end
    magnitude: float  # absolute log ratio of heights
    ratio: float  # height of the forecast's moves over the truth's


def measure(case: ForecastCase) -> Measurement:
    """Measure the four dimensions of a case, each blind to the errors in the other three.

    Everything is measured in ranges of the truth, so that units do not matter.
    """
    past, truth, prediction, unit = _in_ranges_of_truth(case)
    period = find_period(past, truth, case.season_length)
    if period is None or np.std(truth - level_curve(truth, period)) < ROUNDING:
        measured = _measure_swings(past, truth, prediction)
    else:
        measured = _measure_cycles(past, truth, prediction, period)
    return replace(measured, level=measured.level * unit, end=measured.end * unit)


def filled(values: np.ndarray) -> np.ndarray:
    """Bridge gaps with straight lines; a series without any value becomes zeros."""
    known = np.isfinite(values)
    if known.all():
        return values
    if not known.any():
        return np.zeros_like(values)
    t = np.arange(values.size)
    return np.asarray(np.interp(t, t[known], values[known]))


def _in_ranges_of_truth(
    case: ForecastCase,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """Return history, truth and prediction about the truth's middle, and the range in units."""
    past, truth, prediction = (
        filled(values) for values in (case.history, case.truth, case.prediction)
    )
    size = max(float(np.abs(past).max()), float(np.abs(truth).max())) or 1.0
    scale = _visible_range(past / size, truth / size)
    middle = float(np.median(truth / size))

    def centred(values: np.ndarray) -> np.ndarray:
        with np.errstate(over="ignore"):  # beyond all numbers is as far as FAR
            return np.clip((values / size - middle) / scale, -FAR, FAR)

    return centred(past), centred(truth), centred(prediction), scale * size


def _visible_range(past: np.ndarray, truth: np.ndarray) -> float:
    """Return the height of the truth in the plot, blind to single outlying steps.

    A truth that hardly moves is seen against a quarter of the range of the history before it, and
    a series that never moves against a twentieth of its level.
    """
    seen = max(_range(truth), 0.25 * _range(past[-3 * truth.size :]))
    return seen if seen > ROUNDING else 0.05 * float(np.abs(truth).max()) or 1.0


def _range(values: np.ndarray) -> float:
    if values.size == 0:
        return 0.0
    padded = np.pad(values, 1, mode="edge")
    middle = np.median(np.stack([padded[:-2], padded[1:-1], padded[2:]]), axis=0)
    low, high = np.quantile(values, [0.05, 0.95])
    blind = float(max(np.ptp(middle), high - low))
    return blind if blind > ROUNDING else float(np.ptp(values))


def _measure_cycles(
    past: np.ndarray, truth: np.ndarray, prediction: np.ndarray, period: float
) -> Measurement:
    cycle = prediction - level_curve(prediction, period)
    share = cycle.std() / (truth - level_curve(truth, period)).std()
    flat = bool(share < FLAT or (share < FAINT and repeats(cycle, period) < 0.5))
    levels = _levels(truth, period), _levels(prediction, period)
    error = _trend(levels, period, truth.size, mean_only=share < FAINT)
    if flat:
        return _motionless(period, period, error)
    found = align(past, truth, cycle, period)
    ratios = _height_ratios(found)
    return Measurement(
        period=period,
        span=period,
        still=False,
        flat=False,
        trend=error.size,
        level=error.mean,
        end=error.end,
        motif=found.angle,
        likeness=found.likeness,
        phase=_phase(found, period, steadiness=repeats(cycle, period)),
        lag_start=float(found.lags[0]),
        lag_end=float(found.lags[-1]),
        magnitude=float(np.abs(ratios).mean()),
        ratio=float(np.exp(ratios.mean())),
    )


def _measure_swings(past: np.ndarray, truth: np.ndarray, prediction: np.ndarray) -> Measurement:
    found = _swings.compare(past, truth, prediction)
    error = _error_of(_swings.smooth(prediction - truth))
    still = bool(found.truth_spread < 0.5 * FLAT)
    moves = bool(found.spread >= FAINT * max(found.truth_spread, 0.5 if still else 0.0))
    if not moves and not still:
        return _motionless(None, found.span, error)
    quiet, noisy = still and not moves, still and moves
    return Measurement(
        period=None,
        span=found.span,
        still=still,
        flat=False,
        trend=error.size,
        level=error.mean,
        end=error.end,
        motif=0.0 if quiet else UNRELATED if noisy else found.motif,
        likeness=1.0 if quiet else 0.0 if noisy else found.likeness,
        phase=0.0 if quiet else LOST if noisy else found.phase,
        lag_start=found.lag,
        lag_end=found.lag,
        magnitude=0.0 if quiet else VANISHED if noisy else abs(found.log_ratio),
        ratio=1.0 if quiet else float(np.exp(found.log_ratio)),
    )


@dataclass(frozen=True)
class _LevelError:
    size: float  # every number is a share of the truth's range
    mean: float
    end: float


def _motionless(period: float | None, span: float, error: _LevelError) -> Measurement:
    return Measurement(
        period=period,
        span=span,
        still=False,
        flat=True,
        trend=error.size,
        level=error.mean,
        end=error.end,
        motif=UNRELATED,
        likeness=0.0,
        phase=LOST,
        lag_start=0.0,
        lag_end=0.0,
        magnitude=VANISHED,
        ratio=0.0,
    )


def _trend(
    levels: tuple[list[np.ndarray], list[np.ndarray]],
    period: float,
    horizon: int,
    *,
    mean_only: bool,
) -> _LevelError:
    """Compare the levels, by the definition of level that speaks for the forecast.

    A cycle of another height or shape moves the mean, the floor or the ceiling of the curve, but
    never all of them, while an error in the trend moves each by as much. Where hardly any cycle is
    left, the mean alone counts.
    """
    wanted, given = levels
    errors = [
        _error_of(_smooth_line(have - want, horizon, period))
        for want, have in zip(wanted, given, strict=True)
    ]
    return errors[0] if mean_only else min(errors, key=lambda error: error.size)


def _error_of(difference: np.ndarray) -> _LevelError:
    tail = max(1, difference.size // 8)
    size = np.sqrt(0.3 * np.mean(difference**2) + 0.7 * np.max(difference**2))
    return _LevelError(float(size), float(difference.mean()), float(difference[-tail:].mean()))


def _levels(values: np.ndarray, period: float) -> list[np.ndarray]:
    """Mean, floor, ceiling and middle of the curve over each whole cycle."""
    average, _ = running_mean(values, period)
    cycle = values - level_curve(values, period)
    width = min(round(period), values.size - 1)
    windows = np.lib.stride_tricks.sliding_window_view(cycle, width)
    bounds = np.quantile(windows, [0.04, 0.96], axis=1)
    at = np.linspace(0, bounds.shape[1] - 1, average.size)
    low, high = (np.interp(at, np.arange(bounds.shape[1]), bound) for bound in bounds)
    return [average, average + low, average + high, average + (low + high) / 2]


def _smooth_line(difference: np.ndarray, horizon: int, period: float) -> np.ndarray:
    """Fit a line, or a parabola where there are cycles enough, and draw it over the horizon."""
    degree = min(1 if horizon < 4 * period else 2, difference.size - 1)
    t = np.linspace(-1, 1, difference.size)
    fit = np.polynomial.polynomial.polyfit(t, difference, degree)
    reach = min((horizon - 1) / max(difference.size - 1, 1), 2.5)
    return np.polynomial.polynomial.polyval(np.linspace(-reach, reach, horizon), fit)


def _phase(found: Alignment, period: float, *, steadiness: float) -> float:
    """Mean and worst shift; half a cycle where there is nothing to align."""
    share = np.abs(found.lags) / period
    size = min(LOST, float(0.5 * share.mean() + 0.5 * share.max()))
    stray = np.clip((0.5 - steadiness) / 0.3, 0, 1)
    unlike = np.clip((0.6 - found.likeness) / 0.3, 0, 1)
    lost = max(stray * unlike, np.clip((0.1 - found.likeness) / 0.1, 0, 1))
    return float(size + lost * (LOST - size))


def _height_ratios(found: Alignment) -> np.ndarray:
    """Log ratios of heights over the horizon, by deviation, or the milder reading.

    A shape that differs changes either the deviation or the range at the same height.
    """
    spread, height = found.spread_ratio, found.height_ratio
    milder = np.where(spread * height > 0, np.minimum(abs(spread), abs(height)), 0.0)
    unlike = np.clip((found.angle - 0.05) / 0.15, 0, 1)
    logs = (1 - unlike) * spread + unlike * milder * np.sign(spread)
    if logs.size < 3:
        return np.asarray(logs)
    place = np.linspace(-1, 1, logs.size)
    return np.polyval(np.polyfit(place, logs, 1), place)
