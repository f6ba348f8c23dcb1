"""Agreement: of a judge with people, of people with each other, and of a judge with itself."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from timevista_hf.loading.known import check_known
from timevista_hf.metrics._checks import as_numbers, as_ratings
from timevista_hf.metrics._consistency import Consistency, consistency
from timevista_hf.metrics._correlation import (
    Comparison,
    Interval,
    Statistic,
    bootstrap_interval,
    compare_judges,
    kendall,
    spearman,
)
from timevista_hf.metrics._rank_tables import count_cells, rank_codes
from timevista_hf.metrics._ratings import (
    as_scale,
    disagreement,
    midranks,
    nominal_ratio,
    pairable_ratings,
    places_on_scale,
    variance_ratio,
)

__all__ = [
    "Comparison",
    "Consistency",
    "Interval",
    "bootstrap_interval",
    "compare_judges",
    "consensus",
    "consistency",
    "gwet_ac2",
    "kendall",
    "krippendorff_alpha",
    "pairwise_agreement",
    "spearman",
    "weighted_kappa",
]

Ties = Literal["mean", "lower", "nan"]
Weights = Literal["quadratic", "linear", "none"]


def krippendorff_alpha(
    ratings: ArrayLike, *, level: Literal["nominal", "ordinal", "interval"]
) -> float:
    r"""Compute Krippendorff's alpha: agreement among annotators, corrected for chance.

    .. math:: \alpha = 1 - \frac{D_o}{D_e}, \quad
        D_o = \frac{1}{n} \sum_u \frac{1}{m_u - 1} \sum_{i \ne j} \delta^2(x_{ui}, x_{uj}), \quad
        D_e = \frac{1}{n (n - 1)} \sum_{k \ne l} \delta^2(x_k, x_l)

    where unit :math:`u` has :math:`m_u \ge 2` ratings :math:`x_{ui}`, and :math:`k, l` run over
    the :math:`n` ratings of all such units. :math:`\delta` is 0 or 1 for nominal ratings, the
    difference for interval ones, and for ordinal ones the difference of their midranks among the
    :math:`n` ratings.

    The level has no default: it changes the value, and papers that do not name theirs cannot be
    compared. The TimeVista paper's table 5 [3]_ does not; its alphas, far below the correlations
    beside them, fit the nominal level and neither of the others (an inference from simulations).

    Parameters
    ----------
    ratings : array_like of shape (annotators, units)
        NaN is a missing rating. A unit with a single rating is left out.
    level : {"nominal", "ordinal", "interval"}

    Returns
    -------
    float
        At most 1; 1 is perfect, 0 what chance gives, below 0 systematic disagreement. nan where
        no unit has two ratings, and where all ratings are equal: then nothing is known about
        chance.

    Raises
    ------
    ValueError
        For ratings that are no matrix of numbers or are infinite, and for an unknown level.

    References
    ----------
    .. [1] K. Krippendorff, "Computing Krippendorff's Alpha-Reliability", 2011.
       https://repository.upenn.edu/asc_papers/43
    .. [2] A. F. Hayes and K. Krippendorff, "Answering the call for a standard reliability measure
       for coding data", Communication Methods and Measures 1(1), 2007.
       doi:10.1080/19312450709336664
    .. [3] Z. Chen et al., "TimeVista: Exploring and Exploiting Vision-Language Models as Judges
       for Time Series Forecasting", 2026. arXiv:2606.16173

    Examples
    --------
    >>> nan = float("nan")
    >>> ratings = [[1, 2, 3, 3, 2], [1, 2, 3, 4, nan], [nan, 3, 3, 3, 2]]
    >>> round(krippendorff_alpha(ratings, level="ordinal"), 3)
    0.784
    """
    check_known("level", level, ("nominal", "ordinal", "interval"))
    values, units = pairable_ratings(as_ratings("`ratings`", ratings))
    if not values.size or (values == values[0]).all():
        return math.nan
    if level == "nominal":
        return 1 - nominal_ratio(values, units)
    return 1 - variance_ratio(midranks(values) if level == "ordinal" else values, units)


def pairwise_agreement(
    ratings: ArrayLike,
    *,
    statistic: Statistic = "spearman",
    against: Literal["pairs", "mode", "others"] = "pairs",
    ties: Ties = "mean",
) -> float:
    """Average the rank correlation among annotators.

    The kinds are not comparable with each other. The TimeVista paper's table 5 [1]_ prints such
    correlations without saying of which kind they are.

    Parameters
    ----------
    ratings : array_like of shape (annotators, units)
        NaN is a missing rating; units that lack one are left out of the correlation concerned.
    statistic : {"spearman", "kendall"}
    against : {"pairs", "mode", "others"}
        Every pair of annotators, every annotator with the `consensus` of all, or with the
        consensus of the others. The mode of all flatters: the annotator has a vote in it.
    ties : {"mean", "lower", "nan"}
        As in `consensus`; of no effect on pairs.

    Returns
    -------
    float
        In [-1, 1]; 1 is perfect. Undefined correlations, of a constant annotator, are left out
        of the mean; nan where none is defined, and for fewer than two annotators.

    Raises
    ------
    ValueError
        For ratings that are no matrix of numbers or are infinite, and for unknown names.

    References
    ----------
    .. [1] Z. Chen et al., "TimeVista: Exploring and Exploiting Vision-Language Models as Judges
       for Time Series Forecasting", 2026. arXiv:2606.16173

    Examples
    --------
    >>> ratings = [[1, 2, 3, 4], [1, 2, 4, 3], [2, 1, 3, 4]]
    >>> round(pairwise_agreement(ratings, statistic="kendall"), 4)  # (2/3 + 2/3 + 1/3) / 3
    0.5556
    """
    check_known("statistic", statistic, ("spearman", "kendall"))
    check_known("reference", against, ("pairs", "mode", "others"))
    check_known("tie rule", ties, _TIES)
    rows = as_ratings("`ratings`", ratings)
    if len(rows) < 2:
        return math.nan
    correlate = spearman if statistic == "spearman" else kendall
    values = np.array([correlate(*pair) for pair in _references(rows, against, ties)])
    defined = values[~np.isnan(values)]
    return float(defined.mean()) if defined.size else math.nan


def consensus(ratings: ArrayLike, *, ties: Ties = "mean") -> np.ndarray:
    """Take the most frequent rating of every unit.

    Parameters
    ----------
    ratings : array_like of shape (annotators, units)
        NaN is a missing rating, and has no vote.
    ties : {"mean", "lower", "nan"}
        What stands where several ratings are equally frequent: their mean, which favours neither
        side but may lie between the scale's steps; the lowest of them; or NaN, no consensus.
        Leaving such units out keeps the easy ones, and so flatters whatever is measured next.

    Returns
    -------
    ndarray of shape (units,)
        In the unit of the ratings; NaN where a unit has no rating.

    Raises
    ------
    ValueError
        For ratings that are no matrix of numbers or are infinite, and for an unknown tie rule.

    Examples
    --------
    >>> ratings = [[4, 2, 1], [4, 3, 1], [5, float("nan"), 2]]
    >>> consensus(ratings)
    array([4. , 2.5, 1. ])
    >>> consensus(ratings, ties="lower")
    array([4., 2., 1.])
    """
    check_known("tie rule", ties, _TIES)
    matrix = as_ratings("`ratings`", ratings)
    agreed = np.full(matrix.shape[1], np.nan)
    units, annotators = np.nonzero(~np.isnan(matrix.T))
    if not units.size:
        return agreed
    values = matrix[annotators, units]
    codes = rank_codes(values)
    levels = np.empty(codes.max() + 1)
    levels[codes] = values
    (units, codes), votes = count_cells([units, codes])
    most = np.zeros(agreed.size, dtype=votes.dtype)
    np.maximum.at(most, units, votes)
    top = votes == most[units]
    rated, lowest, tied = np.unique(units[top], return_index=True, return_counts=True)
    values = levels[codes[top]]
    agreed[rated] = values[lowest] if ties == "lower" else np.add.reduceat(values, lowest) / tied
    if ties == "nan":
        agreed[rated[tied > 1]] = np.nan
    return agreed


def weighted_kappa(
    first: ArrayLike, second: ArrayLike, *, levels: Sequence[float], weights: Weights = "quadratic"
) -> float:
    r"""Compute Cohen's weighted kappa of two annotators.

    .. math:: \kappa_w = 1 - \frac{\sum_{kl} w_{kl} p_{kl}}{\sum_{kl} w_{kl} p_{k\cdot} p_{\cdot l}}

    where :math:`p_{kl}` is the part of the units rated level :math:`k` by the first and :math:`l`
    by the second, and :math:`w_{kl}` is :math:`(k - l)^2`, :math:`|k - l|` or, unweighted, 1 for
    :math:`k \ne l`. Levels count by their place on the scale.

    Parameters
    ----------
    first, second : array_like of shape (units,)
        Ratings; units with a NaN in either are left out.
    levels : sequence of float
        The whole scale, ascending: an unused level still separates its neighbours.
    weights : {"quadratic", "linear", "none"}

    Returns
    -------
    float
        At most 1; 1 is perfect, 0 what chance gives. nan where no unit is left, and where both
        give one and the same rating throughout. Near 0 for skewed ratings that agree: see
        `gwet_ac2`.

    Raises
    ------
    ValueError
        For arrays that are not one-dimensional numbers or differ in length, a rating that is
        none of the levels, fewer than two or unsorted levels, and unknown weights.

    References
    ----------
    .. [1] J. Cohen, "Weighted kappa: nominal scale agreement with provision for scaled
       disagreement or partial credit", Psychological Bulletin 70(4), 1968. doi:10.1037/h0026256

    Examples
    --------
    >>> round(weighted_kappa([1, 2, 3, 3], [1, 2, 3, 1], levels=[1, 2, 3]), 4)
    0.3846
    """
    scale = as_scale(levels)
    apart = disagreement(scale.size, weights)
    one = as_numbers("`first`", first, dimensions=1)
    other = as_numbers("`second`", second, dimensions=1)
    if one.size != other.size:
        raise ValueError(f"`first` has {one.size} values but `second` has {other.size}")
    rows, columns = (
        places_on_scale("`first`", one, scale),
        places_on_scale("`second`", other, scale),
    )
    both = (rows >= 0) & (columns >= 0)
    if not both.any():
        return math.nan
    table = np.zeros(apart.shape)
    np.add.at(table, (rows[both], columns[both]), 1)
    chance = np.sum(apart * np.outer(table.sum(axis=1), table.sum(axis=0))) / table.sum()
    return float(1 - np.sum(apart * table) / chance) if chance > 0 else math.nan


def gwet_ac2(
    ratings: ArrayLike, *, levels: Sequence[float], weights: Weights = "quadratic"
) -> float:
    r"""Compute Gwet's AC2 among annotators (AC1 without weights).

    .. math:: \mathrm{AC}_2 = \frac{p_a - p_e}{1 - p_e}, \quad
        p_a = \frac{1}{n'} \sum_{i : r_i \ge 2} \sum_{kl}
            \frac{r_{ik} (v_{kl} r_{il} - [k = l])}{r_i (r_i - 1)}, \quad
        p_e = \frac{\sum_{kl} v_{kl}}{q (q - 1)} \sum_k \pi_k (1 - \pi_k)

    where :math:`r_{ik}` of the :math:`r_i` ratings of unit :math:`i` are level :math:`k` of
    :math:`q`, :math:`n'` units have two ratings or more, :math:`\pi_k` is the mean of
    :math:`r_{ik} / r_i` over all rated units, and :math:`v_{kl}` is 1 less the weight of
    `weighted_kappa` over its largest. Unlike kappa it does not collapse where nearly all ratings
    are of one level.

    Parameters
    ----------
    ratings : array_like of shape (annotators, units)
        NaN is a missing rating.
    levels : sequence of float
        The whole scale, ascending, used or not: their number enters the chance term.
    weights : {"quadratic", "linear", "none"}

    Returns
    -------
    float
        At most 1; 1 is perfect, 0 what chance gives. nan where no unit has two ratings.

    Raises
    ------
    ValueError
        For ratings that are no matrix of numbers or are none of the levels, fewer than two or
        unsorted levels, and unknown weights.

    References
    ----------
    .. [1] K. L. Gwet, "Computing inter-rater reliability and its variance in the presence of high
       agreement", British Journal of Mathematical and Statistical Psychology 61(1), 2008.
       doi:10.1348/000711006X126600
    .. [2] K. L. Gwet, "Handbook of Inter-Rater Reliability", 4th edition, 2014.

    Examples
    --------
    >>> ratings = [[1, 1, 1, 1, 1, 2], [1, 1, 1, 1, 2, 1]]
    >>> round(gwet_ac2(ratings, levels=[1, 2], weights="none"), 3)
    0.538
    """
    scale = as_scale(levels)
    near = 1 - disagreement(scale.size, weights)
    places = places_on_scale("`ratings`", as_ratings("`ratings`", ratings), scale)
    votes = np.stack([(places == k).sum(axis=0) for k in range(scale.size)], axis=1)  # [U, q]
    votes = votes[votes.any(axis=1)].astype(np.float64)
    raters = votes.sum(axis=1)
    pairs = raters * (raters - 1)
    if not pairs.any():
        return math.nan
    agreeing = np.einsum("ik,kl,il->i", votes, near, votes) - raters
    observed = np.mean(agreeing[pairs > 0] / pairs[pairs > 0])
    shares = np.mean(votes / raters[:, None], axis=0)
    chance = near.sum() / (scale.size * (scale.size - 1)) * np.sum(shares * (1 - shares))
    return float((observed - chance) / (1 - chance))


def _references(rows: np.ndarray, against: str, ties: Ties) -> list[tuple[np.ndarray, np.ndarray]]:
    if against == "pairs":
        return list(combinations(rows, 2))
    if against == "mode":
        agreed = consensus(rows, ties=ties)
        return [(row, agreed) for row in rows]
    others = [np.delete(rows, annotator, axis=0) for annotator in range(len(rows))]
    return [(row, consensus(rest, ties=ties)) for row, rest in zip(rows, others, strict=True)]


_TIES = ("mean", "lower", "nan")
