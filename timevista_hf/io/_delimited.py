"""Delimited text to columns of text."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv

from timevista_hf.io._sheet import Sheet, complain
from timevista_hf.io._source import Source, read_source

DELIMITERS = {",": "','", ";": "';'", "\t": "TAB", "|": "'|'"}
BLOCK = 1 << 24  # bytes; a record is never longer


def read_delimited(path: str | Path, source: Source, delimiter: str | None) -> Sheet:
    """Read every cell as text; the header is the first line that is not blank."""
    header, chosen = _header(source, delimiter)
    table = _parse(source, chosen, len(header))
    if table.num_rows == 1:
        raise complain(source.name, "has a header but no rows")
    names = _column_names(header, table, source.name)
    return Sheet(
        name=source.name,
        columns={
            name: table.column(position).slice(1)
            for position, name in enumerate(names)
            if name is not None
        },
        locate=partial(_line_numbers, path, chosen),
        decisions={"delimiter": chosen, "unnamed_columns_dropped": names.count(None)},
    )


def _header(source: Source, delimiter: str | None) -> tuple[list[str], str]:
    sample = source.data[: 1 << 20].decode("utf-8", "ignore")
    whole = len(source.data) <= 1 << 20
    records = {
        mark: _records(sample, mark, source.name, whole)
        for mark in ([delimiter] if delimiter else DELIMITERS)
    }
    candidates = {mark: rows for mark, rows in records.items() if len(rows[0]) > 1}
    if not candidates:
        first = next(iter(records.values()))[0]
        sought = DELIMITERS.get(delimiter, repr(delimiter)) if delimiter else "any of , ; TAB |"
        raise complain(
            source.name,
            f"the header must have several fields, but {sought} splits nothing",
            value=first[0] if first else "",
            fix="name the delimiter with --delimiter",
        )
    chosen = _choose(candidates, source.name)
    return [name.strip() for name in candidates[chosen][0]], chosen


def _choose(candidates: dict[str, list[list[str]]], name: str) -> str:
    even = {mark: rows for mark, rows in candidates.items() if len({len(row) for row in rows}) == 1}
    counts = {mark: len(rows[0]) for mark, rows in (even or candidates).items()}
    best = [mark for mark, count in counts.items() if count == max(counts.values())]
    if len(best) > 1:
        marks = " or ".join(DELIMITERS.get(mark, repr(mark)) for mark in best)
        raise complain(
            name, f"the delimiter may be {marks}", fix="name the delimiter with --delimiter"
        )
    return best[0]


def _records(sample: str, delimiter: str, name: str, whole: bool) -> list[list[str]]:
    reader = csv.reader(io.StringIO(sample, newline=""), delimiter=delimiter)
    try:
        rows = list(islice((row for row in reader if row), 21))
    except csv.Error as error:
        raise complain(name, f"cannot be read as delimited text: {error}") from error
    # The sample may end within a record.
    return rows if whole or len(rows) < 2 or len(rows) == 21 else rows[:-1]


def _parse(source: Source, delimiter: str, width: int) -> Any:
    names = [str(position) for position in range(width)]
    try:
        return pacsv.read_csv(
            pa.py_buffer(source.data),
            read_options=pacsv.ReadOptions(column_names=names, block_size=BLOCK),
            parse_options=pacsv.ParseOptions(
                delimiter=delimiter, newlines_in_values=b'"' in source.data
            ),
            convert_options=pacsv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False
            ),
        )
    except (pa.ArrowException, pa.ArrowInvalid, OSError) as error:
        raise _ragged(source, delimiter, width, str(error)) from error


def _ragged(source: Source, delimiter: str, width: int, cause: str) -> ValueError:
    reader = csv.reader(
        io.StringIO(source.data.decode("utf-8"), newline=""), delimiter=delimiter, strict=True
    )
    line = 1
    try:
        for row in reader:
            if row and len(row) != width:
                rule = f"every row needs the header's {width} fields"
                return complain(
                    source.name, f"{rule}, this one has {len(row)}", row=line, value=row[0]
                )
            line = reader.line_num + 1
    except csv.Error as error:
        return complain(
            source.name, f"cannot be read as delimited text: {error}", row=line, fix=_QUOTES
        )
    return complain(source.name, f"cannot be read as delimited text: {cause}", fix=_QUOTES)


def _column_names(header: list[str], table: Any, name: str) -> list[str | None]:
    """Names by position, None for an unnamed column that is dropped."""
    names: list[str | None] = list(header)
    for position, column in enumerate(header):
        if header.count(column) > 1 and column:
            raise complain(
                name, "two columns have this name", column=column, fix="name every column once"
            )
        if column and not column.startswith("Unnamed: "):
            continue
        # An index column is written first; spreadsheets leave empty ones behind the last.
        if position > 0 and not pc.all(pc.equal(table.column(position).slice(1), "")).as_py():
            raise complain(
                name, f"column {position + 1} has no name", fix="name it or leave it out"
            )
        names[position] = None
    return names


def _line_numbers(path: str | Path, delimiter: str, positions: Sequence[int]) -> list[int]:
    """Lines at which records start; read again, since only errors need them."""
    text = io.StringIO(read_source(path).data.decode("utf-8"), newline="")
    reader = csv.reader(text, delimiter=delimiter)
    wanted, found = set(positions), {}
    line, record = 1, -1  # the header is record -1
    for row in reader:
        if row and record in wanted:
            found[record] = line
            if len(found) == len(wanted):
                break
        record += bool(row)
        line = reader.line_num + 1
    return [found[position] for position in positions]


_QUOTES = 'check the quotes: a quoted cell ends with ", and a quote within it is written ""'
