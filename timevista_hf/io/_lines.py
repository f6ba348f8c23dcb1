"""JSON Lines: one row a line, or one window a line with its steps as arrays."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
import pyarrow as pa

from timevista_hf.cases import ForecastCase
from timevista_hf.io._numbers import MISSING, NUMBER
from timevista_hf.io._roles import ROLES, Columns, is_quantile
from timevista_hf.io._sheet import Sheet, complain, hint
from timevista_hf.io._source import Source


@dataclass(frozen=True, eq=False)
class Line:
    """One object of the file, numbers still as they are written there."""

    row: int
    values: dict[str, Any]


def read_lines(source: Source) -> list[Line]:
    """Parse every line that is not blank."""
    text = io.StringIO(source.data.decode("utf-8"))
    return [
        Line(row, _parse(line, row, source.name))
        for row, line in enumerate(text, start=1)
        if line.strip()
    ]


def holds_windows(lines: list[Line], name: str) -> bool:
    """Tell whether the lines are windows with arrays; a mixture is an error."""
    kinds = [
        any(isinstance(value, list | dict) for value in line.values.values()) for line in lines
    ]
    if len(set(kinds)) > 1:
        odd = lines[kinds.index(not kinds[0])]
        other = "arrays" if kinds[0] else "single values"
        raise complain(
            name, f"lines must be of one kind; row {lines[0].row} holds {other}", row=odd.row
        )
    return kinds[0]


def lines_to_sheet(lines: list[Line], name: str) -> Sheet:
    """Turn lines of single values into columns of text."""
    names = list(dict.fromkeys(key for line in lines for key in line.values))
    columns = {key: [_cell(line.values.get(key)) for line in lines] for key in names}
    rows = [line.row for line in lines]
    try:
        table = {
            key: pa.chunked_array([pa.array(cells, pa.string())]) for key, cells in columns.items()
        }
    except UnicodeEncodeError as error:
        raise complain(name, f"holds text that is not Unicode: {error}") from error
    return Sheet(name, table, lambda positions: [rows[position] for position in positions], {})


@dataclass(frozen=True, eq=False)
class LineWindow:
    """One line's arrays, not yet a case for each model."""

    row: int
    id: str
    cutoff: str | None
    history: np.ndarray  # [T]
    truth: np.ndarray  # [H]
    predictions: dict[str, np.ndarray]  # each [H]
    labels: dict[str, str | None]  # freq, dataset, unit
    season_length: int | None
    roles: dict[str, str]  # role to key
    ignored: tuple[str, ...]
    quantiles: tuple[str, ...]


def read_windows(lines: list[Line], name: str, columns: Columns) -> list[LineWindow]:
    """Read each line as a window and check that no two are the same."""
    windows = [_window(line, name, columns, alone=len(lines) == 1) for line in lines]
    seen: dict[tuple[str, str | None], int] = {}
    for window in windows:
        key = (window.id, window.cutoff)
        if key in seen:
            raise complain(
                name,
                f"series {window.id!r}, cutoff {window.cutoff}: rows {seen[key]} and "
                f"{window.row} hold the same window",
                fix="give each window its own `cutoff`",
            )
        seen[key] = window.row
    models = {model for window in windows for model in window.predictions}
    others = {key for window in windows for key in (*window.ignored, *window.quantiles)}
    for model in columns.models or ():
        if model not in models:
            known = hint(model, sorted(models | others))
            raise complain(name, f"no line holds the model {model!r}; {known}")
    return windows


def window_cases(
    window: LineWindow, name: str, season_length: int | None, models: tuple[str, ...]
) -> Iterator[ForecastCase]:
    """Build the window's cases, in the order of `models`."""
    for model in models:
        if model not in window.predictions:
            continue
        try:
            yield ForecastCase(
                id=window.id,
                history=window.history,
                truth=window.truth,
                prediction=window.predictions[model],
                model=model,
                cutoff=window.cutoff,
                season_length=season_length,
                **window.labels,
            )
        except ValueError as error:
            raise complain(name, str(error), row=window.row) from error


def _cell(value: Any) -> str | None:
    return str(value).lower() if isinstance(value, bool) else value


def _window(line: Line, name: str, columns: Columns, *, alone: bool) -> LineWindow:
    roles = {role: _key(line, role, name, columns) for role in ("id", "target", "cutoff", *_LABELS)}
    values = line.values
    if roles["id"] is None and not alone:
        raise complain(name, "every window needs an id", row=line.row, fix="add the key 'id'")
    if "history" not in values:
        raise complain(name, "a window needs the key 'history'", row=line.row, value=list(values))
    if roles["target"] is None:
        raise complain(name, "a window needs the key 'truth'", row=line.row, value=list(values))
    taken = {role for role in roles.values() if role}
    predictions = _predictions(line, name, columns, taken)
    taken |= {"history", "predictions", "season_length", *predictions}
    rest = [key for key in (*values, *_nested(line, name)) if key not in taken]
    quantiles = tuple(key for key in rest if is_quantile(key))
    return LineWindow(
        row=line.row,
        id=name.partition(".")[0] if roles["id"] is None else _text(line, roles["id"], name) or "",
        cutoff=_text(line, roles["cutoff"], name),
        history=_floats(line, "history", values["history"], name),
        truth=_floats(line, roles["target"], values[roles["target"]], name),
        predictions={
            model: _floats(line, model, array, name) for model, array in predictions.items()
        },
        labels={role: _text(line, roles[role], name) for role in _LABELS},
        season_length=_season(line, name),
        roles={"history": "history", **{role: key for role, key in roles.items() if key}},
        ignored=tuple(key for key in rest if key not in quantiles),
        quantiles=quantiles,
    )


def _key(line: Line, role: str, name: str, columns: Columns) -> str | None:
    said: str | None = getattr(columns, role)
    if said is not None:
        if said not in line.values:
            raise complain(name, f"no key {said!r}; {hint(said, line.values)}", row=line.row)
        return said
    found = [key for key in line.values if key.casefold() in ROLES[role]]
    if len(found) > 1:
        raise complain(
            name, f"{' and '.join(map(repr, found))} may both be the {role}", row=line.row
        )
    return found[0] if found else None


def _predictions(line: Line, name: str, columns: Columns, taken: set[str]) -> dict[str, Any]:
    nested = _nested(line, name)
    beside = {
        key: value
        for key, value in line.values.items()
        if isinstance(value, list) and key not in {*taken, "history", "predictions"}
    }
    found = {
        model: array
        for model, array in {**beside, **nested}.items()
        if (model in columns.models if columns.models else not is_quantile(model))
    }
    if not found and not columns.models:
        raise complain(
            name,
            "a window needs a model's steps",
            row=line.row,
            value=list(line.values),
            fix='add them as "predictions": {"model": […]}',
        )
    return found


def _nested(line: Line, name: str) -> dict[str, Any]:
    nested = line.values.get("predictions", {})
    if isinstance(nested, list):
        return {"predictions": nested}
    if not isinstance(nested, dict):
        rule = "must map each model to its steps"
        raise complain(name, rule, row=line.row, column="predictions", value=nested)
    return nested


def _text(line: Line, key: str | None, name: str) -> str | None:
    value = None if key is None else line.values[key]
    if value is not None and not isinstance(value, str):
        raise complain(name, "must be a text or a number", row=line.row, column=key, value=value)
    return value or None


def _floats(line: Line, key: str, array: Any, name: str) -> np.ndarray:
    if not isinstance(array, list):
        raise complain(name, "must be an array of numbers", row=line.row, column=key, value=array)
    steps = np.array([_float(entry) for entry in array], dtype=np.float64)
    if np.isinf(steps).any():
        step = int(np.flatnonzero(np.isinf(steps))[0])
        rule = f"step {step + 1} must be a finite number"
        raise complain(name, rule, row=line.row, column=key, value=array[step])
    return steps


def _float(entry: Any) -> float:
    """Read a number, NaN for a missing one, infinity for what is no number either."""
    if entry is None:
        return np.nan
    if not isinstance(entry, str):
        return np.inf
    if entry.strip().lower() in MISSING:
        return np.nan
    return float(entry) if re.fullmatch(NUMBER, entry.strip()) else np.inf


def _season(line: Line, name: str) -> int | None:
    value = line.values.get("season_length")
    if value is None:
        return None
    if not isinstance(value, str) or not re.fullmatch(r"0*[1-9]\d{0,8}", value):
        rule = "must be a whole number of at least 1"
        raise complain(name, rule, row=line.row, column="season_length", value=value)
    return int(value)


def _parse(line: str, row: int, name: str) -> dict[str, Any]:
    def refuse(token: str) -> str:
        return "nan" if token == "NaN" else token

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        entries = dict(pairs)
        if len(entries) < len(pairs):
            twice = next(key for key, _ in pairs if [k for k, _ in pairs].count(key) > 1)
            raise complain(name, "one object holds this key twice", row=row, column=twice)
        return entries

    try:
        value = json.loads(
            line, parse_float=str, parse_int=str, parse_constant=refuse, object_pairs_hook=unique
        )
    except (json.JSONDecodeError, RecursionError) as error:
        _not_json(line, row, name, error)
    if not isinstance(value, dict):
        raise complain(name, "every line must be one JSON object", row=row, value=value)
    return value


def _not_json(line: str, row: int, name: str, error: Exception) -> NoReturn:
    whole = "" if row > 1 else "; JSON over several lines is not read: write one object a line"
    raise complain(
        name, f"is not a JSON object: {error}{whole}", row=row, value=line.strip()
    ) from error


_LABELS = ("freq", "dataset", "unit")
