"""What is left out when a server refuses a parameter, and that it is said."""

import pytest
from servers import Answer, FakeServer, connect, openai_answer, openai_error

from timevista_hf.cases import ForecastCase
from timevista_hf.judges import JudgeOptions, Request, load_judge
from timevista_hf.judges._ladder import AttemptError, lower
from timevista_hf.judges._options import Decoding
from timevista_hf.rubrics import load_rubric

TREND = load_rubric("trend")
CASE = ForecastCase(id="a", history=[1, 2, 3], truth=[4, 5], prediction=[4, 6])
FULL = Decoding(model="m", max_tokens=100, temperature=0.0, top_logprobs=20)


def picky(**refusals):
    """Script a server that refuses the requests for which a rule gives an error."""

    def script(call):
        for error in (rule(call.body) for rule in refusals.values()):
            if error:
                return Answer(error, 400)
        return Answer(openai_answer())

    return script


def no_temperature(body):
    if "temperature" in body:
        return openai_error("Only the default (1) value is supported.", "temperature")
    return None


def no_logprobs(body):
    if "logprobs" in body:
        return openai_error("'logprobs' is not supported with this model.", "logprobs")
    return None


def few_logprobs(body):
    if body.get("top_logprobs", 0) > 5:
        return openai_error("Invalid value for 'top_logprobs': at most 5.", "top_logprobs")
    return None


def no_schema(body):
    if body.get("response_format", {}).get("type") == "json_schema":
        return openai_error("`response_format` of type json_schema is not supported.")
    return None


def no_form(body):
    if "response_format" in body:
        return openai_error("Unrecognized request argument supplied: response_format")
    return None


def newer_limit(body):
    if "max_tokens" in body:
        return openai_error(
            "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.",
            "max_tokens",
        )
    return None


def older_limit(body):
    if "max_completion_tokens" in body:
        return openai_error("Extra inputs are not permitted: max_completion_tokens")
    return None


def ask(judge, number=1):
    requests = [Request(CASE, TREND, f"Question {i}", b"PNG") for i in range(number)]
    return [reply for _, reply in judge.ask(requests)]


@pytest.mark.parametrize(
    ("rule", "option", "left", "refused"),
    [
        (no_temperature, "temperature", None, ["temperature=0.0"]),
        (no_logprobs, "top_logprobs", 0, ["logprobs"]),
        (few_logprobs, "top_logprobs", 5, ["top_logprobs=10"]),
        (no_schema, "schema", "json_object", ["json_schema"]),
        (no_form, "schema", "prompt", ["json_schema", "json_object"]),
    ],
)
def test_what_a_server_refuses_is_left_out_and_recorded(monkeypatch, rule, option, left, refused):
    with FakeServer(picky(rule=rule)) as server:
        [reply] = ask(connect(monkeypatch, server))
    assert (reply.status, reply.options[option], reply.options["refused"]) == ("ok", left, refused)
    assert len(server.calls) == 1 + len(refused)


def test_nothing_else_is_left_out(monkeypatch):
    with FakeServer(picky(rule=no_temperature)) as server:
        ask(connect(monkeypatch, server))
    before, after = (call.body for call in server.calls)
    del before["temperature"]
    assert after == before


def test_a_server_that_refuses_everything_is_asked_with_the_prompt_alone(monkeypatch):
    script = picky(a=no_temperature, b=no_logprobs, c=no_form, d=older_limit)
    with FakeServer(script) as server:
        [reply] = ask(connect(monkeypatch, server))
    assert reply.status == "ok"
    assert set(server.calls[-1].body) == {"model", "messages", "max_tokens"}


def test_a_refusal_is_learnt_once_for_all_later_questions(monkeypatch):
    with FakeServer(picky(rule=no_temperature)) as server:
        judge = connect(monkeypatch, server)
        ask(judge)
        assert [reply.status for reply in ask(judge, 5)] == ["ok"] * 5
    assert len(server.calls) == 2 + 5


def test_many_questions_refused_at_once_lower_it_by_one_step(monkeypatch):
    with FakeServer(picky(rule=no_schema)) as server:
        replies = ask(connect(monkeypatch, server), 8)
    assert {reply.options["schema"] for reply in replies} == {"json_object"}


def test_a_late_refusal_does_not_bring_back_what_was_given_up_meanwhile(monkeypatch):
    def script(call):
        if call.number == 1:
            return Answer(openai_error("not supported", "response_format"), 400, delay=0.3)
        error = no_temperature(call.body)
        return Answer(error, 400) if error else Answer(openai_answer())

    with FakeServer(script) as server:
        judge = connect(monkeypatch, server, concurrency=2)
        assert [reply.status for reply in ask(judge, 6)] == ["ok"] * 6
    assert (judge.decoding.temperature, judge.decoding.schema) == (None, "json_schema")


def test_refusals_do_not_count_as_attempts(monkeypatch):
    script = picky(a=no_temperature, b=no_logprobs, c=no_form)
    with FakeServer(script) as server:
        [reply] = ask(connect(monkeypatch, server, attempts=1))
    assert (reply.status, "attempts" in reply.options) == ("ok", False)


def test_what_was_asked_for_stays_the_identity_of_the_judge(monkeypatch):
    with FakeServer(picky(rule=no_temperature)) as server:
        judge = connect(monkeypatch, server)
        before = dict(judge.identity)
        ask(judge)
        assert judge.identity == before


def test_the_newer_name_of_the_limit_brings_room_for_thoughts():
    with FakeServer(picky(rule=newer_limit)) as server:
        options = JudgeOptions(max_tokens=100)
        [reply] = ask(load_judge(f"server:{server.url}/v1#m", options=options))
    assert reply.options["max_tokens"] == 4096
    assert server.calls[-1].body["max_completion_tokens"] == 4096


def test_a_limit_that_is_refused_under_both_names_is_an_error(monkeypatch):
    with FakeServer(picky(a=older_limit, b=newer_limit)) as server:
        [reply] = ask(connect(monkeypatch, server))
    assert (reply.status, len(server.calls)) == ("error", 2)


def test_a_limit_that_is_too_high_is_an_error_and_not_renamed():
    for field in ("max_tokens", "max_completion_tokens"):
        said = f"{field} is too large: 9000. This model takes at most 4096 completion tokens."
        decoding = Decoding(model="m", max_tokens=9000, token_field=field)
        assert lower(decoding, AttemptError(said, status=400, parameter=field)) is None


@pytest.mark.parametrize(
    "said",
    [
        "This model's maximum context length is 8192 tokens.",
        "The temperature of the forecast is high.",  # names a parameter, refuses nothing
        "Invalid image.",
    ],
)
def test_a_message_that_refuses_no_parameter_lowers_nothing(said):
    assert lower(FULL, AttemptError(said, status=400)) is None


def test_a_parameter_that_was_not_sent_is_not_blamed():
    bare = Decoding(model="m", max_tokens=100, schema="prompt")
    for name in ("temperature", "logprobs", "response_format"):
        refusal = AttemptError("not supported", status=400, parameter=name)
        assert lower(bare, refusal) is None


def test_the_parameter_that_the_server_names_is_believed_rather_than_its_words():
    said = "temperature is not supported together with logprobs"
    lowered = lower(FULL, AttemptError(said, status=400, parameter="logprobs"))
    assert (lowered.temperature, lowered.top_logprobs) == (0.0, 0)


@pytest.mark.parametrize("status", [401, 404, 429, 500, None])
def test_only_a_refused_request_lowers_anything(status):
    refusal = AttemptError("temperature is not supported", status=status)
    assert lower(FULL, refusal) is None


def test_logprobs_that_a_model_may_not_give_are_left_out():
    said = "You are not allowed to request logprobs from this model"
    assert lower(FULL, AttemptError(said, status=403)).top_logprobs == 0
