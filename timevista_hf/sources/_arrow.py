"""Series in Arrow files as `datasets` saves them: the layout of TIME and of GIFT-Eval."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from timevista_hf.sources._files import Files
from timevista_hf.sources._series import NO_TIMES, Series


class ArrowReader:
    """Read rows of `item_id`, `start` and `target`; a row of several variates is a group."""

    def __init__(self, files: Files, path: str) -> None:
        self._file = files.path(path)
        self._table = _open(self._file)
        names = [str(name) for name in self._table["item_id"].to_pylist()]
        if len(set(names)) < len(names):
            names = [f"{name}#{row}" for row, name in enumerate(names)]
        self.names = names

    def read(self, index: int) -> list[Series]:
        """Read the variates of one row, widened to float64."""
        target, start = (self._table[name][index] for name in ("target", "start"))
        if not target.is_valid:
            return []
        times = NO_TIMES
        if start.is_valid:
            times = np.array([start.as_py()], dtype="datetime64[s]")
        name = self.names[index]
        if _is_list(target.type.value_type):
            return [
                Series(name=f"{name}_dim{number}", values=_floats(variate), times=times)
                for number, variate in enumerate(target.values)
            ]
        return [Series(name=name, values=_floats(target), times=times)]


def _open(path: Path) -> pa.Table:
    try:
        # The file is mapped, not read: only the rows that are asked for come into memory.
        with pa.memory_map(str(path)) as file, pa.ipc.open_stream(file) as stream:
            table = stream.read_all()
    except pa.ArrowException as error:
        raise ValueError(f"{path}: is no Arrow stream: {error}") from error
    lacking = {"item_id", "start", "target"} - set(table.column_names)
    if lacking:
        raise ValueError(f"{path}: lacks the columns {', '.join(sorted(lacking))}")
    return table


def _is_list(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)
    )


def _floats(values: Any) -> np.ndarray:
    return np.asarray(values.values.to_numpy(zero_copy_only=False), dtype=np.float64)
