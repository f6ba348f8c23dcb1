"""The expected score: from the probabilities of the verdict's own token."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from servers import Answer, FakeServer, connect, in_turn, openai_answer, openai_logprobs

from timevista_hf.cases import ForecastCase
from timevista_hf.judges import Request
from timevista_hf.judges._spread import Token, spread_of
from timevista_hf.pipeline import judge_cases
from timevista_hf.rubrics import load_rubric

CASE = ForecastCase(id="a", history=[1, 2, 3], truth=[4, 5], prediction=[4, 6])
HEAD, TAIL = '{"rationale": "r", "score": ', "}"
SURE = {"1": 1.0}


def tokens(*pieces):
    """Make the tokens of a reply in pieces: text, or text and its alternatives."""
    made = []
    for piece in pieces:
        text, likely = piece if isinstance(piece, tuple) else (piece, {})
        made.append(Token(text.encode(), [(one, math.log(p)) for one, p in likely.items()]))
    return made


def spread(*pieces):
    text = "".join(piece if isinstance(piece, str) else piece[0] for piece in pieces)
    return spread_of(text, tokens(*pieces))


def test_the_expectation_is_over_the_scores_alone_and_the_mass_is_theirs():
    found = spread(HEAD, ("4", {"4": 0.6, "5": 0.2, "3": 0.1, "x": 0.05}), TAIL)
    # (4·0.6 + 5·0.2 + 3·0.1) / 0.9 = 3.7 / 0.9
    assert found.expected == pytest.approx(3.7 / 0.9, abs=1e-12)
    assert found.mass == pytest.approx(0.9, abs=1e-12)


def test_a_digit_in_the_rationale_does_not_count():
    head = '{"rationale": "'
    found = spread(head, ("1", SURE), ' of 5", "score": ', ("4", {"4": 1.0}), TAIL)
    assert found.expected == pytest.approx(4.0)


def test_an_earlier_verdict_does_not_count():
    first = ('{"rationale": "x", "score": ', ("1", SURE), "} no: ")
    assert spread(*first, HEAD, ("4", {"4": 1.0}), TAIL).expected == pytest.approx(4.0)


def test_the_same_verdict_said_twice_counts_as_it_was_said_last():
    first = (HEAD, ("4", {"1": 0.5, "4": 0.5}), TAIL + "\n")
    assert spread(*first, HEAD, ("4", {"4": 1.0}), TAIL).expected == pytest.approx(4.0)


def test_a_score_before_the_rationale_is_found_too():
    found = spread('{"score": ', ("2", {"2": 0.5, "3": 0.5}), ', "rationale": "a 4"}')
    assert found.expected == pytest.approx(2.5)


def test_alternatives_with_a_space_are_the_same_score():
    found = spread('{"rationale": "r", "score":', (" 4", {" 4": 0.5, "4": 0.25, " 2": 0.25}), "}")
    assert found.expected == pytest.approx(4 * 0.75 + 2 * 0.25)


def test_signs_beyond_ascii_do_not_shift_the_place():
    head = '{"rationale": "ünï — 😀'
    found = spread(head, ("3", SURE), '", "score": ', ("5", {"5": 1.0}), TAIL)
    assert found.expected == pytest.approx(5.0)


def test_tokens_that_hold_half_a_sign_are_read_by_their_bytes():
    text = '{"rationale": "😀", "score": 2}'
    head, tail = text.encode()[:17], text.encode()[17:-2]
    pieces = [Token(head, []), Token(tail, []), Token(b"2", [("2", 0.0)]), Token(b"}", [])]
    assert spread_of(text, pieces).expected == pytest.approx(2.0)


def test_tokens_around_the_text_do_not_shift_the_place():
    pieces = tokens("<think>4</think>", HEAD, ("3", {"3": 1.0}), TAIL, "<|end|>")
    assert spread_of(HEAD + "3" + TAIL, pieces).expected == pytest.approx(3.0)


def test_below_half_of_the_mass_only_the_mass_is_known():
    found = spread(HEAD, ("4", {"4": 0.3, "3": 0.1, '"': 0.6}), TAIL)
    assert found.expected is None
    assert found.mass == pytest.approx(0.4)


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("no verdict", tokens("no verdict")),
        (HEAD + "4" + TAIL, []),
        (HEAD + "4" + TAIL, tokens("something else")),
        (HEAD + "7" + TAIL, tokens(HEAD, ("7", {"4": 1.0}), TAIL)),
        (HEAD + "44" + TAIL, tokens(HEAD, ("4", {"4": 1.0}), ("4", {"4": 1.0}), TAIL)),
        (HEAD + "4.5" + TAIL, tokens(HEAD, ("4", {"4": 1.0}), ".5", TAIL)),
        (HEAD + "4" + TAIL, tokens(HEAD, ("4}", {"4}": 1.0}))),  # no token of its own
        ('{"score": 4, "part": {"score": 2}}', tokens('{"score": 4, "part": {"score": 2}}')),
    ],
)
def test_where_the_token_is_not_certain_nothing_is_known(text, pieces):
    assert spread_of(text, pieces) == (None, None)


def test_numbers_that_are_no_log_probabilities_are_left_out():
    likely = [("4", math.log(0.8)), ("5", math.nan), ("1", 3.0), ("2", -math.inf)]
    pieces = [*tokens(HEAD), Token(b"4", likely), *tokens(TAIL)]
    found = spread_of(HEAD + "4" + TAIL, pieces)
    assert (found.expected, found.mass) == (pytest.approx(4.0), pytest.approx(0.8))


@given(st.lists(st.floats(0.001, 1), min_size=5, max_size=5))
def test_the_expectation_lies_on_the_scale_and_is_the_mean(weights):
    parts = [weight / math.fsum(weights) for weight in weights]
    likely = {str(score): part for score, part in enumerate(parts, start=1)}
    found = spread(HEAD, ("4", likely), TAIL)
    mean = sum(score * part for score, part in enumerate(parts, start=1))
    assert found.expected == pytest.approx(mean)
    assert 1 <= found.expected <= 5 and found.mass == pytest.approx(1)


def test_the_expected_score_reaches_the_judgment(monkeypatch):
    pieces = [HEAD, ("4", {"4": 0.75, "5": 0.25}), TAIL]
    body = openai_answer(HEAD + "4" + TAIL, logprobs=openai_logprobs(pieces))
    with FakeServer(in_turn(Answer(body))) as server:
        judge = connect(monkeypatch, server, modality="text")
        [judged] = judge_cases([CASE], [load_rubric("trend")], judge)
    [judgment] = judged.judgments
    assert (judgment.score, judgment.expected_score) == (4, pytest.approx(4.25))
    assert judgment.mass == pytest.approx(1.0)


@pytest.mark.parametrize(
    "logprobs",
    [{"content": None}, {"content": [{}]}, {"content": ["x"]}, {"content": 4}, {"other": 1}],
)
def test_probabilities_of_an_unknown_form_do_not_cost_the_answer(monkeypatch, logprobs):
    with FakeServer(in_turn(Answer(openai_answer(logprobs=logprobs)))) as server:
        judge = connect(monkeypatch, server)
        [(_, reply)] = judge.ask([Request(CASE, load_rubric("trend"), "q", b"PNG")])
    assert (reply.status, reply.expected_score, reply.mass) == ("ok", None, None)


def test_probabilities_that_are_not_wanted_are_not_asked_for(monkeypatch):
    with FakeServer(in_turn(Answer(openai_answer()))) as server:
        judge = connect(monkeypatch, server, logprobs=False)
        list(judge.ask([Request(CASE, load_rubric("trend"), "q", b"PNG")]))
    assert not {"logprobs", "top_logprobs"} & set(server.calls[0].body)
