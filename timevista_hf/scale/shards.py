"""Shards: split a run over processes or machines by hash, and join their stores of answers."""

from __future__ import annotations

import hashlib
import json
import re
import sqlite3
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from timevista_hf.cases import ForecastCase
from timevista_hf.judges import Judge, Reply, Request, Store

_BATCH = 500  # rows of a store held in memory at once


def shard_of(key: str, count: int) -> int:
    """Return which of `count` shards a key belongs to, the same on every machine.

    Parameters
    ----------
    key : str
        Any text; similar keys fall into unrelated shards.
    count : int
        Number of shards, ≥ 1.

    Returns
    -------
    int
        From 0 to `count` − 1, each for the same share of keys.

    Raises
    ------
    ValueError
        For a `count` below 1.

    Examples
    --------
    >>> [shard_of(key, 3) for key in ("a", "b", "c", "d")]
    [1, 1, 2, 2]
    """
    if count < 1:
        raise ValueError(f"`count` must be at least 1, got {count!r}")
    digest = hashlib.sha256(key.encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8], "big") % count


@dataclass(frozen=True)
class Shard:
    """One of several equal parts of a run: number 1 of 4, 2 of 4, and so on.

    Parameters
    ----------
    number : int
        From 1 to `count`.
    count : int
        Number of parts, ≥ 1.

    Raises
    ------
    ValueError
        For numbers outside of these ranges.

    Examples
    --------
    >>> parts = [Shard(number, 3) for number in (1, 2, 3)]
    >>> [str(part) for part in parts if part.holds("a")]
    ['2/3']
    """

    number: int
    count: int

    def __post_init__(self) -> None:
        if not 1 <= self.number <= self.count:
            raise ValueError(f"a shard is one of 1/N to N/N, got '{self}'")

    @classmethod
    def parse(cls, text: str) -> Shard:
        """Read a shard as a command line gives it, such as ``"2/8"``.

        Raises
        ------
        ValueError
            For any other text.
        """
        found = re.fullmatch(r"([0-9]{1,6})/([0-9]{1,6})", text.strip())
        if not found:
            raise ValueError(f"a shard is written as NUMBER/COUNT, such as 2/8, got {text!r}")
        return cls(int(found[1]), int(found[2]))

    def __str__(self) -> str:
        return f"{self.number}/{self.count}"

    def holds(self, key: str) -> bool:
        """Return whether a key belongs to this shard."""
        return shard_of(key, self.count) == self.number - 1


def select_cases(cases: Iterable[ForecastCase], shard: Shard) -> Iterator[ForecastCase]:
    """Pass on the cases of one shard, in their order.

    A case is placed by the numbers that a judge is shown, before anything is drawn. So all
    rubrics of a case share a shard, and so do cases with equal forecasts, which are asked once.

    Parameters
    ----------
    cases : iterable of ForecastCase
        The same cases on every machine; the order does not matter.
    shard : Shard

    Yields
    ------
    ForecastCase

    Examples
    --------
    >>> case = ForecastCase(id="a", history=[1, 2, 3], truth=[4, 5], prediction=[4, 5])
    >>> [len(list(select_cases([case], Shard(number, 2)))) for number in (1, 2)]
    [0, 1]
    """
    return (case for case in cases if shard.holds(_fingerprint(case)))


def select_requests(requests: Iterable[Request], judge: Judge, shard: Shard) -> Iterator[Request]:
    """Pass on the requests of one shard by the key of their answer, in their order.

    Parameters
    ----------
    requests : iterable of Request
    judge : Judge
        Who will be asked; its identity is part of the key.
    shard : Shard

    Yields
    ------
    Request

    Examples
    --------
    >>> from timevista_hf.judges import load_judge
    >>> list(select_requests([], load_judge("mock"), Shard(1, 2)))
    []
    """
    identity = judge.identity
    return (request for request in requests if shard.holds(request.key(identity)))


@dataclass(frozen=True)
class MergeCounts:
    """What a merge did with the answers that it read."""

    added: int  # new to the target
    known: int  # the target held the same answer
    conflicts: int  # the target held another answer, which it keeps


def merge_stores(target: str | Path, sources: Sequence[str | Path]) -> MergeCounts:
    """Copy the answers of several stores into one; the first answer to a question wins.

    What the target holds stays as it is; then the sources count in their order. The sources are
    only read, a few answers at a time. A merge that was stopped can be run again.

    Parameters
    ----------
    target : str or Path
        The store that grows; made where it does not exist.
    sources : sequence of str or Path
        Stores of other shards; at least one.

    Returns
    -------
    MergeCounts

    Raises
    ------
    ValueError
        Where a source is missing, damaged, no store or the target itself. All are checked before
        the first answer is copied.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> with Store(folder / "1.sqlite") as store:
    ...     store.put("0" * 64, Reply(text="an answer"))
    >>> merge_stores(folder / "all.sqlite", [folder / "1.sqlite"])
    MergeCounts(added=1, known=0, conflicts=0)
    """
    if not sources:
        raise ValueError(f"{target}: there is no store to merge into it")
    for source in sources:
        _check(Path(source), Path(target))
    counts = {"added": 0, "known": 0, "conflicts": 0}
    with Store(target) as store:
        for source in sources:
            rows = _rows(Path(source))
            while batch := dict(islice(rows, _BATCH)):
                for outcome in _merge(store, batch):
                    counts[outcome] += 1
    return MergeCounts(**counts)


def _merge(store: Store, batch: dict[str, Reply]) -> Iterator[str]:
    kept = store.get(list(batch))
    for key, reply in batch.items():
        if key not in kept:
            store.put(key, reply)
            yield "added"
        else:
            yield "known" if kept[key] == reply else "conflicts"


def _check(source: Path, target: Path) -> None:
    if not source.is_file():
        raise ValueError(f"{source}: there is no such store of judgments")
    if target.exists() and target.samefile(source):
        raise ValueError(f"{source}: is the store to merge into; name the others only")
    with closing(_rows(source)) as rows:
        next(rows, None)


def _rows(path: Path) -> Generator[tuple[str, Reply], None, None]:
    """Stream a store that may belong to another process, without writing to it."""
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as file:
            for key, reply in file.execute("SELECT key, reply FROM replies"):
                yield key, _reply(key, reply)
    except (sqlite3.Error, TypeError, ValueError) as error:
        raise ValueError(f"{path}: cannot be read as a store of judgments: {error}") from error


def _reply(key: object, text: str) -> Reply:
    if not isinstance(key, str) or not re.fullmatch(r"[0-9a-f]{64}", key):
        raise ValueError(f"{key!r} is not the key of an answer")
    return Reply(**json.loads(text))


def _fingerprint(case: ForecastCase) -> str:
    digest = hashlib.sha256(f"{case.season_length}|{case.history.size}|".encode())
    for array in (case.history, case.truth, case.prediction):
        digest.update(array.tobytes())
    return digest.hexdigest()
