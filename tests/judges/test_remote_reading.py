"""What a reply has cost, and where in a response its text stands."""

import json

import pytest
from servers import (
    Answer,
    FakeServer,
    anthropic_answer,
    connect,
    gemini_answer,
    in_turn,
    openai_answer,
    openai_logprobs,
    verdict,
)

from timevista_hf.cases import AnomalyCase, ForecastCase
from timevista_hf.judges import Request
from timevista_hf.judges._reading import tokens_of
from timevista_hf.pipeline import detect_anomalies, judge_cases
from timevista_hf.rubrics import load_rubric

TREND = load_rubric("trend")
CASE = ForecastCase(id="a", history=[1, 2, 3], truth=[4, 5], prediction=[4, 6])
SERIES = AnomalyCase(id="a", values=[0, 0, 9, 0], granularity="point", events=[(2, 3)])
DRAFT = '{"rationale": "first idea", "score": 1}'
ANSWERS = {"openai": openai_answer, "anthropic": anthropic_answer, "gemini": gemini_answer}
families = pytest.mark.parametrize("family", ["openai", "anthropic", "gemini"])


def ask(monkeypatch, body, family="openai"):
    with FakeServer(in_turn(Answer(body))) as server:
        judge = connect(monkeypatch, server, family)
        [(_, reply)] = judge.ask([Request(CASE, TREND, "q", b"PNG")])
    return reply


def judgment_at(monkeypatch, body, family="openai"):
    with FakeServer(in_turn(Answer(body))) as server:
        judge = connect(monkeypatch, server, family, modality="text")
        [judged] = judge_cases([CASE], [TREND], judge)
    return judged.judgments[0]


def message(content, **more):
    """Make the body of a chat completion whose content is no plain text."""
    body = openai_answer()
    body["choices"][0]["message"] = {"role": "assistant", "content": content, **more}
    return body


# Tokens.


@pytest.mark.parametrize(
    ("usage", "paid"),
    [
        ({"prompt_tokens": 900, "completion_tokens": 40}, (900, 40)),
        ({"prompt_tokens": 900, "completion_tokens": 40, "total_tokens": 940}, (900, 40)),
        ({"prompt_tokens": 900, "completion_tokens": 40, "total_tokens": 20_940}, (900, 20_040)),
        ({"prompt_tokens": 900, "completion_tokens": None, "total_tokens": 1600}, (900, 700)),
        ({"prompt_tokens": 900, "completion_tokens": 40, "total_tokens": None}, (900, 40)),
        ({"prompt_tokens": 900, "completion_tokens": 40, "total_tokens": 40}, (900, 40)),
        ({"completion_tokens": 40, "total_tokens": 940}, (0, 40)),  # how much is input?
        ({"prompt_tokens": 900.0, "completion_tokens": 40.0}, (900, 40)),
        ({"prompt_tokens": -1, "completion_tokens": 40.5}, (0, 0)),
        ({"input_tokens": 900, "output_tokens": 40, "total_tokens": 1000}, (900, 100)),
        (
            # Gateways tell the tokens that Claude has kept twice: they are in the first.
            {"prompt_tokens": 900, "completion_tokens": 40, "cache_read_input_tokens": 800},
            (900, 40),
        ),
        (
            {"input_tokens": 100, "cache_read_input_tokens": 800, "output_tokens": 40},
            (900, 40),
        ),
        (
            {"promptTokenCount": 900, "candidatesTokenCount": 30, "thoughtsTokenCount": 10},
            (900, 40),
        ),
        (
            {"promptTokenCount": 900, "candidatesTokenCount": 30, "totalTokenCount": 5000},
            (900, 4100),
        ),
        ({"promptTokenCount": 900, "totalTokenCount": 5000}, (900, 4100)),
        ("900", (0, 0)),
        (None, (0, 0)),
    ],
)
def test_output_is_the_larger_of_what_was_written_and_of_the_total_less_the_input(usage, paid):
    assert tokens_of({"usage": usage}) == tokens_of({"usageMetadata": usage}) == paid


@pytest.mark.parametrize("response", [None, [], "x", 4, {"usage": []}])
def test_a_response_without_a_count_has_cost_nothing_that_is_known(response):
    assert tokens_of(response) == (0, 0)


UNREADABLE = [
    ("openai", {"choices": []}),
    ("openai", {"choices": [{"message": {"content": 4}}]}),
    ("openai", {"choices": [{"message": "x"}]}),
    ("openai", {"choices": [{"message": {"content": None}}]}),
    ("openai", {"choices": [{"message": {"content": "cut"}, "finish_reason": "length"}]}),
    ("anthropic", {"content": 4}),
    ("anthropic", {"content": []}),
    ("anthropic", {"content": ["x"]}),
    ("gemini", {"candidates": []}),
    ("gemini", {"candidates": [{"content": {"parts": 4}}]}),
    ("gemini", {"candidates": [{"finishReason": "OTHER"}]}),
]


@pytest.mark.parametrize(("family", "body"), UNREADABLE)
def test_a_reply_that_cannot_be_read_has_cost_its_tokens(monkeypatch, family, body):
    usages = {name: make() for name, make in ANSWERS.items()}
    counts = {name: usages[family][name] for name in usages[family] if name.startswith("usage")}
    judgment = judgment_at(monkeypatch, {**body, **counts}, family)
    assert judgment.status != "ok" and judgment.score is None
    assert (judgment.input_tokens, judgment.output_tokens) == (700, 40)


# Text in parts, and thoughts.


@pytest.mark.parametrize(
    "content",
    [
        [{"type": "text", "text": verdict()}],
        {"type": "text", "text": verdict()},
        [{"type": "output_text", "text": verdict(), "annotations": []}],
        [{"text": verdict()}],
        json.loads(verdict()),
        [{"type": "text", "text": {"value": verdict()}}],
        [{"type": "text", "text": verdict()[:9]}, {"type": "text", "text": verdict()[9:]}],
        [{"type": "thinking", "thinking": [{"type": "text", "text": DRAFT}]}, {"text": verdict()}],
        [{"text": verdict()}, {"type": "reasoning", "text": DRAFT}],
        [{"type": "thought", "text": DRAFT}, {"text": verdict()}],
        [{"type": "text", "text": DRAFT, "thought": True}, {"text": verdict()}],
        [{"type": "image_url", "image_url": {"url": "x"}}, {"text": verdict()}],
        f"<think>{DRAFT}</think>{verdict()}",
    ],
)
def test_the_text_of_all_parts_but_thoughts_is_the_reply(monkeypatch, content):
    judgment = judgment_at(monkeypatch, message(content))
    assert (judgment.status, judgment.score, judgment.output_tokens) == ("ok", 4, 40)


@families
def test_a_draft_among_thoughts_is_no_answer_of_any_family(monkeypatch, family):
    body = ANSWERS[family](f"<think>{DRAFT}</think>No verdict.")
    assert judgment_at(monkeypatch, body, family).status == "unparsable"


@families
def test_anomalies_are_not_read_from_thoughts_of_any_family(monkeypatch, family):
    body = ANSWERS[family]('<think>{"anomalies": [2]}')
    with FakeServer(in_turn(Answer(body))) as server:
        judge = connect(monkeypatch, server, family, modality="text")
        [found] = detect_anomalies([SERIES], judge)
    [detection] = found.detections
    assert (detection.status, len(detection.events)) == ("unparsable", 0)
    assert detection.text == '<think>{"anomalies": [2]}'


def claude(*blocks):
    return {**anthropic_answer(), "content": list(blocks)}


def gemini(*parts):
    body = gemini_answer()
    body["candidates"][0]["content"]["parts"] = list(parts)
    return body


@pytest.mark.parametrize(
    ("family", "body", "place"),
    [
        ("openai", message("", reasoning_content=verdict()), "reasoning_content"),
        ("openai", message(None, reasoning=verdict()), "reasoning"),
        ("openai", message("\n", thinking=verdict()), "thinking"),
        ("openai", message([{"type": "thinking", "thinking": verdict()}]), "content"),
        ("anthropic", claude({"type": "thinking", "thinking": verdict()}), "thinking"),
        ("gemini", gemini({"text": verdict(), "thought": True}), "thought"),
    ],
)
def test_a_reply_that_is_all_thoughts_says_where_they_are(monkeypatch, family, body, place):
    judgment = judgment_at(monkeypatch, body, family)
    assert (judgment.status, judgment.score, judgment.output_tokens) == ("unparsable", None, 40)
    said = f"the reply is empty: all text is among the model's thoughts (`{place}`)"
    assert judgment.reason == said


def test_thoughts_beside_an_answer_do_not_matter(monkeypatch):
    body = message(verdict(), reasoning_content=DRAFT)
    assert judgment_at(monkeypatch, body).score == 4


def test_claude_s_thoughts_are_no_part_of_its_reply(monkeypatch):
    blocks = ({"type": "thinking", "thinking": DRAFT}, {"type": "text", "text": verdict()})
    assert judgment_at(monkeypatch, claude(*blocks), "anthropic").score == 4


@pytest.mark.parametrize(
    "body", [message([{"type": "refusal", "refusal": "No."}]), openai_answer("", refusal="No.")]
)
def test_a_refusal_may_be_a_part_too(monkeypatch, body):
    reply = ask(monkeypatch, body)
    assert (reply.status, reply.reason, reply.text) == ("refused", "No.", "")


@pytest.mark.parametrize("stop", ["length", "max_tokens", "MAX_TOKENS", "model_length"])
def test_a_reply_is_cut_whatever_the_server_calls_it(monkeypatch, stop):
    assert ask(monkeypatch, openai_answer(stop=stop)).status == "truncated"


def test_a_response_without_a_choice_says_what_it_says(monkeypatch):
    reply = ask(monkeypatch, {"message": "model is not loaded", "choices": []})
    assert reply.reason == "the response holds no choice: model is not loaded"


# Probabilities.


def test_a_score_that_is_4_0_has_its_expectation(monkeypatch):
    pieces = ['{"rationale": "r", "score": ', ("4", {"4": 0.5, "5": 0.5}), ".0", "}"]
    text = '{"rationale": "r", "score": 4.0}'
    body = openai_answer(text, logprobs=openai_logprobs(pieces))
    judgment = judgment_at(monkeypatch, body)
    assert (judgment.score, judgment.expected_score) == (4, pytest.approx(4.5))


def test_a_draft_among_thoughts_lends_no_probability(monkeypatch):
    pieces = [
        *("<think>", '{"rationale": "r", "score": ', ("1", {"1": 1.0}), "}", "</think>"),
        *('{"rationale": "s", "score": ', ("4", {"4": 1.0}), "}"),
    ]
    text = "".join(piece if isinstance(piece, str) else piece[0] for piece in pieces)
    cut = [*pieces[5:], "<think>", '{"rationale": "r", "score": ', ("1", {"1": 1.0}), "}"]
    after = "".join(piece if isinstance(piece, str) else piece[0] for piece in cut)
    for said, shown in ((text, pieces), (after, cut)):
        body = openai_answer(said, logprobs=openai_logprobs(shown))
        assert judgment_at(monkeypatch, body).expected_score == pytest.approx(4.0)


def likely(*tops):
    return {"token": "4", "logprob": 0.0, "bytes": None, "top_logprobs": list(tops)}


@pytest.mark.parametrize(
    ("token", "expected"),
    [
        (likely({"token": "4", "logprob": None}), None),
        (likely({"token": "4", "logprob": "-0.1"}), None),
        (likely({"token": None, "logprob": -0.1}), None),
        (likely({"logprob": -0.1}), None),
        (likely({"token": "4", "logprob": 0.0}, {"token": "3", "logprob": None}), 4.0),
        (likely({"token": "4", "logprob": 0.0}, {"token": "3", "logprob": 0.0}), None),
        ({"token": "4", "logprob": None, "bytes": None, "top_logprobs": []}, None),
        ({"token": None, "logprob": None, "bytes": None}, None),
        ({"token": "4", "bytes": [999]}, None),
    ],
)
def test_a_missing_probability_costs_the_expectation_alone(monkeypatch, token, expected):
    head = {"token": verdict()[:-2], "logprob": 0.0, "bytes": None, "top_logprobs": []}
    tail = {"token": "}", "logprob": 0.0, "bytes": None, "top_logprobs": []}
    body = openai_answer(logprobs={"content": [head, token, tail]})
    judgment = judgment_at(monkeypatch, body)
    assert (judgment.status, judgment.score) == ("ok", 4)
    assert judgment.expected_score == expected


@pytest.mark.parametrize(
    "top",
    [
        {"token": "4", "logProbability": None},
        {"token": None, "logProbability": -0.1},
        {"token": "4", "logProbability": "x"},
        None,
    ],
)
def test_gemini_s_missing_probability_costs_the_expectation_alone(monkeypatch, top):
    pieces = [verdict()[:-2], "4", "}"]
    result = {
        "chosenCandidates": [{"token": piece} for piece in pieces],
        "topCandidates": [{}, {"candidates": [top]}, {}],
    }
    judgment = judgment_at(monkeypatch, gemini_answer(logprobs=result), "gemini")
    assert (judgment.status, judgment.score, judgment.expected_score) == ("ok", 4, None)
