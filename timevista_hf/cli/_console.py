"""What the commands print: errors in one line, decisions, progress."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol, TypeVar

import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from timevista_hf.costs import BudgetExhaustedError

Entry = TypeVar("Entry")

said = Console(stderr=True, highlight=False)
out = Console(highlight=False)


@contextmanager
def plain_errors() -> Iterator[None]:
    """End with one line and status 2 for what a user can mend, without a traceback."""
    try:
        yield
    except BudgetExhaustedError as error:
        say(f"Stopped: {error}. Run the same command with a budget to go on from here.")
        raise typer.Exit(3) from None
    except ValueError as error:
        said.print(Text(f"error: {error}", style="bold red"), soft_wrap=True)
        raise typer.Exit(2) from None
    except KeyboardInterrupt:
        said.print("Stopped. Run the same command again to go on from here.")
        raise typer.Exit(130) from None


class Passage(Protocol):
    """What passes entries through and shows how far they are."""

    def __call__(self, stream: Iterable[Entry], /) -> Iterator[Entry]: ...


@contextmanager
def progress_bar(total: int, *, doing: str = "Judging", unit: str = "cases") -> Iterator[Passage]:
    """Give a function that passes entries through and shows how far they are."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn(unit),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=said, transient=True) as bar:
        task = bar.add_task(doing, total=total)

        def shown(stream: Iterable[Entry], /) -> Iterator[Entry]:
            for entry in stream:
                yield entry
                bar.advance(task)
            bar.update(task, description="Writing the results")

        yield shown


def say(text: str, style: str = "") -> None:
    """Print a line beside the results; foreign text in it is text."""
    said.print(Text(text, style=style), soft_wrap=True)


def say_decisions(decisions: dict[str, Any]) -> None:
    """Print what was decided on reading a file."""
    for line in _decision_lines(decisions):
        say(line, "dim")


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
