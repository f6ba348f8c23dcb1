"""What the mock judge answers."""

import json

import pytest

from timevista_hf.cases import ForecastCase
from timevista_hf.judges import Reply, Request
from timevista_hf.judges.mock import MockJudge
from timevista_hf.rubrics import load_rubric

CASE = ForecastCase(id="a", history=[1, 2, 3], truth=[4, 5], prediction=[4, 6])


def make_request(name="trend"):
    return Request(CASE, load_rubric(name), prompt="")


@pytest.mark.parametrize("name", ["trend", "general", "without_knowledge", "solar"])
def test_it_gives_a_three_that_every_rubric_can_parse(name):
    request = make_request(name)
    [(_, reply)] = MockJudge().ask([request])
    verdict = request.question.parse(reply.text)
    assert (reply.status, verdict.score) == ("ok", 3)


def test_it_answers_every_request_once_and_in_turn():
    requests = [make_request() for _ in range(5)]
    assert [request for request, _ in MockJudge().ask(requests)] == requests


def test_it_answers_a_request_before_it_takes_the_next():
    taken = []

    def requests():
        for number in range(3):
            taken.append(number)
            yield make_request()

    answers = MockJudge().ask(requests())
    next(answers)
    assert taken == [0]


def test_it_answers_what_it_is_told():
    def answer(request):
        return Reply(text=json.dumps({"rationale": request.question.name, "score": 1}))

    [(_, reply)] = MockJudge(answer).ask([make_request("phase")])
    assert json.loads(reply.text) == {"rationale": "phase", "score": 1}


def test_it_asks_for_a_plot_unless_it_is_told_otherwise():
    assert (MockJudge().modality, MockJudge(modality="text").modality) == ("vision", "text")
