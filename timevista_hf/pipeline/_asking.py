"""What judging and detecting share: which questions are asked, and which answers are kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Generic, Protocol, TypeVar

from timevista_hf.judges import Judge, Reply, Request, Store
from timevista_hf.rubrics import UnparsableReplyError

WINDOW = 64  # cases held in memory at once


class _Outcome(Protocol):
    @property
    def status(self) -> str: ...


Case = TypeVar("Case")
Row = TypeVar("Row", bound=_Outcome)
Found = TypeVar("Found")


@dataclass(frozen=True, eq=False)
class Asked(Generic[Row]):
    """A request, and how its reply is read: one row for each part of the question."""

    request: Request
    read: Callable[[Reply], list[Row]]


@dataclass(frozen=True, eq=False)
class Answered(Generic[Case, Row]):
    """A case, its rows in the order of its questions, and the plot where one was shown."""

    case: Case
    rows: tuple[Row, ...]
    image: bytes | None
    reused: int  # rows that came from the store


def ask_all(
    cases: Iterable[Case],
    questions: Callable[[Case], list[Asked[Row]]],
    judge: Judge,
    store: Store | None,
) -> Iterator[Answered[Case, Row]]:
    """Ask what the store lacks, `WINDOW` cases at a time; keep what could be read."""
    stream = iter(cases)
    while window := list(islice(stream, WINDOW)):
        yield from _ask_window([(case, questions(case)) for case in window], judge, store)


def _ask_window(
    window: list[tuple[Case, list[Asked[Row]]]], judge: Judge, store: Store | None
) -> Iterator[Answered[Case, Row]]:
    keys = {one: one.request.key(judge.identity) for _, mine in window for one in mine}
    alike: dict[str, list[Asked[Row]]] = {}
    for one, key in keys.items():
        alike.setdefault(key, []).append(one)
    rows: dict[Asked[Row], list[Row]] = {}

    def settle(key: str, reply: Reply) -> bool:
        read = [one.read(reply) for one in alike[key]]
        rows.update(zip(alike[key], read, strict=True))
        return read[0][0].status == "ok"

    kept = {} if store is None else store.get(list(alike))
    reused = {key for key, reply in kept.items() if settle(key, reply)}
    asked = {same[0].request: key for key, same in alike.items() if key not in reused}
    for request, reply in judge.ask(asked):
        if settle(asked[request], reply) and store is not None:
            store.put(asked[request], reply)
    for case, mine in window:
        yield Answered(
            case=case,
            rows=tuple(row for one in mine for row in rows[one]),
            image=mine[0].request.image,
            reused=sum(len(rows[one]) for one in mine if keys[one] in reused),
        )


def parsed(reply: Reply, parse: Callable[[str], Found]) -> Found:
    """Parse a reply as it came, but for the words of the error: they quote it without a key.

    Raises
    ------
    UnparsableReplyError
    """
    try:
        return parse(reply.text)
    except UnparsableReplyError:
        parse(reply.masked.text)  # to say the same of what may be written
        raise UnparsableReplyError("the reply cannot be read") from None


def writable(reply: Reply, text: str) -> str:
    """Make of a text of a reply one that may be written: without a key, and in UTF-8.

    Half an emoji, which JSON can spell, has none.
    """
    return reply.hide(text).encode("utf-8", "replace").decode("utf-8")
