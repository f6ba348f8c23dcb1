"""The bank of motifs: shapes of one cycle, as functions of the phase.

Every shape is continuous, also from one cycle to the next, so that rounding of the phase cannot
move a value across a jump.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np

GRID = 2048  # places of a cycle at which its mean and height are taken

Shape = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Motif:
    """A shape of the bank, with mean 0 and height 2 over a cycle.

    `inverted` turns it upside down, `reversed` lets it run backwards.
    """

    shape: str
    inverted: bool = False
    reversed: bool = False

    @property
    def name(self) -> str:
        """The motif in words, as "reversed ramp"."""
        turns = [word for word in ("inverted", "reversed") if getattr(self, word)]
        return " ".join([*turns, self.shape])

    def __call__(self, phase: np.ndarray) -> np.ndarray:
        """Return the motif at a phase, counted in cycles."""
        place = np.mod(-phase if self.reversed else phase, 1.0)
        mean, height = _size(self.shape)
        sign = -2 if self.inverted else 2
        return np.asarray(sign * (MOTIFS[self.shape](place) - mean) / height)


@cache
def _size(shape: str) -> tuple[float, float]:
    values = MOTIFS[shape](np.arange(GRID) / GRID)
    return float(values.mean()), float(np.ptp(values))


def _wave(p: np.ndarray, times: float = 1.0, at: float = 0.0) -> np.ndarray:
    return np.sin(2 * np.pi * (times * p - at))


def _bump(p: np.ndarray, at: float, width: float) -> np.ndarray:
    distance = np.mod(p - at + 0.5, 1.0) - 0.5
    return np.exp(-0.5 * (distance / width) ** 2)


def _line(*corners: tuple[float, float]) -> Shape:
    places, heights = zip(*corners, strict=True)
    return lambda p: np.interp(p, places, heights, period=1.0)


def _decay(p: np.ndarray) -> np.ndarray:
    rest = np.maximum(p - 0.08, 0) / 0.92
    fall = (np.exp(-5 * rest) - np.exp(-5)) / (1 - np.exp(-5))
    return np.where(p < 0.08, p / 0.08, fall)


MOTIFS: dict[str, Shape] = {
    "sine": _wave,
    "shoulder": lambda p: _wave(p) + 0.45 * _wave(p, 2, -0.16),
    "tilt": lambda p: np.sin(2 * np.pi * p + 0.7 * _wave(p)),
    "triangle": _line((0.0, -1.0), (0.5, 1.0)),
    "ramp": _line((0.0, -1.0), (0.86, 1.0)),
    "plateau": lambda p: np.tanh(3 * _wave(p)),
    "box": lambda p: np.tanh(6 * (_wave(p, 1, -0.25) - 0.6)),
    "stairs": _line((0, -1), (0.27, -1), (0.34, 0), (0.6, 0), (0.67, 1), (0.93, 1)),
    "spike": lambda p: _bump(p, 0.5, 0.07),
    "twins": lambda p: _bump(p, 0.3, 0.07) + 0.65 * _bump(p, 0.62, 0.08),
    "triplet": lambda p: (
        _bump(p, 0.2, 0.06) + 0.72 * _bump(p, 0.45, 0.06) + 0.45 * _bump(p, 0.7, 0.06)
    ),
    "heartbeat": lambda p: (
        0.2 * _bump(p, 0.22, 0.05)
        - 0.15 * _bump(p, 0.36, 0.03)
        + _bump(p, 0.42, 0.035)
        - 0.3 * _bump(p, 0.48, 0.035)
        + 0.35 * _bump(p, 0.72, 0.07)
    ),
    "bell": lambda p: np.maximum(_wave(p), 0) ** 1.5,
    "decay": _decay,
    "ripple": lambda p: _wave(p) + 0.4 * _wave(p, 4, 0.1),
    "ringing": lambda p: np.exp(-4 * p) * _wave(p, 4),
}
