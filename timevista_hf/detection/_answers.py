"""Read where a judge says that the anomalies are; nothing is mended without saying so."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Protocol

import numpy as np

from timevista_hf.cases import Granularity
from timevista_hf.detection._loose import Found, find_values
from timevista_hf.metrics.anomaly import events_from_mask, events_from_points
from timevista_hf.rubrics import UnparsableReplyError, beside_thoughts, cut_thoughts

SHORTEST_RUN = 10  # entries


class Asked(Protocol):
    """What was asked for, as far as a reader of the reply needs to know."""

    @property
    def granularity(self) -> Granularity: ...

    @property
    def steps(self) -> int: ...

    @property
    def num_variates(self) -> int: ...


def no_events() -> np.ndarray:
    """Make the events of a series without any, of shape (0, 2)."""
    return np.empty((0, 2), dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Answer:
    """Hold what a reply names, all of it inside the series.

    Parameters
    ----------
    events : ndarray of shape (E, 2)
        Points or ranges as half-open (start, stop), in steps, in order; ranges are apart.
    variates : tuple of int
        Ids, ascending.
    rationale : str
        The reason in the reply, if it has one.
    repairs : tuple of str
        What was mended to read the reply, in words.
    rejected : int
        Entries that were left out: outside the series, reversed, or not of the form asked for.
    hallucinated_run : bool
        Whether the reply counts on instead of looking: it holds ten entries or more at equal
        steps that span half of the series or go past its end, or numbers continued by an
        ellipsis. The entries count all the same. Of ranges the starts are looked at.
    """

    events: np.ndarray = field(default_factory=no_events)  # [E, 2]
    variates: tuple[int, ...] = ()
    rationale: str = ""
    repairs: tuple[str, ...] = ()
    rejected: int = 0
    hallucinated_run: bool = False

    @property
    def says_none(self) -> bool:
        """Whether the reply says that nothing is anomalous; one of rejected entries does not."""
        return not (self.events.size or self.variates or self.rejected)


def parse_answer(reply: str, question: Asked) -> Answer:
    """Read the last list of anomalies of a reply; see `DetectionQuestion.parse`."""
    entries, rationale, repairs = _entries(reply, ranges=question.granularity == "range")
    if question.granularity == "range":
        pairs = [_pair(entry, repairs) for entry in entries]
        return _of_ranges(entries, pairs, question.steps, rationale, repairs)
    bound = question.num_variates if question.granularity == "variate" else question.steps
    numbers = [_whole(entry, repairs) for entry in entries]
    known = [number for number in numbers if number is not None]
    _check_form(entries, known, question.granularity)
    inside = [number for number in known if 0 <= number < bound]
    if len(set(inside)) < len(inside):
        repairs["entries that stand twice count once"] = None
    points = question.granularity == "point"
    return Answer(
        events=events_from_points(inside) if points else no_events(),
        variates=() if points else tuple(sorted(set(inside))),
        rationale=rationale,
        repairs=tuple(repairs),
        rejected=len(entries) - len(inside),
        hallucinated_run=_runs_on(entries, known, bound),
    )


def parse_paper(reply: str, question: Asked) -> Answer:
    """Read a reply as the paper's own evaluation does, to compare scores with its tables.

    The text from the first bracket to the last must be JSON; one missing bracket is added, and
    the last number before it is lost. Points and ids must be integers: negative ones count from
    the end. Ranges include both ends and are cut to the series. What is outside is passed over.

    Thoughts are cut away here too. The paper's models did not write any, so no number of its tables
    rests on how they would have been read; with them a reply would be left out, or its draft be
    scored, according to whether a server passes thoughts on in the text or beside it.

    Parameters
    ----------
    reply : str
        As the judge gave it; `Detection.text` keeps it.
    question : DetectionQuestion

    Raises
    ------
    UnparsableReplyError
        Where the paper leaves the reply out of its means.

    Examples
    --------
    >>> from timevista_hf.detection import DetectionQuestion
    >>> parse_paper("[-1, 7, 200]", DetectionQuestion("point", steps=100)).events.tolist()
    [[7, 8], [99, 100]]
    """
    entries = _paper_entries(cut_thoughts(reply))
    wanted = list if question.granularity == "range" else int
    if not isinstance(entries, list) or not all(isinstance(entry, wanted) for entry in entries):
        raise UnparsableReplyError(f"the paper's evaluation leaves this out: {reply[:80]!r}")
    if question.granularity == "range":
        return Answer(events=_paper_ranges(entries, question.steps))
    bound = question.num_variates if question.granularity == "variate" else question.steps
    kept = sorted({int(one) % bound for one in entries if -bound <= one < bound})
    if question.granularity == "variate":
        return Answer(variates=tuple(kept))
    return Answer(events=events_from_points(kept))


def _entries(reply: str, *, ranges: bool) -> tuple[list[Any], str, dict[str, None]]:
    """Give the last list of a reply, the rationale beside it, and what was mended."""
    said, reply = reply, cut_thoughts(reply)
    found = find_values(reply)
    listed = [(one, _listed(one.value)) for one in found if isinstance(one.value, dict)]
    keyed = [(one, name) for one, name in listed if name]
    bare = [one for one in found if isinstance(one.value, list)]
    if not keyed and not bare:
        raise UnparsableReplyError(f"the reply holds no list of anomalies{beside_thoughts(said)}")
    if not keyed:
        return _bare(reply, bare, ranges=ranges)
    chosen, name = keyed[-1]
    repairs = dict.fromkeys(chosen.repairs)
    if name != "anomalies":
        repairs[f"the list stood under {name[:40]!r}"] = None
    lists = [one.value[name] for one, name in keyed]
    _note_rest(reply, chosen.start, chosen.stop, lists, repairs)
    why = chosen.value.get("rationale")
    rationale = why.strip() if isinstance(why, str) else ""
    return _wrapped(lists[-1], repairs, ranges=ranges), rationale, repairs


def _listed(entry: dict[str, Any]) -> str:
    """Name the list of an object: that of the anomalies, or else its only one."""
    if "anomalies" in entry:
        return "anomalies" if isinstance(entry["anomalies"], list) else ""
    names = [name for name, value in entry.items() if isinstance(value, list)]
    return names[0] if len(names) == 1 else ""


def _bare(
    reply: str, lists: Sequence[Found], *, ranges: bool
) -> tuple[list[Any], str, dict[str, None]]:
    chosen = lists[-1]
    repairs = dict.fromkeys(["a list without the object around it was read", *chosen.repairs])
    first = len(lists) - 1
    if ranges and _flat_pair(chosen.value):
        while first and _follow(reply, lists[first - 1], lists[first]):
            first -= 1
    if first < len(lists) - 1:
        repairs["pairs without the list around them were read"] = None
        entries = [one.value for one in lists[first:]]
    else:
        entries = _wrapped(chosen.value, repairs, ranges=ranges)
    others = [*(one.value for one in lists[:first]), chosen.value]
    _note_rest(reply, lists[first].start, chosen.stop, others, repairs)
    return entries, "", repairs


def _note_rest(
    reply: str, start: int, stop: int, lists: Sequence[list[Any]], repairs: dict[str, None]
) -> None:
    if reply[:start].strip() or reply[stop:].strip():
        repairs["text around the answer was left out"] = None
    if any(one != lists[-1] for one in lists):
        repairs[f"of {len(lists)} lists in the reply the last one counts"] = None


def _follow(reply: str, first: Found, second: Found) -> bool:
    """Whether two pairs are only an enumeration apart."""
    return _flat_pair(first.value) and bool(_COMMA.fullmatch(reply[first.stop : second.start]))


def _wrapped(entries: list[Any], repairs: dict[str, None], *, ranges: bool) -> list[Any]:
    if ranges and _flat_pair(entries):
        repairs["a pair alone was read as the only range"] = None
        return [entries]
    return entries


def _flat_pair(entries: list[Any]) -> bool:
    return len(entries) == 2 and all(_whole(entry, {}) is not None for entry in entries)


def _of_ranges(
    entries: list[Any],
    pairs: list[tuple[int, int] | None],
    steps: int,
    rationale: str,
    repairs: dict[str, None],
) -> Answer:
    known = [pair for pair in pairs if pair is not None]
    _check_form(entries, known, "range")
    inside = [(first, last) for first, last in known if 0 <= first <= last < steps]
    mask = np.zeros(steps, dtype=bool)
    for first, last in inside:
        mask[first : last + 1] = True
    events = events_from_mask(mask)
    if len(events) < len(inside):
        repairs["ranges that touch or overlap were merged"] = None
    return Answer(
        events=events,
        rationale=rationale,
        repairs=tuple(repairs),
        rejected=len(entries) - len(inside),
        hallucinated_run=_runs_on(entries, [first for first, _ in known], steps),
    )


def _check_form(entries: list[Any], known: Sequence[Any], granularity: str) -> None:
    # A list of something else says neither where anomalies are, nor that there are none.
    if entries and not known:
        raise UnparsableReplyError(
            f"no entry of the list is a {granularity}: {str(entries)[:80]!r}"
        )


def _pair(entry: Any, repairs: dict[str, None]) -> tuple[int, int] | None:
    if isinstance(entry, dict):
        ends = next((ends for ends in _ENDS if set(ends) <= set(entry)), None)
        if ends is None:
            return None
        repairs[f"objects with `{ends[0]}` and `{ends[1]}` were read as pairs"] = None
        entry = [entry[name] for name in ends]
    if not isinstance(entry, list) or len(entry) != 2:
        return None
    first, last = (_whole(end, repairs) for end in entry)
    return None if first is None or last is None else (first, last)


def _whole(entry: Any, repairs: dict[str, None]) -> int | None:
    """Read a whole number; None for anything else."""
    if type(entry) is int:
        return entry
    if isinstance(entry, str) and _DIGITS.fullmatch(entry.strip()):
        repairs["numbers in quotes were read as numbers"] = None
        return int(entry)
    if isinstance(entry, float) and entry.is_integer():
        repairs["whole numbers with a decimal point were read as integers"] = None
        return int(entry)
    return None


def _runs_on(entries: Sequence[Any], numbers: Sequence[int], bound: int) -> bool:
    if ... in entries and len(numbers) > 1:
        return True
    return any(
        len(run) >= SHORTEST_RUN and (max(run) >= bound or 2 * (max(run) - min(run)) >= bound)
        for run in _even_runs(numbers)
    )


def _even_runs(numbers: Sequence[int]) -> Iterable[Sequence[int]]:
    """Cut numbers into their longest stretches at equal steps, none of them zero."""
    gaps = [after - before for before, after in pairwise(numbers)]
    start = 0
    for stop in range(1, len(gaps) + 1):
        if stop == len(gaps) or gaps[stop] != gaps[start]:
            if gaps[start]:
                yield numbers[start : stop + 1]
            start = stop


def _paper_entries(reply: str) -> Any:
    text = reply
    if text.count("[") == text.count("]") + 1:
        cut = text.endswith((",", " "))
        text = (text.rstrip(", ") if cut else text.rstrip("0123456789").rstrip(", ")) + "]"
    inside = text[text.find("[") : text.rfind("]") + 1] if "[" in text else ""
    if inside and not re.search(r"\d", inside):
        return []
    try:
        return json.loads(inside)
    except (ValueError, RecursionError):
        return None


def _paper_ranges(entries: list[list[Any]], steps: int) -> np.ndarray:
    mask = np.zeros(steps, dtype=bool)
    for entry in entries:
        if len(entry) != 2:
            continue
        try:
            first, last = (int(end) for end in entry)
        except (TypeError, ValueError, OverflowError) as error:
            raise UnparsableReplyError(f"no range: {str(entry)[:80]!r}") from error
        mask[max(first, 0) : max(last + 1, 0)] = True
    return events_from_mask(mask)


_COMMA = re.compile(r"[\s,;]*(?:and)?\s*")
_DIGITS = re.compile(r"[-+]?\d{1,18}")
_ENDS = (("start", "end"), ("first", "last"))
