"""What the Spaces of the metrics share: the text of forms, their errors, and how they are run."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

SPACE_SETTINGS: dict[str, Any] = {
    "run_history": False,  # it would keep what people type in their browser
    "ssr_mode": False,
    "enable_monitoring": False,
    "max_file_size": "1mb",
}


def read_series(text: str, label: str) -> list[list[float]]:
    r"""Read what a form holds: one series a line, its numbers separated by commas or blanks.

    Parameters
    ----------
    text : str
        ``nan`` is a missing value; empty lines are left out.
    label : str
        The form's field, for errors.

    Raises
    ------
    ValueError
        For an empty text, and for what is no number; the message names the field and the line.

    Examples
    --------
    >>> read_series("1, 2.5\n3 nan", "Truth")
    [[1.0, 2.5], [3.0, nan]]
    """
    return [
        [_number(word, place) for word in re.split(r"[\s,;]+", row) if word]
        for place, row in _rows(text, label)
    ]


def read_values(text: str, label: str) -> list[Any]:
    r"""Read what a form holds: one JSON value a line, as ``[[10, 20], [30, 40]]`` or ``null``.

    Parameters
    ----------
    text : str
        Empty lines are left out.
    label : str
        The form's field, for errors.

    Raises
    ------
    ValueError
        For an empty text, and for what is no JSON; the message names the field and the line.

    Examples
    --------
    >>> read_values("[[10, 20]]\nnull", "Answers")
    [[[10, 20]], None]
    """
    return [_value(row, place) for place, row in _rows(text, label)]


@contextmanager
def form_errors(kind: Callable[..., Exception]) -> Iterator[None]:
    """Show what is refused in a form, as text, by raising the form's own kind of error.

    Parameters
    ----------
    kind : callable
        ``gradio.Error``, which renders its message as HTML.

    Examples
    --------
    >>> with form_errors(lambda text, print_exception: RuntimeError(text)):
    ...     raise ValueError("got '<b>'")
    Traceback (most recent call last):
        ...
    RuntimeError: got &#x27;&lt;b&gt;&#x27;
    """
    try:
        yield
    except ValueError as error:
        raise kind(html.escape(str(error)), print_exception=False) from error


def as_table(result: Mapping[str, Any]) -> list[list[str]]:
    """Write a metric's result as rows of two texts, name and value.

    Examples
    --------
    >>> as_table({"mae": 0.123456, "interval": [0.1, 0.2], "undefined": {"dtw": 1}, "rows": 3})
    [['mae', '0.1235'], ['interval', '0.1 to 0.2'], ['undefined', 'dtw 1'], ['rows', '3']]
    """
    return [[name.replace("_", " "), _text(value)] for name, value in result.items()]


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {_text(part)}" for name, part in value.items() if part) or "none"
    if isinstance(value, list):
        return " to ".join(map(_text, value))
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _rows(text: str, label: str) -> list[tuple[str, str]]:
    """Return each line with its place; empty ones are left out."""
    rows = [row.strip() for row in text.splitlines()]
    if not any(rows):
        raise ValueError(f"{label}: must not be empty")
    return [(f"{label}, line {line}", row) for line, row in enumerate(rows, start=1) if row]


def _number(word: str, place: str) -> float:
    try:
        return float(word)
    except ValueError:
        raise ValueError(f"{place}: must hold numbers, got {word!r}") from None


def _value(row: str, place: str) -> Any:
    try:
        return json.loads(row)
    except ValueError as error:
        raise ValueError(f"{place}: must be JSON, got {row[:60]!r}: {error}") from None
