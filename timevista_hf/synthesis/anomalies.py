"""The series of VisualTimeAnomaly, exactly as the paper's and put right.

A subset names a normal series, an anomaly, the number of variates and the share of missing steps.
Its series are made in one of two editions.

``paper`` repeats the 124 subsets of the paper bit for bit, 100 series for training and 100 for the
test, defects included: one legacy random stream a subset, the sine of the C library.

``corrected`` draws each series from a seed of its own, made of the subset's name, the split and the
index: the first ten of a hundred are those of ten. Any number of variates, steps and series is
possible. What is wrong in the paper's edition, and what is done instead:

=== ================================================ ==========================================
G1  each seasonal series triples the base's          the base has 0.04 periods a step, the
    frequency, which soon is noise                   range 0.12, in every series
G2  a trend leaves its shift behind, not labelled    the slope leads back: the level before and
                                                     after is the same; its top is 1.5 to 2.5 sd
G3  global points may equal what is normal           0.5 to 1.5 sd beyond the range of the series
G4  contextual points may equal what is normal       within the range, at least 0.5 sd from what
                                                     was there, and from both neighbours
G5  positions repeat, touch, and are cut off         5 normal steps between points, 20 between
                                                     ranges, 1 at either end; up to 5 % of the
                                                     steps are points, up to one range for 200
                                                     steps, each 10 to 20 long, and at least one
G6  the triangle has half the height of other shapes all shapes reach from -1 to 1; noise of 0.02
                                                     to 0.06 is below the triangle's distance
                                                     from a sine, 0.069
G7  all start at phase 0; size and level are told    random phase; an anomalous variate keeps
    apart by numbers only                            level, size, noise and frequency of the
                                                     variate it replaces
G8  all anomalies share labels and normal variates   the subset's name is part of the seed
G9  one real case without noise, columns repeated    other cases in every series, noise of 5 %,
                                                     columns never twice
G10 anomalies are missing, or alone between missing  the ends of an event and the steps beside
    steps                                            them are kept; within, two steps in a row
G11 no clean series; fewer than 4 variates fail      the last of each ten series is clean; from
                                                     2 variates on, 1 to max(1, √M − 1) anomalous
G12 a series without labels fails                    it is a clean series
G13 the shapelet of real series ignores their level  it lies at the level of the range, within
                                                     the range of the series, and is 0.75 sd (root
                                                     mean square) or more from what was there
=== ================================================ ==========================================

One sd is the standard deviation of the series without noise; in a sine, 14 times that of the
noise. With two variates nothing but the kind of shape says which one is anomalous.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from numbers import Integral
from pathlib import Path
from typing import Literal, get_args

import numpy as np

from timevista_hf.cases import AnomalyCase
from timevista_hf.loading.known import check_known
from timevista_hf.synthesis import _anomaly_corrected as corrected
from timevista_hf.synthesis import _anomaly_paper as paper
from timevista_hf.synthesis._bases import is_first_case, load_cases
from timevista_hf.synthesis._subsets import AnomalySubset, find_subset, list_subsets

__all__ = [
    "AnomalySubset",
    "Edition",
    "Split",
    "find_subset",
    "list_subsets",
    "make_anomalies",
]

Edition = Literal["corrected", "paper"]
Split = Literal["train", "test"]


def make_anomalies(
    subset: AnomalySubset | str,
    *,
    edition: Edition = "corrected",
    split: Split = "test",
    count: int = 100,
    steps: int | None = None,
    data_dir: str | Path | None = None,
) -> Iterator[AnomalyCase]:
    """Make the series of a subset, one after another.

    Parameters
    ----------
    subset : AnomalySubset or str
        The subset, or its name.
    edition : {"corrected", "paper"}
        The paper's edition knows the 124 subsets of `list_subsets`, and needs the C library of the
        GNU system for its sine.
    split : {"test", "train"}
        The test is what the paper calls "eval". In the corrected edition the splits share no real
        case, unless there is but one.
    count : int
        How many series, ≥ 0; at most 100 in the paper's edition.
    steps : int, optional
        T, ≥ 50; by default 400, in multivariate series 200, on real ones as many as they have:
        with another number they are stretched. Not in the paper's edition.
    data_dir : str or Path, optional
        Where the files of real series lie: the archive's (.arff, .ts, .tsv), or a CSV file of the
        first case. By default the environment variable `TIMEVISTA_DATA_DIR`; without it they
        are downloaded once. A single case is used mirrored, too: it is enough for 36 variates.

    Returns
    -------
    iterator of AnomalyCase

    Raises
    ------
    ValueError
        For an unknown subset, edition or split, numbers outside their range, and where the files
        of a real base are missing or are not what they should be.

    References
    ----------
    .. [1] Xu et al., "Can Multimodal LLMs Perform Time Series Anomaly Detection?",
       arXiv:2502.17812.

    Examples
    --------
    >>> case = next(make_anomalies("sine-trend", edition="paper"))
    >>> case.id, case.steps, case.granularity
    ('paper-sine-trend-test-0000', 400, 'range')
    """
    subset = find_subset(subset) if isinstance(subset, str) else subset
    check_known("edition", edition, get_args(Edition))
    check_known("split", split, get_args(Split))
    _check_number(subset, "count", count, 0, paper.COUNT if edition == "paper" else None)
    if edition == "paper":
        _check_paper(subset, steps)
    elif steps is not None:
        _check_number(subset, "steps", steps, corrected.MIN_STEPS, None)
    cases = None if subset.is_synthetic else load_cases(subset.base, data_dir)
    if edition == "paper":
        return _make_paper(subset, split, count, cases)
    return _make_corrected(subset, split, count, steps, cases)


def _make_paper(
    subset: AnomalySubset, split: Split, count: int, cases: np.ndarray | None
) -> Iterator[AnomalyCase]:
    if cases is not None and not is_first_case(subset.base, cases[0]):
        raise ValueError(
            f"{subset.name}: the paper's edition is made of the archive's first test case, and "
            "the file starts with another; give the archive's own file of test cases"
        )
    drawn = paper.draw_splits(subset, None if cases is None else cases[0])
    first = paper.COUNT if split == "test" else 0
    return (
        AnomalyCase(
            id=f"paper-{subset.name}-{split}-{index:04d}",
            values=values,
            granularity=subset.granularity,
            events=events,
            variates=variates,
            subset=subset.name,
        )
        for index, (values, events, variates) in enumerate(islice(drawn, first, first + count))
    )


def _make_corrected(
    subset: AnomalySubset,
    split: Split,
    count: int,
    steps: int | None,
    cases: np.ndarray | None,
) -> Iterator[AnomalyCase]:
    own = corrected.STEPS[subset.base] if cases is None else cases.shape[1]
    for index in range(count):
        drawn = corrected.draw_series(subset, split, index, steps=steps or own, cases=cases)
        yield AnomalyCase(
            id=f"{subset.name}-{split}-{index:04d}",
            values=drawn.values,
            granularity=subset.granularity,
            events=drawn.events,
            variates=drawn.variates,
            subset=subset.name,
        )


def _check_paper(subset: AnomalySubset, steps: int | None) -> None:
    if subset not in list_subsets():
        raise ValueError(
            f"{subset.name}: is none of the paper's 124 subsets; see `list_subsets()`, or make it "
            'with `edition="corrected"`'
        )
    if steps is not None:
        raise ValueError(
            f"{subset.name}: the paper's series have their own length, got `steps` {steps!r}; "
            'leave it out, or take `edition="corrected"`'
        )


def _check_number(
    subset: AnomalySubset, name: str, value: object, least: int, most: int | None
) -> None:
    whole = isinstance(value, Integral) and not isinstance(value, bool)
    if not whole or value < least or (most is not None and value > most):  # type: ignore[operator]
        allowed = f"from {least} to {most}" if most is not None else f"of at least {least}"
        raise ValueError(f"{subset.name}: `{name}` must be an integer {allowed}, got {value!r}")
