"""Write files whole or not at all."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np


@contextmanager
def write_atomically(path: str | Path) -> Iterator[Path]:
    """Give the path of a temporary file that takes the place of `path` when the block succeeds.

    Parameters
    ----------
    path : str or Path
        The file to write; a reader sees the old content or the new, never a part.

    Yields
    ------
    Path
        A file name beside `path`, to be written in the block; removed where the block fails.

    Raises
    ------
    ValueError
        Where the folder of `path` does not exist, or `path` is a folder.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> with write_atomically(folder / "a.txt") as temporary:
    ...     _ = temporary.write_text("all of it")
    >>> (folder / "a.txt").read_text()
    'all of it'
    """
    path = Path(path)
    if not path.parent.is_dir():
        raise ValueError(f"{path}: its folder {str(path.parent)!r} does not exist; create it first")
    if path.is_dir():
        raise ValueError(f"{path}: is a folder, not a file to write")
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        yield temporary
        _flush(temporary)
        os.replace(temporary, path)  # noqa: PTH105
    finally:
        temporary.unlink(missing_ok=True)


def write_json(path: str | Path, value: Any) -> None:
    """Write a value as strict JSON, atomically.

    Parameters
    ----------
    path : str or Path
    value : Any
        Mappings, sequences, numpy scalars and arrays, numbers, text; NaN is written as null.

    Raises
    ------
    ValueError
        For an infinite number, which JSON cannot say.
    TypeError
        For a value of any other type.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "scores.json"
    >>> write_json(path, {"mean": float("nan"), "scores": np.array([1, 5])})
    >>> json.loads(path.read_text())
    {'mean': None, 'scores': [1, 5]}
    """
    try:
        text = json.dumps(_plain(value), allow_nan=False, ensure_ascii=False, indent=2)
    except ValueError as error:
        raise ValueError(f"{path}: JSON holds finite numbers only: {error}") from error
    with write_atomically(path) as temporary:
        temporary.write_text(text + "\n", encoding="utf-8", newline="\n")


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(name): _plain(entry) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    if isinstance(value, float) and value != value:
        return None
    return value


def _flush(path: Path) -> None:
    # A crash after the rename must not leave an empty file under the final name.
    with path.open("rb+") as file:
        os.fsync(file.fileno())
