"""Keys and addresses of judges: taken from the environment, checked, and never shown."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import NoReturn
from urllib.parse import urlsplit

_SHORTEST = 8  # characters of a key that no text holds by chance
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")


class Secret:
    """A key that no repr, log, traceback or pickle shows."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        """Return the key."""
        return self._value

    def hide(self, text: str) -> str:
        """Return the text without the key.

        Servers of one's own are given any word as a key. A short one, or a plain word, stands in
        many a text by chance and is left there.

        Examples
        --------
        >>> Secret("sk-12345").hide("Wrong: sk-12345"), Secret("none").hide("There is none.")
        ('Wrong: [key]', 'There is none.')
        """
        telling = len(self._value) >= _SHORTEST and not _WORD.fullmatch(self._value)
        return text.replace(self._value, "[key]") if telling else text

    def __repr__(self) -> str:
        return "Secret()"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a key cannot be pickled; make the judge where it is used")


@dataclass(frozen=True)
class Key:
    """Where a judge finds its key: it is taken when the first question is asked, and not before.

    Parameters
    ----------
    judge : str
        Its name, for the error.
    variables : tuple of str
        Environment variables, of which the first that is set counts.
    needed : bool
        Whether the judge cannot do without.
    """

    judge: str
    variables: tuple[str, ...]
    needed: bool = True

    def take(self) -> Secret:
        """Return the key, an empty one where none is set and none is needed.

        Raises
        ------
        ValueError
            Where it is missing, or cannot be sent; the key itself is not shown.
        """
        for variable in self.variables:
            key = os.environ.get(variable, "").strip()
            if key and not (key.isascii() and key.isprintable()):
                raise ValueError(f"environment variable {variable}: holds characters no key has")
            if key:
                return Secret(key)
        if self.needed:
            raise ValueError(
                f"judge {self.judge!r} needs a key: set the environment variable "
                f"{' or '.join(self.variables)}"
            )
        return Secret("")


def check_url(url: str) -> None:
    """Refuse an address that is none, or that could hold a secret, without showing it.

    Raises
    ------
    ValueError
    """
    parts = urlsplit(url)
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ValueError(
            f"address of a judge at {parts.hostname!r}: must have no user, password or query; "
            "keys are taken from the environment"
        )
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"address of a judge: must start with http:// or https://, got {url!r}")


def import_client(name: str, *, module: str, package: str, extra: str) -> ModuleType:
    """Import the client of the judge of that name.

    Raises
    ------
    ValueError
        Where it is not installed; the message has the line that installs it.
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise ValueError(
            f"judge {name!r} needs the package `{package}`: pip install 'timevista-hf[{extra}]'"
        ) from error
