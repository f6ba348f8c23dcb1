"""Judgments as a Parquet file: one row each, streamed, read back exactly."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, get_args

from timevista_hf.io._rows import RowFile
from timevista_hf.rubrics import Judgment, Level, Status


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
    _FILE.write(path, judgments)


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
    return _FILE.read(path)


def _judgment(entry: dict[str, Any]) -> Judgment:
    return Judgment(**{**entry, "breaches": tuple(entry["breaches"])})


_FILE = RowFile(
    kind="judgment",
    row=Judgment,
    known={"status": get_args(Status), "level": get_args(Level)},
    group=10_000,
    make=_judgment,
)
