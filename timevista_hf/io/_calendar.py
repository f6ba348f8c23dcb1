"""The forms a time is written in, and the calendar behind them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

MICROSECONDS = 1_000_000
DAY = 86_400 * MICROSECONDS


def days_of(year: np.ndarray, month: np.ndarray, day: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Days since 1970, and whether the calendar has such a day."""
    start = ((year - 1970) * 12 + month - 1).astype("datetime64[M]")
    length = (
        (start + np.timedelta64(1, "M")).astype("datetime64[D]") - start.astype("datetime64[D]")
    ).astype(np.int64)
    valid = (month >= 1) & (month <= 12) & (day >= 1) & (day <= length)
    return start.astype("datetime64[D]").astype(np.int64) + day - 1, valid


def clock_of(groups: dict[str, Any], size: int) -> tuple[np.ndarray, np.ndarray]:
    """Microseconds since midnight, and whether a clock shows such a time."""
    hour, minute, second = (part(groups, name, size) for name in "his")
    valid = (hour <= 23) & (minute <= 59) & (second <= 59)
    if "p" in groups:
        half = pc.utf8_lower(pc.fill_null(groups["p"], "")).to_numpy(zero_copy_only=False)
        valid &= (half == "") | ((hour >= 1) & (hour <= 12))
        hour = np.where(half == "", hour, hour % 12 + 12 * (half == "pm"))
    micro = np.zeros_like(hour)
    if "f" in groups:
        padded = pc.utf8_rpad(pc.fill_null(groups["f"], ""), 6, "0")
        micro = pc.utf8_slice_codeunits(padded, 0, 6).cast(pa.int64()).to_numpy()
    return ((hour * 60 + minute) * 60 + second) * MICROSECONDS + micro, valid


def part(groups: dict[str, Any], name: str, size: int, default: int = 0) -> np.ndarray:
    """One group's digits as int64 of shape (size,), `default` where it is absent."""
    if name not in groups:
        return np.full(size, default, dtype=np.int64)
    digits = pc.fill_null(groups[name], "")
    digits = pc.if_else(pc.equal(digits, ""), str(default), digits)
    return np.asarray(digits.cast(pa.int64()).to_numpy(), dtype=np.int64)


def whole_number_form(columns: list[Any], *, counted: bool) -> str:
    """Decide how columns of whole numbers, as text without empty cells, are read.

    Parameters
    ----------
    counted : bool
        Whether a column's name says that steps are counted, so that 2024 is no year.
    """
    for form, pattern in _WHOLE_FORMS.items():
        if counted and form in ("year", "yearmonth"):
            continue
        if all(_all_are(form, pattern, column) for column in columns):
            return form
    return "index"


def whole_values(numbers: np.ndarray, form: str) -> tuple[np.ndarray, np.ndarray]:
    """Values of whole numbers read in a form, and whether there is such a time."""
    valid = np.ones(numbers.shape, dtype=bool)
    if form in TICKS:
        return numbers * TICKS[form], valid
    if form == "index":
        return numbers, valid
    one = np.ones_like(numbers)
    parts = {
        "year": (numbers, one, one),
        "yearmonth": (numbers // 100, numbers % 100, one),
        "day": (numbers // 10_000, numbers // 100 % 100, numbers % 100),
    }
    days, valid = days_of(*parts[form])
    return days * DAY, valid


def _all_are(form: str, pattern: str, column: Any) -> bool:
    if not pc.all(pc.match_substring_regex(column, pattern)).as_py():
        return False
    return bool(whole_values(column.cast(pa.int64()).to_numpy(), form)[1].all())


TICKS = {"seconds": MICROSECONDS, "milliseconds": 1_000}
_CLOCK = r"(?P<h>\d{1,2}):(?P<i>\d{2})(?::(?P<s>\d{2})(?:\.(?P<f>\d{1,9}))?)?"
_HOUR = r"(?P<h>\d{1,2})(?::(?P<i>\d{2})(?::(?P<s>\d{2})(?:\.(?P<f>\d{1,9}))?)?)?"
_ZONE = r"(?:\s*(?P<z>Z|UTC|GMT|[+-]\d{2}(?::?\d{2})?))?"
FORMS = {
    "date": r"^(?P<y>\d{4})[-/.](?P<m>\d{1,2})[-/.](?P<d>\d{1,2})"
    r"(?:[Tt ]\s*" + _HOUR + _ZONE + ")?$",
    "written": r"^(?P<a>\d{1,2})[-/.](?P<b>\d{1,2})[-/.](?P<y>\d{4})"
    r"(?:,?[Tt ]\s*" + _CLOCK + r"(?:\s*(?P<p>[AaPp][Mm]))?" + _ZONE + ")?$",
    "month": r"^(?P<y>\d{4})(?:[-/]|-?M)(?P<m>\d{1,2})$",
    "month_first": r"^(?P<m>\d{1,2})[-/](?P<y>\d{4})$",
    "quarter": r"^(?P<y>\d{4})[- ]?[Qq](?P<q>[1-4])$",
    "quarter_first": r"^[Qq](?P<q>[1-4])[-/ ]?(?P<y>\d{4})$",
    "integer": r"^[+-]?\d{1,18}$",
}
_WHOLE_FORMS = {
    "year": r"^(?:1[6-9]|2[01])\d{2}$",
    "yearmonth": r"^(?:1[6-9]|2[01])\d{2}(?:0[1-9]|1[0-2])$",
    "day": r"^(?:1[6-9]|2[01])\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])$",
    "seconds": r"^\d{10}$",
    "milliseconds": r"^\d{13}$",
}
