"""The built-in detector: what is unlike the rest of a series, by robust measurements."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from timevista_hf.cases import AnomalyCase
from timevista_hf.judges.builtin._detect_curve import expect
from timevista_hf.judges.builtin._detect_variates import compare_variates
from timevista_hf.judges.builtin._detect_waves import ROUNDING, scaled

FEWEST = 8  # observed steps below which nothing is expected of the others
POINT = 4.5  # deviations of the noise that a step may be off the curve
RANGE = 3.5  # the same for each step of a run
VISIBLE = 0.03  # share of the curve's height below which a plot shows no difference
RARE = 0.25  # share of the observed steps above which what differs is no exception
BRIDGE = 3  # steps on the curve between two parts of a run that cross it
SHORTEST = 4  # steps in a run
HOT = 3  # steps of a run that must be off the curve
NEIGHBOURS = 5  # steps to either side that say what a point should be
WIDEST = 40  # the same for runs, at most; a twentieth of the series otherwise
NAMED = 5  # anomalies that the rationale describes


@dataclass(frozen=True)
class Finding:
    """What was found, in the form of a reply, and what was measured, in words."""

    anomalies: list[int] | list[list[int]]  # points or variates; first and last step of ranges
    rationale: str


def detect(case: AnomalyCase) -> Finding:
    """Find points, ranges or variates by the values alone.

    Examples
    --------
    >>> wave = [0, 2, 3, 2, 0, -2, -3, -2] * 8
    >>> wave[20] = 9
    >>> detect(AnomalyCase(id="a", values=wave, granularity="point")).anomalies
    [20]
    """
    if case.granularity == "variate":
        return _find_variates(case.values)
    observed = int(np.isfinite(case.values).sum())
    if observed < FEWEST:
        return Finding([], f"Only {_count(observed, 'step')} observed: too few to tell.")
    shares = scaled(case.values)
    if shares is None:
        return Finding([], "The series does not move.")
    find = _find_points if case.granularity == "point" else _find_ranges
    return find(*shares)


@dataclass(frozen=True, eq=False)
class _View:
    """A series against its expected curve, in units of its largest value."""

    residuals: np.ndarray  # [T] nan where missing
    limit: float  # how far a step may be off the curve
    off: np.ndarray  # [T] bool, further than that
    noise: float
    period: float | None

    @property
    def common(self) -> bool:
        """Whether so many steps are off that the curve is what does not fit."""
        return bool(self.off.sum() > RARE * np.isfinite(self.residuals).sum())


def _view(values: np.ndarray, reach: int, spreads: float) -> _View:
    expected = expect(values, reach)
    low, high = np.quantile(expected.curve, [0.01, 0.99])
    limit = max(spreads * expected.noise, VISIBLE * float(high - low), ROUNDING)
    residuals = values - expected.curve
    off = np.abs(np.nan_to_num(residuals)) > limit
    return _View(residuals, limit, off, expected.noise, expected.period)


def _find_points(values: np.ndarray, unit: float) -> Finding:
    view = _view(values, NEIGHBOURS, POINT)
    points = [] if view.common else [int(step) for step in np.flatnonzero(view.off)]
    if not points:
        return Finding([], _nothing(view, unit, "step"))
    furthest = sorted(points, key=lambda step: -abs(view.residuals[step]))[:NAMED]
    named = ", ".join(f"{step} by {view.residuals[step] * unit:+.3g}" for step in sorted(furthest))
    found = f"{_count(len(points), 'step')} further off; the furthest: {named}."
    return Finding(points, f"{_measured(view, unit)} {found}")


def _find_ranges(values: np.ndarray, unit: float) -> Finding:
    reach = min(max(values.size // 20, 2 * NEIGHBOURS), WIDEST)
    view = _view(values, reach, RANGE)
    runs = [] if view.common else _runs(view.off, np.isfinite(values))
    if not runs:
        return Finding([], _nothing(view, unit, f"run of {SHORTEST} steps"))
    sizes = [float(np.nanmax(np.abs(view.residuals[first : last + 1]))) for first, last in runs]
    named = ", ".join(
        f"{first} to {last} by up to {size * unit:.3g}"
        for (first, last), size in [*zip(runs, sizes, strict=True)][:NAMED]
    )
    found = f"{_count(len(runs), 'run')} further off: {named}."
    return Finding(runs, f"{_measured(view, unit)} {found}")


def _runs(off: np.ndarray, observed: np.ndarray) -> list[list[int]]:
    """Join steps that are off the curve to runs, first and last; missing steps do not part them."""
    order = np.cumsum(observed)  # counts observed steps only
    steps = np.flatnonzero(off)
    parts = np.split(steps, np.flatnonzero(np.diff(order[steps]) > BRIDGE + 1) + 1)
    return [
        [int(part[0]), int(part[-1])]
        for part in parts
        if part.size >= HOT and part[-1] - part[0] + 1 >= SHORTEST
    ]


def _find_variates(values: np.ndarray) -> Finding:
    compared = compare_variates(values)
    worst = int(np.argmax(compared.excess))
    if not compared.odd:
        said = f"variate {worst} in {compared.traits[worst]}, {compared.excess[worst]:.0%} of the"
        return Finding([], f"No variate is told from the others; most unlike is {said} limit.")
    named = "; ".join(
        f"{m} in {compared.traits[m]}, {compared.excess[m]:.1f} times the limit"
        for m in compared.odd[:NAMED]
    )
    return Finding([*compared.odd], f"Unlike most variates: {named}.")


def _measured(view: _View, unit: float) -> str:
    curve = f"a cycle of {view.period:.1f} steps" if view.period else "the curve of the neighbours"
    noise, limit = view.noise * unit, view.limit * unit
    return f"Measured against {curve}, with a noise of {noise:.3g} and a limit of {limit:.3g}:"


def _nothing(view: _View, unit: float, sought: str) -> str:
    if view.common:
        return f"{_measured(view, unit)} {int(view.off.sum())} steps further off, no exceptions."
    furthest = float(np.nanmax(np.abs(view.residuals))) * unit
    return f"{_measured(view, unit)} no {sought} further off; the furthest step by {furthest:.3g}."


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
