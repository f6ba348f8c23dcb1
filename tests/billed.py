"""Requests as they are billed, and a mock under the name of a judge that is billed."""

import json
import struct

from timevista_hf.cases import ForecastCase
from timevista_hf.costs import Price, text_tokens
from timevista_hf.judges import Reply, Request
from timevista_hf.judges.mock import MockJudge
from timevista_hf.rubrics import load_rubric

TREND = load_rubric("trend")
CLAUDE = "anthropic:claude-sonnet-4.6"
# One dollar for a million input tokens, ten for a million output tokens.
ROUND = Price(input=1.0, output=10.0, batch_factor=0.5, date="2026-01-02", source="a test")


class Hosted(MockJudge):
    """A mock under the name of a hosted judge, which remembers what it was asked."""

    def __init__(self, answer=None, *, name=CLAUDE, modality="vision", **identity):
        super().__init__(answer, modality)
        self.name, self._identity, self.asked = name, identity, []

    @property
    def identity(self):
        return {"judge": self.name, **self._identity}

    def ask(self, requests):
        for request in requests:
            self.asked.append(request)
            yield request, self._answer(request)


def header(width, height):
    """The start of a PNG, which is all that a size needs."""
    return b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", width, height)


def make_request(number=0, *, image=None, prompt="four char", rubric=TREND):
    case = ForecastCase(id="a", history=[1, 2], truth=[3, 4], prediction=[3, number])
    return Request(case, rubric, prompt, image, run=number)


def make_requests(count, **fields):
    return [make_request(number, **fields) for number in range(count)]


def text_of(request):
    """The text tokens of a request."""
    return text_tokens(request.question.system_prompt) + text_tokens(request.prompt)


def used(input_tokens, output_tokens, score=3):
    text = json.dumps({"rationale": "seen", "score": score})
    return Reply(text, input_tokens=input_tokens, output_tokens=output_tokens)


def always(input_tokens, output_tokens):
    return lambda request: used(input_tokens, output_tokens)
