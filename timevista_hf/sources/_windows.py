"""Rules by which a long series is cut into windows of history and truth: arithmetic alone."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple, Protocol


class Window(NamedTuple):
    """Steps of a series: history from `start`, truth from `cut`, both half-open."""

    start: int
    cut: int
    stop: int

    @property
    def input_length(self) -> int:
        """Steps of history."""
        return self.cut - self.start

    @property
    def horizon(self) -> int:
        """Steps of truth."""
        return self.stop - self.cut


class WindowRule(Protocol):
    """A rule gives the windows of a series of so many steps; none where it is too short."""

    def windows(self, steps: int) -> list[Window]:
        """Cut a series of `steps` steps."""
        ...


@dataclass(frozen=True)
class TestSpan:
    """Fill the last steps of a series with windows side by side, as TIME does.

    The history of each goes back to the first step. What is left of the span behind the last
    window is not used.

    Parameters
    ----------
    length : int
        Steps of the span.
    horizons : tuple of int
        Each fills the span anew.

    Examples
    --------
    >>> TestSpan(4, (2,)).windows(10)
    [Window(start=0, cut=6, stop=8), Window(start=0, cut=8, stop=10)]
    """

    __test__ = False  # the name is no test's

    length: int
    horizons: tuple[int, ...]

    def windows(self, steps: int) -> list[Window]:
        """Cut a series of `steps` steps."""
        first = steps - self.length
        return [
            Window(0, first + k * horizon, first + (k + 1) * horizon)
            for horizon in self.horizons
            for k in range(self.length // horizon)
            if first > 0
        ]


@dataclass(frozen=True)
class Rolling:
    """Take windows side by side at the end of a series, as GIFT-Eval does.

    They cover a tenth of the series, and are 1 to 20. The history of each goes back to the first
    step.

    Parameters
    ----------
    horizons : tuple of int
    keep : tuple of int
        Numbers of the windows that are taken, counted from 0; one that a series lacks is passed
        over.

    Examples
    --------
    >>> Rolling((2,), keep=(1,)).windows(40)
    [Window(start=0, cut=38, stop=40)]
    """

    horizons: tuple[int, ...]
    keep: tuple[int, ...]

    def windows(self, steps: int) -> list[Window]:
        """Cut a series of `steps` steps."""
        cuts = []
        for horizon in self.horizons:
            number = min(20, max(1, math.ceil(steps / 10 / horizon)))
            first = steps - number * horizon
            cuts += [(first + k * horizon, horizon) for k in self.keep if k < number]
        return [Window(0, cut, cut + horizon) for cut, horizon in cuts if cut > 0]


@dataclass(frozen=True)
class Blocks:
    """Lay windows of one length along a series.

    Parameters
    ----------
    history, truth : int
        Steps of each.
    stride : int
        Steps from one window's start to the next.

    Examples
    --------
    >>> Blocks(5, 1, stride=5).windows(11)
    [Window(start=0, cut=5, stop=6), Window(start=5, cut=10, stop=11)]
    """

    history: int
    truth: int
    stride: int

    def windows(self, steps: int) -> list[Window]:
        """Cut a series of `steps` steps."""
        length = self.history + self.truth
        starts = range(0, steps - length + 1, self.stride)
        return [Window(start, start + self.history, start + length) for start in starts]


@dataclass(frozen=True)
class Cutoffs:
    """Cut a series at given steps; the history of each window goes back to the first step.

    Parameters
    ----------
    cuts : tuple of int
    horizon : int

    Examples
    --------
    >>> Cutoffs((3, 5), horizon=2).windows(6)
    [Window(start=0, cut=3, stop=5)]
    """

    cuts: tuple[int, ...]
    horizon: int

    def windows(self, steps: int) -> list[Window]:
        """Cut a series of `steps` steps."""
        return [
            Window(0, cut, cut + self.horizon) for cut in self.cuts if cut + self.horizon <= steps
        ]
