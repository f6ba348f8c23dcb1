"""What the answers of a run have used, and what that costs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from timevista_hf.costs._prices import load_prices
from timevista_hf.judges import Judge


class _Paid(Protocol):
    @property
    def status(self) -> str: ...
    @property
    def input_tokens(self) -> int: ...
    @property
    def output_tokens(self) -> int: ...


@dataclass
class Usage:
    """Count the tokens of a judge's answers; retries and failures are in them.

    Examples
    --------
    >>> from timevista_hf.judges import Reply
    >>> usage = Usage()
    >>> usage.add(Reply("", "truncated", input_tokens=700, output_tokens=1024))
    >>> usage.without_score
    1724
    """

    input: int = 0
    output: int = 0
    without_score: int = 0

    def add(self, paid: _Paid) -> None:
        """Count an answer."""
        self.input += paid.input_tokens
        self.output += paid.output_tokens
        if paid.status != "ok":
            self.without_score += paid.input_tokens + paid.output_tokens

    def told(self, judge: Judge) -> dict[str, Any]:
        """Say it in words, with the price of today; nothing of a judge that uses no tokens."""
        if not (self.input or self.output):
            return {}
        return {
            "input tokens": self.input,
            "output tokens": self.output,
            "tokens without a score": self.without_score,
            "US dollars": self._dollars(judge),
        }

    def _dollars(self, judge: Judge) -> float | None:
        try:
            return round(load_prices().find(judge).usd(self.input, self.output), 4)
        except ValueError:  # no price is known
            return None
