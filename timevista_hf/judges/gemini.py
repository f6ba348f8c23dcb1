"""The judge behind Google's own API: Gemini."""

from __future__ import annotations

import functools
import json
import os
from base64 import b64decode
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from timevista_hf.judges._access import Key, Secret, import_client
from timevista_hf.judges._base import Reply, Request
from timevista_hf.judges._ladder import AttemptError
from timevista_hf.judges._options import THINKING_FLOOR, Decoding, JudgeOptions
from timevista_hf.judges._presets import thinks
from timevista_hf.judges._remote import RemoteJudge, base64_of, count, text_in
from timevista_hf.judges._session import Send, wait_of
from timevista_hf.judges._spread import Token, spread_of

TOP_LOGPROBS = 10  # the five scores, each also with a space before it
_HOME = "https://generativelanguage.googleapis.com"


def payload(request: Request, decoding: Decoding) -> dict[str, Any]:
    """Write the body of ``generateContent``, also the `request` of a line in a batch file."""
    form: dict[str, Any] = {"maxOutputTokens": decoding.max_tokens}
    if decoding.temperature is not None:
        form["temperature"] = decoding.temperature
    if decoding.top_logprobs:
        form |= {"responseLogprobs": True, "logprobs": decoding.top_logprobs}
    if decoding.schema != "prompt":
        form["responseMimeType"] = "application/json"
    if decoding.schema == "json_schema":
        form["responseJsonSchema"] = request.question.reply_schema
    return {
        "contents": [{"role": "user", "parts": _shown(request)}],
        "systemInstruction": {"parts": [{"text": request.question.system_prompt}]},
        "generationConfig": form,
    }


def reply_of(response: Mapping[str, Any], decoding: Decoding) -> Reply:
    """Read the body of a response, in the camel case of the REST interface.

    Examples
    --------
    >>> blocked = {"promptFeedback": {"blockReason": "SAFETY"}}
    >>> reply_of(blocked, Decoding(model="m", max_tokens=3)).status
    'refused'
    """
    usage = response.get("usageMetadata")
    made: dict[str, Any] = {
        "options": decoding.used(model=response.get("modelVersion")),
        "input_tokens": count(usage, "promptTokenCount"),
        "output_tokens": count(usage, *_WRITTEN),
    }
    blocked = (response.get("promptFeedback") or {}).get("blockReason")
    if blocked:
        return Reply("", "refused", reason=f"the request was blocked: {blocked}", **made)
    if not response.get("candidates"):
        return Reply("", "error", reason="the response holds no candidate", **made)
    candidate = response["candidates"][0]
    parts = (candidate.get("content") or {}).get("parts") or []
    text = "".join(text_in(part.get("text")) for part in parts if not part.get("thought"))
    stopped = candidate.get("finishReason")
    if stopped in _FILTERED:
        return Reply("", "refused", reason=f"the reply was blocked: {stopped}", **made)
    if stopped == "MAX_TOKENS":
        reason = f"the reply was cut after {decoding.max_tokens} tokens (`max_tokens`)"
        return Reply(text, "truncated", reason=reason, **made)
    if stopped not in (None, "STOP"):
        return Reply(text, "error", reason=f"the reply was broken off: {stopped}", **made)
    spread = spread_of(text, _tokens(candidate))
    return Reply(text, expected_score=spread.expected, mass=spread.mass, **made)


class GeminiJudge(RemoteJudge):
    """Ask Gemini.

    Parameters
    ----------
    model : str
        As Google spells it.
    options : JudgeOptions
    name : str, optional
        As stored in judgments; ``gemini:MODEL`` where it is not given.

    Raises
    ------
    ValueError
        Where the package `google-genai` is not installed. That neither GEMINI_API_KEY nor
        GOOGLE_API_KEY is set is an error of the first question.
    """

    def __init__(
        self, model: str, options: JudgeOptions | None = None, *, name: str | None = None
    ) -> None:
        options, name = options or JudgeOptions(), name or f"gemini:{model}"
        _load_client(name)
        super().__init__(
            family="gemini",
            name=name,
            options=options,
            base_url=os.environ.get("GOOGLE_GEMINI_BASE_URL") or _HOME,
            key=Key(name, ("GEMINI_API_KEY", "GOOGLE_API_KEY")),
            decoding=Decoding(
                model=model,
                max_tokens=max(options.max_tokens, THINKING_FLOOR if thinks(model) else 0),
                temperature=options.temperature,
                top_logprobs=TOP_LOGPROBS if options.logprobs else 0,
                schema=options.schema,
            ),
        )

    def _write(self, request: Request, decoding: Decoding) -> dict[str, Any]:
        return payload(request, decoding)

    def _read(self, response: Mapping[str, Any], decoding: Decoding) -> Reply:
        return reply_of(response, decoding)

    @asynccontextmanager
    async def connect(self, key: Secret) -> AsyncIterator[Send]:
        """Open the provider's client; see `RemoteJudge.connect`."""
        import httpx2

        # With a client of our own it neither looks for another library nor tries twice unasked.
        async with httpx2.AsyncClient(timeout=self.options.timeout) as line:
            http = {
                "base_url": self.base_url,
                "httpx_async_client": line,
                "retry_options": {"attempts": 1},
            }
            client = _load_client(self.name).Client(
                api_key=key.reveal(), vertexai=False, http_options=http
            )
            yield functools.partial(self._send, client.aio.models)

    async def _send(self, models: Any, body: dict[str, Any]) -> Mapping[str, Any]:
        import httpx2

        failure: AttemptError | None = None
        try:
            said = await models.generate_content(model=self.model, **_as_arguments(body))
            return _read_json(said.sdk_http_response.body)
        except _load_client(self.name).errors.APIError as error:
            failure = _fault(error)
        except httpx2.TimeoutException:
            failure = AttemptError("no answer in time", code="timeout")
        except (httpx2.HTTPError, OSError) as error:
            failure = AttemptError(f"the connection failed ({type(error).__name__})")
        except ValueError as error:
            failure = AttemptError(f"the response cannot be read ({type(error).__name__})")
        raise failure


_load_client = functools.partial(
    import_client, module="google.genai", package="google-genai", extra="gemini"
)


def _shown(request: Request) -> list[dict[str, Any]]:
    question = {"text": request.prompt}
    if request.image is None:
        return [question]
    return [{"inlineData": {"mimeType": "image/png", "data": base64_of(request.image)}}, question]


def _as_arguments(body: Mapping[str, Any]) -> dict[str, Any]:
    """Turn the body into what the client takes; it wants the picture's bytes."""
    [content] = body["contents"]
    parts = []
    for part in content["parts"]:
        if "inlineData" in part:
            inline = part["inlineData"]
            part = {"inlineData": {**inline, "data": b64decode(inline["data"])}}
        parts.append(part)
    config = {
        **body["generationConfig"],
        "systemInstruction": body["systemInstruction"],
        "shouldReturnHttpResponse": True,
    }
    return {"contents": [{**content, "parts": parts}], "config": config}


def _read_json(body: str | None) -> Mapping[str, Any]:
    response = json.loads(body or "")
    if not isinstance(response, Mapping):
        raise ValueError("no JSON object")
    return response


def _fault(error: Any) -> AttemptError:
    headers = getattr(error.response, "headers", None) or {}
    details = error.details if isinstance(error.details, Mapping) else {}
    asked = _delay((details.get("error") or {}).get("details") or ())
    return AttemptError(
        str(error.message or "no reason given"),
        status=error.code,
        retry_after=wait_of({name.lower(): value for name, value in headers.items()}) or asked,
    )


def _delay(details: Sequence[Mapping[str, Any]]) -> float | None:
    """Read the wait that Google states in an error's body, as ``"7s"``."""
    for detail in details:
        delay = str(detail.get("retryDelay", "")).removesuffix("s")
        if delay:
            return wait_of({"retry-after": delay})
    return None


def _tokens(candidate: Mapping[str, Any]) -> Iterator[Token]:
    result = candidate.get("logprobsResult") or {}
    for chosen, top in zip(
        result.get("chosenCandidates") or (), result.get("topCandidates") or (), strict=False
    ):
        yield Token(
            spelling=chosen.get("token", "").encode(),
            likeliest=[
                (one.get("token", ""), one.get("logProbability", 0.0))
                for one in top.get("candidates") or ()
            ],
        )


_WRITTEN = ("candidatesTokenCount", "thoughtsTokenCount")
_FILTERED = (
    "SAFETY",
    "RECITATION",
    "LANGUAGE",
    "BLOCKLIST",
    "PROHIBITED_CONTENT",
    "SPII",
    "IMAGE_SAFETY",
)
