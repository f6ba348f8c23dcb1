"""`timevista batch`: questions as files for a provider's batch queue, at half the price."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from timevista_hf.cli._asked import Asked, asks
from timevista_hf.cli._console import out, plain_errors, say, say_decisions
from timevista_hf.judges import Store
from timevista_hf.scale.batches import missing_requests, read_batch, write_batch

batch = typer.Typer(name="batch", no_args_is_help=True, help="Judge by a provider's batch files.")


@batch.command()
@asks
def write(asked: Asked, *, folder: Annotated[Path, typer.Option(help="A new folder.")]) -> None:
    """Write the questions that FILE takes, as files to upload to the judge's provider.

    Read the results with `timevista batch read`, then run `timevista score` as usual.
    """
    with plain_errors():
        judge, rubrics = asked.load_judge(), asked.select_rubrics()
        table = asked.read_table()
        say_decisions(table.decisions)
        known = asked.folder / "judgments.sqlite"
        with Store(known) if known.exists() else nullcontext() as store:
            requests = missing_requests(
                table.cases(limit=asked.limit),
                rubrics,
                judge,
                store=store,
                style=asked.style,
                runs=asked.runs,
                joint=asked.joint,
            )
            files = write_batch(requests, judge, folder, store=store)
        for file in files:
            out.print(str(file), soft_wrap=True)
        if not files:
            say("Nothing is left to ask.")


@batch.command()
def read(
    results: Annotated[list[Path], typer.Argument(help="Result files, as downloaded.")],
    *,
    folder: Annotated[Path, typer.Option(help="What `batch write` wrote.")],
    output: Annotated[Path, typer.Option(help="Folder of the results, as of `timevista score`.")],
) -> None:
    """Put a provider's answers where `timevista score` finds them."""
    with plain_errors():
        output.mkdir(parents=True, exist_ok=True)
        with Store(output / "judgments.sqlite") as store:
            counts = asdict(read_batch(results, store, folder))
        reasons = counts.pop("reasons")
        out.print(", ".join(f"{count} {name}" for name, count in counts.items() if count))
        for reason, count in reasons.items():
            say(f"{count} times: {reason}")
