"""Checks of what callers hand to the agreement metrics, with the place in every error."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike


def as_numbers(place: str, values: ArrayLike, *, dimensions: int) -> np.ndarray:
    """Return the values as float64, missing ones (None, masked) as NaN; text is refused."""
    if isinstance(values, np.ma.MaskedArray):
        values = np.ma.filled(values.astype(np.float64), np.nan)
    try:
        array = np.asarray(values)
        if array.dtype.kind == "O" and any(isinstance(value, str) for value in array.flat):
            raise TypeError("got text")
        if array.dtype.kind not in "biufO":
            raise TypeError(f"got an array of kind {array.dtype.kind!r}")
        array = array.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"{place} must hold numbers: {error}") from error
    if array.ndim != dimensions:
        plural = "s" if dimensions > 1 else ""
        raise ValueError(f"{place} must have {dimensions} dimension{plural}, got {array.ndim}")
    return array


def as_ratings(place: str, values: ArrayLike) -> np.ndarray:
    """Return ratings of shape (annotators, units), finite or NaN."""
    ratings = as_numbers(place, values, dimensions=2)
    infinite = np.argwhere(np.isinf(ratings))
    if infinite.size:
        row, unit = infinite[0]
        raise ValueError(
            f"{place}, row {row}, unit {unit}: must be finite or NaN, got {ratings[row, unit]}"
        )
    return ratings
