"""Run the command as `python -m timevista_hf`."""

from timevista_hf.cli import app

app(prog_name="timevista")
