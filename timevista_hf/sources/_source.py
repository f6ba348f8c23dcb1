"""What is known of a dataset, and a series that was read from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import numpy as np

from timevista_hf.sources._windows import WindowRule

Domain = Literal[
    "Energy",
    "Finance",
    "HealthCare",
    "Medical",
    "Nature",
    "Sales",
    "Transportation",
    "Web/CloudOps",
]
Format = Literal["arrow", "cpsc2019", "fnspid", "jhu", "wfdb"]


@dataclass(frozen=True, kw_only=True)
class Hub:
    """A dataset repository on the Hugging Face Hub."""

    repo_id: str
    revision: str = "main"


@dataclass(frozen=True, kw_only=True)
class Web:
    """Files behind addresses that follow a pattern.

    Parameters
    ----------
    pattern : str
        The address, with ``{path}`` where the file's path belongs.
    sums : str, optional
        Path of a file that lists all others with their SHA-256, in the form of ``sha256sum``.
    """

    pattern: str
    sums: str | None = None


Origin: TypeAlias = Hub | Web


@dataclass(frozen=True, kw_only=True)
class Part:
    """The series of a dataset that share a step and a rule.

    Parameters
    ----------
    name : str
        Unique within the dataset; part of the ids of its series.
    path : str
        The file at the origin, or a pattern of several, as ``patient*/*.hea``.
    freq : str
        Pandas offset alias of the step.
    season_length : int, optional
        Steps in a season; None where it is not known.
    rule : WindowRule
        How series are cut.
    """

    name: str
    path: str
    freq: str
    season_length: int | None
    rule: WindowRule


@dataclass(frozen=True, kw_only=True)
class Source:
    """One dataset of TimeVista: where it comes from, and what is made of it.

    Parameters
    ----------
    name : str
        Also the name of the dataset's with-knowledge rubric, and of its configuration.
    title, domain : str
        As in Table 3 of the paper.
    url : str
        The page where the files are described.
    origin : Hub or Web
        Where they lie.
    format : {"arrow", "cpsc2019", "fnspid", "jhu", "wfdb"}
        How they are read.
    parts : tuple of Part
    licence : str
        As stated at the origin.
    redistributable : bool
        Whether that licence lets series be published again, if only under conditions; where it
        does not, only the recipe is published.
    citation : str
    unit : str, optional
        None where series differ in it or it is not known.
    count : int
        Series in Table 3; at most so many windows are read.
    notes : str
        What Table 3 does not say and was decided here, and other things to know.
    hashes : mapping of str to str
        SHA-256 of files, by path.
    """

    name: str
    title: str
    domain: Domain
    url: str
    origin: Origin
    format: Format
    parts: tuple[Part, ...]
    licence: str
    redistributable: bool
    citation: str
    unit: str | None
    count: int
    notes: str
    hashes: Mapping[str, str] = field(default_factory=dict, hash=False)

    @property
    def rubric(self) -> str:
        """Name of the with-knowledge rubric."""
        return self.name

    @property
    def files(self) -> tuple[str, ...]:
        """Paths of the files, or patterns of them, without repeats."""
        return tuple(dict.fromkeys(part.path for part in self.parts))


@dataclass(frozen=True, eq=False, kw_only=True)
class SourceSeries:
    """One window of a real dataset: history and the truth that followed.

    Parameters
    ----------
    id : str
        Unique within the dataset: part, series, cutoff step and horizon.
    dataset : str
        Name of the source.
    history : np.ndarray of shape (T,)
        float64, read-only, without missing steps.
    truth : np.ndarray of shape (H,)
        In the same form.
    freq : str
        Pandas offset alias of the step.
    start : str, optional
        Time of the first step as ISO 8601; None where steps have no date.
    unit : str, optional
    season_length : int, optional
        Steps in a season.
    provenance : dict
        Repository or address, revision, file, series, and the window's steps within it.
    """

    id: str
    dataset: str
    history: np.ndarray  # [T]
    truth: np.ndarray  # [H]
    freq: str
    start: str | None
    unit: str | None
    season_length: int | None
    provenance: dict[str, str | int]
