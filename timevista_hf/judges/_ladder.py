"""What to leave out when a server refuses a request, and what has been learned of that."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from timevista_hf.judges._failures import AttemptError, Option
from timevista_hf.judges._options import THINKING_FLOOR, Decoding, SchemaMode, TokenField

ALL_SCHEMAS: tuple[SchemaMode, ...] = ("json_schema", "json_object", "prompt")
BOTH_LIMITS: tuple[TokenField, ...] = ("max_completion_tokens", "max_tokens")
FEW_LOGPROBS = 5  # as many as there are scores
_VAIN = 2  # searches, after which the same refusal starts no other


@dataclass(eq=False)
class Ladder:
    """Know the ways down from a decoding, and which of them have helped.

    Parameters
    ----------
    schemas : sequence of str
        The ways the provider has to ask for JSON, strictest first.
    limits : sequence of str
        The names that the limit on tokens may have.

    Attributes
    ----------
    guess : Decoding, optional
        What one request was taken with, though the server had named nothing. It counts for all
        once another request is refused and taken with it: the first may have been a special one.
    vain : counter of str
        Refusals, by their words, that no leaving out has changed.
    """

    schemas: Sequence[SchemaMode] = ALL_SCHEMAS
    limits: Sequence[TokenField] = ("max_tokens",)
    guess: Decoding | None = None
    vain: Counter[str] = field(default_factory=Counter)

    def hopes(self, failure: AttemptError) -> bool:
        """Whether leaving something out may help against a refusal."""
        return failure.declines and self.vain[failure.words] < _VAIN

    def search(self, sent: Decoding, failure: AttemptError, *, scored: bool = True) -> Search:
        """Start to look for what to leave out of a request that was refused."""
        return Search(self, sent, failure, scored=scored)

    def steps(self, decoding: Decoding, option: Option) -> list[Decoding]:
        """Return decodings with less and less of one option."""
        if option == "logprobs":
            return list(_fewer_logprobs(decoding))
        if option == "schema":
            return list(_looser_schemas(decoding, self.schemas))
        if option == "temperature":
            return list(_no_temperature(decoding))
        return list(_other_limits(decoding, self.limits))

    def ways(self, decoding: Decoding, failure: AttemptError) -> Iterator[Decoding]:
        """Give the decodings to try after a refusal: what it names first, the dearest last."""
        for option in failure.blamed:
            steps = self.steps(decoding, option)
            # Where `logprobs` is the cause, and not their number, fewer are refused too.
            yield from steps[-1:] if failure.parameter == "logprobs" else steps
        if failure.status == 403:  # what is forbidden by name, and nothing else
            return
        below = list(self._below(decoding))
        yield from below
        for renamed in self.steps(decoding, "limit"):
            yield renamed
            yield from list(self._below(renamed))[-1:]

    def _below(self, decoding: Decoding) -> Iterator[Decoding]:
        for cooler in [decoding, *self.steps(decoding, "temperature")]:
            for looser in [cooler, *self.steps(cooler, "schema")]:
                fewer = self.steps(looser, "logprobs")
                yield from [looser, *(fewer if looser is decoding else fewer[-1:])]


class Search:
    """Look for what to leave out of one request, for as little as possible.

    Where a refusal stays the same, what was left out is put back. Where it turns into another one
    that does not name what was left out, the search goes on from there.

    Parameters
    ----------
    ladder : Ladder
    sent : Decoding
        What was refused.
    failure : AttemptError
        How.
    scored : bool
        Whether the request asks for probabilities at all.
    """

    def __init__(
        self, ladder: Ladder, sent: Decoding, failure: AttemptError, *, scored: bool
    ) -> None:
        self._ladder, self._sent, self._scored = ladder, sent, scored
        self._tried = {self._told(sent)}
        self._blamed: set[Option] = set()
        self._turn_to(sent, failure)

    def __iter__(self) -> Iterator[Decoding]:
        """Give what to send next, as long as there is hope; `learn` takes what came of it."""
        if self._ladder.guess is not None and self._is_new(self._ladder.guess):
            yield self._ladder.guess
        while (way := next(self._ways, None)) is not None:
            if self._is_new(way):
                yield way
        self._ladder.vain[self.failure.words] += 1

    def learn(self, way: Decoding, failure: AttemptError) -> None:
        """Take note of a refusal of `way` too."""
        changed = _changed(self._base, way)
        if failure.words != self.failure.words and not changed & {*failure.blamed}:
            self._turn_to(way, failure)

    def settle(self, way: Decoding) -> Decoding:
        """Take note that the server took `way`; return what to send from now on."""
        named = _changed(self._sent, way) <= self._blamed
        if named or way == self._ladder.guess:
            self._ladder.guess = None
            return way
        self._ladder.guess = way
        return self._sent

    def _turn_to(self, base: Decoding, failure: AttemptError) -> None:
        self._base, self.failure = base, failure
        self._blamed |= {*failure.blamed}
        hope = self._ladder.hopes(failure)
        self._ways = self._ladder.ways(base, failure) if hope else iter(())

    def _is_new(self, way: Decoding) -> bool:
        told = self._told(way)
        new = told not in self._tried
        self._tried.add(told)
        return new

    def _told(self, way: Decoding) -> Decoding:
        return replace(way.fitted(scored=self._scored), refused=())


def _fewer_logprobs(decoding: Decoding) -> Iterator[Decoding]:
    if decoding.top_logprobs > FEW_LOGPROBS:
        refused = f"top_logprobs={decoding.top_logprobs}"
        yield _without(decoding, refused, top_logprobs=FEW_LOGPROBS)
    if decoding.top_logprobs:
        yield _without(decoding, "logprobs", top_logprobs=0)


def _looser_schemas(decoding: Decoding, schemas: Sequence[SchemaMode]) -> Iterator[Decoding]:
    for looser in schemas[schemas.index(decoding.schema) + 1 :]:
        decoding = _without(decoding, decoding.schema, schema=looser)
        yield decoding


def _no_temperature(decoding: Decoding) -> Iterator[Decoding]:
    if decoding.temperature is not None:
        yield _without(decoding, f"temperature={decoding.temperature}", temperature=None)


def _other_limits(decoding: Decoding, limits: Sequence[TokenField]) -> Iterator[Decoding]:
    """Call the limit by its other name, unless that was refused before."""
    for other in limits:
        if other == decoding.token_field or other in decoding.refused:
            continue
        # Only models that think insist on the newer name, and their thoughts count.
        floor = THINKING_FLOOR if other == "max_completion_tokens" else 0
        limit = max(decoding.max_tokens, floor)
        yield _without(decoding, decoding.token_field, token_field=other, max_tokens=limit)


def _without(decoding: Decoding, refused: str, **changes: object) -> Decoding:
    return replace(decoding, refused=(*decoding.refused, refused), **changes)  # type: ignore[arg-type]


def _changed(before: Decoding, after: Decoding) -> set[Option]:
    pairs: dict[Option, bool] = {
        "logprobs": before.top_logprobs == after.top_logprobs,
        "schema": before.schema == after.schema,
        "temperature": before.temperature == after.temperature,
        "limit": before.token_field == after.token_field,
    }
    return {option for option, same in pairs.items() if not same}
