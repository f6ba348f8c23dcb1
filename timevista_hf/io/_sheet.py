"""A file as it is read: named columns, and the way back from a record to its place in the file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from timevista_hf.loading.known import nearest

_UNSAID = object()


@dataclass(frozen=True, eq=False)
class Sheet:
    """Hold one file's columns as text (Parquet: as typed there) and what was decided on the way.

    Parameters
    ----------
    name : str
        The file's name, as errors say it.
    columns : dict of str to pyarrow.ChunkedArray of length N
    locate : callable
        Maps record positions to row numbers. In a text file a row number is the line, counted
        from 1 as an editor does, where the record starts; in Parquet the header is no row.
    decisions : dict
        Format, encoding, delimiter and the like.
    """

    name: str
    columns: dict[str, Any]
    locate: Callable[[Sequence[int]], list[int]]
    decisions: dict[str, Any]

    @property
    def rows(self) -> int:
        """Number of records, N."""
        return len(next(iter(self.columns.values()))) if self.columns else 0

    def row(self, position: int) -> int:
        """Row number of one record."""
        return self.locate([int(position)])[0]

    def error(
        self,
        rule: str,
        *,
        position: int | None = None,
        column: str | None = None,
        value: Any = _UNSAID,
        fix: str = "",
    ) -> ValueError:
        """Build the error that names place, rule, value and remedy."""
        row = None if position is None else self.row(position)
        return complain(self.name, rule, row=row, column=column, value=value, fix=fix)

    def text(self, column: str) -> Any:
        """Cells of a column as text, empty where there is none."""
        cells = self.columns[column]
        if pa.types.is_dictionary(cells.type):
            cells = cells.cast(cells.type.value_type)
        if not pa.types.is_string(cells.type):
            try:
                cells = cells.cast(pa.string())
            except (pa.ArrowException, pa.ArrowInvalid) as error:
                raise self.error(
                    f"cells must be numbers or text, got {cells.type}", column=column
                ) from error
        return pc.fill_null(cells, "")


def complain(
    name: str,
    rule: str,
    *,
    row: int | None = None,
    column: str | None = None,
    value: Any = _UNSAID,
    fix: str = "",
) -> ValueError:
    """Build an error: place, rule, value, remedy."""
    place = name
    place += "" if row is None else f", row {row}"
    place += "" if column is None else f", column {column!r}"
    said = "" if value is _UNSAID else f", got {_short(value)}"
    return ValueError(f"{place}: {rule}{said}" + (f"; {fix}" if fix else ""))


def hint(name: str, known: Iterable[str]) -> str:
    """Say which known name is meant, and list them."""
    known = list(known)
    meant = nearest(name, known)
    return f"did you mean {meant!r}? " * bool(meant) + f"known: {', '.join(known) or 'none'}"


def first(mask: Any) -> int | None:
    """Position of the first true entry, None where there is none."""
    found = pc.index(mask, True).as_py()
    return None if found < 0 else int(found)


def encode(column: Any) -> tuple[np.ndarray, Any]:
    """Give the codes, int64 of shape (N,), and the distinct values in order of appearance."""
    encoded = column.dictionary_encode().unify_dictionaries()
    if encoded.num_chunks == 0:
        return np.zeros(0, dtype=np.int64), pa.array([], pa.string())
    indices = [chunk.indices.to_numpy() for chunk in encoded.chunks]
    return np.concatenate(indices).astype(np.int64), encoded.chunk(0).dictionary


def _short(value: Any) -> str:
    said = repr(value)
    return said if len(said) <= 60 else f"{said[:57]}…{said[-1]}"
