"""What the agreement coefficients are made of: units, ranks, scales and weights."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from timevista_hf.loading.known import check_known
from timevista_hf.metrics._checks import as_numbers
from timevista_hf.metrics._rank_tables import count_cells, rank_codes


def pairable_ratings(ratings: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the n ratings of units that have two or more, [n], and their units from 0, [n]."""
    rated = ~np.isnan(ratings)
    paired = rated.sum(axis=0) >= 2
    units, annotators = np.nonzero((rated & paired).T)
    numbers: np.ndarray = paired.cumsum() - 1
    return ratings[annotators, units], numbers[units]


def midranks(values: np.ndarray) -> np.ndarray:
    """Rank the values from 1/2, tied ones in the middle of their ranks."""
    codes = rank_codes(values)
    counts = np.bincount(codes)
    ranks: np.ndarray = (counts.cumsum() - counts / 2)[codes]
    return ranks


def variance_ratio(values: np.ndarray, units: np.ndarray) -> float:
    """Divide the variance within units by that of all: half of D_o and D_e, in one pass."""
    size = np.bincount(units)
    means = np.bincount(units, weights=values) / size
    squares = np.bincount(units, weights=np.square(values - means[units]))
    within = np.sum(size / (size - 1) * squares) / values.size
    return float(within / values.var(ddof=1))


def nominal_ratio(values: np.ndarray, units: np.ndarray) -> float:
    """Divide the part of unequal pairs within units by that among all ratings."""
    codes = rank_codes(values)
    (unit_of_cell, _), counts = count_cells([units, codes])
    size, n = np.bincount(units), values.size
    equal = np.bincount(unit_of_cell, weights=np.square(counts))
    within = np.sum((np.square(size) - equal) / (size - 1)) / n
    return float(within * (n - 1) * n / (n**2 - np.square(np.bincount(codes)).sum()))


def as_scale(levels: Sequence[float]) -> np.ndarray:
    """Return the levels of a scale, checked."""
    scale = as_numbers("`levels`", levels, dimensions=1)
    if scale.size < 2 or not (np.isfinite(scale).all() and (np.diff(scale) > 0).all()):
        raise ValueError(f"`levels` must be at least 2 ascending numbers, got {levels!r}")
    return scale


def disagreement(count: int, weights: str) -> np.ndarray:
    """Return how far apart the places on a scale are, [q, q], from 0 to 1."""
    check_known("weights", weights, _POWERS)
    places = np.arange(count)
    apart: np.ndarray = np.abs(places[:, None] - places) / (count - 1)
    return np.ceil(apart) if weights == "none" else apart ** _POWERS[weights]


def places_on_scale(name: str, ratings: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """Return each rating's place on the scale, -1 where it is missing."""
    missing = np.isnan(ratings)
    places = np.minimum(np.searchsorted(scale, ratings), scale.size - 1)
    strange = np.argwhere(~missing & (scale[places] != ratings))
    if strange.size:
        at = tuple(strange[0].tolist())
        known = ", ".join(f"{level:g}" for level in scale)
        raise ValueError(
            f"{name}, {_position(at)}: {ratings[at]:g} is none of the `levels` {known}"
        )
    return np.where(missing, -1, places)


def _position(at: tuple[int, ...]) -> str:
    return f"unit {at[-1]}" if len(at) == 1 else f"row {at[0]}, unit {at[1]}"


_POWERS = {"quadratic": 2, "linear": 1, "none": 0}
