"""A scoring run: judge a table of forecasts and write everything there is to see into a folder."""

from __future__ import annotations

import re
import shutil
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, Literal, get_args

from timevista_hf._version import __version__
from timevista_hf.cases import ForecastCase
from timevista_hf.costs import Usage
from timevista_hf.io import ForecastTable, write_json, write_judgments
from timevista_hf.judges import Judge, Store
from timevista_hf.loading.known import check_known
from timevista_hf.metrics import dtw_batch, mae, mase
from timevista_hf.pipeline import JudgedCase, RubricsFor, judge_cases
from timevista_hf.rendering import Renderer, Style
from timevista_hf.reports.cases import CaseReport
from timevista_hf.reports.forecasts import ReportSpool
from timevista_hf.results.forecasts import ModelSummary, RaterAgreement, Scoreboard, to_records
from timevista_hf.rubrics import Judgment, Rubric
from timevista_hf.scale.engines import Pool, judge_with_ray
from timevista_hf.scale.shards import Shard, select_cases

BATCH = 64  # cases whose DTW is computed at once

PlotsKept = Literal["worst", "all", "none"]
Progress = Callable[[Iterable[JudgedCase]], Iterable[JudgedCase]]


@dataclass(frozen=True)
class ScoreRun:
    """What a run gave: the models, best first, and what it was made with."""

    models: list[ModelSummary]
    run: Mapping[str, Any]
    judgments: int
    reused: int  # judgments that came from an earlier run
    agreement: Mapping[str, RaterAgreement]  # by dimension, where there are several raters


def score_forecasts(
    table: ForecastTable,
    rubrics: Sequence[Rubric] | RubricsFor,
    judge: Judge | Sequence[Judge],
    output: str | Path,
    *,
    models: Sequence[str] | None = None,
    limit: int | None = None,
    style: Style | None = None,
    runs: int = 1,
    joint: bool = False,
    shard: Shard | None = None,
    pool: Pool | None = None,
    plots: PlotsKept = "worst",
    seed: int = 0,
    resume: bool = True,
    progress: Progress = iter,
) -> ScoreRun:
    r"""Judge forecasts and write the results.

    The folder then holds ``report.html``, ``judgments.parquet``, ``scores.json``, ``plots/`` and
    the store of answers, ``judgments.sqlite``. A run that was stopped goes on where it was.

    Parameters
    ----------
    table : ForecastTable
    rubrics : sequence of Rubric, or callable
        The same for every case, or a function that gives a case its own.
    judge : Judge, or sequence of Judge
        Several are a panel: their scores are averaged, and their agreement is in ``scores.json``.
    output : str or Path
        The folder; made where it does not exist.
    models : sequence of str, optional
        Only these models.
    limit : int, optional
        Only the first so many windows.
    style : Style, optional
        How cases are drawn.
    runs : int
        How often each question is asked anew.
    joint : bool
        Whether one question holds all rubrics of a case.
    shard : Shard, optional
        Only the cases of this part of the run.
    pool : Pool, optional
        The actors of a Ray cluster that judge instead of this process.
    plots : {"worst", "all", "none"}
        Which cases have a plot in ``plots/``: those that the page opens with, which are the worst
        and a fair sample; all; or none, also on the page. No others are drawn for it.
    seed : int
        Of the bootstrap, and of the sample.
    resume : bool
        Whether answers of an earlier run in the same folder are used again.
    progress : callable
        Passes the judged cases through and may show how far they are.

    Raises
    ------
    ValueError
        Where the folder cannot be used, there is nothing to judge, or `plots` is another word.

    Examples
    --------
    >>> import tempfile
    >>> from timevista_hf import load_judge, read_forecasts, select_rubrics
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "forecasts.csv").write_text(
    ...     "ds,y,ets\n2024-01-01,1,\n2024-01-02,2,\n2024-01-03,3,3\n2024-01-04,4,4\n"
    ... )
    >>> table = read_forecasts(folder / "forecasts.csv")
    >>> run = score_forecasts(table, select_rubrics("micro"), load_judge("mock"), folder / "out")
    >>> run.models[0].overall.mean
    3.0
    >>> sorted(path.name for path in (folder / "out").iterdir())
    ['judgments.parquet', 'judgments.sqlite', 'plots', 'report.html', 'scores.json']
    """
    check_known("plots", plots, get_args(PlotsKept))
    folder = _prepared(Path(output), resume)
    style = style or Style()
    counts = _Counts()

    def chosen() -> Iterator[ForecastCase]:
        cases = table.cases(models, limit)
        return select_cases(cases, shard) if shard else cases

    with (
        _new_folder(folder / "plots", kept=plots != "none") as drawn,
        Store(folder / "judgments.sqlite") as store,
        ReportSpool(folder, seed=seed) as spool,
    ):
        engine = judge_cases if pool is None else partial(judge_with_ray, pool=pool)
        judged = engine(chosen(), rubrics, judge, store=store, style=style, runs=runs, joint=joint)
        stream = _recorded(progress(judged), counts, spool, _Drawing(drawn, plots, style))
        write_judgments(folder / "judgments.parquet", stream)
        summaries = counts.board.summarize(seed=seed)
        judges = [*judge] if isinstance(judge, Sequence) else [judge]
        run = _made_with(table, judges, style, seed, counts)
        agreement = counts.board.agreement()
        scores = {
            "run": run,
            "models": to_records(summaries),
            "agreement": {name: asdict(found) for name, found in agreement.items()},
        }
        write_json(folder / "scores.json", scores)
        spool.write(folder / "report.html", run=run, models=summaries)
    return ScoreRun(summaries, run, counts.judgments, counts.reused, agreement)


@dataclass
class _Counts:
    """What is kept of the cases while they stream by."""

    board: Scoreboard = field(default_factory=Scoreboard)
    cases: int = 0
    rubrics: dict[str, None] = field(default_factory=dict)
    usage: dict[str, Usage] = field(default_factory=lambda: defaultdict(Usage))
    judgments: int = 0
    reused: int = 0


def _prepared(folder: Path, resume: bool) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ValueError(f"{folder}: cannot be used as the output folder: {error}") from error
    if (folder / "plots").exists() and not any(folder.glob("judgments.*")):
        raise ValueError(
            f"{folder / 'plots'}: would be replaced but is not from an earlier run; "
            "choose another output folder"
        )
    for name in _FILES:  # what a killed run has left
        _remove(folder.glob(f".{name}.*.tmp"))
    if not resume:
        _remove(folder.glob("judgments.sqlite*"))
    return folder


def _recorded(
    stream: Iterable[JudgedCase], counts: _Counts, spool: ReportSpool, drawing: _Drawing
) -> Iterator[Judgment]:
    """Pass the judgments on; measure each case's errors, count it and report it on the way."""
    judged = iter(stream)
    while batch := list(islice(judged, BATCH)):
        distances = dtw_batch(
            [entry.case.truth for entry in batch], [entry.case.prediction for entry in batch]
        )
        for entry, distance in zip(batch, distances, strict=True):
            errors = _errors(entry.case, float(distance))
            _count(entry, errors, counts)
            image, plot = drawing.of(counts.cases, entry)
            spool.add(CaseReport(entry.case, image, entry.judgments, errors, plot))
            yield from entry.judgments
    if not counts.cases:
        raise ValueError(f"{drawing.folder.parent}: there is no case to judge")


def _errors(case: ForecastCase, distance: float) -> dict[str, float]:
    season = case.season_length or 1
    return {
        "mae": mae(case.truth, case.prediction),
        "mase": mase(case.truth, case.prediction, case.history, season_length=season),
        "dtw": distance,
    }


def _count(entry: JudgedCase, errors: Mapping[str, float], counts: _Counts) -> None:
    counts.cases += 1
    counts.judgments += len(entry.judgments)
    counts.reused += entry.reused
    counts.board.add_errors(entry.case.model, errors)
    for judgment in entry.judgments:
        counts.board.add(judgment)
        counts.rubrics.setdefault(judgment.rubric)
        counts.usage[judgment.judge].add(judgment)


class _Drawing:
    """Draws what somebody will see: all plots at once, or some when the page asks for them."""

    def __init__(self, folder: Path, kept: PlotsKept, style: Style) -> None:
        self.folder = folder
        self._kept = kept
        self._renderer = Renderer(style)

    def of(self, number: int, entry: JudgedCase) -> tuple[Callable[[], bytes] | None, str | None]:
        """Return how the page gets the plot of a case, and where it finds the file."""
        if self._kept == "none":
            return None, None
        name = _plot_name(number, entry.case)
        if self._kept == "worst":
            return partial(self._draw, name, entry), None
        self._draw(name, entry)
        return (self.folder / name).read_bytes, f"plots/{name}"

    def _draw(self, name: str, entry: JudgedCase) -> bytes:
        image = entry.image or self._renderer.render(entry.case)
        (self.folder / name).write_bytes(image)
        return image


def _made_with(
    table: ForecastTable, judges: list[Judge], style: Style, seed: int, counts: _Counts
) -> dict[str, Any]:
    return {
        "input": table.decisions.get("file"),
        "judge": ", ".join(judge.name for judge in judges),
        "judges": {judge.name: dict(judge.identity) for judge in judges},
        "rubrics": list(counts.rubrics),
        "usage": {judge.name: counts.usage[judge.name].told(judge) for judge in judges},
        "render": style.fingerprint,
        "seed": seed,
        "interval": "95 % percentile bootstrap over cases",
        "version": __version__,
        "decisions": table.decisions,
    }


def _plot_name(number: int, case: ForecastCase) -> str:
    """Name a plot: a number makes it unique, the words let a person find it."""
    parts = [case.id, case.cutoff or "", case.model]
    words = [re.sub(r"[^A-Za-z0-9]+", "-", part).strip("-")[:40] for part in parts]
    return "_".join([f"{number:06d}", *filter(None, words)]) + ".png"


@contextmanager
def _new_folder(path: Path, *, kept: bool) -> Iterator[Path]:
    """Give a folder that takes the place of `path` when the block succeeds, if it is kept."""
    partial = path.with_name(f".{path.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    try:
        partial.mkdir()
    except OSError as error:
        raise ValueError(f"{path.parent}: cannot be written to: {error}") from error
    try:
        yield partial
        shutil.rmtree(path, ignore_errors=True)
        if kept:
            partial.replace(path)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _remove(paths: Iterable[Path]) -> None:
    for path in paths:
        path.unlink()


_FILES = ("judgments.parquet", "scores.json", "report.html")
