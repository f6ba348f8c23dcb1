"""Judges: who reads a case with a rubric and says how good it is."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from importlib import import_module

from timevista_hf.judges._base import Judge, Reply, Request
from timevista_hf.judges._store import Store

__all__ = ["Judge", "Reply", "Request", "Store", "list_judges", "load_judge"]


def load_judge(name: str) -> Judge:
    """Make the judge of that name.

    Raises
    ------
    ValueError
        For an unknown name; the message lists the known ones.

    Examples
    --------
    >>> load_judge("builtin").name
    'builtin'
    """
    if name not in _JUDGES:
        nearest = difflib.get_close_matches(name, _JUDGES, n=1)
        hint = f"; did you mean {nearest[0]!r}?" if nearest else "."
        raise ValueError(f"unknown judge {name!r}{hint} Known: {', '.join(_JUDGES)}")
    module, kind = _JUDGES[name]
    make: Callable[[], Judge] = getattr(import_module(module), kind)
    return make()


def list_judges() -> list[str]:
    """List the names that `load_judge` knows.

    Examples
    --------
    >>> list_judges()
    ['builtin', 'mock']
    """
    return list(_JUDGES)


_JUDGES = {
    "builtin": ("timevista_hf.judges.builtin", "BuiltinJudge"),
    "mock": ("timevista_hf.judges.mock", "MockJudge"),
}
