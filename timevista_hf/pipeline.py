"""Cases to judgments: render, ask, parse, store; a bounded window of cases at a time."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice, tee

from timevista_hf._version import __version__
from timevista_hf.cases import ForecastCase
from timevista_hf.constraints import find_breaches
from timevista_hf.judges import Judge, Reply, Request, Store
from timevista_hf.rendering import Renderer, Style, describe_case
from timevista_hf.rubrics import JointRubric, Judgment, Rubric, UnparsableReplyError

WINDOW = 64  # cases held in memory at once

RubricsFor = Callable[[ForecastCase], Sequence[Rubric]]


@dataclass(frozen=True, eq=False)
class JudgedCase:
    """A case, its judgments in the order of the rubrics, and the plot where one was shown."""

    case: ForecastCase
    judgments: tuple[Judgment, ...]
    image: bytes | None = None
    reused: int = 0  # judgments that came from the store


def judge_cases(
    cases: Iterable[ForecastCase],
    rubrics: Sequence[Rubric] | RubricsFor,
    judge: Judge | Sequence[Judge],
    *,
    store: Store | None = None,
    style: Style | None = None,
    runs: int = 1,
    joint: bool = False,
) -> Iterator[JudgedCase]:
    """Judge every case by every rubric, in the order of the cases.

    Cases are taken as they are needed, `WINDOW` at a time. With a store, an answer that was paid
    for once is never asked for again, also after the process was killed. Questions that show a
    judge the same, as those on two models with equal forecasts, are asked once in a window.

    Parameters
    ----------
    cases : iterable of ForecastCase
    rubrics : sequence of Rubric, or callable
        The same for every case, or a function that gives a case its own; at least one.
    judge : Judge, or sequence of Judge
        It decides what it is shown: the plot, the numbers as text, or the arrays. The judges of a
        panel judge every case one after another.
    store : Store, optional
        Where answers are kept and looked up.
    style : Style, optional
        How the plot is drawn, and how much history is shown.
    runs : int
        How often each question is asked anew, ≥ 1.
    joint : bool
        Whether one question holds all rubrics of a case; not for judges that measure.

    Returns
    -------
    iterator of JudgedCase
        A failed judgment has a status and a reason instead of a score.

    Raises
    ------
    ValueError
        For a case without rubrics, `runs` below 1, or a joint question to a judge that measures.

    Examples
    --------
    >>> from timevista_hf.judges import load_judge
    >>> from timevista_hf.rubrics import load_rubric
    >>> case = ForecastCase(id="a", history=[1, 2, 3], truth=[4, 5], prediction=[4, 5])
    >>> [judged] = judge_cases([case], [load_rubric("trend")], load_judge("builtin"))
    >>> judged.judgments[0].score
    5
    """
    if runs < 1:
        raise ValueError(f"`runs` must be at least 1, got {runs!r}")
    judges = [*judge] if isinstance(judge, Sequence) else [judge]
    if joint and any(one.modality == "numbers" for one in judges):
        raise ValueError("a judge that measures is asked one rubric at a time, not all in one")
    rubrics_for = rubrics if callable(rubrics) else lambda case: rubrics
    renderer = Renderer(style)
    streams = [
        _judge_alone(same, rubrics_for, one, store, renderer, runs=runs, joint=joint)
        for one, same in zip(judges, tee(cases, len(judges)), strict=True)
    ]
    return map(_joined, zip(*streams, strict=True))


def _judge_alone(
    cases: Iterable[ForecastCase],
    rubrics_for: RubricsFor,
    judge: Judge,
    store: Store | None,
    renderer: Renderer,
    *,
    runs: int,
    joint: bool,
) -> Iterator[JudgedCase]:
    stream = iter(cases)
    while window := list(islice(stream, WINDOW)):
        requests = [
            [replace(one, run=run) for run in range(runs) for one in mine]
            for mine in (
                _requests(case, _questions(case, rubrics_for(case), joint), judge, renderer)
                for case in window
            )
        ]
        yield from _judge_window(requests, judge, store, renderer)


def _joined(panel: Sequence[JudgedCase]) -> JudgedCase:
    """Put together what the judges of a panel say of one case."""
    return JudgedCase(
        case=panel[0].case,
        judgments=tuple(judgment for entry in panel for judgment in entry.judgments),
        image=next((entry.image for entry in panel if entry.image), None),
        reused=sum(entry.reused for entry in panel),
    )


def _judge_window(
    requests: list[list[Request]], judge: Judge, store: Store | None, renderer: Renderer
) -> Iterator[JudgedCase]:
    keys = {request: request.key(judge.identity) for mine in requests for request in mine}
    alike: dict[str, list[Request]] = {}
    for request, key in keys.items():
        alike.setdefault(key, []).append(request)
    judgments: dict[Request, list[Judgment]] = {}

    def settle(key: str, reply: Reply) -> bool:
        judged = [_judgments(request, reply, judge, renderer) for request in alike[key]]
        judgments.update(zip(alike[key], judged, strict=True))
        return judged[0][0].status == "ok"

    kept = {} if store is None else store.get(list(alike))
    reused = {key for key, reply in kept.items() if settle(key, reply)}
    for request, reply in judge.ask(same[0] for key, same in alike.items() if key not in reused):
        if settle(keys[request], reply) and store is not None:
            store.put(keys[request], reply)
    for mine in requests:
        yield JudgedCase(
            case=mine[0].case,
            judgments=tuple(judgment for request in mine for judgment in judgments[request]),
            image=mine[0].image,
            reused=sum(len(judgments[request]) for request in mine if keys[request] in reused),
        )


def _questions(
    case: ForecastCase, rubrics: Sequence[Rubric], joint: bool
) -> Sequence[Rubric | JointRubric]:
    if not rubrics:
        raise ValueError(f"{case.label}: at least one rubric is needed to judge it")
    return [JointRubric(tuple(rubrics))] if joint else rubrics


def _requests(
    case: ForecastCase,
    rubrics: Sequence[Rubric | JointRubric],
    judge: Judge,
    renderer: Renderer,
) -> list[Request]:
    image = renderer.render(case) if judge.modality == "vision" else None
    if judge.modality == "text":
        numbers = describe_case(case, context=renderer.style.context)
        return [
            Request(case, rubric, rubric.prompt(modality="text", numbers=numbers))
            for rubric in rubrics
        ]
    return [Request(case, rubric, rubric.prompt(), image) for rubric in rubrics]


def _judgments(request: Request, reply: Reply, judge: Judge, renderer: Renderer) -> list[Judgment]:
    """Read a reply: one judgment for each rubric that was asked."""
    unread = [_unread(request, part, reply, judge, renderer) for part in request.rubric.parts]
    # What was paid for the reply is counted once.
    unread[1:] = [replace(entry, input_tokens=0, output_tokens=0) for entry in unread[1:]]
    if reply.status != "ok":
        return unread
    try:
        verdicts = request.rubric.parse_parts(reply.text)
    except UnparsableReplyError as error:
        return [replace(entry, status="unparsable", reason=str(error)) for entry in unread]
    return [
        replace(
            entry,
            score=verdict.score,
            expected_score=reply.expected_score,
            mass=reply.mass,
            rationale=_writable(verdict.rationale),
        )
        for entry, verdict in zip(unread, verdicts, strict=True)
    ]


def _unread(
    request: Request, rubric: Rubric, reply: Reply, judge: Judge, renderer: Renderer
) -> Judgment:
    case = request.case
    return Judgment(
        case_id=case.id,
        cutoff=case.cutoff,
        model=case.model,
        dataset=rubric.dataset or case.dataset,
        level=rubric.level,
        dimension=rubric.dimension,
        rubric=rubric.identity,
        judge=judge.name,
        status=reply.status,
        score=None,
        expected_score=None,
        rationale="",
        breaches=tuple(breach.message for breach in find_breaches(case, rubric.constraints)),
        reason=_writable(reply.reason),
        options=json.dumps(dict(reply.options), sort_keys=True),
        run=request.run,
        input_tokens=reply.input_tokens,
        output_tokens=reply.output_tokens,
        render=renderer.style.fingerprint if request.image else "",
        version=__version__,
    )


def _writable(text: str) -> str:
    # JSON can spell half an emoji, which no file of UTF-8 can hold.
    return text.encode("utf-8", "replace").decode("utf-8")
