"""What to leave out when a server refuses a parameter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from timevista_hf.judges._options import THINKING_FLOOR, Decoding, SchemaMode, TokenField

ALL_SCHEMAS: tuple[SchemaMode, ...] = ("json_schema", "json_object", "prompt")
FEW_LOGPROBS = 5  # as many as there are scores


@dataclass(eq=False)
class AttemptError(Exception):
    """An attempt without a usable response; `status` is None where no response came."""

    reason: str
    status: int | None = None
    retry_after: float | None = None  # seconds
    parameter: str | None = None  # that the server names as the cause
    code: str | None = None
    tokens: tuple[int, int] = (0, 0)  # input and output that were paid all the same

    @property
    def passes(self) -> bool:
        """Whether the same request may succeed later."""
        if self.code == "insufficient_quota":
            return False
        return self.status is None or self.status in (408, 429) or self.status >= 500

    @property
    def crowded(self) -> bool:
        """Whether fewer requests at once may help."""
        return self.status in (429, 503, 529) or self.code == "timeout"

    @property
    def refuses(self) -> bool:
        """Whether a filter stopped the request."""
        said = self.reason.lower()
        return self.code in _FILTERS or any(words in said for words in _FILTER_WORDS)

    @property
    def hopeless(self) -> bool:
        """Whether every other request will fail in the same way: key, credit, model."""
        return self.status in (401, 402, 403, 404) or self.code == "insufficient_quota"


def lower(
    decoding: Decoding, failure: AttemptError, schemas: Sequence[SchemaMode] = ALL_SCHEMAS
) -> Decoding | None:
    """Return the decoding without what the server refused, or None where nothing can go.

    Parameters
    ----------
    decoding : Decoding
        As it was sent.
    failure : AttemptError
    schemas : sequence of str
        The ways the provider has to ask for JSON, strictest first.

    Examples
    --------
    >>> refusal = AttemptError("Unsupported value: 'temperature'", status=400)
    >>> lower(Decoding(model="m", max_tokens=9, temperature=0.0), refusal).temperature
    """
    if failure.status not in _REFUSALS:
        return None
    for sent, words, step in _STEPS:
        if sent(decoding) and _blames(failure, words):
            return step(decoding, schemas)
    return _other_limit(decoding, failure)


def _blames(failure: AttemptError, words: Sequence[str]) -> bool:
    if failure.parameter:
        return any(failure.parameter.startswith(word) for word in words)
    said = failure.reason.lower()
    return any(word in said for word in words) and any(hint in said for hint in _HINTS)


def _no_temperature(decoding: Decoding, schemas: Sequence[SchemaMode]) -> Decoding:
    return _without(decoding, f"temperature={decoding.temperature}", temperature=None)


def _fewer_logprobs(decoding: Decoding, schemas: Sequence[SchemaMode]) -> Decoding:
    fewer = FEW_LOGPROBS if decoding.top_logprobs > FEW_LOGPROBS else 0
    return _without(decoding, f"top_logprobs={decoding.top_logprobs}", top_logprobs=fewer)


def _no_logprobs(decoding: Decoding, schemas: Sequence[SchemaMode]) -> Decoding:
    return _without(decoding, "logprobs", top_logprobs=0)


def _looser_schema(decoding: Decoding, schemas: Sequence[SchemaMode]) -> Decoding:
    looser = schemas[schemas.index(decoding.schema) + 1]
    return _without(decoding, decoding.schema, schema=looser)


def _other_limit(decoding: Decoding, failure: AttemptError) -> Decoding | None:
    """Call the limit by its other name, unless that was refused before."""
    field = decoding.token_field
    blamed = failure.parameter in (None, field) and field in failure.reason
    if not blamed or not any(hint in failure.reason.lower() for hint in _UNKNOWN):
        return None
    other: TokenField = "max_tokens" if field == "max_completion_tokens" else _NEWER
    if other in decoding.refused:
        return None
    # Only models that think insist on the newer name, and their thoughts count.
    floor = THINKING_FLOOR if other == _NEWER else 0
    limit = max(decoding.max_tokens, floor)
    return _without(decoding, field, token_field=other, max_tokens=limit)


def _without(decoding: Decoding, refused: str, **changes: Any) -> Decoding:
    return replace(decoding, refused=(*decoding.refused, refused), **changes)


_REFUSALS = (400, 403, 422, 501)
_FILTERS = ("content_filter", "content_policy_violation", "moderation_blocked")
_FILTER_WORDS = ("content filter", "content management policy")
_NEWER: TokenField = "max_completion_tokens"
_UNKNOWN = ("support", "unknown", "unrecogni", "unexpected", "extra", "not permitted")
_HINTS = (*_UNKNOWN, "not allowed", "not enabled", "not available", "invalid", "deprecated", "fail")

_Step = Callable[[Decoding, Sequence[SchemaMode]], Decoding]
_STEPS: tuple[tuple[Callable[[Decoding], bool], tuple[str, ...], _Step], ...] = (
    (lambda sent: sent.temperature is not None, ("temperature",), _no_temperature),
    (lambda sent: sent.top_logprobs > 0, ("top_logprobs",), _fewer_logprobs),
    (lambda sent: sent.top_logprobs > 0, ("logprobs", "responselogprobs"), _no_logprobs),
    (
        lambda sent: sent.schema != "prompt",
        ("response_format", "output_", "schema", "response_mime", "responsemime", "grammar"),
        _looser_schema,
    ),
)
