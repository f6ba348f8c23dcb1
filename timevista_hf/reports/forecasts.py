"""One self-contained HTML page of a run: the models, and every case with why it got its scores."""

from __future__ import annotations

import base64
import hashlib
import math
import struct
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup

from timevista_hf.io import write_atomically
from timevista_hf.reports import numbers
from timevista_hf.reports.cases import (
    ENCODING,
    CaseReport,
    anchor,
    broken,
    draw_lot,
    in_order,
    order_of,
    rank,
)
from timevista_hf.reports.picks import Picks
from timevista_hf.reports.rows import PackedRows, RowSpool
from timevista_hf.results.forecasts import ModelSummary, case_score

WORST = 100  # cases that a page opens with
SAMPLE = 100  # cases of a fair sample, that it opens with too
MAX_BYTES = 20_000_000
MOST_MODELS = 1000


def write_report(
    path: str | Path,
    *,
    run: Mapping[str, object],
    models: Sequence[ModelSummary],
    cases: Iterable[CaseReport],
    worst: int = WORST,
    sample: int = SAMPLE,
    seed: int = 0,
    max_bytes: int = MAX_BYTES,
) -> None:
    """Write the page of a run, worst cases first, as one file that opens offline.

    The page lists every case and searches all of them. It opens with the plots of the worst, and
    with those of a fair sample, which has as many of each model as can be.

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
        Taken one after another. Only the picked ones and a few numbers of each other are kept in
        memory; the rest waits in an unnamed file beside `path`.
    worst, sample : int
        How many cases the page opens with, of each kind, ≥ 0; if there are no more cases than both
        together, it opens with all. Cases without any score are not among the worst.
    seed : int
        Of the sample.
    max_bytes : int
        The page never has more; it says what it leaves out. The models are always on it.

    Raises
    ------
    ValueError
        For a run without a judge, a negative number of cases, an image that is no PNG, or a folder
        that does not exist.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = Path(folder) / "report.html"
    ...     write_report(page, run={"judge": "builtin"}, models=[], cases=[])
    ...     page.read_text(encoding="utf-8")[:15]
    '<!doctype html>'
    """
    with ReportSpool(Path(path).parent, worst=worst, sample=sample, seed=seed) as spool:
        for report in cases:
            spool.add(report)
        spool.write(path, run=run, models=models, max_bytes=max_bytes)


class ReportSpool:
    """Collect the cases of a page while they stream by, and write it when all are known.

    Parameters
    ----------
    folder : Path
        Where the rows wait, in an unnamed file.
    worst, sample, seed : int
        As in `write_report`.
    """

    def __init__(
        self, folder: Path, *, worst: int = WORST, sample: int = SAMPLE, seed: int = 0
    ) -> None:
        if worst < 0 or sample < 0:
            raise ValueError(f"`worst` and `sample` must be at least 0, got {worst} and {sample}")
        if not folder.is_dir():
            raise ValueError(f"{folder}: this folder does not exist; create it first")
        self._sizes, self._seed = (worst, sample), seed
        self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115
        self._rows = RowSpool(self._file)
        # A small run is shown whole.
        self._picks: Picks[_Entry] = Picks(worst=worst + sample, sample=sample)
        self._seen = _Seen()

    def __enter__(self) -> ReportSpool:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def add(self, report: CaseReport) -> None:
        """Take the next case."""
        entry = _Entry(rank(report), len(self._rows), report)
        lot = draw_lot(report.case, self._seed)
        self._picks.offer(entry, rank=entry.rank, group=report.case.model, lot=lot)
        self._rows.add(report)
        self._seen.note(report)

    def write(
        self,
        path: str | Path,
        *,
        run: Mapping[str, object],
        models: Sequence[ModelSummary],
        max_bytes: int = MAX_BYTES,
    ) -> None:
        """Write the page of all cases so far; the parameters are those of `write_report`."""
        environment = _environment()
        page = environment.get_template("report.html")
        facts = _facts(run, models, seen=self._seen, max_bytes=max_bytes)
        worst, sample = self._picked()
        rows, cards = PackedRows(len(self._rows)), _Cards(worst, sample)
        frame = _size(page.render(facts, rows=rows, cards=cards))
        room = max(0, max_bytes - frame - _SLACK)
        rows = self._rows.pack(room, sample=[entry.position for entry in sample])
        cards.fill(environment.get_template("case.html"), max(room // 2, room - rows.size))
        rows = rows.cut(room - cards.size)
        with (
            write_atomically(path) as temporary,
            temporary.open("w", encoding=ENCODING[0], errors=ENCODING[1], newline="\n") as file,
        ):
            file.writelines(page.generate(facts, rows=rows, cards=cards))

    def _picked(self) -> tuple[list[_Entry], list[_Entry]]:
        worst, sample = self._picks.worst(), self._picks.sample()
        if len(self._rows) <= sum(self._sizes):
            return worst, []
        return worst[: self._sizes[0]], sample


def _facts(
    run: Mapping[str, object], models: Sequence[ModelSummary], **others: object
) -> dict[str, object]:
    """Everything that the page's template names but for the cases."""
    if not run.get("judge"):
        raise ValueError(f"`run` must name the judge under 'judge', got {run.get('judge')!r}")
    return {
        "run": dict(_flatten(run)),
        "judge": str(run["judge"]),
        "input": run.get("input"),
        "models": models,
        "most_models": MOST_MODELS,
        "dimensions": _ordered({name for model in models for name in model.dimensions}),
        "decimals": _decimals(models),
        **_assets(),
        **others,
    }


@dataclass(frozen=True, eq=False)
class _Entry:
    rank: tuple[float, float, float]
    position: int
    report: CaseReport


@dataclass
class _Seen:
    """What all cases together say: names to choose by, and how many plots there are."""

    models: dict[str, None] = field(default_factory=dict)
    rubrics: dict[str, None] = field(default_factory=dict)
    statuses: set[str] = field(default_factory=set)
    names: set[str] = field(default_factory=set)
    images: int = 0
    plots: int = 0

    def note(self, report: CaseReport) -> None:
        self.models.setdefault(report.case.model)
        self.images += report.image is not None
        self.plots += report.plot is not None
        for judgment in report.judgments:
            self.rubrics.setdefault(judgment.rubric)
            self.statuses.add(judgment.status)
            self.names.add(judgment.dimension)

    @property
    def dimensions(self) -> list[str]:
        return _ordered(self.names)

    @property
    def failures(self) -> list[str]:
        return sorted(self.statuses - {"ok"})


class _Cards:
    """The cases that the page opens with, as many as fit."""

    def __init__(self, worst: Sequence[_Entry], sample: Sequence[_Entry]) -> None:
        self._worst, self._sample = worst, sample
        self._blocks: dict[_Entry, str] = {}
        self.sampled = len(sample)
        self.size = 0

    def fill(self, template: Template, room: int) -> None:
        """Draw the cases, the worst and the sample by turns."""
        for entry in chain.from_iterable(zip_longest(self._worst, self._sample)):
            if entry is None or entry in self._blocks:
                continue
            block = template.render(_case_view(entry))
            if self.size + _size(block) > room:
                return
            self._blocks[entry] = block
            self.size += _size(block)

    def __iter__(self) -> Iterator[Markup]:
        """Yield the blocks, worst case first."""
        for entry in sorted(self._blocks, key=lambda entry: (entry.rank, entry.position)):
            yield Markup(self._blocks[entry])

    def __len__(self) -> int:
        return len(self._blocks)

    @property
    def counts(self) -> dict[str, int]:
        """How many are the worst, how many are of the sample, and how many are both."""
        worst, sample = ({*self._blocks} & {*kind} for kind in (self._worst, self._sample))
        return {"worst": len(worst), "sample": len(sample), "both": len(worst & sample)}


def _case_view(entry: _Entry) -> dict[str, Any]:
    """Everything that the template of one case names."""
    report = entry.report
    image = report.image() if callable(report.image) else report.image
    return {
        "anchor": anchor(report.case),
        "case": report.case,
        "position": entry.position,
        "score": case_score(report.judgments),
        "aspects": _aspects(report),
        "judgments": in_order(report.judgments),
        "breaches": broken(report.judgments),
        "errors": report.errors,
        "image": None if image is None else base64.b64encode(image).decode("ascii"),
        "size": None if image is None else _png_size(report, image),
        "plot": report.plot,
    }


def _aspects(report: CaseReport) -> dict[str, float]:
    """Mean score in each dimension, a whole number as such."""
    names = _ordered({judgment.dimension for judgment in report.judgments})
    means = [case_score([j for j in report.judgments if j.dimension == name]) for name in names]
    return {
        name: int(mean) if mean.is_integer() else mean
        for name, mean in zip(names, means, strict=True)
    }


def _png_size(report: CaseReport, image: bytes) -> tuple[int, int]:
    """Width and height from the header, so that the page keeps its layout while images load."""
    head = image[:24]
    if len(head) < 24 or not head.startswith(b"\x89PNG\r\n\x1a\n"):
        raise ValueError(f"{report.case.label}: `image` must be a PNG, got {head[:8]!r}")
    width, height = struct.unpack(">II", head[16:24])
    return width, height


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
    names = ("number", "score", "percent", "words", "level", "place", "count")
    environment.filters.update({name: getattr(numbers, name) for name in names})
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
            columns[name] = max(columns.get(name, 0), min(4, numbers.places(value, digits=3)))
    return columns


def _ordered(dimensions: Iterable[str]) -> list[str]:
    return sorted(dimensions, key=order_of)


def _size(text: str) -> int:
    return len(text.encode(*ENCODING))


_SLACK = 4096  # bytes by which the frame may grow when its numbers are known
