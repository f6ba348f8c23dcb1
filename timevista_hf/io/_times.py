"""Columns of text to times: one form a column, decided by the whole column."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from timevista_hf.io._calendar import (
    DAY,
    FORMS,
    MICROSECONDS,
    TICKS,
    clock_of,
    days_of,
    part,
    whole_number_form,
    whole_values,
)
from timevista_hf.io._sheet import Sheet, encode, first

Kind = Literal["calendar", "index"]
NEVER = int(np.iinfo(np.int64).min)  # an empty cell
Steady = Callable[[Sheet, np.ndarray], int]  # rates how even the steps are, higher is better


@dataclass(frozen=True, eq=False)
class Times:
    """A column of times.

    Parameters
    ----------
    values : numpy.ndarray of shape (N,)
        int64: microseconds since 1970 (in UTC where `aware`), or the index itself.
    form : str
        What the cells are: "date", "month", "quarter", "year", "index" and so on.
    """

    values: np.ndarray  # [N]
    form: str
    kind: Kind
    aware: bool
    notes: tuple[str, ...] = ()
    day_first: bool | None = None  # None where the cells do not leave it open


@dataclass(frozen=True, eq=False)
class _Text:
    """A column of times before its form is decided; everything is by distinct cell."""

    sheet: Sheet
    column: str
    codes: np.ndarray  # [N]
    texts: Any  # [D]
    empty: np.ndarray  # [D]
    form: str = ""
    groups: dict[str, Any] | None = None

    def error(self, rule: str, code: int, fix: str = "") -> ValueError:
        """Build the error for the first row that holds a distinct cell."""
        position = int(np.flatnonzero(self.codes == code)[0])
        return self.sheet.error(
            rule, position=position, column=self.column, value=self.texts[code].as_py(), fix=fix
        )

    def part(self, name: str, default: int = 0) -> np.ndarray:
        """Digits of a group, int64 of shape (D,)."""
        return part(self.groups or {}, name, len(self.texts), default)


def read_times(
    sources: list[tuple[Sheet, str, bool]], *, day_first: bool | None, steady: Steady
) -> list[Times]:
    """Read columns of times together, so that they are of one kind.

    Parameters
    ----------
    sources : list of (Sheet, str, bool)
        File, column, and whether a cell may be empty.
    day_first : bool or None
        Whether 1/2/2024 is in February; None to decide by the column.
    steady : callable
        Rates how even the steps of a column's values are, for dates that can be read both ways.

    Raises
    ------
    ValueError
        For a cell that is no time, for mixed forms or zones, and for dates that can be read
        both ways with nothing to decide.
    """
    columns = [
        _read_stamps(*source) if _is_stamp(*source[:2]) else _classify(*source)
        for source in sources
    ]
    texts = [entry for entry in columns if isinstance(entry, _Text)]
    form = _whole_number_form([entry for entry in texts if entry.form == "integer"])
    read = []
    for entry in columns:
        if isinstance(entry, Times):
            read.append(entry)
        elif entry.form == "integer":
            read.append(_from_whole_numbers(entry, form))
        else:
            read.append(_from_groups(entry, texts, day_first, steady))
    _check_alike(sources, read)
    return read


def _is_stamp(sheet: Sheet, column: str) -> bool:
    return bool(pa.types.is_timestamp(sheet.columns[column].type))


def _read_stamps(sheet: Sheet, column: str, may_be_empty: bool) -> Times:
    cells = sheet.columns[column]
    zone = cells.type.tz
    empty = first(pc.is_null(cells))
    if empty is not None and not may_be_empty:
        raise sheet.error("every row needs a time", position=empty, column=column, value=None)
    values = cells.cast(pa.timestamp("us", zone), safe=False).cast(pa.int64())
    values = np.asarray(pc.fill_null(values, NEVER).to_numpy(), dtype=np.int64)
    notes = (f"{column}: zone {zone}, read as UTC",) if zone else ()
    return Times(values, "date", "calendar", zone is not None, notes)


def _classify(sheet: Sheet, column: str, may_be_empty: bool) -> _Text:
    codes, texts = encode(sheet.text(column))
    texts = pc.utf8_trim_whitespace(texts)
    empty = _to_numpy(pc.is_in(pc.utf8_lower(texts), _EMPTY))
    entry = _Text(sheet, column, codes, texts, empty)
    if empty.any() and not may_be_empty:
        raise entry.error("every row needs a time", int(np.argmax(empty)))
    if empty.all():
        raise sheet.error("holds no time at all", column=column)
    typical = int(np.argmin(empty))
    form = _form_of(texts[typical].as_py())
    if form is None:
        raise entry.error("is not a time", typical, _ACCEPTED)
    _check_form(entry, form, typical)
    extracted = pc.extract_regex(texts, FORMS[form])
    fields = range(extracted.type.num_fields)
    groups = {extracted.type.field(i).name: extracted.field(i) for i in fields}
    return _Text(sheet, column, codes, texts, empty, form, groups)


def _form_of(text: str) -> str | None:
    cell = pa.array([text])
    matching = (
        form
        for form, pattern in FORMS.items()
        if pc.match_substring_regex(cell, pattern)[0].as_py()
    )
    return next(matching, None)


def _check_form(entry: _Text, form: str, typical: int) -> None:
    fits = _to_numpy(pc.match_substring_regex(entry.texts, FORMS[form])) | entry.empty
    if fits.all():
        return
    odd = int(np.argmin(fits))
    other = _form_of(entry.texts[odd].as_py())
    if other is None:
        raise entry.error("is not a time", odd, _ACCEPTED)
    row = entry.sheet.row(int(np.flatnonzero(entry.codes == typical)[0]))
    raise entry.error(
        f"times must be of one form; row {row} is {_WORDS[form]}, this is {_WORDS[other]}", odd
    )


def _whole_number_form(entries: list[_Text]) -> str:
    """Decide for all columns together, so that they agree."""
    columns = [pc.filter(entry.texts, pa.array(~entry.empty)) for entry in entries]
    counted = any(entry.column.casefold() in ("step", "t") for entry in entries)
    return whole_number_form(columns, counted=counted)


def _from_whole_numbers(entry: _Text, form: str) -> Times:
    digits = pc.replace_substring_regex(entry.texts, r"^\+", "")
    numbers = pc.if_else(pa.array(entry.empty), "0", digits).cast(pa.int64()).to_numpy()
    values = np.where(entry.empty, NEVER, whole_values(numbers, form)[0])
    name = {"yearmonth": "month", "day": "date"}.get(form, form)
    kind: Kind = "index" if form == "index" else "calendar"
    note = f"{entry.column}: {_WHOLE_WORDS[form]}"
    return Times(values[entry.codes], name, kind, form in TICKS, (note,))


def _from_groups(
    entry: _Text, columns: list[_Text], day_first: bool | None, steady: Steady
) -> Times:
    notes: tuple[str, ...] = ()
    if entry.form != "written":
        day_first = None
    else:
        day_first, why = _day_order(entry, columns, day_first, steady)
        notes = (f"{entry.column}: {'day' if day_first else 'month'} first, {why}",)
    if entry.form == "month_first" and entry.part("m").max() <= 4:
        raise entry.error(
            "may be a month or a quarter of a year",
            int(np.argmin(entry.empty)),
            "write 2015-01 for a month, 2015Q1 for a quarter",
        )
    values, zones = _to_utc(entry, _values(entry, day_first))
    if zones:
        notes += (f"{entry.column}: zone {', '.join(sorted(zones))}, read as UTC",)
    form = _FORM_NAMES.get(entry.form, entry.form)
    return Times(values[entry.codes], form, "calendar", bool(zones), notes, day_first)


def _day_order(
    entry: _Text, columns: list[_Text], day_first: bool | None, steady: Steady
) -> tuple[bool, str]:
    """Decide whether days come first, by this file's columns, then the other's, then the step."""
    if day_first is not None:
        return day_first, "as asked"
    written = [other for other in columns if other.form == "written"]
    own = [other for other in written if other.sheet is entry.sheet]
    for group in (own, written):
        firsts = [other for other in group if other.part("a").max() > 12]
        seconds = [other for other in group if other.part("b").max() > 12]
        if firsts and seconds:
            raise _contradiction(firsts[0], seconds[0])
        if firsts or seconds:
            return bool(firsts), "since a part is above 12"
    evenness = {
        order: steady(own[0].sheet, _values(own[0], order)[own[0].codes]) for order in (True, False)
    }
    if evenness[True] == evenness[False]:
        raise entry.error(
            "may be day/month or month/day, and nothing in the column decides",
            int(np.argmin(entry.empty)),
            "say it with --first day or --first month",
        )
    return evenness[True] > evenness[False], "since only so the steps are even"


def _contradiction(firsts: _Text, seconds: _Text) -> ValueError:
    day = int(np.argmax(firsts.part("a") > 12))
    month = int(np.argmax(seconds.part("b") > 12))
    row = firsts.sheet.row(int(np.flatnonzero(firsts.codes == day)[0]))
    return seconds.error(
        f"the month comes first here, but the day does in row {row} of {firsts.sheet.name} "
        f"({firsts.texts[day].as_py()!r})",
        month,
        "write dates as 2024-01-31",
    )


def _values(entry: _Text, day_first: bool | None) -> np.ndarray:
    """Microseconds of each distinct cell, in the zone it is written in."""
    year = entry.part("y", 1970)
    if entry.form == "written":
        day, month = (entry.part(name, 1) for name in ("ab" if day_first else "ba"))
    elif "q" in (entry.groups or {}):
        month, day = 3 * entry.part("q", 1) - 2, np.ones_like(year)
    else:
        month, day = entry.part("m", 1), entry.part("d", 1)
    days, exists = days_of(year, month, day)
    clock, possible = clock_of(entry.groups or {}, year.size)
    wrong = ~(exists & possible) & ~entry.empty
    if wrong.any():
        raise entry.error("is no day of the calendar or no time of day", int(np.argmax(wrong)))
    return np.where(entry.empty, NEVER, days * DAY + clock)


def _to_utc(entry: _Text, values: np.ndarray) -> tuple[np.ndarray, set[str]]:
    if "z" not in (entry.groups or {}):
        return values, set()
    zones = pc.fill_null((entry.groups or {})["z"], "").to_numpy(zero_copy_only=False)
    without = (zones == "") & ~entry.empty
    if not (zones != "").any():
        return values, set()
    if without.any():
        raise entry.error(
            "times must all have a zone or none; others here have one",
            int(np.argmax(without)),
            "add the zone, or leave it out everywhere",
        )
    offsets = {zone: _offset(entry, zone, zones) for zone in set(zones) if zone}
    shift = np.array([offsets.get(zone, 0) for zone in zones], dtype=np.int64)
    return np.where(entry.empty, NEVER, values - shift * MICROSECONDS), set(offsets)


def _offset(entry: _Text, zone: str, zones: np.ndarray) -> int:
    """Seconds ahead of UTC."""
    digits = zone[1:].replace(":", "")
    if not digits.isdigit():
        return 0
    hours, minutes = int(digits[:2]), int(digits[2:] or 0)
    if hours > 14 or minutes > 59:
        raise entry.error(
            "has an offset from UTC that does not exist", int(np.argmax(zones == zone))
        )
    return (hours * 60 + minutes) * (-60 if zone[0] == "-" else 60)


def _check_alike(sources: list[tuple[Sheet, str, bool]], read: list[Times]) -> None:
    first_sheet, first_column, _ = sources[0]
    for (sheet, column, _), times in zip(sources, read, strict=True):
        this, start = _nature(times), _nature(read[0])
        if this != start:
            raise sheet.error(
                f"holds {this}, but column {first_column!r} of {first_sheet.name} holds {start}",
                column=column,
                fix="write both in one form",
            )


def _nature(times: Times) -> str:
    if times.kind == "index":
        return "whole numbers"
    return "times with a zone" if times.aware else "times without a zone"


def _to_numpy(mask: Any) -> np.ndarray:
    return np.asarray(mask.to_numpy(zero_copy_only=False), dtype=bool)


_EMPTY = pa.array(["", "nan", "nat", "null", "none", "na", "n/a", "<na>"])
_FORM_NAMES = {"written": "date", "month_first": "month", "quarter_first": "quarter"}
_WORDS = {
    "date": "a date (year first)",
    "written": "a date (year last)",
    "month": "a month",
    "month_first": "a month",
    "quarter": "a quarter",
    "quarter_first": "a quarter",
    "integer": "a whole number",
}
_WHOLE_WORDS = {
    "year": "whole numbers from 1600 to 2199, read as years",
    "yearmonth": "six digits, all a valid year and month, read as months",
    "day": "eight digits, all valid dates, read as dates",
    "seconds": "ten digits, read as seconds since 1970 in UTC",
    "milliseconds": "thirteen digits, read as milliseconds since 1970 in UTC",
    "index": "whole numbers, read as an index",
}
_ACCEPTED = (
    "write 2024-01-31, 2024-01-31 13:00, 2024-01, 2024Q1, 2024 or a whole number; "
    "years have four digits"
)
