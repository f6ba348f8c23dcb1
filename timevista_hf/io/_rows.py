"""Records of one kind as a Parquet file: one row each, streamed, checked, read back exactly."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from itertools import islice
from pathlib import Path
from typing import Any, Generic, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq

from timevista_hf.io._write import write_atomically

Row = TypeVar("Row")


@dataclass(frozen=True, kw_only=True)
class RowFile(Generic[Row]):
    """Write and read a dataclass as rows; its annotations are the schema.

    Parameters
    ----------
    kind : str
        What a row is, for errors.
    row : type
        The dataclass.
    known : mapping of str to collection of str
        Fields that hold one of a few words.
    group : int
        Rows held in memory.
    make : callable
        Makes a row of its columns; a ValueError says what is wrong in which column.
    """

    kind: str
    row: type[Row]
    known: Mapping[str, Collection[str]]
    group: int
    make: Callable[[dict[str, Any]], Row]

    @property
    def schema(self) -> Any:
        """The columns."""
        return pa.schema(
            [
                pa.field(one.name, _type(str(one.type)), nullable=str(one.type).endswith("None"))
                for one in fields(self.row)  # type: ignore[arg-type]
            ]
        )

    def write(self, path: str | Path, rows: Iterable[Row]) -> None:
        """Write rows atomically, one group in memory."""
        stream, schema = iter(rows), self.schema
        with (
            write_atomically(path) as temporary,
            pq.ParquetWriter(temporary, schema, compression="zstd") as writer,
        ):
            while group := list(islice(stream, self.group)):
                writer.write_table(self._table(group, schema, str(path)))

    def read(self, path: str | Path) -> Iterator[Row]:
        """Check a file, and read its rows as they are needed."""
        name, schema = Path(path).name, self.schema
        try:
            file = pq.ParquetFile(path)
        except (pa.ArrowException, OSError) as error:
            raise ValueError(
                f"{name}: cannot be read as a Parquet file of {self.kind}s: {error}"
            ) from error
        found = {one.name: one.type for one in file.schema_arrow}
        for one in schema:
            if one.name not in found:
                raise ValueError(f"{name}: a file of {self.kind}s needs the column {one.name!r}")
            if found[one.name] != one.type:
                raise ValueError(
                    f"{name}, column {one.name!r}: must be {one.type}, got {found[one.name]}"
                )
        return self._stream(file, name, schema.names)

    def _stream(self, file: Any, name: str, columns: list[str]) -> Iterator[Row]:
        with file:
            row = 0
            for batch in file.iter_batches(batch_size=self.group, columns=columns):
                for entry in batch.to_pylist():
                    row += 1
                    yield self._read_row(entry, f"{name}, row {row}")

    def _read_row(self, entry: dict[str, Any], place: str) -> Row:
        for name, known in self.known.items():
            if entry[name] not in known:
                raise ValueError(
                    f"{place}, column {name!r}: must be one of {', '.join(known)}, "
                    f"got {entry[name]!r}"
                )
        try:
            return self.make(entry)
        except ValueError as error:
            raise ValueError(f"{place}, {error}") from error

    def _table(self, group: list[Row], schema: Any, place: str) -> Any:
        columns = {name: [_plain(getattr(one, name)) for one in group] for name in schema.names}
        try:
            table = pa.table(columns, schema=schema)
            for one in schema:
                if not one.nullable and table[one.name].null_count:
                    raise ValueError(f"`{one.name}` must not be missing")
        except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
            raise ValueError(f"{place}: a {self.kind} cannot be written: {error}") from error
        return table


def _plain(value: Any) -> Any:
    return value.tolist() if hasattr(value, "tolist") else value


def _type(annotation: str) -> Any:
    return _TYPES.get(annotation.removesuffix(" | None"), pa.string())


_TYPES = {
    "int": pa.int64(),
    "float": pa.float64(),
    "bool": pa.bool_(),
    "np.ndarray": pa.list_(pa.list_(pa.int64())),
    "tuple[int, ...]": pa.list_(pa.int64()),
    "tuple[str, ...]": pa.list_(pa.string()),
}
