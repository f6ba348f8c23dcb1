"""The judge behind Google's own API: Gemini."""

from __future__ import annotations

import functools
import os
from base64 import b64decode
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, ClassVar

from timevista_hf.judges._access import Key, Secret, import_client
from timevista_hf.judges._base import Reply, Request
from timevista_hf.judges._failures import AttemptError
from timevista_hf.judges._options import Decoding, JudgeOptions
from timevista_hf.judges._reading import fault, json_in, split_content, tolerant, without_answer
from timevista_hf.judges._remote import RemoteJudge, base64_of
from timevista_hf.judges._session import Send
from timevista_hf.judges._spread import Token, spread_of

_HOME = "https://generativelanguage.googleapis.com"
_FORM = (
    *("maxOutputTokens", "temperature", "responseLogprobs", "logprobs"),
    *("responseMimeType", "responseJsonSchema"),
)


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


@tolerant
def reply_of(response: Mapping[str, Any], decoding: Decoding) -> Reply:
    """Read the body of a response, in the camel case of the REST interface.

    Examples
    --------
    >>> blocked = {"promptFeedback": {"blockReason": "SAFETY"}}
    >>> reply_of(blocked, Decoding(model="m", max_tokens=3)).status
    'refused'
    """
    options = decoding.used(model=response.get("modelVersion"))
    blocked = (response.get("promptFeedback") or {}).get("blockReason")
    if blocked:
        reason = f"the request was blocked: {blocked}"
        return Reply("", "refused", reason=reason, options=options)
    if not response.get("candidates"):
        return Reply("", "error", reason="the response holds no candidate", options=options)
    candidate = response["candidates"][0]
    text, thoughts = split_content((candidate.get("content") or {}).get("parts"))
    stopped = candidate.get("finishReason")
    if stopped in _FILTERED:
        reason = f"the reply was blocked: {stopped}"
        return Reply("", "refused", reason=reason, options=options)
    if stopped == "MAX_TOKENS":
        reason = f"the reply was cut after {decoding.max_tokens} tokens (`max_tokens`)"
        return Reply(text, "truncated", reason=reason, options=options)
    if stopped not in (None, "STOP"):
        reason = f"the reply was broken off: {stopped}"
        return Reply(text, "error", reason=reason, options=options)
    if thoughts and not text.strip():
        return without_answer(["thought"], options)
    spread = spread_of(text, _tokens(candidate))
    return Reply(text, expected_score=spread.expected, mass=spread.mass, options=options)


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

    reserved: ClassVar[Sequence[str]] = (
        *("contents", "systemInstruction"),
        *(f"generationConfig.{name}" for name in _FORM),
    )

    def __init__(
        self, model: str, options: JudgeOptions | None = None, *, name: str | None = None
    ) -> None:
        options, name = options or JudgeOptions(), name or f"gemini:{model}"
        _load_client(name)
        super().__init__(
            family="gemini",
            name=name,
            model=model,
            options=options,
            base_url=os.environ.get("GOOGLE_GEMINI_BASE_URL") or _HOME,
            key=Key(name, ("GEMINI_API_KEY", "GOOGLE_API_KEY")),
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
            arguments = _as_arguments(body, self.options.body)
            said = await models.generate_content(model=self.model, **arguments)
            return json_in(said.sdk_http_response.body or "")
        except AttemptError as error:
            failure = error
        except _load_client(self.name).errors.APIError as error:
            headers = dict(getattr(error.response, "headers", None) or {})
            lower = {name.lower(): value for name, value in headers.items()}
            failure = fault(error.details, status=error.code, headers=lower)
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


def _as_arguments(body: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """Turn the body into what the client takes: the picture's bytes, and what is `own` apart."""
    [content] = body["contents"]
    parts = []
    for part in content["parts"]:
        if "inlineData" in part:
            inline = part["inlineData"]
            part = {"inlineData": {**inline, "data": b64decode(inline["data"])}}
        parts.append(part)
    form = body["generationConfig"]
    config = {
        **{name: form[name] for name in _FORM if name in form},
        "systemInstruction": body["systemInstruction"],
        "shouldReturnHttpResponse": True,
        "httpOptions": {"extraBody": dict(own)} if own else None,
    }
    return {"contents": [{**content, "parts": parts}], "config": config}


def _tokens(candidate: Mapping[str, Any]) -> Iterator[Token]:
    result = candidate.get("logprobsResult") or {}
    for chosen, top in zip(
        result.get("chosenCandidates") or (), result.get("topCandidates") or (), strict=False
    ):
        yield Token(
            spelling=chosen.get("token", "").encode(),
            likeliest=[
                # Google leaves out a number that is 0.
                (one.get("token", ""), one.get("logProbability", 0.0))
                for one in top.get("candidates") or ()
            ],
        )


_FILTERED = (
    "SAFETY",
    "RECITATION",
    "LANGUAGE",
    "BLOCKLIST",
    "PROHIBITED_CONTENT",
    "SPII",
    "IMAGE_SAFETY",
)
