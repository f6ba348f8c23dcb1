"""Find the JSON in a reply, also where it is cut off or not quite JSON, and say what was mended."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

_DEEPEST = 6  # brackets in brackets; an answer has three


@dataclass(frozen=True)
class Found:
    """A list or an object in a text, where it stands, and what was mended in it."""

    value: Any
    start: int
    stop: int
    repairs: tuple[str, ...]


def find_values(text: str) -> list[Found]:
    """Find the outermost lists and objects of a text, in order.

    Trailing commas, single quotes, round brackets, a missing closing bracket and an end that is
    cut off are mended. A number at the very end of the text may have lost digits and is left
    out, as are incomplete pairs and objects, and a list that is cut before its first entry.

    Examples
    --------
    >>> [found.value for found in find_values('Here: [3, 5,] and {"a": [12, 1')]
    [[3, 5], {'a': [12]}]
    """
    found, at = [], 0
    while opening := _OPENING.search(text, at):
        reader = _Reader(text, opening.start())
        try:
            value = reader.read()
        except _MalformedError:
            at = opening.start() + 1
            continue
        at = reader.at
        if value is not _NOTHING:
            found.append(Found(value, opening.start(), at, tuple(reader.repairs)))
    return found


class _MalformedError(ValueError):
    """Text that is no JSON, whatever is mended."""


class _Reader:
    """Read one value from a place in a text."""

    def __init__(self, text: str, at: int) -> None:
        self.text, self.at = text, at
        self.repairs: dict[str, None] = {}  # as a set in order
        self.cut = False

    def read(self, depth: int = 0) -> Any:
        letter = self.text[self.at]
        if depth > _DEEPEST:
            raise _MalformedError
        if letter == "{":
            return self._object(depth)
        if letter == "[" or (letter == "(" and depth):
            return self._list(depth)
        if letter in "\"'":
            return self._string()
        return self._scalar()

    def _list(self, depth: int) -> Any:
        closing = "]" if self.text[self.at] == "[" else ")"
        if closing == ")":
            self._mend("round brackets were read as square ones")
        self.at += 1
        items: list[Any] = []
        while not self._ended() and not self._take(closing):
            item = self.read(depth + 1)
            if not self.cut or _complete(item):
                items.append(item)
            if self.cut or not self._goes_on(closing):
                break
        # Cut before its first entry it is not an empty list.
        return items if items or not self.cut else _NOTHING

    def _object(self, depth: int) -> dict[str, Any]:
        self.at += 1
        entries: dict[str, Any] = {}
        while not self._ended() and not self._take("}"):
            name = self._string()
            if self.cut or self._ended():
                break
            if not self._take(":"):
                raise _MalformedError
            if self._ended():
                break
            value = self.read(depth + 1)
            if name in entries:
                self._mend(f"{name!r} stands twice in an object, and the last counts")
            if value is not _NOTHING:
                entries[name] = value
            if self.cut or not self._goes_on("}"):
                break
        return entries

    def _goes_on(self, closing: str) -> bool:
        """Whether another entry may follow; the closing bracket is left to be taken."""
        if self._ended():
            return False
        if self._take(","):
            if not self._ended() and self.text[self.at] == closing:
                self._mend("a comma before a closing bracket was left out")
            return True
        if self.text[self.at] == closing:
            return True
        if self.text[self.at] in "}`" and closing == "]":
            self._mend("a list that is not closed was closed")
            return False
        raise _MalformedError

    def _string(self) -> str:
        quote = self.text[self.at]
        if quote not in _STRINGS:
            raise _MalformedError
        found = _STRINGS[quote].match(self.text, self.at)
        if found is None:
            raise _MalformedError
        self.at = found.end()
        inside = found[1]
        if quote == "'":
            self._mend("single quotes were read as double ones")
            inside = inside.replace("\\'", "'").replace('"', '\\"')
        if not found[2]:
            self._cut()
        try:
            return str(json.loads(f'"{inside}"', strict=False))
        except ValueError:  # an escape that JSON does not know, or half of one
            return inside

    def _scalar(self) -> Any:
        found = _SCALAR.match(self.text, self.at)
        if found is None:
            raise _MalformedError
        self.at, token = found.end(), found[0]
        if self.at == len(self.text):
            self._cut()
            return _NOTHING
        if token in _ELLIPSES:
            return ...
        if token[0] in "+-0123456789":
            return int(token) if _INTEGER.fullmatch(token) else float(token)
        if token.lower() not in _WORDS:
            raise _MalformedError
        return _WORDS[token.lower()]

    def _take(self, letter: str) -> bool:
        taken = self.text.startswith(letter, self.at)
        self.at += taken
        return taken

    def _ended(self) -> bool:
        """Skip white space; whether the text ends here, which cuts what is being read."""
        while self.at < len(self.text) and self.text[self.at].isspace():
            self.at += 1
        if self.at == len(self.text):
            self._cut()
        return self.cut

    def _cut(self) -> None:
        self.cut = True
        self._mend("the reply is cut off: what is not complete was left out")

    def _mend(self, what: str) -> None:
        self.repairs[what] = None


def _complete(item: Any) -> bool:
    """Whether an entry at the end of a list that is cut off has all that it needs."""
    return isinstance(item, list) and len(item) == 2


_NOTHING = object()
_OPENING = re.compile(r"[\[{]")
_STRINGS = {
    '"': re.compile(r'"((?:[^"\\]|\\.)*)("|\\?\Z)', re.DOTALL),
    "'": re.compile(r"'((?:[^'\\]|\\.)*)('|\\?\Z)", re.DOTALL),
}
_SCALAR = re.compile(r"[-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?|[A-Za-z]+|\.\.\.|…")
_INTEGER = re.compile(r"[-+]?\d{1,18}")  # a longer one is out of every range
_ELLIPSES = ("...", "…")
_WORDS = {"true": True, "false": False, "null": None, "none": None, "nan": None}
