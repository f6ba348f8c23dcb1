"""Agreement of a judge with itself, over repeated runs."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral

import numpy as np
from numpy.typing import ArrayLike

from timevista_hf.metrics._checks import as_ratings


@dataclass(frozen=True)
class Consistency:
    """Hold how alike repeated runs of one judge are, over the cases that all runs scored.

    Parameters
    ----------
    exact_match : float
        Part of the complete cases on which all runs agree, in [0, 1]; nan where none is complete.
    histogram : mapping of float to int
        Complete cases by the difference of their highest and lowest score, ascending.
    percent : mapping of float to float
        The same in percent of the complete cases.
    mean_std : float
        Mean over the complete cases of the standard deviation over runs, in the scores' unit.
    complete, incomplete : int
        Cases that every run scored, and those that at least one run did not.
    """

    exact_match: float
    histogram: Mapping[float, int]
    percent: Mapping[float, float]
    mean_std: float
    complete: int
    incomplete: int


def consistency(runs: ArrayLike, *, ddof: int = 1) -> Consistency:
    """Measure how alike the scores of one judge are when it is asked again.

    Only cases that every run scored count; the others are reported as incomplete. A case with a
    failed run would otherwise look more consistent for having fewer scores.

    Parameters
    ----------
    runs : array_like of shape (K, N)
        Scores of N cases in K ≥ 2 runs; NaN where a run has none.
    ddof : int
        K less the divisor of the variance, 0 ≤ ddof < K: 1 for the sample's, 0 for the
        population's. The TimeVista paper's table 6 does not say; by its histogram its mean of
        .1594 is plausible with 1, and with 0 only close to the largest value possible.

    Returns
    -------
    Consistency

    Raises
    ------
    ValueError
        For runs that are no matrix of numbers, are infinite or fewer than two, and for a `ddof`
        out of its range.

    Examples
    --------
    >>> result = consistency([[4, 3, 5, 2], [4, 3, 3, float("nan")]])
    >>> result.histogram, result.complete, result.incomplete
    ({0: 2, 2: 1}, 3, 1)
    >>> round(result.exact_match, 3), round(result.mean_std, 3)
    (0.667, 0.471)
    """
    scores = as_ratings("`runs`", runs)
    if len(scores) < 2:
        raise ValueError(f"`runs` must hold at least 2 runs, got {len(scores)}")
    if not isinstance(ddof, Integral) or not 0 <= ddof < len(scores):
        raise ValueError(f"`ddof` must be an integer from 0 to {len(scores) - 1}, got {ddof!r}")
    complete = scores[:, ~np.isnan(scores).any(axis=0)]  # [K, n]
    n, missing = complete.shape[1], scores.shape[1] - complete.shape[1]
    if not n:
        return Consistency(math.nan, {}, {}, math.nan, 0, missing)
    differences, counts = np.unique(np.ptp(complete, axis=0), return_counts=True)
    steps = [int(step) if step.is_integer() else step for step in differences.tolist()]
    histogram: dict[float, int] = dict(zip(steps, counts.tolist(), strict=True))
    percent = {step: 100 * count / n for step, count in histogram.items()}
    mean_std = float(complete.std(axis=0, ddof=ddof).mean())
    return Consistency(histogram.get(0, 0) / n, histogram, percent, mean_std, n, missing)
