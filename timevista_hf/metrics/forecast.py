"""Errors of point forecasts: squared, absolute, scaled, and along a warping path."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike


def mse(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    r"""Average the squared error over the observed steps.

    .. math:: \mathrm{MSE} = \frac{1}{|O|} \sum_{t \in O} (y_t - \hat y_t)^2

    where :math:`y` is the truth, :math:`\hat y` the prediction and :math:`O` the set of steps at
    which neither is NaN.

    Parameters
    ----------
    y_true : array_like of shape (H,)
        The truth.
    y_pred : array_like of shape (H,)
        The prediction, in the unit of `y_true`.

    Returns
    -------
    float
        In [0, ∞), in the squared unit of `y_true`; 0 is perfect. nan where no step is observed,
        and for empty input.

    Raises
    ------
    ValueError
        For arrays that are not one-dimensional numbers, are infinite, or differ in length.

    Examples
    --------
    >>> mse([1, 2, 4], [1, 3, 2])
    1.6666666666666667
    """
    return _mean_loss(np.square, *_horizon(y_true, y_pred))


def mae(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    r"""Average the absolute error over the observed steps.

    .. math:: \mathrm{MAE} = \frac{1}{|O|} \sum_{t \in O} |y_t - \hat y_t|

    where :math:`y` is the truth, :math:`\hat y` the prediction and :math:`O` the set of steps at
    which neither is NaN.

    Parameters
    ----------
    y_true : array_like of shape (H,)
        The truth.
    y_pred : array_like of shape (H,)
        The prediction, in the unit of `y_true`.

    Returns
    -------
    float
        In [0, ∞), in the unit of `y_true`; 0 is perfect. nan where no step is observed, and for
        empty input.

    Raises
    ------
    ValueError
        For arrays that are not one-dimensional numbers, are infinite, or differ in length.

    Examples
    --------
    >>> mae([1, 2, 4], [1, 3, 2])
    1.0
    """
    return _mean_loss(np.absolute, *_horizon(y_true, y_pred))


def mase(
    y_true: ArrayLike, y_pred: ArrayLike, y_past: ArrayLike, *, season_length: int = 1
) -> float:
    r"""Divide the mean absolute error by how much the history moves within a season.

    .. math::
        \mathrm{MASE} = \frac{\mathrm{MAE}(y, \hat y)}
            {\frac{1}{|P|} \sum_{t \in P} |x_t - x_{t-s}|}

    where :math:`x` is the history, :math:`s` the season length and :math:`P` the set of steps
    :math:`s < t \le T` at which neither :math:`x_t` nor :math:`x_{t-s}` is NaN. The denominator is
    the in-sample error of the seasonal naive forecast.

    Parameters
    ----------
    y_true : array_like of shape (H,)
        The truth. Steps at which it or `y_pred` is NaN are left out.
    y_pred : array_like of shape (H,)
        The prediction, in the unit of `y_true`.
    y_past : array_like of shape (T,)
        The history that the forecast was made from, oldest first.
    season_length : int
        Steps in a season, ≥ 1.

    Returns
    -------
    float
        In [0, ∞), without unit; 0 is perfect. Undefined, and nan, where no step is observed,
        where ``season_length >= T``, and where the history has no pair to compare or never
        moves: neither 0 nor infinity would be true.

    Raises
    ------
    ValueError
        For arrays that are not one-dimensional numbers or are infinite, for `y_true` and `y_pred`
        of unequal length, and for a `season_length` that is no integer of at least 1.

    References
    ----------
    .. [1] R. J. Hyndman and A. B. Koehler, "Another look at measures of forecast accuracy",
       International Journal of Forecasting 22(4), 2006. doi:10.1016/j.ijforecast.2006.03.001

    Examples
    --------
    >>> y_past = [5, 2, 4, 7, 3, 6, 4, 1]  # moves by 20 / 7 a step
    >>> round(mase([2, 6, 1, 5, 1], [2.5, 6.5, 1.5, 4.5, 0.5], y_past), 4)
    0.175
    """
    return _scale(mae(y_true, y_pred), _movement(_series("`y_past`", y_past), season_length))


def mase_horizon(y_true: ArrayLike, y_pred: ArrayLike, *, season_length: int = 1) -> float:
    r"""Divide the mean absolute error by how much the truth moves inside the horizon.

    .. math::
        \mathrm{MASE}_H = \frac{\mathrm{MAE}(y, \hat y)}
            {\frac{1}{|P|} \sum_{t \in P} |y_t - y_{t-s}|}

    where :math:`y` is the truth, :math:`s` the season length and :math:`P` the set of steps
    :math:`s < t \le H` at which neither :math:`y_t` nor :math:`y_{t-s}` is NaN.

    This is the convention of the TimeVista paper [1]_, equation 6, kept for comparison with its
    tables. Prefer `mase`: its scale is known when the forecast is made and one per series and
    cutoff. Here a rough horizon excuses the error that a smooth one punishes, and a horizon of a
    season or less has no scale at all.

    Parameters
    ----------
    y_true : array_like of shape (H,)
        The truth. Steps at which it or `y_pred` is NaN are left out of the error.
    y_pred : array_like of shape (H,)
        The prediction, in the unit of `y_true`.
    season_length : int
        Steps in a season, ≥ 1.

    Returns
    -------
    float
        In [0, ∞), without unit; 0 is perfect. Undefined, and nan, where no step is observed,
        where ``season_length >= H``, and where the truth has no pair to compare or never moves.

    Raises
    ------
    ValueError
        For arrays that are not one-dimensional numbers, are infinite, or differ in length, and
        for a `season_length` that is no integer of at least 1.

    References
    ----------
    .. [1] Z. Chen et al., "TimeVista: Exploring and Exploiting Vision-Language Models as Judges
       for Time Series Forecasting", 2026. arXiv:2606.16173

    Examples
    --------
    >>> y_true = [2, 6, 1, 5, 1]  # moves by 17 / 4 a step
    >>> round(mase_horizon(y_true, [2.5, 6.5, 1.5, 4.5, 0.5]), 4)
    0.1176
    """
    return _scale(mae(y_true, y_pred), _movement(_series("`y_true`", y_true), season_length))


def dtw(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    r"""Sum the squared differences along the cheapest warping path.

    .. math:: \mathrm{DTW} = \min_{\pi} \sum_{(i, j) \in \pi} (y_i - \hat y_j)^2

    where :math:`y` is the truth, :math:`\hat y` the prediction, and :math:`\pi` runs over the
    paths from :math:`(1, 1)` to :math:`(n, m)` with steps :math:`(1, 0)`, :math:`(0, 1)` and
    :math:`(1, 1)`. There is no window and no root (TimeVista [1]_, equation 5): libraries that
    return a distance give the square root of this number.

    Parameters
    ----------
    y_true : array_like of shape (n,)
        The truth.
    y_pred : array_like of shape (m,)
        The prediction, in the unit of `y_true`; its length may differ.

    Returns
    -------
    float
        In [0, ∞), in the squared unit of `y_true`; 0 is perfect, and also reached by a forecast
        that only dwells on values for longer or shorter. nan where either array is empty or holds
        a NaN: a gap cannot be left out as in `mae`, because the path goes through it.

    Raises
    ------
    ValueError
        For arrays that are not one-dimensional numbers, or are infinite.

    See Also
    --------
    dtw_batch : Many pairs at once, at a small fraction of the time a pair.

    References
    ----------
    .. [1] Z. Chen et al., "TimeVista: Exploring and Exploiting Vision-Language Models as Judges
       for Time Series Forecasting", 2026. arXiv:2606.16173
    .. [2] H. Sakoe and S. Chiba, "Dynamic programming algorithm optimization for spoken word
       recognition", IEEE Trans. ASSP 26(1), 1978. doi:10.1109/TASSP.1978.1163055

    Examples
    --------
    >>> dtw([0, 0, 1, 3, 1], [0, 1, 3, 1, 1])
    0.0
    >>> dtw([0, 2, 0], [0, 1, 0])
    1.0
    """
    truth, prediction = _series("`y_true`", y_true), _series("`y_pred`", y_pred)
    return float(dtw_batch([truth], [prediction])[0])


def dtw_batch(pairs_true: Sequence[ArrayLike], pairs_pred: Sequence[ArrayLike]) -> np.ndarray:
    """Compute `dtw` of many pairs at once.

    The result is bit for bit that of the pairs one by one. Working memory grows with the longest
    pair and not with the number of pairs; float64 input is not copied as a whole.

    Parameters
    ----------
    pairs_true : sequence of N array_like, or array of shape (N, n)
        The truths, of any lengths.
    pairs_pred : sequence of N array_like, or array of shape (N, m)
        The predictions, in the same order; each in the unit of its truth.

    Returns
    -------
    ndarray of shape (N,)
        One `dtw` a pair, in [0, ∞); 0 is perfect. nan where a pair holds a NaN or an empty array.

    Raises
    ------
    ValueError
        Where the two sequences differ in length, and for arrays that are not one-dimensional
        numbers or are infinite; the message names the pair.

    Examples
    --------
    >>> dtw_batch([[0, 2, 0], [1, 2]], [[0, 1, 0], [1, 1, 4]])
    array([1., 4.])
    """
    truths = [_series(f"pair {k}: `y_true`", values) for k, values in enumerate(pairs_true)]
    predictions = [_series(f"pair {k}: `y_pred`", values) for k, values in enumerate(pairs_pred)]
    if len(truths) != len(predictions):
        raise ValueError(
            f"`pairs_true` has {len(truths)} series but `pairs_pred` has {len(predictions)}"
        )
    sums = np.full(len(truths), np.nan)
    for block in _blocks(truths, predictions):
        columns = np.stack([truths[k] for k in block], axis=1)  # [n, K]
        sums[block] = _path_sums(columns, np.stack([predictions[k] for k in block], axis=1))
    return sums


def forecast_errors(
    y_true: ArrayLike, y_pred: ArrayLike, y_past: ArrayLike, *, season_length: int = 1
) -> dict[str, float]:
    """Compute every error of this module for one forecast.

    Over many forecasts, call the cheap ones per forecast and `dtw_batch` once for all.

    Parameters
    ----------
    y_true : array_like of shape (H,)
        The truth; NaN is treated as each metric says.
    y_pred : array_like of shape (H,)
        The prediction, in the unit of `y_true`.
    y_past : array_like of shape (T,)
        The history that the forecast was made from, oldest first.
    season_length : int
        Steps in a season, ≥ 1.

    Returns
    -------
    dict of str to float
        ``mse``, ``mae``, ``mase``, ``mase_horizon`` and ``dtw``, each in [0, ∞) or nan; 0 is
        perfect.

    Raises
    ------
    ValueError
        As `mase` raises.

    Examples
    --------
    >>> forecast_errors([4, 6], [4, 5], [1, 2, 3])
    {'mse': 0.5, 'mae': 0.5, 'mase': 0.5, 'mase_horizon': 0.25, 'dtw': 1.0}
    """
    return {
        "mse": mse(y_true, y_pred),
        "mae": mae(y_true, y_pred),
        "mase": mase(y_true, y_pred, y_past, season_length=season_length),
        "mase_horizon": mase_horizon(y_true, y_pred, season_length=season_length),
        "dtw": dtw(y_true, y_pred),
    }


def _horizon(y_true: ArrayLike, y_pred: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    truth, prediction = _series("`y_true`", y_true), _series("`y_pred`", y_pred)
    if truth.size != prediction.size:
        raise ValueError(f"`y_true` has {truth.size} steps but `y_pred` has {prediction.size}")
    return truth, prediction


def _series(place: str, values: ArrayLike) -> np.ndarray:
    try:
        series = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{place} must hold numbers: {error}") from error
    if series.ndim != 1:
        raise ValueError(f"{place} must have 1 dimension, got {series.ndim}")
    infinite = np.isinf(series)
    if infinite.any():
        step = int(infinite.argmax())
        raise ValueError(f"{place} must be finite or NaN, got {series[step]} at step {step}")
    return series


def _mean_loss(loss: np.ufunc, left: np.ndarray, right: np.ndarray) -> float:
    with np.errstate(over="ignore"):  # a diverged forecast is a large error, not a warning
        differences = left - right
        observed = differences[~np.isnan(differences)]
        return float(loss(observed).mean()) if observed.size else math.nan


def _movement(series: np.ndarray, season_length: int) -> float:
    """Average the absolute change from one season to the next; nan where there is none."""
    if not isinstance(season_length, (int, np.integer)) or season_length < 1:
        raise ValueError(f"`season_length` must be an integer of at least 1, got {season_length!r}")
    movement = _mean_loss(np.absolute, series[season_length:], series[:-season_length])
    size = _mean_loss(np.absolute, series, np.zeros_like(series))
    return movement if not movement <= _ROUNDING * size else 0.0


def _scale(error: float, movement: float) -> float:
    return error / movement if 0 < movement < math.inf else math.nan


def _blocks(truths: list[np.ndarray], predictions: list[np.ndarray]) -> list[list[int]]:
    """Group the pairs without empty arrays by their two lengths, few enough for the cache."""
    groups: dict[tuple[int, int], list[int]] = defaultdict(list)
    for pair, (truth, prediction) in enumerate(zip(truths, predictions, strict=True)):
        if truth.size and prediction.size:
            groups[truth.size, prediction.size].append(pair)
    blocks = []
    for lengths, pairs in groups.items():
        size = max(1, _BLOCK_VALUES // max(lengths))
        blocks += [pairs[start : start + size] for start in range(0, len(pairs), size)]
    return blocks


def _path_sums(y_true: np.ndarray, y_pred: np.ndarray) -> np.ndarray:
    """Fill the path matrices of K pairs, [n, K] and [m, K], one anti-diagonal after the other."""
    # Row i of a diagonal's buffer is the cell (i, diagonal - i), counted from 1. The border is the
    # infinity of the start: rows that a reused buffer holds from before are never read as border.
    n, m = len(y_true), len(y_pred)
    backwards = np.ascontiguousarray(y_pred[::-1])  # so that a diagonal reads both downwards
    two_back, one_back, here = (np.full((n + 1, y_true.shape[1]), np.inf) for _ in range(3))
    costs = np.empty_like(y_true)
    with np.errstate(over="ignore"):
        one_back[1] = np.square(y_true[0] - y_pred[0])
        for diagonal in range(3, n + m + 1):
            first, stop = max(1, diagonal - m), min(n, diagonal - 1) + 1
            above, rows, shift = slice(first - 1, stop - 1), slice(first, stop), m - diagonal
            cost = costs[: stop - first]
            np.subtract(y_true[above], backwards[first + shift : stop + shift], out=cost)
            np.multiply(cost, cost, out=cost)
            best = np.minimum(one_back[above], one_back[rows], out=here[rows])
            np.minimum(best, two_back[above], out=best)
            np.add(best, cost, out=best)
            two_back, one_back, here = one_back, here, two_back
    ends: np.ndarray = one_back[n]
    return ends


# A change of this share of the values is rounding: a history that repeats exactly, in decimals.
_ROUNDING = 1e-14

# A buffer of a block then takes 256 KiB: far beyond, the buffers fall out of the processor's cache;
# far below, the calls cost more than the arithmetic.
_BLOCK_VALUES = 1 << 15
