"""What a server's refusal means: a filter, a limit for hours, a page, a question too long."""

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
    openai_answer,
    openai_error,
)

from timevista_hf.cases import ForecastCase
from timevista_hf.judges import Request
from timevista_hf.judges._failures import AttemptError, wait_of
from timevista_hf.judges._reading import fault
from timevista_hf.rubrics import load_rubric

TREND = load_rubric("trend")
CASE = ForecastCase(id="a", history=[1, 2, 3], truth=[4, 5], prediction=[4, 6])
ANSWERS = {"openai": openai_answer, "anthropic": anthropic_answer, "gemini": gemini_answer}
families = pytest.mark.parametrize("family", ["openai", "anthropic", "gemini"])


def ask_at(monkeypatch, script, family="openai", number=1, **options):
    """Ask some questions one by one; give the replies, the server, and the waits."""
    waits = []

    async def sleep(seconds):
        waits.append(seconds)

    with FakeServer(script) as server:
        judge = connect(monkeypatch, server, family, concurrency=1, **options)
        judge.sleep = sleep
        requests = [Request(CASE, TREND, f"Question {i}", b"PNG") for i in range(number)]
        replies = [reply for _, reply in judge.ask(requests)]
    return replies, server, waits


def error_of(family, said, status):
    if family == "gemini":
        return gemini_error(said, status)
    return anthropic_error(said) if family == "anthropic" else openai_error(said)


def google(*details, said="You exceeded your current quota.", kind="RESOURCE_EXHAUSTED"):
    return gemini_error(said, 429, kind, details)


PER_DAY = {"violations": [{"quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]}
PER_MINUTE = {"violations": [{"quotaId": "GenerateRequestsPerMinutePerProject-FreeTier"}]}


MODERATED = [
    (400, openai_error("Input data may contain inappropriate content.", None, "x")),
    (400, openai_error("Sorry.", None, "data_inspection_failed")),
    (400, openai_error("Sorry.", None, "DataInspectionFailed")),
    (400, openai_error("Sorry.", None, "content_policy_violation")),
    (400, openai_error("Sorry.", None, "InputImageSensitiveContentDetected")),
    (400, openai_error("The prompt triggered our content management policy.")),
    (403, openai_error("Your model requires moderation and your input was flagged", code=403)),
    (403, openai_error("Content violates usage guidelines.")),
    (422, openai_error("Rejected: considered high risk")),
    (400, {"error": {"message": "no", "innererror": {"code": "ResponsibleAIPolicyViolation"}}}),
    (400, {"error": {"message": "no", "type": "content_filter"}}),
    (200, openai_error("Blocked by our safety system")),
]


@pytest.mark.parametrize(("status", "body"), MODERATED)
def test_what_a_moderation_stops_is_a_refusal_and_is_asked_once(monkeypatch, status, body):
    replies, server, _ = ask_at(monkeypatch, in_turn(Answer(body, status)))
    assert ([reply.status for reply in replies], len(server.calls)) == (["refused"], 1)


@pytest.mark.parametrize("stop", ["content_filter", "sensitive", "SAFETY", "PROHIBITED_CONTENT"])
def test_a_reply_that_a_filter_ends_is_a_refusal(monkeypatch, stop):
    [reply], server, _ = ask_at(monkeypatch, in_turn(Answer(openai_answer(stop=stop))))
    assert (reply.status, reply.output_tokens, len(server.calls)) == ("refused", 40, 1)


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (400, "Model names are case-sensitive"),
        (400, "Unknown field: safety_settings"),
        (400, "The value of temperature is inappropriate"),
        (500, "The content filter is down"),
        (429, "Moderation is busy"),
    ],
)
def test_other_faults_are_no_refusals(status, said):
    assert not fault(openai_error(said), status=status).refuses


@families
def test_a_moderation_lowers_nothing(monkeypatch, family):
    body = error_of(family, "Your input was flagged as inappropriate.", 400)
    with FakeServer(in_turn(Answer(body, 400))) as server:
        judge = connect(monkeypatch, server, family)
        before = judge.decoding
        [(_, reply)] = judge.ask([Request(CASE, TREND, "q", b"PNG")])
    assert (reply.status, judge.decoding, len(server.calls)) == ("refused", before, 1)


DAY = "Rate limit reached for requests per day (RPD): limit 200."
LASTING = [
    (429, openai_error(DAY), {"retry-after": "25920"}),
    (429, openai_error(DAY), {}),
    (429, openai_error("Slow down."), {"retry-after": "300"}),
    (429, openai_error("Slow down."), {"retry-after": "Fri, 01 Jan 2200 00:00:00 GMT"}),
    (429, openai_error("Tokens per minute. Please try again in 7m12.5s."), {}),
    (429, openai_error("Limit reached. Retry after 2 hours and 5 minutes."), {}),
    (429, openai_error("Limit reached. Try again in 3h."), {"retry-after": "20"}),
    (429, openai_error("Pay first.", code="insufficient_quota"), {}),
    (429, {"error": {"message": "no", "type": "exceeded_current_quota_error"}}, {}),
    (503, openai_error("Closed for repairs."), {"retry-after": "7200"}),
    (400, anthropic_error("Your credit balance is too low to access the API."), {}),
    (400, openai_error("Access denied.", code="Arrearage"), {}),
    (429, openai_error("Daily limit exceeded"), {}),
    (429, google(PER_DAY, {"retryDelay": "39s"}), {}),
    (429, google({"retryDelay": "4000s"}), {}),
]


@pytest.mark.parametrize(("status", "body", "headers"), LASTING)
def test_what_lasts_for_hours_is_asked_once_and_ends_with_its_words(
    monkeypatch, status, body, headers
):
    answer = Answer(body, status, headers)
    replies, server, waits = ask_at(monkeypatch, in_turn(answer), number=5)
    said = body["error"]["message"]
    assert (len(server.calls), waits) == (1, [])
    assert replies[0].reason == f"status {status}: {said}"
    assert {reply.reason for reply in replies[1:]} == {
        f"not asked any more: status {status}: {said}"
    }


def test_gemini_s_own_client_tells_a_limit_of_the_day_too(monkeypatch):
    body = google(PER_DAY, {"retryDelay": "39s"})
    replies, server, _ = ask_at(monkeypatch, in_turn(Answer(body, 429)), "gemini", number=3)
    assert ([reply.status for reply in replies], len(server.calls)) == (["error"] * 3, 1)


PASSING = [
    ({"error": {"message": DAY}}, {"retry-after": "20"}),
    (openai_error("Please try again in 20ms."), {}),
    (openai_error("Limit per minute. Please retry after 26 seconds."), {}),
    (openai_error("Limit 5 reached", code="rate_limit_exceeded"), {"retry-after": "120"}),
    (google(PER_MINUTE, {"retryDelay": "39s"}), {}),
    (google(said="Quota exceeded for requests per minute"), {}),
]


@pytest.mark.parametrize(("body", "headers"), PASSING)
def test_what_passes_within_minutes_is_waited_for(monkeypatch, body, headers):
    script = in_turn(Answer(body, 429, headers), Answer(openai_answer()))
    [reply], server, _ = ask_at(monkeypatch, script)
    assert (reply.status, len(server.calls)) == ("ok", 2)


def test_a_limit_of_known_length_closes_the_server_for_the_next_asking_too(monkeypatch):
    busy = Answer(openai_error("Tomorrow."), 429, {"retry-after": "9000"})
    with FakeServer(in_turn(busy)) as server:
        judge = connect(monkeypatch, server, concurrency=1)
        for _ in range(3):
            [(_, reply)] = judge.ask([Request(CASE, TREND, "q", b"PNG")])
    assert len(server.calls) == 1
    assert reply.reason == "not asked any more: status 429: Tomorrow."


@pytest.mark.parametrize(
    ("headers", "said", "seconds"),
    [
        ({}, "Please try again in 7h12m.", 25920.0),
        ({}, "Please try again in 1m30.5s.", 90.5),
        ({}, "try again in 20ms", 0.02),
        ({}, "Retry after 26 seconds", 26.0),
        ({}, "wait 2 days, then ask", 172800.0),
        ({}, "retry in 1 hour and 5 minutes", 3900.0),
        ({"retry-after": "20"}, "retry in 10s", 20.0),
        ({"retry-after": "5"}, "retry in 10s", 10.0),
        ({}, "limit 200. Ask later", None),
        ({}, "Retry your request", None),
    ],
)
def test_a_wait_is_read_from_the_header_and_from_the_words(headers, said, seconds):
    assert wait_of(headers, said) == (seconds if seconds is None else pytest.approx(seconds))


PAGES = [
    (b"<html><title>Sign in</title></html>", "'Sign in'"),
    (b"<!doctype html>\n<html><head><TITLE lang=en> Access\n denied </TITLE>", "'Access denied'"),
    (b"<body><h1>Welcome</h1> to <b>the</b> portal</body>", "'Welcome to the portal'"),
]


@families
@pytest.mark.parametrize("kind", ["text/html", "application/json"])
@pytest.mark.parametrize(("page", "said"), PAGES)
def test_a_page_instead_of_a_reply_is_asked_for_once(monkeypatch, family, kind, page, said):
    script = in_turn(Answer(page, headers={"content-type": kind}))
    [reply], server, _ = ask_at(monkeypatch, script, family)
    assert (reply.status, len(server.calls)) == ("error", 1)
    assert reply.reason == f"a page came instead of a reply: {said}"


@families
@pytest.mark.parametrize("status", [403, 404])
def test_a_page_that_forbids_is_asked_for_once(monkeypatch, family, status):
    script = in_turn(Answer(PAGES[0][0], status))
    [reply], server, _ = ask_at(monkeypatch, script, family)
    said = f"status {status}: a page came instead of a reply: 'Sign in'"
    assert (reply.reason, len(server.calls)) == (said, 1)


@families
@pytest.mark.parametrize("status", [502, 503])
def test_the_page_of_a_gateway_whose_server_is_down_passes(monkeypatch, family, status):
    script = in_turn(Answer(b"<h1>Bad Gateway</h1>", status), Answer(ANSWERS[family]()))
    [reply], server, _ = ask_at(monkeypatch, script, family)
    assert (reply.status, len(server.calls)) == ("ok", 2)


def test_after_three_pages_the_rest_is_not_asked(monkeypatch):
    replies, server, _ = ask_at(monkeypatch, in_turn(Answer(PAGES[0][0])), number=9)
    assert len(server.calls) == 3
    assert "not asked after 3 failures in a row" in replies[-1].reason


def test_json_under_another_name_is_json(monkeypatch):
    plain = Answer(openai_answer(), headers={"content-type": "text/plain"})
    [reply], _, _ = ask_at(monkeypatch, in_turn(plain))
    assert reply.status == "ok"


TOO_LONG = [
    (400, openai_error("no", code="context_length_exceeded")),
    (400, openai_error("no", code="string_above_max_length")),
    (400, openai_error("This model's maximum context length is 8192 tokens, you asked for 9000.")),
    (400, anthropic_error("prompt is too long: 213 tokens > 200 maximum")),
    (400, openai_error("The input token count (12) exceeds the maximum number of tokens.")),
    (400, openai_error("Range of input length should be [1, 30720]")),
    (400, openai_error("`max_tokens` and the prompt together exceed the context window of 8192")),
    (413, openai_error("Payload too large")),
    (422, openai_error("Your request has too many input tokens")),
]


@pytest.mark.parametrize(("status", "body"), TOO_LONG)
def test_a_question_that_is_too_long_is_asked_once_and_lowers_nothing(monkeypatch, status, body):
    def script(call):
        long = "Question 1" in call.raw.decode()
        return Answer(body, status) if long else Answer(openai_answer())

    replies, server, _ = ask_at(monkeypatch, script, number=5)
    assert [reply.status for reply in replies] == ["ok", "error", "ok", "ok", "ok"]
    assert replies[1].reason == f"status {status}: {body['error']['message']}"
    assert (len(server.calls), "refused" in replies[-1].options) == (5, False)


@pytest.mark.parametrize(
    "said",
    [
        "Requested sample logprobs of 10, which is greater than max allowed: 0",
        "response_format: the schema is too large, it exceeds the maximum depth",
        "temperature exceeds the maximum of the request",
    ],
)
def test_an_option_that_is_too_large_is_no_question_that_is_too_long(said):
    assert AttemptError(said, status=400).declines


@pytest.mark.parametrize("kind", ["integer_above_max_value", "unsupported_value", "invalid_type"])
def test_codes_of_options_are_none_of_questions(kind):
    assert AttemptError("no", status=400, code=kind).declines


@pytest.mark.parametrize(
    "body",
    [
        gemini_error("API key not valid.", 400, details=[{"reason": "API_KEY_INVALID"}]),
        [gemini_error("API key not valid.", 400, details=[{"reason": "API_KEY_INVALID"}])],
        openai_error("No key.", code="invalid_api_key"),
        openai_error("API key not valid. Please pass a valid API key."),
    ],
)
def test_a_key_that_is_refused_with_400_is_hopeless_and_searched_for_nothing(body):
    failure = fault(body, status=400)
    assert (failure.hopeless, failure.declines) == (True, False)


@pytest.mark.parametrize(
    ("code", "status"), [(429, 429), ("503", 503), (1301, None), ("20", None), ("x", None)]
)
def test_a_code_that_looks_like_a_status_is_one_where_there_is_no_other(code, status):
    body = {"error": {"message": "m", "code": code}}
    assert fault(body).status == status
    assert fault(body, status=418).status == 418


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ({"error": {"message": "m"}}, "m"),
        ({"error": "m"}, "m"),
        ({"message": "m", "code": 400}, "m"),
        ({"detail": "m"}, "m"),
        ([{"error": {"message": "m"}}], "m"),
        ("m", "m"),
        ({"detail": [{"loc": ["body", "top_p"], "msg": "m"}]}, "body.top_p: m"),
        ({"detail": [{"loc": ["a"], "msg": "m", "input": "daily"}, "n"]}, "a: m; n"),
        ({"object": "error", "message": {"detail": [{"msg": "m"}]}}, "m"),
        ({}, "no reason given"),
        (None, "no JSON object"),
        ([], "no JSON object"),
    ],
)
def test_the_words_of_a_fault_are_found_in_every_form(body, reason):
    assert reason in fault(body, status=400).reason


def test_what_a_server_quotes_of_the_question_says_nothing():
    quoted = "The daily temperature is inappropriate, the prompt is too long, see response_format."
    body = {"detail": [{"loc": ["body"], "msg": "Bad", "input": {"messages": quoted}}]}
    failure = fault(body, status=422)
    assert (failure.reason, failure.blamed, failure.declines) == ("body: Bad", (), True)
