"""Series with anomalies as rows of a dataset, and back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

import numpy as np

from timevista_hf.cases import AnomalyCase
from timevista_hf.rendering import AnomalyRenderer, AnomalyStyle
from timevista_hf.synthesis.anomalies import (
    AnomalySubset,
    Edition,
    Split,
    find_subset,
    make_anomalies,
)


def anomaly_rows(
    part: str,
    split: str,
    *,
    count: int = 100,
    data_dir: str | Path | None = None,
    with_images: bool = True,
) -> Iterator[dict[str, Any]]:
    """Make the rows of one subset, one after another.

    Parameters
    ----------
    part : str
        Edition and subset, as "corrected/sine-trend".
    split : {"test", "train"}
    count : int
        How many series, ≥ 0.
    data_dir : str or Path, optional
        Where the files of real series lie, see `make_anomalies`.
    with_images : bool
        Whether a row holds the picture.

    Returns
    -------
    iterator of dict
        A value for each feature of the dataset `visual_time_anomaly`.

    Raises
    ------
    ValueError
        At once, as `make_anomalies` does: for an unknown subset, edition or split, and where real
        series are missing.

    Examples
    --------
    >>> row = next(anomaly_rows("corrected/sine-trend", "test", with_images=False))
    >>> row["id"], row["events"]
    ('sine-trend-test-0000', [[149, 165], [348, 363]])
    """
    edition, _, name = part.partition("/")
    cases = make_anomalies(
        name,
        edition=cast(Edition, edition),
        split=cast(Split, split),
        count=count,
        data_dir=data_dir,
    )
    grid: Any = "paper_code" if edition == "paper" else "near_square"
    renderer = AnomalyRenderer(AnomalyStyle(grid=grid)) if with_images else None
    subset = find_subset(name)
    return (
        _row(case, subset, edition, f"{name}/{split}/{index}", renderer)
        for index, case in enumerate(cases)
    )


def anomaly_case(row: Mapping[str, Any]) -> AnomalyCase:
    """Turn a row of the dataset `visual_time_anomaly` into a case.

    Parameters
    ----------
    row : mapping
        With `id`, `series`, `granularity`, `events`, `variates` and `subset`, as plain Python or
        numpy. Mind that ``with_format("numpy")`` alone rounds to float32; add
        ``dtype=numpy.float64``.

    Returns
    -------
    AnomalyCase
        Equal to the one that the row was made of.

    Raises
    ------
    ValueError
        Where the row does not make a valid case.

    Examples
    --------
    >>> row = next(anomaly_rows("corrected/sine-trend", "test", with_images=False))
    >>> anomaly_case(row).steps
    400
    """
    values = np.array([*row["series"]], dtype=np.float64)  # [T, M]
    return AnomalyCase(
        id=str(row["id"]),
        values=values if row["granularity"] == "variate" else values[:, 0],
        granularity=row["granularity"],
        events=np.array([*row["events"]], dtype=np.int64).reshape(-1, 2),
        variates=tuple(int(variate) for variate in row["variates"]),
        subset=row["subset"],
    )


def _row(
    case: AnomalyCase,
    subset: AnomalySubset,
    edition: str,
    seed: str,
    renderer: AnomalyRenderer | None,
) -> dict[str, Any]:
    series = case.values.reshape(case.steps, -1)
    # Without a path: `datasets` would read a file of that name in the working directory instead.
    drawn = {} if renderer is None else {"image": {"bytes": renderer.render(case), "path": None}}
    return {
        "id": case.id,
        **drawn,
        "series": series.tolist(),
        "missing": np.isnan(series).tolist(),
        "events": case.events.tolist(),
        "variates": list(case.variates),
        "subset": subset.name,
        "scenario": subset.scenario,
        "granularity": subset.granularity,
        "anomaly": subset.anomaly,
        "num_variates": subset.num_variates,
        "irregularity": subset.irregularity,
        "base": subset.base,
        "edition": edition,
        "seed": "0" if edition == "paper" else seed,
    }
