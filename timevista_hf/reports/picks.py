"""Which cases of a stream a page opens with: the worst, and a fair sample of all."""

from __future__ import annotations

import heapq
from typing import Generic, TypeVar

Entry = TypeVar("Entry")


class Picks(Generic[Entry]):
    """Keep the worst entries of a stream and a fair sample of it, whatever its length.

    The sample takes the same number from every group, as far as groups reach; inside of a group
    lots decide. What has fallen out of both is let go.

    Parameters
    ----------
    worst, sample : int
        How many are kept of each, ≥ 0.

    Examples
    --------
    >>> picks = Picks(worst=1, sample=2)
    >>> for number, group in enumerate("aaab"):
    ...     picks.offer(number, rank=(-number,), group=group, lot=number)
    >>> picks.worst(), picks.sample()
    ([3], [0, 3])
    """

    def __init__(self, *, worst: int, sample: int) -> None:
        self._sizes = (worst, sample)
        self._worst: list[tuple[tuple[float, ...], int, Entry]] = []  # heap, the best on top
        self._groups: dict[str, list[tuple[int, int, Entry]]] = {}  # heaps, the last lot on top
        self._sampled = 0
        self._offered = 0

    def offer(self, entry: Entry, *, rank: tuple[float, ...], group: str, lot: int) -> None:
        """Take an entry in where it belongs to the picks so far.

        Parameters
        ----------
        entry : Any
        rank : tuple of float
            The smallest is the worst; of equal ones the first offered is.
        group : str
            What the sample is spread over.
        lot : int
            Of the entries of a group those with the smallest lots are sampled.
        """
        self._offered += 1
        heapq.heappush(self._worst, (tuple(-part for part in rank), -self._offered, entry))
        if len(self._worst) > self._sizes[0]:
            heapq.heappop(self._worst)
        heapq.heappush(self._groups.setdefault(group, []), (-lot, -self._offered, entry))
        self._sampled += 1
        if self._sampled > self._sizes[1]:
            heapq.heappop(max(self._groups.values(), key=_fullness))
            self._sampled -= 1

    def worst(self) -> list[Entry]:
        """Return the worst entries, worst first."""
        return [entry for *_, entry in sorted(self._worst, key=_order, reverse=True)]

    def sample(self) -> list[Entry]:
        """Return the sample: of each group the first lot, then of each the second, and so on."""
        rounds = [
            (number, -lot, -place, entry)
            for heap in self._groups.values()
            for number, (lot, place, entry) in enumerate(sorted(heap, key=_order, reverse=True))
        ]
        return [entry for *_, entry in sorted(rounds, key=lambda found: found[:3])]


def _order(item: tuple[object, ...]) -> tuple[object, ...]:
    return item[:-1]


def _fullness(heap: list[tuple[int, int, Entry]]) -> tuple[int, int]:
    # What a group gives up here it could never get back: its share only shrinks as others grow.
    return (len(heap), -heap[0][0] if heap else 0)
