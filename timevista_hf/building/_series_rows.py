"""Series of TimeVista as rows of a dataset, and forecasts of them as cases."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from timevista_hf.cases import AnomalyCase, ForecastCase
from timevista_hf.loading.known import check_known
from timevista_hf.rendering import AnomalyRenderer, AnomalyStyle
from timevista_hf.rubrics import select_rubrics
from timevista_hf.sources import SourceSeries, list_sources, load_source, read_series
from timevista_hf.synthesis.timevista import COUNT, EDITION, GROUPS, SyntheticSeries, make_series

SYNTHETIC = "synthetic"


def series_parts() -> list[str]:
    """Name the parts of the dataset `timevista`: five synthetic groups, then the real datasets.

    Examples
    --------
    >>> series_parts()[:6]  # doctest: +NORMALIZE_WHITESPACE
    ['synthetic/trend', 'synthetic/motif', 'synthetic/phase', 'synthetic/magnitude',
     'synthetic/general', 'australia_solar']
    """
    return [*(f"{SYNTHETIC}/{group}" for group in GROUPS), *list_sources()]


def series_rows(
    part: str, *, data_dir: str | Path | None = None, with_images: bool = False
) -> Iterator[dict[str, Any]]:
    """Make the rows of one part, one after another.

    Parameters
    ----------
    part : str
        One of `series_parts`.
    data_dir : str or Path, optional
        Where the files of real datasets lie, see `timevista_hf.sources.read_series`.
    with_images : bool
        Whether a row holds a picture.

    Returns
    -------
    iterator of dict
        A value for each feature of the dataset `timevista`.

    Raises
    ------
    ValueError
        At once, for an unknown part, and where the files of a real dataset are not there and
        cannot be downloaded. While rows are taken, for a file that cannot be read.

    Examples
    --------
    >>> row = next(series_rows("synthetic/phase"))
    >>> row["id"], len(row["history"]), len(row["truth"])
    ('phase-00', 107, 32)
    """
    check_known("part", part, series_parts())
    draw = _Pictures() if with_images else None
    dataset = part.partition("/")[0]
    if dataset == SYNTHETIC:
        first = series_parts().index(part)
        numbers = range(first, COUNT, len(GROUPS))
        return (_synthetic_row(make_series(number), draw) for number in numbers)
    return (_real_row(series, draw) for series in read_series(dataset, data_dir=data_dir))


def series_case(
    row: Mapping[str, Any], prediction: ArrayLike, *, model: str = "prediction"
) -> ForecastCase:
    """Make the case of a forecast of a row of the dataset `timevista`.

    Parameters
    ----------
    row : mapping
        With `id`, `dataset`, `history`, `truth`, `freq`, `unit` and `season_length`, as plain
        Python or numpy. Mind that ``with_format("numpy")`` alone rounds to float32; add
        ``dtype=numpy.float64``.
    prediction : array_like of shape (H,)
        In the unit of the truth.
    model : str
        Name of the model.

    Returns
    -------
    ForecastCase

    Raises
    ------
    ValueError
        Where these do not make a valid case.

    Examples
    --------
    >>> row = next(series_rows("synthetic/phase"))
    >>> series_case(row, row["history"][-32:], model="last steps").horizon
    32
    """
    return ForecastCase(
        id=str(row["id"]),
        history=np.asarray(row["history"], dtype=np.float64),
        truth=np.asarray(row["truth"], dtype=np.float64),
        prediction=np.asarray(prediction),
        model=model,
        dataset=row["dataset"],
        unit=row["unit"],
        freq=row["freq"],
        season_length=None if row["season_length"] is None else int(row["season_length"]),
    )


class _Pictures:
    """Draw the last three horizons of history, and the truth on shaded ground."""

    def __init__(self) -> None:
        self._renderer = AnomalyRenderer(AnomalyStyle(height=300, marks=True))

    def __call__(self, history: np.ndarray, truth: np.ndarray) -> dict[str, Any]:
        shown = np.concatenate([history[-3 * truth.size :], truth])
        future = [(shown.size - truth.size, shown.size)]
        case = AnomalyCase(id="", values=shown, granularity="range", events=np.array(future))
        # Without a path: `datasets` would read a file of that name instead.
        return {"bytes": self._renderer.render(case), "path": None}


def _synthetic_row(series: SyntheticSeries, draw: _Pictures | None) -> dict[str, Any]:
    provenance = {
        "group": series.group,
        "trend": series.kernel_name,
        "amplitude": series.amplitude_name,
        "motif": series.motif_name,
        "phase": series.phase_name,
        "seed": series.seed,
        "edition": EDITION,
    }
    parts = ("trend", "amplitude", "motif", "phase")
    return {
        **_common(series, SYNTHETIC, draw),
        "domain": "Synthetic",
        "freq": None,
        "start": None,
        "unit": None,
        "components": {part: getattr(series, part).tolist() for part in parts},
        "provenance": json.dumps(provenance, ensure_ascii=False),
    }


def _real_row(series: SourceSeries, draw: _Pictures | None) -> dict[str, Any]:
    return {
        **_common(series, series.dataset, draw),
        "domain": load_source(series.dataset).domain,
        "freq": series.freq,
        "start": series.start,
        "unit": series.unit,
        "components": None,
        "provenance": json.dumps(series.provenance, ensure_ascii=False),
    }


def _common(
    series: SyntheticSeries | SourceSeries, dataset: str, draw: _Pictures | None
) -> dict[str, Any]:
    return {
        "id": series.id,
        "dataset": dataset,
        "history": series.history.tolist(),
        "truth": series.truth.tolist(),
        "season_length": series.season_length,
        "rubrics": _rubrics(dataset),
        **({} if draw is None else {"image": draw(series.history, series.truth)}),
    }


@cache
def _rubrics(dataset: str) -> list[dict[str, str]]:
    known = None if dataset == SYNTHETIC else dataset
    return [
        {
            "level": rubric.level,
            "dimension": rubric.dimension,
            "rubric": rubric.identity,
            "text": "\n\n".join(rubric.instruction),
        }
        for rubric in (*select_rubrics("micro"), *select_rubrics("macro", dataset=known))
    ]
