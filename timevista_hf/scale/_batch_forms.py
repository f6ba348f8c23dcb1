"""The forms of batch files: how each provider takes requests and gives results."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal


@dataclass(frozen=True)
class Result:
    """One line of a provider's results: the body of a response, or the reason for none."""

    key: str
    response: Mapping[str, Any] | None
    outcome: Literal["", "error", "expired", "unreadable"] = ""
    reason: str = ""


@dataclass(frozen=True)
class Form:
    """How a provider's batch files are written, how large they may be, and how results look."""

    module: str  # that reads the body of a response
    suffix: str
    head: bytes
    between: bytes
    tail: bytes
    max_bytes: int
    max_requests: int
    entry: Callable[[str, dict[str, Any]], dict[str, Any]]
    result: Callable[[dict[str, Any]], Result]


def limited(form: Form, max_bytes: int | None, max_requests: int | None) -> Form:
    """Return the form with lower limits.

    Raises
    ------
    ValueError
        For a limit below 1 or above the provider's.
    """
    for name, value in (("max_bytes", max_bytes), ("max_requests", max_requests)):
        most = getattr(form, name)
        if value is not None and not 1 <= value <= most:
            raise ValueError(f"`{name}` must be from 1 to {most}, got {value!r}")
    return replace(
        form,
        max_bytes=max_bytes or form.max_bytes,
        max_requests=max_requests or form.max_requests,
    )


def _openai_entry(key: str, payload: dict[str, Any]) -> dict[str, Any]:
    return {"custom_id": key, "method": "POST", "url": "/v1/chat/completions", "body": payload}


def _openai_result(line: dict[str, Any]) -> Result:
    key, response, error = line["custom_id"], line.get("response"), line.get("error")
    if response and response["status_code"] == 200:
        return Result(key, response["body"])
    if response:
        said = (response.get("body") or {}).get("error")
        error = said or error or {"message": f"status {response['status_code']}"}
    if not error:
        raise KeyError("response")
    left = error.get("code") in ("batch_expired", "batch_cancelled")
    return Result(key, None, "expired" if left else "error", _message(error))


def _anthropic_entry(key: str, payload: dict[str, Any]) -> dict[str, Any]:
    return {"custom_id": key, "params": payload}


def _anthropic_result(line: dict[str, Any]) -> Result:
    key, result = line["custom_id"], line["result"]
    kind = result["type"]
    if kind == "succeeded":
        return Result(key, result["message"])
    if kind in ("expired", "canceled"):
        return Result(key, None, "expired", f"the request is {kind}")
    error = result["error"]
    return Result(key, None, "error", _message(error.get("error") or error))


def _gemini_entry(key: str, payload: dict[str, Any]) -> dict[str, Any]:
    return {"key": key, "request": payload}


def _gemini_result(line: dict[str, Any]) -> Result:
    key, response = line["key"], line.get("response")
    if response:
        return Result(key, response)
    error = line.get("error") or line["status"]
    left = error.get("code") in (1, 4)  # google.rpc.Code: CANCELLED, DEADLINE_EXCEEDED
    return Result(key, None, "expired" if left else "error", _message(error))


def _message(error: Mapping[str, Any]) -> str:
    return str(error.get("message") or error.get("code") or error.get("type") or "no reason given")


_OPENAI = Form(
    module="timevista_hf.judges.openai",
    suffix=".jsonl",
    head=b"",
    between=b"\n",
    tail=b"\n",
    max_bytes=200_000_000,
    max_requests=50_000,
    entry=_openai_entry,
    result=_openai_result,
)
FORMS = {
    "openai": _OPENAI,
    "server": _OPENAI,
    "anthropic": replace(
        _OPENAI,
        module="timevista_hf.judges.anthropic",
        suffix=".json",
        head=b'{"requests":[\n',
        between=b",\n",
        tail=b"\n]}\n",
        max_bytes=256_000_000,
        max_requests=100_000,
        entry=_anthropic_entry,
        result=_anthropic_result,
    ),
    "gemini": replace(
        _OPENAI,
        module="timevista_hf.judges.gemini",
        max_bytes=2_000_000_000,
        max_requests=1_000_000,
        entry=_gemini_entry,
        result=_gemini_result,
    ),
}
