"""What answers score that do not look: everything, random, grid, echo."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from timevista_hf.cases import AnomalyCase
from timevista_hf.detection import Answer, DetectionQuestion
from timevista_hf.metrics import chance_affiliation, chance_set, events_from_points
from timevista_hf.results._measures import span, true_events

CHANCE = ("everything", "random", "grid", "echo")

GRID = 50  # steps
DRAWS = 100  # random answers to each series


def chance_answers(case: AnomalyCase) -> dict[str, Answer]:
    """Return the answers that are the same for all series of a size."""
    if case.granularity == "variate":
        everything = Answer(variates=tuple(range(case.num_variates)))
        grid = Answer(variates=tuple(range(0, case.num_variates, 2)))
    else:
        everything = Answer(events=np.array([[0, case.steps]]))
        grid = Answer(events=events_from_points(np.arange(GRID // 2, case.steps, GRID)))
    question = DetectionQuestion(case.granularity, case.steps, case.num_variates, example="paper")
    echo = question.parse(question.prompt())  # the example is the answer that the prompt holds
    return {"everything": everything, "grid": grid, "echo": echo}


def random_scores(cases: Sequence[AnomalyCase], compress: bool, seed: int) -> np.ndarray:
    """Average answers with as many anomalies as there are, as long as they are [3, N]."""
    if not cases:
        return np.empty((3, 0))
    if cases[0].granularity == "variate":
        truth = [case.variates for case in cases]
        sizes = [len(ids) for ids in truth]
        sets = chance_set(truth, n_labels=cases[0].num_variates, size=sizes)
        return np.stack([sets.precision, sets.recall, sets.f1])
    events = [true_events(case, compress=compress) for case in cases]
    found = chance_affiliation(
        events,
        ranges=[(0, span(case, compress=compress)) for case in cases],
        size=[stops - starts for starts, stops in (rows.T for rows in events)],
        draws=DRAWS,
        seed=seed,
    )
    return np.stack([found.precision, found.recall, found.f1])
