"""Where the steps of a series lie: on a regular grid with gaps, or one after another."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from timevista_hf.io._calendar import DAY, MICROSECONDS
from timevista_hf.io._times import Kind

AXES = ("regular", "weekdays", "irregular")
_FAR = np.iinfo(np.int64).max


@dataclass(frozen=True, eq=False)
class Axis:
    """Positions of observations, and the step of each of S series.

    Parameters
    ----------
    positions : numpy.ndarray of shape (M,)
        Steps since the series' first observation; on a regular grid missing rows are skipped
        numbers, on the other axes observations follow one another.
    axes : numpy.ndarray of shape (S,)
        Index into `AXES`.
    freqs : list of length S
        Pandas offset alias of the step, None where there is none.
    missing : int
        Steps of all regular grids that no row holds.
    """

    positions: np.ndarray  # [M]
    axes: np.ndarray  # [S]
    freqs: list[str | None]
    missing: int


@dataclass(frozen=True, eq=False)
class _Steps:
    step: np.ndarray  # [S], the smallest
    regular: np.ndarray  # [S], all are multiples of it, and few are missing
    constant: np.ndarray  # [S], all are the same


def find_axis(times: np.ndarray, starts: np.ndarray, kind: Kind) -> Axis:
    """Find the axis of each series.

    Parameters
    ----------
    times : array of shape (M,)
        Distinct and ascending within each series.
    starts : array of shape (S,)
        Where each series begins in `times`.
    """
    ticks, months = _ticks(times, starts, kind)
    steps = _steps(ticks, starts)
    weekdays = _only_weekdays(times, starts, steps.step, months, kind)
    axes = np.where(weekdays, 1, np.where(steps.regular, 0, 2))
    sizes = _sizes(starts, times.size)
    rank = np.arange(times.size) - np.repeat(starts, sizes)
    since = ticks - np.repeat(ticks[starts], sizes)
    grid = since // np.repeat(steps.step, sizes)
    positions = np.where(np.repeat(axes == 0, sizes), grid, rank)
    last = positions[starts + sizes - 1]
    freqs = _freqs(times, starts, kind, steps.step, months, axes)
    return Axis(positions, axes, freqs, int(np.sum(last + 1 - sizes)))


def rate_evenness(ids: np.ndarray, times: np.ndarray) -> int:
    """Rate times of any order: 2 for a constant step in each series, 1 with gaps, else 0."""
    order = np.lexsort((times, ids))
    ids, times = ids[order], times[order]
    new = np.ones(ids.size, dtype=bool)
    new[1:] = (np.diff(ids) != 0) | (np.diff(times) != 0)
    ids, times = ids[new], times[new]
    starts = np.flatnonzero(np.r_[True, np.diff(ids) != 0])
    steps = _steps(_ticks(times, starts, "calendar")[0], starts)
    return int(steps.regular.all()) + int(steps.constant.all())


def season_length_of(freq: str | None) -> int | None:
    """Give the steps in a season of a frequency, None where it is not known.

    Examples
    --------
    >>> season_length_of("h"), season_length_of("15min"), season_length_of("W-SUN")
    (24, 96, 52)
    """
    found = re.fullmatch(r"(\d*)([A-Za-z]+)(?:-[A-Za-z]{3})?", freq or "")
    if found is None:
        return None
    count, unit = int(found[1] or 1), found[2]
    season = _SEASONS.get(unit)
    if season is None or count == 0 or season % count:
        return None
    return season // count


def _sizes(starts: np.ndarray, total: int) -> np.ndarray:
    return np.diff(np.r_[starts, total])


def _ticks(times: np.ndarray, starts: np.ndarray, kind: Kind) -> tuple[np.ndarray, np.ndarray]:
    """Count by months where a series keeps to a day of the month, else by the times."""
    if kind == "index":
        return times, np.zeros(starts.size, dtype=bool)
    month = times.astype("datetime64[us]").astype("datetime64[M]")
    since = times - month.astype("datetime64[us]").astype(np.int64)
    until = (month + np.timedelta64(1, "M")).astype("datetime64[us]").astype(np.int64) - times
    same = _all_same(since, starts) | _all_same(until, starts)
    months = same & (_steps(times, starts).step >= 28 * DAY) & (_sizes(starts, times.size) > 1)
    counted = np.repeat(months, _sizes(starts, times.size))
    return np.where(counted, month.astype(np.int64), times), months


def _all_same(values: np.ndarray, starts: np.ndarray) -> np.ndarray:
    return np.asarray(np.minimum.reduceat(values, starts) == np.maximum.reduceat(values, starts))


def _steps(ticks: np.ndarray, starts: np.ndarray) -> _Steps:
    sizes = _sizes(starts, ticks.size)
    gaps = np.empty(ticks.size, dtype=np.int64)
    gaps[1:] = np.diff(ticks)
    gaps[starts] = _FAR
    step = np.minimum.reduceat(gaps, starts)
    each = np.repeat(step, sizes)
    inner = gaps != _FAR
    uneven = np.add.reduceat((inner & (gaps % each != 0)).astype(np.int64), starts)
    equal = np.add.reduceat((inner & (gaps == each)).astype(np.int64), starts)
    grid = (ticks[starts + sizes - 1] - ticks[starts]) // step + 1
    # Where most of a grid would be gaps, its step is an accident of two close observations.
    regular = (uneven == 0) & (2 * sizes >= grid) & (2 * equal >= sizes - 1)
    return _Steps(step, regular, equal == sizes - 1)


def _only_weekdays(
    times: np.ndarray, starts: np.ndarray, step: np.ndarray, months: np.ndarray, kind: Kind
) -> np.ndarray:
    """Tell the series that skip every weekend, and little else where they are daily."""
    if kind == "index":
        return np.zeros(starts.size, dtype=bool)
    days = times // DAY
    never = np.maximum.reduceat((days + 3) % 7, starts) < 5  # 1970 began on a Thursday
    start = days[starts]
    last = days[starts + _sizes(starts, times.size) - 1]
    crosses = (last - start >= 7) | ((last + 3) % 7 < (start + 3) % 7)
    dates = start.astype("datetime64[D]"), (last + 1).astype("datetime64[D]")
    held = _sizes(starts, times.size) >= _SHARE * np.busday_count(*dates)
    return np.asarray(never & crosses & ~months & ((step < DAY) | ((step == DAY) & held)))


def _freqs(
    times: np.ndarray,
    starts: np.ndarray,
    kind: Kind,
    step: np.ndarray,
    months: np.ndarray,
    axes: np.ndarray,
) -> list[str | None]:
    if kind == "index":
        return [None] * starts.size
    last = times[starts] + DAY
    ends = last.astype("datetime64[us]").astype("datetime64[M]") != times[starts].astype(
        "datetime64[us]"
    ).astype("datetime64[M]")
    known: dict[tuple[int, bool, bool, int], str | None] = {}
    keys = zip(step.tolist(), months.tolist(), ends.tolist(), axes.tolist(), strict=True)
    return [known.setdefault(key, _freq(*key)) for key in keys]


def _freq(step: int, months: bool, end: bool, axis: int) -> str | None:
    if step == _FAR or AXES[axis] == "irregular":
        return None
    if months:
        letter = "E" if end else "S"
        for count, unit in ((12, "Y"), (3, "Q"), (1, "M")):
            if step % count == 0:
                return _times(step // count, unit + letter)
    if AXES[axis] == "weekdays" and step == DAY:
        return "B"
    units = ((7 * DAY, "W"), (DAY, "D"), (DAY // 24, "h"), (60 * MICROSECONDS, "min"))
    for count, unit in (*units, (MICROSECONDS, "s"), (1_000, "ms"), (1, "us")):
        if step % count == 0:
            return _times(step // count, unit)
    return None


def _times(count: int, unit: str) -> str:
    return unit if count == 1 else f"{count}{unit}"


_SHARE = 0.8  # of the weekdays in its span that a business-day series holds
_SEASONS = {
    "s": 60,
    "S": 60,
    "min": 1440,
    "T": 1440,
    "h": 24,
    "H": 24,
    "d": 7,
    "D": 7,
    "B": 5,
    "C": 5,
    "W": 52,
    "M": 12,
    "MS": 12,
    "ME": 12,
    "BM": 12,
    "BME": 12,
    "BMS": 12,
    "Q": 4,
    "QS": 4,
    "QE": 4,
    "BQ": 4,
    "BQE": 4,
    "BQS": 4,
    "Y": 1,
    "YS": 1,
    "YE": 1,
    "A": 1,
    "AS": 1,
    "BYE": 1,
    "BYS": 1,
}
