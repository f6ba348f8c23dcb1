"""Forecast tables: read, check, decide, and yield cases."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from timevista_hf.cases import ForecastCase
from timevista_hf.io._axis import AXES, find_axis, rate_evenness, season_length_of
from timevista_hf.io._cases import Labels, LineStore, RowStore, Store
from timevista_hf.io._convert import convert_labels, convert_rows, name_series
from timevista_hf.io._lines import Line, read_windows, window_cases
from timevista_hf.io._open import file_decisions, open_table
from timevista_hf.io._roles import Columns, Roles, find_roles
from timevista_hf.io._sheet import Sheet, complain, hint
from timevista_hf.io._source import Source
from timevista_hf.io._times import NEVER, Times, read_times
from timevista_hf.io._windows import (
    Rows,
    check_duplicates,
    find_windows,
    pool_observations,
)


class ForecastTable:
    """Forecasts that were read and checked; what `read_forecasts` returns.

    Attributes
    ----------
    models : tuple of str
        The models, in the order of their columns.
    decisions : dict
        Everything that was decided on the way, fit for JSON: what the files are, the role of
        every column, how times and numbers are read, the axis and the step, and counts.
    """

    models: tuple[str, ...]
    decisions: dict[str, Any]

    def __init__(self, store: Store, decisions: dict[str, Any]) -> None:
        self._store = store
        self.models = store.models
        self.decisions = decisions

    def __len__(self) -> int:
        return len(self._store)

    def cases(
        self, models: Sequence[str] | None = None, limit: int | None = None
    ) -> Iterator[ForecastCase]:
        """Build cases lazily, all models of a window one after another.

        Parameters
        ----------
        models : sequence of str, optional
            Only these, in this order.
        limit : int, optional
            Only the first so many windows, ≥ 0.

        Raises
        ------
        ValueError
            For an unknown model or a negative limit.
        """
        chosen = self.models if models is None else tuple(models)
        for model in chosen:
            if model not in self.models:
                raise ValueError(f"unknown model {model!r}; {hint(model, self.models)}")
        if limit is not None and limit < 0:
            raise ValueError(f"`limit` must not be negative, got {limit!r}")
        count = len(self) if limit is None else min(limit, len(self))
        return chain.from_iterable(self._store.window(index, chosen) for index in range(count))


def read_forecasts(
    path: str | Path,
    *,
    actuals: str | Path | None = None,
    columns: Columns = Columns(),  # noqa: B008
    delimiter: str | None = None,
    decimal: str | None = None,
    day_first: bool | None = None,
    season_length: int | None = None,
) -> ForecastTable:
    r"""Read forecasts with their history and truth; the layouts are in `timevista_hf.io`.

    Parameters
    ----------
    path : str or Path
        Delimited text, Parquet or JSON Lines, also compressed with gzip.
    actuals : str or Path, optional
        A second table with the observed values, joined on series and time.
    columns : Columns, optional
        Names of columns that do not tell their role.
    delimiter : str, optional
        One character; by default decided by the header.
    decimal : {".", ","}, optional
        By default decided by all numbers of a file together.
    day_first : bool, optional
        Whether 1/2/2024 is in February; by default decided by the whole column.
    season_length : int, optional
        Steps in a season, ≥ 1; by default that of the frequency.

    Returns
    -------
    ForecastTable

    Raises
    ------
    ValueError
        For anything that cannot be read in one way only; the message names the file, the row
        (in text files the line, counted from 1), the column, the rule, the value, and what to do.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "forecasts.csv"
    >>> _ = path.write_text("ds,y,ets\n2024-01-01,1,\n2024-01-02,2,\n2024-01-03,3,3\n"
    ...                     "2024-01-04,4,3\n")
    >>> table = read_forecasts(path)
    >>> [case] = table.cases()
    >>> case.history.tolist(), case.truth.tolist(), case.prediction.tolist()
    ([1.0, 2.0], [3.0, 4.0], [3.0, 3.0])
    >>> table.decisions["freq"]
    'D'
    """
    _check_options(delimiter, decimal, season_length)
    opened = open_table(path, delimiter)
    if not isinstance(opened, Sheet):
        if actuals is not None:
            raise complain(opened[0].name, "lines with arrays hold their own truth", fix=_ALONE)
        return _table_of_lines(*opened, columns, season_length)
    known = None if actuals is None else open_table(actuals, delimiter)
    if known is not None and not isinstance(known, Sheet):
        raise complain(known[0].name, "actuals have one row a step, not arrays", fix=_ROWS)
    return _table_of_rows(opened, known, columns, decimal, day_first, season_length)


def _table_of_rows(
    sheet: Sheet,
    known: Sheet | None,
    columns: Columns,
    decimal: str | None,
    day_first: bool | None,
    season_length: int | None,
) -> ForecastTable:
    sheets = [sheet] if known is None else [sheet, known]
    roles = _all_roles(sheet, known, columns)
    numbers = [
        convert_rows(each, role, decimal, first=each is sheet, named=columns.models is not None)
        for each, role in zip(sheets, roles, strict=True)
    ]
    if known is None and numbers[0].target is None:
        raise sheet.error(_NO_TRUTH, value=list(sheet.columns), fix=_NAME_TRUTH)
    ids, names, note = name_series(sheets, roles)
    times = _read_all_times(sheets, [role.known for role in roles], ids, day_first)
    said = {
        role: convert_labels(sheet, roles[0].get(role), ids[0], names)
        for role in ("freq", "dataset", "unit")
    }
    for each in sheets:
        each.columns.clear()  # the text is as large as the numbers, and all of it is read
    parts = [
        Rows(each, id_, time, cutoff, number.target, number.predictions, number.target_column)
        for each, id_, (time, cutoff), number in zip(sheets, ids, times, numbers, strict=True)
    ]
    store = _store(parts, names, said, season_length)
    decisions = {
        **numbers[0].decisions,
        **_decisions(parts, store, [note] if note else []),
        "actuals": None if known is None else numbers[1].decisions,
    }
    return ForecastTable(store, decisions)


def _all_roles(sheet: Sheet, known: Sheet | None, columns: Columns) -> list[Roles]:
    if known is None:
        return [find_roles(sheet, columns)]
    return [
        find_roles(sheet, columns, elsewhere=list(known.columns)),
        find_roles(known, replace(columns, models=None), elsewhere=list(sheet.columns)),
    ]


def _store(
    parts: list[Rows],
    names: list[str],
    said: dict[str, list[str | None]],
    season_length: int | None,
) -> RowStore:
    for part in parts:
        check_duplicates(part, names)
    seen = pool_observations(parts, names)
    windows = find_windows(parts[0], seen, names)
    axis = find_axis(seen.times, seen.starts[:-1], parts[0].times.kind)
    freq = [own or found for own, found in zip(said["freq"], axis.freqs, strict=True)]
    seasons = {name: season_length or season_length_of(name) for name in set(freq)}
    labels = Labels(names, freq, said["dataset"], said["unit"], [seasons[name] for name in freq])
    return RowStore(windows, seen, axis, labels, parts[0].cutoffs)


def _read_all_times(
    sheets: list[Sheet],
    roles: list[dict[str, str]],
    ids: list[np.ndarray],
    day_first: bool | None,
) -> list[tuple[Times, Times | None]]:
    """Read the times and cutoffs of all files together, the times of a file first."""
    sources = []
    for sheet, known in zip(sheets, roles, strict=True):
        sources.append((sheet, known["time"], False))
        if "cutoff" in known:
            sources.append((sheet, known["cutoff"], True))

    def steady(sheet: Sheet, values: np.ndarray) -> int:
        own = ids[[each is sheet for each in sheets].index(True)]
        kept = (own >= 0) & (values != NEVER)
        return rate_evenness(own[kept], values[kept]) if kept.any() else 0

    read = iter(read_times(sources, day_first=day_first, steady=steady))
    return [(next(read), next(read) if "cutoff" in known else None) for known in roles]


def _decisions(parts: list[Rows], store: RowStore, notes: list[str]) -> dict[str, Any]:
    times, windows, axis, labels = parts[0].times, store.windows, store.axis, store.labels
    cases = sum(int(present.sum()) for present in windows.present.values())
    for part in parts:
        for read in (part.times, part.cutoffs):
            notes = notes + [f"{part.sheet.name}, {note}" for note in (read.notes if read else ())]
    return {
        "models": list(windows.predictions),
        "time": {
            "form": times.form,
            "day_first": times.day_first,
            "zone": "UTC" if times.aware else None,
        },
        "axis": _one_or_counts([AXES[kind] for kind in axis.axes.tolist()]),
        "freq": _one_or_counts(labels.freq),
        "season_length": _one_or_counts(labels.season_length),
        "duplicates": 0,
        "missing_steps": axis.missing,
        "predicted_rows_without_truth": int(np.isnan(store.seen.target[windows.slots]).sum()),
        "windows_without_a_model": len(store) * len(store.models) - cases,
        "series": len(labels.names),
        "windows": len(store),
        "cases": cases,
        "notes": notes,
    }


def _table_of_lines(
    source: Source, lines: list[Line], columns: Columns, season_length: int | None
) -> ForecastTable:
    windows = read_windows(lines, source.name, columns)
    models = columns.models or tuple(dict.fromkeys(chain(*(w.predictions for w in windows))))
    seasons = [
        season_length or window.season_length or season_length_of(window.labels["freq"])
        for window in windows
    ]
    cases = 0
    for window, season in zip(windows, seasons, strict=True):
        # Built once to be checked; the arrays are kept, the cases are not.
        cases += sum(1 for _ in window_cases(window, source.name, season, models))
    decisions = {
        **file_decisions(source),
        "rows": len(lines),
        "columns": {role: key for window in windows for role, key in window.roles.items()},
        "models": list(models),
        "axis": "position",
        "freq": _one_or_counts([window.labels["freq"] for window in windows]),
        "season_length": _one_or_counts(seasons),
        "ignored_columns": sorted({key for window in windows for key in window.ignored}),
        "quantile_columns": sorted({key for window in windows for key in window.quantiles}),
        "series": len({window.id for window in windows}),
        "windows": len(windows),
        "cases": cases,
        "notes": [],
    }
    return ForecastTable(LineStore(windows, source.name, seasons, models), decisions)


def _one_or_counts(values: Sequence[Any]) -> Any:
    """Give the value all share, or how many there are of each."""
    counts = Counter(values)
    if len(counts) == 1:
        return next(iter(counts))
    return {str(value): count for value, count in counts.most_common()}


def _check_options(delimiter: str | None, decimal: str | None, season_length: int | None) -> None:
    if delimiter is not None and (len(delimiter) != 1 or delimiter in '"\r\n'):
        raise ValueError(f"`delimiter` must be one character and no quote, got {delimiter!r}")
    if decimal not in (None, ".", ","):
        raise ValueError(f"`decimal` must be '.' or ',', got {decimal!r}")
    if season_length is not None and season_length < 1:
        raise ValueError(f"`season_length` must be at least 1, got {season_length!r}")


_ALONE = "leave out --actuals, or write one row a step"
_ROWS = 'write {"id": …, "ds": …, "y": …} a line'
_NO_TRUTH = "no column holds the truth (y, target, actual, truth, value or observed)"
_NAME_TRUTH = "name it with --target-column, or pass the observed values with --actuals"
