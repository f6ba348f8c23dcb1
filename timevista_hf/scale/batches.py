"""Batch files: questions for a provider's half-price queue, and its answers into the store."""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any, Literal

from timevista_hf._version import __version__
from timevista_hf.cases import ForecastCase
from timevista_hf.io import write_atomically, write_json
from timevista_hf.judges import Judge, Reply, Request, Store
from timevista_hf.judges._options import Decoding
from timevista_hf.judges._remote import RemoteJudge
from timevista_hf.pipeline import RubricsFor, judge_cases
from timevista_hf.rendering import Style
from timevista_hf.rubrics import Modality, Rubric, UnparsableReplyError, check_reply
from timevista_hf.scale._batch_forms import FORMS, Form, Result, limited

MANIFEST = "manifest.json"

_WINDOW = 64  # requests held in memory at once
_REASONS = 20  # different reasons kept of the failures
_LONGEST_REASON = 200  # characters


def missing_requests(
    cases: Iterable[ForecastCase],
    rubrics: Sequence[Rubric] | RubricsFor,
    judge: Judge,
    *,
    store: Store | None = None,
    style: Style | None = None,
    runs: int = 1,
    joint: bool = False,
) -> Iterator[Request]:
    """Give the requests that `judge_cases` would ask, and ask none.

    Parameters
    ----------
    cases, rubrics, judge, store, style, runs, joint
        As in `judge_cases`.

    Returns
    -------
    iterator of Request
        Those whose answer the store lacks, in the order of the cases.

    Examples
    --------
    >>> from timevista_hf.judges import load_judge
    >>> case = ForecastCase(id="a", history=[1, 2, 3], truth=[4, 5], prediction=[4, 5])
    >>> from timevista_hf.rubrics import load_rubric
    >>> rubrics = [load_rubric("trend"), load_rubric("phase")]
    >>> [r.question.name for r in missing_requests([case], rubrics, load_judge("builtin"))]
    ['trend', 'phase']
    """
    options: dict[str, Any] = {"store": store, "style": style, "runs": runs, "joint": joint}
    return requests_of(lambda asked: judge_cases(cases, rubrics, asked, **options), judge)


def requests_of(run: Callable[[Judge], Iterable[Any]], judge: Judge) -> Iterator[Request]:
    """Give the requests that a run would ask, and ask none.

    Parameters
    ----------
    run : callable
        Takes the judge to ask, as `judge_cases` and `detect_anomalies` do, and gives what it made
        of the answers.
    judge : Judge

    Yields
    ------
    Request

    Examples
    --------
    >>> from timevista_hf.judges import load_judge
    >>> from timevista_hf.pipeline import detect_anomalies
    >>> from timevista_hf.synthesis.anomalies import make_anomalies
    >>> series = make_anomalies("sine-trend", count=2)
    >>> asked = requests_of(lambda judge: detect_anomalies(series, judge), load_judge("mock"))
    >>> [request.question.identity for request in asked]
    ['detect_range@1.0', 'detect_range@1.0']
    """
    collector = _Collector(judge)
    for _ in run(collector):
        yield from collector.take()


def write_batch(
    requests: Iterable[Request],
    judge: Judge,
    folder: str | Path,
    *,
    store: Store | None = None,
    max_bytes: int | None = None,
    max_requests: int | None = None,
) -> list[Path]:
    """Write requests as the files that a provider's batch queue takes.

    The folder appears when it is complete: ``batch-0001.jsonl`` and so on, in the form of OpenAI
    (also for ``vllm run-batch``) or Gemini, or ``batch-0001.json`` as the body of a request to
    Anthropic; and ``manifest.json``, which `read_batch` needs. The id of a request is the key of
    its answer in the store. Equal requests are written once.

    Parameters
    ----------
    requests : iterable of Request
        See `missing_requests`. Taken as they are needed.
    judge : Judge
        ``openai:…``, ``server:…``, ``anthropic:…`` or ``gemini:…``. Let it judge a case before:
        parameters that the model refuses are then left out of the files.
    folder : str or Path
        A new or an empty one.
    store : Store, optional
        Requests that it has an answer to are left out.
    max_bytes, max_requests : int, optional
        Of a file; lower than the provider's own limits.

    Returns
    -------
    list of Path
        The files; none, and no folder, where there is nothing to ask.

    Raises
    ------
    ValueError
        For a judge without batch files, a folder in use, a limit above the provider's, and a
        request that is larger than a file may be.

    Examples
    --------
    >>> judge = load_judge("openai:gpt-5.4")  # doctest: +SKIP
    >>> questions = missing_requests(cases, rubrics, judge, store=store)  # doctest: +SKIP
    >>> write_batch(questions, judge, "batch", store=store)  # doctest: +SKIP
    [PosixPath('batch/batch-0001.jsonl')]
    """
    remote = _takes_files(judge)
    form = limited(FORMS[remote.family], max_bytes, max_requests)
    folder, rubrics = Path(folder), set[str]()
    with _new_folder(folder) as partial:
        lines = _lines(_unanswered(requests, judge, store), remote, form, rubrics)
        files = list(_write_files(lines, partial, form))
        if files:
            manifest = _manifest(remote, files, sorted(rubrics))
            write_json(partial / MANIFEST, manifest)
    return [folder / file["file"] for file in files]


@dataclass(frozen=True)
class BatchCounts:
    """What a provider's results held; what was not stored is asked again in the next batch."""

    stored: int = 0
    known: int = 0  # the store had an answer already, and keeps it
    unparsable: int = 0
    refused: int = 0
    truncated: int = 0
    error: int = 0
    expired: int = 0  # or cancelled, before it was asked
    unreadable: int = 0  # lines that are no result, as the last of a cut download
    reasons: Mapping[str, int] = field(default_factory=dict)  # the first few, and how often


def read_batch(
    results: Iterable[str | Path],
    store: Store,
    folder: str | Path,
    *,
    parse: Callable[[str], object] | None = None,
) -> BatchCounts:
    """Put the answers in a provider's result files into the store, where `judge_cases` finds them.

    Results may come in any order, in parts, and twice. Only answers that can be parsed are stored.

    Parameters
    ----------
    results : iterable of str or Path
        The files as downloaded: one result a line, also those of errors.
    store : Store
    folder : str or Path
        What `write_batch` wrote; it says in which form the results are, and what was asked for.
    parse : callable, optional
        Takes the text of a reply and raises `UnparsableReplyError` for one that has no verdict; the
        grammar of the rubrics where it is not given.

    Returns
    -------
    BatchCounts

    Raises
    ------
    ValueError
        Where a file cannot be read or none of its lines is a result, and for a folder without
        manifest. What was read before is stored.

    Examples
    --------
    >>> with Store("judgments.sqlite") as store:  # doctest: +SKIP
    ...     read_batch(["output.jsonl", "errors.jsonl"], store, "batch")
    BatchCounts(stored=4987, known=0, unparsable=2, refused=0, truncated=0, error=0, expired=11, …)
    """
    form, decoding = _read_manifest(Path(folder) / MANIFEST)
    parse = parse or check_reply
    counts, reasons = Counter[str](), Counter[str]()
    for path in results:
        for result in _results(Path(path), form):
            outcome, reason = _settle(result, form, decoding, store, parse)
            counts[outcome] += 1
            if reason:
                short = reason[:_LONGEST_REASON]
                known = short in reasons or len(reasons) < _REASONS
                reasons[short if known else "other reasons"] += 1
    return BatchCounts(**counts, reasons=dict(reasons.most_common()))


class _Collector:
    """A judge that remembers what it is asked, in the place of the one that would answer."""

    def __init__(self, judge: Judge) -> None:
        self.name, self.identity = judge.name, judge.identity
        self.modality: Modality | Literal["numbers"] = judge.modality
        self._asked: list[Request] = []

    def ask(self, requests: Iterable[Request]) -> Iterator[tuple[Request, Reply]]:
        for request in requests:
            self._asked.append(request)
            yield request, Reply("", "error", reason="it was not asked")

    def take(self) -> list[Request]:
        taken, self._asked = self._asked, []
        return taken


def _takes_files(judge: Judge) -> RemoteJudge:
    if isinstance(judge, RemoteJudge) and judge.family in FORMS:
        return judge
    known = ", ".join(f"{family}:MODEL" for family in FORMS)
    raise ValueError(f"judge {judge.name!r} takes no batch files; those that do: {known}")


def _unanswered(
    requests: Iterable[Request], judge: Judge, store: Store | None
) -> Iterator[tuple[str, Request]]:
    identity, seen, stream = judge.identity, set[bytes](), iter(requests)
    while window := list(islice(stream, _WINDOW)):
        keys = [request.key(identity) for request in window]
        answered = {} if store is None else store.get(keys)
        for key, request in zip(keys, window, strict=True):
            if key not in answered and bytes.fromhex(key) not in seen:
                seen.add(bytes.fromhex(key))
                yield key, request


def _lines(
    requests: Iterable[tuple[str, Request]], judge: RemoteJudge, form: Form, rubrics: set[str]
) -> Iterator[bytes]:
    for key, request in requests:
        entry = form.entry(key, judge.payload(request))
        # In ASCII: a lone surrogate, as JSON can spell it, has no UTF-8.
        line = json.dumps(entry, separators=(",", ":"), allow_nan=False).encode("ascii")
        size = len(form.head) + len(line) + len(form.tail)
        if size > form.max_bytes:
            raise ValueError(
                f"{request.case.label}: its request needs a file of {size} bytes, more than the "
                f"{form.max_bytes} allowed"
            )
        rubrics.add(request.question.identity)
        yield line


def _write_files(lines: Iterator[bytes], folder: Path, form: Form) -> Iterator[dict[str, Any]]:
    line = next(lines, None)
    number = 0
    while line is not None:
        number += 1
        path = folder / f"batch-{number:04d}{form.suffix}"
        with write_atomically(path) as temporary, temporary.open("wb") as file:
            size, count = file.write(form.head + line), 1
            line = next(lines, None)
            room = form.max_bytes - len(form.between) - len(form.tail)
            while line is not None and count < form.max_requests and size + len(line) <= room:
                size += file.write(form.between + line)
                count += 1
                line = next(lines, None)
            size += file.write(form.tail)
        yield {"file": path.name, "requests": count, "bytes": size}


@contextmanager
def _new_folder(folder: Path) -> Iterator[Path]:
    """Give a folder that becomes `folder` when the block succeeds and has put something there."""
    folder = folder.resolve()
    partial = folder.with_name(f".{folder.name}.partial")
    try:
        if folder.exists() and any(folder.iterdir()):
            raise ValueError(f"{folder}: holds files already; give a new folder for the batch")
        shutil.rmtree(partial, ignore_errors=True)  # what a killed run has left
        partial.mkdir(parents=True)
    except OSError as error:
        raise ValueError(f"{folder}: cannot be used as the folder: {error}") from error
    try:
        yield partial
        if any(partial.iterdir()):
            if folder.exists():
                folder.rmdir()
            partial.rename(folder)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _manifest(
    judge: RemoteJudge, files: list[dict[str, Any]], rubrics: list[str]
) -> dict[str, Any]:
    return {
        "family": judge.family,
        "judge": judge.name,
        "model": judge.model,
        "identity": dict(judge.identity),
        "decoding": asdict(judge.decoding),
        "rubrics": rubrics,
        "requests": sum(file["requests"] for file in files),
        "files": files,
        "version": __version__,
    }


def _read_manifest(path: Path) -> tuple[Form, Decoding]:
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
        decoding = manifest["decoding"]
        refused = tuple(decoding["refused"])
        return FORMS[manifest["family"]], Decoding(**{**decoding, "refused": refused})
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{path}: is not the manifest of a batch: {error!r}") from error


def _results(path: Path, form: Form) -> Iterator[Result]:
    readable, first = 0, ""
    for number, line in enumerate(_raw_lines(path), 1):
        if line.isspace():
            continue
        try:
            result = form.result(json.loads(line))
            if not re.fullmatch("[0-9a-f]{64}", result.key):
                raise ValueError(f"the id {result.key[:80]!r} is not from a batch of this package")
            readable += 1
        except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
            said = f"it lacks {error}" if isinstance(error, KeyError) else str(error)
            reason = f"{path.name}, line {number}: is no result of a batch: {said}"
            first = first or reason
            result = Result("", None, "unreadable", reason)
        yield result
    if first and not readable:
        raise ValueError(first)


def _raw_lines(path: Path) -> Iterator[bytes]:
    try:
        with path.open("rb") as file:
            yield from file
    except OSError as error:
        raise ValueError(f"{path}: cannot be read: {error}") from error


def _settle(
    result: Result,
    form: Form,
    decoding: Decoding,
    store: Store,
    parse: Callable[[str], object],
) -> tuple[str, str]:
    """Store an answer that can be used; return the name of the count and the reason."""
    if result.response is None:
        return result.outcome, result.reason
    if store.get([result.key]):
        return "known", ""
    read: Callable[[Mapping[str, Any], Decoding], Reply] = import_module(form.module).reply_of
    reply = read(result.response, decoding)
    if reply.status != "ok":
        return reply.status, reply.reason
    try:
        parse(reply.text)
    except UnparsableReplyError as error:
        return "unparsable", str(error)
    store.put(result.key, reply)
    return "stored", ""
