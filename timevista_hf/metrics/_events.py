"""Read events from what users pass: checked, and counted from the start of their range."""

from __future__ import annotations

import math
import operator
import sys
from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, repeat
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from timevista_hf.metrics._zones import Event, Events


@dataclass(frozen=True, eq=False)
class EventTable:
    """Hold the events of N samples in one array, the fastest form to score.

    Columnar files keep nested lists this way: all values, and how many each row has.

    Parameters
    ----------
    events : array_like of shape (E, 2)
        Half-open (start, stop), those of the first sample first.
    counts : array_like of shape (N,)
        How many events each sample has.

    Raises
    ------
    ValueError
        For arrays of another shape or that hold no numbers, and for counts that do not add up.

    Examples
    --------
    >>> table = EventTable([[0, 2], [5, 7], [3, 4]], counts=[2, 0, 1])
    >>> [events.tolist() for events in table]
    [[[0, 2], [5, 7]], [], [[3, 4]]]
    """

    events: np.ndarray  # [E, 2]
    counts: np.ndarray  # [N]

    def __post_init__(self) -> None:
        events, counts = np.asarray(self.events), np.asarray(self.counts)
        if events.size == 0:
            events = np.zeros((0, 2))
        if not _is_table(events):
            raise ValueError(f"`events` must be pairs of numbers, got {self.events!r}")
        if counts.ndim != 1 or counts.dtype.kind not in "iu" or (counts < 0).any():
            raise ValueError(f"`counts` must be integers of at least 0, got {self.counts!r}")
        if counts.sum() != len(events):
            raise ValueError(
                f"`counts` add up to {counts.sum()} but there are {len(events)} events"
            )
        object.__setattr__(self, "events", events)
        object.__setattr__(self, "counts", counts.astype(np.intp))

    def __len__(self) -> int:
        return len(self.counts)

    def __iter__(self) -> Iterator[np.ndarray]:
        return iter(np.split(self.events, np.cumsum(self.counts))[:-1])


class Ranges(NamedTuple):
    """The ranges of N samples."""

    pairs: list[Any]  # [N], as passed
    lengths: array[float]  # [N]
    origins: array[float]  # [N], what the times in `Columns` still count from
    exact: list[Any] | None = None  # [N], what they counted from, where a float cannot hold it


class Columns(NamedTuple):
    """The events of N samples as passed, and as numbers whose order is not checked."""

    name: str
    rows: list[Any] | EventTable  # [N]
    counts: Any  # [N]
    times: Any  # [2 E], an array of floats: a start, its stop, the next start


def read_samples(name: str, samples: Any) -> list[Any] | EventTable:
    """List the samples, each a list of events."""
    if isinstance(samples, EventTable):
        return samples
    try:
        return list(samples)
    except TypeError as error:
        raise ValueError(f"`{name}` must be a sequence of samples, got {samples!r}") from error


def read_ranges(ranges: Any, count: int) -> Ranges:
    """Read one range for all samples, or one each."""
    entries = ranges.tolist() if isinstance(ranges, np.ndarray) else ranges
    if _is_pair(entries):
        return _read_pair(entries, count)
    try:
        pairs = list(entries)
    except TypeError as error:
        rule = "must be one pair (start, stop) or one a sample"
        raise ValueError(f"`ranges` {rule}, got {entries!r}") from error
    if len(pairs) != count:
        raise ValueError(f"`ranges` has {len(pairs)} entries for {count} samples")
    return _read_pairs(pairs)


def read_columns(
    name: str, rows: list[Any] | EventTable, ranges: Ranges, *, merge: bool
) -> Columns:
    """Read the events of all samples as numbers."""
    try:
        counts = rows.counts if isinstance(rows, EventTable) else list(map(len, rows))
        if ranges.exact is None:
            times = _floats(rows)
        else:
            origins = chain.from_iterable(map(repeat, ranges.exact, (2 * n for n in counts)))
            times = _shifted(_numbers(rows), origins)
    except (TypeError, ValueError, OverflowError) as error:
        raise _event_fault(name, rows, ranges, merge=merge) from error
    return Columns(name, rows, counts, times)


def split_events(rows: Any, ranges: Ranges) -> list[list[Event]] | None:
    """List the events of samples; None where there are many, or not all plain and in order."""
    samples = []
    try:
        if sum(map(len, rows)) > _FEW_EVENTS:
            return None
        for row, origin, length in zip(rows, ranges.origins, ranges.lengths, strict=True):
            events = []
            last = _BELOW_ZERO
            for start, stop in row.tolist() if type(row) is np.ndarray else row:
                a, b = start - origin, stop - origin
                if not last < a < b <= length or type(a) is not float or type(b) is not float:
                    return None
                events.append((a, b))
                last = b
            samples.append(events)
    except (TypeError, ValueError, OverflowError):
        return None
    return samples


def flatten_events(columns: Columns, ranges: Ranges, *, merge: bool) -> Events:
    """Check the events, join them where asked to, and keep them in arrays."""
    lengths, origins = np.asarray(ranges.lengths), np.asarray(ranges.origins)  # [N]
    counts = np.asarray(columns.counts, dtype=np.intp)  # [N]
    samples = np.repeat(np.arange(lengths.size), counts)  # [E]
    times = np.asarray(columns.times)
    starts, stops = times[::2] - origins[samples], times[1::2] - origins[samples]
    if merge:
        if not ((starts <= stops) & np.isfinite(starts) & np.isfinite(stops)).all():
            raise _event_fault(columns.name, columns.rows, ranges, merge=True)
        starts, stops, samples = _join(starts, stops, samples, lengths[samples])
        counts = np.bincount(samples, minlength=lengths.size)
    good = (starts >= 0) & (starts < stops) & (stops <= lengths[samples])
    good[1:] &= (starts[1:] > stops[:-1]) | (samples[1:] != samples[:-1])
    if not good.all():
        raise _event_fault(columns.name, columns.rows, ranges)
    return Events(starts, stops, samples, np.concatenate([[0], np.cumsum(counts)]))


def _read_pair(pair: Any, count: int) -> Ranges:
    low, high = pair
    if type(low) in _PLAIN and type(high) in _PLAIN and -_BEYOND_WHOLE < low < high < _BEYOND_WHOLE:
        lengths, origins = array("d", (high - low,)), array("d", (low,))
        return Ranges([pair] * count, lengths * count, origins * count)
    pairs, lengths, origins, exact = _read_pairs([pair])
    return Ranges(pairs * count, lengths * count, origins * count, exact and exact * count)


def _read_pairs(pairs: list[Any]) -> Ranges:
    try:
        times = array("d", _numbers([pairs]))
        lows, exact = times[::2], None
        lengths = array("d", map(operator.sub, times[1::2], lows))
        if pairs and not -_BEYOND_WHOLE < min(times) <= max(times) < _BEYOND_WHOLE:
            exact = [_exact(low) for low, _ in pairs]
            lengths = _shifted([high for _, high in pairs], exact)
            lows = array("d", bytes(8 * len(pairs)))
    except (TypeError, ValueError, OverflowError) as error:
        raise _range_fault(pairs) from error
    if not all(map(math.isfinite, lengths)) or min(lengths, default=1.0) <= 0:
        raise _range_fault(pairs)
    return Ranges(pairs, lengths, lows, exact)


def _floats(rows: list[Any] | EventTable) -> Any:
    if isinstance(rows, EventTable):
        return rows.events.astype(np.float64).ravel()
    if rows and all(map(_is_table, rows)):
        return np.concatenate(rows, dtype=np.float64, casting="unsafe").ravel()
    return array("d", _numbers(rows))  # refuses text, which numpy would read


def _numbers(rows: list[Any] | EventTable) -> list[Any]:
    """List a start, its stop, the next start."""
    if np.ndarray in set(map(type, rows)):
        rows = [row.tolist() if isinstance(row, np.ndarray) else row for row in rows]
    if not set(map(len, chain.from_iterable(rows))) <= {2}:
        raise ValueError("not all events are pairs")
    return list(chain.from_iterable(chain.from_iterable(rows)))


def _shifted(times: list[Any], origins: Iterable[Any]) -> array[float]:
    array("d", times)  # refuses text, which int would read
    return array("d", map(operator.sub, map(_exact, times), origins))


def _exact(time: Any) -> int | float:
    return int(time) if float(time).is_integer() else float(time)


def _join(
    starts: np.ndarray, stops: np.ndarray, samples: np.ndarray, lengths: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Clip the events to their range and unite those that overlap or touch."""
    starts, stops = np.maximum(starts, 0.0), np.minimum(stops, lengths)
    kept = starts < stops
    times = np.concatenate([starts[kept], stops[kept]])
    samples = np.tile(samples[kept], 2)
    steps = np.repeat([1, -1], times.size // 2)  # an event opens, an event closes
    order = np.lexsort((-steps, times, samples))  # where two touch, the second opens first
    times, samples, steps = times[order], samples[order], steps[order]
    open_events = np.cumsum(steps)
    begins = (open_events == 1) & (steps == 1)
    return times[begins], times[open_events == 0], samples[begins]


def _range_fault(pairs: list[Any]) -> ValueError:
    for sample, pair in enumerate(pairs):
        place = f"`ranges`, sample {sample}:" if len(pairs) > 1 else "`ranges`:"
        if not _is_pair(pair):
            return ValueError(f"{place} must be a pair of numbers (start, stop), got {pair!r}")
        if not -_LARGEST <= pair[0] < pair[1] <= _LARGEST:
            return ValueError(f"{place} must be finite and start before it stops, got {pair!r}")
    return ValueError("`ranges`: are too long for a float")


def _event_fault(
    name: str, rows: list[Any] | EventTable, ranges: Ranges, *, merge: bool = False
) -> ValueError:
    """Find the first event that breaks a rule, and say where, which and how."""
    for sample, (row, pair) in enumerate(zip(rows, ranges.pairs, strict=True)):
        if not hasattr(row, "__len__"):
            rule = "must be a sequence of events (start, stop)"
            return ValueError(f"sample {sample} of `{name}` {rule}, got {row!r}")
        before = None
        for index, event in enumerate(row.tolist() if isinstance(row, np.ndarray) else row):
            rule = _broken_rule(event, before, pair, merge=merge)
            if rule:
                place = f"sample {sample}, event {index} of `{name}`"
                return ValueError(f"{place} {rule}, got {event!r}")
            before = event
    return ValueError(f"`{name}` has an event that is too short for a float to tell in its range")


def _broken_rule(event: Any, before: Any, pair: Any, *, merge: bool) -> str:
    if not _is_pair(event):
        return "must be a pair of numbers (start, stop)"
    start, stop = event
    if not (-_LARGEST <= start <= _LARGEST and -_LARGEST <= stop <= _LARGEST):
        return "must be finite"
    if start > stop or (start == stop and not merge):
        return "must start before it stops"
    if merge:
        return ""
    remedy = "(merge=True sorts, joins and clips)"
    if start < pair[0] or stop > pair[1]:
        return f"must lie in the range {tuple(pair)} {remedy}"
    if before is not None and start <= before[1]:
        return f"must start after {tuple(before)} has stopped {remedy}"
    return ""


def _is_pair(value: Any) -> bool:
    if not isinstance(value, (list, tuple, np.ndarray)) or len(value) != 2:
        return False
    return all(type(time) in _PLAIN or isinstance(time, Real) for time in value)


def _is_table(row: Any) -> bool:
    return (
        isinstance(row, np.ndarray)
        and row.dtype.kind in "iuf"
        and row.ndim == 2
        and row.shape[1] == 2
    )


_PLAIN = (int, float)
_LARGEST = sys.float_info.max
_BEYOND_WHOLE = 2.0**53  # from here on a float no longer holds every whole number
_BELOW_ZERO = -math.ulp(0.0)  # the largest float that a first event may not start at
_FEW_EVENTS = 160  # up to about here plain Python is faster than numpy
