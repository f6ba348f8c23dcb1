"""What each column is: told by its name, or said by the caller."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from timevista_hf.io._sheet import Sheet, hint


@dataclass(frozen=True)
class Columns:
    """Name the columns whose names do not tell their role.

    Parameters
    ----------
    id, time, target, cutoff : str, optional
        The series, the time of a step, the truth, and the last time of a window's history.
    models : tuple of str, optional
        The columns to judge; every other column without a role is then passed over.
    freq, dataset, unit : str, optional
        Columns of text that are the same in all rows of a series.

    Examples
    --------
    >>> Columns(target="sales", models=("ets", "naive")).target
    'sales'
    """

    id: str | None = None
    time: str | None = None
    target: str | None = None
    cutoff: str | None = None
    models: tuple[str, ...] | None = None
    freq: str | None = None
    dataset: str | None = None
    unit: str | None = None


@dataclass(frozen=True)
class Roles:
    """The role of every column of one file."""

    known: dict[str, str]  # role to column
    candidates: tuple[str, ...]  # models, if they hold numbers
    quantiles: tuple[str, ...]
    ignored: tuple[str, ...]

    def get(self, role: str) -> str | None:
        """Column of a role, None where the file has none."""
        return self.known.get(role)


def find_roles(sheet: Sheet, columns: Columns, *, elsewhere: Sequence[str] = ()) -> Roles:
    """Give each column of a file its role.

    Parameters
    ----------
    columns : Columns
        What the caller said.
    elsewhere : sequence of str
        Columns of the other file, where a name said by the caller may be instead.
    """
    known = {}
    for role in ROLES:
        column = _column_of(sheet, role, columns, elsewhere)
        if column is not None:
            known[role] = column
    _refuse_shared(sheet, known)
    if "time" not in known:
        raise sheet.error(
            f"no column holds the time of a step ({_or(ROLES['time'])})",
            value=list(sheet.columns),
            fix="name it with --time-column",
        )
    rest = [name for name in sheet.columns if name not in known.values()]
    return _split(sheet, known, rest, columns.models)


def is_quantile(name: str) -> bool:
    """Tell whether a name is that of a quantile or of a bound of an interval."""
    return any(re.fullmatch(pattern, name, re.IGNORECASE) for pattern in _QUANTILES)


def _column_of(sheet: Sheet, role: str, columns: Columns, elsewhere: Sequence[str]) -> str | None:
    said: str | None = getattr(columns, role)
    if said in sheet.columns:
        return said
    if said is not None and said not in elsewhere:
        raise sheet.error(f"no column {said!r} for the {role}; {hint(said, sheet.columns)}")
    spoken_for = {getattr(columns, other) for other in ROLES} | set(columns.models or ())
    found = [
        name for name in sheet.columns if name.casefold() in ROLES[role] and name not in spoken_for
    ]
    if len(found) > 1:
        raise sheet.error(
            f"columns {' and '.join(map(repr, found))} may both be the {role}",
            fix=f"name it with --{role}-column" if role in _SAID else "rename one of them",
        )
    return found[0] if found else None


def _refuse_shared(sheet: Sheet, known: dict[str, str]) -> None:
    for role, column in known.items():
        others = [other for other in known if other != role and known[other] == column]
        if others:
            raise sheet.error(f"cannot be both {role} and {others[0]}", column=column)


def _split(
    sheet: Sheet, known: dict[str, str], rest: list[str], models: tuple[str, ...] | None
) -> Roles:
    if models is not None:
        for model in models:
            if model not in rest:
                raise sheet.error(f"no column for the model {model!r}; {hint(model, rest)}")
        unasked = tuple(name for name in rest if name not in models)
        quantiles = tuple(name for name in unasked if is_quantile(name))
        ignored = tuple(name for name in unasked if name not in quantiles)
        return Roles(known, tuple(dict.fromkeys(models)), quantiles, ignored)
    quantiles = tuple(name for name in rest if is_quantile(name))
    # A second name of a known role, left over where the caller chose another, is no model.
    spare = {name for name in rest if any(name.casefold() in names for names in ROLES.values())}
    candidates = tuple(name for name in rest if name not in spare and name not in quantiles)
    return Roles(known, candidates, quantiles, tuple(name for name in rest if name in spare))


def _or(names: Sequence[str]) -> str:
    return " or ".join([", ".join(names[:-1]), names[-1]])


ROLES = {
    "id": ("unique_id", "item_id", "id", "series_id", "series", "location"),
    "time": ("ds", "timestamp", "date", "datetime", "time", "target_end_date", "step", "t"),
    "target": ("y", "target", "actual", "truth", "value", "observed"),
    "cutoff": ("cutoff", "reference_date", "forecast_date"),
    "freq": ("freq",),
    "dataset": ("dataset",),
    "unit": ("unit",),
}

_SAID = ("id", "time", "target", "cutoff")
_QUANTILES = (
    r".*[-_](?:lo|hi)(?:gh)?[-_]\d+(?:\.\d+)?",
    r"(?:.*[-_])?q(?:uantile)?[-_]?(?:0?\.\d+|\d{1,2}(?:\.\d+)?)",
    r"(?:.*[-_])?0?\.\d+",
)
