"""What a page shows of a case, and which of two cases is the worse."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from timevista_hf.cases import ForecastCase
from timevista_hf.results.forecasts import case_score
from timevista_hf.rubrics import HIGHEST, MACRO_DIMENSIONS, MICRO_DIMENSIONS, Judgment

ENCODING = ("utf-8", "backslashreplace")  # a lone surrogate in a file's text must not end the run


@dataclass(frozen=True, eq=False)
class CaseReport:
    """Hold what the page shows of one case.

    Parameters
    ----------
    case : ForecastCase
    image : bytes, callable or None
        The plot, as PNG; or a function that gives it, which is called for the cases that the page
        opens with, and for no others.
    judgments : sequence of Judgment
        All judgments of this case and model, failed ones too.
    errors : mapping of str to float
        Error metrics by name; nan where one is not defined.
    plot : str, optional
        Where the plot is, as an address relative to the page's; shown when the case is opened.
    """

    case: ForecastCase
    image: bytes | Callable[[], bytes] | None
    judgments: Sequence[Judgment]
    errors: Mapping[str, float]
    plot: str | None = None


def rank(report: CaseReport) -> tuple[float, float, float]:
    """Return a key that sorts the worst case first, and those without a score last."""
    score = case_score(report.judgments)
    breaches = sum(len(judgment.breaches) for judgment in report.judgments)
    mase = report.errors.get("mase", math.nan)
    return (
        HIGHEST + 1 if math.isnan(score) else score,
        -breaches,
        -mase if math.isfinite(mase) else 0.0,
    )


def draw_lot(case: ForecastCase, seed: int) -> int:
    """Return a number that is random among cases, and the same in every run with that seed."""
    key = repr((seed, case.id, case.cutoff, case.model)).encode(*ENCODING)
    return int.from_bytes(hashlib.sha256(key).digest()[:8], "big")


def anchor(case: ForecastCase) -> str:
    """Name the case's place in the page, the same in every run; the page's script does too."""
    parts = (case.id, case.cutoff or "", case.model)
    # What `encodeURIComponent` leaves as it is.
    return "/".join(["case", *(quote(plain(part), safe="!'()*") for part in parts)])


def plain(text: str) -> str:
    """Spell out what UTF-8 cannot hold."""
    return text.encode(*ENCODING).decode(ENCODING[0])


def in_order(judgments: Iterable[Judgment]) -> list[Judgment]:
    """Sort judgments by their dimension: micro, macro, then any others by name."""
    return sorted(judgments, key=lambda judgment: order_of(judgment.dimension))


def order_of(dimension: str) -> tuple[int, str]:
    """Return a key that sorts dimensions."""
    order = (*MICRO_DIMENSIONS, *MACRO_DIMENSIONS)
    return (order.index(dimension) if dimension in order else len(order), dimension)


def broken(judgments: Iterable[Judgment]) -> list[str]:
    """List the hard constraints that a forecast breaks, each once."""
    return list(dict.fromkeys(breach for each in judgments for breach in each.breaches))
