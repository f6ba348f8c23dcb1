"""One self-contained HTML page of a run: the models, every plot and why it got its scores."""

from __future__ import annotations

import base64
import hashlib
import heapq
import math
import os
import struct
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import IO, Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from timevista_hf.cases import ForecastCase
from timevista_hf.io import write_atomically
from timevista_hf.results.forecasts import ModelSummary, case_score
from timevista_hf.rubrics import HIGHEST, LOWEST, MACRO_DIMENSIONS, MICRO_DIMENSIONS, Judgment

MOST_CASES = 2000  # about 150 MB of page; browsers open it within seconds


@dataclass(frozen=True, eq=False)
class CaseReport:
    """Hold what the page shows of one case.

    Parameters
    ----------
    case : ForecastCase
    image : bytes
        The plot, as PNG.
    judgments : sequence of Judgment
        All judgments of this case and model, failed ones too.
    errors : mapping of str to float
        Error metrics by name; nan where one is not defined.
    """

    case: ForecastCase
    image: bytes
    judgments: Sequence[Judgment]
    errors: Mapping[str, float]


def write_report(
    path: str | Path,
    *,
    run: Mapping[str, object],
    models: Sequence[ModelSummary],
    cases: Iterable[CaseReport],
    most: int = MOST_CASES,
) -> None:
    """Write the page of a run, worst cases first, as one file that opens offline.

    Cases are taken one after another, and only their places are kept in memory. They wait in an
    unnamed file beside `path`, since the worst are known only at the end; the page appears under
    its name when it is complete, so that a failure leaves nothing behind.

    Parameters
    ----------
    path : str or Path
        The page, in a folder that exists; an older one is replaced.
    run : mapping
        What was decided, shown as it is; values may be nested. It needs ``"judge"``, the judge's
        name; ``"input"``, the name of the file that was judged, becomes the title.
    models : sequence of ModelSummary
        Best first, as `Scoreboard.summarize` returns them; they count every case.
    cases : iterable of CaseReport
    most : int
        Of more cases than this only the worst are shown, and the page says so. Cases without any
        score count as the last.

    Raises
    ------
    ValueError
        For a run without a judge, `most` below 1, an image that is no PNG, or a folder that does
        not exist.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = Path(folder) / "report.html"
    ...     write_report(page, run={"judge": "builtin"}, models=[], cases=[])
    ...     page.read_text(encoding="utf-8")[:15]
    '<!doctype html>'
    """
    if not run.get("judge"):
        raise ValueError(f"`run` must name the judge under 'judge', got {run.get('judge')!r}")
    if most < 1:
        raise ValueError(f"`most` must be at least 1, got {most!r}")
    path = Path(path)
    environment = _environment()
    with (
        write_atomically(path) as temporary,
        tempfile.TemporaryFile(dir=path.parent) as file,
        temporary.open("w", encoding=_ENCODING[0], errors=_ENCODING[1], newline="\n") as page,
    ):
        spool = _Spool(file, environment, most)
        for report in cases:
            spool.add(report)
        parts = environment.get_template("report.html").generate(
            run=dict(_flatten(run)),
            judge=str(run["judge"]),
            input=run.get("input"),
            models=models,
            dimensions=_ordered({name for model in models for name in model.dimensions}),
            decimals=_decimals(models),
            cases=spool,
            **_assets(),
        )
        page.writelines(parts)


class _Spool:
    """Case blocks on disk, of which the worst `most` are remembered and read back in order."""

    def __init__(self, file: IO[bytes], environment: Environment, most: int) -> None:
        self._file = file
        self._template = environment.get_template("case.html")
        self._most = most
        self._places: list[tuple[tuple[float, ...], int, int]] = []  # heap, best case on top
        self.total = 0
        self.models: dict[str, None] = {}
        self.rubrics: dict[str, None] = {}
        self._statuses: set[str] = set()
        self._dimensions: set[str] = set()

    def add(self, report: CaseReport) -> None:
        """Write one case's block, unless `most` worse ones are known."""
        self._note(report)
        badness = tuple(-part for part in _goodness(report, self.total))
        self.total += 1
        full = len(self._places) == self._most
        if full and badness < self._places[0][0]:
            return
        block = self._template.render(_case_view(report, self.total)).encode(*_ENCODING)
        place = (badness, self._file.seek(0, os.SEEK_END), len(block))
        self._file.write(block)
        (heapq.heapreplace if full else heapq.heappush)(self._places, place)

    def __iter__(self) -> Iterator[Markup]:
        """Yield the blocks, worst case first."""
        for _, start, length in sorted(self._places, reverse=True):
            self._file.seek(start)
            yield Markup(self._file.read(length).decode(_ENCODING[0]))

    def __len__(self) -> int:
        return len(self._places)

    @property
    def dimensions(self) -> list[str]:
        return _ordered(self._dimensions)

    @property
    def failures(self) -> list[str]:
        return sorted(self._statuses - {"ok"})

    def _note(self, report: CaseReport) -> None:
        self.models.setdefault(report.case.model)
        for judgment in report.judgments:
            self.rubrics.setdefault(judgment.rubric)
            self._statuses.add(judgment.status)
            self._dimensions.add(judgment.dimension)


def _goodness(report: CaseReport, position: int) -> tuple[float, ...]:
    """Key that sorts the worst case first, and those without a score last."""
    score = case_score(report.judgments)
    breaches = sum(len(judgment.breaches) for judgment in report.judgments)
    mase = report.errors.get("mase", math.nan)
    return (
        HIGHEST + 1 if math.isnan(score) else score,
        -breaches,
        -mase if math.isfinite(mase) else 0.0,
        position,
    )


def _case_view(report: CaseReport, position: int) -> dict[str, Any]:
    """Everything that the template of one case names."""
    case = report.case
    width, height = _png_size(report)
    return {
        "anchor": _anchor(case),
        "case": case,
        "position": position,
        "score": case_score(report.judgments),
        "judgments": sorted(report.judgments, key=lambda judgment: _rank(judgment.dimension)),
        "breaches": _unique(breach for j in report.judgments for breach in j.breaches),
        "errors": report.errors,
        "width": width,
        "height": height,
        "image": base64.b64encode(report.image).decode("ascii"),
    }


def _png_size(report: CaseReport) -> tuple[int, int]:
    """Width and height from the header, so that the page keeps its layout while images load."""
    head = report.image[:24]
    if len(head) < 24 or not head.startswith(b"\x89PNG\r\n\x1a\n"):
        raise ValueError(f"{report.case.label}: `image` must be a PNG, got {head[:8]!r}")
    width, height = struct.unpack(">II", head[16:24])
    return width, height


def _anchor(case: ForecastCase) -> str:
    """Name of the case's place in the page, the same in every run."""
    key = repr((case.id, case.cutoff, case.model)).encode()
    return f"case-{hashlib.sha256(key).hexdigest()[:12]}"


def _flatten(value: Mapping[str, object], prefix: str = "") -> Iterator[tuple[str, object]]:
    for name, entry in value.items():
        if isinstance(entry, Mapping):
            yield from _flatten(entry, f"{prefix}{name}: ")
        elif isinstance(entry, (list, tuple, set, frozenset)):
            yield f"{prefix}{name}", ", ".join(str(part) for part in entry) or None
        else:
            yield f"{prefix}{name}", entry


def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("timevista_hf.reports", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        number=_number, score=_score, percent=_percent, words=_words, level=_level, place=_place
    )
    environment.globals["nan"] = math.nan
    environment.tests["defined_number"] = math.isfinite
    return environment


def _assets() -> dict[str, Markup | str]:
    """Style and script with the hashes that alone the page's security policy lets run."""
    assets: dict[str, Markup | str] = {}
    for kind, name in (("style", "report.css"), ("script", "report.js")):
        text = files("timevista_hf.reports").joinpath("templates", name).read_text(encoding="utf-8")
        digest = hashlib.sha256(text.encode()).digest()
        assets[kind] = Markup(text)
        assets[f"{kind}_hash"] = base64.b64encode(digest).decode("ascii")
    return assets


def _decimals(models: Sequence[ModelSummary]) -> dict[str, int]:
    """Decimals of each error metric that give the smallest mean three digits, at most four."""
    columns: dict[str, int] = {}
    for model in models:
        for name, value in model.errors.items():
            columns[name] = max(columns.get(name, 0), min(4, _places(value, digits=3)))
    return columns


def _number(value: float, decimals: int | None = None) -> str:
    """Write an error, with four significant digits where the decimals are not given."""
    if not math.isfinite(value):
        return "–"
    if value and not 1e-4 <= abs(value) < 1e7:
        return f"{value:.3e}"
    return f"{value:,.{_places(value, digits=4) if decimals is None else decimals}f}"


def _places(value: float, *, digits: int) -> int:
    """Decimals that a number needs to show so many significant digits."""
    if not value or not math.isfinite(value):
        return 0
    return max(0, digits - 1 - math.floor(math.log10(abs(value))))


def _score(value: float) -> str:
    return f"{value:.2f}" if math.isfinite(value) else "–"


def _percent(value: float) -> str:
    """Write a part in percent, rounded down: 100 % means all."""
    return f"{math.floor(value * 1000) / 10:.1f} %" if math.isfinite(value) else "–"


def _words(name: str) -> str:
    return name.replace("_", " ")


def _level(value: float) -> int:
    """Step of the colour ramp, 1 to 5."""
    return min(HIGHEST, max(LOWEST, math.floor(value + 0.5)))


def _place(value: float) -> str:
    """Place of a score on the axis from 1 to 5, in percent."""
    return f"{(value - LOWEST) / (HIGHEST - LOWEST) * 100:.1f}"


def _rank(dimension: str) -> tuple[int, str]:
    order = (*MICRO_DIMENSIONS, *MACRO_DIMENSIONS)
    return (order.index(dimension) if dimension in order else len(order), dimension)


def _ordered(dimensions: Iterable[str]) -> list[str]:
    return sorted(dimensions, key=_rank)


def _unique(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))


_ENCODING = ("utf-8", "backslashreplace")  # a lone surrogate in a file's text must not end the run
