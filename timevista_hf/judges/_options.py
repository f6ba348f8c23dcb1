"""What can be chosen about a judge, and what of it a server was really sent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

from timevista_hf.rubrics import Modality

SchemaMode = Literal["json_schema", "json_object", "prompt"]
TokenField = Literal["max_completion_tokens", "max_tokens"]

THINKING_FLOOR = 4096  # tokens; a model that thinks may spend 3,000 before its first word


@dataclass(frozen=True, kw_only=True)
class JudgeOptions:
    """Choose how a model is asked.

    Parameters
    ----------
    modality : {"vision", "text"}
        Whether the model sees the plot or reads the numbers.
    temperature : float or None
        0 to 2; None leaves it to the server. Models that refuse it are asked without.
    max_tokens : int
        The longest reply, ≥ 1. Models known to think first are given 4,096 at least, as their
        thoughts count.
    logprobs : bool
        Whether the probabilities of the score's token are asked for, where they can be had.
    schema : {"json_schema", "json_object", "prompt"}
        The strictest way to ask for JSON; what a server refuses is replaced by the next.
    rationale : bool
        Whether the model says why before it scores. A hosted model always does.
    timeout : float
        Seconds that one attempt may take, > 0.
    concurrency : int
        The most requests in flight, ≥ 1; fewer where the server limits the rate.
    attempts : int
        How often a request is tried while the server is busy or out of reach, ≥ 1.

    Raises
    ------
    ValueError
        For a value outside its range.

    Examples
    --------
    >>> JudgeOptions(modality="text").temperature
    0.0
    """

    modality: Modality = "vision"
    temperature: float | None = 0.0
    max_tokens: int = 1024
    logprobs: bool = True
    schema: SchemaMode = "json_schema"
    rationale: bool = True
    timeout: float = 120.0
    concurrency: int = 32
    attempts: int = 6

    def __post_init__(self) -> None:
        for name, known in (("modality", get_args(Modality)), ("schema", get_args(SchemaMode))):
            if getattr(self, name) not in known:
                raise ValueError(
                    f"judge option `{name}` must be one of {', '.join(known)}, "
                    f"got {getattr(self, name)!r}"
                )
        for name in ("max_tokens", "concurrency", "attempts"):
            value = getattr(self, name)
            if type(value) is not int or value < 1:
                raise ValueError(
                    f"judge option `{name}` must be an integer of at least 1, got {value!r}"
                )
        if not self.timeout > 0:
            raise ValueError(f"judge option `timeout` must be above 0, got {self.timeout!r}")
        if self.temperature is not None and not 0 <= self.temperature <= 2:
            raise ValueError(
                f"judge option `temperature` must be from 0 to 2, got {self.temperature!r}"
            )


@dataclass(frozen=True, kw_only=True)
class Decoding:
    """What a server is sent beside the question; `refused` names what it would not take.

    Parameters
    ----------
    model : str
        As the provider spells it.
    max_tokens : int
    token_field : {"max_completion_tokens", "max_tokens"}
        How the limit is called; only the OpenAI dialect has two names for it.
    temperature : float or None
    top_logprobs : int
        Alternatives asked for at every token; 0 asks for no probabilities.
    schema : {"json_schema", "json_object", "prompt"}
    refused : tuple of str
        What was asked for before and is not any more.
    """

    model: str
    max_tokens: int
    token_field: TokenField = "max_tokens"
    temperature: float | None = None
    top_logprobs: int = 0
    schema: SchemaMode = "json_schema"
    refused: tuple[str, ...] = ()

    def fitted(self, *, scored: bool) -> Decoding:
        """Return what to send with a question; without a score no probabilities are needed."""
        return self if scored else replace(self, top_logprobs=0)

    def used(self, **reported: Any) -> Mapping[str, Any]:
        """Give what a reply records: the options sent, and what the server `reported`."""
        sent: dict[str, Any] = {
            "temperature": self.temperature,
            "max_tokens": self.max_tokens,
            "schema": self.schema,
            "top_logprobs": self.top_logprobs,
        }
        if self.refused:
            sent["refused"] = list(self.refused)
        return sent | {name: value for name, value in reported.items() if value}
