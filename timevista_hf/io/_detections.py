"""Detections as a Parquet file: one row each, streamed, read back exactly."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, get_args

import numpy as np

from timevista_hf.cases import Granularity
from timevista_hf.detection import Detection
from timevista_hf.io._rows import RowFile
from timevista_hf.rubrics import Status


def write_detections(path: str | Path, detections: Iterable[Detection]) -> None:
    """Write detections to a Parquet file, atomically, holding one row group in memory.

    Parameters
    ----------
    path : str or Path
    detections : iterable of Detection
        May be a generator; none at all gives a file without rows.

    Raises
    ------
    ValueError
        Where the folder of `path` does not exist, or a field does not hold what it should.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "detections.parquet"
    >>> write_detections(path, [])
    >>> list(read_detections(path))
    []
    """
    _FILE.write(path, detections)


def read_detections(path: str | Path) -> Iterator[Detection]:
    """Read the detections that `write_detections` wrote, in their order.

    Parameters
    ----------
    path : str or Path
        Columns that a detection does not have are passed over.

    Returns
    -------
    iterator of Detection
        Lazy; the file is checked before the first is asked for.

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
    return _FILE.read(path)


def _detection(entry: dict[str, Any]) -> Detection:
    try:
        events = np.array(entry["events"], dtype=np.int64).reshape(len(entry["events"]), 2)
    except (TypeError, ValueError) as error:
        raise ValueError(f"column 'events': must hold pairs of steps: {error}") from error
    lists = {name: tuple(entry[name]) for name in ("variates", "repairs")}
    return Detection(**{**entry, **lists, "events": events})


_FILE = RowFile(
    kind="detection",
    row=Detection,
    known={"status": get_args(Status), "granularity": get_args(Granularity)},
    group=1_000,  # a row holds the reply's text
    make=_detection,
)
