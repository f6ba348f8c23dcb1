"""What a remote judge makes of everything that a server can answer."""

import datetime
import json
from email.utils import format_datetime

import pytest
from servers import Answer, FakeServer, connect, in_turn, openai_answer, openai_error, verdict

from timevista_hf.cases import ForecastCase
from timevista_hf.judges import Request
from timevista_hf.pipeline import judge_cases
from timevista_hf.rubrics import load_rubric

TREND = load_rubric("trend")
CASE = ForecastCase(id="a", history=[1, 2, 3], truth=[4, 5], prediction=[4, 6])
PNG = b"\x89PNG"
GOOD = Answer(openai_answer())
BUSY = Answer(openai_error("slow down"), 429)


def ask(judge):
    [(_, reply)] = judge.ask([Request(CASE, TREND, "How is the trend?", PNG)])
    return reply


def ask_at(monkeypatch, script, **options):
    """Ask one question; give the reply and the server that was asked."""
    with FakeServer(script) as server:
        return ask(connect(monkeypatch, server, **options)), server


def judge_at(monkeypatch, text):
    """Judge one case by a model that answers this text."""
    with FakeServer(in_turn(Answer(openai_answer(text)))) as server:
        judge = connect(monkeypatch, server, modality="text")
        [judged] = judge_cases([CASE], [TREND], judge)
    return judged.judgments[0]


def waits_at(monkeypatch, script, **options):
    """Ask one question; give the seconds that the judge would have waited."""
    waits = []

    async def sleep(seconds):
        waits.append(seconds)

    with FakeServer(script) as server:
        judge = connect(monkeypatch, server, **options)
        judge.sleep = sleep
        assert ask(judge).status == "ok"
    return waits


def test_a_good_answer_is_given_with_what_it_cost_and_what_made_it(monkeypatch):
    reply, _ = ask_at(monkeypatch, in_turn(GOOD))
    assert (reply.status, reply.text, reply.reason) == ("ok", verdict(), "")
    assert (reply.input_tokens, reply.output_tokens) == (700, 40)
    assert reply.options == {
        "temperature": 0.0,
        "max_tokens": 1024,
        "schema": "json_schema",
        "top_logprobs": 10,
        "model": "fake-2026-01-01",
        "fingerprint": "fp_1",
    }


def test_the_question_comes_last_and_what_is_shared_first(monkeypatch):
    _, server = ask_at(monkeypatch, in_turn(GOOD))
    system, user = server.calls[0].body["messages"]
    assert system == {"role": "system", "content": TREND.system_prompt}
    picture, question = user["content"]
    assert picture["image_url"]["url"] == "data:image/png;base64,iVBORw=="
    assert question == {"type": "text", "text": "How is the trend?"}


def test_the_rubric_s_own_schema_is_asked_for_strictly(monkeypatch):
    _, server = ask_at(monkeypatch, in_turn(GOOD))
    form = server.calls[0].body["response_format"]
    assert form["type"] == "json_schema"
    assert form["json_schema"]["strict"] is True
    assert form["json_schema"]["schema"] == TREND.reply_schema


def test_a_text_judge_is_sent_the_numbers_and_no_picture(monkeypatch):
    with FakeServer(in_turn(GOOD)) as server:
        judge = connect(monkeypatch, server, modality="text")
        list(judge_cases([CASE], [TREND], judge))
    content = server.calls[0].body["messages"][1]["content"]
    assert content.startswith("The numbers below are one case.")


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 529])
def test_a_busy_server_is_asked_again(monkeypatch, status):
    reply, server = ask_at(monkeypatch, in_turn(Answer(openai_error("busy"), status), GOOD))
    assert (reply.status, reply.options["attempts"], len(server.calls)) == ("ok", 2, 2)


def test_a_busy_server_is_asked_no_more_often_than_was_chosen(monkeypatch):
    reply, server = ask_at(monkeypatch, in_turn(BUSY), attempts=3)
    assert (reply.status, len(server.calls)) == ("error", 3)
    assert reply.reason == "status 429: slow down (3 attempts)"


def test_seconds_in_retry_after_are_waited_for(monkeypatch):
    busy = Answer(BUSY.body, 429, {"retry-after": "7"})
    assert waits_at(monkeypatch, in_turn(busy, busy, GOOD)) == [7.0, 7.0]


def test_a_date_in_retry_after_is_waited_for(monkeypatch):
    soon = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=50)
    busy = Answer(BUSY.body, 429, {"retry-after": format_datetime(soon, usegmt=True)})
    [wait] = waits_at(monkeypatch, in_turn(busy, GOOD))
    assert 40 < wait <= 50  # the date has whole seconds, and the test has run for some


@pytest.mark.parametrize("said", ["soon", "", "-3", "nan", "inf", "Fri, 01 Jan 1999 00:00:00 GMT"])
def test_a_useless_retry_after_does_not_hold_the_judge_up(monkeypatch, said):
    busy = Answer(BUSY.body, 429, {"retry-after": said})
    assert waits_at(monkeypatch, in_turn(busy, GOOD)) == [0.0]


def test_without_retry_after_the_wait_is_random_below_a_bound_that_doubles(monkeypatch):
    bounds = []
    monkeypatch.setattr("random.uniform", lambda low, high: bounds.append((low, high)) or high)
    with FakeServer(in_turn(*[BUSY] * 8, GOOD)) as server:
        judge = connect(monkeypatch, server, attempts=9)
        judge.backoff, waits = 1.0, []

        async def sleep(seconds):
            waits.append(seconds)

        judge.sleep = sleep
        ask(judge)
    assert bounds == [(0, high) for high in (1, 2, 4, 8, 16, 32, 60, 60)]
    assert waits == [high for _, high in bounds]


def test_a_server_that_is_too_slow_is_asked_again(monkeypatch):
    slow = Answer(openai_answer(), delay=5.0)
    reply, server = ask_at(monkeypatch, in_turn(slow, GOOD), timeout=0.3)
    assert (reply.status, len(server.calls)) == ("ok", 2)


def test_a_server_that_is_always_too_slow_is_an_error_with_the_limit(monkeypatch):
    slow = Answer(openai_answer(), delay=5.0)
    reply, _ = ask_at(monkeypatch, in_turn(slow), timeout=0.2, attempts=1)
    assert (reply.status, reply.text) == ("error", "")
    assert reply.reason in ("no answer within 0.2 s", "no answer in time")


@pytest.mark.parametrize("cut", ["reset", "half"])
def test_a_broken_connection_is_made_again(monkeypatch, cut):
    reply, server = ask_at(monkeypatch, in_turn(Answer(openai_answer(), cut=cut), GOOD))
    assert (reply.status, reply.text, len(server.calls)) == ("ok", verdict(), 2)


def test_a_server_that_is_not_there_is_an_error(monkeypatch):
    with FakeServer(in_turn(GOOD)) as server:
        judge = connect(monkeypatch, server, attempts=2)
    reply = ask(judge)
    assert reply.status == "error"
    assert reply.reason == "the connection failed (ConnectError) (2 attempts)"


@pytest.mark.parametrize(
    "body", [b'{"choices": [{"mess', b"upstream connect error", b"", b"[1]", b"null"]
)
def test_a_body_that_is_no_json_object_is_asked_for_again(monkeypatch, body):
    reply, server = ask_at(monkeypatch, in_turn(Answer(body), GOOD))
    assert (reply.status, len(server.calls)) == ("ok", 2)


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"choices": []},
        {"choices": {}},
        {"choices": ["x"]},
        {"choices": "x"},
        {"choices": [{"message": "x"}]},
        {"choices": [{"message": {"content": 4}}]},
        {"choices": [{"message": {"content": ["x"]}}]},
        {"choices": [{"message": {"content": [{"type": "text", "text": 4}]}}]},
    ],
)
def test_json_of_an_unknown_form_is_an_error_and_not_asked_for_again(monkeypatch, body):
    reply, server = ask_at(monkeypatch, in_turn(Answer(body)))
    assert (reply.status, len(server.calls)) == ("error", 1)
    assert "the response" in reply.reason


@pytest.mark.parametrize("usage", [None, {}, [], {"prompt_tokens": "7"}, {"prompt_tokens": None}])
def test_an_answer_without_a_readable_count_of_tokens_is_still_one(monkeypatch, usage):
    reply, _ = ask_at(monkeypatch, in_turn(Answer(openai_answer(usage=usage))))
    assert (reply.status, reply.input_tokens) == ("ok", 0)


def test_an_error_inside_a_good_status_counts_as_one_and_its_tokens_as_paid(monkeypatch):
    hidden = openai_error("upstream is busy", code=429)
    hidden["usage"] = {"prompt_tokens": 5, "completion_tokens": 2}
    reply, server = ask_at(monkeypatch, in_turn(Answer(hidden), GOOD))
    assert (reply.status, len(server.calls)) == ("ok", 2)
    assert (reply.input_tokens, reply.output_tokens) == (705, 42)


def test_a_refusal_is_told_and_not_asked_for_again(monkeypatch):
    refusal = openai_answer("", refusal="I cannot judge this.")
    reply, server = ask_at(monkeypatch, in_turn(Answer(refusal)))
    assert (reply.status, reply.reason) == ("refused", "I cannot judge this.")
    assert (reply.text, reply.output_tokens, len(server.calls)) == ("", 40, 1)


def test_a_content_filter_at_the_reply_is_a_refusal(monkeypatch):
    filtered = openai_answer("", stop="content_filter")
    reply, server = ask_at(monkeypatch, in_turn(Answer(filtered)))
    assert (reply.status, len(server.calls)) == ("refused", 1)
    assert reply.reason == "a content filter stopped the reply"


def test_a_content_filter_at_the_request_is_a_refusal(monkeypatch):
    filtered = openai_error("The prompt was filtered.", "prompt", "content_filter")
    reply, server = ask_at(monkeypatch, in_turn(Answer(filtered, 400)))
    assert (reply.status, len(server.calls)) == ("refused", 1)
    assert reply.reason == "status 400: The prompt was filtered."


def test_a_cut_reply_is_told_and_not_asked_for_again_even_with_a_verdict(monkeypatch):
    cut = openai_answer(stop="length")
    reply, server = ask_at(monkeypatch, in_turn(Answer(cut)), max_tokens=40)
    assert (reply.status, len(server.calls)) == ("truncated", 1)
    assert reply.reason == "the reply was cut after 40 tokens (`max_tokens`)"
    assert (reply.text, reply.output_tokens) == (verdict(), 40)


@pytest.mark.parametrize(("model", "limit"), [("gpt-5.4", 4096), ("o3", 4096), ("gpt-4o", 100)])
def test_a_model_that_thinks_is_left_room_for_its_thoughts(monkeypatch, model, limit):
    _, server = ask_at(monkeypatch, in_turn(GOOD), model=model, max_tokens=100)
    assert server.calls[0].body["max_completion_tokens"] == limit


@pytest.mark.parametrize("status", [401, 403, 404, 405, 413])
def test_a_fault_of_the_request_is_not_repeated(monkeypatch, status):
    reply, server = ask_at(monkeypatch, in_turn(Answer(openai_error("no"), status)))
    assert (reply.status, reply.reason) == ("error", f"status {status}: no")
    assert len(server.calls) == 1


def test_a_spent_quota_is_not_waited_for(monkeypatch):
    spent = Answer(openai_error("pay first", code="insufficient_quota"), 429)
    reply, server = ask_at(monkeypatch, in_turn(spent))
    assert (reply.reason, len(server.calls)) == ("status 429: pay first", 1)


def test_an_empty_reply_is_unparsable_and_says_so(monkeypatch):
    judgment = judge_at(monkeypatch, "")
    assert (judgment.status, judgment.score) == ("unparsable", None)
    assert judgment.reason == "the reply holds no JSON object: ''"


def test_no_content_at_all_is_an_empty_reply(monkeypatch):
    empty = openai_answer()
    empty["choices"][0]["message"]["content"] = None
    reply, _ = ask_at(monkeypatch, in_turn(Answer(empty)))
    assert (reply.status, reply.text) == ("ok", "")


def test_prose_around_the_verdict_does_not_matter(monkeypatch):
    text = f"I looked for 5 minutes.\n```json\n{verdict(2)}\n```\nThat is all."
    assert judge_at(monkeypatch, text).score == 2


def test_of_two_objects_the_last_is_the_verdict(monkeypatch):
    assert judge_at(monkeypatch, f"{verdict(1)}\nOn second thought: {verdict(4)}").score == 4


@pytest.mark.parametrize("score", ["4/5", 7, 4.5, None])
def test_a_score_that_is_none_is_never_mended(monkeypatch, score):
    text = json.dumps({"rationale": "It rises.", "score": score})
    judgment = judge_at(monkeypatch, text)
    assert (judgment.status, judgment.score) == ("unparsable", None)
    assert judgment.reason == f"`score` must be an integer from 1 to 5, got {score!r}"
    assert (judgment.input_tokens, judgment.output_tokens) == (700, 40)
