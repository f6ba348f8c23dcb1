"""Names that are known or not, and what an error says of the latter."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable


def check_known(kind: str, name: object, known: Collection[str]) -> None:
    """Refuse a name that is not among the known ones.

    Examples
    --------
    >>> check_known("judge", "bultin", ["builtin", "mock"])
    Traceback (most recent call last):
        ...
    ValueError: unknown judge 'bultin'; did you mean 'builtin'? Known: builtin, mock
    """
    if name not in known:
        raise ValueError(unknown(kind, name, known))


def unknown(kind: str, name: object, known: Collection[str]) -> str:
    """Say that a name is unknown, which one may be meant, and which there are."""
    meant = nearest(name, known)
    hint = f"; did you mean {meant!r}?" if meant else "."
    return f"unknown {kind} {name!r}{hint} Known: {', '.join(known) or 'none'}"


def nearest(name: object, known: Iterable[str]) -> str | None:
    """Return the known name that is most alike, in any case; None where none is."""
    folded = {entry.casefold(): entry for entry in known}
    close = difflib.get_close_matches(str(name).casefold(), list(folded), n=1)
    return folded[close[0]] if close else None
