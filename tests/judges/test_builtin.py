"""The built-in judge: right about what it damages, blind to the rest."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from ladders import NONE, PARTS, Series, draw
from scipy.stats import spearmanr

from timevista_hf.cases import ForecastCase
from timevista_hf.judges import Reply, Request
from timevista_hf.judges.builtin import BuiltinJudge
from timevista_hf.rubrics import Rubric, load_rubric, select_rubrics

GRADES = range(1, 6)
RUBRICS = select_rubrics("micro")


def judge(case: ForecastCase, *rubrics: Rubric) -> dict[str, Reply]:
    requests = [Request(case, rubric, prompt="") for rubric in rubrics or RUBRICS]
    return {r.question.dimension: reply for r, reply in BuiltinJudge().ask(requests)}


def scores(case: ForecastCase) -> dict[str, float]:
    return {name: float(reply.expected_score or 0) for name, reply in judge(case).items()}


def row(case: ForecastCase) -> list[float]:
    """Expected scores in the order of the dimensions."""
    found = scores(case)
    return [found[name] for name in PARTS]


def wave(steps: np.ndarray, period: float = 24) -> np.ndarray:
    return 50 + 10 * np.sin(2 * np.pi * steps / period) + 3 * np.cos(4 * np.pi * steps / period)


def case_of(prediction: np.ndarray, truth: np.ndarray, history: np.ndarray) -> ForecastCase:
    return ForecastCase(id="x", history=history, truth=truth, prediction=prediction)


def wave_case(prediction: np.ndarray, period: float = 24) -> ForecastCase:
    return case_of(prediction, wave(np.arange(192, 288), period), wave(np.arange(192), period))


@pytest.fixture(scope="module")
def series() -> list[Series]:
    """42 series: each of 14 shapes three times, with trends, changing amplitude and noise."""
    return [draw(seed) for seed in range(42)]


@pytest.fixture(scope="module")
def ladders(series: list[Series]) -> dict[str, np.ndarray]:
    """Expected scores [series, grade 0 to 5, dimension] for damage in each dimension alone."""
    return {
        part: np.array(
            [[row(one.case({**NONE, part: grade})) for grade in (0, *GRADES)] for one in series]
        )
        for part in PARTS
    }


@pytest.fixture(scope="module")
def joint(series: list[Series]) -> tuple[np.ndarray, np.ndarray]:
    """Grades and expected scores [draws, dimension] with all four damaged at once."""
    rng = np.random.default_rng(1)
    grades = rng.integers(0, 6, (3 * len(series), len(PARTS)))
    cases = [
        one.case(dict(zip(PARTS, map(int, row), strict=True)))
        for one, row in zip([*series] * 3, grades, strict=True)
    ]
    return grades, np.array([row(case) for case in cases])


@pytest.mark.parametrize("part", PARTS)
def test_the_score_falls_with_the_damage_in_each_series(ladders, part):
    own = ladders[part][:, 1:, PARTS.index(part)]
    found = np.array([spearmanr(GRADES, row).statistic for row in own])
    assert np.median(found) <= -0.94
    assert np.quantile(found, 0.9) <= -0.88


@pytest.mark.parametrize("part", PARTS)
def test_the_score_means_the_same_across_series(ladders, part):
    own = ladders[part][:, 1:, PARTS.index(part)]
    assert spearmanr(np.tile(GRADES, len(own)), own.ravel()).statistic <= -0.9


@pytest.mark.parametrize("other", PARTS)
@pytest.mark.parametrize("part", PARTS)
def test_damage_in_one_dimension_leaves_the_others_alone(ladders, part, other):
    if part == other:
        return
    moved = np.abs(ladders[part] - ladders[part][:, :1])[:, :, PARTS.index(other)]
    assert moved[:, 3].mean() < 0.25
    assert moved[:, 5].mean() < 0.5
    assert np.quantile(moved[:, 3], 0.9) < 0.5
    assert np.quantile(moved[:, 5], 0.9) < 1.0


@pytest.mark.parametrize("part", PARTS)
def test_all_damaged_at_once_each_score_still_follows_its_own(joint, part):
    grades, found = joint
    column = PARTS.index(part)
    limit = -0.8 if part == "motif" else -0.85
    assert spearmanr(grades[:, column], found[:, column]).statistic <= limit


@pytest.mark.parametrize("part", PARTS)
def test_all_damaged_at_once_no_score_follows_another(joint, part):
    grades, found = joint
    others = [name for name in PARTS if name != part]
    follows = [
        spearmanr(grades[:, PARTS.index(name)], found[:, PARTS.index(part)]).statistic
        for name in others
    ]
    assert max(map(abs, follows)) < 0.25


def test_undamaged_forecasts_of_noisy_series_keep_a_five(ladders):
    undamaged = ladders["trend"][:, 0]
    assert np.mean(undamaged >= 4.5) >= 0.99


@pytest.mark.parametrize("period", [7.3, 12, 24])
def test_a_perfect_forecast_gets_five_everywhere(period):
    truth = wave(np.arange(192, 288), period)
    assert set(scores(wave_case(truth, period)).values()) == {5.0}


@pytest.mark.parametrize("seed", range(5))
def test_truth_plus_small_noise_stays_at_five(seed):
    noise = np.random.default_rng(seed).normal(size=96)
    found = scores(wave_case(wave(np.arange(192, 288)) + 0.3 * noise))
    assert min(found.values()) >= 4.75


@pytest.mark.parametrize("line", [50.0, 47.5 + np.arange(96) / 40])
def test_a_flat_or_straight_line_has_no_motif_phase_or_magnitude(line):
    found = scores(wave_case(np.full(96, 1.0) * line))
    assert (found["motif"], found["phase"], found["magnitude"]) == (1.0, 1.0, 1.0)
    assert found["trend"] >= 4.5
    assert found["general"] <= 2.0


def test_a_negated_forecast_fails_phase_or_motif():
    truth = wave(np.arange(192, 288))
    found = scores(wave_case(2 * truth.mean() - truth))
    assert min(found["phase"], found["motif"]) <= 1.5
    assert found["magnitude"] >= 4.5


def test_one_step_late_costs_about_a_quarter_of_a_point():
    found = scores(wave_case(wave(np.arange(191, 287), 12), 12))
    assert 0.2 <= 5 - found["phase"] <= 0.8
    assert min(found["trend"], found["motif"], found["magnitude"]) >= 4.9


def test_the_rationale_says_how_late_in_steps_and_in_cycles():
    reply = judge(wave_case(wave(np.arange(186, 282))), load_rubric("phase"))["phase"]
    rationale = json.loads(reply.text)["rationale"]
    assert "6.0 steps late, 25% of a cycle of 24 steps" in rationale


def test_the_rationale_says_how_tall_the_swings_are():
    truth = wave(np.arange(192, 288))
    reply = judge(wave_case(50 + 1.5 * (truth - 50)), load_rubric("magnitude"))["magnitude"]
    assert "1.50 times as tall" in json.loads(reply.text)["rationale"]


def test_a_growing_lag_is_told_from_a_fixed_one():
    t = np.arange(96.0)
    drifting = wave(192 + t - 8 * t / 95)
    reply = judge(wave_case(drifting), load_rubric("phase"))["phase"]
    assert "at the start" in json.loads(reply.text)["rationale"]
    assert "at the end" in json.loads(reply.text)["rationale"]
    assert scores(wave_case(drifting))["motif"] >= 4.5


@pytest.mark.parametrize(("factor", "offset"), [(1e-6, 0.0), (1e9, -1e9), (3.0, 1e4)])
def test_units_do_not_matter(factor, offset):
    case = draw(5).case({"trend": 2, "motif": 1, "phase": 2, "magnitude": 1})
    moved = case_of(
        case.prediction * factor + offset,
        case.truth * factor + offset,
        case.history * factor + offset,
    )
    before, after = scores(case), scores(moved)
    assert after == pytest.approx(before, abs=0.02)


def walk(seed: int) -> np.ndarray:
    return 100 + np.cumsum(np.random.default_rng(seed).normal(size=240))


def counts(seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.poisson(5 * np.exp(np.cumsum(0.04 * rng.normal(size=240)))).astype(float)


def events(seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    y = 0.1 * rng.normal(size=240)
    for at in rng.choice(230, 9, replace=False):
        y[at : at + 6] += rng.uniform(2, 6) * np.exp(-np.arange(6) / 2)
    return y


NO_CYCLE = pytest.mark.parametrize("make", [walk, counts, events])
SEEDS = range(20)


def split(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return values[:-48], values[-48:]


@NO_CYCLE
def test_without_a_cycle_a_perfect_forecast_gets_five(make):
    for seed in SEEDS:
        history, truth = split(make(seed))
        assert min(scores(case_of(truth, truth, history)).values()) >= 4.5


@NO_CYCLE
def test_without_a_cycle_a_flat_line_has_no_motif_phase_or_magnitude(make):
    for seed in SEEDS:
        history, truth = split(make(seed))
        found = scores(case_of(np.full(48, history[-1]), truth, history))
        assert (found["motif"], found["phase"], found["magnitude"]) == (1.0, 1.0, 1.0)


@NO_CYCLE
def test_without_a_cycle_a_drift_lowers_the_trend_alone(make):
    found = []
    for seed in SEEDS:
        history, truth = split(make(seed))
        ramp = 0.6 * np.ptp(truth) * np.linspace(0, 1, 48)
        found.append(scores(case_of(truth + ramp, truth, history)))
    assert np.mean([entry["trend"] for entry in found]) <= 3.0
    assert min(entry[name] for entry in found for name in PARTS[1:]) >= 4.0


@NO_CYCLE
def test_without_a_cycle_a_scaled_forecast_lowers_the_magnitude_alone(make):
    for seed in SEEDS:
        history, truth = split(make(seed))
        t = np.arange(48)
        line = np.polyval(np.polyfit(t, truth, 1), t)
        found = scores(case_of(line + 2.1 * (truth - line), truth, history))
        assert found["magnitude"] <= 3.0
        assert min(found["motif"], found["phase"]) >= 4.5


@NO_CYCLE
def test_without_a_cycle_a_late_forecast_lowers_the_phase_most(make):
    found = []
    for seed in SEEDS:
        values = make(seed)
        history, truth = split(values)
        found.append(scores(case_of(values[-52:-4], truth, history)))
    means = {name: np.mean([entry[name] for entry in found]) for name in PARTS}
    assert means["phase"] <= 3.5
    assert means["magnitude"] >= 4.0


def test_without_a_cycle_texture_alone_is_worth_a_three():
    found = [
        scores(case_of(walk(seed + 100)[-48:], split(walk(seed))[1], split(walk(seed))[0]))
        for seed in SEEDS
    ]
    assert 2.0 <= np.mean([entry["motif"] for entry in found]) <= 3.5


def test_a_truth_that_does_not_move_and_a_forecast_that_does_not_are_alike():
    still = np.full(24, 7.0)
    assert set(scores(case_of(still, still, still)).values()) == {5.0}


def test_movement_that_the_truth_does_not_have_is_a_fault():
    still = np.full(24, 7.0)
    found = scores(case_of(still + np.tile([0.0, 1.0], 12), still, still))
    assert max(found["motif"], found["phase"], found["magnitude"]) == 1.0


def test_a_forecast_that_lacks_most_steps_is_an_error_not_a_score():
    prediction = np.where(np.arange(96) < 90, np.nan, 50.0)
    reply = judge(wave_case(prediction), load_rubric("trend"))["trend"]
    assert (reply.status, reply.expected_score) == ("error", None)
    assert reply.reason == "the forecast holds 6 of the 96 observed steps"


def test_gaps_in_truth_and_forecast_are_bridged():
    truth = wave(np.arange(192, 288))
    gappy = np.where(np.arange(96) % 11 == 3, np.nan, truth)
    found = scores(
        case_of(np.where(np.arange(96) % 13 == 5, np.nan, truth), gappy, wave(np.arange(192)))
    )
    assert min(found.values()) >= 4.5


def test_the_whole_is_bounded_by_its_mean_and_its_worst_aspect():
    for seed in range(14):
        found = scores(draw(seed).case({"trend": 1, "motif": 0, "phase": 4, "magnitude": 2}))
        aspects = [found[name] for name in PARTS]
        assert found["general"] <= min(aspects) + 1 + 1e-3
        assert found["general"] <= np.mean(aspects) + 1e-3


def test_a_broken_hard_constraint_caps_the_score_and_is_named():
    day = np.clip(np.sin(2 * np.pi * np.arange(24 * 12) / 24), 0, None) * 40
    prediction = day[-48:].copy()
    prediction[:4] = -6.0
    case = ForecastCase(
        id="plant", history=day[:-48], truth=day[-48:], prediction=prediction, season_length=24
    )
    rubric = load_rubric("solar")
    reply = judge(case, rubric)["with_knowledge"]
    assert reply.expected_score <= min(constraint.cap for constraint in rubric.constraints)
    assert "Capped at 2" in json.loads(reply.text)["rationale"]


def test_a_rubric_of_ones_own_brings_its_own_thresholds(tmp_path):
    strict = tmp_path / "strict.md"
    levels = "".join(f"  {score}: level {score}\n" for score in range(1, 6))
    strict.write_text(
        "---\nname: strict\nversion: '1'\nlevel: micro\ndimension: phase\n"
        f"scale:\n{levels}twin: {{errors: [0, 0.01, 0.02, 0.03, 0.04]}}\n---\nBe strict.\n"
    )
    case = wave_case(wave(np.arange(191, 287), 12), 12)
    assert judge(case, load_rubric(strict))["phase"].expected_score == 1.0


def test_thresholds_that_do_not_ascend_are_refused():
    rubric = load_rubric("phase")
    broken = Rubric(**{**vars(rubric), "twin": {"errors": [3, 2, 1, 0, 0]}})
    with pytest.raises(ValueError, match=r"rubric 'phase': `twin.errors` must be 5 ascending"):
        judge(wave_case(wave(np.arange(96))), broken)


VALUES = st.floats(-1e300, 1e300, allow_nan=False) | st.integers(-3, 3).map(float)


@settings(max_examples=150, deadline=None)
@given(
    history=arrays(float, st.integers(1, 60), elements=VALUES | st.just(float("nan"))),
    pair=st.integers(2, 40).flatmap(
        lambda size: st.tuples(
            arrays(float, size, elements=VALUES), arrays(float, size, elements=VALUES)
        )
    ),
    season=st.none() | st.integers(1, 50),
)
def test_any_numbers_get_a_score_within_the_scale(history, pair, season):
    case = ForecastCase(
        id="x", history=history, truth=pair[0], prediction=pair[1], season_length=season
    )
    for rubric, reply in zip(RUBRICS, judge(case).values(), strict=True):
        assert 1 <= rubric.parse(reply.text).score <= 5
        assert 1 <= reply.expected_score <= 5
