"""What an annotator is asked, and in which order."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from timevista_hf.cases import ForecastCase
from timevista_hf.rubrics import Rubric

Key = tuple[str, str | None, str, str, str]


@dataclass(frozen=True, eq=False)
class Question:
    """One case, to be rated by one rubric.

    Parameters
    ----------
    case : ForecastCase
    rubric : Rubric

    Examples
    --------
    >>> from timevista_hf.rubrics import load_rubric
    >>> case = ForecastCase(id="a", history=[1, 2], truth=[3, 4], prediction=[3, 5], model="ets")
    >>> Question(case, load_rubric("trend")).key
    ('a', None, 'ets', 'bdd6b4b62fe94232', 'trend@1.0')
    """

    case: ForecastCase
    rubric: Rubric

    @property
    def content(self) -> str:
        """Hash of the case's numbers, so that a changed case is a new question."""
        digest = hashlib.sha256()
        for values in (self.case.history, self.case.truth, self.case.prediction):
            digest.update(f"{values.size}:".encode())
            digest.update(np.where(np.isnan(values), np.nan, values).astype("<f8").tobytes())
        return digest.hexdigest()[:16]

    @property
    def key(self) -> Key:
        """What tells it apart: series, cutoff, model, content and rubric."""
        case = self.case
        return case.id, case.cutoff, case.model, self.content, self.rubric.identity


def ordered(questions: Iterable[Question], annotator: str) -> dict[str, Question]:
    """Put the questions in an annotator's order, each under a name that gives nothing away.

    One rubric after another, so that its scale stays in mind and a case's scores do not lean on
    each other; rubrics and cases by a hash of annotator and content. A question keeps its place
    among the others when some are added.
    """
    placed: dict[tuple[str, str], Question] = {}
    for question in questions:
        rubric = question.rubric.identity
        place = _digest(annotator, rubric), _digest(annotator, *question.key)
        if place in placed:
            raise ValueError(f"{question.case.label}: rubric {rubric!r} is asked twice")
        placed[place] = question
    return {place[1][:16]: placed[place] for place in sorted(placed)}


def _digest(*words: str | None) -> str:
    return hashlib.sha256(json.dumps(words).encode()).hexdigest()
