"""One file to one sheet, whatever its format."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from timevista_hf.io._delimited import read_delimited
from timevista_hf.io._lines import Line, holds_windows, lines_to_sheet, read_lines
from timevista_hf.io._sheet import Sheet, complain
from timevista_hf.io._source import Source, read_source


def open_table(path: str | Path, delimiter: str | None) -> Sheet | tuple[Source, list[Line]]:
    """Read a file as columns, or as lines where each is a window with arrays."""
    source = read_source(path)
    if source.format == "jsonl":
        lines = read_lines(source)
        if holds_windows(lines, source.name):
            return source, lines
        sheet = lines_to_sheet(lines, source.name)
    elif source.format == "parquet":
        sheet = _read_parquet(source)
    else:
        sheet = read_delimited(path, source, delimiter)
    if sheet.rows == 0:
        raise complain(source.name, "holds no rows")
    sheet.decisions.update(file_decisions(source))
    return sheet


def file_decisions(source: Source) -> dict[str, Any]:
    """Say what a file is, for the decisions of a table."""
    return {
        "file": source.name,
        "format": source.format,
        "compression": source.compression,
        "encoding": source.encoding,
    }


def _read_parquet(source: Source) -> Sheet:
    try:
        table = pq.ParquetFile(pa.BufferReader(source.data)).read()
    except (pa.ArrowException, OSError, ValueError, TypeError) as error:
        raise complain(source.name, f"is a damaged Parquet file: {error}") from error
    names = [str(name).strip() for name in table.column_names]
    for name in names:
        if names.count(name) > 1:
            raise complain(source.name, "two columns have this name", column=name)
    columns = {
        name: table.column(position)
        for position, name in enumerate(names)
        if name and not name.startswith(("__index_level_", "Unnamed: "))
    }
    dropped = len(names) - len(columns)
    return Sheet(
        source.name,
        columns,
        lambda positions: [position + 1 for position in positions],
        {"unnamed_columns_dropped": dropped},
    )
