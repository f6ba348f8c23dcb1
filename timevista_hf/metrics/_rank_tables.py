"""Rank correlations of counted cases, for many resamples of the same cases at once.

Equal cases are one cell with a count: the occupied cells of a contingency table, as few as 25 for
ratings from 1 to 5, or every case by itself for continuous values. A resample is other counts of
the same cells, so that C cells are ranked or paired once for all R resamples.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np

CountsStatistic = Callable[[np.ndarray], np.ndarray]  # counts of R resamples, [R, C], to [R]


def rank_codes(values: np.ndarray) -> np.ndarray:
    """Return integers that sort and tie as the values, n ≥ 1, do."""
    if float(np.abs(values).max()) < _MAX_RATING:
        codes = values.astype(np.intp)
        if (codes == values).all():  # ratings, without the sort
            smallest: np.ndarray = codes - codes.min()
            return smallest
    return np.unique(values, return_inverse=True)[1]


def count_cells(columns: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct rows of D columns of codes in order, [D, C], and their counts, [C]."""
    cases = columns[0].size
    shape = tuple(int(column.max()) + 1 for column in columns)
    if math.prod(shape) <= 4 * cases + _SMALL_TABLE:
        table = np.bincount(np.ravel_multi_index(tuple(columns), shape))
        occupied = np.flatnonzero(table)
        return np.stack(np.unravel_index(occupied, shape)), table[occupied]
    rows = np.stack(columns)[:, np.lexsort(tuple(columns)[::-1])]
    starts = np.flatnonzero(np.r_[True, (rows[:, 1:] != rows[:, :-1]).any(axis=0)])
    return rows[:, starts], np.diff(np.r_[starts, cases])


def resampled_counts(
    counts: np.ndarray, resamples: int, seed: int | np.random.Generator
) -> Iterator[np.ndarray]:
    """Yield the counts, [R, C], of as many cases drawn with replacement, some resamples a time."""
    generator = np.random.default_rng(seed)
    cases, cells = int(counts.sum()), counts.size
    multinomial = cells * _BINOMIAL_COST <= cases
    step = max(1, _CHUNK // (cells if multinomial else cases))
    cell_of_case = np.repeat(np.arange(cells), counts)
    for start in range(0, resamples, step):
        size = min(step, resamples - start)
        if multinomial:
            drawn = generator.multinomial(cases, counts / cases, size=size)
        else:
            picked = cell_of_case[generator.integers(cases, size=(size, cases))]
            picked += cells * np.arange(size)[:, None]
            drawn = np.bincount(picked.ravel(), minlength=size * cells).reshape(size, cells)
        yield drawn.astype(np.float64)


class Levels:
    """One column of C cells, sorted once: sums and ranks the counts of any resample by it."""

    def __init__(self, codes: np.ndarray) -> None:
        self._order = np.argsort(codes, kind="stable")
        ordered = codes[self._order]
        first = np.r_[True, ordered[1:] != ordered[:-1]]
        self._starts = np.flatnonzero(first)
        self._level_of_cell = np.empty(codes.size, dtype=np.intp)
        self._level_of_cell[self._order] = first.cumsum() - 1

    def totals(self, counts: np.ndarray) -> np.ndarray:
        """Sum the counts, [R, C], of the cells of each level, lowest first, [R, K]."""
        return np.add.reduceat(counts[:, self._order], self._starts, axis=1)

    def centred_ranks(self, counts: np.ndarray) -> np.ndarray:
        """Return twice the midrank of every cell less its mean, [R, C]: integers, so exact."""
        totals = self.totals(counts)
        ends = totals.cumsum(axis=1)
        doubled: np.ndarray = 2 * ends - totals - ends[:, -1:]
        return doubled[:, self._level_of_cell]


def spearman_of(x: np.ndarray, y: np.ndarray) -> CountsStatistic:
    """Prepare the rank correlation of two columns of cells."""
    levels_x, levels_y = Levels(x), Levels(y)

    def correlate(counts: np.ndarray) -> np.ndarray:
        ranks_x, ranks_y = levels_x.centred_ranks(counts), levels_y.centred_ranks(counts)
        weighted_x, weighted_y = counts * ranks_x, counts * ranks_y
        return _divided(
            np.einsum("rc,rc->r", weighted_x, ranks_y),
            np.einsum("rc,rc->r", weighted_x, ranks_x),
            np.einsum("rc,rc->r", weighted_y, ranks_y),
        )

    return correlate


def kendall_of(x: np.ndarray, y: np.ndarray) -> CountsStatistic:
    """Prepare the tau-b of two columns of cells."""
    if x.size > _PAIRED_CELLS:
        return lambda counts: np.array([_tau_of_row(row, x, y) for row in counts])
    signs = np.sign(x[:, None] - x) * np.sign(y[:, None] - y)  # 1 concordant, -1 discordant
    pairs = signs.astype(np.float64)  # [C, C]
    levels_x, levels_y = Levels(x), Levels(y)

    def correlate(counts: np.ndarray) -> np.ndarray:
        squares = counts.sum(axis=1) ** 2
        untied_x = squares - np.square(levels_x.totals(counts)).sum(axis=1)
        untied_y = squares - np.square(levels_y.totals(counts)).sum(axis=1)
        return _divided(np.einsum("rc,rc->r", counts @ pairs, counts), untied_x, untied_y)

    return correlate


def tau_by_sorting(x: np.ndarray, y: np.ndarray) -> float:
    """Compute tau-b in n log n, where pairing the cells would take longer."""
    from scipy.stats import kendalltau

    return float(kendalltau(x, y, method="asymptotic").statistic)


def _tau_of_row(counts: np.ndarray, x: np.ndarray, y: np.ndarray) -> float:
    times = counts.astype(np.intp)
    return tau_by_sorting(np.repeat(x, times), np.repeat(y, times))


def _divided(shared: np.ndarray, own_x: np.ndarray, own_y: np.ndarray) -> np.ndarray:
    with np.errstate(invalid="ignore"):  # 0 / 0 where a resample is constant: undefined
        quotient: np.ndarray = np.clip(shared / np.sqrt(own_x * own_y), -1.0, 1.0)
    return quotient


_MAX_RATING = 256  # integers below it index a table directly

_SMALL_TABLE = 1 << 10  # cells that cost nothing to count, however few the cases

_BINOMIAL_COST = 16  # a binomial draw takes about as long as drawing and counting so many cases

_CHUNK = 1 << 17  # counts drawn at once: 1 MiB, so that a chunk's passes stay in the cache

_PAIRED_CELLS = 2048  # the pairs of so many cells, 32 MiB, still beat a sort for every resample
