"""Budgets: a run that stops before it costs more, and loses no answer that was paid for."""

import math
import threading
from queue import SimpleQueue

import pytest
from billed import (
    CLAUDE,
    ROUND,
    TREND,
    Hosted,
    always,
    header,
    make_request,
    make_requests,
    text_of,
    used,
)
from hypothesis import given
from hypothesis import strategies as st
from servers import Answer, FakeServer, connect

from timevista_hf.costs import Budget, BudgetExhaustedError, BudgetJudge, Price
from timevista_hf.costs._estimate import CALIBRATION_ANSWERS
from timevista_hf.judges import JudgeOptions, Reply, Store, load_judge
from timevista_hf.pipeline import judge_cases
from timevista_hf.rendering import Style

STYLE = Style(width=600, height=400)


def test_a_budget_counts_what_answers_cost():
    budget = Budget(1.0, ROUND)
    budget.add(used(100_000, 40_000))
    assert budget.spent == pytest.approx(0.5)
    assert not budget.exhausted
    budget.add(used(100_000, 40_000))
    assert budget.exhausted


def test_a_failure_that_was_billed_counts():
    budget = Budget(1.0, ROUND)
    budget.add(Reply("", "truncated", input_tokens=0, output_tokens=100_000))
    assert budget.exhausted


@pytest.mark.parametrize(
    "message", [{"content": "a"}, {"content": None}, {"content": 4}, {"content": [{"text": "a"}]}]
)
def test_thoughts_that_a_server_counts_in_the_total_alone_are_spent(monkeypatch, message):
    usage = {"prompt_tokens": 0, "completion_tokens": 40, "total_tokens": 40}
    counted = {**usage, "prompt_tokens": 1, "total_tokens": 100_001}
    body = {"choices": [{"message": message}], "usage": counted}
    with FakeServer(lambda call: Answer(body)) as server:
        judge = connect(monkeypatch, server, modality="text", concurrency=1)
        budgeted = BudgetJudge(judge, Budget(2.5, ROUND))
        answers = budgeted.ask(make_requests(10))
        with pytest.raises(BudgetExhaustedError):
            list(answers)
    # Each costs a dollar, so a third would pass the budget, whatever limit was asked for.
    assert budgeted.budget.spent == pytest.approx(2.0, abs=1e-4)


def test_a_free_judge_never_exhausts_a_budget():
    budget = Budget(0.0, Price(input=0, output=0))
    budget.add(used(10**9, 10**9))
    assert not budget.exhausted


@pytest.mark.parametrize("usd", [-1.0, math.nan])
def test_a_budget_below_nothing_is_refused(usd):
    with pytest.raises(ValueError, match="a budget must be at least 0 dollars, got"):
        Budget(usd, ROUND)


def test_a_budgeted_judge_goes_by_the_name_and_identity_of_its_judge():
    inner = Hosted(modality="text", model="m")
    judge = BudgetJudge(inner, Budget(1.0, ROUND))
    assert (judge.name, judge.modality, judge.identity) == (CLAUDE, "text", inner.identity)


def test_a_budget_that_is_enough_changes_nothing():
    requests, inner = make_requests(50), Hosted(always(300, 100))
    answers = list(BudgetJudge(inner, Budget(100.0, ROUND)).ask(requests))
    assert [request for request, _ in answers] == requests == inner.asked


def ask_until_stopped(judge, requests):
    """All answers that came before the budget was used up, and what was said of it."""
    answers = []
    with pytest.raises(BudgetExhaustedError) as stopped:
        for answer in judge.ask(requests):
            answers.append(answer)
    return answers, str(stopped.value)


def test_no_more_is_asked_than_the_budget_pays_for():
    # Output alone is billed: 5,000 tokens each, of which 4,096 · 10 $ / 10⁶ = 0.041 $ are held.
    price = Price(input=0, output=10)
    inner = Hosted(always(300, 4096))
    judge = BudgetJudge(inner, Budget(0.5, price))
    answers, _ = ask_until_stopped(judge, make_requests(100))
    # 12 · 0.04096 = 0.49152; a thirteenth would make it 0.53248.
    assert len(answers) == len(inner.asked) == judge.budget.answers == 12
    assert judge.budget.spent == pytest.approx(0.49152)


def test_a_budget_that_is_met_exactly_is_used_to_the_end():
    price = Price(input=0, output=10)
    judge = BudgetJudge(Hosted(always(300, 4096)), Budget(3 * 0.04096, price))
    assert len(list(judge.ask(make_requests(3)))) == 3


def test_a_budget_goes_further_once_answers_are_known_to_be_short():
    # 20 answers of 100 tokens make it known: from then on 0.001 $ is held, not 0.041 $.
    price = Price(input=0, output=10)
    judge = BudgetJudge(Hosted(always(300, 100)), Budget(0.0655, price))
    answers, _ = ask_until_stopped(judge, make_requests(1000))
    assert len(answers) == 65


def test_longer_answers_are_held_at_the_longest_so_far():
    price = Price(input=0, output=10)
    lengths = iter([100] * 20 + [2000] + [100] * 1000)
    judge = BudgetJudge(Hosted(lambda request: used(300, next(lengths))), Budget(0.07, price))
    answers, _ = ask_until_stopped(judge, make_requests(1000))
    # 20 · 0.001 + 0.02 = 0.04 are spent; 0.02 are held for each further answer of 0.001, so the
    # last one is asked at 0.05 spent.
    assert len(answers) == 21 + 11


def test_the_longest_reply_that_a_judge_may_give_is_held():
    judge = BudgetJudge(
        Hosted(always(1, 1), max_tokens=8000), Budget(0.07, Price(input=0, output=10))
    )
    answers, message = ask_until_stopped(judge, make_requests(1))
    assert answers == []
    assert message == (
        "the budget of $0.0700 is used up: 0 answers cost $0.0000 and the next may cost $0.0800"
    )


def test_the_input_of_a_request_is_held_too():
    request = make_request(image=header(1200, 500))
    tokens = 774 + text_of(request)
    price = Price(input=1, output=0)
    enough = BudgetJudge(Hosted(always(tokens, 1)), Budget(tokens / 1e6, price))
    assert len(list(enough.ask([request]))) == 1
    short = BudgetJudge(Hosted(always(tokens, 1)), Budget((tokens - 1) / 1e6, price))
    assert ask_until_stopped(short, [request])[0] == []


def test_the_input_of_earlier_answers_is_spent():
    request = make_request()
    price = Price(input=1, output=0)
    budget = Budget(2.5 * text_of(request) / 1e6, price)
    judge = BudgetJudge(Hosted(always(text_of(request), 1)), budget)
    assert len(ask_until_stopped(judge, make_requests(9))[0]) == 2


def test_an_answer_makes_room_for_the_next_without_a_new_turn():
    turns = []

    class Turns(Hosted):
        def ask(self, requests):
            turns.append(requests)
            return super().ask(requests)

    # 0.041 $ are held for each, 0.001 $ paid: the budget has room for one at a time, 15 times.
    judge = BudgetJudge(Turns(always(300, 100)), Budget(0.056, Price(input=0, output=10)))
    assert len(list(judge.ask(make_requests(15)))) == 15
    assert len(turns) == 1


class Crowd(Hosted):
    """A judge that takes all it is given before it answers, the last question first."""

    most = 0

    def ask(self, requests):
        taken = list(requests)
        self.most = max(self.most, len(taken))
        for request in reversed(taken):
            self.asked.append(request)
            yield request, self._answer(request)


def test_answers_under_way_count_and_are_all_yielded():
    # 0.2 $ hold four questions of 0.041 $; as each costs 0.03 $, turns of 4, 1 and 1 follow.
    price = Price(input=0, output=10)
    inner = Crowd(always(300, 3000))
    judge = BudgetJudge(inner, Budget(0.2, price))
    requests = make_requests(100)
    answers, _ = ask_until_stopped(judge, requests)
    assert inner.most == 4
    assert {request for request, _ in answers} == set(requests[:6])
    assert judge.budget.spent == pytest.approx(0.18)


@given(
    st.lists(st.integers(0, 4096), min_size=1, max_size=CALIBRATION_ANSWERS),
    st.floats(0, 5),
    st.sampled_from([Hosted, Crowd]),
)
def test_while_the_longest_possible_answers_are_held_the_budget_is_never_passed(lengths, usd, kind):
    requests = make_requests(len(lengths))
    tokens = dict(zip(requests, lengths, strict=True))
    judge = BudgetJudge(
        kind(lambda request: used(0, tokens[request])), Budget(usd, Price(input=0, output=100))
    )
    answered = 0
    try:
        for _ in judge.ask(requests):
            answered += 1
    except BudgetExhaustedError:
        assert judge.budget.spent + 0.4096 > usd  # not even one more was held
        assert answered < len(requests)
    else:
        assert answered == len(requests)
    assert judge.budget.spent <= usd


class Threaded(Hosted):
    """A judge that takes questions in a thread of its own, two ahead."""

    def ask(self, requests):
        answers = SimpleQueue()
        room = threading.Semaphore(2)

        def work():
            for request in requests:
                room.acquire()
                answers.put((request, self._answer(request)))
            answers.put(None)

        worker = threading.Thread(target=work)
        worker.start()
        while (answer := answers.get()) is not None:
            room.release()
            yield answer
        worker.join()


def test_a_judge_that_takes_questions_in_a_thread_is_stopped_too():
    judge = BudgetJudge(Threaded(always(300, 4096)), Budget(0.5, Price(input=0, output=10)))
    answers, _ = ask_until_stopped(judge, make_requests(100))
    assert len(answers) == 12


def test_the_judge_is_closed_when_the_reader_stops_early():
    closed = []

    class Closing(Hosted):
        def ask(self, requests):
            try:
                yield from super().ask(requests)
            finally:
                closed.append(True)

    judge = BudgetJudge(Closing(always(1, 1)), Budget(10.0, ROUND))
    answers = judge.ask(make_requests(5))
    next(answers)
    answers.close()
    assert closed == [True]


def test_what_was_held_for_unread_answers_is_free_again():
    price = Price(input=0, output=10)
    judge = BudgetJudge(Crowd(always(300, 10)), Budget(0.082, price))  # holds two
    answers = judge.ask(make_requests(2))
    next(answers)
    answers.close()
    assert len(list(judge.ask(make_requests(1)))) == 1


def test_a_free_judge_is_never_stopped():
    judge = BudgetJudge(load_judge("mock"), Budget(0.0, Price(input=0, output=0)))
    assert len(list(judge.ask(make_requests(100)))) == 100


def test_a_judge_without_a_limit_is_only_counted_and_calibrated():
    judge = BudgetJudge(Hosted(always(300, 100)), Budget(math.inf, ROUND))
    assert len(list(judge.ask(make_requests(30)))) == 30
    assert judge.budget.spent == pytest.approx(30 * (300 + 1000) / 1e6)
    assert judge.calibration.complete
    assert judge.calibration.output_mean == 100.0


def test_a_run_that_was_stopped_keeps_every_answer_and_goes_on_where_it_was(tmp_path):
    cases = [make_request(number).case for number in range(30)]
    price = Price(input=0, output=10)
    runs, judged = 0, None
    paid = Hosted(always(300, 4096))
    while judged is None:
        runs += 1
        with Store(tmp_path / "store.sqlite") as store:
            before, budget = len(store), Budget(0.5, price)
            judge = BudgetJudge(paid, budget)
            try:
                judged = list(judge_cases(cases, [TREND], judge, store=store, style=STYLE))
            except BudgetExhaustedError:
                assert len(store) - before == budget.answers == 12
    # 12 answers a run: 30 are there in the third.
    assert runs == 3
    assert len(paid.asked) == 30
    assert [entry.judgments[0].score for entry in judged] == [3] * 30


def test_a_model_that_thinks_is_held_at_the_room_that_it_is_given(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    judge = load_judge("openai:gpt-5.4", options=JudgeOptions(max_tokens=100))
    held = judge.decoding.max_tokens * 10 / 1e6
    _, message = ask_until_stopped(
        BudgetJudge(judge, Budget(held - 1e-6, Price(input=0, output=10))), [make_request()]
    )
    assert message.endswith(f"the next may cost ${held:.4f}")
