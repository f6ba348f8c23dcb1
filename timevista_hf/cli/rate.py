"""`timevista rate`: forecasts before people, and their ratings merged."""

from __future__ import annotations

import inspect
import math
import shlex
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text
from typer.core import TyperGroup

from timevista_hf.cli._asked import Asked, asks
from timevista_hf.cli._console import out, plain_errors, say, say_decisions
from timevista_hf.rating import (
    AnnotatorAgreement,
    Question,
    RatingSession,
    measure_agreement,
    merge_ratings,
    read_ratings,
    write_ratings,
)

RATINGS = Path("ratings")
_OF_JUDGES = ("judge", "runs", "joint", "modality", "output")


class _FileOrCommand(TyperGroup):
    """Take `rate FILE` for `rate page FILE`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] not in (*self.commands, "-h", "--help"):
            args = ["page", *args]
        return super().parse_args(ctx, args)


rate = typer.Typer(
    name="rate",
    cls=_FileOrCommand,
    no_args_is_help=True,
    help="Rate forecasts by hand: `timevista rate FILE --annotator NAME`.",
)


def _asks_a_person(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of `Asked` that say what is asked, and not who judges."""
    typed = asks(command)
    signature = inspect.signature(typed)
    fixed = {name: signature.parameters[name].default for name in _OF_JUDGES}
    kept = [entry for entry in signature.parameters.values() if entry.name not in fixed]

    def asked(**given: Any) -> None:
        typed(**fixed, **given)

    asked.__doc__ = command.__doc__
    asked.__signature__ = signature.replace(parameters=kept)  # type: ignore[attr-defined]
    asked.__annotations__ = {entry.name: entry.annotation for entry in kept}
    return asked


@rate.command("page")
@_asks_a_person
def page(
    asked: Asked,
    *,
    annotator: Annotated[str, typer.Option(help="Whose ratings these are.")],
    folder: Annotated[
        Path, typer.Option("--output", help="Where each annotator has a file.")
    ] = RATINGS,
    port: Annotated[
        int | None,
        typer.Option(min=1, max=65535, help="Of the page.  (default: the first free from 7860)"),
    ] = None,
) -> None:
    """Show the forecasts in FILE on a page of this machine, to be rated with the keys 1 to 5.

    s skips, u undoes, c comments. Stop with Ctrl-C; the same command goes on from there.
    """
    with plain_errors():
        from timevista_hf.apps.rating import RatingApp

        questions = _questions(asked)
        with RatingSession(questions, annotator, folder, render=asked.style.fingerprint) as session:
            for notice in session.notices:
                say(notice)
            app = RatingApp(
                session, style=asked.style, merge=f"timevista rate merge {shlex.quote(str(folder))}"
            )
            try:
                address = app.launch(port=port)
                say(f"{session.done} of {session.total} questions answered, in {session.path}")
                out.print(Text(f"Rate at {address} and stop with Ctrl-C"), soft_wrap=True)
                while True:
                    time.sleep(3600)
            finally:
                app.close()


@rate.command()
def merge(
    folder: Annotated[Path, typer.Argument(help="Folder of the annotators' files.")] = RATINGS,
    *,
    output: Annotated[Path, typer.Option(help="One row a rating, with the consensus.")] = Path(
        "ratings.parquet"
    ),
) -> None:
    """Take the most frequent score of each question, and measure how far annotators agree.

    Where several scores are equally frequent, the consensus is their mean.
    """
    with plain_errors():
        ratings = read_ratings(folder, notice=say)
        questions = merge_ratings(ratings)
        write_ratings(output, questions)
        out.print(_agreement_table(measure_agreement(questions)))
        counts = {
            "ratings": sum(rating.score is not None for rating in ratings),
            "skipped": sum(rating.score is None for rating in ratings),
            "questions": len(questions),
            "annotators": len({rating.annotator for rating in ratings}),
        }
        say(f"{', '.join(f'{count} {name}' for name, count in counts.items())}. See {output}")


def _questions(asked: Asked) -> list[Question]:
    rubrics = asked.select_rubrics()
    table = asked.read_table()
    say_decisions(table.decisions)
    return [
        Question(case, rubric)
        for case in table.cases(limit=asked.limit)
        for rubric in (rubrics(case) if callable(rubrics) else rubrics)
    ]


def _agreement_table(agreement: Mapping[str, AnnotatorAgreement]) -> Table:
    """Show the columns of the paper's table 5; it does not say which of the alphas it prints."""
    table = Table(
        title="Agreement of the annotators, 1 is perfect; 0 is chance for alpha",
        title_justify="left",
        title_style="bold",
        box=SIMPLE_HEAD,
        pad_edge=False,
        padding=(0, 1, 0, 0),
    )
    table.add_column("dimension", overflow="fold", min_width=12)
    for name in ("alpha (ordinal)", "alpha (nominal)", "Kendall tau", "Spearman rho", "questions"):
        table.add_column(name, justify="right")
    for dimension, found in agreement.items():
        numbers = (found.alpha_ordinal, found.alpha_nominal, found.kendall, found.spearman)
        cells = ["–" if math.isnan(number) else f"{number:.3f}" for number in numbers]
        table.add_row(Text(dimension.replace("_", " ")), *cells, str(found.questions))
    return table
