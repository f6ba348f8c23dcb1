"""Twins for series without a cycle: prices, counts, events, ramps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from timevista_hf.judges.builtin._cycles import TINY

TEXTURE = 0.42  # radians: the motif error that a like texture without a like shape is left with
VISIBLE = 0.03  # share of the range below which roughness is not seen in a plot
UNSEEN = 0.015  # share of the range: the deviation of a noise that a plot hardly shows
DOUBT = 0.15  # correlation that a lag of a whole swing must gain to be believed


@dataclass(frozen=True)
class Comparison:
    """Forecast against truth, both less their slow trajectory."""

    span: float  # steps in a typical swing, up and down
    truth_spread: float
    spread: float
    motif: float  # radians
    likeness: float  # correlation at the best lag
    phase: float  # share of the span
    lag: float  # steps late (+) or early (-)
    log_ratio: float


def compare(past: np.ndarray, truth: np.ndarray, prediction: np.ndarray) -> Comparison:
    """Compare the swings of a forecast with those of the truth about their trajectories.

    All values are in ranges of the truth.
    """
    wanted, given = truth - trajectory(truth), prediction - trajectory(prediction)
    span = swing(wanted)
    lag, found = _best_lag(past, truth, prediction, span)
    likeness = float(np.clip(found / _seen_share(float(given.std())), -1, 1))
    lost = float(np.clip((0.5 - likeness) / 0.3, 0, 1))
    share = min(abs(lag) / span, 0.5)
    alike = float(np.arccos(likeness))
    texture = max(TEXTURE, _texture_error(truth, prediction))
    return Comparison(
        span=span,
        truth_spread=float(wanted.std()),
        spread=float(given.std()),
        motif=min(alike, texture),
        likeness=likeness,
        phase=share + lost * (0.5 - share),
        lag=lag,
        log_ratio=_log_ratio(wanted, given),
    )


def trajectory(values: np.ndarray) -> np.ndarray:
    """Return the straight line through a series."""
    if values.size < 3:
        return np.full_like(values, values.mean())
    t = np.linspace(-1, 1, values.size)
    return np.asarray(values.mean() + (t @ values) / (t @ t) * t)


def smooth(values: np.ndarray) -> np.ndarray:
    """Average with a bell about a fifth of the series wide, drawn on at both ends."""
    width = max(values.size / 12, 1.0)
    reach = int(3 * width)
    line = trajectory(values)
    kernel = np.exp(-0.5 * (np.arange(-reach, reach + 1) / width) ** 2)
    padded = np.pad(values - line, reach, mode="edge")
    return line + np.convolve(padded, kernel / kernel.sum(), mode="valid")


def swing(detail: np.ndarray) -> float:
    """Return the length of a typical swing, from how often the curve crosses its trajectory."""
    crossings = int(np.sum(np.diff(np.sign(smooth_lightly(detail))) != 0))
    return float(np.clip(2 * detail.size / (crossings + 1), 4, max(4, detail.size)))


def smooth_lightly(values: np.ndarray) -> np.ndarray:
    """Average each step with its neighbours."""
    return np.convolve(np.pad(values, 1, mode="edge"), [0.25, 0.5, 0.25], mode="valid")


def _best_lag(
    past: np.ndarray, truth: np.ndarray, prediction: np.ndarray, span: float
) -> tuple[float, float]:
    """Find the lag at which the forecast follows the truth best; near 0 in doubt."""
    reach = int(min(span / 2, truth.size / 3))
    joined = np.concatenate([past[-reach:] if reach else past[:0], truth])
    offset = joined.size - truth.size
    best = (-np.inf, 0, 0.0)
    for lag in range(-reach, reach + 1):
        first, last = max(0, lag - offset), truth.size + min(0, lag)
        wanted = joined[offset + first - lag : offset + last - lag]
        found = _correlation(wanted, prediction[first:last])
        best = max(best, (found - DOUBT * abs(lag) / span, lag, found))
    return float(best[1]), float(best[2])


def _correlation(wanted: np.ndarray, given: np.ndarray) -> float:
    wanted, given = wanted - trajectory(wanted), given - trajectory(given)
    size = np.sqrt(np.mean(wanted**2) * np.mean(given**2))
    return float(np.mean(wanted * given) / size) if size > TINY else 0.0


def _seen_share(spread: float) -> float:
    """Share of the forecast's deviation that is left without noise too small to see."""
    unseen = min(UNSEEN**2, 0.5 * spread**2)
    return float(np.sqrt(1 - unseen / max(spread**2, TINY)))


def _texture_error(truth: np.ndarray, prediction: np.ndarray) -> float:
    """Compare roughness and spikiness, each as a log ratio."""
    wanted, given = _texture(truth), _texture(prediction)
    return float(0.6 * abs(given[0] - wanted[0]) + 0.4 * abs(given[1] - wanted[1]))


def _texture(values: np.ndarray) -> tuple[float, float]:
    detail = values - trajectory(values)
    steps = np.abs(np.diff(values))
    spread = max(float(detail.std()), TINY)
    rough = float(np.log(steps.mean() / spread + VISIBLE))
    spiky = float(np.log(steps.max() / max(float(steps.mean()), VISIBLE * spread) + 1))
    return rough, spiky


def _log_ratio(wanted: np.ndarray, given: np.ndarray) -> float:
    spread = np.log(max(given.std(), TINY) / max(wanted.std(), TINY))
    height = np.log(max(np.ptp(given), TINY) / max(np.ptp(wanted), TINY))
    return float((spread + height) / 2)
