"""Commands of a few lines."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from timevista_hf._version import __version__
from timevista_hf.cli._console import out, plain_errors
from timevista_hf.loading.names import list_datasets, list_metrics
from timevista_hf.scale.shards import merge_stores


def merge(
    target: Annotated[Path, typer.Argument(help="The store that grows; may be new.")],
    sources: Annotated[list[Path], typer.Argument(help="Stores of the shards.")],
) -> None:
    """Join the answers of several runs: their `judgments.sqlite` into one."""
    with plain_errors():
        counts = merge_stores(target, sources)
        out.print(f"{counts.added} added, {counts.known} known, {counts.conflicts} conflicts")


def metrics() -> None:
    """List the metrics that `evaluate.load` finds by name after `import timevista_hf`."""
    _print_names(list_metrics())


def datasets() -> None:
    """List the datasets that `load_dataset` finds by name after `import timevista_hf`."""
    _print_names(list_datasets())


def version() -> None:
    """Print the version."""
    out.print(__version__)


def _print_names(summaries: dict[str, str]) -> None:
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    for name, summary in summaries.items():
        table.add_row(Text(name, style="bold"), Text(summary))
    out.print(table)
