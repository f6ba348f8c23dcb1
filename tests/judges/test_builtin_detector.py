"""The built-in detector: finds what shows, says nothing of what does not, knows the values only."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from timevista_hf.cases import AnomalyCase
from timevista_hf.detection import DetectionQuestion
from timevista_hf.judges import Request
from timevista_hf.judges.builtin import BuiltinJudge
from timevista_hf.judges.builtin._detect_curve import expect, smooth_robustly
from timevista_hf.judges.builtin._detector import detect
from timevista_hf.metrics.anomaly import affiliation_precision_recall, set_precision_recall_f1
from timevista_hf.synthesis.anomalies import find_subset, make_anomalies

PAGE = Path(__file__).parents[2] / "docs" / "builtin_detector.md"
BASES = Path(__file__).parents[3] / "shared" / "base_series"
COUNT = 30
UNIVARIATE = ["sine-global", "sine-contextual", "sine-seasonal", "sine-trend", "sine-shapelet"]
MULTIVARIATE = [
    f"sine_cosine-{shape}-m9" for shape in ("triangle", "square", "sawtooth", "random_walk")
]
REAL = ["symbols-global", "symbols-shapelet", "articulary_word_recognition-square-m9"]


@cache
def cases_of(name: str, count: int = COUNT) -> list[AnomalyCase]:
    real = None if find_subset(name).is_synthetic else BASES
    return list(make_anomalies(name, count=count, data_dir=real))


@cache
def answers_of(name: str, count: int = COUNT) -> list[list]:
    return [detect(case).anomalies for case in cases_of(name, count)]


def f1(cases: list[AnomalyCase], answers: list[list]) -> float:
    """Mean over the cases with anomalies; an answer is a reply's list."""
    asked = [case.events.size > 0 or bool(case.variates) for case in cases]
    cases, answers = (
        [one for one, kept in zip(many, asked, strict=True) if kept] for many in (cases, answers)
    )
    if cases[0].granularity == "variate":
        truth = [case.variates for case in cases]
        scores = set_precision_recall_f1(truth, answers, n_labels=cases[0].num_variates)
        return float(np.nan_to_num(scores.f1).mean())
    events = [
        [(a, a + 1) if isinstance(a, int) else (a[0], a[1] + 1) for a in answer]
        for answer in answers
    ]
    truth = [case.events for case in cases]
    scores = affiliation_precision_recall(truth, events, ranges=(0, cases[0].steps), merge=True)
    return float(scores.f1.mean())


def found(values, granularity: str) -> list:
    return detect(AnomalyCase(id="a", values=values, granularity=granularity)).anomalies


def wave(steps: int = 200, noise: float = 0.05, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.sin(2 * np.pi * np.arange(steps) / 25) + noise * rng.standard_normal(steps)


def chance_answers(case: AnomalyCase) -> dict[str, list]:
    """Everything, a grid, and the echo of the original prompt's example."""
    last = case.num_variates if case.granularity == "variate" else case.steps
    grid = list(range(0, last, 3 if case.granularity == "variate" else 20))
    echo = [place for place in (0, 2, 5) if place < last]
    everything = [[0, last - 1]] if case.granularity == "range" else list(range(last))
    return {"everything": everything, "grid": grid, "echo": echo}


@pytest.mark.parametrize("name", [*UNIVARIATE, *MULTIVARIATE])
def test_beats_every_blind_answer_by_far(name):
    cases = cases_of(name)
    blind = [chance_answers(case) for case in cases]
    best = max(f1(cases, [one[row] for one in blind]) for row in blind[0])
    assert f1(cases, answers_of(name)) > best + 0.25


@pytest.mark.skipif(not BASES.exists(), reason="the real base series are not here")
@pytest.mark.parametrize("name", REAL)
def test_beats_every_blind_answer_on_real_series(name):
    cases = cases_of(name, 12)
    blind = [chance_answers(case) for case in cases]
    best = max(f1(cases, [one[row] for one in blind]) for row in blind[0])
    assert f1(cases, answers_of(name, 12)) > best + 0.2


@pytest.mark.parametrize("name", [*UNIVARIATE, *MULTIVARIATE])
def test_the_figures_of_the_page_are_those_of_the_detector(name):
    row = re.search(rf"^\| `{name}` \| ([\d.]+) \|", PAGE.read_text("utf-8"), re.MULTILINE)
    assert row is not None
    measured = 100 * f1(cases_of(name), answers_of(name))
    assert measured == pytest.approx(float(row[1]), abs=1.0)


def test_clean_series_get_an_empty_answer_but_for_rare_ones():
    clean, alarms = 0, 0
    for name in [*UNIVARIATE, *MULTIVARIATE]:
        for case, answer in zip(cases_of(name), answers_of(name), strict=True):
            is_clean = not case.events.size and not case.variates
            clean, alarms = clean + is_clean, alarms + (is_clean and answer != [])
    assert clean == 27  # one in ten
    assert alarms <= 2


@pytest.mark.parametrize("name", ["sine-contextual-r25", "sine-shapelet-r25"])
def test_missing_steps_hide_nothing_that_shows(name):
    assert f1(cases_of(name, 12), answers_of(name, 12)) > 0.9


def test_neither_id_nor_subset_nor_truth_is_looked_at():
    case = cases_of("sine-trend")[0]
    bare = AnomalyCase(id="x", values=case.values, granularity="range")
    assert detect(bare) == detect(case)


@pytest.mark.parametrize("unit", [1e-280, 1e-6, 1e9, 1e280])
def test_neither_unit_nor_level_matters(unit):
    values = wave()
    values[[40, 90, 133]] += [1.0, -2.0, 0.8]
    assert found(unit * (values + 3), "point") == found(values, "point") == [40, 90, 133]


def test_a_point_inside_the_range_of_the_series_is_found():
    values = wave()
    values[np.argmax(values[50:75]) + 50] = 0.0
    assert found(values, "point") == [int(np.argmax(wave()[50:75])) + 50]


def test_a_single_step_is_no_range():
    values = wave()
    values[60] = 5
    assert found(values, "range") == []


def test_a_range_is_named_by_its_first_and_last_step():
    values = wave()
    values[60:72] += 1.5
    assert found(values, "range") == [[60, 71]]


def test_a_series_without_a_cycle_is_measured_against_its_neighbours():
    t = np.linspace(-1, 1, 200)
    values = t**3 - t + 0.01 * np.random.default_rng(1).standard_normal(200)
    values[[30, 150]] += [0.3, -0.3]
    assert found(values, "point") == [30, 150]


def test_what_comes_again_in_each_cycle_is_no_anomaly():
    beat = np.exp(-(((np.arange(400) % 25 - 12) / 1.5) ** 2))
    values = 5 * beat + 0.1 * np.random.default_rng(2).standard_normal(400)
    assert found(values, "point") == []


def test_what_is_common_is_no_exception():
    values = np.where(np.random.default_rng(3).random(300) < 0.4, 1.0, 0.0)
    assert found(values, "point") == []


@pytest.mark.parametrize("granularity", ["point", "range"])
@pytest.mark.parametrize(
    "values", [[7.0] * 50, [1e9] * 9, [0.0] * 8, [np.nan] * 20, [1.0, 9.0], [0, 9, 0, 0]]
)
def test_constant_and_short_series_get_an_empty_answer(values, granularity):
    assert found(values, granularity) == []


def test_the_one_step_at_which_a_constant_series_moves_is_found():
    values = np.full(60, 5.0)
    values[20] = 5.1
    assert found(values, "point") == [20]


def test_of_two_variates_the_one_that_is_no_plain_wave_is_named():
    square = np.sign(wave(noise=0)) + 0.05 * np.random.default_rng(4).standard_normal(200)
    assert found(np.column_stack([wave(), square]), "variate") == [1]
    assert found(np.column_stack([wave(), wave(seed=5)]), "variate") == []


def test_height_and_level_of_a_variate_do_not_count():
    columns = [wave(seed=seed) for seed in range(6)]
    columns[2] = 100 * columns[2] - 7
    assert found(np.column_stack(columns), "variate") == []


def test_the_one_variate_that_does_not_move_is_named():
    columns = [wave(seed=seed) for seed in range(6)]
    columns[3] = np.full(200, 2.0)
    assert found(np.column_stack(columns), "variate") == [3]


def test_fewer_than_half_of_the_variates_are_named():
    rng = np.random.default_rng(6)
    squares = [np.sign(wave(seed=s)) + 0.05 * rng.standard_normal(200) for s in range(2)]
    assert found(np.column_stack([wave(seed=7), wave(seed=8), *squares]), "variate") == []


def test_the_curve_goes_through_a_parabola_with_outliers_and_gaps():
    t = np.linspace(-1, 1, 60)
    truth = 1 + 2 * t - 3 * t**2
    values = truth.copy()
    values[[10, 33]] += 4
    values[[20, 21, 40]] = np.nan
    assert np.allclose(smooth_robustly(values, 6), truth, atol=1e-3)


@pytest.mark.parametrize("period", [7.3, 25.0, 41.0])
def test_the_period_is_found_beneath_outliers(period):
    t = np.arange(300)
    values = np.sin(2 * np.pi * t / period) + 0.05 * np.random.default_rng(9).standard_normal(300)
    values[::19] += 3
    expected = expect(values, 5)
    assert expected.period == pytest.approx(period, rel=0.005)
    # The median of absolute deviations of white noise, an outlier in 19 aside.
    assert expected.noise == pytest.approx(0.05, rel=0.25)


@given(
    granularity=st.sampled_from(["point", "range", "variate"]),
    steps=st.integers(2, 60),
    variates=st.integers(2, 5),
    missing=st.sampled_from([0, 0.3, 0.9]),
    kind=st.sampled_from(["noise", "walk", "few", "steep"]),
    seed=st.integers(0, 1000),
)
@settings(max_examples=60, deadline=None)
def test_any_series_gets_an_answer_within_itself(granularity, steps, variates, missing, kind, seed):
    rng = np.random.default_rng(seed)
    shape = (steps, variates) if granularity == "variate" else (steps,)
    noise = rng.standard_normal(shape)
    values = {
        "noise": noise,
        "walk": noise.cumsum(axis=0),
        "few": np.floor(noise),
        "steep": 1e150 * noise**9,
    }[kind]
    values = np.where(rng.random(shape) < missing, np.nan, values)
    case = AnomalyCase(id="a", values=values, granularity=granularity)
    question = DetectionQuestion(granularity, steps, case.num_variates)
    [(_, reply)] = BuiltinJudge().ask([Request(case, question, prompt="")])
    answer = question.parse(reply.text)
    assert (answer.rejected, answer.repairs) == (0, ())
    assert len(json.loads(reply.text)["anomalies"]) == len(answer.events) + len(answer.variates)


def test_the_rationale_says_what_was_measured():
    values = wave(noise=0.01)
    values[60] += 2
    said = detect(AnomalyCase(id="a", values=values, granularity="point")).rationale
    assert said.startswith("Measured against a cycle of 25.0 steps, with a noise of 0.0")
    assert said.endswith("1 step further off; the furthest: 60 by +1.99.")


def test_the_same_series_gets_the_same_answer():
    case = cases_of("sine_cosine-sawtooth-m9")[0]
    assert detect(case) == detect(case)
