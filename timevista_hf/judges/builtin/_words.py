"""Measurements in words: what was measured, with number and unit."""

from __future__ import annotations

import math

from timevista_hf.judges.builtin._measures import LOST, Measurement


def describe(measured: Measurement, aspect: str) -> str:
    """Say what was measured of one aspect, in one or two sentences."""
    if aspect == "trend":
        return _trend(measured)
    if measured.flat:
        return "The forecast is a flat or smooth line although the truth moves."
    if measured.still:
        return _still(measured)
    return {"motif": _motif, "phase": _phase, "magnitude": _magnitude}[aspect](measured)


def _trend(measured: Measurement) -> str:
    share = f"{measured.trend:.0%} of" if measured.trend < 10 else "over ten times"
    size = f"{share} the truth's range"
    if measured.trend < 0.02:
        return f"The smooth part follows the truth's, within {size}."
    return (
        f"The smooth part lies {_side(measured.level)} on average and {_side(measured.end)} "
        f"at the end, an error of {size}."
    )


def _still(measured: Measurement) -> str:
    if measured.ratio == 1:
        return "Neither the truth nor the forecast moves about its trajectory."
    return "The truth hardly moves about its trajectory, but the forecast does."


def _motif(measured: Measurement) -> str:
    part = f"a cycle of {_steps(measured.period)}" if measured.period else "the curve"
    return (
        f"Placed where it fits best, {part} correlates {measured.likeness:.2f} "
        "with the truth in shape."
    )


def _phase(measured: Measurement) -> str:
    kind = "cycle" if measured.period else "typical swing"
    span = f"a {kind} of {measured.span:.0f} steps"
    start, end = measured.lag_start, measured.lag_end
    if measured.phase >= LOST and abs(start + end) < 0.3 * measured.span:
        return f"Nothing in the forecast can be aligned with {span} of the truth."
    if max(abs(start), abs(end)) < 0.1:
        return f"Peaks and valleys coincide, measured against {span}."
    said = f"Peaks come {_timing((start + end) / 2)}, {measured.phase:.0%} of {span}"
    if abs(end - start) > max(1.0, 0.05 * measured.span):
        said += f": {_timing(start)} at the start, {_timing(end)} at the end"
    return f"{said}."


def _magnitude(measured: Measurement) -> str:
    if measured.magnitude < 0.02:
        return "Swings are as tall as the truth's."
    said = f"Swings are {measured.ratio:.2f} times as tall as the truth's"
    change = math.exp(measured.magnitude)
    if change > 1.1 * max(measured.ratio, 1 / max(measured.ratio, 1e-9)):
        said += f", and off by a factor of {change:.2f} over the horizon"
    return f"{said}."


def _side(error: float) -> str:
    return f"{abs(error):.4g} {'above' if error > 0 else 'below'} the truth"


def _timing(lag: float) -> str:
    return f"{_steps(abs(lag))} {'late' if lag > 0 else 'early'}" if abs(lag) >= 0.05 else "on time"


def _steps(count: float | None) -> str:
    return f"{count or 0:.1f} steps"
