"""The corrected edition: each defect of the paper's is repaired; subsets and their names."""

from math import isqrt

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from synthesis.archives import draw_cases, write_arff, write_csv

from timevista_hf.synthesis import _waves
from timevista_hf.synthesis._anomaly_corrected import draw_series
from timevista_hf.synthesis.anomalies import (
    AnomalySubset,
    find_subset,
    list_subsets,
    make_anomalies,
)

SINE_SD = 1.5 / np.sqrt(2)
NOISE_SD = 0.05 * 1.5
SHAPES = ["triangle", "square", "sawtooth", "random_walk"]
POINTS = ["sine-global", "sine-contextual"]
RANGES = ["sine-seasonal", "sine-trend", "sine-shapelet"]


def draw(name, index=0, *, split="test", steps=None, cases=None):
    """Draw a series together with what it was before the anomaly."""
    subset = find_subset(name)
    own = 400 if subset.granularity != "variate" else 200
    own = own if cases is None else cases.shape[1]
    return draw_series(subset, split, index, steps=steps or own, cases=cases)


def labelled(drawn):
    mask = np.zeros(len(drawn.values), dtype=bool)
    for start, stop in drawn.events:
        mask[start:stop] = True
    return mask


def spoiled(name, count=20, **options):
    """Draw the first series that are not clean."""
    drawn = [draw(name, index, **options) for index in range(count)]
    return [one for index, one in enumerate(drawn) if index % 10 != 9]


def distance_from_sine(values, steps, freq):
    """Return the root mean square of what the best sine of a frequency leaves."""
    angle = 2 * np.pi * freq * steps
    waves = np.column_stack([np.sin(angle), np.cos(angle)])
    rest = values - waves @ np.linalg.lstsq(waves, values, rcond=None)[0]
    return np.sqrt(np.mean(rest**2))


@pytest.mark.parametrize("index", [0, 1, 2, 50])
def test_g1_every_seasonal_series_has_the_base_frequency_and_three_times_it_in_the_range(index):
    drawn, steps = draw("sine-seasonal", index), np.arange(400)
    mask = labelled(drawn)
    assert distance_from_sine(drawn.values[~mask], steps[~mask], 0.04) < 1.2 * NOISE_SD
    for start, stop in drawn.events:
        inside = slice(start, stop)
        assert distance_from_sine(drawn.values[inside], steps[inside], 0.12) < 2 * NOISE_SD
        assert distance_from_sine(drawn.values[inside], steps[inside], 0.04) > 0.5 * SINE_SD


def test_g2_a_trend_leads_back_to_the_level_and_every_labelled_step_is_displaced():
    for drawn in spoiled("sine-trend"):
        mask = labelled(drawn)
        moved = drawn.values - drawn.normal
        assert not moved[~mask].any()
        assert moved[mask].all()
        tops = [np.abs(moved[start:stop]).max() for start, stop in drawn.events]
        assert min(tops) >= 1.49 * SINE_SD


def test_g3_every_global_point_lies_beyond_all_that_is_normal():
    for drawn in spoiled("sine-global"):
        points, normal = drawn.values[labelled(drawn)], drawn.values[~labelled(drawn)]
        beyond = np.maximum(points - normal.max(), normal.min() - points)
        assert beyond.min() >= 0.49 * SINE_SD


def test_g4_every_contextual_point_is_away_from_its_context_but_within_the_range():
    for drawn in spoiled("sine-contextual"):
        points = drawn.events[:, 0]
        assert drawn.values.max() <= drawn.normal.max()
        assert drawn.values.min() >= drawn.normal.min()
        for shift in (-1, 0, 1):
            away = np.abs(drawn.values[points] - drawn.normal[points + shift])
            assert away.min() >= 0.49 * SINE_SD


@pytest.mark.parametrize(
    ("name", "gap"), [*((one, 5) for one in POINTS), *((one, 20) for one in RANGES)]
)
def test_g5_anomalies_never_repeat_touch_or_reach_an_end(name, gap):
    for drawn in spoiled(name):
        starts, stops = drawn.events.T
        assert (starts[1:] - stops[:-1] >= gap).all()
        assert starts[0] >= 1 and stops[-1] <= 399
        assert set(stops - starts) <= ({1} if gap == 5 else {*range(10, 21)})


def test_g5_the_number_of_anomalies_is_not_always_the_same():
    assert {len(one.events) for one in spoiled("sine-trend", 40)} == {1, 2}
    counts = {len(one.events) for one in spoiled("sine-global", 100)}
    assert min(counts) < 5 and 15 < max(counts) <= 20


@pytest.mark.parametrize("wave", [_waves.sine, _waves.square, _waves.sawtooth, _waves.triangle])
def test_g6_every_shape_reaches_from_minus_one_to_one(wave):
    values = wave(np.linspace(0, 3, 30001))
    assert (values.min(), values.max()) == pytest.approx((-1, 1), abs=1e-3)


def test_g6_the_triangle_is_farther_from_a_sine_than_the_noise():
    # The first harmonic of a triangle of height 1 is 8 / pi^2; its mean square is 1 / 3.
    distance = np.sqrt(1 / 3 - (8 / np.pi**2) ** 2 / 2)
    assert distance == pytest.approx(0.069, abs=5e-4)
    cycles = np.arange(1000) / 1000
    left = distance_from_sine(_waves.triangle(cycles), np.arange(1000), 1 / 1000)
    assert left == pytest.approx(distance, abs=1e-4)
    for drawn in spoiled("sine_cosine-triangle-m9", 10):
        for variate in drawn.variates:
            normal = drawn.normal[:, variate]
            noise = np.std(np.diff(normal, n=4)) / np.sqrt(70)  # of the 4th difference: 1 4 6 4 1
            assert noise / (np.ptp(normal) / 2) < distance


def test_g7_series_start_anywhere_in_the_period():
    starts = np.array([draw("sine-trend", index).normal[0] for index in range(50)])
    histogram, _ = np.histogram(starts, [-2, -0.75, 0.75, 2])
    assert (histogram >= 8).all()


@pytest.mark.parametrize("shape", SHAPES)
def test_g7_an_anomalous_variate_keeps_level_and_size(shape):
    for drawn in spoiled(f"sine_cosine-{shape}-m16", 5):
        for variate in drawn.variates:
            now, before = drawn.values[:, variate], drawn.normal[:, variate]
            assert np.ptp(now) == pytest.approx(np.ptp(before), rel=0.15)
            middle = (now.max() + now.min() - before.max() - before.min()) / 2
            assert abs(middle) < 0.15 * np.ptp(before)


def test_g8_subsets_share_neither_labels_nor_normal_variates():
    labels = {
        tuple(draw(f"sine_cosine-{shape}-m36", at).variates for at in range(9)) for shape in SHAPES
    }
    first = {draw(f"sine-trend-r{rate}").normal[0] for rate in (5, 10, 15, 20, 25)}
    assert len(labels) == 4
    assert len(first) == 5


def test_g9_every_series_is_made_of_another_case_with_noise_of_its_own(tmp_path):
    cases = draw_cases("Symbols", 40)
    drawn = [draw("symbols-trend", index, cases=cases).normal for index in range(20)]
    nearest = [np.abs(cases[:, :, 0] - one).mean(axis=1).argmin() for one in drawn]
    assert sorted(nearest) == [*range(0, 40, 2)]
    for one, at in zip(drawn, nearest, strict=True):
        noise = np.std(one - cases[at, :, 0]) / (np.ptp(cases[at]) / 2)
        assert noise == pytest.approx(0.05, rel=0.15)


def test_g9_training_and_test_share_no_case():
    cases = draw_cases("Symbols", 10)
    nearest = {
        split: {
            int(np.abs(cases[:, :, 0] - one.normal).mean(axis=1).argmin()) % 2
            for one in (draw("symbols-trend", at, split=split, cases=cases) for at in range(5))
        }
        for split in ("train", "test")
    }
    assert nearest == {"test": {0}, "train": {1}}


@pytest.mark.parametrize("count", [1, 8])
def test_g9_no_variate_occurs_twice_in_a_series(count):
    cases = draw_cases("ArticularyWordRecognition", count)
    drawn = draw("articulary_word_recognition-square-m36", 9, cases=cases)  # a clean one
    apart = np.abs(drawn.normal[:, :, None] - drawn.normal[:, None]).mean(axis=0)
    assert apart[~np.eye(36, dtype=bool)].min() > 0.5


def test_g9_more_variates_than_the_cases_have_are_refused(tmp_path):
    cases = draw_cases("ArticularyWordRecognition", 1)
    path = tmp_path / "articulary_word_recognition_test_0.csv"
    path.write_text(write_csv("ArticularyWordRecognition", cases))
    with pytest.raises(ValueError, match="37 different variates need 5 cases, and the file has 1"):
        next(make_anomalies("articulary_word_recognition-square-m37", data_dir=tmp_path))


@pytest.mark.parametrize("name", [f"{one}-r25" for one in (*POINTS, *RANGES)])
def test_g10_anomalies_are_never_missing_and_never_alone(name):
    for drawn in spoiled(name):
        seen, mask = ~np.isnan(drawn.values), labelled(drawn)
        ends = np.concatenate([drawn.events[:, 0], drawn.events[:, 1] - 1])
        assert seen[ends].all() and seen[ends - 1].all() and seen[ends + 1].all()
        steps = np.flatnonzero(mask & seen)
        assert (seen[steps - 1] | seen[steps + 1]).all()
        assert (~seen).sum() == 100


def test_g10_ranges_have_missing_steps_too():
    shares = [np.isnan(one.values)[labelled(one)].mean() for one in spoiled("sine-trend-r25", 50)]
    assert np.mean(shares) > 0.1


@pytest.mark.parametrize("name", ["sine-global", "sine-trend-r10", "sine_cosine-square-m9-r10"])
def test_g11_the_last_of_each_ten_series_is_clean(name):
    clean = [not len(case.events) and not case.variates for case in make_anomalies(name, count=30)]
    assert clean == [at in (9, 19, 29) for at in range(30)]


@pytest.mark.parametrize("count", [2, 3, 4, 9, 36])
def test_g11_few_variates_have_an_anomaly_too_and_most_are_normal(count):
    numbers = {len(one.variates) for one in spoiled(f"sine_cosine-square-m{count}", 60)}
    assert numbers == {*range(1, max(1, isqrt(count) - 1) + 1)}


def test_g12_a_series_without_labels_is_a_case_like_others():
    *_, clean = make_anomalies("sine-shapelet", count=10)
    assert clean.events.shape == (0, 2)
    assert np.abs(clean.values).max() < 2


@pytest.mark.parametrize("level", [-20.0, 0.0, 5.0])
def test_g13_a_shapelet_lies_at_the_level_of_its_range_and_is_far_from_what_was_there(level):
    cases = draw_cases("Symbols", 2) + level
    for drawn in spoiled("symbols-shapelet", 9, cases=cases):
        sd = np.std(drawn.normal)
        assert drawn.values.max() < drawn.normal.max() + 0.3 * sd
        assert drawn.values.min() > drawn.normal.min() - 0.3 * sd
        for start, stop in drawn.events:
            now, before = drawn.values[start:stop], drawn.normal[start:stop]
            assert np.sqrt(np.mean((now - before) ** 2)) > 0.7 * sd
            assert abs(now.mean() - before.mean()) < 1.2 * sd


def test_a_smaller_count_gives_the_first_series():
    few, many = (
        [case.values for case in make_anomalies("sine-seasonal", count=count)] for count in (3, 12)
    )
    assert np.array_equal(few, many[:3])


def test_splits_differ():
    train, test = (draw("sine-global", split=split) for split in ("train", "test"))
    assert not np.array_equal(train.values, test.values)


def test_a_random_walk_crosses_its_range_however_long_it_is():
    walk = _waves.random_walk(2000, np.random.default_rng(0))
    assert (walk.min(), walk.max()) == pytest.approx((-1, 1))
    assert np.count_nonzero(np.diff(np.sign(walk))) > 20


def test_real_series_have_their_own_length_and_are_stretched_to_another(tmp_path):
    cases = draw_cases("Symbols", 2)
    (tmp_path / "Symbols_TEST.arff").write_text(write_arff("Symbols", cases))
    [own] = make_anomalies("symbols-trend", count=1, data_dir=tmp_path)
    [longer] = make_anomalies("symbols-trend", count=1, steps=1000, data_dir=tmp_path)
    assert (own.steps, longer.steps) == (398, 1000)


def test_a_constant_variate_of_a_real_case_stays_finite():
    cases = draw_cases("ArticularyWordRecognition", 1)
    cases[:, :, 3] = 0.5
    drawn = draw("articulary_word_recognition-square-m9", cases=cases)
    assert np.isfinite(drawn.values).all()


subsets = st.one_of(
    st.builds(
        AnomalySubset,
        base=st.just("sine"),
        anomaly=st.sampled_from(["global", "contextual", "seasonal", "trend", "shapelet"]),
        irregularity=st.integers(0, 50),
    ),
    st.builds(
        AnomalySubset,
        base=st.just("sine_cosine"),
        anomaly=st.sampled_from(SHAPES),
        num_variates=st.integers(2, 40),
        irregularity=st.integers(0, 50),
    ),
)


@given(subset=subsets, steps=st.integers(50, 700), count=st.integers(0, 3))
@example(subset=find_subset("sine-shapelet-r50"), steps=50, count=3)
@example(subset=find_subset("sine-global-r50"), steps=50, count=3)
@settings(max_examples=60, deadline=None)
def test_any_subset_length_and_count_make_valid_cases(subset, steps, count):
    cases = [*make_anomalies(subset, count=count, steps=steps)]
    assert len(cases) == count
    for case in cases:
        assert (case.steps, case.num_variates) == (steps, subset.num_variates)
        missing = np.isnan(case.values).sum(axis=0)
        assert np.all(missing == steps * subset.irregularity // 100)
        assert len(case.events) + len(case.variates) >= 1
        assert case.subset == subset.name


@given(subset=subsets)
@settings(max_examples=30, deadline=None)
def test_a_name_leads_back_to_its_subset(subset):
    assert find_subset(subset.name) == subset


def test_the_subsets_of_the_paper_have_names_of_their_own():
    names = [one.name for one in list_subsets()]
    assert len(set(names)) == len(names) == 124
    assert len(list_subsets(synthetic=True)) == 65
    assert len(list_subsets(synthetic=False)) == 59


def test_a_subset_knows_its_scenario_and_granularity():
    kinds = {(one.scenario, one.granularity) for one in list_subsets()}
    assert kinds == {
        ("univariate", "point"),
        ("univariate", "range"),
        ("irr_univariate", "point"),
        ("irr_univariate", "range"),
        ("multivariate", "variate"),
        ("irr_multivariate", "variate"),
    }


@pytest.mark.parametrize(
    ("name", "meant"),
    [("sine-globl", "sine-global"), ("symbols-seasonal", "symbols-")],
)
def test_an_unknown_name_is_refused_with_the_nearest(name, meant):
    with pytest.raises(ValueError, match=f"unknown subset '{name}'; did you mean '{meant}"):
        find_subset(name)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"base": "cosine", "anomaly": "global"}, "unknown base 'cosine'; did you mean"),
        ({"base": "symbols", "anomaly": "seasonal"}, "unknown anomaly of 'symbols' 'seasonal'"),
        ({"base": "sine", "anomaly": "trend", "num_variates": 2}, "from 1 to 1, got 2"),
        ({"base": "sine_cosine", "anomaly": "square"}, "`num_variates` .* at least 2, got 1"),
        ({"base": "sine", "anomaly": "trend", "irregularity": 51}, "from 0 to 50, got 51"),
        ({"base": "sine", "anomaly": "trend", "irregularity": 0.5}, "integer .* got 0.5"),
    ],
)
def test_a_subset_that_cannot_be_is_refused(options, reason):
    with pytest.raises(ValueError, match=reason):
        AnomalySubset(**options)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"steps": 49}, "`steps` must be an integer of at least 50, got 49"),
        ({"count": -1}, "`count` must be an integer of at least 0, got -1"),
        ({"count": 1.0}, "`count` must be an integer of at least 0, got 1.0"),
        ({"edition": "papers"}, "unknown edition 'papers'; did you mean 'paper'"),
        ({"split": "eval"}, "unknown split 'eval'"),
    ],
)
def test_options_outside_their_range_are_refused_before_anything_is_drawn(options, reason):
    with pytest.raises(ValueError, match=reason):
        make_anomalies("sine-global", **options)
