"""The judge behind an OpenAI-compatible server: OpenAI, Hugging Face's router, vLLM, llama.cpp."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, ClassVar

from timevista_hf.judges._access import Key, Secret, check_url
from timevista_hf.judges._base import Reply, Request
from timevista_hf.judges._failures import filters
from timevista_hf.judges._ladder import BOTH_LIMITS
from timevista_hf.judges._options import Decoding, JudgeOptions
from timevista_hf.judges._reading import is_thought, split_content, tolerant, without_answer
from timevista_hf.judges._remote import RemoteJudge, base64_of
from timevista_hf.judges._session import Send
from timevista_hf.judges._spread import Token, spread_of
from timevista_hf.judges._stainless import posting

_HOME = "https://api.openai.com/v1"
_ROUTER = "https://router.huggingface.co/v1"


def payload(request: Request, decoding: Decoding) -> dict[str, Any]:
    """Write the body of ``POST /chat/completions``, also the `body` of a line in a batch file.

    What the questions on one case share comes first, so that a server can reuse it.
    """
    body: dict[str, Any] = {
        "model": decoding.model,
        "messages": [
            {"role": "system", "content": request.question.system_prompt},
            {"role": "user", "content": _shown(request)},
        ],
        decoding.token_field: decoding.max_tokens,
    }
    if decoding.temperature is not None:
        body["temperature"] = decoding.temperature
    if decoding.top_logprobs:
        body |= {"logprobs": True, "top_logprobs": decoding.top_logprobs}
    if decoding.schema == "json_schema":
        schema = {"name": "verdict", "strict": True, "schema": request.question.reply_schema}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    elif decoding.schema == "json_object":
        body["response_format"] = {"type": "json_object"}
    return body


@tolerant
def reply_of(response: Mapping[str, Any], decoding: Decoding) -> Reply:
    """Read the body of a response with status 200.

    Examples
    --------
    >>> said = {"message": {"content": '{"score'}, "finish_reason": "length"}
    >>> reply_of({"choices": [said]}, Decoding(model="m", max_tokens=3)).status
    'truncated'
    """
    options = decoding.used(
        model=response.get("model"), fingerprint=response.get("system_fingerprint")
    )
    if not response.get("choices"):
        said = response.get("message") or response.get("detail")
        reason = f"the response holds no choice{f': {said}' if said else ''}"
        return Reply("", "error", reason=reason, options=options)
    choice = response["choices"][0]
    message = choice.get("message") or {}
    text, thoughts = split_content(message.get("content"))
    stopped = str(choice.get("finish_reason") or "").lower()
    if refusal := _refusal(message, stopped):
        return Reply("", "refused", reason=refusal, options=options)
    if stopped in _CUT:
        reason = f"the reply was cut after {decoding.max_tokens} tokens (`max_tokens`)"
        return Reply(text, "truncated", reason=reason, options=options)
    if "error" in stopped:
        return Reply(text, "error", reason="the server broke off the reply", options=options)
    beside = [name for name, value in message.items() if value and is_thought(name)]
    if not text.strip() and (thoughts or beside):
        return without_answer(beside or ["content"], options)
    spread = spread_of(text, _tokens(choice))
    return Reply(text, expected_score=spread.expected, mass=spread.mass, options=options)


def _refusal(message: Mapping[str, Any], stopped: str) -> str:
    content = message.get("content")
    parts = content if isinstance(content, list) else []
    refusals = [message.get("refusal"), *(part.get("refusal") for part in parts)]
    said = next((one for one in refusals if one), "")
    return str(said or ("a content filter stopped the reply" if filters(stopped) else ""))


class OpenAIJudge(RemoteJudge):
    """Ask a model at OpenAI, or at a server that speaks its language.

    Parameters
    ----------
    model : str
        As the server spells it.
    options : JudgeOptions
    name : str, optional
        As stored in judgments; ``openai:MODEL`` where it is not given.
    family : str
        ``"openai"``, ``"hf"`` or ``"server"``.
    base_url : str, optional
        OPENAI_BASE_URL, or OpenAI's own, where it is not given.
    key : Key, optional
        OPENAI_API_KEY where it is not given.

    Raises
    ------
    ValueError
        Where the address is not one. A missing key is an error of the first question.
    """

    reserved: ClassVar[Sequence[str]] = (
        *("model", "messages", "temperature", "logprobs", "top_logprobs", "response_format"),
        *("max_tokens", "max_completion_tokens", "n", "stream"),
    )

    def __init__(
        self,
        model: str,
        options: JudgeOptions | None = None,
        *,
        name: str | None = None,
        family: str = "openai",
        base_url: str | None = None,
        key: Key | None = None,
    ) -> None:
        options, name = options or JudgeOptions(), name or f"{family}:{model}"
        super().__init__(
            family=family,
            name=name,
            model=model,
            options=options,
            base_url=base_url or os.environ.get("OPENAI_BASE_URL") or _HOME,
            key=key or Key(name, ("OPENAI_API_KEY",)),
            # OpenAI takes the newer name from every model; others may know the older one only.
            limits=BOTH_LIMITS if family == "openai" else BOTH_LIMITS[::-1],
        )

    def _write(self, request: Request, decoding: Decoding) -> dict[str, Any]:
        return payload(request, decoding)

    def _read(self, response: Mapping[str, Any], decoding: Decoding) -> Reply:
        return reply_of(response, decoding)

    @asynccontextmanager
    async def connect(self, key: Secret) -> AsyncIterator[Send]:
        """Open the provider's client; see `RemoteJudge.connect`."""
        import openai

        client = openai.AsyncOpenAI(
            api_key=key.reveal() or "none",  # the client wants one, also where the server does not
            base_url=self.base_url,
            max_retries=0,
            timeout=self.options.timeout,
        )

        async with client:
            yield posting(openai, client, "/chat/completions")


def router_judge(model: str, options: JudgeOptions | None = None, *, name: str) -> OpenAIJudge:
    """Make the judge of a model behind Hugging Face Inference Providers; its key is HF_TOKEN."""
    url = os.environ.get("HF_ROUTER_BASE_URL") or _ROUTER
    key = Key(name, ("HF_TOKEN",))
    return OpenAIJudge(model, options, name=name, family="hf", base_url=url, key=key)


def server_judge(
    address: str,
    options: JudgeOptions | None = None,
    *,
    name: str | None = None,
    key: str = "TIMEVISTA_SERVER_KEY",
    needed: bool = False,
) -> OpenAIJudge:
    """Make the judge of a model at a server of one's own.

    Parameters
    ----------
    address : str
        ``URL#MODEL``, as ``http://localhost:8000/v1#Qwen/Qwen3-VL-8B-Instruct``.
    options : JudgeOptions
    name : str, optional
        As stored in judgments; ``server:URL#MODEL`` where it is not given.
    key : str
        The environment variable of the key, where the server wants one.
    needed : bool
        Whether it does.

    Raises
    ------
    ValueError
        For an address without a model, or with credentials.
    """
    url, _, model = address.partition("#")
    check_url(url)
    if not model:
        raise ValueError(f"judge at {url!r}: must name a model, as server:{url}#MODEL")
    name = name or f"server:{address}"
    source = Key(name, (key,), needed=needed)
    return OpenAIJudge(model, options, name=name, family="server", base_url=url, key=source)


def _shown(request: Request) -> str | list[dict[str, Any]]:
    if request.image is None:
        return request.prompt
    url = f"data:image/png;base64,{base64_of(request.image)}"
    return [
        {"type": "image_url", "image_url": {"url": url}},
        {"type": "text", "text": request.prompt},
    ]


def _tokens(choice: Mapping[str, Any]) -> Iterator[Token]:
    for entry in (choice.get("logprobs") or {}).get("content") or ():
        spelling = entry.get("bytes")
        yield Token(
            spelling=entry["token"].encode() if spelling is None else bytes(spelling),
            likeliest=[(one["token"], one["logprob"]) for one in entry.get("top_logprobs") or ()],
        )


_CUT = ("length", "max_tokens", "model_length")  # the last is Mistral's
