"""What is judged: one forecast of one series, as validated, read-only arrays."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral

import numpy as np
from numpy.typing import ArrayLike


@dataclass(frozen=True, eq=False, kw_only=True)
class ForecastCase:
    """Hold one forecast with the history it came from and the truth that followed.

    Steps are equidistant; a missing step is NaN, or masked. The arrays are copied, cast to
    float64 and made read-only.

    Parameters
    ----------
    id : str
        Name of the series. A case is told apart by `id`, `cutoff` and `model`.
    history : array_like of shape (T,)
        The steps before the forecast, oldest first; T ≥ 1.
    truth : array_like of shape (H,)
        What came after, H ≥ 2; at least two steps are observed.
    prediction : array_like of shape (H,)
        What the model said would come, in the unit of `truth`.
    model : str
        Name of the model; never shown to a judge.
    cutoff : str, optional
        Last step of the history, as text, where a series is forecast from several of them.
    dataset, unit, freq : str, optional
        What the series is, its unit, and its step as a pandas offset alias.
    season_length : int, optional
        Steps in a season, ≥ 1; None where it is not known.

    Raises
    ------
    ValueError
        For arrays that hold no numbers, are not one-dimensional, too short, infinite, or of
        unequal length, where fewer than two steps hold both truth and prediction, and for a
        season that is no integer of at least 1.

    Examples
    --------
    >>> case = ForecastCase(id="a", history=[1, 2, 3], truth=[4, 5], prediction=[4, 6])
    >>> case.horizon
    2
    """

    id: str
    history: np.ndarray  # [T]
    truth: np.ndarray  # [H]
    prediction: np.ndarray  # [H]
    model: str = "prediction"
    cutoff: str | None = None
    dataset: str | None = None
    unit: str | None = None
    freq: str | None = None
    season_length: int | None = None

    def __post_init__(self) -> None:
        for name in ("history", "truth", "prediction"):
            object.__setattr__(self, name, self._array(name, getattr(self, name)))
        if self.truth.size != self.prediction.size:
            raise ValueError(
                f"{self.label}: `truth` has {self.truth.size} steps but `prediction` has "
                f"{self.prediction.size}"
            )
        shared = int(np.sum(np.isfinite(self.truth) & np.isfinite(self.prediction)))
        if shared < 2:
            raise ValueError(
                f"{self.label}: `truth` and `prediction` share {shared} observed steps, "
                "at least 2 are needed"
            )
        season = self.season_length
        if season is not None and (not isinstance(season, Integral) or season < 1):
            raise ValueError(
                f"{self.label}: `season_length` must be an integer of at least 1, got {season!r}"
            )

    @property
    def horizon(self) -> int:
        """Number of forecast steps, H."""
        return int(self.truth.size)

    @property
    def label(self) -> str:
        """The case in words, for errors and headings."""
        window = f", cutoff {self.cutoff}" if self.cutoff else ""
        return f"series {self.id!r}{window}, model {self.model!r}"

    def _array(self, name: str, values: ArrayLike) -> np.ndarray:
        try:
            array = _floats(values)
        except (TypeError, ValueError, OverflowError) as error:
            raise ValueError(f"{self.label}: `{name}` must hold numbers: {error}") from error
        if array.ndim != 1:
            raise ValueError(f"{self.label}: `{name}` must have 1 dimension, got {array.ndim}")
        if array.size == 0:
            raise ValueError(f"{self.label}: `{name}` must not be empty")
        if np.isinf(array).any():
            step = int(np.flatnonzero(np.isinf(array))[0])
            raise ValueError(f"{self.label}: `{name}` must be finite, got {array[step]} at {step}")
        array.setflags(write=False)
        return array


def _floats(values: ArrayLike) -> np.ndarray:
    if isinstance(values, np.ma.MaskedArray):
        values = np.ma.filled(values.astype(np.float64), np.nan)
    kind = np.asarray(values).dtype.kind
    if kind not in "biufO":  # numpy would read text and dates as numbers, and halve complex ones
        raise TypeError(f"got an array of kind {kind!r}")
    return np.array(values, dtype=np.float64)
