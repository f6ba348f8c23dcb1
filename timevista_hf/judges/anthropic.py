"""The judge behind Anthropic's own API: Claude."""

from __future__ import annotations

import functools
import os
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, ClassVar

from timevista_hf.judges._access import Key, Secret, import_client
from timevista_hf.judges._base import Reply, Request
from timevista_hf.judges._options import Decoding, JudgeOptions, SchemaMode
from timevista_hf.judges._reading import split_content, tolerant, without_answer
from timevista_hf.judges._remote import RemoteJudge, base64_of
from timevista_hf.judges._session import Send
from timevista_hf.judges._stainless import posting

_HOME = "https://api.anthropic.com"


def payload(request: Request, decoding: Decoding) -> dict[str, Any]:
    """Write the body of ``POST /v1/messages``, also the `params` of a request in a batch."""
    body: dict[str, Any] = {
        "model": decoding.model,
        "max_tokens": decoding.max_tokens,
        "system": request.question.system_prompt,
        "messages": [{"role": "user", "content": _shown(request)}],
    }
    if decoding.temperature is not None:
        body["temperature"] = decoding.temperature
    if decoding.schema == "json_schema":
        form = {"type": "json_schema", "schema": request.question.reply_schema}
        body["output_config"] = {"format": form}
    return body


@tolerant
def reply_of(response: Mapping[str, Any], decoding: Decoding) -> Reply:
    """Read the body of a message.

    Examples
    --------
    >>> said = {"content": [], "stop_reason": "refusal"}
    >>> reply_of(said, Decoding(model="m", max_tokens=3)).status
    'refused'
    """
    options = decoding.used(model=response.get("model"))
    text, thoughts = split_content(response.get("content"))
    stopped = response.get("stop_reason")
    if stopped == "refusal":
        return Reply("", "refused", reason="the model refused to answer", options=options)
    if stopped in ("max_tokens", "model_context_window_exceeded"):
        reason = f"the reply was cut after {decoding.max_tokens} tokens (`max_tokens`)"
        return Reply(text, "truncated", reason=reason, options=options)
    if thoughts and not text.strip():
        return without_answer(["thinking"], options)
    return Reply(text, options=options)


class AnthropicJudge(RemoteJudge):
    """Ask Claude.

    It tells no probabilities of tokens, so its judgments have no expected score.

    Parameters
    ----------
    model : str
        As Anthropic spells it.
    options : JudgeOptions
    name : str, optional
        As stored in judgments; ``anthropic:MODEL`` where it is not given.

    Raises
    ------
    ValueError
        Where the package `anthropic` is not installed. A missing ANTHROPIC_API_KEY is an error of
        the first question.
    """

    schemas: ClassVar[Sequence[SchemaMode]] = ("json_schema", "prompt")
    top_logprobs: ClassVar[int] = 0
    reserved: ClassVar[Sequence[str]] = (
        *("model", "messages", "system", "temperature", "max_tokens", "output_config.format"),
        "stream",
    )

    def __init__(
        self, model: str, options: JudgeOptions | None = None, *, name: str | None = None
    ) -> None:
        options, name = options or JudgeOptions(), name or f"anthropic:{model}"
        _load_client(name)
        super().__init__(
            family="anthropic",
            name=name,
            model=model,
            options=options,
            base_url=os.environ.get("ANTHROPIC_BASE_URL") or _HOME,
            key=Key(name, ("ANTHROPIC_API_KEY",)),
        )

    def _write(self, request: Request, decoding: Decoding) -> dict[str, Any]:
        return payload(request, decoding)

    def _read(self, response: Mapping[str, Any], decoding: Decoding) -> Reply:
        return reply_of(response, decoding)

    @asynccontextmanager
    async def connect(self, key: Secret) -> AsyncIterator[Send]:
        """Open the provider's client; see `RemoteJudge.connect`."""
        anthropic = _load_client(self.name)
        client = anthropic.AsyncAnthropic(
            api_key=key.reveal(),
            base_url=self.base_url,
            max_retries=0,
            timeout=self.options.timeout,
        )
        async with client:
            yield posting(anthropic, client, "/v1/messages")


_load_client = functools.partial(
    import_client, module="anthropic", package="anthropic", extra="anthropic"
)


def _shown(request: Request) -> list[dict[str, Any]]:
    question = {"type": "text", "text": request.prompt}
    if request.image is None:
        return [question]
    source = {"type": "base64", "media_type": "image/png", "data": base64_of(request.image)}
    return [{"type": "image", "source": source}, question]
