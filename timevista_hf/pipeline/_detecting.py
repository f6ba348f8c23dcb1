"""Series to detections: where a judge says that they are anomalous."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial

from timevista_hf._version import __version__
from timevista_hf.cases import AnomalyCase
from timevista_hf.detection import LONGEST_TEXT, Detection, DetectionQuestion, Example
from timevista_hf.judges import Judge, Reply, Request, Store
from timevista_hf.pipeline._asking import Asked, ask_all, parsed, writable
from timevista_hf.rendering import (
    AnomalyRenderer,
    AnomalyStyle,
    describe_anomalies,
    panel_grid,
)
from timevista_hf.rubrics import UnparsableReplyError, cut_thoughts


@dataclass(frozen=True, eq=False)
class DetectedCase:
    """A case, its detections, one a run, and the plot where one was shown."""

    case: AnomalyCase
    detections: tuple[Detection, ...]
    image: bytes | None = None
    reused: int = 0  # detections that came from the store


def detect_anomalies(
    cases: Iterable[AnomalyCase],
    judge: Judge,
    *,
    store: Store | None = None,
    style: AnomalyStyle | None = None,
    example: Example = "outside",
    runs: int = 1,
) -> Iterator[DetectedCase]:
    """Ask a judge where each series is anomalous, in the order of the cases.

    Cases are taken as they are needed, `WINDOW` at a time. With a store, an answer that was paid
    for once is never asked for again, also after the process was killed. The judge sees neither
    the truth nor a name.

    Parameters
    ----------
    cases : iterable of AnomalyCase
    judge : Judge
        It decides what it is shown: the plot, the numbers as text, or the array.
    store : Store, optional
        Where answers are kept and looked up.
    style : AnomalyStyle, optional
        How the plot is drawn; not one that marks the truth.
    example : {"outside", "none", "paper"}
        The example in the prompt, see `DetectionQuestion`.
    runs : int
        How often each question is asked anew, ≥ 1.

    Returns
    -------
    iterator of DetectedCase
        A failed detection has a status and a reason, and names no anomaly.

    Raises
    ------
    ValueError
        For `runs` below 1, an unknown example, or a style that marks the truth.

    Examples
    --------
    >>> from timevista_hf.judges import load_judge
    >>> case = AnomalyCase(id="a", values=[0, 0, 9, 0], granularity="point", events=[(2, 3)])
    >>> [detected] = detect_anomalies([case], load_judge("mock"))
    >>> detected.detections[0].events.tolist()
    [[2, 3]]
    """
    if runs < 1:
        raise ValueError(f"`runs` must be at least 1, got {runs!r}")
    renderer = AnomalyRenderer(style)
    if renderer.style.marks:
        raise ValueError("a style with `marks` shows the truth to the judge; draw without them")
    DetectionQuestion("point", steps=2, example=example)  # refuses one that is not known
    questions = partial(_asked, judge=judge, renderer=renderer, example=example, runs=runs)
    return (
        DetectedCase(one.case, one.rows, one.image, one.reused)
        for one in ask_all(cases, questions, judge, store)
    )


def _asked(
    case: AnomalyCase, *, judge: Judge, renderer: AnomalyRenderer, example: Example, runs: int
) -> list[Asked[Detection]]:
    several = case.granularity == "variate"
    question = DetectionQuestion(
        case.granularity,
        case.steps,
        case.num_variates,
        example=example,
        grid=panel_grid(case.num_variates, renderer.style.grid) if several else None,
    )
    image = renderer.render(case) if judge.modality == "vision" else None
    if judge.modality == "text":
        prompt = question.prompt(modality="text", numbers=describe_anomalies(case))
    else:
        prompt = question.prompt()
    render = renderer.style.fingerprint if image else ""
    return [
        Asked(
            Request(case, question, prompt, image, run),
            partial(_detection, case, question, judge.name, run, render),
        )
        for run in range(runs)
    ]


def _detection(
    case: AnomalyCase,
    question: DetectionQuestion,
    judge: str,
    run: int,
    render: str,
    reply: Reply,
) -> list[Detection]:
    """Read a reply; one that failed names nothing, whatever its text holds."""
    unread = _unread(case, question, judge, run, render, reply)
    try:
        answer = parsed(reply, question.parse)
    except UnparsableReplyError as error:
        failed = unread.status != "ok"
        return [unread if failed else replace(unread, status="unparsable", reason=str(error))]
    unread = replace(unread, hallucinated_run=answer.hallucinated_run)
    if reply.status != "ok":
        return [unread]
    return [
        replace(
            unread,
            events=answer.events,
            variates=answer.variates,
            rationale=writable(reply, answer.rationale),
            repairs=answer.repairs,
            rejected=answer.rejected,
        )
    ]


def _unread(
    case: AnomalyCase,
    question: DetectionQuestion,
    judge: str,
    run: int,
    render: str,
    reply: Reply,
) -> Detection:
    return Detection(
        case_id=case.id,
        subset=case.subset,
        granularity=case.granularity,
        steps=case.steps,
        num_variates=case.num_variates,
        question=question.identity,
        judge=judge,
        status=reply.status,
        reason=writable(reply, reply.reason),
        text=_shortened(writable(reply, reply.text)),
        run=run,
        options=json.dumps(dict(reply.options), sort_keys=True),
        render=render,
        version=__version__,
        input_tokens=reply.input_tokens,
        output_tokens=reply.output_tokens,
    )


def _shortened(text: str) -> str:
    """Cut a reply that is too long: its thoughts first, as the answer comes after them."""
    return text if len(text) <= LONGEST_TEXT else cut_thoughts(text)[:LONGEST_TEXT]
