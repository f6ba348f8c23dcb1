"""Text to float64: one decimal mark a file, thousands in groups of three, nothing else."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from timevista_hf.io._sheet import Sheet, first

MISSING = frozenset({"", "na", "nan", "null", "none", "-", "n/a", "#n/a", "<na>"})
NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"


def choose_decimal(sheet: Sheet, names: Iterable[str], decimal: str | None) -> str:
    """Decide the file's decimal mark from all its numbers together.

    Raises
    ------
    ValueError
        Where cells contradict each other, or every one can be read both ways.
    """
    if decimal is not None:
        return decimal
    columns = [name for name in names if not _is_numeric(sheet.columns[name].type)]
    comma = _search(sheet, columns, _COMMA_IS_DECIMAL, ",")
    point = _search(sheet, columns, _POINT_IS_DECIMAL, ".")
    if comma and point:
        raise sheet.error(
            f"the comma is the decimal mark here, but the point is in row "
            f"{sheet.row(point[1])}, column {point[0]!r} ({point[2]!r})",
            position=comma[1],
            column=comma[0],
            value=comma[2],
            fix="write all numbers alike, or name the mark with --decimal",
        )
    if comma:
        return ","
    open_to_both = None if point else _either(sheet, columns)
    if open_to_both:
        column, position, value = open_to_both
        raise sheet.error(
            "the mark may be a decimal mark or may group thousands",
            position=position,
            column=column,
            value=value,
            fix="name the decimal mark with --decimal",
        )
    return "."


def to_floats(sheet: Sheet, name: str, decimal: str) -> np.ndarray | None:
    """Read a column as float64 of shape (N,), NaN where missing; None where it is all text.

    Raises
    ------
    ValueError
        For a cell that is no number in a column that holds numbers, and for an infinite one.
    """
    cells = sheet.columns[name]
    if _is_numeric(cells.type):
        values = pc.fill_null(cells.cast(pa.float64(), safe=False), np.nan)
    else:
        text = sheet.text(name)
        values = _cast_plain(text) if decimal == "." else None
        if values is None:
            values = _cast_written(sheet, name, text, decimal)
        if values is None:
            return None
    infinite = first(pc.is_inf(values))
    if infinite is not None:
        raise sheet.error(
            "must be a finite number",
            position=infinite,
            column=name,
            value=sheet.columns[name][infinite].as_py(),
            fix="leave the cell empty where there is no value",
        )
    return np.asarray(values.to_numpy(), dtype=np.float64)


def _cast_plain(text: Any) -> Any:
    """Cast cells that are plain numbers or empty; None where there is any other."""
    try:
        values = pc.if_else(pc.equal(text, ""), None, text).cast(pa.float64())
    except pa.ArrowInvalid:
        return None
    # The cast reads `nan(abc)` as well.
    odd = pc.is_nan(values)
    if pc.any(odd).as_py() and not pc.all(_is_missing(text.filter(odd))).as_py():
        return None
    return pc.fill_null(values, np.nan)


def _cast_written(sheet: Sheet, name: str, text: Any, decimal: str) -> Any:
    text = pc.utf8_trim_whitespace(text)
    plain = _swap_marks(text) if decimal == "," else text
    grouped = pc.match_substring_regex(plain, _GROUPED)
    plain = pc.if_else(grouped, pc.replace_substring(plain, ",", ""), plain)
    missing = _is_missing(text)
    number = pc.or_(pc.match_substring_regex(plain, f"^{NUMBER}$"), pc.is_in(text, _INFINITE))
    if not pc.any(number).as_py():
        return None
    odd = first(pc.invert(pc.or_(missing, number)))
    if odd is not None:
        raise sheet.error(
            f"must be a number with the decimal mark '{decimal}'",
            position=odd,
            column=name,
            value=text[odd].as_py(),
            fix="leave the cell empty where there is no value; name the decimal mark with "
            "--decimal, or the models with --model to pass over other columns",
        )
    values = pc.if_else(missing, None, plain).cast(pa.float64())
    return pc.fill_null(values, np.nan)


def _swap_marks(text: Any) -> Any:
    marked = pc.replace_substring(text, ",", "\0")
    return pc.replace_substring(pc.replace_substring(marked, ".", ","), "\0", ".")


def _is_missing(text: Any) -> Any:
    lowered = pc.utf8_lower(pc.utf8_trim_whitespace(text))
    return pc.is_in(lowered, pa.array(sorted(MISSING)))


def _is_numeric(kind: Any) -> bool:
    return bool(
        pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
    )


def _search(
    sheet: Sheet, columns: list[str], pattern: str, mark: str
) -> tuple[str, int, str] | None:
    """Column, position and cell of the first match."""
    for name in columns:
        text = sheet.text(name)
        if not pc.any(pc.match_substring(text, mark)).as_py():
            continue
        text = pc.utf8_trim_whitespace(text)
        position = first(pc.match_substring_regex(text, pattern))
        if position is not None:
            return name, position, text[position].as_py()
    return None


def _either(sheet: Sheet, columns: list[str]) -> tuple[str, int, str] | None:
    comma = _search(sheet, columns, _EITHER_COMMA, ",")
    # Programs that separate by a semicolon do so because the comma is their decimal mark.
    if comma is None and sheet.decisions.get("delimiter") == ";":
        return _search(sheet, columns, _EITHER_POINT, ".")
    return comma


_EXPONENT = r"(?:[eE][+-]?\d+)?$"
_GROUPED = rf"^[+-]?\d{{1,3}}(?:,\d{{3}})+(?:\.\d*)?{_EXPONENT}"
_ONLY_DECIMAL = (
    r"^[+-]?(?:\d{1,3}(?:T\d{3})+D\d+|\d*D\d{1,2}|\d*D\d{4,}|0\d*D\d+|\d{4,}D\d+|D\d+"
    r"|\d+D\d{3}(?:[eE][+-]?\d+))"
)
_COMMA_IS_DECIMAL = _ONLY_DECIMAL.replace("T", r"\.").replace("D", ",") + _EXPONENT
_POINT_IS_DECIMAL = (
    "(?:"
    + _ONLY_DECIMAL.replace("T", ",").replace("D", r"\.")
    + _EXPONENT
    + r"|^[+-]?\d{1,3}(?:,\d{3}){2,}$)"
)
_EITHER_COMMA = r"^[+-]?[1-9]\d{0,2},\d{3}$"
_EITHER_POINT = r"^[+-]?[1-9]\d{0,2}\.\d{3}$"
_INFINITE = pa.array(
    [
        sign + word
        for sign in ("", "+", "-")
        for word in ("inf", "Inf", "INF", "infinity", "Infinity")
    ]
)
