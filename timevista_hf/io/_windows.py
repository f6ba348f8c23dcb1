"""Rows of one or two files to windows: a history, a truth, and predictions on one axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from timevista_hf.io._sheet import Sheet, complain
from timevista_hf.io._times import NEVER, Times


@dataclass(frozen=True, eq=False)
class Rows:
    """One file's rows as numbers."""

    sheet: Sheet
    ids: np.ndarray  # [N] int64, -1 for a series that is not forecast
    times: Times
    cutoffs: Times | None
    target: np.ndarray | None  # [N]
    predictions: dict[str, np.ndarray]  # each [N]
    target_column: str | None


@dataclass(frozen=True, eq=False)
class Observations:
    """The distinct (series, time) pairs of all files, sorted, with the truth where it is known."""

    times: np.ndarray  # [M] int64
    target: np.ndarray  # [M]
    starts: np.ndarray  # [S + 1]
    slots: np.ndarray  # [N] index into the pairs, for each row of the forecasts


@dataclass(frozen=True, eq=False)
class Windows:
    """The predicted rows, those of one window after one another in time."""

    ids: np.ndarray  # [W]
    cutoffs: np.ndarray | None  # [W] int64
    starts: np.ndarray  # [W + 1]
    slots: np.ndarray  # [P]
    predictions: dict[str, np.ndarray]  # each [P]
    present: dict[str, np.ndarray]  # each [W] bool


def check_duplicates(rows: Rows, names: Sequence[str]) -> None:
    """Refuse two rows of a file for the same step of the same window."""
    cutoffs = None if rows.cutoffs is None else rows.cutoffs.values
    keys = (
        [rows.times.values, rows.ids] if cutoffs is None else [cutoffs, rows.times.values, rows.ids]
    )
    order = np.lexsort(keys)
    order = order[rows.ids[order] >= 0]
    same = np.ones(max(order.size - 1, 0), dtype=bool)
    for key in keys:
        same &= np.diff(key[order]) == 0
    if not same.any():
        return
    pairs = np.flatnonzero(same)
    pair = pairs[np.argmin(order[pairs + 1])]
    one, two = order[pair], order[pair + 1]
    first, second = rows.sheet.locate([int(one), int(two)])
    label = label_of(int(rows.times.values[one]), rows.times)
    raise complain(
        rows.sheet.name,
        f"series {names[rows.ids[one]]!r}: rows {first} and {second} both hold time {label}",
        fix="keep one of them"
        if cutoffs is not None
        else "keep one, or give each window its own cutoff in a column 'cutoff'",
    )


def pool_observations(parts: list[Rows], names: Sequence[str]) -> Observations:
    """Join the rows of all files on (series, time); the forecasts come first in `parts`."""
    ids = np.concatenate([part.ids for part in parts])
    times = np.concatenate([part.times.values for part in parts])
    target = np.concatenate(
        [np.full(part.ids.size, np.nan) if part.target is None else part.target for part in parts]
    )
    order = np.lexsort((times, ids))
    order = order[ids[order] >= 0]
    new = np.ones(order.size, dtype=bool)
    new[1:] = (np.diff(ids[order]) != 0) | (np.diff(times[order]) != 0)
    group = np.cumsum(new) - 1
    known = np.isfinite(target[order])
    filled, firsts = np.unique(group[known], return_index=True)
    sources = order[known][firsts]  # the first row that knows each truth
    pooled = np.full(int(new.sum()), np.nan)
    pooled[filled] = target[sources]
    _check_conflicts(parts, names, order[known], pooled[group[known]], target)
    slots = np.empty(ids.size, dtype=np.int64)
    slots[order] = group
    pair_ids = ids[order][new]
    starts = np.searchsorted(pair_ids, np.arange(len(names) + 1))
    return Observations(times[order][new], pooled, starts, slots[: parts[0].ids.size])


def _check_conflicts(
    parts: list[Rows],
    names: Sequence[str],
    rows: np.ndarray,
    agreed: np.ndarray,
    target: np.ndarray,
) -> None:
    # A file in float32 says the same number with seven digits.
    differs = ~np.isclose(target[rows], agreed, rtol=1e-6, atol=0.0)
    if not differs.any():
        return
    conflict = int(np.argmax(differs))
    odd = int(rows[conflict])
    size = parts[0].ids.size
    part, position = (parts[0], odd) if odd < size else (parts[1], odd - size)
    label = label_of(int(part.times.values[position]), part.times)
    raise part.sheet.error(
        f"series {names[part.ids[position]]!r} has two truths at {label}, "
        f"{float(agreed[conflict])!r} in an earlier row",
        position=position,
        column=part.target_column,
        value=float(target[odd]),
        fix="a step has one truth, whatever the cutoff",
    )


def find_windows(rows: Rows, seen: Observations, names: Sequence[str]) -> Windows:
    """Gather the predicted rows into windows and check each against the layout's rules."""
    predicted = np.zeros(rows.ids.size, dtype=bool)
    for values in rows.predictions.values():
        predicted |= np.isfinite(values)
    chosen = np.flatnonzero(predicted)
    if rows.cutoffs is not None:
        _check_cutoffs(rows, chosen)
    cutoffs = np.zeros(rows.ids.size, np.int64) if rows.cutoffs is None else rows.cutoffs.values
    order = chosen[np.lexsort((rows.times.values[chosen], cutoffs[chosen], rows.ids[chosen]))]
    new = np.ones(order.size, dtype=bool)
    new[1:] = (np.diff(rows.ids[order]) != 0) | (np.diff(cutoffs[order]) != 0)
    starts = np.flatnonzero(new)
    predictions = {model: values[order] for model, values in rows.predictions.items()}
    windows = Windows(
        ids=rows.ids[order[starts]],
        cutoffs=None if rows.cutoffs is None else cutoffs[order[starts]],
        starts=np.r_[starts, order.size],
        slots=seen.slots[order],
        predictions=predictions,
        present={
            model: np.logical_or.reduceat(np.isfinite(values), starts)
            for model, values in predictions.items()
        },
    )
    for model in windows.predictions:
        _check_truth(rows, windows, seen, model, names)
        _check_history(rows, windows, seen, model, names)
    return windows


def _check_cutoffs(rows: Rows, chosen: np.ndarray) -> None:
    assert rows.cutoffs is not None
    cutoffs = rows.cutoffs.values[chosen]
    early = rows.times.values[chosen] <= cutoffs
    for wrong, rule in (
        (cutoffs == NEVER, "a row with a prediction needs a cutoff"),
        (early, "a predicted time must be after its cutoff"),
    ):
        if wrong.any():
            position = int(chosen[np.argmax(wrong)])
            label = label_of(int(rows.times.values[position]), rows.times)
            raise rows.sheet.error(rule, position=position, value=label)


def _check_truth(
    rows: Rows, windows: Windows, seen: Observations, model: str, names: Sequence[str]
) -> None:
    finite = np.isfinite(windows.predictions[model])
    steps = np.add.reduceat(finite.astype(np.int64), windows.starts[:-1])
    both = finite & np.isfinite(seen.target[windows.slots])
    shared = np.add.reduceat(both.astype(np.int64), windows.starts[:-1])
    wrong = (steps > 0) & (shared < 2)
    if not wrong.any():
        return
    window = int(np.argmax(wrong))
    place = f"{_place(rows, windows, window, names)}, model {model!r}"
    inside = windows.slots[windows.starts[window] : windows.starts[window + 1]]
    inside = inside[finite[windows.starts[window] : windows.starts[window + 1]]]
    first, last = (label_of(int(seen.times[inside[end]]), rows.times) for end in (0, -1))
    if steps[window] == 1:
        raise complain(
            place,
            f"a horizon has at least 2 predicted steps, this one is only {first}",
            fix="a shape needs several steps; if each row is a window of its own, "
            "predict further ahead",
        )
    raise complain(
        place,
        f"at least 2 predicted steps need a truth, but {shared[window]} of the "
        f"{steps[window]} from {first} to {last} have one",
        fix="fill the target column, or pass the observed values with --actuals",
    )


def _check_history(
    rows: Rows, windows: Windows, seen: Observations, model: str, names: Sequence[str]
) -> None:
    finite = np.isfinite(windows.predictions[model])
    slots = np.where(finite, windows.slots, seen.target.size)
    begin = np.minimum.reduceat(slots, windows.starts[:-1])
    observed = first_observed(seen)[windows.ids]
    without = windows.present[model] & (observed >= begin)
    if windows.cutoffs is not None:
        times = np.r_[seen.times, np.iinfo(np.int64).max][observed]
        without |= windows.present[model] & (times > windows.cutoffs)
    if not without.any():
        return
    window = int(np.argmax(without))
    start = label_of(int(seen.times[begin[window]]), rows.times)
    raise complain(
        f"{_place(rows, windows, window, names)}, model {model!r}",
        f"no history before its first prediction at {start}",
        fix="pass the observed values with --actuals, or add rows with the truth and "
        "empty model cells",
    )


def first_observed(seen: Observations) -> np.ndarray:
    """First pair of each series with a truth, M where there is none; int64 of shape (S,)."""
    size = seen.target.size
    where = np.where(np.isfinite(seen.target), np.arange(size), size)
    found: np.ndarray = np.minimum.reduceat(where, seen.starts[:-1])
    return found


def label_of(value: int, times: Times) -> str:
    """Write one time as its column does."""
    if times.kind == "index":
        return str(value)
    stamp = np.datetime64(value, "us")
    if times.form == "year":
        return str(stamp.astype("datetime64[Y]"))
    if times.form == "month":
        return str(stamp.astype("datetime64[M]"))
    if times.form == "quarter":
        month = int(stamp.astype("datetime64[M]").astype(np.int64)) % 12
        return f"{stamp.astype('datetime64[Y]')}Q{month // 3 + 1}"
    day, clock = str(stamp).split("T")
    if clock == "00:00:00.000000" and not times.aware:
        return day
    clock = clock.removesuffix(".000000").removesuffix(":00")
    return f"{day}T{clock if ':' in clock else clock + ':00'}{'Z' if times.aware else ''}"


def _place(rows: Rows, windows: Windows, window: int, names: Sequence[str]) -> str:
    place = f"{rows.sheet.name}, series {names[windows.ids[window]]!r}"
    if windows.cutoffs is not None and rows.cutoffs is not None:
        place += f", cutoff {label_of(int(windows.cutoffs[window]), rows.cutoffs)}"
    return place
