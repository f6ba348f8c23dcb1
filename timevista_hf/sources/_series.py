"""A series as it lies in a file, before it is cut; and what reads it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np

Flaw = Literal["flat", "missing", "constant"]


@dataclass(frozen=True, eq=False, kw_only=True)
class Series:
    """All steps of one series.

    `times` dates its first steps, as many as are known: all, the first, or none. `flaw` is what
    makes it unfit as a whole.
    """

    name: str
    values: np.ndarray  # [T], NaN where missing
    times: np.ndarray  # [0 to T], datetime64[s]
    flaw: Flaw | None = None


class Reader(Protocol):
    """Read the groups of a file one by one; a group holds series that were recorded together."""

    @property
    def names(self) -> Sequence[str]:
        """Names of the groups."""
        ...

    def read(self, index: int) -> list[Series]:
        """Read one group."""
        ...


NO_TIMES = np.empty(0, dtype="datetime64[s]")
