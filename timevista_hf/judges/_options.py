"""What can be chosen about a judge, and what of it a server was really sent."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

from timevista_hf.rubrics import Modality

SchemaMode = Literal["json_schema", "json_object", "prompt"]
TokenField = Literal["max_completion_tokens", "max_tokens"]

THINKING_FLOOR = 4096  # tokens; a model that thinks may spend 3,000 before its first word


@dataclass(frozen=True, kw_only=True)
class JudgeOptions:
    """Choose how a model is asked.

    What is given here comes before the options of a preset, and those before the defaults.

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
    body : mapping
        Fields of the provider's own that every request carries, as ``{"enable_thinking": False}``;
        mappings in it are merged with those that the judge writes.

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
    body: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def __new__(cls, **chosen: Any) -> JudgeOptions:
        """Remember the names that were given, also where their values are the defaults."""
        made = super().__new__(cls)
        object.__setattr__(made, "_chosen", tuple(chosen))
        return made

    def over(self, others: JudgeOptions) -> JudgeOptions:
        """Return these options, and the others' where nothing was given.

        Examples
        --------
        >>> JudgeOptions(max_tokens=1024).over(JudgeOptions(max_tokens=9, attempts=2)).attempts
        2
        """
        chosen: tuple[str, ...] = self._chosen  # type: ignore[attr-defined]
        return replace(others, **{name: getattr(self, name) for name in chosen})

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
        if not _is_number(self.timeout) or not self.timeout > 0:
            raise ValueError(f"judge option `timeout` must be above 0, got {self.timeout!r}")
        warm = self.temperature
        if warm is not None and not (_is_number(warm) and 0 <= warm <= 2):
            raise ValueError(
                f"judge option `temperature` must be from 0 to 2, got {self.temperature!r}"
            )
        if not isinstance(self.body, Mapping) or not _is_json(self.body):
            raise ValueError(f"judge option `body` must be a JSON object, got {self.body!r}")


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


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_json(value: Mapping[str, Any]) -> bool:
    try:
        return bool(value == json.loads(json.dumps(dict(value), allow_nan=False)))
    except (TypeError, ValueError):
        return False
