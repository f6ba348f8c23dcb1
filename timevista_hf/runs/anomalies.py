"""A run over subsets of VisualTimeAnomaly: ask, score, and fill a folder with what came out."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, groupby
from pathlib import Path
from typing import Any

from timevista_hf._version import __version__
from timevista_hf.cases import AnomalyCase
from timevista_hf.costs import Usage
from timevista_hf.detection import Detection, Example
from timevista_hf.io import write_atomically, write_detections, write_json
from timevista_hf.judges import Judge, Request, Store
from timevista_hf.pipeline import DetectedCase, detect_anomalies
from timevista_hf.rendering import AnomalyStyle, render_anomalies
from timevista_hf.reports.anomalies import DetectionExample, write_detection_report
from timevista_hf.reports.charts import Effect, draw_effect
from timevista_hf.reports.texts import to_csv, to_markdown
from timevista_hf.results.anomalies import Convention, SubsetScores, score_subset
from timevista_hf.results.tables import to_records
from timevista_hf.scale.batches import requests_of
from timevista_hf.synthesis.anomalies import AnomalySubset, Edition, Split, make_anomalies

EXAMPLES = 3  # plots of a subset: worst, middle, best
MOST_EXAMPLES = 60  # plots of a run; of many subsets each has fewer, but one

Progress = Callable[[Iterable[DetectedCase]], Iterable[DetectedCase]]


@dataclass(frozen=True)
class DetectionRun:
    """What a run gave: the scores of each subset, and what it was made with."""

    scores: list[SubsetScores]
    run: Mapping[str, Any]
    detections: int
    reused: int  # detections that came from an earlier run


def detect_subsets(
    subsets: Sequence[AnomalySubset],
    judge: Judge,
    output: str | Path,
    *,
    edition: Edition = "corrected",
    split: Split = "test",
    count: int = 100,
    convention: Convention = "honest",
    example: Example = "outside",
    data_dir: str | Path | None = None,
    runs: int = 1,
    seed: int = 0,
    resume: bool = True,
    progress: Progress = iter,
) -> DetectionRun:
    """Ask a judge about subsets of the benchmark and write the results.

    The folder then holds ``report.html``, ``scores.json``, ``scores.csv``, ``tables.md``,
    ``detections.parquet``, ``examples/``, the store of answers ``detections.sqlite``, and
    ``figure4.png`` and ``figure5.png`` where the subsets differ in variates or missing steps. A
    run that was stopped goes on where it was.

    Parameters
    ----------
    subsets : sequence of AnomalySubset
        One that occurs twice counts once.
    judge : Judge
    output : str or Path
        The folder; made where it does not exist.
    edition, split, count, data_dir
        Which series, see `make_anomalies`.
    convention : {"honest", "paper"}
        How answers are scored, see `score_subset`.
    example : {"outside", "none", "paper"}
        The example in the prompt, see `DetectionQuestion`.
    runs : int
        How often each question is asked anew.
    seed : int
        Of the bootstrap and of the random answers.
    resume : bool
        Whether answers of an earlier run in the same folder are used again.
    progress : callable
        Passes the series through and may show how far they are.

    Raises
    ------
    ValueError
        Where the folder cannot be used, there is nothing to ask, or the series cannot be made.

    Examples
    --------
    >>> import tempfile
    >>> from timevista_hf.judges import load_judge
    >>> from timevista_hf.synthesis.anomalies import find_subset
    >>> folder = Path(tempfile.mkdtemp()) / "out"
    >>> run = detect_subsets([find_subset("sine-trend")], load_judge("mock"), folder, count=2)
    >>> run.scores[0].subset, run.detections
    ('sine-trend', 2)
    >>> sorted(path.name for path in folder.iterdir())[:3]
    ['detections.parquet', 'detections.sqlite', 'examples']
    """
    chosen = [*dict.fromkeys(subsets)]
    if not chosen or count < 1:
        raise ValueError(f"there is nothing to ask: {len(chosen)} subsets of {count} series")
    series, style = _series(chosen, edition, split, count, data_dir), _style(edition)
    folder = _prepared(Path(output), resume)
    board = _Board(convention, seed, each=max(1, min(EXAMPLES, MOST_EXAMPLES // len(chosen))))
    with Store(folder / "detections.sqlite") as store:
        found = detect_anomalies(
            series, judge, store=store, style=style, example=example, runs=runs
        )
        write_detections(folder / "detections.parquet", board.recorded(progress(found)))
    run = {
        "judge": judge.name,
        "judges": {judge.name: dict(judge.identity)},
        "subsets": [one.name for one in chosen],
        "edition": edition,
        "split": split,
        "count": count,
        "runs": runs,
        "convention": convention,
        "questions": [*board.questions],
        "usage": board.usage.told(judge),
        "render": style.fingerprint if judge.modality == "vision" else "",
        "seed": seed,
        "interval": "95 % percentile bootstrap over the series of a subset",
        "version": __version__,
    }
    _write(folder, run, board, style)
    return DetectionRun(board.scores, run, board.detections, board.reused)


def detection_requests(
    subsets: Sequence[AnomalySubset],
    judge: Judge,
    *,
    edition: Edition = "corrected",
    split: Split = "test",
    count: int = 100,
    example: Example = "outside",
    data_dir: str | Path | None = None,
    runs: int = 1,
) -> Iterator[Request]:
    """Give the requests that `detect_subsets` would ask, and ask none.

    Parameters
    ----------
    subsets, judge, edition, split, count, example, data_dir, runs
        As in `detect_subsets`.

    Returns
    -------
    iterator of Request

    Raises
    ------
    ValueError
        Where the series cannot be made.
    """
    cases = _series(subsets, edition, split, count, data_dir)
    style = _style(edition)
    return requests_of(
        lambda asked: detect_anomalies(cases, asked, style=style, example=example, runs=runs), judge
    )


def _series(
    subsets: Sequence[AnomalySubset],
    edition: Edition,
    split: Split,
    count: int,
    data_dir: str | Path | None,
) -> Iterator[AnomalyCase]:
    made = [
        make_anomalies(one, edition=edition, split=split, count=count, data_dir=data_dir)
        for one in dict.fromkeys(subsets)
    ]
    return chain.from_iterable(made)


def _style(edition: Edition) -> AnomalyStyle:
    return AnomalyStyle(grid="paper_code" if edition == "paper" else "near_square")


@dataclass
class _Board:
    """What is kept while detections stream by: scores, and a few series to show."""

    convention: Convention
    seed: int
    each: int  # examples of a subset
    scores: list[SubsetScores] = field(default_factory=list)
    examples: list[tuple[AnomalyCase, Detection, float]] = field(default_factory=list)
    questions: dict[str, None] = field(default_factory=dict)
    usage: Usage = field(default_factory=Usage)
    detections: int = 0
    reused: int = 0

    def recorded(self, stream: Iterable[DetectedCase]) -> Iterator[Detection]:
        """Pass the detections on, and score each subset when it is complete."""
        for _, group in groupby(stream, key=lambda entry: entry.case.subset):
            entries: list[DetectedCase] = []
            for entry in group:
                self._count(entry)
                entries.append(replace(entry, image=None))
                yield from entry.detections
            found = [detection for entry in entries for detection in entry.detections]
            scores = score_subset(
                [entry.case for entry in entries],
                found,
                convention=self.convention,
                seed=self.seed,
            )
            self.scores.append(scores)
            self.examples += _chosen(entries, scores.series_f1, self.each)

    def _count(self, entry: DetectedCase) -> None:
        self.detections += len(entry.detections)
        self.reused += entry.reused
        for one in entry.detections:
            self.questions.setdefault(one.question)
            self.usage.add(one)


def _chosen(
    entries: Sequence[DetectedCase], f1: Mapping[str, float], count: int
) -> list[tuple[AnomalyCase, Detection, float]]:
    """Choose the series with the lowest, the middle and the highest F1; of one only the middle."""
    known = {entry.case.id: entry for entry in entries}
    ranked = sorted((name for name in f1 if f1[name] == f1[name]), key=lambda name: f1[name])
    if not ranked:
        return []
    middle, last = len(ranked) // 2, len(ranked) - 1
    places = [middle, 0, last][:count]
    return [
        (known[name].case, known[name].detections[0], f1[name])
        for name in (ranked[place] for place in sorted(set(places)))
    ]


def _write(folder: Path, run: dict[str, Any], board: _Board, style: AnomalyStyle) -> None:
    scores = board.scores
    write_json(folder / "scores.json", {"run": run, **to_records(scores)})
    _write_bytes(folder / "scores.csv", to_csv(scores).encode())
    _write_bytes(folder / "tables.md", to_markdown(scores, run).encode())
    figures = {}
    for name, effect, caption in _FIGURES:
        image = draw_effect(scores, effect)
        if image is not None:
            figures[caption] = image
            _write_bytes(folder / name, image)
    examples = [_drawn(*one, replace(style, marks=True)) for one in board.examples]
    (folder / "examples").mkdir()
    for one in examples:
        for kind, image in (("truth", one.truth), ("answer", one.answer)):
            _write_bytes(folder / "examples" / f"{one.case.id}_{kind}.png", image)
    write_detection_report(
        folder / "report.html", run=run, scores=scores, figures=figures, examples=examples
    )


def _drawn(
    case: AnomalyCase, detection: Detection, f1: float, style: AnomalyStyle
) -> DetectionExample:
    answered = replace(case, events=detection.events, variates=detection.variates)
    return DetectionExample(
        case=case,
        detection=detection,
        f1=f1,
        truth=render_anomalies(case, style),
        answer=render_anomalies(answered, style),
    )


def _prepared(folder: Path, resume: bool) -> Path:
    """Make the folder, and take away what an earlier run made of its answers."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ValueError(f"{folder}: cannot be used as the output folder: {error}") from error
    if (folder / "examples").exists() and not (folder / "detections.sqlite").exists():
        raise ValueError(
            f"{folder / 'examples'}: would be replaced but is not from an earlier run; "
            "choose another output folder"
        )
    shutil.rmtree(folder / "examples", ignore_errors=True)
    stale = [path for name, *_ in _FIGURES for path in folder.glob(name)]
    killed = [path for name in _FILES for path in folder.glob(f".{name}.*.tmp")]
    answers = [] if resume else [*folder.glob("detections.sqlite*")]
    for path in (*stale, *killed, *answers):
        path.unlink()
    return folder


def _write_bytes(path: Path, content: bytes) -> None:
    with write_atomically(path) as temporary:
        temporary.write_bytes(content)


_FIGURES: tuple[tuple[str, Effect, str], ...] = (
    ("figure4.png", "num_variates", "F1 against the number of variates, as figure 4 of the paper"),
    ("figure5.png", "irregularity", "F1 against missing steps, as figure 5 of the paper"),
)
_FILES = (
    "detections.parquet",
    "scores.json",
    "scores.csv",
    "tables.md",
    "report.html",
    *(name for name, *_ in _FIGURES),
)
