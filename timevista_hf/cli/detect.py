"""`timevista detect`: a judge over the subsets of VisualTimeAnomaly."""

from __future__ import annotations

import fnmatch
from pathlib import Path
from typing import Annotated

import typer

from timevista_hf.cli._asked import (
    JUDGE,
    Attempts,
    Concurrency,
    Format,
    JudgeName,
    MaxTokens,
    Runs,
    Shown,
    Timeout,
    given_options,
    print_cost,
    within_budget,
)
from timevista_hf.cli._console import out, plain_errors, progress_bar, say
from timevista_hf.cli._detect_tables import answer_table, detection_table
from timevista_hf.detection import Example
from timevista_hf.judges import load_judge
from timevista_hf.reports.texts import explain_run
from timevista_hf.results.anomalies import Convention
from timevista_hf.runs.anomalies import DetectionRun, detect_subsets, detection_requests
from timevista_hf.synthesis.anomalies import (
    AnomalySubset,
    Edition,
    Split,
    find_subset,
    list_subsets,
)


def detect(
    subset: Annotated[
        list[str],
        typer.Option(
            help="As sine-global, with * as in 'sine-*', synthetic or all; may be given again."
        ),
    ],
    edition: Annotated[
        Edition, typer.Option(help="The paper's series, or with their defects put right.")
    ] = "corrected",
    split: Annotated[Split, typer.Option(help="Which series.")] = "test",
    count: Annotated[int, typer.Option(min=1, help="Series of each subset.")] = 100,
    convention: Annotated[
        Convention,
        typer.Option(help="Failed answers count as empty; or the paper's rules, for its tables."),
    ] = "honest",
    example: Annotated[
        Example,
        typer.Option(help="In the prompt: outside of the series, none, or the paper's."),
    ] = "outside",
    data_dir: Annotated[
        Path | None, typer.Option(help="Folder with the archive's files, for real series.")
    ] = None,
    output: Annotated[Path, typer.Option(help="Folder of the results.")] = Path("anomaly-scores"),
    judge: JudgeName = "builtin",
    runs: Runs = 1,
    modality: Shown = None,
    max_tokens: MaxTokens = None,
    timeout: Timeout = None,
    concurrency: Concurrency = None,
    attempts: Attempts = None,
    budget: Annotated[
        float | None,
        typer.Option(min=0, help="Stop before this many US dollars.", rich_help_panel=JUDGE),
    ] = None,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Say what it would cost.", rich_help_panel=JUDGE),
    ] = False,
    seed: Annotated[int, typer.Option(min=0, help="Of the bootstrap intervals.")] = 0,
    resume: Annotated[
        bool, typer.Option(help="Use the answers of an earlier run in the same folder.")
    ] = True,
    format_: Annotated[Format, typer.Option("--format", help="What is printed.")] = "table",
) -> None:
    """Ask a judge where series are anomalous, score the answers and write a report.

    The level of chance and what the paper publishes stand beside every score.
    """
    with plain_errors():
        options = given_options(
            modality=modality,
            max_tokens=max_tokens,
            timeout=timeout,
            concurrency=concurrency,
            attempts=attempts,
        )
        [asked] = judges = [load_judge(judge, options=options)]
        chosen = _select(subset)
        if dry_run:
            requests = detection_requests(
                chosen,
                asked,
                edition=edition,
                split=split,
                count=count,
                example=example,
                data_dir=data_dir,
                runs=runs,
            )
            print_cost(asked, requests, output / "detections.sqlite")
            return
        if budget is not None:
            [asked] = within_budget(budget, judges)
        total = len(chosen) * count
        with progress_bar(total, doing="Detecting", unit="series") as progress:
            run = detect_subsets(
                chosen,
                asked,
                output,
                edition=edition,
                split=split,
                count=count,
                convention=convention,
                example=example,
                data_dir=data_dir,
                runs=runs,
                seed=seed,
                resume=resume,
                progress=progress,
            )
        if format_ == "json":
            typer.echo((output / "scores.json").read_text(encoding="utf-8"), nl=False)
        else:
            out.print(detection_table(run.scores), answer_table(run.scores))
        _say_results(run, output)


def _select(names: list[str]) -> list[AnomalySubset]:
    return [one for name in names for one in _named(name)]


def _named(name: str) -> list[AnomalySubset]:
    if name in ("synthetic", "all"):
        return list_subsets(synthetic=True if name == "synthetic" else None)
    if "*" not in name:
        return [find_subset(name)]
    found = [one for one in list_subsets() if fnmatch.fnmatchcase(one.name, name)]
    if not found:
        raise ValueError(
            f"no subset fits {name!r}; they are named as sine-global, symbols-trend-r5"
        )
    return found


def _say_results(run: DetectionRun, folder: Path) -> None:
    for note in explain_run(run.run):
        say(note, "dim")
    failed = sum(sum(one.judge.failures.values()) for one in run.scores)
    parts = [f"{run.detections} answers", f"{run.reused} from an earlier run"]
    if failed:
        parts.append(f"{failed} failed and name nothing")
    say(f"{', '.join(parts)}. See {folder / 'report.html'}")
