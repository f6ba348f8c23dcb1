"""A series with anomalies as numbers, for judges that read."""

from __future__ import annotations

from timevista_hf.cases import AnomalyCase
from timevista_hf.rendering._anomaly_layout import variates_of
from timevista_hf.rendering._window import MOST_POINTS, thinned_curve, written


def describe_anomalies(case: AnomalyCase) -> str:
    """Write a series as numbers, without the truth, for judges that read instead of looking.

    Parameters
    ----------
    case : AnomalyCase

    Returns
    -------
    str
        A line for each variate: its id, the first and last step, and the values to 6 significant
        digits, "nan" where one is missing. Above 4,000 steps, or 16,000 values in all, only the
        extremes are written, as ``step:value``.

    Examples
    --------
    >>> case = AnomalyCase(id="a", values=[0, 9, 0.5], granularity="point", events=[(1, 2)])
    >>> print(describe_anomalies(case))
    Values (steps 0 to 2): 0, 9, 0.5
    """
    columns = variates_of(case)
    names = (
        ["Values"] if len(columns) == 1 else [f"Variate {place}" for place in range(len(columns))]
    )
    most = min(MOST_POINTS, max(_FEWEST, 4 * MOST_POINTS // len(columns)))
    curves = [thinned_curve(0, column, most=most - most % 2) for column in columns]
    return "\n".join(f"{name} {written(curve)}" for name, curve in zip(names, curves, strict=True))


_FEWEST = 20
