"""Cases to judgments."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import tee

from timevista_hf._version import __version__
from timevista_hf.cases import ForecastCase
from timevista_hf.constraints import find_breaches
from timevista_hf.judges import Judge, Reply, Request, Store
from timevista_hf.pipeline._asking import Asked, ask_all, parsed, writable
from timevista_hf.rendering import Renderer, Style, describe_case
from timevista_hf.rubrics import JointRubric, Judgment, Modality, Rubric, UnparsableReplyError

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
    def questions(case: ForecastCase) -> list[Asked[Judgment]]:
        rubrics = _questions(case, rubrics_for(case), joint)
        return _asked(case, rubrics, judge, renderer, runs)

    for one in ask_all(cases, questions, judge, store):
        yield JudgedCase(one.case, one.rows, one.image, one.reused)


def _joined(panel: Sequence[JudgedCase]) -> JudgedCase:
    """Put together what the judges of a panel say of one case."""
    return JudgedCase(
        case=panel[0].case,
        judgments=tuple(judgment for entry in panel for judgment in entry.judgments),
        image=next((entry.image for entry in panel if entry.image), None),
        reused=sum(entry.reused for entry in panel),
    )


def _questions(
    case: ForecastCase, rubrics: Sequence[Rubric], joint: bool
) -> Sequence[Rubric | JointRubric]:
    if not rubrics:
        raise ValueError(f"{case.label}: at least one rubric is needed to judge it")
    return [JointRubric(tuple(rubrics))] if joint else rubrics


def _asked(
    case: ForecastCase,
    rubrics: Sequence[Rubric | JointRubric],
    judge: Judge,
    renderer: Renderer,
    runs: int,
) -> list[Asked[Judgment]]:
    image = renderer.render(case) if judge.modality == "vision" else None
    numbers = ""
    if judge.modality == "text":
        numbers = describe_case(case, context=renderer.style.context)
    modality: Modality = "text" if judge.modality == "text" else "vision"
    render = renderer.style.fingerprint if image else ""
    prompts = [rubric.prompt(modality=modality, numbers=numbers) for rubric in rubrics]
    return [
        Asked(
            Request(case, rubric, prompt, image, run),
            partial(_judgments, case, rubric, judge.name, run, render),
        )
        for run in range(runs)
        for rubric, prompt in zip(rubrics, prompts, strict=True)
    ]


def _judgments(
    case: ForecastCase,
    rubric: Rubric | JointRubric,
    judge: str,
    run: int,
    render: str,
    reply: Reply,
) -> list[Judgment]:
    """Read a reply: one judgment for each rubric that was asked."""
    unread = [_unread(case, part, judge, run, render, reply) for part in rubric.parts]
    # What was paid for the reply is counted once.
    unread[1:] = [replace(entry, input_tokens=0, output_tokens=0) for entry in unread[1:]]
    if reply.status != "ok":
        return unread
    try:
        verdicts = parsed(reply, rubric.parse_parts)
    except UnparsableReplyError as error:
        return [replace(entry, status="unparsable", reason=str(error)) for entry in unread]
    return [
        replace(
            entry,
            score=verdict.score,
            expected_score=reply.expected_score,
            mass=reply.mass,
            rationale=writable(reply, verdict.rationale),
        )
        for entry, verdict in zip(unread, verdicts, strict=True)
    ]


def _unread(
    case: ForecastCase, rubric: Rubric, judge: str, run: int, render: str, reply: Reply
) -> Judgment:
    return Judgment(
        case_id=case.id,
        cutoff=case.cutoff,
        model=case.model,
        dataset=rubric.dataset or case.dataset,
        level=rubric.level,
        dimension=rubric.dimension,
        rubric=rubric.identity,
        judge=judge,
        status=reply.status,
        score=None,
        expected_score=None,
        rationale="",
        breaches=tuple(breach.message for breach in find_breaches(case, rubric.constraints)),
        reason=writable(reply, reply.reason),
        options=json.dumps(dict(reply.options), sort_keys=True),
        run=run,
        input_tokens=reply.input_tokens,
        output_tokens=reply.output_tokens,
        render=render,
        version=__version__,
    )
