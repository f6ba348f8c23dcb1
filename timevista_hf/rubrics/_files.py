"""Rubric files: YAML front matter and prose, shipped or one's own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from timevista_hf import rubric_files
from timevista_hf.constraints import load_constraint
from timevista_hf.loading.known import check_known, unknown
from timevista_hf.rubrics._rubric import (
    HIGHEST,
    LOWEST,
    MACRO_DIMENSIONS,
    MICRO_DIMENSIONS,
    Level,
    Rubric,
)


def load_rubric(name: str | Path) -> Rubric:
    """Load a rubric by its name, or from a file of one's own.

    Parameters
    ----------
    name : str or Path
        A shipped rubric (see `list_rubrics`), or the path of a Markdown file with YAML front
        matter in the same form.

    Raises
    ------
    ValueError
        For an unknown name, or a file that is no rubric; the message names the field.

    Examples
    --------
    >>> load_rubric("trend").dimension
    'trend'
    """
    shipped = _shipped()
    if str(name) in shipped:
        return _parse_file(shipped[str(name)].read_text(encoding="utf-8"), str(name))
    path = Path(name)
    if path.suffix == ".md" or path.is_file():
        try:
            return _parse_file(path.read_text(encoding="utf-8"), str(name))
        except (OSError, UnicodeDecodeError) as error:
            raise ValueError(f"{name}: cannot be read as a rubric file: {error}") from error
    raise ValueError(unknown("rubric", str(name), list(shipped)))


def list_rubrics() -> list[str]:
    """List the names of the shipped rubrics, micro level first.

    Examples
    --------
    >>> list_rubrics()[:3]
    ['trend', 'motif', 'phase']
    """
    return list(_shipped())


def select_rubrics(
    level: Level, *, dimensions: Sequence[str] = (), dataset: str | None = None
) -> list[Rubric]:
    """Load the rubrics of a level.

    Parameters
    ----------
    level : {"micro", "macro"}
    dimensions : sequence of str
        Only these; all of the level's where empty.
    dataset : str, optional
        The dataset whose with-knowledge rubric joins the macro level.

    Raises
    ------
    ValueError
        For an unknown level, dimension or dataset.

    Examples
    --------
    >>> [rubric.name for rubric in select_rubrics("macro", dataset="solar")]
    ['without_knowledge', 'solar']
    """
    check_known("level", level, ["micro", "macro"])
    names = {dimension: dimension for dimension in MICRO_DIMENSIONS}
    if level == "macro":
        names = {"without_knowledge": "without_knowledge"}
        if dataset is not None:
            names["with_knowledge"] = _dataset_rubric(dataset)
    for dimension in dimensions:
        if dimension not in names:
            raise ValueError(unknown(f"dimension of level {level!r}", dimension, list(names)))
    return [load_rubric(names[dimension]) for dimension in dimensions or names]


def _dataset_rubric(dataset: str) -> str:
    known = [name for name in _shipped() if name not in (*MICRO_DIMENSIONS, "without_knowledge")]
    name = dataset.strip().lower().replace(" ", "_").replace("-", "_")
    if name not in known:
        raise ValueError(unknown("dataset with a rubric", dataset, known))
    return name


def _shipped() -> dict[str, Path]:
    found: dict[str, Path] = {}
    for level in ("micro", "macro"):
        entries = [
            (entry.stem, entry)
            for folder in rubric_files.__path__
            for entry in Path(folder, level).glob("*.md")
        ]
        order = (*MICRO_DIMENSIONS, *MACRO_DIMENSIONS)
        found.update(
            sorted(entries, key=lambda e: (order.index(e[0]) if e[0] in order else 99, e[0]))
        )
    return found


def _parse_file(text: str, place: str) -> Rubric:
    _, separator, rest = text.partition("---\n")
    front, end, body = rest.partition("\n---\n")
    if not separator or not end:
        raise ValueError(f"{place}: a rubric starts with YAML front matter between two `---` lines")
    try:
        header = yaml.safe_load(front)
    except yaml.YAMLError as error:
        raise ValueError(f"{place}: the front matter is not valid YAML: {error}") from error
    if not isinstance(header, dict):
        raise ValueError(f"{place}: the front matter must be a mapping, got {header!r}")
    _check_header(header, place)
    return Rubric(
        name=str(header["name"]),
        version=str(header["version"]),
        level=header["level"],
        dimension=header["dimension"],
        body=body.strip(),
        scale=tuple(str(header["scale"][score]) for score in range(LOWEST, HIGHEST + 1)),
        dataset=header.get("dataset"),
        constraints=tuple(
            load_constraint(entry, place=place) for entry in header.get("constraints", ())
        ),
        twin=header.get("twin", {}),
    )


def _check_header(header: dict[str, Any], place: str) -> None:
    known = {*_REQUIRED, "dataset", "constraints", "twin"}
    for name in _REQUIRED:
        if name not in header:
            raise ValueError(f"{place}: the front matter lacks `{name}`")
    for name in header:
        if name not in known:
            raise ValueError(f"{place}: {unknown('field', str(name), sorted(known))}")
    dimensions = {"micro": MICRO_DIMENSIONS, "macro": MACRO_DIMENSIONS}
    if header["level"] not in list(dimensions):
        raise ValueError(f"{place}: {unknown('level', str(header['level']), list(dimensions))}")
    allowed = dimensions[header["level"]]
    if header["dimension"] not in allowed:
        raise ValueError(
            f"{place}: {unknown('dimension', str(header['dimension']), list(allowed))}"
        )
    levels = set(range(LOWEST, HIGHEST + 1))
    if not isinstance(header["scale"], dict) or set(header["scale"]) != levels:
        raise ValueError(f"{place}: `scale` must give a text for each of 1 to 5")
    for score, text in header["scale"].items():
        if not isinstance(text, str) or not text.strip():
            raise ValueError(f"{place}: `scale` {score} must be a text, got {text!r}")
    for name, kind in (("constraints", list), ("twin", dict)):
        if not isinstance(header.get(name, kind()), kind):
            raise ValueError(f"{place}: `{name}` must be a {kind.__name__}, got {header[name]!r}")


_REQUIRED = ("name", "version", "level", "dimension", "scale")
