"""Hard constraints of with-knowledge rubrics, checked exactly."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from timevista_hf.cases import ForecastCase
from timevista_hf.loading.known import unknown

_Given: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True)
class Constraint:
    """One thing that a forecast must not do, and how much it costs.

    Parameters
    ----------
    rule : str
        What is checked: ``positive``, ``minimum``, ``maximum``, ``non_decreasing``,
        ``not_below_last``, ``starts_at_last``, ``within_history_range``,
        ``within_history_moves``, ``near_zero_when_history_is``, ``peaks_present`` or
        ``alternates_sign``.
    parameters : mapping
        The rule's numbers and choices. `tolerance` and `margin` are fractions of the history's
        range, so that a rule holds in any unit.
    cap : int
        The highest score that a forecast in breach can still have, 1 to 4.
    why : str
        The reason, in a few words for a reader of a report.
    """

    rule: str
    parameters: Mapping[str, Any] = field(hash=False)
    cap: int
    why: str


@dataclass(frozen=True)
class Breach:
    """A constraint that a forecast breaks, where, and in words."""

    constraint: Constraint
    step: int | None  # 1 is the first step of the horizon; None where no single step is at fault
    value: float  # the forecast at that step, or the number of peaks or reversals found
    message: str


def load_constraint(entry: Mapping[str, Any], *, place: str) -> Constraint:
    """Read one entry of a rubric's `constraints`, and fill in what it leaves out.

    Parameters
    ----------
    entry : mapping
        `rule`, `cap`, `why`, and the rule's parameters beside them.
    place : str
        Where the entry stands, for the errors.

    Raises
    ------
    ValueError
        For an unknown rule, a missing, unknown or unfit parameter, a cap outside 1 to 4, or no
        reason.

    Examples
    --------
    >>> load_constraint({"rule": "minimum", "value": 0, "cap": 2, "why": "a count"}, place="mine")
    Constraint(rule='minimum', parameters={'value': 0.0, 'tolerance': 0.0}, cap=2, why='a count')
    """
    if not isinstance(entry, Mapping):
        raise ValueError(f"{place}: a constraint must be a mapping, got {entry!r}")
    rule, cap, why = (entry.get(name) for name in _COMMON)
    if not isinstance(rule, str) or rule not in _RULES:
        raise ValueError(f"{place}: {unknown('rule', rule, list(_RULES))}")
    place = f"{place}, constraint {rule!r}"
    if type(cap) is not int or not 1 <= cap <= 4:
        raise ValueError(f"{place}: `cap` must be an integer from 1 to 4, got {cap!r}")
    if not isinstance(why, str) or not why.strip():
        raise ValueError(f"{place}: `why` must be a text, got {why!r}")
    return Constraint(rule, _parameters(rule, entry, place), cap, why.strip())


def find_breaches(case: ForecastCase, constraints: Iterable[Constraint]) -> tuple[Breach, ...]:
    """Find the constraints that a forecast breaks.

    A constraint that the truth breaks too does not apply to the case. Missing steps are skipped,
    and so is a rule for which the history does not hold enough.

    Parameters
    ----------
    case : ForecastCase
    constraints : iterable of Constraint

    Returns
    -------
    tuple of Breach
        At most one for each constraint, in their order; each names the worst step.

    Examples
    --------
    >>> floor = {"rule": "minimum", "value": 0, "cap": 2, "why": "a count"}
    >>> case = ForecastCase(id="a", history=[3, 1], truth=[1, 0, 2], prediction=[1, -3.2, 2])
    >>> [breach.message for breach in find_breaches(case, [load_constraint(floor, place="mine")])]
    ['falls to -3.2 at step 2, below the minimum of 0']
    """
    found = []
    for constraint in constraints:
        check = _RULES[constraint.rule].check
        finding = check(case.prediction, case, constraint.parameters)
        if finding is None or check(case.truth, case, constraint.parameters) is not None:
            continue
        found.append(Breach(constraint, *finding))
    return tuple(found)


class _Finding(NamedTuple):
    step: int | None
    value: float
    message: str


class _Rule(NamedTuple):
    check: Callable[[np.ndarray, ForecastCase, _Given], _Finding | None]
    defaults: Mapping[str, float | str | None]  # None: the parameter must be given


def _parameters(rule: str, entry: Mapping[str, Any], place: str) -> dict[str, float | str]:
    defaults = _RULES[rule].defaults
    for name in entry:
        if name not in defaults and name not in _COMMON:
            raise ValueError(f"{place}: {unknown('parameter', name, [*defaults, *_COMMON])}")
    parameters = {}
    for name, default in defaults.items():
        if name not in entry and default is None:
            raise ValueError(f"{place}: lacks the parameter `{name}`")
        parameters[name] = _parameter(name, entry.get(name, default), place)
    return parameters


def _parameter(name: str, value: Any, place: str) -> float | str:
    """Check one parameter: a choice where its name has choices, else a finite number."""
    if name in _CHOICES:
        if value not in _CHOICES[name]:
            raise ValueError(f"{place}: {unknown(f'`{name}`', value, _CHOICES[name])}")
        return str(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise ValueError(f"{place}: `{name}` must be a finite number, got {value!r}")
    low, high = _BOUNDS.get(name, (0.0, math.inf))
    if not low <= value <= high:
        raise ValueError(f"{place}: `{name}` must lie in {low:g} to {high:g}, got {value!r}")
    return float(value)


def _positive(values: np.ndarray, case: ForecastCase, _: _Given) -> _Finding | None:
    excess = np.where(values <= 0, 1.0 - values, 0.0)
    return _worst(excess, values, 0.0, "falls to {value} at step {step}, where it must be above 0")


def _minimum(values: np.ndarray, case: ForecastCase, given: _Given) -> _Finding | None:
    floor = given["value"]
    excess = floor - given["tolerance"] * _range(case.history) - values
    wording = "falls to {value} at step {step}, below the minimum of {limit}"
    return _worst(excess, values, floor, wording)


def _maximum(values: np.ndarray, case: ForecastCase, given: _Given) -> _Finding | None:
    ceiling = given["value"]
    excess = values - ceiling - given["tolerance"] * _range(case.history)
    wording = "rises to {value} at step {step}, above the maximum of {limit}"
    return _worst(excess, values, ceiling, wording)


def _non_decreasing(values: np.ndarray, case: ForecastCase, given: _Given) -> _Finding | None:
    highest = np.fmax.accumulate(values)  # [H]
    excess = highest - values - given["tolerance"] * _range(case.history)
    wording = "falls to {value} at step {step}, after {limit} before it"
    return _worst(excess, values, highest, wording)


def _not_below_last(values: np.ndarray, case: ForecastCase, given: _Given) -> _Finding | None:
    observed = _observed(case.history)
    if observed.size == 0:
        return None
    excess = observed[-1] - given["tolerance"] * _range(case.history) - values
    wording = "falls to {value} at step {step}, below the last known {limit}"
    return _worst(excess, values, observed[-1], wording)


def _starts_at_last(values: np.ndarray, case: ForecastCase, given: _Given) -> _Finding | None:
    known, seen = (np.flatnonzero(np.isfinite(array)) for array in (case.history, values))
    if known.size == 0 or seen.size == 0:
        return None
    start, last = int(seen[0]), float(case.history[known[-1]])
    steps = case.history.size - known[-1] + start
    allowed = given["deviations"] * _usual_change(case.history) * math.sqrt(steps)
    allowed += given["tolerance"] * _range(case.history)
    excess = np.zeros_like(values)
    # A history that never moved says nothing about how far a step may go.
    excess[start] = abs(values[start] - last) - allowed if allowed > 0 else 0.0
    far = f"over {_number(allowed)} away from the last known {{limit}}"
    return _worst(excess, values, last, f"starts at {{value}} at step {{step}}, {far}")


def _within_history_range(values: np.ndarray, case: ForecastCase, given: _Given) -> _Finding | None:
    observed, side = _observed(case.history), given["side"]
    spread = _range(case.history)
    if spread == 0:
        return None
    low, high, margin = observed.min(), observed.max(), given["margin"] * spread
    limit = f"{{limit}} by more than {given['margin']:.0%} of its range"
    under = f"falls to {{value}} at step {{step}}, below the history's lowest {limit}"
    over = f"rises to {{value}} at step {{step}}, above the history's highest {limit}"
    below = None if side == "above" else _worst(low - margin - values, values, low, under)
    above = None if side == "below" else _worst(values - high - margin, values, high, over)
    return below or above


def _within_history_moves(values: np.ndarray, case: ForecastCase, given: _Given) -> _Finding | None:
    history, path = case.history, values
    if given["scale"] == "ratio":
        history, path = (np.log(np.where(x > 0, x, np.nan)) for x in (history, path))
    observed = _observed(history)
    if history.size <= values.size or observed.size == 0:
        return None
    windows = np.lib.stride_tricks.sliding_window_view(history, values.size + 1)  # [N, H + 1]
    rises = np.fmax.reduce(windows, axis=1) - windows[:, 0]
    falls = windows[:, 0] - np.fmin.reduce(windows, axis=1)
    largest = _observed(np.fmax(rises, falls)).max(initial=0.0)
    excess = np.abs(path - observed[-1]) - given["factor"] * largest
    wording = f"goes from {{limit}} to {{value}} by step {{step}}, further than {values.size} "
    wording += "steps of the history ever went"
    return _worst(excess if largest else excess * 0, values, _observed(case.history)[-1], wording)


def _near_zero(values: np.ndarray, case: ForecastCase, given: _Given) -> _Finding | None:
    if case.season_length is None or _range(case.history) == 0:
        return None
    top = np.abs(_observed(case.history)).max()
    past = _same_season(case.history, case.season_length, int(given["seasons"]))  # [S, season]
    seen = np.isfinite(past).sum(axis=0)
    silent = (np.abs(past) <= given["near"] * top).sum(axis=0)
    closed = (seen >= 3) & (silent >= given["share"] * seen)
    for _ in range(int(given["border"])):
        closed = closed & np.roll(closed, 1) & np.roll(closed, -1)
    excess = np.where(np.resize(closed, values.size), np.abs(values) - given["tolerance"] * top, 0)
    wording = "is {value} at step {step}, where the history is nearly {limit}"
    return _worst(excess, values, 0.0, wording)


def _peaks_present(values: np.ndarray, case: ForecastCase, given: _Given) -> _Finding | None:
    sign, prominence = _peak_scale(case.history, given)
    drawn = np.isfinite(case.truth) & np.isfinite(values)
    if prominence <= 0:
        return None
    expected = _count_peaks(sign * case.truth, prominence, _inner(drawn), bordered=False)
    # A peak of little more than half the height is too low, not absent.
    found = _count_peaks(sign * values, 0.6 * prominence, drawn, bordered=True)
    if found >= given["share"] * expected:
        return None
    kind = "peaks" if sign > 0 else "valleys"
    return _Finding(None, float(found), f"has {found} large {kind} where the truth has {expected}")


def _alternates_sign(values: np.ndarray, case: ForecastCase, given: _Given) -> _Finding | None:
    band = given["tolerance"] * _range(case.history)
    usual = np.diff(_reversals(case.history, band))
    # Three full swings, and longer ones than noise around zero makes.
    if usual.size < 5 or np.median(usual) < 4:
        return None
    drawn = np.isfinite(case.truth) & np.isfinite(values)
    expected = _reversals(np.where(_inner(drawn), case.truth, np.nan), band).size
    found = _reversals(np.append(case.history[-1:], np.where(drawn, values, np.nan)), band).size
    if found >= given["share"] * expected:
        return None
    return _Finding(None, float(found), f"changes sign {found} times, the truth {expected} times")


def _worst(
    excess: np.ndarray, values: np.ndarray, limit: float | np.ndarray, wording: str
) -> _Finding | None:
    """Name the step with the largest positive excess; a missing step has none."""
    excess = np.where(np.isfinite(excess), excess, 0.0)
    at = int(np.argmax(excess))
    if excess[at] <= 0:
        return None
    value, bound = float(values[at]), float(np.broadcast_to(limit, values.shape)[at])
    message = wording.format(value=_number(value), step=at + 1, limit=_number(bound))
    return _Finding(at + 1, value, message)


def _number(value: float) -> str:
    return f"{value:.4g}" if abs(value) < 10_000 else f"{value:,.0f}"


def _observed(values: np.ndarray) -> np.ndarray:
    return np.extract(np.isfinite(values), values)


def _range(values: np.ndarray) -> float:
    """Highest minus lowest observed value, 0 where none is."""
    observed = _observed(values)
    return float(np.ptp(observed)) if observed.size else 0.0


def _usual_change(history: np.ndarray) -> float:
    """Robust size of one step's change in the last 30 observed changes."""
    changes = np.abs(_observed(np.diff(history)))[-30:]
    return float(_SIGMA * np.median(changes)) if changes.size else 0.0


def _same_season(history: np.ndarray, season: int, seasons: int) -> np.ndarray:
    """Cut the last seasons out of the history, newest first, NaN before its start, [S, season]."""
    index = history.size - season * np.arange(1, seasons + 1)[:, None] + np.arange(season)
    return np.where(index >= 0, history[np.maximum(index, 0)], np.nan)


def _inner(drawn: np.ndarray) -> np.ndarray:
    """Leave out the outer tenths, where an event of a right forecast may slip off the horizon."""
    edge = drawn.size // 10
    inner = drawn.copy()
    inner[:edge] = inner[drawn.size - edge :] = False
    return inner


def _peak_scale(history: np.ndarray, given: _Given) -> tuple[int, float]:
    """Return the direction of the history's peaks, 1 or -1, and how prominent a peak must be."""
    observed = _observed(history)
    if observed.size < 8:
        return 1, 0.0
    low, middle, high = np.quantile(observed, [0.01, 0.5, 0.99])
    up = given["direction"] == "up"
    if given["direction"] == "dominant":
        up = high - middle >= middle - low
    height = high - middle if up else middle - low
    noise = _SIGMA * np.median(np.abs(np.diff(observed))) / math.sqrt(2)
    return (1 if up else -1), float(max(given["prominence"] * height, 8 * noise))


def _count_peaks(curve: np.ndarray, prominence: float, where: np.ndarray, *, bordered: bool) -> int:
    """Count peaks on the steps of `where`; `bordered` counts those cut by the horizon's ends."""
    from scipy.signal import detrend, find_peaks

    steps = np.flatnonzero(where)
    if steps.size == 0:
        return 0
    curve = np.interp(np.arange(curve.size), steps, curve[steps])
    # The flat top between two valleys is prominent too, but does not rise above the line.
    height = curve - detrend(curve) + prominence / 2
    if bordered:
        curve, height = np.pad(curve, 1, constant_values=curve.min()), np.pad(height, 1, "edge")
    peaks = find_peaks(curve, prominence=prominence, height=height)[0] - bordered
    return int(np.isin(peaks, steps).sum())


def _reversals(values: np.ndarray, band: float) -> np.ndarray:
    """Return the steps where the sign has changed; values within the band around 0 are left out."""
    outside = np.flatnonzero(np.abs(values) > band)
    turns: np.ndarray = outside[1:][np.diff(np.sign(values[outside])) != 0]
    return turns


_SIGMA = 1.4826  # from a median absolute deviation to a standard deviation, for a normal law

_COMMON = ("rule", "cap", "why")

_CHOICES = {
    "side": ("both", "above", "below"),
    "scale": ("ratio", "difference"),
    "direction": ("up", "down", "dominant"),
}

_BOUNDS = {"value": (-math.inf, math.inf), "share": (0.0, 1.0), "seasons": (3.0, math.inf)}

_RULES: dict[str, _Rule] = {
    "positive": _Rule(_positive, {}),
    "minimum": _Rule(_minimum, {"value": None, "tolerance": 0.0}),
    "maximum": _Rule(_maximum, {"value": None, "tolerance": 0.0}),
    "non_decreasing": _Rule(_non_decreasing, {"tolerance": 0.0}),
    "not_below_last": _Rule(_not_below_last, {"tolerance": 0.0}),
    "starts_at_last": _Rule(_starts_at_last, {"deviations": None, "tolerance": 0.0}),
    "within_history_range": _Rule(_within_history_range, {"margin": None, "side": "both"}),
    "within_history_moves": _Rule(_within_history_moves, {"factor": None, "scale": "difference"}),
    "near_zero_when_history_is": _Rule(
        _near_zero,
        {"near": 0.02, "tolerance": 0.05, "share": 1.0, "seasons": 14.0, "border": 0.0},
    ),
    "peaks_present": _Rule(_peaks_present, {"direction": None, "share": 0.5, "prominence": 0.5}),
    "alternates_sign": _Rule(_alternates_sign, {"share": 0.5, "tolerance": 0.05}),
}
