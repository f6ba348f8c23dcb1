"""The axes of a picture: what range is shown, and which ticks make it readable."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np
from matplotlib.ticker import MaxNLocator

from timevista_hf.cases import ForecastCase

# How far beyond the observed range a forecast is followed, as a part of that range.
BEYOND = 0.5

# Beyond these, matplotlib's transforms overflow or find no interval.
LARGEST, SMALLEST = 1e300, 1e-280


@dataclass(frozen=True, eq=False)
class Ticks:
    """Where the ticks are, what they say, and what the axis is called."""

    places: np.ndarray  # [N]
    labels: list[str]
    title: str = ""


def value_limits(case: ForecastCase, history: np.ndarray) -> tuple[float, float]:
    """Return the range of values shown: all that was observed, and the forecast near it."""
    low, high = _observed(np.concatenate([history, case.truth]), case.label)
    span = high - low
    if _is_flat(low, high):
        low, high = _around(low, case.prediction)
    else:
        low = max(low - BEYOND * span, min(low, float(np.nanmin(case.prediction))))
        high = min(high + BEYOND * span, max(high, float(np.nanmax(case.prediction))))
    return _with_margin(low, high)


def series_limits(values: np.ndarray, label: str) -> tuple[float, float]:
    """Return the range of values shown of a series alone; it may be constant, or all missing."""
    if not np.isfinite(values).any():
        return _with_margin(-1.0, 1.0)
    low, high = _observed(values, label)
    if _is_flat(low, high):
        half = 0.05 * abs(low)
        low, high = (low - half, low + half) if half > SMALLEST else (-1.0, 1.0)
    return _with_margin(low, high)


def value_ticks(low: float, high: float, most: int) -> Ticks:
    """Choose round values, up to `most` + 1 or ten; the title says what their labels leave out."""
    places = _places(low, high, most)
    step = float(places[1] - places[0])
    offset = _offset(places, step)
    exponent = _exponent(places - offset)
    scale = float(f"1e{exponent}")
    decimals = _decimals(step / scale)
    labels = [_signed(f"{(place - offset) / scale:.{decimals}f}") for place in places]
    left_out = f" × 1e{exponent}" if exponent else ""
    left_out += f" {'-' if offset < 0 else '+'} {abs(offset):.15g}" if offset else ""
    title = _signed(f"Value = label{left_out}") if left_out else "Value"
    return Ticks(places, labels, title)


def step_ticks(first: float, last: float, most: int) -> Ticks:
    """Choose round steps, up to `most` + 1 or ten."""
    places = _places(first, last, most, integer=True)
    return Ticks(places, [_signed(f"{place:.0f}") for place in places], "Step")


def leaving_note(prediction: np.ndarray, low: float, high: float) -> str:
    """Say how far the forecast goes beyond the axis; empty where it stays inside."""
    lowest, highest = float(np.nanmin(prediction)), float(np.nanmax(prediction))
    ends = [f"min {lowest:.3g}"] if lowest < low else []
    ends += [f"max {highest:.3g}"] if highest > high else []
    return f"Forecast leaves the axis ({', '.join(ends)})" if ends else ""


def _observed(values: np.ndarray, label: str) -> tuple[float, float]:
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    if max(abs(low), abs(high)) > LARGEST:
        raise ValueError(f"{label}: values up to {LARGEST:g} can be drawn, got {low:g} to {high:g}")
    return low, high


def _is_flat(low: float, high: float) -> bool:
    return high - low <= max(1e-9 * max(abs(low), abs(high)), SMALLEST)


def _with_margin(low: float, high: float) -> tuple[float, float]:
    margin = 0.05 * (high - low)
    return low - margin, high + margin


def _around(value: float, prediction: np.ndarray) -> tuple[float, float]:
    # A constant gives no scale to clip a forecast by, so all of the forecast is shown.
    reach = float(np.nanmax(np.abs(np.clip(prediction, -LARGEST, LARGEST) - value)))
    half = max(reach, 0.05 * abs(value))
    return (value - half, value + half) if half > SMALLEST else (-1.0, 1.0)


def _offset(places: np.ndarray, step: float) -> float:
    if np.max(np.abs(places)) <= 1e4 * step:
        return 0.0
    # The roundest number in the range: it is short to write and leaves short labels.
    for exponent in range(int(np.log10(np.max(np.abs(places)))) + 1, -300, -1):
        power = float(f"1e{exponent}")
        offset = float(round(places.mean() / power) * power)
        # A power of the step's size leads into the range, but for rounding at its ends.
        if power <= 1.001 * step or places[0] <= offset <= places[-1]:
            return offset
    return 0.0


def _exponent(values: np.ndarray) -> int:
    exponent = int(np.floor(np.log10(np.max(np.abs(values)))))
    return 0 if -3 <= exponent < 6 else exponent // 3 * 3


def _decimals(step: float) -> int:
    return next((d for d in range(9) if np.isclose(round(step, d), step, rtol=1e-4, atol=0)), 9)


def _signed(label: str) -> str:
    zero = not label.strip("-0.")
    return label.lstrip("-") if zero else label.replace("-", "\N{MINUS SIGN}")


def _places(low: float, high: float, most: int, *, integer: bool = False) -> np.ndarray:
    places = np.asarray(_locator(min(most, 9), integer).tick_values(low, high))
    return places[(places >= low) & (places <= high)]


@functools.cache
def _locator(most: int, integer: bool) -> MaxNLocator:
    return MaxNLocator(nbins=most, steps=[1, 2, 2.5, 5, 10], integer=integer)
