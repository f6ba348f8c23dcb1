"""Rank correlation of a judge's scores with people's: estimate, interval, and two compared."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from timevista_hf.loading.known import check_known
from timevista_hf.metrics._checks import as_numbers
from timevista_hf.metrics._rank_tables import (
    count_cells,
    kendall_of,
    rank_codes,
    resampled_counts,
    spearman_of,
    tau_by_sorting,
)

Statistic = Literal["spearman", "kendall"]


@dataclass(frozen=True)
class Interval:
    """Hold a rank correlation and its bootstrap interval.

    Parameters
    ----------
    estimate : float
        In [-1, 1]; nan where it is undefined.
    low, high : float
        Percentile bootstrap interval; nan where no resample has a defined correlation.
    n : int
        Cases that hold both values.
    resamples : int
        Resamples that the interval rests on: those in which the correlation is defined.
    """

    estimate: float
    low: float
    high: float
    n: int
    resamples: int


@dataclass(frozen=True)
class Comparison:
    """Hold how two judges' correlations with the same people compare.

    Parameters
    ----------
    first, second : float
        Each judge's correlation with the human ratings, in [-1, 1].
    difference : float
        ``first - second``; above 0 the first judge agrees better.
    low, high : float
        Paired percentile bootstrap interval of `difference`.
    n : int
        Cases that hold all three values.
    williams_t, williams_p, steiger_z, steiger_p : float
        Two tests of no difference, p two-sided; nan for Kendall, and where they are undefined.
    resamples : int
        Resamples that the interval rests on: those in which both correlations are defined.
    """

    first: float
    second: float
    difference: float
    low: float
    high: float
    n: int
    williams_t: float
    williams_p: float
    steiger_z: float
    steiger_p: float
    resamples: int


def spearman(x: ArrayLike, y: ArrayLike) -> float:
    r"""Correlate the ranks of two ratings of the same cases.

    .. math:: \rho = \frac{\sum_i (r_i - \bar r)(s_i - \bar s)}
        {\sqrt{\sum_i (r_i - \bar r)^2 \sum_i (s_i - \bar s)^2}}

    where :math:`r_i` and :math:`s_i` are the ranks of :math:`x_i` and :math:`y_i`, tied values
    sharing the mean of their ranks.

    Parameters
    ----------
    x, y : array_like of shape (n,)
        Any unit; pairs with a NaN are left out. Infinite values rank first or last.

    Returns
    -------
    float
        In [-1, 1]; 1 where both order the cases alike, 0 without association. nan where fewer
        than two pairs are left, and where `x` or `y` is constant over them.

    Raises
    ------
    ValueError
        For arrays that are not one-dimensional numbers, or differ in length.

    References
    ----------
    .. [1] C. Spearman, "The proof and measurement of association between two things", American
       Journal of Psychology 15(1), 1904. doi:10.2307/1412159

    Examples
    --------
    >>> round(spearman([1, 2, 3, 4, 5], [2, 1, 3, 5, 5]), 4)
    0.8721
    """
    columns = _complete({"x": x, "y": y})
    if columns[0].size < 2:
        return math.nan
    if _are_varied(columns):
        return float(spearman_of(*columns)(np.ones((1, columns[0].size)))[0])
    cells, counts = count_cells([rank_codes(column) for column in columns])
    return float(spearman_of(*cells)(counts[None].astype(np.float64))[0])


def kendall(x: ArrayLike, y: ArrayLike) -> float:
    r"""Compute Kendall's tau-b of two ratings of the same cases.

    .. math:: \tau_b = \frac{C - D}{\sqrt{(C + D + T_x)(C + D + T_y)}}

    where :math:`C` and :math:`D` count the pairs of cases that `x` and `y` order alike and
    oppositely, and :math:`T_x` and :math:`T_y` those tied in one of them only. tau-b corrects for
    ties, which ratings on a short scale are full of; tau-a cannot come near 1 there.

    Parameters
    ----------
    x, y : array_like of shape (n,)
        Any unit; pairs with a NaN are left out. Infinite values rank first or last.

    Returns
    -------
    float
        In [-1, 1]; 1 where both order the cases alike, 0 without association. nan where fewer
        than two pairs are left, and where `x` or `y` is constant over them.

    Raises
    ------
    ValueError
        For arrays that are not one-dimensional numbers, or differ in length.

    References
    ----------
    .. [1] M. G. Kendall, "The treatment of ties in ranking problems", Biometrika 33(3), 1945.
       doi:10.1093/biomet/33.3.239

    Examples
    --------
    >>> round(kendall([1, 2, 3, 4, 5], [2, 1, 3, 5, 5]), 4)
    0.7379
    """
    columns = _complete({"x": x, "y": y})
    if columns[0].size < 2:
        return math.nan
    if _are_varied(columns):
        return tau_by_sorting(*columns)
    cells, counts = count_cells([rank_codes(column) for column in columns])
    if counts.size > _PAIRED_CELLS:
        return tau_by_sorting(*columns)
    return float(kendall_of(*cells)(counts[None].astype(np.float64))[0])


def bootstrap_interval(
    x: ArrayLike,
    y: ArrayLike,
    *,
    statistic: Statistic = "spearman",
    confidence: float = 0.95,
    resamples: int = 9999,
    seed: int | np.random.Generator = 0,
) -> Interval:
    """Estimate a rank correlation and its percentile bootstrap interval over cases.

    Cases are drawn with replacement. Equal cases are counted instead of drawn one by one: how
    often each distinct pair of values occurs in a resample is a multinomial count, the same
    distribution in a small fraction of the time.

    Parameters
    ----------
    x, y : array_like of shape (n,)
        As in `spearman`.
    statistic : {"spearman", "kendall"}
    confidence : float
        Coverage that the interval aims at, in (0, 1).
    resamples : int
        Resamples drawn, ≥ 1. Those in which the correlation is undefined are left out.
    seed : int or numpy.random.Generator

    Returns
    -------
    Interval
        Too narrow for few cases, as every percentile bootstrap, and of width 0 where the two
        order all cases alike.

    Raises
    ------
    ValueError
        As `spearman`, for an unknown statistic, a confidence outside (0, 1), and `resamples`
        that is no integer of at least 1.

    References
    ----------
    .. [1] B. Efron and R. J. Tibshirani, "An Introduction to the Bootstrap", 1993, section 13.3.
       doi:10.1201/9780429246593

    Examples
    --------
    >>> interval = bootstrap_interval([1, 2, 2, 3, 4, 5] * 9, [1, 3, 2, 3, 5, 4] * 9)
    >>> round(interval.estimate, 3), interval.low < interval.estimate < interval.high, interval.n
    (0.897, True, 54)
    """
    _check_bootstrap(statistic, confidence, resamples)
    columns = _complete({"x": x, "y": y})
    n = columns[0].size
    if n < 2:
        return Interval(math.nan, math.nan, math.nan, n, 0)
    cells, counts = count_cells([rank_codes(column) for column in columns])
    correlate = _STATISTICS[statistic](*cells)
    drawn = resampled_counts(counts, resamples, seed)
    low, high, defined = _percentiles([correlate(chunk) for chunk in drawn], confidence)
    estimate = float(correlate(counts[None].astype(np.float64))[0])
    return Interval(estimate, low, high, n, defined)


def compare_judges(
    human: ArrayLike,
    first: ArrayLike,
    second: ArrayLike,
    *,
    statistic: Statistic = "spearman",
    confidence: float = 0.95,
    resamples: int = 9999,
    seed: int | np.random.Generator = 0,
) -> Comparison:
    """Compare how well two judges agree with people over the same cases.

    The two correlations share the human ratings and depend on each other, so that their separate
    intervals say little about the difference. Here every resample of the cases is used for both
    (a paired bootstrap), and two tests of equal dependent correlations are given beside it:
    Williams' t [1]_ and Steiger's Z [2]_, equation 14. Both are derived for Pearson correlations
    of normal variables and are an approximation for ranks.

    Parameters
    ----------
    human, first, second : array_like of shape (n,)
        Ratings of the same cases by people and by two judges. Cases with a NaN in any are left
        out of all.
    statistic : {"spearman", "kendall"}
        The tests are for Spearman only.
    confidence : float
        Coverage that the interval aims at, in (0, 1).
    resamples : int
        Resamples drawn, ≥ 1. Those in which a correlation is undefined are left out.
    seed : int or numpy.random.Generator

    Returns
    -------
    Comparison
        The tests are nan for fewer than four cases, where the two judges order all cases alike
        (there is nothing to test), and Steiger's where a correlation is 1 or -1.

    Raises
    ------
    ValueError
        As `bootstrap_interval`.

    References
    ----------
    .. [1] E. J. Williams, "The comparison of regression variables", Journal of the Royal
       Statistical Society B 21(2), 1959. doi:10.1111/j.2517-6161.1959.tb00346.x
    .. [2] J. H. Steiger, "Tests for comparing elements of a correlation matrix", Psychological
       Bulletin 87(2), 1980. doi:10.1037/0033-2909.87.2.245

    Examples
    --------
    >>> human = [1, 2, 3, 4, 5] * 8
    >>> comparison = compare_judges(human, [1, 2, 3, 5, 4] * 8, [3, 2, 1, 5, 4] * 8)
    >>> round(comparison.first, 3), round(comparison.second, 3), comparison.low > 0
    (0.9, 0.5, True)
    """
    _check_bootstrap(statistic, confidence, resamples)
    columns = _complete({"human": human, "first": first, "second": second})
    n = columns[0].size
    if n < 2:
        nan = math.nan
        return Comparison(nan, nan, nan, nan, nan, n, nan, nan, nan, nan, 0)
    (people, one, other), counts = count_cells([rank_codes(column) for column in columns])
    prepare, observed = _STATISTICS[statistic], counts[None].astype(np.float64)
    of_first, of_second = prepare(people, one), prepare(people, other)
    differences = [of_first(c) - of_second(c) for c in resampled_counts(counts, resamples, seed)]
    low, high, defined = _percentiles(differences, confidence)
    a, b = float(of_first(observed)[0]), float(of_second(observed)[0])
    tests = (math.nan,) * 4
    if statistic == "spearman":
        between = float(prepare(one, other)(observed)[0])
        tests = (*williams_test(a, b, between, n), *steiger_test(a, b, between, n))
    return Comparison(a, b, a - b, low, high, n, *tests, defined)


def williams_test(first: float, second: float, between: float, n: int) -> tuple[float, float]:
    """Test two correlations with a shared variable, `between` the others: t and two-sided p."""
    from scipy.special import stdtr

    if n < 4 or not between < 1 - _ALIKE:
        return math.nan, math.nan
    squares = first**2 + second**2 + between**2
    determinant = max(0.0, 1 - squares + 2 * first * second * between)
    mean = (first + second) / 2
    spread = 2 * determinant * (n - 1) / (n - 3) + mean**2 * (1 - between) ** 3
    if not spread > 0:
        return math.nan, math.nan
    t = (first - second) * math.sqrt((n - 1) * (1 + between) / spread)
    return t, float(2 * stdtr(n - 3, -abs(t)))


def steiger_test(first: float, second: float, between: float, n: int) -> tuple[float, float]:
    """Test the same by Fisher's z with the mean correlation in its covariance: Z and p."""
    from scipy.special import ndtr

    if n < 4 or not between < 1 - _ALIKE or not max(abs(first), abs(second)) < 1 - _ALIKE:
        return math.nan, math.nan
    square = ((first + second) / 2) ** 2
    covariance = between * (1 - 2 * square) - square * (1 - 2 * square - between**2) / 2
    spread = 2 - 2 * covariance / (1 - square) ** 2
    if not spread > 0:
        return math.nan, math.nan
    z = (math.atanh(first) - math.atanh(second)) * math.sqrt((n - 3) / spread)
    return z, float(2 * ndtr(-abs(z)))


def _complete(ratings: Mapping[str, ArrayLike]) -> list[np.ndarray]:
    """Return the columns without the cases that lack a value in any of them."""
    columns = [as_numbers(f"`{name}`", values, dimensions=1) for name, values in ratings.items()]
    names, size = list(ratings), columns[0].size
    for name, column in zip(names, columns, strict=True):
        if column.size != size:
            raise ValueError(f"`{names[0]}` has {size} values but `{name}` has {column.size}")
    complete = ~np.isnan(columns).any(axis=0)
    return [column[complete] for column in columns]


def _are_varied(columns: list[np.ndarray]) -> bool:
    """Tell from the first cases whether a table would have more cells than are worth counting."""
    return any(np.unique(column[: 4 * _PAIRED_CELLS]).size > _PAIRED_CELLS for column in columns)


def _check_bootstrap(statistic: str, confidence: float, resamples: int) -> None:
    check_known("statistic", statistic, _STATISTICS)
    if not 0 < confidence < 1:
        raise ValueError(f"`confidence` must be between 0 and 1, got {confidence!r}")
    if not isinstance(resamples, Integral) or resamples < 1:
        raise ValueError(f"`resamples` must be an integer of at least 1, got {resamples!r}")


def _percentiles(chunks: list[np.ndarray], confidence: float) -> tuple[float, float, int]:
    values = np.concatenate(chunks)
    defined = values[~np.isnan(values)]
    if not defined.size:
        return math.nan, math.nan, 0
    tail = (1 - confidence) / 2
    low, high = np.quantile(defined, [tail, 1 - tail])
    return float(low), float(high), int(defined.size)


_STATISTICS = {"spearman": spearman_of, "kendall": kendall_of}

_PAIRED_CELLS = 256  # for one pass over more cells than this, sorting them is faster

_ALIKE = 1e-12  # correlations closer to 1 than rounding can tell
