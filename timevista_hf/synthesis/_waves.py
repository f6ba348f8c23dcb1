"""Periodic shapes from -1 to 1, and a random walk of the same size."""

from __future__ import annotations

import numpy as np

WALK_STEP = 0.25  # standard deviation of a random walk's steps


def sine(cycles: np.ndarray) -> np.ndarray:
    """Return the sine at times in periods."""
    return np.asarray(np.sin(2 * np.pi * cycles))


def square(cycles: np.ndarray) -> np.ndarray:
    """Return 1 in the first half of each period, -1 in the second."""
    return np.where(cycles % 1 < 0.5, 1.0, -1.0)


def sawtooth(cycles: np.ndarray) -> np.ndarray:
    """Rise evenly from -1 to 1 in each period, and fall at once."""
    return np.asarray(2 * (cycles % 1) - 1)


def triangle(cycles: np.ndarray) -> np.ndarray:
    """Fall evenly from 1 to -1 and rise again in each period."""
    return np.asarray(4 * np.abs(cycles % 1 - 0.5) - 1)


def random_walk(steps: int, rng: np.random.Generator) -> np.ndarray:
    """Add up normal steps of a quarter, turned back at -1 and 1, and reach from -1 to 1."""
    # Turned back, it crosses its range again and again, however long; a free walk only drifts,
    # as many a real series does.
    walk = np.cumsum(WALK_STEP * rng.standard_normal(steps)) + rng.uniform(-1, 1)
    turned = triangle(walk / 4 + 0.25)
    return np.asarray(2 * (turned - turned.min()) / np.ptp(turned) - 1)
