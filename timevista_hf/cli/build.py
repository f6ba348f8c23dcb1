"""`timevista build`: a dataset as a folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.progress import track

from timevista_hf.building import build_dataset
from timevista_hf.cli._console import out, plain_errors, said, say


def build(
    name: Annotated[str, typer.Argument(help="A dataset, as visual_time_anomaly.")],
    *,
    output: Annotated[Path, typer.Option(help="A folder, new or of an earlier build.")],
    config: Annotated[
        str | None, typer.Option(help="A configuration. By default the dataset's own default.")
    ] = None,
    data_dir: Annotated[
        Path | None, typer.Option(help="Where the files lie that the dataset is made of.")
    ] = None,
    num_proc: Annotated[int, typer.Option(min=1, help="How many processes work.")] = 1,
) -> None:
    """Build a dataset: Parquet files and a card, which load without this package.

    A build that was stopped goes on when the same command is run again.
    """
    with plain_errors():
        built = build_dataset(
            name,
            output,
            config_name=config,
            data_dir=data_dir,
            num_proc=num_proc,
            progress=lambda parts, total: track(
                parts, "Building", total, console=said, transient=True
            ),
        )
        say(f"{built.written} files written, {built.kept} kept. Content {built.content}")
        out.print(f'datasets.load_dataset("{built.folder}")', soft_wrap=True, markup=False)
