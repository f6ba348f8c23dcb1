"""One self-contained HTML page of a run: scores, tables, figures, and some answers on plots."""

from __future__ import annotations

import base64
import hashlib
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from timevista_hf.cases import AnomalyCase
from timevista_hf.detection import Detection
from timevista_hf.io import write_atomically
from timevista_hf.reports.texts import explain_run, percent
from timevista_hf.results.anomalies import AnomalyScores, SubsetScores
from timevista_hf.results.tables import arrange_tables


@dataclass(frozen=True, eq=False, kw_only=True)
class DetectionExample:
    """Hold what the page shows of one series.

    Parameters
    ----------
    case : AnomalyCase
    detection : Detection
    f1 : float
        In [0, 1]; nan where it is not defined.
    truth, answer : bytes
        The plot with what is anomalous and with what was answered, both in red, as PNG.
    """

    case: AnomalyCase
    detection: Detection
    f1: float
    truth: bytes
    answer: bytes


def write_detection_report(
    path: str | Path,
    *,
    run: Mapping[str, object],
    scores: Sequence[SubsetScores],
    figures: Mapping[str, bytes],
    examples: Sequence[DetectionExample] = (),
) -> None:
    """Write the page of a run as one file that opens offline.

    Parameters
    ----------
    path : str or Path
        The page, in a folder that exists; an older one is replaced.
    run : mapping
        What was decided, shown as it is; values may be nested. It needs ``"judge"``, the judge's
        name, ``"edition"`` and ``"convention"``.
    scores : sequence of SubsetScores
    figures : mapping of str to bytes
        Captions and PNGs.
    examples : sequence of DetectionExample

    Raises
    ------
    ValueError
        For a run without one of these, or a folder that does not exist.

    Examples
    --------
    >>> import tempfile
    >>> run = {"judge": "builtin", "edition": "corrected", "convention": "honest"}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = Path(folder) / "report.html"
    ...     write_detection_report(page, run=run, scores=[], figures={})
    ...     page.read_text(encoding="utf-8")[:15]
    '<!doctype html>'
    """
    for name in ("judge", "edition", "convention"):
        if not run.get(name):
            raise ValueError(f"`run` must say the {name} under {name!r}, got {run.get(name)!r}")
    style = _style()
    text = (
        _environment()
        .get_template("anomalies.html")
        .render(
            run=dict(_flatten(run)),
            judge=str(run["judge"]),
            edition=str(run["edition"]),
            scores=scores,
            tables=arrange_tables(scores),
            figures=figures,
            examples=examples,
            notes=explain_run(run),
            style=Markup(style),
            style_hash=base64.b64encode(hashlib.sha256(style.encode()).digest()).decode("ascii"),
        )
    )
    with write_atomically(path) as temporary:
        # Half an emoji in a reply must not end the run.
        temporary.write_text(text, encoding="utf-8", errors="backslashreplace", newline="\n")


def best_chance(scores: SubsetScores) -> AnomalyScores:
    """Return the answer by chance with the highest F1."""
    return max(scores.chance, key=lambda row: -1.0 if math.isnan(row.f1.mean) else row.f1.mean)


def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("timevista_hf.reports", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(percent=percent, best_chance=best_chance, base64=_base64)
    environment.tests["defined_number"] = math.isfinite
    return environment


def _base64(content: bytes) -> str:
    return base64.b64encode(content).decode("ascii")


def _style() -> str:
    folder = files("timevista_hf.reports").joinpath("templates")
    return "".join(
        folder.joinpath(name).read_text(encoding="utf-8")
        for name in ("report.css", "anomalies.css")
    )


def _flatten(value: Mapping[str, object], prefix: str = "") -> Iterator[tuple[str, object]]:
    for name, entry in value.items():
        if isinstance(entry, Mapping):
            yield from _flatten(entry, f"{prefix}{name}: ")
        elif isinstance(entry, (list, tuple)):
            yield f"{prefix}{name}", ", ".join(map(str, entry))
        else:
            yield f"{prefix}{name}", entry
