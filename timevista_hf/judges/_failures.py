"""What a failed attempt means: whether to wait, to leave something out, or to stop."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Literal

Option = Literal["logprobs", "schema", "temperature", "limit"]

LONGEST_WAIT = 120.0  # seconds; what a server wants to wait longer for ends the questions


@dataclass(eq=False)
class AttemptError(Exception):
    """An attempt without a usable response.

    Parameters
    ----------
    reason : str
        The server's words.
    status : int, optional
        None where no response came, or one that says nothing of the kind.
    retry_after : float, optional
        Seconds that the server asks to wait.
    parameter : str, optional
        What the server names as the cause.
    code : str
        The server's names for the fault, separated by spaces.
    tokens : tuple of int
        Input and output that were paid all the same.
    """

    reason: str
    status: int | None = None
    retry_after: float | None = None
    parameter: str | None = None
    code: str = ""
    tokens: tuple[int, int] = (0, 0)

    @property
    def words(self) -> str:
        """The reason without what differs from one request to the next, such as counts and ids."""
        return f"{self.status} {re.sub(r'[^ ]*[0-9][^ ]*', '#', self.reason)}"

    @property
    def blamed(self) -> tuple[Option, ...]:
        """The options that the server names: as the cause, or else in its words."""
        said = self.parameter or self.reason
        return tuple(option for option, names in _OPTIONS.items() if names.search(said))

    @property
    def refuses(self) -> bool:
        """Whether a moderation or a filter stopped the request."""
        busy = self.status is not None and (self.status == 429 or self.status >= 500)
        in_words = not self.blamed and bool(_FILTER_WORDS.search(self.reason))
        return not busy and (filters(self.code) or in_words)

    @property
    def spent(self) -> bool:
        """Whether a quota is used up, or a limit reached that lifts in hours."""
        if (self.retry_after or 0) > LONGEST_WAIT or _SPENT_CODES.search(self.code):
            return True
        short = self.retry_after is not None or (self.status or 0) >= 500
        return not short and bool(_SPENT_WORDS.search(self.reason))

    @property
    def too_long(self) -> bool:
        """Whether the question alone is more than the model takes."""
        if self.status == 413 or _LONG_CODES.search(self.code):
            return True
        in_words = self.status in _REFUSALS and bool(_LONG_WORDS.search(self.reason))
        return in_words and not {*self.blamed} - {"limit"}

    @property
    def misdirected(self) -> bool:
        """Whether the key is refused, or something else than a model has answered."""
        said = f"{self.code} {self.reason}" if self.status in _REFUSALS else self.code
        return self.code == "page" or bool(_KEY.search(said))

    @property
    def passes(self) -> bool:
        """Whether the same request may succeed within minutes."""
        if self.refuses or self.spent or self.misdirected:
            return False
        if self.status is None or self.status in (408, 429):
            return True
        return self.status >= 500 and self.status not in _REFUSALS

    @property
    def declines(self) -> bool:
        """Whether the server may take the request with fewer options."""
        if self.refuses or self.spent or self.misdirected or self.too_long:
            return False
        return self.status in _REFUSALS or (self.status == 403 and bool(self.blamed))

    @property
    def crowded(self) -> bool:
        """Whether fewer requests at once may help."""
        return self.status in (429, 503, 529) or self.code == "timeout"

    @property
    def hopeless(self) -> bool:
        """Whether every other request will fail in the same way: key, model, address."""
        wrong = self.misdirected or self.status in (401, 402, 403, 404, 405)
        return wrong and not self.refuses


def filters(name: str) -> bool:
    """Say whether a provider's name for a fault, or for the end of a reply, is that of a filter.

    Examples
    --------
    >>> filters("data_inspection_failed"), filters("rate_limit_exceeded")
    (True, False)
    """
    return _FILTER_CODES.search(name) is not None


def wait_of(headers: Mapping[str, str], reason: str = "") -> float | None:
    """Read how many seconds a server asks to wait, in a header or in its words, the longer of both.

    Examples
    --------
    >>> wait_of({"retry-after": "1.5"}), wait_of({}, "Please try again in 1h0m2s.")
    (1.5, 3602.0)
    """
    waits = [_wait_in_header(headers.get("retry-after")), _wait_in_words(reason)]
    return max((wait for wait in waits if wait is not None), default=None)


def _wait_in_header(said: str | None) -> float | None:
    """Read a number, or the date of an HTTP header."""
    if said is None:
        return None
    with suppress(ValueError):
        seconds = float(said)
        return max(0.0, seconds) if math.isfinite(seconds) else None
    with suppress(ValueError, TypeError, OverflowError):
        return max(0.0, parsedate_to_datetime(said).timestamp() - time.time())
    return None


def _wait_in_words(reason: str) -> float | None:
    found = _WAIT.search(reason)
    if found is None:
        return None
    spans = _SPAN.findall(found[1].lower())
    return sum(
        float(number) * _SECONDS[unit if unit == "ms" else unit[0]] for number, unit in spans
    )


# What drops an option is the status alone. These words only save requests whose end is known, and
# tell a refusal from an error; where a server says it otherwise, options are tried in vain, once.
_REFUSALS = (400, 422, 501)
# In the order of what it costs to leave them out.
_OPTIONS: dict[Option, re.Pattern[str]] = {
    "logprobs": re.compile("logprob", re.IGNORECASE),
    "schema": re.compile(
        "response.?format|output.?(?:config|format)|structured|schema|json.?(?:mode|object)|"
        "response.?mime|grammar",
        re.IGNORECASE,
    ),
    "temperature": re.compile("temperature", re.IGNORECASE),
    "limit": re.compile("max_?(?:completion_|output_?)?tokens", re.IGNORECASE),
}
_FILTER_CODES = re.compile(
    r"content.?(?:filter|polic|block)|moderat|sensitive|inspection|safety|guardrail|prohibited|"
    r"responsible.?ai|risk.?(?:control|detect)|blocklist|flagged|^refusal$",
    re.IGNORECASE,
)
_FILTER_WORDS = re.compile(
    r"inappropriate|moderat(?:ion|ed)|flagged|guardrail|high.risk|responsible ai|"
    r"content (?:filter|polic|management|safety)|(?:usage|use) (?:guideline|polic)|"
    r"(?:sensitive|prohibited|unsafe|harmful) (?:content|information|words?)|"
    r"safety (?:system|polic|filter|reasons|check)",
    re.IGNORECASE,
)
_SPENT_CODES = re.compile(
    r"insufficient.?(?:quota|balance|credit|funds)|current.quota|billing|arrear|overdue|payment|"
    r"per.?(?:day|month)",
    re.IGNORECASE,
)
_SPENT_WORDS = re.compile(
    r"\bper (?:day|week|month)\b|\b(?:daily|weekly|monthly)\b|\b[RT]PD\b|credit balance|"
    r"(?:insufficient|not enough|out of) (?:account )?(?:balance|credits?|funds|quota)|"
    r"(?:hard|spend|spending) limit",
    re.IGNORECASE,
)
_LONG_CODES = re.compile(
    r"context.?(?:length|window)|too.?(?:large|long)|string_above_max", re.IGNORECASE
)
_LONG_WORDS = re.compile(
    r"\b(?:prompt|input|request|context|messages?)\b.{0,60}"
    r"\b(?:too (?:long|large|many)|exceeds?|maximum)\b|"
    r"(?:context|input|prompt) (?:length|window|size)|too many (?:input )?tokens",
    re.IGNORECASE,
)
_KEY = re.compile("api.?key", re.IGNORECASE)
_UNITS = r"(\d+(?:\.\d+)?)\s*(ms|days?|hours?|minutes?|seconds?|[dhms])"
_SPAN = re.compile(_UNITS)
_WAIT = re.compile(
    rf"(?:try again|retry|wait)\b[^.\d]{{0,30}}((?:{_UNITS}[\s,]*(?:and )?)+)", re.IGNORECASE
)
_SECONDS = {"ms": 0.001, "d": 86400.0, "h": 3600.0, "m": 60.0, "s": 1.0}
