"""Cycles in a series: how long they are, the level they ride on, and the noise about them."""

from __future__ import annotations

import numpy as np

SHORTEST = 4  # steps in a cycle that a plot still shows as one
FEWEST = 1.5  # cycles in the horizon below which there is no cycle to compare
STILL = 1e-12  # ranges of the truth: a deviation that is rounding
TINY = 1e-300  # keeps a division by a vanishing size finite


def find_period(past: np.ndarray, truth: np.ndarray, hint: int | None = None) -> float | None:
    """Find the length of the cycle in the end of the history and the truth.

    Parameters
    ----------
    past, truth : np.ndarray of shape (T,), (H,)
        Without gaps.
    hint : int, optional
        The season that is known of the series; taken where the data repeat with it.

    Returns
    -------
    float or None
        Steps, from `SHORTEST` to H / `FEWEST`; None where nothing repeats.
    """
    span = np.concatenate([past[-3 * truth.size :], truth])
    longest = min(truth.size / FEWEST, span.size / 2.2)
    if longest < SHORTEST or np.ptp(span) == 0:
        return None
    rough = _strongest_lag(_detrended(span, None), longest)
    if rough is None:
        return _hinted(span, hint, longest)
    level_free = _detrended(span, rough)
    found = _strongest_lag(level_free, longest)
    return _prefer(level_free, found or rough, hint, longest)


def running_mean(values: np.ndarray, period: float) -> tuple[np.ndarray, float]:
    """Average over one cycle, to a fraction of a step, where a whole cycle fits.

    Returns
    -------
    averages : np.ndarray of shape (H - 2m,)
    first : float
        m, the position of the first average.
    """
    half = (period - 1) / 2
    whole = int(half)
    part = half - whole
    kernel = np.ones(2 * whole + 3)
    kernel[[0, -1]] = part
    if part < 1e-9:
        kernel = kernel[1:-1]
    kernel /= kernel.sum()
    return np.convolve(values, kernel, mode="valid"), (kernel.size - 1) / 2


def level_curve(values: np.ndarray, period: float) -> np.ndarray:
    """Return the smooth part of a series: its running mean, drawn on as a line at both ends."""
    averages, first = running_mean(values, period)
    t = np.arange(values.size)
    at = first + np.arange(averages.size)
    level: np.ndarray = np.interp(t, at, averages)
    reach = max(2, min(averages.size, int(period / 2)))
    if averages.size >= 3:
        _draw_on(level, t < at[0], t, at[:reach], averages[:reach], averages[0])
        _draw_on(level, t > at[-1], t, at[-reach:], averages[-reach:], averages[-1])
    return level


def repeats(values: np.ndarray, period: float) -> float:
    """Correlate a series with itself a cycle later, give or take an eighth of the cycle."""
    lags = range(max(1, round(0.87 * period)), round(1.13 * period) + 1)
    pairs = [(values[lag:], values[:-lag]) for lag in lags if values.size > lag + 3]
    return max(
        (float(np.corrcoef(*pair)[0, 1]) for pair in pairs if min(np.std(pair, axis=1)) > STILL),
        default=0.0,
    )


def noise_level(values: np.ndarray) -> float:
    """Estimate the deviation of white noise from fourth differences, blind to smooth shapes."""
    if values.size < 12:
        return 0.0
    differences = np.abs(np.diff(values, 4))
    return float(np.median(differences) / 0.6745 / np.sqrt(70.0))


def _draw_on(
    level: np.ndarray, where: np.ndarray, t: np.ndarray, at: np.ndarray, y: np.ndarray, end: float
) -> None:
    slope = np.polyfit(at - at.mean(), y, 1)[0]
    anchor = at[0] if where[0] else at[-1]
    level[where] = end + slope * (t[where] - anchor)


def _detrended(span: np.ndarray, period: float | None) -> np.ndarray:
    if period is not None and span.size > period + 3:
        return np.asarray(span - level_curve(span, period))
    t = np.linspace(-1, 1, span.size)
    degree = 3 if span.size > 30 else 1
    return span - np.polynomial.polynomial.polyval(
        t, np.polynomial.polynomial.polyfit(t, span, degree)
    )


def _autocorrelation(values: np.ndarray) -> np.ndarray:
    """Correlate the series with itself at each lag, over the part that overlaps."""
    n = values.size
    smooth = np.convolve(np.pad(values, 1, mode="edge"), [0.25, 0.5, 0.25], mode="valid")
    centred = smooth - smooth.mean()
    size = 1 << (2 * n - 1).bit_length()
    spectrum = np.fft.rfft(centred, size)
    products = np.fft.irfft(spectrum * spectrum.conj(), size)[: n // 2 + 2]
    squares = np.concatenate([[0.0], np.cumsum(centred**2)])
    lags = np.arange(products.size)
    energy = np.sqrt(squares[n - lags] * (squares[n] - squares[lags]))
    return np.asarray(products / np.maximum(energy, TINY))


def _strongest_lag(values: np.ndarray, longest: float) -> float | None:
    """Return the shortest lag at which the series repeats about as well as at any other."""
    correlation = _autocorrelation(values)
    inner = correlation[1:-1]
    peaks = np.flatnonzero((inner >= correlation[:-2]) & (inner > correlation[2:])) + 1
    peaks = peaks[(peaks >= SHORTEST - 1) & (peaks <= longest)]
    peaks = peaks[_rises_from_a_dip(correlation, peaks)]
    if peaks.size == 0:
        return None
    best = correlation[peaks].max()
    if best < 0.35:
        return None
    peak = int(peaks[correlation[peaks] >= best - 0.12 * max(best, 0.5)][0])
    return _refined(correlation, peak)


def _rises_from_a_dip(correlation: np.ndarray, peaks: np.ndarray) -> np.ndarray:
    lowest = np.minimum.accumulate(correlation)
    return np.asarray(correlation[peaks] - lowest[peaks] > 0.3)


def _refined(correlation: np.ndarray, peak: int) -> float:
    """Place a peak to a fraction of a step, from its later multiples where they are clear."""
    period = peak + _vertex(correlation, peak)
    for multiple in (2, 3, 4):
        reach = max(1, int(period * 0.12))
        low, high = int(multiple * period) - reach, int(multiple * period) + reach + 2
        if low < 1 or high >= correlation.size - 1:
            break
        later = low + int(np.argmax(correlation[low:high]))
        if later in (low, high - 1) or correlation[later] < 0.8 * correlation[peak]:
            break
        period = (later + _vertex(correlation, later)) / multiple
    return float(period)


def _vertex(values: np.ndarray, at: int) -> float:
    before, here, after = values[at - 1 : at + 2]
    bend = before - 2 * here + after
    return 0.0 if bend >= 0 else float(np.clip(0.5 * (before - after) / bend, -0.5, 0.5))


def _hinted(span: np.ndarray, hint: int | None, longest: float) -> float | None:
    if hint is None or not SHORTEST <= hint <= longest:
        return None
    repeats = _autocorrelation(_detrended(span, hint))[hint]
    return float(hint) if repeats > 0.5 else None


def _prefer(values: np.ndarray, found: float, hint: int | None, longest: float) -> float:
    """Take the known season where the series repeats with it nearly as well."""
    if hint is None or not SHORTEST <= hint <= longest:
        return found
    correlation = _autocorrelation(values)
    return float(hint) if correlation[hint] >= correlation[round(found)] - 0.1 else found
