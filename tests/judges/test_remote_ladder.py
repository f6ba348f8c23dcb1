"""What is left out when a server refuses a request, and that it is said."""

import itertools

import pytest
from servers import (
    Answer,
    FakeServer,
    anthropic_answer,
    anthropic_error,
    connect,
    gemini_answer,
    gemini_error,
    openai_answer,
    openai_error,
)

from timevista_hf.cases import AnomalyCase, ForecastCase
from timevista_hf.detection import DetectionQuestion
from timevista_hf.judges import JudgeOptions, Request, load_judge
from timevista_hf.judges._failures import AttemptError
from timevista_hf.judges._ladder import BOTH_LIMITS, Ladder
from timevista_hf.judges._options import Decoding
from timevista_hf.rubrics import load_rubric

TREND = load_rubric("trend")
CASE = ForecastCase(id="a", history=[1, 2, 3], truth=[4, 5], prediction=[4, 6])
FULL = Decoding(model="m", max_tokens=100, temperature=0.0, top_logprobs=10)
OPTIONAL = ("logprobs", "response_format", "temperature")


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


def refusing(*fields, said="Bad Request", status=400):
    """Script a server that refuses requests with any of those fields, always in the same words."""

    def script(call):
        if any(field in call.body for field in fields):
            return Answer(openai_error(said), status)
        return Answer(openai_answer())

    return script


def make_requests(number):
    return [Request(CASE, TREND, f"Question {i}", b"PNG") for i in range(number)]


def ask(judge, number=1):
    return [reply for _, reply in judge.ask(make_requests(number))]


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
def test_what_a_server_refuses_by_name_is_left_out_at_once_and_recorded(
    monkeypatch, rule, option, left, refused
):
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


@pytest.mark.parametrize("status", [400, 422, 501])
@pytest.mark.parametrize(
    "fields", [part for size in (1, 2, 3) for part in itertools.combinations(OPTIONAL, size)]
)
def test_a_refusal_that_says_nothing_costs_only_what_is_to_blame(monkeypatch, fields, status):
    with FakeServer(refusing(*fields, status=status)) as server:
        [reply] = ask(connect(monkeypatch, server))
    assert reply.status == "ok"
    assert {*OPTIONAL} & {*server.calls[-1].body} == {*OPTIONAL} - {*fields}


@pytest.mark.parametrize(
    ("field", "said"),
    [
        ("logprobs", "Requested sample logprobs of 10, which is greater than max allowed: 0"),
        ("logprobs", "logprobs must be False while thinking"),
        ("response_format", "This response_format type is unavailable now"),
        ("response_format", "Grammar compilation took too many states"),
        ("response_format", "Structured outputs: upgrade your plan"),
        ("temperature", "`temperature` must be strictly positive"),
        ("temperature", "temperature may only be set to 1 when thinking is on"),
        ("temperature", "Der Wert von temperature gefällt mir nicht."),
    ],
)
def test_whatever_a_server_says_the_option_that_it_names_goes_first(monkeypatch, field, said):
    with FakeServer(refusing(field, said=said)) as server:
        [reply] = ask(connect(monkeypatch, server))
    assert reply.status == "ok"
    assert {*OPTIONAL} - {*server.calls[-1].body} == {field}
    assert len(server.calls) <= 3  # both steps of an option at most


def test_what_is_named_without_being_to_blame_is_put_back(monkeypatch):
    said = "temperature is fine, but I say Bad Request"
    with FakeServer(refusing("logprobs", said=said)) as server:
        [reply] = ask(connect(monkeypatch, server))
    assert "temperature" not in server.calls[1].body
    assert reply.options["refused"] == ["logprobs"]
    assert "temperature" in server.calls[-1].body


def test_ids_and_counts_in_the_words_do_not_make_them_others(monkeypatch):
    def script(call):
        said = f"Bad Request (request id 7f{call.number:04d}-ab)"
        return refusing("temperature", said=said)(call)

    with FakeServer(script) as server:
        [reply] = ask(connect(monkeypatch, server))
    assert reply.options["refused"] == ["temperature=0.0"]


def test_a_refusal_by_name_is_learnt_once_for_all_later_questions(monkeypatch):
    with FakeServer(picky(rule=no_temperature)) as server:
        judge = connect(monkeypatch, server)
        ask(judge)
        assert [reply.status for reply in ask(judge, 5)] == ["ok"] * 5
    assert len(server.calls) == 2 + 5


def test_a_refusal_without_a_name_is_learnt_with_the_second_question(monkeypatch):
    with FakeServer(refusing("temperature")) as server:
        judge = connect(monkeypatch, server, concurrency=1)
        ask(judge, 2)
        before = len(server.calls)
        assert [reply.options["temperature"] for reply in ask(judge, 5)] == [None] * 5
    assert server.calls[before - 1].body.keys() == server.calls[-1].body.keys()
    assert len(server.calls) == before + 5


@pytest.mark.parametrize("fields", [("temperature",), ("logprobs", "response_format")])
def test_many_questions_refused_at_once_start_one_search(monkeypatch, fields):
    with FakeServer(refusing(*fields)) as server:
        judge = connect(monkeypatch, server, concurrency=8)
        replies = ask(judge, 30)
    assert [reply.status for reply in replies] == ["ok"] * 30
    assert not {*fields} & {*judge.payload(make_requests(1)[0])}
    alone = 13  # the ways below a full request without another name for the limit
    assert len(server.calls) <= 30 + 8 + alone + 1


def test_many_questions_refused_by_name_at_once_lower_it_by_one_step(monkeypatch):
    with FakeServer(picky(rule=no_schema)) as server:
        replies = ask(connect(monkeypatch, server), 8)
    assert {reply.options["schema"] for reply in replies} == {"json_object"}


def special(*numbers, answer):
    """Script a server that gives another answer to the questions of those numbers."""

    def script(call):
        asked = call.body["messages"][1]["content"][1]["text"]
        return answer(call) if asked in {f"Question {i}" for i in numbers} else GOOD

    return script


GOOD = Answer(openai_answer())


def test_one_question_that_is_refused_whatever_is_left_out_lowers_nothing(monkeypatch):
    broken = Answer(openai_error("Bad Request"), 400)
    with FakeServer(special(3, answer=lambda call: broken)) as server:
        judge = connect(monkeypatch, server, concurrency=1)
        before = judge.decoding
        statuses = [reply.status for reply in ask(judge, 8)]
    assert statuses == ["ok"] * 3 + ["error"] + ["ok"] * 4
    assert judge.decoding == before


def test_one_question_that_is_taken_with_less_lowers_nothing_for_the_others(monkeypatch):
    with FakeServer(special(3, answer=refusing("response_format"))) as server:
        judge = connect(monkeypatch, server, concurrency=1)
        before = judge.decoding
        replies = ask(judge, 8)
    assert [reply.options["schema"] for reply in replies].count("prompt") == 1
    assert judge.decoding == before


@pytest.mark.parametrize("said", ["Bad Request", "No such picture: 17"])
def test_what_no_leaving_out_has_changed_twice_is_not_searched_again(monkeypatch, said):
    with FakeServer(lambda call: Answer(openai_error(said), 400)) as server:
        judge = connect(monkeypatch, server, concurrency=1)
        replies = ask(judge, 10)
        twice = len(server.calls) - 8
        assert twice <= 2 * 15
        ask(judge, 5)
    assert {reply.reason for reply in replies} == {f"status 400: {said}"}
    assert len(server.calls) == twice + 8 + 5


def test_it_gives_up_with_the_words_that_stand_in_the_way(monkeypatch):
    def script(call):
        error = no_temperature(call.body) or no_logprobs(call.body)
        return Answer(error or openai_error("The picture is broken."), 400)

    with FakeServer(script) as server:
        [reply] = ask(connect(monkeypatch, server))
    assert (reply.status, reply.reason) == ("error", "status 400: The picture is broken.")


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


def test_a_server_that_is_busy_during_the_search_is_asked_again(monkeypatch):
    def script(call):
        if call.number == 3:
            return Answer(openai_error("slow down"), 429)
        return refusing("temperature")(call)

    with FakeServer(script) as server:
        [reply] = ask(connect(monkeypatch, server))
    assert (reply.status, reply.options["refused"]) == ("ok", ["temperature=0.0"])


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


def test_the_other_name_of_the_limit_is_tried_last(monkeypatch):
    with FakeServer(refusing("max_completion_tokens")) as server:
        [reply] = ask(connect(monkeypatch, server))
    assert reply.options["refused"] == ["max_completion_tokens"]
    sent = [call.body for call in server.calls]
    assert [body for body in sent if "max_tokens" in body] == sent[-1:]
    assert {*OPTIONAL} <= {*sent[-1]}


def test_a_limit_that_is_refused_under_both_names_is_an_error(monkeypatch):
    with FakeServer(picky(a=older_limit, b=newer_limit)) as server:
        [reply] = ask(connect(monkeypatch, server))
    said = "status 400: Extra inputs are not permitted: max_completion_tokens"
    assert (reply.status, reply.reason) == ("error", said)


def test_logprobs_that_a_model_may_not_give_are_left_out(monkeypatch):
    said = "You are not allowed to request logprobs from this model"
    with FakeServer(refusing("logprobs", said=said, status=403)) as server:
        [reply] = ask(connect(monkeypatch, server))
    assert (reply.status, reply.options["top_logprobs"]) == ("ok", 0)


def test_what_is_forbidden_without_a_name_is_asked_once(monkeypatch):
    with FakeServer(refusing("logprobs", said="Forbidden", status=403)) as server:
        [reply] = ask(connect(monkeypatch, server))
    assert (reply.reason, len(server.calls)) == ("status 403: Forbidden", 1)


def test_a_question_without_a_score_is_not_refused_twice_in_the_same_form(monkeypatch):
    case = AnomalyCase(id="a", values=[0, 0, 9, 0], granularity="point", events=[(2, 3)])
    question = DetectionQuestion("point", steps=4)
    with FakeServer(refusing("temperature")) as server:
        judge = connect(monkeypatch, server)
        [(_, reply)] = judge.ask([Request(case, question, "Where?", b"PNG")])
    bodies = [call.raw for call in server.calls]
    assert (reply.status, len({*bodies})) == ("ok", len(bodies))
    assert judge.ladder.guess.top_logprobs == judge.decoding.top_logprobs > 0


ANSWERS = {"anthropic": anthropic_answer, "gemini": gemini_answer}
ERRORS = {"anthropic": anthropic_error, "gemini": gemini_error}
FIELDS = [
    ("anthropic", "temperature", "temperature=0.0"),
    ("anthropic", "output_config", "json_schema"),
    ("gemini", "temperature", "temperature=0.0"),
    ("gemini", "responseLogprobs", "logprobs"),
    ("gemini", "responseJsonSchema", "json_schema"),
]


@pytest.mark.parametrize(("family", "field", "refused"), FIELDS)
def test_claude_and_gemini_may_refuse_without_saying_what(monkeypatch, family, field, refused):
    def script(call):
        sent = {**call.body, **call.body.get("generationConfig", {})}
        if field in sent:
            return Answer(ERRORS[family]("Request contains an invalid argument."), 400)
        return Answer(ANSWERS[family]())

    with FakeServer(script) as server:
        [reply] = ask(connect(monkeypatch, server, family))
    assert (reply.status, reply.options["refused"]) == ("ok", [refused])


@pytest.mark.parametrize("family", ["anthropic", "gemini"])
def test_no_family_is_sent_the_same_request_twice_in_vain(monkeypatch, family):
    with FakeServer(lambda call: Answer(ERRORS[family]("no"), 400)) as server:
        [reply] = ask(connect(monkeypatch, server, family))
    bodies = [call.raw for call in server.calls]
    assert (reply.status, len({*bodies})) == ("error", len(bodies))


# The order of the ways down.


def told(decoding):
    return (decoding.top_logprobs, decoding.schema, decoding.temperature, decoding.token_field)


def test_the_cheapest_is_left_out_first_and_the_dearest_last():
    ladder = Ladder(limits=BOTH_LIMITS[::-1])
    ways = [told(way) for way in ladder.ways(FULL, AttemptError("no", status=400))]
    full, old, new = "json_schema", "max_tokens", "max_completion_tokens"
    assert ways == [
        (10, full, 0.0, old),  # as it was sent
        (5, full, 0.0, old),
        (0, full, 0.0, old),
        (10, "json_object", 0.0, old),
        (0, "json_object", 0.0, old),
        (10, "prompt", 0.0, old),
        (0, "prompt", 0.0, old),
        (10, full, None, old),
        (0, full, None, old),
        (10, "json_object", None, old),
        (0, "json_object", None, old),
        (10, "prompt", None, old),
        (0, "prompt", None, old),
        (10, full, 0.0, new),
        (0, "prompt", None, new),
    ]


def test_the_parameter_that_the_server_names_is_believed_rather_than_its_words():
    said = "temperature is not supported together with logprobs"
    refusal = AttemptError(said, status=400, parameter="logprobs")
    first = next(Ladder().ways(FULL, refusal))
    assert told(first) == (0, "json_schema", 0.0, "max_tokens")


def test_what_was_not_sent_is_not_left_out():
    bare = Decoding(model="m", max_tokens=100, schema="prompt")
    for name in ("temperature", "logprobs", "response_format"):
        refusal = AttemptError("not supported", status=400, parameter=name)
        search = Ladder().search(bare, refusal)
        assert [*search] == []


@pytest.mark.parametrize("status", [401, 404, 413, 429, 500, None])
def test_only_a_refused_request_is_sent_with_less(status):
    refusal = AttemptError("temperature is not supported", status=status)
    assert not Ladder().hopes(refusal)
