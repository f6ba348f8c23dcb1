"""A rating, and the file of an annotator: one JSON object a line, appended and never rewritten."""

from __future__ import annotations

import hashlib
import json
import os
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Literal, get_args

from filelock import FileLock, Timeout

from timevista_hf.loading.known import check_known
from timevista_hf.rating._question import Key
from timevista_hf.rubrics import HIGHEST, LOWEST

Action = Literal["rate", "skip", "undo"]
LONGEST_NAME = 80  # characters


@dataclass(frozen=True, kw_only=True)
class Rating:
    """One annotator's score of one case by one rubric, with everything that made it.

    Raises
    ------
    ValueError
        For a score that is no integer from 1 to 5.
    """

    annotator: str
    case_id: str
    cutoff: str | None
    model: str
    content: str  # hash of the case's numbers
    dataset: str | None
    level: str
    dimension: str
    rubric: str  # name@version
    score: int | None  # 1 (worst) to 5 (best); None where the annotator skipped the case
    comment: str = ""
    seconds: float = 0.0  # from when the picture was shown to the answer
    time: str = ""  # of the answer, UTC, ISO 8601
    render: str = ""  # fingerprint of the picture
    version: str = ""  # of this package

    def __post_init__(self) -> None:
        whole = isinstance(self.score, int) and not isinstance(self.score, bool)
        if self.score is not None and not (whole and LOWEST <= self.score <= HIGHEST):
            raise ValueError(
                f"`score` must be an integer from {LOWEST} to {HIGHEST}, or None for a case that "
                f"was skipped, got {self.score!r}"
            )

    @property
    def key(self) -> Key:
        """The question that it answers: series, cutoff, model, content and rubric."""
        return self.case_id, self.cutoff, self.model, self.content, self.rubric


class RatingFile:
    """An annotator's file, held by one process at a time; what is appended is on the disk."""

    def __init__(self, folder: Path, annotator: str) -> None:
        self.path = folder / f"{file_stem(annotator)}.jsonl"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._lock = FileLock(self.path.with_suffix(".lock"), timeout=0)
            self._lock.acquire()
        except Timeout:
            raise ValueError(
                f"{self.path}: another `timevista rate` has it open; close that one first, or "
                "give another name as --annotator"
            ) from None
        except OSError as error:
            raise ValueError(f"{folder}: cannot hold ratings: {error}") from error

    def append(self, action: Action, rating: Rating) -> None:
        """Write a record and wait until it is on the disk."""
        line = json.dumps({"action": action, **asdict(rating)}).encode() + b"\n"
        try:
            with self.path.open("ab+") as file:
                if _is_torn(file):
                    line = b"\n" + line
                file.write(line)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise ValueError(f"{self.path}: the answer was not saved: {error}") from error

    def close(self) -> None:
        """Let another process have it."""
        self._lock.release()


def read_records(path: Path) -> tuple[list[tuple[Action, Rating]], list[str]]:
    """Read the records of a file, and what there is to say of lines that were not finished."""
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        raise ValueError(f"{path}: cannot be read: {error}") from error
    records, notices = [], []
    for number, line in enumerate(lines, start=1):
        place = f"{path.name}, line {number}"
        try:
            entry = json.loads(line.decode()) if line.strip() else None
        except ValueError:
            notices.append(f"{place}: was not finished when the program ended, and is passed over")
            continue
        if entry is not None:
            records.append(_record(entry, place))
    return records, notices


def standing(records: Iterable[tuple[Action, Rating]]) -> dict[Key, Rating]:
    """Return the ratings that were not taken back, by question, the latest last."""
    found: dict[Key, Rating] = {}
    for action, rating in records:
        found.pop(rating.key, None)
        if action != "undo":
            found[rating.key] = rating
    return found


def annotator_name(name: str) -> str:
    """Return a name without needless blanks, or refuse it."""
    name = unicodedata.normalize("NFC", " ".join(name.split()))
    if not name or len(name) > LONGEST_NAME or not name.isprintable():
        raise ValueError(
            f"the annotator's name must have 1 to {LONGEST_NAME} printable characters, got {name!r}"
        )
    return name


def file_stem(annotator: str) -> str:
    """Name a file: the annotator's name where every system takes it, else with a hash."""
    plain = unicodedata.normalize("NFKD", annotator).encode("ascii", "ignore").decode()
    slug = re.sub(r"[^a-z0-9]+", "-", plain.lower()).strip("-")[:40]
    if slug == annotator and not re.fullmatch(r"con|prn|aux|nul|com\d|lpt\d", slug):
        return slug
    digest = hashlib.sha256(annotator.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{slug}-{digest}".lstrip("-")


def _is_torn(file: Any) -> bool:
    """Whether the last line was not finished; a record then starts on a line of its own."""
    if not file.seek(0, os.SEEK_END):
        return False
    file.seek(-1, os.SEEK_END)
    return bool(file.read(1) != b"\n")


def _record(entry: Any, place: str) -> tuple[Action, Rating]:
    if not isinstance(entry, dict) or "action" not in entry:
        raise ValueError(f"{place}: is no record of `timevista rate`: it lacks `action`")
    try:
        check_known("action", entry["action"], get_args(Action))
        values = {field.name: _value(entry, field.name, str(field.type)) for field in _FIELDS}
        return entry["action"], Rating(**values)
    except ValueError as error:
        raise ValueError(f"{place}: {error}") from None


def _value(entry: dict[str, Any], name: str, annotation: str) -> Any:
    if name not in entry:
        raise ValueError(f"the record lacks `{name}`")
    value, kinds = entry[name], tuple(_KINDS[kind] for kind in annotation.split(" | "))
    if name != "score" and not isinstance(value, kinds):
        raise ValueError(f"`{name}` must be {annotation}, got {value!r}")
    return value


_FIELDS = fields(Rating)
_KINDS: dict[str, Any] = {"str": str, "int": int, "float": (int, float), "None": type(None)}
