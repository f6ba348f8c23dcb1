"""The rows of all cases, packed into a page so that it can list, sort and search them."""

from __future__ import annotations

import base64
import json
import pickle
import zlib
from array import array
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import IO, Any

import numpy as np

from timevista_hf.reports.cases import CaseReport, broken, in_order, plain, rank
from timevista_hf.reports.numbers import number
from timevista_hf.rubrics import Judgment

PART = 500  # rows that are packed together
LONGEST = 10_000  # characters of a reason; more are cut
_TAG = 64  # bytes around a part in the page


@dataclass(frozen=True)
class PackedRows:
    """Hold rows as texts for the page, worst first: JSON, deflated, in base64.

    Parameters
    ----------
    total : int
        Rows that there are, packed or not.
    head : str
        What the rows refer to by number.
    sample : str
        The rows of the fair sample, which are there whatever is cut.
    tables, reasons : sequence of str
        Parts of `PART` rows: what cases are listed and sorted by, and what is read of one.
    """

    total: int
    head: str = ""
    sample: str = ""
    tables: Sequence[str] = ()
    reasons: Sequence[str] = ()

    @property
    def listed(self) -> int:
        """Number of rows that are packed."""
        return min(self.total, PART * len(self.tables))

    @property
    def explained(self) -> int:
        """Number of rows whose reasons are packed too."""
        return min(self.total, PART * len(self.reasons))

    @property
    def size(self) -> int:
        """Bytes in the page."""
        return _size([self.head, self.sample, *self.tables, *self.reasons])

    def cut(self, room: int) -> PackedRows:
        """Keep what fits into so many bytes: rows before reasons, and the worst of both."""
        room -= _size([self.head, self.sample])
        tables = _fitting(self.tables, room)
        reasons = _fitting(self.reasons[: len(tables)], room - _size(tables))
        return replace(self, tables=tables, reasons=reasons)


class RowSpool:
    """Take rows as they come, and give them back worst first.

    The rows are in a file; of each, four numbers stay in memory.

    Parameters
    ----------
    file : binary file
        Empty, open for writing and reading.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._places = array("q")
        self._ranks = tuple(array("d") for _ in range(3))
        self._models: dict[str, int] = {}
        self._statuses: dict[str, int] = {}
        self._sheets: dict[tuple[Any, ...], int] = {}

    def __len__(self) -> int:
        return len(self._places)

    def add(self, report: CaseReport) -> None:
        """Write one case's row."""
        for column, value in zip(self._ranks, rank(report), strict=True):
            column.append(value)
        row = [len(self), *self._table(report), *_reasons(report)]
        self._places.append(self._file.tell())
        pickle.dump(row, self._file)

    def pack(self, room: int, *, sample: Sequence[int] = ()) -> PackedRows:
        """Pack the rows, but for those that certainly do not fit into so many bytes.

        Parameters
        ----------
        room : int
        sample : sequence of int
            Which rows are the fair sample, counted from 0 as they were added.
        """
        order = np.lexsort([np.asarray(column) for column in reversed(self._ranks)])
        tables: list[str] = []
        reasons: list[str] = []
        for start in range(0, order.size, PART):
            if _size(tables) > room:
                break
            columns = self._columns(order[start : start + PART])
            tables.append(_pack({name: columns[name] for name in _TABLE}))
            if _size(reasons) <= room:
                reasons.append(_pack({name: columns[name] for name in _REASONS}))
        return PackedRows(
            total=len(self),
            head=_pack({name: [*getattr(self, f"_{name}")] for name in _HEAD}),
            sample=_pack(self._columns(order[np.isin(order, sample)])),
            tables=tables,
            reasons=reasons,
        )

    def _table(self, report: CaseReport) -> list[Any]:
        case, judgments = report.case, in_order(report.judgments)
        asked = tuple((plain(j.dimension), plain(j.judge), j.run) for j in judgments)
        sheet = (asked, tuple(map(plain, report.errors)))
        return [
            plain(case.id),
            case.cutoff and plain(case.cutoff),
            _numbered(self._models, plain(case.model)),
            _numbered(self._sheets, sheet),
            "".join(map(self._outcome, judgments)),
            [number(value) for value in report.errors.values()],
            len(broken(judgments)),
            report.plot and plain(report.plot),
        ]

    def _outcome(self, judgment: Judgment) -> str:
        """Write a score as its digit, and a failure as a letter."""
        if judgment.status == "ok":
            return str(judgment.score)
        return chr(ord("a") + _numbered(self._statuses, judgment.status))

    def _columns(self, positions: np.ndarray) -> dict[str, list[Any]]:
        """Read rows back."""
        rows = [self._read(int(position)) for position in positions]
        names = (*_TABLE, *_REASONS)
        return {name: [row[at] for row in rows] for at, name in enumerate(names)}

    def _read(self, position: int) -> list[Any]:
        self._file.seek(self._places[position])
        row: list[Any] = pickle.load(self._file)
        return row


def _reasons(report: CaseReport) -> list[Any]:
    judgments = in_order(report.judgments)
    texts = [j.rationale if j.status == "ok" else j.reason for j in judgments]
    expected = [None if j.expected_score is None else f"{j.expected_score:.2f}" for j in judgments]
    return [list(map(_short, texts)), expected, list(map(_short, broken(judgments)))]


def _short(text: str) -> str:
    return plain(text if len(text) <= LONGEST else f"{text[:LONGEST]} … (cut here)")


def _numbered(known: dict[Any, int], name: Any) -> int:
    return known.setdefault(name, len(known))


def _pack(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return base64.b64encode(zlib.compress(text.encode(), 9)).decode("ascii")


def _size(parts: Sequence[str]) -> int:
    return sum(len(part) + _TAG for part in parts)


def _fitting(parts: Sequence[str], room: int) -> list[str]:
    """Return the first parts, as many as fit."""
    ends = np.cumsum([len(part) + _TAG for part in parts], dtype=np.int64)
    return list(parts[: int(np.searchsorted(ends, room, side="right"))])


_HEAD = ("models", "statuses", "sheets")
_TABLE = ("position", "series", "cutoff", "model", "sheet", "outcomes", "errors", "broken", "plot")
_REASONS = ("reasons", "expected", "breaches")
