"""How a remote judge works on many questions at once, and how it stops."""

import asyncio
import os
import signal
import sqlite3
import threading
import time

import pytest
from servers import Answer, FakeServer, connect, in_turn, openai_answer, openai_error

from timevista_hf.cases import ForecastCase
from timevista_hf.judges import Request, _session
from timevista_hf.judges._ladder import AttemptError
from timevista_hf.judges._limiter import Gate, Limiter
from timevista_hf.rubrics import load_rubric

TREND = load_rubric("trend")
CASE = ForecastCase(id="a", history=[1, 2, 3], truth=[4, 5], prediction=[4, 6])
GOOD = Answer(openai_answer())


def make_requests(number):
    return [Request(CASE, TREND, f"Question {i}", b"PNG") for i in range(number)]


def wait_until(true):
    deadline = time.monotonic() + 10
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def test_every_request_is_answered_once(monkeypatch):
    requests = make_requests(50)
    with FakeServer(in_turn(GOOD)) as server:
        answered = [request for request, _ in connect(monkeypatch, server).ask(requests)]
    assert sorted(map(id, answered)) == sorted(map(id, requests))
    assert len(server.calls) == 50


def test_an_answer_belongs_to_its_own_question(monkeypatch):
    def echo(call):
        said = call.body["messages"][1]["content"][1]["text"]
        return Answer(openai_answer(said), delay=0.02 * (call.number % 3))

    with FakeServer(echo) as server:
        for request, reply in connect(monkeypatch, server).ask(make_requests(30)):
            assert reply.text == request.prompt


def test_no_request_asks_nothing_and_leaves_no_thread(monkeypatch):
    with FakeServer(in_turn(GOOD)) as server:
        before = threading.active_count()
        assert list(connect(monkeypatch, server).ask([])) == []
        assert threading.active_count() == before, threading.enumerate()
    assert server.calls == []


def test_questions_are_asked_at_the_same_time_up_to_the_limit(monkeypatch):
    slow = Answer(openai_answer(), delay=0.05)
    with FakeServer(in_turn(slow)) as server:
        list(connect(monkeypatch, server, concurrency=4).ask(make_requests(24)))
    assert server.most_inside == 4


def test_requests_are_taken_only_as_they_can_be_sent(monkeypatch):
    taken, answered = [], 0

    def requests():
        for request in make_requests(40):
            taken.append(request)
            yield request

    with FakeServer(in_turn(GOOD)) as server:
        for _ in connect(monkeypatch, server, concurrency=3).ask(requests()):
            answered += 1
            assert len(taken) <= answered + 2  # this one, and two that are in flight


def test_requests_are_taken_in_the_caller_s_thread(monkeypatch):
    connection = sqlite3.connect(":memory:")  # refuses any other thread

    def requests():
        for request in make_requests(5):
            connection.execute("SELECT 1")
            yield request

    with FakeServer(in_turn(GOOD)) as server:
        assert len(list(connect(monkeypatch, server).ask(requests()))) == 5
    connection.close()


def test_a_stream_that_fails_ends_the_asking_with_its_own_error(monkeypatch):
    def requests():
        yield from make_requests(2)
        raise LookupError("no more cases")

    with FakeServer(in_turn(GOOD)) as server:
        before = threading.active_count()
        with pytest.raises(LookupError, match="no more cases"):
            list(connect(monkeypatch, server).ask(requests()))
        assert threading.active_count() == before, threading.enumerate()


def test_closing_early_cancels_what_is_in_flight_and_leaves_no_thread(monkeypatch):
    def script(call):
        return GOOD if call.number == 1 else Answer(openai_answer(), delay=60.0)

    with FakeServer(script) as server:
        before = threading.active_count()
        answers = connect(monkeypatch, server, concurrency=4).ask(make_requests(20))
        next(answers)
        start = time.monotonic()
        answers.close()
        assert time.monotonic() - start < 5
        assert threading.active_count() == before, threading.enumerate()
    assert len(server.calls) <= 4


def test_closing_cancels_a_judge_that_waits_for_its_turn(monkeypatch):
    busy = Answer(openai_error("later"), 429, {"retry-after": "100"})
    with FakeServer(lambda call: GOOD if call.number == 1 else busy) as server:
        answers = connect(monkeypatch, server, concurrency=4).ask(make_requests(20))
        next(answers)
        wait_until(lambda: len(server.calls) >= 3)
        start = time.monotonic()
        answers.close()
        assert time.monotonic() - start < 5


def test_closing_ends_a_request_that_has_swallowed_its_cancellation(monkeypatch):
    async def answers_at_the_same_moment(sending, limit):
        try:
            return await sending
        except asyncio.CancelledError:
            raise AttemptError("later", status=429, retry_after=100.0) from None

    monkeypatch.setattr(_session.asyncio, "wait_for", answers_at_the_same_moment)
    held = Answer(openai_answer(), delay=60.0)
    with FakeServer(lambda call: GOOD if call.number == 1 else held) as server:
        answers = connect(monkeypatch, server, concurrency=4).ask(make_requests(20))
        next(answers)
        wait_until(lambda: len(server.calls) >= 3)
        start = time.monotonic()
        answers.close()
        assert time.monotonic() - start < 5


def test_an_interrupt_from_the_keyboard_ends_it_and_leaves_no_thread(monkeypatch):
    with FakeServer(in_turn(Answer(openai_answer(), delay=60.0))) as server:
        before = threading.active_count()
        judge = connect(monkeypatch, server)

        def interrupt():
            wait_until(lambda: server.calls)
            os.kill(os.getpid(), signal.SIGINT)

        helper = threading.Thread(target=interrupt)
        helper.start()
        with pytest.raises(KeyboardInterrupt):
            list(judge.ask(make_requests(3)))
        helper.join()
        assert threading.active_count() == before, threading.enumerate()


def test_it_works_inside_a_running_event_loop_as_notebooks_have(monkeypatch):
    async def cell(judge):
        return list(judge.ask(make_requests(3)))

    with FakeServer(in_turn(GOOD)) as server:
        assert len(asyncio.run(cell(connect(monkeypatch, server)))) == 3


def test_two_askings_of_one_judge_may_overlap(monkeypatch):
    with FakeServer(in_turn(GOOD)) as server:
        judge = connect(monkeypatch, server)
        both = list(zip(judge.ask(make_requests(9)), judge.ask(make_requests(9)), strict=True))
    assert len(both) == 9


def test_after_three_hopeless_failures_the_rest_is_not_asked(monkeypatch):
    wrong = Answer(openai_error("Incorrect API key"), 401)
    with FakeServer(in_turn(wrong)) as server:
        replies = [
            reply for _, reply in connect(monkeypatch, server, concurrency=1).ask(make_requests(30))
        ]
    assert (len(replies), len(server.calls)) == (30, 3)
    assert {reply.status for reply in replies} == {"error"}
    said = "not asked after 3 failures in a row: status 401: Incorrect API key"
    assert [reply.reason for reply in replies[3:]] == [said] * 27


def test_failures_between_answers_are_not_hopeless(monkeypatch):
    def script(call):
        return GOOD if call.number % 3 == 0 else Answer(openai_error("no"), 403)

    with FakeServer(script) as server:
        replies = [
            reply for _, reply in connect(monkeypatch, server, concurrency=1).ask(make_requests(30))
        ]
    assert [reply.status for reply in replies].count("ok") == 10
    assert len(server.calls) == 30


def test_the_next_asking_tries_again_after_hopeless_failures(monkeypatch):
    wrong = Answer(openai_error("pay first"), 402)
    with FakeServer(in_turn(wrong, wrong, wrong, GOOD)) as server:
        judge = connect(monkeypatch, server, concurrency=1)
        list(judge.ask(make_requests(5)))
        assert [reply.status for _, reply in judge.ask(make_requests(2))] == ["ok", "ok"]


def test_the_limit_doubles_every_round_until_the_first_complaint():
    limiter = Limiter(most=100)
    assert limiter.limit == 8
    for _ in range(8):
        limiter.succeed()
    assert limiter.limit == 16


def test_after_a_complaint_the_limit_falls_and_then_rises_by_one_a_round():
    limiter = Limiter(most=100)
    for _ in range(12):
        limiter.succeed()
    limiter.throttle(limiter.epoch)
    assert limiter.limit == 12  # 20 · 0.6
    for _ in range(13):  # a few more than a round, as each one counts 1/limit and that rises
        limiter.succeed()
    assert limiter.limit == 13


def test_complaints_about_what_was_sent_together_count_once():
    limiter = Limiter(most=100)
    epoch = limiter.epoch
    for _ in range(8):
        limiter.throttle(epoch)
    assert limiter.limit == 4  # 8 · 0.6 = 4.8


def test_the_limit_stays_between_one_and_the_most():
    limiter = Limiter(most=10)
    for _ in range(50):
        limiter.succeed()
    assert limiter.limit == 10
    for _ in range(50):
        limiter.throttle(limiter.epoch)
    assert limiter.limit == 1


def test_a_limit_that_the_server_made_fall_holds_for_the_next_asking(monkeypatch):
    def script(call):
        if call.number <= 8:
            return Answer(openai_error("slow down"), 429)
        return Answer(openai_answer(), delay=0.02)

    with FakeServer(script) as server:
        judge = connect(monkeypatch, server, concurrency=8)
        list(judge.ask(make_requests(8)))
        assert judge.limiter.epoch >= 1
        limit = judge.limiter.limit
        server.most_inside = 0
        list(judge.ask(make_requests(3)))
    assert server.most_inside <= limit < 8


def test_a_server_error_that_is_no_overload_does_not_lower_the_limit(monkeypatch):
    with FakeServer(in_turn(Answer(openai_error("oh"), 500), GOOD)) as server:
        judge = connect(monkeypatch, server)
        list(judge.ask(make_requests(1)))
    assert judge.limiter.epoch == 0


def test_the_gate_lets_in_as_many_as_the_limit_and_then_the_others_in_turn():
    inside, most, order = 0, 0, []

    async def pass_through(gate, number):
        nonlocal inside, most
        async with gate:
            order.append(number)
            inside += 1
            most = max(most, inside)
            await asyncio.sleep(0)
            inside -= 1

    async def crowd():
        gate = Gate(Limiter(most=3))
        await asyncio.gather(*(pass_through(gate, number) for number in range(20)))

    asyncio.run(crowd())
    assert (most, order) == (3, list(range(20)))


def test_one_that_is_cancelled_at_the_gate_does_not_hold_up_the_others():
    async def crowd():
        gate, passed = Gate(Limiter(most=1)), []

        async def pass_through(number):
            async with gate:
                await asyncio.sleep(0.01)
                passed.append(number)

        tasks = [asyncio.create_task(pass_through(number)) for number in range(4)]
        await asyncio.sleep(0)
        tasks[1].cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        return passed

    assert asyncio.run(crowd()) == [0, 2, 3]
