"""What all judges behind a network share."""

from __future__ import annotations

import asyncio
import functools
from abc import ABC, abstractmethod
from base64 import b64encode
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from itertools import islice
from typing import Any, ClassVar

from timevista_hf.judges._access import Key, Secret, check_url
from timevista_hf.judges._base import Reply, Request
from timevista_hf.judges._ladder import ALL_SCHEMAS, Ladder
from timevista_hf.judges._limiter import Limiter
from timevista_hf.judges._options import (
    THINKING_FLOOR,
    Decoding,
    JudgeOptions,
    SchemaMode,
    TokenField,
)
from timevista_hf.judges._presets import thinks
from timevista_hf.judges._session import Send, Session
from timevista_hf.rubrics import Modality


class RemoteJudge(ABC):
    """Ask a model behind a network.

    A subclass says how a question becomes a payload, how a response is read, and how it is sent.
    What the judge learns, as the parameters that the server refuses and the number of requests
    that it stands, is kept from one call of `ask` to the next.

    Parameters
    ----------
    family : str
        What provider it is.
    name : str
        As given on the command line.
    model : str
        As the provider spells it.
    options : JudgeOptions
    base_url : str
    key : Key
        Taken from the environment when the first question is asked.
    limits : sequence of str
        The names that the limit on tokens may have, that which is tried first in front.

    Raises
    ------
    ValueError
        For an address with credentials in it, for options that only local judges have, and for a
        `body` that holds what other options say.
    """

    schemas: ClassVar[Sequence[SchemaMode]] = ALL_SCHEMAS
    top_logprobs: ClassVar[int] = 10  # the five scores, each also with a space before it
    reserved: ClassVar[Sequence[str]]  # fields of the payload that are the judge's own

    def __init__(
        self,
        *,
        family: str,
        name: str,
        model: str,
        options: JudgeOptions,
        base_url: str,
        key: Key,
        limits: Sequence[TokenField] = ("max_tokens",),
    ) -> None:
        check_url(base_url)
        if not options.rationale:
            raise ValueError(f"judge {name!r}: only local judges can score without a rationale")
        for field in _names_in(options.body):
            if field in self.reserved:
                raise ValueError(f"judge {name!r}: `body` must not hold {field!r}: the judge does")
        self.family, self.name, self.options = family, name, options
        self.base_url = base_url.rstrip("/")
        self.decoding = Decoding(
            model=model,
            max_tokens=max(options.max_tokens, THINKING_FLOOR if thinks(model) else 0),
            token_field=limits[0],
            temperature=options.temperature,
            top_logprobs=self.top_logprobs if options.logprobs else 0,
            schema=options.schema if options.schema in self.schemas else self.schemas[-1],
        )
        self.ladder = Ladder(self.schemas, limits)
        self._most = self.decoding.max_tokens
        self._key = key
        self.limiter = Limiter(options.concurrency)
        self.backoff = 1.0  # seconds, doubled with every attempt
        self.sleep: Callable[[float], Awaitable[None]] = asyncio.sleep

    @property
    def model(self) -> str:
        """The model, as the provider spells it."""
        return self.decoding.model

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"

    @property
    def modality(self) -> Modality:
        """Whether the model sees the plot or reads the numbers."""
        return self.options.modality

    @property
    def identity(self) -> Mapping[str, Any]:
        """What can change an answer; as asked for, whatever a server refuses of it."""
        options = self.options
        return {
            "family": self.family,
            "model": self.model,
            "base_url": self.base_url,
            "modality": options.modality,
            "temperature": options.temperature,
            "max_tokens": self._most,
            "schema": options.schema,
            "logprobs": options.logprobs,
            **({"body": dict(options.body)} if options.body else {}),
        }

    def payload(self, request: Request, decoding: Decoding | None = None) -> dict[str, Any]:
        """Write the body of a request; without what the server has refused so far."""
        decoding = decoding or self.decoding
        written = self._write(request, decoding.fitted(scored=request.scored))
        return _merged(written, self.options.body)

    def reply_of(self, response: Mapping[str, Any], decoding: Decoding | None = None) -> Reply:
        """Read the body of a successful response to a payload with that decoding."""
        return self._read(response, decoding or self.decoding)

    @abstractmethod
    def _write(self, request: Request, decoding: Decoding) -> dict[str, Any]: ...

    @abstractmethod
    def _read(self, response: Mapping[str, Any], decoding: Decoding) -> Reply: ...

    @abstractmethod
    def connect(self, key: Secret) -> AbstractAsyncContextManager[Send]:
        """Open a client; what it gives sends a payload, or raises `AttemptError`."""

    def ask(self, requests: Iterable[Request]) -> Iterator[tuple[Request, Reply]]:
        """Answer every request once, in the order in which the answers come.

        Requests are taken in the caller's thread, and only as they can be sent. An iterator that
        is closed early cancels what is under way.
        """
        stream = iter(requests)
        if (first := next(stream, None)) is None:
            return
        with Session(self, self._key.take()) as session:
            session.submit(first)
            waiting = 1
            while True:
                for request in islice(stream, max(0, self.limiter.limit - waiting)):
                    session.submit(request)
                    waiting += 1
                if not waiting:
                    return
                yield session.take()
                waiting -= 1


@functools.lru_cache(maxsize=4)  # the rubrics of one case show the same picture
def base64_of(image: bytes) -> str:
    """Write a picture in base64."""
    return b64encode(image).decode("ascii")


def _names_in(body: Mapping[str, Any], place: str = "") -> Iterator[str]:
    for name, value in body.items():
        yield f"{place}{name}"
        if isinstance(value, Mapping):
            yield from _names_in(value, f"{place}{name}.")


def _merged(written: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(written)
    for name, value in own.items():
        inside = merged.get(name)
        both = isinstance(inside, Mapping) and isinstance(value, Mapping)
        merged[name] = _merged(inside, value) if both else value  # type: ignore[arg-type]
    return merged
