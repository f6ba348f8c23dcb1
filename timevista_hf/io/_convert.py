"""Columns of a sheet to series and numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from timevista_hf.io._numbers import choose_decimal, to_floats
from timevista_hf.io._roles import Roles
from timevista_hf.io._sheet import Sheet, encode, first


@dataclass(frozen=True, eq=False)
class Numbers:
    """The numbers of one file, and what was decided about its columns."""

    target: np.ndarray | None  # [N]
    target_column: str | None
    predictions: dict[str, np.ndarray]  # each [N]
    decisions: dict[str, Any]


def convert_rows(
    sheet: Sheet, roles: Roles, decimal: str | None, *, first: bool, named: bool
) -> Numbers:
    """Read the target and the models of the forecasts (`first`), or the target of the actuals.

    Parameters
    ----------
    named : bool
        Whether the caller named the models, so that each must hold numbers.
    """
    target = roles.get("target")
    plain = [name for name in roles.candidates if not pa.types.is_nested(sheet.columns[name].type)]
    wanted = plain if first or target is None else []
    mark = choose_decimal(sheet, [*wanted, *([target] if target else [])], decimal)
    values = {name: to_floats(sheet, name, mark) for name in wanted}
    found = {
        name: array
        for name, array in values.items()
        if array is not None and not np.isnan(array).all()
    }
    if not first and target is None:
        target = _only_column(sheet, list(found))
    truth = None if target is None else found.pop(target, None)
    if truth is None and target is not None:
        truth = _target(sheet, target, mark)
    if first:
        _check_models(sheet, roles, found, named)
    passed_over = [
        *roles.ignored,
        *(name for name in roles.candidates if name not in found and name != target),
    ]
    decisions = {
        **sheet.decisions,
        "rows": sheet.rows,
        "decimal": mark,
        "columns": {**roles.known, **({"target": target} if target else {})},
        "quantile_columns": list(roles.quantiles),
        "ignored_columns": passed_over,
    }
    return Numbers(truth, target, found if first else {}, decisions)


def name_series(
    sheets: list[Sheet], roles: list[Roles]
) -> tuple[list[np.ndarray], list[str], str | None]:
    """Give the series of the forecasts numbers, and -1 to those that only the actuals hold.

    Returns
    -------
    ids : list of int64 arrays of shape (N,), one a file
    names : list of str
    note : str or None
        What is to be said where a file has no column of series.
    """
    columns = [role.get("id") for role in roles]
    if columns[0] is None:
        name = sheets[0].name.partition(".")[0] or "series"
        ids, names = [np.zeros(sheets[0].rows, dtype=np.int64)], [name]
        note = f"{sheets[0].name}: no column of series, read as one series {name!r}"
    else:
        codes, texts = _series(sheets[0], columns[0])
        ids, names, note = [codes], texts.to_pylist(), None
    for sheet, column in zip(sheets[1:], columns[1:], strict=True):
        ids.append(_match_series(sheet, column, sheets[0], columns[0], names))
    return ids, names, note


def convert_labels(
    sheet: Sheet, column: str | None, ids: np.ndarray, names: Sequence[str]
) -> list[str | None]:
    """Read a text that is the same in all rows of a series; one entry a series."""
    found: list[str | None] = [None] * len(names)
    if column is None:
        return found
    codes, texts = encode(sheet.text(column))
    labels = texts.to_pylist()
    pairs, positions = np.unique(ids * len(labels) + codes, return_index=True)
    for pair, position in zip(pairs.tolist(), positions.tolist(), strict=True):
        series, code = divmod(pair, len(labels))
        if not labels[code].strip():
            continue
        if found[series] is not None:
            raise sheet.error(
                f"series {names[series]!r} must have one value here, {found[series]!r} in "
                "another row",
                position=position,
                column=column,
                value=labels[code],
                fix="give series of different kinds different ids",
            )
        found[series] = labels[code].strip()
    return found


def _only_column(sheet: Sheet, numeric: list[str]) -> str:
    if len(numeric) == 1:
        return numeric[0]
    many = f"columns {', '.join(map(repr, numeric))} may all" if numeric else "no column can"
    raise sheet.error(f"{many} hold the observed values", fix="name one with --target-column")


def _target(sheet: Sheet, target: str, mark: str) -> np.ndarray:
    values = to_floats(sheet, target, mark)
    if values is None:
        cell = sheet.text(target)
        position = first(pc.not_equal(cell, ""))
        value = "" if position is None else cell[position].as_py()
        raise sheet.error(
            "the truth must be numbers",
            position=position,
            column=target,
            value=value,
            fix="name another column with --target-column",
        )
    return values


def _check_models(sheet: Sheet, roles: Roles, found: dict[str, np.ndarray], named: bool) -> None:
    for model in roles.candidates if named else ():
        if model not in found:
            raise sheet.error("this model holds no number", column=model)
    if not found:
        hint = " (quantiles are kept apart)" if roles.quantiles else ""
        raise sheet.error(
            f"no column holds a model's predictions{hint}",
            value=list(sheet.columns),
            fix="add a column of numbers for each model",
        )


def _series(sheet: Sheet, column: str) -> tuple[np.ndarray, Any]:
    codes, texts = encode(sheet.text(column))
    blank = first(pc.equal(pc.utf8_trim_whitespace(texts), ""))
    if blank is not None:
        raise sheet.error(
            "every row needs the name of its series",
            position=int(np.flatnonzero(codes == blank)[0]),
            column=column,
            value=texts[blank].as_py(),
        )
    return codes, texts


def _match_series(
    sheet: Sheet, column: str | None, forecasts: Sheet, given: str | None, names: list[str]
) -> np.ndarray:
    if column is None:
        if len(names) > 1:
            raise sheet.error(
                f"no column of series, but {forecasts.name} has {len(names)} of them",
                fix="name the column with --id-column",
            )
        return np.zeros(sheet.rows, dtype=np.int64)
    codes, texts = _series(sheet, column)
    if given is None and len(texts) == 1:
        return np.zeros(sheet.rows, dtype=np.int64)
    if given is None:
        raise sheet.error(
            f"has {len(texts)} series, but {forecasts.name} has no column of series",
            column=column,
            fix="add the column to the forecasts",
        )
    places = pc.fill_null(pc.index_in(texts, pa.array(names, pa.string())), -1)
    matched = np.asarray(places.to_numpy(), dtype=np.int64)
    if (matched < 0).all():
        raise sheet.error(
            f"has no series of {forecasts.name}, which has {names[0]!r}",
            column=column,
            value=texts[0].as_py(),
            fix="write ids alike in both files",
        )
    return np.asarray(matched[codes])
