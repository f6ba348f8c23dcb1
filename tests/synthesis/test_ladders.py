"""Ladders: damage in one dimension, in five grades."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import spearmanr

from timevista_hf.cases import ForecastCase
from timevista_hf.judges import Request
from timevista_hf.judges.builtin import BuiltinJudge
from timevista_hf.rubrics import load_rubric
from timevista_hf.synthesis._parts import parts_of
from timevista_hf.synthesis.ladders import DIMENSIONS, GRADES, damage, make_ladder
from timevista_hf.synthesis.timevista import make_series, make_synthetic

EACH = pytest.mark.parametrize("dimension", DIMENSIONS)
RUBRICS = [load_rubric(dimension) for dimension in DIMENSIONS]
SEEDS = range(8)


def observed(values: np.ndarray, horizon: int, season: int | None = None) -> ForecastCase:
    history, truth = values[:-horizon], values[-horizon:]
    return ForecastCase(
        id="a", history=history, truth=truth, prediction=np.zeros(horizon), season_length=season
    )


def wave(steps: int = 240, period: float = 24) -> np.ndarray:
    turns = 2 * np.pi * np.arange(steps) / period
    return 50 + 10 * np.sin(turns) + 3 * np.cos(2 * turns)


WAVE = observed(wave(), 72, 24)


def scores(case: ForecastCase) -> np.ndarray:
    replies = BuiltinJudge().ask([Request(case, rubric, prompt="") for rubric in RUBRICS])
    return np.array([reply.expected_score for _, reply in replies])


@pytest.fixture(scope="module")
def judged() -> np.ndarray:
    """Expected scores [series, dimension, grade, rubric] of the ladders of 10 series."""
    return np.array(
        [
            [
                [scores(case) for case in make_ladder(series, dimension, seed=seed)]
                for dimension in DIMENSIONS
            ]
            for seed, series in enumerate(make_synthetic(10))
        ]
    )


@EACH
def test_a_ladder_has_five_grades_that_its_models_tell(dimension):
    ladder = make_ladder(make_series(4), dimension)
    assert [case.model for case in ladder] == [f"{dimension}-{grade}" for grade in range(1, 6)]
    assert {case.id for case in ladder} == {"general-00"}


@EACH
def test_the_score_follows_the_grade_in_each_series(judged, dimension):
    own = DIMENSIONS.index(dimension)
    found = [spearmanr(GRADES, row).statistic for row in judged[:, own, :, own]]
    assert np.quantile(found, 0.1) >= 0.94


@EACH
def test_a_grade_means_the_same_score_in_all_series(judged, dimension):
    own = DIMENSIONS.index(dimension)
    # a slope is off by as much as its grade says at the end alone, and gets up to 0.35 more
    assert np.median(judged[:, own, :, own], axis=0) == pytest.approx([*GRADES], abs=0.36)


@EACH
def test_a_ladder_leaves_the_other_dimensions_alone(judged, dimension):
    own = DIMENSIONS.index(dimension)
    others = [axis for axis in range(4) if axis != own]
    moved = 5 - judged[:, own][:, :, others]
    assert moved[:, 2].mean() < 0.2
    assert moved[:, 0].mean() < 0.4


@EACH
@pytest.mark.parametrize("season", [24, None])
def test_a_series_of_unknown_parts_is_damaged_in_one_dimension_alone(dimension, season):
    case = observed(wave() + 0.05 * np.arange(240), 72, season)
    own = DIMENSIONS.index(dimension)
    for seed in SEEDS:
        found = np.array([scores(one) for one in make_ladder(case, dimension, seed=seed)])
        assert found[:, own] == pytest.approx([*GRADES], abs=0.5)
        assert np.delete(found, own, axis=1).min() >= 4.5


@EACH
def test_the_best_grade_is_the_truth_to_the_bit(dimension):
    assert damage(WAVE, dimension, 5, seed=3).tobytes() == WAVE.truth.tobytes()


@EACH
def test_the_same_seed_damages_alike_and_others_otherwise(dimension):
    drawn = {damage(WAVE, dimension, 2, seed=seed).tobytes() for seed in SEEDS}
    again = {damage(WAVE, dimension, 2, seed=seed).tobytes() for seed in SEEDS}
    assert drawn == again
    assert len(drawn) > 1


def test_a_trend_is_off_by_the_rubrics_share_of_the_range():
    box = np.where(np.arange(240) % 24 < 12, 10.0, 30.0)
    case = observed(box, 72, 24)
    for seed in SEEDS:
        off = np.abs(damage(case, "trend", 2, seed=seed) - case.truth)
        assert off[-1] == pytest.approx(0.65 * 20)


def test_a_lone_outlier_does_not_widen_the_range():
    box = np.where(np.arange(240) % 24 < 12, 10.0, 30.0)
    box[200] = 1000.0
    case = observed(box, 72, 24)
    assert abs(damage(case, "trend", 2) - case.truth)[-1] == pytest.approx(0.65 * 20)


def test_a_slope_starts_at_the_truth_and_a_level_is_off_everywhere():
    damaged = [damage(WAVE, "trend", 1, seed=seed) - WAVE.truth for seed in SEEDS]
    assert {round(abs(off[0] / off[-1]), 9) for off in damaged} == {0, 1}


def test_a_magnitude_is_off_by_the_rubrics_factor():
    damaged = [damage(WAVE, "magnitude", 3, seed=seed) for seed in SEEDS]
    factors = {round(float(np.ptp(values) / np.ptp(WAVE.truth)), 6) for values in damaged}
    assert factors == {round(float(np.exp(size)), 6) for size in (0.47, -0.47)}


def test_a_phase_is_off_by_the_rubrics_share_of_a_cycle_in_whole_steps():
    # 0.22 · 24 = 5.28 steps
    moved = {tuple(damage(WAVE, "phase", 3, seed=seed).round(6)) for seed in SEEDS}
    assert moved == {tuple(wave(300)[168 - lag : 240 - lag].round(6)) for lag in (5, -5)}


def test_a_short_cycle_is_shifted_by_parts_of_a_step():
    week = observed(wave(140, 7), 28, 7)
    drawn = [damage(week, "phase", grade) for grade in GRADES]
    assert len({values.round(6).tobytes() for values in drawn}) == 5


def test_a_motif_stands_at_the_rubrics_angle_to_the_truth():
    for seed in SEEDS:
        other = damage(WAVE, "motif", 1, seed=seed)
        assert np.corrcoef(other, WAVE.truth)[0, 1] == pytest.approx(np.cos(1.0), abs=0.02)


def test_a_spiky_shape_may_be_smoothed():
    phase = np.arange(300) / 50
    spikes = np.exp(-0.5 * ((np.mod(phase, 1) - 0.5) / 0.02) ** 2)
    case = observed(spikes, 150, 50)
    roughness = [np.abs(np.diff(damage(case, "motif", 2, seed=s), 2)).sum() for s in SEEDS]
    # smoothed to a bell three times as wide, a spike bends far less; blended, it keeps its tip
    assert min(roughness) < 0.5 * np.abs(np.diff(case.truth, 2)).sum() < max(roughness)


@EACH
def test_gaps_are_bridged_and_damaged(dimension):
    values = wave()
    values[5::11] = np.nan
    values[-72:-70] = np.nan
    case = observed(values, 72, 24)
    worst = damage(case, dimension, 1)
    assert np.isfinite(worst).all()
    seen = np.isfinite(case.truth)
    np.testing.assert_array_equal(damage(case, dimension, 5)[seen], case.truth[seen])


@EACH
@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    past=st.integers(1, 60),
    horizon=st.integers(5, 40),
    season=st.none() | st.integers(1, 50),
    grade=st.sampled_from([*GRADES]),
)
def test_any_series_that_moves_can_be_damaged(dimension, seed, past, horizon, season, grade):
    values = np.cumsum(np.random.default_rng(seed).normal(size=past + horizon))
    found = damage(observed(values, horizon, season), dimension, grade, seed=seed)
    assert found.shape == (horizon,)
    assert np.isfinite(found).all()


@EACH
@pytest.mark.parametrize(("factor", "offset"), [(1e-6, 0.0), (1e6, -1e6)])
def test_units_do_not_matter(dimension, factor, offset):
    moved = observed(factor * wave() + offset, 72, 24)
    expected = factor * damage(WAVE, dimension, 2, seed=1) + offset
    np.testing.assert_allclose(
        damage(moved, dimension, 2, seed=1), expected, rtol=0, atol=1e-5 * factor
    )


def test_without_a_season_the_lag_at_which_a_series_repeats_is_its_cycle():
    assert parts_of(observed(wave(period=20), 72)).period == 20


def test_where_nothing_repeats_a_third_of_the_horizon_is_a_cycle():
    walk = np.cumsum(np.random.default_rng(1).normal(size=200))
    assert parts_of(observed(walk, 60)).period == 20


def test_estimated_parts_recombine():
    parts = parts_of(WAVE)
    np.testing.assert_allclose(parts.level + parts.gain * parts.shape, wave(), rtol=1e-13)


def test_the_level_of_a_wave_on_a_line_is_the_line():
    case = observed(wave() + 0.3 * np.arange(240), 72, 24)
    np.testing.assert_allclose(parts_of(case).level, 50 + 0.3 * np.arange(240), atol=1e-9)


def test_a_series_that_never_moves_has_nothing_to_damage():
    with pytest.raises(ValueError, match="series 'a': history and truth never move"):
        damage(observed(np.full(60, 3.0), 20), "trend", 1)


@pytest.mark.parametrize("grade", [0, 6, 2.5])
def test_a_grade_that_is_none_is_refused(grade):
    with pytest.raises(ValueError, match="`grade` must be an integer from 1 to 5"):
        damage(WAVE, "trend", grade)


def test_a_horizon_too_short_for_another_shape_is_refused():
    with pytest.raises(ValueError, match="a horizon of 4 steps has no shape to replace"):
        damage(observed(wave(), 4), "motif", 3)


def test_an_unknown_dimension_is_refused():
    with pytest.raises(ValueError, match="did you mean 'phase'"):
        make_ladder(WAVE, "phases")
