"""The numbers that the papers publish, as data, to stand beside those of a run."""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path

from timevista_hf.loading.known import check_known

_FOLDER = Path(__file__).parent


def list_published() -> list[str]:
    """List the names of the collections of published numbers.

    Examples
    --------
    >>> list_published()
    ['visual_time_anomaly']
    """
    return sorted(path.stem for path in _FOLDER.glob("*.csv"))


def load_published(name: str) -> list[dict[str, str]]:
    """Load published numbers, a row a number, with all cells as they are printed.

    Parameters
    ----------
    name : {"visual_time_anomaly"}
        Tables 2 to 34 of VisualTimeAnomaly [1]_, with the columns ``table``, ``subset``,
        ``model``, ``metric`` (precision, recall or f1) and ``percent``. Tables 4, 6 and 26 have
        numbers in common.

    Returns
    -------
    list of dict of str to str

    Raises
    ------
    ValueError
        For an unknown name.

    References
    ----------
    .. [1] X. Xu et al., "Can Multimodal LLMs Perform Time Series Anomaly Detection?", 2025.
       arXiv:2502.17812

    Examples
    --------
    >>> rows = load_published("visual_time_anomaly")
    >>> len(rows), rows[0]["table"], rows[0]["subset"], rows[0]["model"]
    (3104, '2', 'sine-global', 'GPT-4o')
    """
    check_known("collection of published numbers", name, list_published())
    return [dict(row) for row in _rows(name)]


@cache
def _rows(name: str) -> tuple[dict[str, str], ...]:
    with (_FOLDER / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return tuple(csv.DictReader(file))
