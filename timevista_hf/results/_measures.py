"""Answers against the truth, series by series."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from timevista_hf.cases import AnomalyCase
from timevista_hf.detection import Answer
from timevista_hf.metrics import (
    affiliation_precision_recall,
    events_from_mask,
    set_precision_recall_f1,
)


def is_clean(case: AnomalyCase) -> bool:
    """Whether nothing in a series is anomalous."""
    return not (case.events.size or case.variates)


def measure_answers(
    cases: Sequence[AnomalyCase], answers: Sequence[Answer], *, compress: bool
) -> np.ndarray:
    """Score answers to series with anomalies [3, N]: precision (nan if empty), recall, F1."""
    if cases[0].granularity == "variate":
        sets = set_precision_recall_f1(
            [case.variates for case in cases],
            [answer.variates for answer in answers],
            n_labels=cases[0].num_variates,
        )
        return np.stack([sets.precision, sets.recall, sets.f1])
    found = affiliation_precision_recall(
        [true_events(case, compress=compress) for case in cases],
        [
            _joined(case, answer.events, compress=compress)
            for case, answer in zip(cases, answers, strict=True)
        ],
        ranges=[(0, span(case, compress=compress)) for case in cases],
    )
    return np.stack([found.precision, found.recall, found.f1])


def true_events(case: AnomalyCase, *, compress: bool) -> np.ndarray:
    """Return the true events of a single variate, neighbours joined [E, 2]."""
    return _joined(case, case.events, compress=compress)


def span(case: AnomalyCase, *, compress: bool) -> int:
    """Count the steps that are searched: all, or those that are not missing."""
    return int(np.isfinite(case.values).sum()) if compress else case.steps


def _joined(case: AnomalyCase, events: np.ndarray, *, compress: bool) -> np.ndarray:
    mask = np.zeros(case.steps, dtype=bool)
    for start, stop in events:
        mask[start:stop] = True
    return events_from_mask(mask[np.isfinite(case.values)] if compress else mask)
