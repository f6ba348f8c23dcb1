"""A judge for trying the pipeline: it answers the same score for everything, or what it is told."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Literal

from timevista_hf.judges._base import Reply, Request


class MockJudge:
    """Answer every request with a given reply, without looking.

    Parameters
    ----------
    answer : callable, optional
        From request to reply; a score of 3 for everything where it is not given.
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
    verdict = {"rationale": "The mock judge gives a 3 to everything.", "score": 3}
    return Reply(text=json.dumps(verdict))
