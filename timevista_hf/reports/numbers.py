"""How pages write numbers and names."""

from __future__ import annotations

import math

from timevista_hf.rubrics import HIGHEST, LOWEST


def number(value: float, decimals: int | None = None) -> str:
    """Write an error, with four significant digits where the decimals are not given."""
    if not math.isfinite(value):
        return "–"
    if value and not 1e-4 <= abs(value) < 1e7:
        return f"{value:.3e}"
    return f"{value:,.{places(value, digits=4) if decimals is None else decimals}f}"


def places(value: float, *, digits: int) -> int:
    """Count the decimals that a number needs to show so many significant digits."""
    if not value or not math.isfinite(value):
        return 0
    return max(0, digits - 1 - math.floor(math.log10(abs(value))))


def score(value: float) -> str:
    """Write a score with two decimals."""
    return f"{value:.2f}" if math.isfinite(value) else "–"


def percent(value: float) -> str:
    """Write a part in percent, rounded down: 100 % means all."""
    return f"{math.floor(value * 1000) / 10:.1f} %" if math.isfinite(value) else "–"


def words(name: str) -> str:
    """Write a name of the program's as words."""
    return name.replace("_", " ")


def level(value: float) -> int:
    """Return the step of the colour ramp, 1 to 5."""
    return min(HIGHEST, max(LOWEST, math.floor(value + 0.5)))


def place(value: float) -> str:
    """Write the place of a score on the axis from 1 to 5, in percent."""
    return f"{(value - LOWEST) / (HIGHEST - LOWEST) * 100:.1f}"


def count(value: int) -> str:
    """Write a number of things, by thousands."""
    return f"{value:,}"
