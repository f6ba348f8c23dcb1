"""Judgments as a Parquet file: one row each, streamed, read back exactly."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import fields
from itertools import islice
from pathlib import Path
from typing import Any, get_args

import pyarrow as pa
import pyarrow.parquet as pq

from timevista_hf.io._write import write_atomically
from timevista_hf.rubrics import Judgment, Level, Status

ROW_GROUP = 10_000


def write_judgments(path: str | Path, judgments: Iterable[Judgment]) -> None:
    """Write judgments to a Parquet file, atomically, holding one row group in memory.

    Parameters
    ----------
    path : str or Path
    judgments : iterable of Judgment
        May be a generator; none at all gives a file without rows.

    Raises
    ------
    ValueError
        Where the folder of `path` does not exist, or a field does not hold what it should.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "judgments.parquet"
    >>> write_judgments(path, [])
    >>> list(read_judgments(path))
    []
    """
    stream = iter(judgments)
    with (
        write_atomically(path) as temporary,
        pq.ParquetWriter(temporary, _SCHEMA, compression="zstd") as writer,
    ):
        while group := list(islice(stream, ROW_GROUP)):
            writer.write_table(_table(group, str(path)))


def read_judgments(path: str | Path) -> Iterator[Judgment]:
    """Read the judgments that `write_judgments` wrote, in their order.

    Parameters
    ----------
    path : str or Path
        Columns that a judgment does not have are passed over.

    Returns
    -------
    iterator of Judgment
        Lazy; the file is checked before the first is asked for.

    Raises
    ------
    ValueError
        Where there is no such file, it is no Parquet file, or it lacks a field of `Judgment`.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "judgments.parquet"
    >>> write_judgments(path, [])
    >>> [judgment.score for judgment in read_judgments(path)]
    []
    """
    name = Path(path).name
    try:
        file = pq.ParquetFile(path)
    except (pa.ArrowException, OSError) as error:
        raise ValueError(
            f"{name}: cannot be read as a Parquet file of judgments: {error}"
        ) from error
    for field in _SCHEMA:
        position = file.schema_arrow.get_field_index(field.name)
        if position < 0:
            raise ValueError(f"{name}: a file of judgments needs the column {field.name!r}")
        if file.schema_arrow.field(position).type != field.type:
            raise ValueError(
                f"{name}, column {field.name!r}: must be {field.type}, "
                f"got {file.schema_arrow.field(position).type}"
            )
    return _stream(file, name)


def _stream(file: Any, name: str) -> Iterator[Judgment]:
    with file:
        row = 0
        for batch in file.iter_batches(batch_size=ROW_GROUP, columns=_SCHEMA.names):
            for entry in batch.to_pylist():
                row += 1
                yield _judgment(entry, f"{name}, row {row}")


def _judgment(entry: dict[str, Any], place: str) -> Judgment:
    for name, known in (("status", get_args(Status)), ("level", get_args(Level))):
        if entry[name] not in known:
            raise ValueError(
                f"{place}, column {name!r}: must be one of {', '.join(known)}, got {entry[name]!r}"
            )
    entry["breaches"] = tuple(entry["breaches"])
    return Judgment(**entry)


def _table(group: list[Judgment], place: str) -> Any:
    columns = {name: [getattr(entry, name) for entry in group] for name in _SCHEMA.names}
    try:
        return pa.table(columns, schema=_SCHEMA)
    except (pa.ArrowException, TypeError, OverflowError) as error:
        raise ValueError(f"{place}: a judgment cannot be written: {error}") from error


def _type(annotation: str) -> Any:
    plain = annotation.removesuffix(" | None")
    known = {"int": pa.int64(), "float": pa.float64(), "tuple[str, ...]": pa.list_(pa.string())}
    return known.get(plain, pa.string())


_SCHEMA = pa.schema(
    [
        pa.field(field.name, _type(str(field.type)), nullable=str(field.type).endswith("None"))
        for field in fields(Judgment)
    ]
)
