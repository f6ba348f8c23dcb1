"""What of a case is shown: the last steps of its history, thinned where there are too many."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from tsdownsample import MinMaxDownsampler

from timevista_hf.cases import ForecastCase
from timevista_hf.rendering._style import check_context

# Two extremes in every half pixel of a picture 1,000 pixels wide: more cannot be seen.
MOST_POINTS = 4000


@dataclass(frozen=True, eq=False)
class Curve:
    """Values at their steps; step 1 is the first of the forecast, step 0 the last known."""

    steps: np.ndarray  # [N], int64
    values: np.ndarray  # [N]

    @property
    def thinned(self) -> bool:
        """Whether steps were left out."""
        return bool(self.steps[-1] - self.steps[0] + 1 > self.steps.size)

    @property
    def isolated(self) -> np.ndarray:
        """Mask of the values without an observed neighbour, which no line can show."""
        observed = np.isfinite(self.values)
        before = np.concatenate([[False], observed[:-1]])
        after = np.concatenate([observed[1:], [False]])
        return np.asarray(observed & ~before & ~after)


def shown_history(case: ForecastCase, context: int | None) -> np.ndarray:
    """Return the last `context` steps of the history, or the last three horizons."""
    return case.history[-(3 * case.horizon if context is None else context) :]


def thinned_curve(first: int, values: np.ndarray, most: int | None = None) -> Curve:
    """Thin values from step `first` on to about `most`, or `MOST_POINTS`; keep extremes, gaps."""
    kept = _kept(values, most or MOST_POINTS)
    return Curve(first + kept, values[kept])


def describe_case(case: ForecastCase, *, context: int | None = None) -> str:
    """Write a case as numbers, for judges that read instead of looking.

    Parameters
    ----------
    case : ForecastCase
    context : int, optional
        Steps of history written, ≥ 1; None writes the last three horizons, as in the picture.

    Returns
    -------
    str
        One line each for "History", "Truth" and "Forecast": the first and last step, and the
        values to 6 significant digits, "nan" where one is missing. Step 1 is the first that was
        forecast. Above 4,000 steps only the extremes are written, as ``step:value``.

    Raises
    ------
    ValueError
        For a `context` below 1.

    Examples
    --------
    >>> case = ForecastCase(id="a", history=[1, 2, 3], truth=[4, 5], prediction=[4, 6.5])
    >>> print(describe_case(case, context=2))
    History (steps -1 to 0): 2, 3
    Truth (steps 1 to 2): 4, 5
    Forecast (steps 1 to 2): 4, 6.5
    """
    if context is not None:
        check_context(context)
    history = shown_history(case, context)
    curves = {
        "History": thinned_curve(1 - history.size, history),
        "Truth": thinned_curve(1, case.truth),
        "Forecast": thinned_curve(1, case.prediction),
    }
    return "\n".join(f"{name} {written(curve)}" for name, curve in curves.items())


def written(curve: Curve) -> str:
    """Write the steps of a curve and its values to 6 significant digits."""
    texts = [f"{value:.6g}" for value in curve.values]
    span = f"steps {curve.steps[0]} to {curve.steps[-1]}"
    if curve.thinned:
        pairs = [f"{step}:{text}" for step, text in zip(curve.steps, texts, strict=True)]
        return f"({span}, extremes as step:value): {', '.join(pairs)}"
    return f"({span}): {', '.join(texts)}"


def _kept(values: np.ndarray, most: int) -> np.ndarray:
    if values.size <= most:
        return np.arange(values.size)
    downsampler = MinMaxDownsampler()  # type: ignore[no-untyped-call]
    extremes = downsampler.downsample(values, n_out=most).astype(np.int64)
    ends = np.array([0, values.size - 1])
    return np.unique(np.concatenate([extremes, _gap_edges(values, most), ends]))


def _gap_edges(values: np.ndarray, most: int) -> np.ndarray:
    # A gap narrower than a bin is narrower than a pixel; the extremes alone would close all gaps.
    missing = np.concatenate([[False], np.isnan(values), [False]])
    start, stop = np.flatnonzero(np.diff(missing)).reshape(-1, 2).T  # [gaps], half-open
    wide = stop - start >= np.ceil(2 * values.size / most)
    edges = np.concatenate([start[wide] - 1, start[wide], stop[wide]])
    return edges[(edges >= 0) & (edges < values.size)]
