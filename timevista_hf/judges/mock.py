"""A judge for trying the pipeline: it answers the same for everything, or what it is told."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Literal

from timevista_hf.cases import AnomalyCase, ForecastCase
from timevista_hf.judges._base import Reply, Request


class MockJudge:
    """Answer every request with a given reply, without looking.

    Parameters
    ----------
    answer : callable, optional
        From request to reply; where it is not given, a score of 3 for everything, and for
        anomalies the middle of the series.
    modality : {"vision", "text", "numbers"}
        What it asks to be shown, so that rendering can be tried too.

    Examples
    --------
    >>> MockJudge().name
    'mock'
    """

    name = "mock"

    def __init__(
        self,
        answer: Callable[[Request], Reply] | None = None,
        modality: Literal["vision", "text", "numbers"] = "vision",
    ) -> None:
        self._answer = answer or _middle
        self.modality = modality

    @property
    def identity(self) -> Mapping[str, Any]:
        """What can change an answer."""
        return {"judge": self.name}

    def ask(self, requests: Iterable[Request]) -> Iterator[tuple[Request, Reply]]:
        """Answer each request in turn."""
        for request in requests:
            yield request, self._answer(request)


def _middle(request: Request) -> Reply:
    if not request.scored:
        return Reply(text=json.dumps(_named(request.case)))
    verdict = {"rationale": "The mock judge gives a 3 to everything.", "score": 3}
    return Reply(text=json.dumps(verdict))


def _named(case: ForecastCase | AnomalyCase) -> dict[str, Any]:
    if not isinstance(case, AnomalyCase):
        raise TypeError(f"{case.label}: anomalies are looked for in an AnomalyCase")
    size = case.num_variates if case.granularity == "variate" else case.steps
    middle: Any = size // 2
    if case.granularity == "range":
        middle = [middle, min(middle + size // 10, size - 1)]
    return {"rationale": "The mock judge names the middle.", "anomalies": [middle]}
