"""Claude and Gemini, each by its own client and in its own language."""

import pytest
from servers import (
    Answer,
    FakeServer,
    anthropic_answer,
    anthropic_error,
    connect,
    gemini_answer,
    gemini_error,
    in_turn,
    verdict,
)

from timevista_hf.cases import ForecastCase
from timevista_hf.judges import Request
from timevista_hf.rubrics import load_rubric

TREND = load_rubric("trend")
CASE = ForecastCase(id="a", history=[1, 2, 3], truth=[4, 5], prediction=[4, 6])
ANSWERS = {"anthropic": anthropic_answer, "gemini": gemini_answer}
ERRORS = {"anthropic": lambda said, status: anthropic_error(said), "gemini": gemini_error}
CUT = {"anthropic": "max_tokens", "gemini": "MAX_TOKENS"}
REFUSED = {"anthropic": "refusal", "gemini": "PROHIBITED_CONTENT"}

both = pytest.mark.parametrize("family", ["anthropic", "gemini"])


def ask_at(monkeypatch, family, script, image=b"\x89PNG", **options):
    with FakeServer(script) as server:
        judge = connect(monkeypatch, server, family, **options)
        [(_, reply)] = judge.ask([Request(CASE, TREND, "How is the trend?", image)])
    return reply, server


def good(family):
    return Answer(ANSWERS[family]())


def error(family, said, status, **headers):
    return Answer(ERRORS[family](said, status), status, headers)


@both
def test_a_good_answer_is_given_with_all_that_it_cost(monkeypatch, family):
    reply, _ = ask_at(monkeypatch, family, in_turn(good(family)))
    assert (reply.status, reply.text) == ("ok", verdict())
    assert (reply.input_tokens, reply.output_tokens) == (700, 40)
    assert reply.options["model"] == "fake-2026-01-01"


def test_claude_is_sent_the_picture_before_the_question(monkeypatch):
    _, server = ask_at(monkeypatch, "anthropic", in_turn(good("anthropic")))
    body = server.calls[0].body
    [message] = body["messages"]
    source = {"type": "base64", "media_type": "image/png", "data": "iVBORw=="}
    assert message["content"] == [
        {"type": "image", "source": source},
        {"type": "text", "text": "How is the trend?"},
    ]
    assert body["system"] == TREND.system_prompt
    assert (body["max_tokens"], body["temperature"]) == (1024, 0.0)
    form = {"type": "json_schema", "schema": TREND.reply_schema}
    assert body["output_config"] == {"format": form}
    assert any("sk-test-key" in value for value in server.calls[0].headers.values())


def test_gemini_is_sent_the_picture_before_the_question(monkeypatch):
    _, server = ask_at(monkeypatch, "gemini", in_turn(good("gemini")), max_tokens=300)
    body = server.calls[0].body
    [content] = body["contents"]
    picture, question = content["parts"]
    assert picture["inlineData"]["data"] == "iVBORw=="
    assert question == {"text": "How is the trend?"}
    assert body["systemInstruction"]["parts"] == [{"text": TREND.system_prompt}]
    assert body["generationConfig"] == {
        "maxOutputTokens": 300,
        "temperature": 0.0,
        "responseLogprobs": True,
        "logprobs": 10,
        "responseMimeType": "application/json",
        "responseJsonSchema": TREND.reply_schema,
    }
    assert server.calls[0].path.endswith("/models/fake:generateContent")
    assert server.calls[0].headers["x-goog-api-key"] == "sk-test-key"


def test_gemini_is_sent_what_its_payload_says_but_for_the_spelling_of_one_name(monkeypatch):
    with FakeServer(in_turn(good("gemini"))) as server:
        judge = connect(monkeypatch, server, "gemini")
        request = Request(CASE, TREND, "q", b"\x89PNG")
        list(judge.ask([request]))
    sent = server.calls[0].body
    inline = sent["contents"][0]["parts"][0]["inlineData"]
    inline["mimeType"] = inline.pop("mime_type", None) or inline.pop("mimeType")
    sent["systemInstruction"].pop("role", None)
    assert sent == judge.payload(request)


def test_gemini_is_sent_fields_of_the_provider_s_own(monkeypatch):
    own = {"generationConfig": {"thinkingConfig": {"thinkingBudget": 0}}, "labels": {"a": "b"}}
    _, server = ask_at(monkeypatch, "gemini", in_turn(good("gemini")), body=own)
    body = server.calls[0].body
    assert body["labels"] == {"a": "b"}
    assert body["generationConfig"]["thinkingConfig"] == {"thinkingBudget": 0}
    assert body["generationConfig"]["maxOutputTokens"] == 1024


def test_claude_is_sent_fields_of_the_provider_s_own(monkeypatch):
    own = {"thinking": {"type": "disabled"}, "output_config": {"effort": "low"}}
    _, server = ask_at(monkeypatch, "anthropic", in_turn(good("anthropic")), body=own)
    body = server.calls[0].body
    assert body["thinking"] == {"type": "disabled"}
    assert (body["output_config"]["effort"], "format" in body["output_config"]) == ("low", True)


@both
def test_a_text_judge_sends_no_picture(monkeypatch, family):
    script = in_turn(good(family))
    _, server = ask_at(monkeypatch, family, script, image=None, modality="text")
    assert b"png" not in server.calls[0].raw.lower()


@both
@pytest.mark.parametrize("status", [429, 500, 503, 529])
def test_a_busy_server_is_asked_again(monkeypatch, family, status):
    script = in_turn(error(family, "busy", status), good(family))
    reply, server = ask_at(monkeypatch, family, script)
    assert (reply.status, len(server.calls)) == ("ok", 2)


@both
def test_retry_after_is_waited_for(monkeypatch, family):
    waits = []

    async def sleep(seconds):
        waits.append(seconds)

    busy = error(family, "busy", 429, **{"retry-after": "9"})
    with FakeServer(in_turn(busy, good(family))) as server:
        judge = connect(monkeypatch, server, family)
        judge.sleep = sleep
        list(judge.ask([Request(CASE, TREND, "q", b"PNG")]))
    assert waits == [9.0]


def test_the_delay_in_the_body_of_gemini_s_error_is_waited_for(monkeypatch):
    waits = []

    async def sleep(seconds):
        waits.append(seconds)

    info = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "7.5s"}
    busy = Answer(gemini_error("quota", 429, "RESOURCE_EXHAUSTED", [{}, info]), 429)
    with FakeServer(in_turn(busy, good("gemini"))) as server:
        judge = connect(monkeypatch, server, "gemini")
        judge.sleep = sleep
        list(judge.ask([Request(CASE, TREND, "q", b"PNG")]))
    assert waits == [7.5]


@both
@pytest.mark.parametrize("cut", ["reset", "half"])
def test_a_broken_connection_is_made_again(monkeypatch, family, cut):
    broken = Answer(ANSWERS[family](), cut=cut)
    reply, server = ask_at(monkeypatch, family, in_turn(broken, good(family)))
    assert (reply.status, len(server.calls)) == ("ok", 2)


@both
def test_a_body_that_is_no_json_is_asked_for_again(monkeypatch, family):
    reply, server = ask_at(monkeypatch, family, in_turn(Answer(b'{"can'), good(family)))
    assert (reply.status, len(server.calls)) == ("ok", 2)


@both
def test_a_server_that_is_too_slow_is_asked_again(monkeypatch, family):
    slow = Answer(ANSWERS[family](), delay=5.0)
    reply, server = ask_at(monkeypatch, family, in_turn(slow, good(family)), timeout=0.4)
    assert (reply.status, len(server.calls)) == ("ok", 2)


@both
def test_a_cut_reply_is_told_and_not_asked_for_again(monkeypatch, family):
    script = in_turn(Answer(ANSWERS[family](stop=CUT[family])))
    reply, server = ask_at(monkeypatch, family, script)
    assert (reply.status, reply.output_tokens, len(server.calls)) == ("truncated", 40, 1)


@both
def test_a_refusal_is_told_and_not_asked_for_again(monkeypatch, family):
    script = in_turn(Answer(ANSWERS[family](stop=REFUSED[family])))
    reply, server = ask_at(monkeypatch, family, script)
    assert (reply.status, reply.text, len(server.calls)) == ("refused", "", 1)


def test_a_request_that_gemini_blocks_is_a_refusal(monkeypatch):
    blocked = {"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {}}
    reply, _ = ask_at(monkeypatch, "gemini", in_turn(Answer(blocked)))
    assert (reply.status, reply.reason) == ("refused", "the request was blocked: SAFETY")


@pytest.mark.parametrize("stop", ["OTHER", "MALFORMED_FUNCTION_CALL"])
def test_a_reply_that_gemini_breaks_off_is_an_error(monkeypatch, stop):
    reply, _ = ask_at(monkeypatch, "gemini", in_turn(Answer(gemini_answer(stop=stop))))
    assert (reply.status, reply.reason) == ("error", f"the reply was broken off: {stop}")


def test_thoughts_are_paid_but_are_no_part_of_the_reply(monkeypatch):
    body = gemini_answer(thought=verdict(1))
    reply, _ = ask_at(monkeypatch, "gemini", in_turn(Answer(body)))
    assert (reply.text, reply.output_tokens) == (verdict(), 40)


def test_gemini_s_probabilities_give_an_expected_score(monkeypatch):
    pieces = [verdict()[:-2], "4", "}"]
    half = {"candidates": [{"token": t, "logProbability": -0.693147} for t in ("4", "3")]}
    result = {
        "chosenCandidates": [{"token": piece, "logProbability": 0.0} for piece in pieces],
        "topCandidates": [{"candidates": []}, half, {}],
    }
    body = gemini_answer("".join(pieces), logprobs=result)
    reply, _ = ask_at(monkeypatch, "gemini", in_turn(Answer(body)))
    assert (reply.expected_score, reply.mass) == (pytest.approx(3.5), pytest.approx(1.0, abs=1e-6))


@both
def test_a_refused_temperature_is_left_out_and_recorded(monkeypatch, family):
    def script(call):
        if b"temperature" in call.raw.split(b"messages")[0] + call.raw[-600:]:
            return error(family, "`temperature` is deprecated for this model.", 400)
        return good(family)

    reply, server = ask_at(monkeypatch, family, script)
    assert (reply.status, reply.options["refused"]) == ("ok", ["temperature=0.0"])
    assert len(server.calls) == 2


def test_claude_without_schemas_is_asked_with_the_prompt_alone(monkeypatch):
    def script(call):
        if "output_config" in call.body:
            return error("anthropic", "output_config: Extra inputs are not permitted", 400)
        return good("anthropic")

    reply, _ = ask_at(monkeypatch, "anthropic", script)
    assert (reply.status, reply.options["schema"]) == ("ok", "prompt")


def test_gemini_without_probabilities_is_asked_without(monkeypatch):
    def script(call):
        if "responseLogprobs" in call.body["generationConfig"]:
            return error("gemini", "Logprobs is not enabled for models/fake", 400)
        return good("gemini")

    reply, server = ask_at(monkeypatch, "gemini", script)
    assert (reply.status, reply.options["top_logprobs"]) == ("ok", 0)
    assert "logprobs" not in server.calls[-1].body["generationConfig"]


@both
def test_a_wrong_key_is_an_error_that_is_not_repeated(monkeypatch, family):
    reply, server = ask_at(monkeypatch, family, in_turn(error(family, "API key not valid", 401)))
    assert (reply.status, reply.reason) == ("error", "status 401: API key not valid")
    assert len(server.calls) == 1


@both
def test_json_of_an_unknown_form_is_an_error(monkeypatch, family):
    reply, server = ask_at(monkeypatch, family, in_turn(Answer({"content": 4, "candidates": 4})))
    assert (reply.status, len(server.calls)) == ("error", 1)
