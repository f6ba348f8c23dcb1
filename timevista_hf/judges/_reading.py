"""What the bodies of all providers have in common: tokens, text in parts, thoughts beside it."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from timevista_hf.judges._base import Reply
from timevista_hf.judges._failures import AttemptError, wait_of
from timevista_hf.judges._options import Decoding
from timevista_hf.rubrics import whole_number

Reader = Callable[[Mapping[str, Any], Decoding], Reply]


def tolerant(read: Reader) -> Reader:
    """Make a reader of responses that fails for no JSON, and counts what was paid for any.

    What `read` raises for a response of an unknown form becomes a reply that says so.
    """

    @functools.wraps(read)
    def reply_of(response: Mapping[str, Any], decoding: Decoding) -> Reply:
        try:
            reply = read(response, decoding)
        except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
            reason = f"the response has an unknown form ({type(error).__name__})"
            reply = Reply("", "error", reason=reason, options=decoding.used())
        paid = tokens_of(response)
        return replace(reply, input_tokens=paid[0], output_tokens=paid[1])

    return reply_of


def tokens_of(response: Any) -> tuple[int, int]:
    """Return the input and output tokens that a response says it has cost.

    Output is the larger of what was written and of the total less the input: some servers leave
    thoughts out of the first.

    Examples
    --------
    >>> tokens_of({"usage": {"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 31}})
    (9, 22)
    """
    body = response if isinstance(response, Mapping) else {}
    usage = body.get("usage") or body.get("usageMetadata")
    if not isinstance(usage, Mapping):
        return 0, 0
    # Gateways that mix the dialects count the same tokens in each of them.
    read, written, total = next((one for one in _USAGES if one[0][0] in usage), _USAGES[0])
    asked = _count(usage, read)
    beside = _count(usage, [total]) - asked if asked else 0
    return asked, max(_count(usage, written), beside)


def split_content(content: Any) -> tuple[str, str]:
    """Return the text of a message and that of its thoughts; both may come in parts.

    Raises
    ------
    TypeError
        For what is neither a text nor parts.

    Examples
    --------
    >>> split_content([{"type": "thinking", "thinking": "4?"}, {"type": "text", "text": "5"}])
    ('5', '4?')
    """
    if content is None or isinstance(content, str):
        return content or "", ""
    if isinstance(content, Mapping):
        if not {"type", "text"} & set(content):  # JSON that the server has parsed already
            return json.dumps(content), ""
        content = [content]
    texts: list[str] = []
    thoughts: list[str] = []
    for part in content:
        thought = part.get("thought") is True or is_thought(str(part.get("type", "")))
        (thoughts if thought else texts).append(_text_in(part))
    return "".join(texts), "".join(thoughts)


def is_thought(name: str) -> bool:
    """Say whether a field or a type of that name holds thoughts.

    Examples
    --------
    >>> is_thought("reasoning_content"), is_thought("content")
    (True, False)
    """
    return re.search("think|thought|reasoning", name, re.IGNORECASE) is not None


def without_answer(places: Iterable[str], options: Mapping[str, Any]) -> Reply:
    """Make the reply of a model whose text is all among its thoughts, in the `places` named."""
    named = ", ".join(f"`{place}`" for place in places)
    reason = f"the reply is empty: all text is among the model's thoughts ({named})"
    return Reply("", "unparsable", reason=reason, options=options)


def json_in(text: str) -> Mapping[str, Any]:
    """Read the body of a response, whatever type it says it has.

    Raises
    ------
    AttemptError
        For what is no JSON object, or an error that came as a success.
    """
    try:
        response = json.loads(text)
    except (ValueError, RecursionError):
        if text.lstrip().startswith("<"):
            raise fault(text) from None
        raise AttemptError(f"the response is no JSON: {text!r}") from None
    if not isinstance(response, Mapping) or response.get("error"):
        raise fault(response)
    return response


def fault(
    body: Any, *, status: int | None = None, headers: Mapping[str, str] | None = None
) -> AttemptError:
    """Read an error's body, also one that came with status 200.

    Examples
    --------
    >>> fault({"error": {"message": "slow down", "code": 429}}).status
    429
    >>> fault("<html><title>Sign in</title></html>").reason
    "a page came instead of a reply: 'Sign in'"
    """
    body = body[0] if isinstance(body, list) and body else body
    detail = (body.get("error") or body) if isinstance(body, Mapping) else body
    if not isinstance(detail, Mapping):
        detail = {"message": detail or "the response holds no JSON object"}
    reason = _words(detail.get("message") or detail.get("detail") or "no reason given")
    code, parameter = str(detail.get("code")), detail.get("param")
    status = status or (int(code) if re.fullmatch("[45][0-9][0-9]", code) else None)
    page = reason.lstrip().startswith("<")
    # Of a server that is busy or down a page is the gateway's, and passes.
    final = page and (status is None or status < 500) and status not in (408, 429)
    return AttemptError(
        _title(reason) if page else reason,
        status=status,
        retry_after=wait_of(headers or {}, " ".join([reason, *_found(detail, _DELAYS)])),
        parameter=parameter if isinstance(parameter, str) else None,
        code="page" if final else " ".join(_found(detail, _CODES)),
        tokens=tokens_of(body),
    )


def _found(detail: Any, names: Mapping[str, str]) -> Iterator[str]:
    """Give what stands under those names at any depth, each in a form."""
    if isinstance(detail, list):
        for one in detail:
            yield from _found(one, names)
    elif isinstance(detail, Mapping):
        for name, value in detail.items():
            if name in names and isinstance(value, str | int):
                yield names[name].format(value)
            yield from _found(value, names)


def _words(said: Any) -> str:
    """Return a message; of a list of faults the places and rules, without the input quoted."""
    if isinstance(said, Mapping) and "detail" in said:
        said = said["detail"]
    if not isinstance(said, list):
        return str(said)
    parts = [one if isinstance(one, Mapping) else {"msg": one} for one in said]
    places = ((".".join(map(str, one.get("loc") or ())), one.get("msg")) for one in parts)
    return "; ".join(f"{place}: {rule}" if place else str(rule) for place, rule in places)


def _title(page: str) -> str:
    title = re.search(r"<title[^>]*>([^<]*)", page, re.IGNORECASE)
    said = title[1] if title else re.sub(r"<[^>]*>", " ", page)
    return f"a page came instead of a reply: {' '.join(said.split())!r}"


def _text_in(part: Mapping[str, Any]) -> str:
    for name in ("text", "thinking", "reasoning", "content"):
        value = part.get(name)
        if isinstance(value, Mapping):
            value = value.get("value")
        if isinstance(value, str):
            return value
        if isinstance(value, list):
            return "".join(_text_in(one) for one in value)
        if value is not None:
            raise TypeError(f"a text is needed, got {type(value).__name__}")
    return ""


def _count(usage: Mapping[str, Any], names: Iterable[str]) -> int:
    reported = (whole_number(usage.get(name)) for name in names)
    return sum(max(0, number) for number in reported if number is not None)


_CODES = dict.fromkeys(("code", "type", "status", "reason", "quotaId"), "{}")
_DELAYS = {"retryDelay": "; retry in {}"}  # Google's
_USAGES: tuple[tuple[tuple[str, ...], tuple[str, ...], str], ...] = (
    (("prompt_tokens",), ("completion_tokens",), "total_tokens"),
    (("promptTokenCount",), ("candidatesTokenCount", "thoughtsTokenCount"), "totalTokenCount"),
    (
        ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"),
        ("output_tokens",),
        "total_tokens",
    ),
)
