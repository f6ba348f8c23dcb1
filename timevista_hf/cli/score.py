"""`timevista score`, and what it would cost."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from timevista_hf.cli._asked import Asked, Format, asks, print_cost, within_budget
from timevista_hf.cli._console import out, plain_errors, progress_bar, say, say_decisions
from timevista_hf.cli._tables import agreement_table, error_table, score_table
from timevista_hf.io import ForecastTable
from timevista_hf.judges import Judge
from timevista_hf.runs.forecasts import PlotsKept, ScoreRun, score_forecasts
from timevista_hf.scale.batches import missing_requests
from timevista_hf.scale.engines import Pool
from timevista_hf.scale.shards import Shard

Engine = Literal["local", "ray"]

_SPREAD = "More than one machine"


@asks
def score(
    asked: Asked,
    *,
    panel: Annotated[
        str | None,
        typer.Option(help="Judges instead of one, as in A,B,C.", rich_help_panel="Judge"),
    ] = None,
    budget: Annotated[
        float | None,
        typer.Option(min=0, help="Stop before this many US dollars.", rich_help_panel="Judge"),
    ] = None,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Say what it would cost.", rich_help_panel="Judge"),
    ] = False,
    shard: Annotated[
        str | None,
        typer.Option(help="Judge only part I of N, as in 1/4.", rich_help_panel=_SPREAD),
    ] = None,
    engine: Annotated[
        Engine,
        typer.Option(help="This process, or the actors of a Ray cluster.", rich_help_panel=_SPREAD),
    ] = "local",
    actors: Annotated[
        int, typer.Option(min=1, help="With --engine ray.", rich_help_panel=_SPREAD)
    ] = 2,
    gpus: Annotated[
        float, typer.Option(min=0, help="Of each actor, as in 0.5.", rich_help_panel=_SPREAD)
    ] = 0.0,
    plots: Annotated[
        PlotsKept, typer.Option(help="Draw the worst cases and a fair sample, all, or none.")
    ] = "worst",
    seed: Annotated[int, typer.Option(min=0, help="Of the intervals and the sample.")] = 0,
    resume: Annotated[
        bool, typer.Option(help="Use the answers of an earlier run in the same folder.")
    ] = True,
    format_: Annotated[Format, typer.Option("--format", help="What is printed.")] = "table",
) -> None:
    """Judge the forecasts in FILE and write a report.

    FILE has one row a step: series, time, truth, and a column for each model, empty in the
    history. The columns are found by their names; what was decided is printed.
    """
    with plain_errors():
        rubrics, style = asked.select_rubrics(), asked.style
        judges = [asked.load_judge(name) for name in (panel or asked.judge).split(",")]
        part = Shard.parse(shard) if shard else None
        pool = Pool(actors=actors, num_gpus=gpus) if engine == "ray" else None
        if pool and budget is not None:
            raise ValueError("--budget is kept by one process: leave out --engine ray")
        if budget is not None:
            judges = within_budget(budget, judges)
        table = asked.read_table()
        say_decisions(table.decisions)
        if dry_run:
            for judge in judges:
                _print_cost(asked, table, judge)
            return
        total = min(asked.limit or len(table), len(table)) * len(table.models)
        with progress_bar(total) as progress:
            run = score_forecasts(
                table,
                rubrics,
                judges,
                asked.folder,
                limit=asked.limit,
                style=style,
                runs=asked.runs,
                joint=asked.joint,
                shard=part,
                pool=pool,
                plots=plots,
                seed=seed,
                resume=resume,
                progress=progress,
            )
        if format_ == "json":
            scores = (asked.folder / "scores.json").read_text(encoding="utf-8")
            typer.echo(scores, nl=False)
        else:
            out.print(score_table(run.models), error_table(run.models))
            if run.agreement:
                out.print(agreement_table(run.agreement))
        _say_results(run, asked.folder)


@asks
def cost(asked: Asked) -> None:
    """Say how many questions FILE takes, and what they would cost.

    Nothing is asked. Answers in the folder of an earlier run cost nothing.
    """
    with plain_errors():
        judge = asked.load_judge()
        table = asked.read_table()
        say_decisions(table.decisions)
        _print_cost(asked, table, judge)


def _print_cost(asked: Asked, table: ForecastTable, judge: Judge) -> None:
    requests = missing_requests(
        table.cases(limit=asked.limit),
        asked.select_rubrics(),
        judge,
        style=asked.style,
        runs=asked.runs,
        joint=asked.joint,
    )
    print_cost(judge, requests, asked.folder / "judgments.sqlite")


def _say_results(run: ScoreRun, folder: Path) -> None:
    failed = sum(sum(model.failures.values()) for model in run.models)
    parts = [f"{run.judgments} judgments", f"{run.reused} from an earlier run"]
    if failed:
        parts.append(f"{failed} failed and have no score")
    say(f"{', '.join(parts)}. See {folder / 'report.html'}")
