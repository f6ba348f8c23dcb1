"""What is judged: a forecast of one series, or one with anomalies, as read-only arrays."""

from __future__ import annotations

from dataclasses import dataclass, field
from numbers import Integral
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from timevista_hf.loading.known import check_known

Granularity = Literal["point", "range", "variate"]


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


@dataclass(frozen=True, eq=False, kw_only=True)
class AnomalyCase:
    """Hold a series, or several of equal length, and where it is anomalous.

    Steps are equidistant and counted from 0; a missing one is NaN. The arrays are copied, cast
    and made read-only.

    Parameters
    ----------
    id : str
        Name of the series.
    values : array_like of shape (T,) or (T, M)
        One variate, or M side by side; T ≥ 2, M ≥ 2.
    granularity : {"point", "range", "variate"}
        What is to be found: single steps, runs of steps, or whole variates.
    events : array_like of shape (E, 2)
        Half-open (start, stop) of the anomalies in steps: in order, apart, inside the series. A
        point is one step long, and may touch the next. Empty where variates are to be found, and
        in a clean series.
    variates : sequence of int of length K
        The anomalous variates, counted from 0, ascending; only where they are to be found.
    subset : str, optional
        The benchmark's subset that it belongs to.

    Raises
    ------
    ValueError
        For values that hold no numbers, are infinite or of another shape, for an unknown
        granularity, and for labels that do not fit it or the series.

    Examples
    --------
    >>> case = AnomalyCase(id="a", values=[0, 9, 0, 0], granularity="point", events=[(1, 2)])
    >>> case.steps, case.num_variates
    (4, 1)
    """

    id: str
    values: np.ndarray  # [T] or [T, M]
    granularity: Granularity
    events: np.ndarray = field(default_factory=lambda: np.empty((0, 2), dtype=np.int64))  # [E, 2]
    variates: tuple[int, ...] = ()
    subset: str | None = None

    def __post_init__(self) -> None:
        check_known("`granularity`", self.granularity, get_args(Granularity))
        for name in ("values", "events"):
            array = getattr(self, f"_{name}")()
            array.setflags(write=False)
            object.__setattr__(self, name, array)
        object.__setattr__(self, "variates", self._ids())

    @property
    def steps(self) -> int:
        """Length of the series, T."""
        return int(self.values.shape[0])

    @property
    def num_variates(self) -> int:
        """Number of variates, M; 1 for a series alone."""
        return int(self.values.shape[1]) if self.values.ndim == 2 else 1

    @property
    def label(self) -> str:
        """The case in words, for errors and headings."""
        return f"series {self.id!r}"

    def _values(self) -> np.ndarray:
        try:
            values = _floats(self.values)
        except (TypeError, ValueError, OverflowError) as error:
            raise ValueError(f"{self.label}: `values` must hold numbers: {error}") from error
        dimensions = 2 if self.granularity == "variate" else 1
        if values.ndim != dimensions or min(values.shape) < 2:
            asked = "(T, M) with T, M ≥ 2" if dimensions == 2 else "(T,) with T ≥ 2"
            raise ValueError(
                f"{self.label}: to find a {self.granularity}, `values` must have the shape "
                f"{asked}, got {values.shape}"
            )
        if np.isinf(values).any():
            raise ValueError(f"{self.label}: `values` must be finite, or NaN where missing")
        return values

    def _events(self) -> np.ndarray:
        given = np.asarray(self.events)
        events = given.reshape(-1, 2) if given.size == 0 else given
        whole = events.size == 0 or events.dtype.kind in "iu"
        if not whole or events.ndim != 2 or events.shape[1] != 2:
            raise ValueError(f"{self.label}: `events` must be pairs of integers, got {given!r}")
        if events.size and self.granularity == "variate":
            raise ValueError(f"{self.label}: variates are to be found, but `events` are given")
        gap = 0 if self.granularity == "point" else 1
        starts, stops = events.T.astype(np.int64)
        inside = starts.size == 0 or (starts[0] >= 0 and stops[-1] <= self.steps)
        if not inside or (stops <= starts).any() or (starts[1:] < stops[:-1] + gap).any():
            raise ValueError(
                f"{self.label}: `events` must be half-open, in order, apart and within "
                f"0 to {self.steps}, got {events.tolist()}"
            )
        if self.granularity == "point" and (stops - starts != 1).any():
            raise ValueError(f"{self.label}: a point must be one step long: {events.tolist()}")
        return events.astype(np.int64)

    def _ids(self) -> tuple[int, ...]:
        ids = tuple(self.variates)
        if ids and self.granularity != "variate":
            raise ValueError(f"{self.label}: `variates` are given, but no variate is to be found")
        known = all(isinstance(one, Integral) and 0 <= one < self.num_variates for one in ids)
        if not known or sorted(set(ids)) != [*ids]:
            raise ValueError(
                f"{self.label}: `variates` must be ascending integers from 0 to "
                f"{self.num_variates - 1}, got {ids!r}"
            )
        return tuple(int(one) for one in ids)


def _floats(values: ArrayLike) -> np.ndarray:
    if isinstance(values, np.ma.MaskedArray):
        values = np.ma.filled(values.astype(np.float64), np.nan)
    kind = np.asarray(values).dtype.kind
    if kind not in "biufO":  # numpy would read text and dates as numbers, and halve complex ones
        raise TypeError(f"got an array of kind {kind!r}")
    return np.array(values, dtype=np.float64)
