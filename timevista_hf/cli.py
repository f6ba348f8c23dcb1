"""The command `timevista`."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from enum import Enum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from rich.text import Text

from timevista_hf import io
from timevista_hf._names import list_metrics
from timevista_hf._version import __version__
from timevista_hf.cases import ForecastCase
from timevista_hf.judges import list_judges, load_judge
from timevista_hf.leaderboard import ModelSummary, ScoreSummary
from timevista_hf.pipeline import JudgedCase, RubricsFor
from timevista_hf.rendering import Style
from timevista_hf.rubrics import Rubric, load_rubric, select_rubrics
from timevista_hf.scoring import ScoreRun, score_forecasts

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Judge forecasts on their plots, with rubrics.",
)
_said = Console(stderr=True, highlight=False)
_out = Console(highlight=False)


class _Level(str, Enum):
    micro = "micro"
    macro = "macro"


class _Format(str, Enum):
    table = "table"
    json = "json"


class _Order(str, Enum):
    day = "day"
    month = "month"


_COLUMNS = "Columns, where their names do not tell"
_READING = "Reading, where the file can be read in two ways"


@app.command()
def score(
    file: Annotated[Path, typer.Argument(help="Forecasts: CSV, Parquet or JSON Lines, also .gz.")],
    actuals: Annotated[
        Path | None, typer.Option(help="A second file with history and truth.")
    ] = None,
    level: Annotated[
        _Level, typer.Option(help="Four aspects and the whole, or the whole alone.")
    ] = _Level.micro,
    knowledge: Annotated[
        bool, typer.Option("--knowledge", help="With --level macro: the dataset's own rubric too.")
    ] = False,
    dataset: Annotated[
        str | None, typer.Option(help="Dataset of all series, for --knowledge.")
    ] = None,
    rubric: Annotated[
        str | None, typer.Option(help="Only this rubric: a name, or a file of your own.")
    ] = None,
    dimension: Annotated[
        list[str] | None, typer.Option(help="Only this dimension; may be given again.")
    ] = None,
    judge: Annotated[str, typer.Option(help=f"One of: {', '.join(list_judges())}.")] = "builtin",
    limit: Annotated[
        int | None, typer.Option(min=1, help="Only the first so many windows.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of the bootstrap intervals.")] = 0,
    output: Annotated[
        Path | None, typer.Option(help="Folder of the results.  (default: FILE-scores)")
    ] = None,
    context: Annotated[
        int | None,
        typer.Option(min=1, help="Steps of history in the plot.  (default: 3 horizons)"),
    ] = None,
    aspect: Annotated[str, typer.Option(help="Of the plot: 6:5, 12:5, 18:5 or 24:5.")] = "12:5",
    resume: Annotated[
        bool, typer.Option(help="Use the answers of an earlier run in the same folder.")
    ] = True,
    format_: Annotated[_Format, typer.Option("--format", help="What is printed.")] = _Format.table,
    id_column: Annotated[str | None, typer.Option(rich_help_panel=_COLUMNS)] = None,
    time_column: Annotated[str | None, typer.Option(rich_help_panel=_COLUMNS)] = None,
    target_column: Annotated[str | None, typer.Option(rich_help_panel=_COLUMNS)] = None,
    cutoff_column: Annotated[str | None, typer.Option(rich_help_panel=_COLUMNS)] = None,
    model: Annotated[
        list[str] | None,
        typer.Option(help="A column to judge; may be given again.", rich_help_panel=_COLUMNS),
    ] = None,
    season_length: Annotated[
        int | None,
        typer.Option(min=1, help="Steps in a season.", rich_help_panel=_READING),
    ] = None,
    delimiter: Annotated[str | None, typer.Option(rich_help_panel=_READING)] = None,
    decimal: Annotated[
        str | None, typer.Option(help="The decimal mark, . or ,", rich_help_panel=_READING)
    ] = None,
    first: Annotated[
        _Order | None,
        typer.Option(help="Which comes first in 1/2/2024.", rich_help_panel=_READING),
    ] = None,
) -> None:
    """Judge the forecasts in FILE and write a report.

    FILE has one row a step: series, time, truth, and a column for each model, empty in the
    history. The columns are found by their names; what was decided is printed.
    """
    with _plain_errors():
        rubrics = _rubrics(level, knowledge, dataset, rubric, dimension or [])
        chosen, style = load_judge(judge), _style(aspect, context)
        table = io.read_forecasts(
            file,
            actuals=actuals,
            columns=io.Columns(
                id=id_column,
                time=time_column,
                target=target_column,
                cutoff=cutoff_column,
                models=tuple(model) if model else None,
            ),
            delimiter=delimiter,
            decimal=decimal,
            day_first=None if first is None else first is _Order.day,
            season_length=season_length,
        )
        _say_decisions(table.decisions)
        folder = output or Path(f"{file.name.split('.')[0]}-scores")
        with _progress(min(limit or len(table), len(table)) * len(table.models)) as progress:
            run = score_forecasts(
                table,
                rubrics,
                chosen,
                folder,
                limit=limit,
                style=style,
                seed=seed,
                resume=resume,
                progress=progress,
            )
        if format_ is _Format.json:
            typer.echo((folder / "scores.json").read_text(encoding="utf-8"), nl=False)
        else:
            _out.print(_score_table(run.models), _error_table(run.models))
        _say_results(run, folder)


@app.command()
def metrics() -> None:
    """List the metrics that `evaluate.load` finds by name after `import timevista_hf`."""
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    for name, summary in list_metrics().items():
        table.add_row(Text(name, style="bold"), Text(summary))
    _out.print(table)


@app.command()
def version() -> None:
    """Print the version."""
    _out.print(__version__)


@contextmanager
def _plain_errors() -> Iterator[None]:
    """End with one line and status 2 for what a user can mend, without a traceback."""
    try:
        yield
    except ValueError as error:
        _said.print(Text(f"error: {error}", style="bold red"), soft_wrap=True)
        raise typer.Exit(2) from None
    except KeyboardInterrupt:
        _said.print("Stopped. Run the same command again to go on from here.")
        raise typer.Exit(130) from None


def _rubrics(
    level: _Level, knowledge: bool, dataset: str | None, rubric: str | None, dimensions: list[str]
) -> list[Rubric] | RubricsFor:
    if rubric is not None:
        if knowledge or dataset or dimensions:
            raise ValueError("--rubric stands alone: leave out --knowledge, --dataset, --dimension")
        return [load_rubric(rubric)]
    if not knowledge:
        if dataset:
            raise ValueError("--dataset names the rubric of --knowledge: add --knowledge")
        return select_rubrics(level.value, dimensions=dimensions)
    if level is not _Level.macro:
        raise ValueError("--knowledge belongs to the macro level: add --level macro")
    if dataset:
        return select_rubrics("macro", dimensions=dimensions, dataset=dataset)
    return _rubrics_by_dataset(dimensions)


def _rubrics_by_dataset(dimensions: list[str]) -> RubricsFor:
    known: dict[str, list[Rubric]] = {}

    def rubrics_for(case: ForecastCase) -> list[Rubric]:
        if case.dataset is None:
            raise ValueError(
                f"{case.label}: --knowledge needs its dataset; give --dataset NAME, or a column "
                "`dataset` in the file"
            )
        if case.dataset not in known:
            known[case.dataset] = select_rubrics(
                "macro", dimensions=dimensions, dataset=case.dataset
            )
        return known[case.dataset]

    return rubrics_for


def _style(aspect: str, context: int | None) -> Style:
    return replace(Style.with_aspect(aspect), context=context)


@contextmanager
def _progress(total: int) -> Iterator[Callable[[Iterable[JudgedCase]], Iterator[JudgedCase]]]:
    columns = (
        TextColumn("Judging"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("cases"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=_said, transient=True) as bar:
        task = bar.add_task("Judging", total=total)

        def shown(stream: Iterable[JudgedCase]) -> Iterator[JudgedCase]:
            for entry in stream:
                yield entry
                bar.advance(task)
            bar.update(task, description="Writing")

        yield shown


def _say_decisions(decisions: dict[str, Any]) -> None:
    for line in _decision_lines(decisions):
        _said.print(Text(line, style="dim"), soft_wrap=True)


def _decision_lines(decisions: dict[str, Any]) -> Iterator[str]:
    for file in (decisions, decisions.get("actuals")):
        if file:
            yield f"{file['file']}: " + _joined(file, "format", "encoding", "delimiter", "decimal")
            yield "  columns: " + ", ".join(f"{k} {v!r}" for k, v in file["columns"].items())
    yield f"  models: {', '.join(decisions['models'])}"
    for name in ("quantile_columns", "ignored_columns", "notes"):
        if decisions.get(name):
            yield f"  {name.replace('_', ' ')}: {', '.join(map(str, decisions[name]))}"
    counts = ("series", "windows", "cases", "missing_steps", "windows_without_a_model")
    if time := decisions.get("time"):
        yield "  time: " + _joined(time, "form", "zone")
    yield "  " + _joined(decisions, "axis", "freq", "season_length")
    yield "  " + ", ".join(
        f"{decisions[name]} {name.replace('_', ' ')}" for name in counts if decisions.get(name)
    )


def _joined(entries: dict[str, Any], *names: str) -> str:
    return ", ".join(
        f"{name.replace('_', ' ')} {_one_or_counts(entries[name])}"
        for name in names
        if entries.get(name) is not None
    )


def _one_or_counts(value: Any) -> str:
    if isinstance(value, dict):
        return " and ".join(f"{entry} ({count} times)" for entry, count in value.items())
    return repr(value)


def _score_table(models: list[ModelSummary]) -> Table:
    dimensions = list(dict.fromkeys(name for model in models for name in model.dimensions))
    table = _empty("Mean score from 1 to 5, with its 95 % interval over cases", "model")
    for name in ("overall", *dimensions):
        table.add_column(name.replace("_", " "), justify="right")
    for model in models:
        scores = [model.overall, *(model.dimensions.get(name) for name in dimensions)]
        table.add_row(Text(model.model), *map(_score, scores))
    return table


def _error_table(models: list[ModelSummary]) -> Table:
    table = _empty("Mean errors over cases, 0 is perfect", "model")
    for name in ("cases", "coverage", "MAE", "MASE", "DTW"):
        table.add_column(name, justify="right")
    for model in models:
        coverage = "–" if math.isnan(model.coverage) else f"{model.coverage:.0%}"
        errors = [_error(model, name) for name in ("mae", "mase", "dtw")]
        table.add_row(Text(model.model), str(model.cases), coverage, *errors)
    return table


def _empty(title: str, first: str) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold", box=SIMPLE_HEAD)
    table.pad_edge, table.padding = False, (0, 1, 0, 0)
    table.add_column(first, overflow="fold", min_width=12)
    return table


def _score(score: ScoreSummary | None) -> str:
    if score is None or math.isnan(score.mean):
        return "–"
    if math.isnan(score.low):
        return f"{score.mean:.2f}"
    return f"{score.mean:.2f}\n{score.low:.1f}–{score.high:.1f}"


def _error(model: ModelSummary, name: str) -> str:
    value, undefined = model.errors.get(name, math.nan), model.undefined.get(name, 0)
    said = "–" if math.isnan(value) else f"{value:.4g}"
    return f"{said} ({undefined} undefined)" if undefined else said


def _say_results(run: ScoreRun, folder: Path) -> None:
    failed = sum(sum(model.failures.values()) for model in run.models)
    parts = [f"{run.judgments} judgments", f"{run.reused} from an earlier run"]
    if failed:
        parts.append(f"{failed} failed and have no score")
    _said.print(Text(f"{', '.join(parts)}. See {folder / 'report.html'}"), soft_wrap=True)
