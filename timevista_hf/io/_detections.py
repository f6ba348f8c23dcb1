"""Detections as a Parquet file or JSON lines: one row each, streamed, read back exactly."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import fields
from itertools import islice
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from timevista_hf.cases import Granularity
from timevista_hf.detection import Detection
from timevista_hf.io._write import write_atomically
from timevista_hf.rubrics import Status

ROW_GROUP = 1_000  # a row holds the reply's text


def write_detections(path: str | Path, detections: Iterable[Detection]) -> None:
    """Write detections atomically, holding one group of rows in memory.

    Parameters
    ----------
    path : str or Path
        JSON lines where it ends in ``.jsonl``, else Parquet.
    detections : iterable of Detection
        May be a generator; none at all gives a file without rows.

    Raises
    ------
    ValueError
        Where the folder of `path` does not exist, or a field does not hold what it should.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "detections.jsonl"
    >>> write_detections(path, [])
    >>> list(read_detections(path))
    []
    """
    stream = iter(detections)
    with write_atomically(path) as temporary:
        write = _write_lines if Path(path).suffix == ".jsonl" else _write_parquet
        write(temporary, iter(lambda: list(islice(stream, ROW_GROUP)), []), str(path))


def read_detections(path: str | Path) -> Iterator[Detection]:
    """Read the detections that `write_detections` wrote, in their order.

    Parameters
    ----------
    path : str or Path
        Parquet or JSON lines, told by the first bytes. What a detection does not have is passed
        over.

    Returns
    -------
    iterator of Detection
        Lazy; a Parquet file is checked before the first is asked for.

    Raises
    ------
    ValueError
        Where there is no such file, it lacks a field of `Detection`, or a field holds what it
        should not.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "detections.parquet"
    >>> write_detections(path, [])
    >>> list(read_detections(path))
    []
    """
    path = Path(path)
    try:
        with path.open("rb") as file:
            parquet = file.read(4) == b"PAR1"
    except OSError as error:
        raise ValueError(f"{path.name}: cannot be read: {error}") from error
    rows = _parquet_rows(path) if parquet else _line_rows(path)
    return (_detection(entry, place) for place, entry in rows)


def _write_parquet(path: Path, groups: Iterable[list[Detection]], place: str) -> None:
    with pq.ParquetWriter(path, _SCHEMA, compression="zstd") as writer:
        for group in groups:
            writer.write_table(_table(group, place))


def _write_lines(path: Path, groups: Iterable[list[Detection]], place: str) -> None:
    with path.open("w", encoding="utf-8") as file:
        for group in groups:
            for entry in _table(group, place).to_pylist():  # the same types as in Parquet
                file.write(json.dumps(entry, ensure_ascii=False) + "\n")


def _table(group: list[Detection], place: str) -> Any:
    columns = {name: [getattr(entry, name) for entry in group] for name in _SCHEMA.names}
    columns["events"] = [np.asarray(events).tolist() for events in columns["events"]]
    try:
        return _complete(pa.table(columns, schema=_SCHEMA))
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"{place}: a detection cannot be written: {error}") from error


def _complete(table: Any) -> Any:
    for one in _SCHEMA:
        if not one.nullable and table[one.name].null_count:
            raise ValueError(f"`{one.name}` must not be missing")
    return table


def _parquet_rows(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    try:
        file = pq.ParquetFile(path)
    except (pa.ArrowException, OSError) as error:
        raise ValueError(
            f"{path.name}: cannot be read as a Parquet file of detections: {error}"
        ) from error
    found = {one.name: one.type for one in file.schema_arrow}
    for one in _SCHEMA:
        if one.name not in found:
            raise ValueError(f"{path.name}: a file of detections needs the column {one.name!r}")
        if found[one.name] != one.type:
            raise ValueError(
                f"{path.name}, column {one.name!r}: must be {one.type}, got {found[one.name]}"
            )
    return _stream(file, path.name)


def _stream(file: Any, name: str) -> Iterator[tuple[str, dict[str, Any]]]:
    with file:
        row = 0
        for batch in file.iter_batches(batch_size=ROW_GROUP, columns=_SCHEMA.names):
            for entry in batch.to_pylist():
                row += 1
                yield f"{name}, row {row}", entry


def _line_rows(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    with path.open(encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            place = f"{path.name}, line {number}"
            try:
                row = json.loads(line)
                missing = [name for name in _SCHEMA.names if name not in row]
                if missing:
                    raise ValueError(f"it lacks `{missing[0]}`")
                [entry] = _complete(pa.Table.from_pylist([row], schema=_SCHEMA)).to_pylist()
            except (ValueError, TypeError, pa.ArrowException) as error:
                raise ValueError(f"{place}: is no detection: {error}") from error
            yield place, entry


def _detection(entry: dict[str, Any], place: str) -> Detection:
    for name, known in (("status", get_args(Status)), ("granularity", get_args(Granularity))):
        if entry[name] not in known:
            raise ValueError(
                f"{place}, column {name!r}: must be one of {', '.join(known)}, got {entry[name]!r}"
            )
    try:
        events = np.array(entry["events"], dtype=np.int64).reshape(len(entry["events"]), 2)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{place}, column 'events': must hold pairs of steps: {error}") from error
    lists = {name: tuple(entry[name]) for name in ("variates", "repairs")}
    return Detection(**{**entry, **lists, "events": events})


def _type(annotation: str) -> Any:
    known = {
        "int": pa.int64(),
        "bool": pa.bool_(),
        "np.ndarray": pa.list_(pa.list_(pa.int64())),
        "tuple[int, ...]": pa.list_(pa.int64()),
        "tuple[str, ...]": pa.list_(pa.string()),
    }
    return known.get(annotation, pa.string())


_SCHEMA = pa.schema(
    [
        pa.field(field.name, _type(str(field.type)), nullable=str(field.type).endswith("None"))
        for field in fields(Detection)
    ]
)
