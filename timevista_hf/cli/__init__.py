"""The command `timevista`."""

from __future__ import annotations

import typer

from timevista_hf.cli.batches import batch
from timevista_hf.cli.build import build
from timevista_hf.cli.detect import detect
from timevista_hf.cli.rate import rate
from timevista_hf.cli.score import cost, score
from timevista_hf.cli.small import datasets, merge, metrics, version

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Judge forecasts, and find anomalies, on plots.",
)
for command in (score, cost, detect, build, merge, metrics, datasets, version):
    app.command()(command)
app.add_typer(batch)
app.add_typer(rate)
