"""Cases drawn from what was read, one window after another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from timevista_hf.cases import ForecastCase
from timevista_hf.io._axis import Axis
from timevista_hf.io._lines import LineWindow, window_cases
from timevista_hf.io._times import Times
from timevista_hf.io._windows import Observations, Windows, first_observed, label_of


class Store(Protocol):
    """Windows that can be asked for their cases."""

    @property
    def models(self) -> tuple[str, ...]: ...

    def __len__(self) -> int: ...

    def window(self, index: int, models: Sequence[str]) -> Iterator[ForecastCase]:
        """Build the cases of one window, a model after another."""
        ...


@dataclass(frozen=True, eq=False)
class Labels:
    """What is said of each series."""

    names: Sequence[str]
    freq: Sequence[str | None]
    dataset: Sequence[str | None]
    unit: Sequence[str | None]
    season_length: Sequence[int | None]


class RowStore:
    """Windows of a table with one row a step."""

    def __init__(
        self,
        windows: Windows,
        seen: Observations,
        axis: Axis,
        labels: Labels,
        cutoffs: Times | None,
    ) -> None:
        self.windows = windows
        self.seen = seen
        self.axis = axis
        self.labels = labels
        self._cutoffs = cutoffs
        self._first = first_observed(seen)
        self.models = tuple(windows.predictions)

    def __len__(self) -> int:
        return int(self.windows.ids.size)

    def window(self, index: int, models: Sequence[str]) -> Iterator[ForecastCase]:
        """Build the cases of one window, a model after another."""
        windows, labels = self.windows, self.labels
        series = int(windows.ids[index])
        inside = slice(int(windows.starts[index]), int(windows.starts[index + 1]))
        slots = windows.slots[inside]
        for model in models:
            if not windows.present[model][index]:
                continue
            steps = windows.predictions[model][inside]
            held, steps = slots[np.isfinite(steps)], steps[np.isfinite(steps)]
            begin, end = int(held[0]), int(held[-1])
            positions = self.axis.positions
            start, horizon = positions[begin], int(positions[end] - positions[begin]) + 1
            around = slice(begin, end + 1)
            yield ForecastCase(
                id=labels.names[series],
                history=self._history(index, series, begin),
                truth=_spread(positions[around] - start, self.seen.target[around], horizon),
                prediction=_spread(positions[held] - start, steps, horizon),
                model=model,
                cutoff=self._cutoff(index),
                dataset=labels.dataset[series],
                unit=labels.unit[series],
                freq=labels.freq[series],
                season_length=labels.season_length[series],
            )

    def _history(self, index: int, series: int, begin: int) -> np.ndarray:
        """Truths up to the cutoff, as NaN from there to the horizon; float64 of shape (T,)."""
        first, stop = int(self._first[series]), begin
        if self.windows.cutoffs is not None:
            known = self.seen.times[first:begin]
            stop = first + int(np.searchsorted(known, self.windows.cutoffs[index], side="right"))
        positions = self.axis.positions
        size = int(positions[begin] - positions[first])
        return _spread(positions[first:stop] - positions[first], self.seen.target[first:stop], size)

    def _cutoff(self, index: int) -> str | None:
        if self.windows.cutoffs is None or self._cutoffs is None:
            return None
        return label_of(int(self.windows.cutoffs[index]), self._cutoffs)


class LineStore:
    """Windows of a file with one window a line."""

    def __init__(
        self,
        windows: Sequence[LineWindow],
        name: str,
        seasons: Sequence[int | None],
        models: tuple[str, ...],
    ) -> None:
        self._windows = windows
        self._name = name
        self._seasons = seasons
        self.models = models

    def __len__(self) -> int:
        return len(self._windows)

    def window(self, index: int, models: Sequence[str]) -> Iterator[ForecastCase]:
        """Build the cases of one window, a model after another."""
        return window_cases(self._windows[index], self._name, self._seasons[index], tuple(models))


def _spread(positions: np.ndarray, values: np.ndarray, size: int) -> np.ndarray:
    steps = np.full(size, np.nan)
    steps[positions] = values
    return steps
