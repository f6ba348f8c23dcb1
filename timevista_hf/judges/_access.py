"""Keys and addresses of judges: taken from the environment, checked, and never shown."""

from __future__ import annotations

import os
from typing import NoReturn
from urllib.parse import urlsplit


class Secret:
    """A key that no repr, log, traceback or pickle shows."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        """Return the key."""
        return self._value

    def hide(self, text: str) -> str:
        """Return the text without the key."""
        return text.replace(self._value, "[key]") if self._value else text

    def __repr__(self) -> str:
        return "Secret()"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a key cannot be pickled; make the judge where it is used")


def key_from(name: str, *variables: str, needed: bool = True) -> Secret:
    """Take the key of the judge of that name from the first variable that is set.

    Raises
    ------
    ValueError
        Where none is set, or the value cannot be sent; the key itself is not shown.
    """
    for variable in variables:
        key = os.environ.get(variable, "").strip()
        if key and not (key.isascii() and key.isprintable()):
            raise ValueError(f"environment variable {variable}: holds characters no key has")
        if key:
            return Secret(key)
    if needed:
        raise ValueError(
            f"judge {name!r} needs a key: set the environment variable {' or '.join(variables)}"
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


def missing_package(name: str, package: str, extra: str) -> ValueError:
    """Make the error for a judge whose client is not installed."""
    return ValueError(
        f"judge {name!r} needs the package `{package}`: pip install 'timevista-hf[{extra}]'"
    )
