"""A limit on what a run may spend: a judge that stops asking in time and loses no answer."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from threading import Lock
from typing import Any, Literal

from timevista_hf.costs._estimate import Calibration, RequestSizes
from timevista_hf.costs._prices import Price
from timevista_hf.judges import Judge, Reply, Request
from timevista_hf.rubrics import Modality

LONGEST_REPLY = 4096  # tokens; models that think are given so many whatever `max_tokens` says


class BudgetExhaustedError(ValueError):
    """The next request might cost more than is left; all earlier answers were handed on."""


class Budget:
    """Count what answers cost, up to a limit.

    Parameters
    ----------
    usd : float
        The limit in US dollars, ≥ 0; infinite where costs are only to be counted.
    price : Price
        What tokens cost.

    Raises
    ------
    ValueError
        For a limit below 0, or NaN.

    Examples
    --------
    >>> budget = Budget(1.0, Price(input=2.5, output=15.0))
    >>> budget.add(Reply("", input_tokens=100_000, output_tokens=50_000))
    >>> budget.spent, budget.exhausted
    (1.0, True)
    """

    def __init__(self, usd: float, price: Price) -> None:
        if not usd >= 0:
            raise ValueError(f"a budget must be at least 0 dollars, got {usd!r}")
        self.usd = usd
        self.price = price
        self.answers = 0
        self.input_tokens = 0
        self.output_tokens = 0

    def add(self, reply: Reply) -> None:
        """Count an answer, a failed one too: what it used was billed."""
        self.answers += 1
        self.input_tokens += reply.input_tokens
        self.output_tokens += reply.output_tokens

    @property
    def spent(self) -> float:
        """US dollars so far."""
        return self.price.usd(self.input_tokens, self.output_tokens)

    @property
    def exhausted(self) -> bool:
        """Whether nothing is left; never for a judge that is free."""
        return not self.price.free and self.spent >= self.usd


class BudgetJudge:
    """Ask a judge until its budget is used up.

    A request is let through while the money spent, that of the answers under way and its own stay
    within the budget. An answer under way counts as the longest that the judge may give, or has
    given; once the first answers are known, as the longest so far. When no further request fits,
    every answer under way is still yielded; then `BudgetExhaustedError` is raised. With a store, a
    later run goes on from there. More than the budget is spent only by retries, or an answer longer
    than all before.

    Parameters
    ----------
    judge : Judge
        Name, modality and identity are its own, so that answers are stored under the same keys.
    budget : Budget
        It may be shared by several judges of one price, one after the other.

    Examples
    --------
    >>> from timevista_hf.judges import load_judge
    >>> judge = BudgetJudge(load_judge("mock"), Budget(5.0, Price(input=0, output=0)))
    >>> judge.name
    'mock'
    """

    def __init__(self, judge: Judge, budget: Budget) -> None:
        self.budget = budget
        self.calibration = Calibration()
        self._judge = judge
        self._sizes = RequestSizes(judge, budget.price)
        self._longest = max(int(judge.identity.get("max_tokens") or 0), LONGEST_REPLY)
        self._longest_seen = 0
        self._under_way: dict[Request, tuple[int, int]] = {}  # input, output tokens at most
        self._lock = Lock()  # a judge may take requests in a thread of its own

    @property
    def name(self) -> str:
        """The judge's name."""
        return self._judge.name

    @property
    def modality(self) -> Modality | Literal["numbers"]:
        """What the judge is shown."""
        return self._judge.modality

    @property
    def identity(self) -> Mapping[str, Any]:
        """All that can change an answer: the judge's, as the budget changes none."""
        return self._judge.identity

    def ask(self, requests: Iterable[Request]) -> Iterator[tuple[Request, Reply]]:
        """Answer requests while the budget lasts.

        Raises
        ------
        BudgetExhaustedError
            After the last answer, where a request is left that does not fit.
        """
        stream = iter(requests)
        waiting = next(stream, None)
        while waiting is not None:
            if not self._reserve(waiting):
                raise BudgetExhaustedError(self._message(waiting))
            turn = _Turn(first=waiting)
            try:
                for request, reply in self._judge.ask(self._admitted(turn, stream)):
                    self._settle(request, reply)
                    yield request, reply
            finally:
                self._under_way.clear()
            waiting = turn.left

    def _admitted(self, turn: _Turn, stream: Iterator[Request]) -> Iterator[Request]:
        """Give requests until one does not fit beside those under way; that one is left."""
        yield turn.first
        for request in stream:
            if not self._reserve(request):
                turn.left = request
                return
            yield request

    def _reserve(self, request: Request) -> bool:
        with self._lock:
            most = self._most(request)
            held = [*self._under_way.values(), most]
            cost = self.budget.price.usd(
                self.budget.input_tokens + sum(input_tokens for input_tokens, _ in held),
                self.budget.output_tokens + sum(output_tokens for _, output_tokens in held),
            )
            if cost > self.budget.usd:
                return False
            self._under_way[request] = most
            return True

    def _settle(self, request: Request, reply: Reply) -> None:
        with self._lock:
            self._under_way.pop(request, None)
            self.budget.add(reply)
            self.calibration = self.calibration.learn(self._sizes.input(request), reply)
            self._longest_seen = max(self._longest_seen, reply.output_tokens)

    def _most(self, request: Request) -> tuple[int, int]:
        """Return the input and output tokens that a request may use, as far as is known."""
        expected = self._sizes.input(request) * self.calibration.input_factor
        # Thoughts may not count against the limit, so that an answer can be longer than it.
        allowed = 0 if self.calibration.complete else self._longest
        longest = max(allowed, self._longest_seen)
        return math.ceil(expected), longest

    def _message(self, request: Request) -> str:
        budget = self.budget
        return (
            f"the budget of {_dollars(budget.usd)} is used up: {budget.answers} answers cost "
            f"{_dollars(budget.spent)} and the next may cost "
            f"{_dollars(budget.price.usd(*self._most(request)))}"
        )


@dataclass
class _Turn:
    """One call of the judge: the request it starts with, and the one that did not fit."""

    first: Request
    left: Request | None = None


def _dollars(usd: float) -> str:
    return f"${usd:,.2f}" if usd >= 1 else f"${usd:.4f}"
