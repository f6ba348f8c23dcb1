"""What the evaluate modules share: options that are known, and errors in evaluate's words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from timevista_hf.loading.known import check_known


def split_options(
    defaults: Mapping[str, Any],
    given: Mapping[str, Any],
    config_name: str | None = None,
    configs: Sequence[str] = (),
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Part what `evaluate.load` was given into the module's own options and those of evaluate.

    Evaluate itself takes an unknown option or configuration without a word; here it is refused.

    Parameters
    ----------
    defaults : mapping
        The module's own options.
    given : mapping
        What the constructor was given, but for `config_name`.
    config_name : str, optional
        As given to `evaluate.load`.
    configs : sequence of str
        The configurations that there are, besides ``"default"``.

    Returns
    -------
    own, rest : dict
        The module's options, all of them, and what is for ``evaluate.Metric``.

    Raises
    ------
    ValueError
        For an unknown option or configuration; the message lists the known ones.

    Examples
    --------
    >>> split_options({"season_length": 1}, {"season_length": 12, "keep_in_memory": True})
    ({'season_length': 12}, {'keep_in_memory': True})
    """
    check_known("configuration", config_name or "default", ["default", *configs])
    for name in given:
        check_known("option", name, [*defaults, *_EVALUATE_OPTIONS])
    own = {name: given.get(name, value) for name, value in defaults.items()}
    return own, {name: value for name, value in given.items() if name not in defaults}


def merge_options(options: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Let what `compute` was given take the place of what the module was loaded with.

    Parameters
    ----------
    options : mapping
        The module's own options, as `split_options` returns them.
    given : mapping
        The keyword arguments of `compute`; None leaves an option as it is.

    Raises
    ------
    ValueError
        For an unknown option; the message lists the known ones.

    Examples
    --------
    >>> merge_options({"level": "micro", "judge": "builtin"}, {"level": "macro", "judge": None})
    {'level': 'macro', 'judge': 'builtin'}
    """
    for name in given:
        check_known("option", name, list(options))
    return {**options, **{name: value for name, value in given.items() if value is not None}}


def one_a_row(name: str, values: Sequence[Any] | None, rows: int) -> list[Any]:
    """Return the values of an input that is no feature, checked to be one a row.

    Raises
    ------
    ValueError
        Where there are none, or fewer or more than rows.

    Examples
    --------
    >>> one_a_row("history", [[1, 2]], rows=2)
    Traceback (most recent call last):
        ...
    ValueError: `history` must have one entry for each of 2 rows, got 1
    """
    if values is None or len(values) != rows:
        found = "none" if values is None else len(values)
        raise ValueError(f"`{name}` must have one entry for each of {rows} rows, got {found}")
    return list(values)


@contextmanager
def evaluate_words(row: int | None = None) -> Iterator[None]:
    """Say what a metric function refuses in evaluate's words, and in which row it was.

    Examples
    --------
    >>> from timevista_hf.metrics import mae
    >>> with evaluate_words(row=3):
    ...     mae([1, 2], [1])
    Traceback (most recent call last):
        ...
    ValueError: row 3: `references` has 2 steps but `predictions` has 1
    """
    try:
        yield
    except ValueError as error:
        text = str(error)
        for word, translation in _TRANSLATIONS.items():
            text = re.sub(word, translation, text)
        place = "" if row is None else f"row {row}: "
        raise ValueError(place + text) from error


_EVALUATE_OPTIONS = (
    "keep_in_memory",
    "cache_dir",
    "num_process",
    "process_id",
    "seed",
    "experiment_id",
    "hash",
    "max_concurrent_cache_files",
    "timeout",
)

_TRANSLATIONS = {
    r"^series '\d+', model 'prediction': ": "",  # a row is no series of that name
    r"\b(sample|unit) (\d+)": r"row \2",
    "`(y_true|truth|x)`": "`references`",
    "`(y_pred|prediction|y|ratings|first|second)`": "`predictions`",
    "`y_past`": "`history`",
}
