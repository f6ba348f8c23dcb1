from __future__ import annotations

import math
import tracemalloc

import numpy as np
import pytest

from timevista_hf.metrics import (
    dtw,
    dtw_batch,
    forecast,
    forecast_errors,
    mae,
    mase,
    mase_horizon,
    mse,
)

NAN = math.nan
PAST = [5, 2, 4, 7, 3, 6, 4, 1]  # steps of 3 2 3 4 3 2 3: 20 over 7
TRUTH = [2, 6, 1, 5, 1]  # steps of 4 5 4 4: 17 over 4
HALF_OFF = [2.5, 6.5, 1.5, 4.5, 0.5]

# Every metric as a function of truth and prediction alone.
METRICS = {
    "mse": mse,
    "mae": mae,
    "mase": lambda y_true, y_pred: mase(y_true, y_pred, PAST),
    "mase_horizon": mase_horizon,
    "dtw": dtw,
}
STEPWISE = [name for name in METRICS if name != "dtw"]


def walks(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape).cumsum(axis=-1)


def loop_dtw(y_true, y_pred) -> float:
    n, m = len(y_true), len(y_pred)
    sums = [[math.inf] * (m + 1) for _ in range(n + 1)]
    sums[0][0] = 0.0
    for i in range(n):
        for j in range(m):
            difference = float(y_true[i]) - float(y_pred[j])
            best = min(sums[i][j], sums[i][j + 1], sums[i + 1][j])
            sums[i + 1][j + 1] = difference * difference + best
    return sums[n][m]


def paths(i: int, j: int):
    """Yield every warping path from (0, 0) to (i, j), without dynamic programming."""
    if i == j == 0:
        yield [(0, 0)]
    for before in ((i - 1, j), (i, j - 1), (i - 1, j - 1)):
        if min(before) >= 0:
            for path in paths(*before):
                yield [*path, (i, j)]


@pytest.mark.parametrize("name", STEPWISE)
def test_truth_and_prediction_of_unequal_length_are_refused(name):
    with pytest.raises(ValueError, match="`y_true` has 3 steps but `y_pred` has 2"):
        METRICS[name]([1, 2, 3], [1, 2])


@pytest.mark.parametrize("name", METRICS)
def test_a_matrix_is_refused(name):
    with pytest.raises(ValueError, match="`y_pred` must have 1 dimension, got 2"):
        METRICS[name]([1, 2], [[1, 2]])


@pytest.mark.parametrize("name", METRICS)
def test_an_infinite_step_is_named(name):
    with pytest.raises(ValueError, match="`y_true` must be finite or NaN, got -inf at step 1"):
        METRICS[name]([1, -math.inf, 3], [1, 2, 3])


@pytest.mark.parametrize("name", METRICS)
def test_text_is_refused(name):
    with pytest.raises(ValueError, match="`y_pred` must hold numbers: could not convert"):
        METRICS[name]([1, 2], ["1", "two"])


def test_an_infinite_history_is_refused():
    with pytest.raises(ValueError, match="`y_past` must be finite or NaN, got inf at step 0"):
        mase([1, 2], [1, 2], [math.inf, 1])


@pytest.mark.parametrize("season_length", [0, -1, 1.0, None])
@pytest.mark.parametrize(
    "scaled",
    [lambda **s: mase([1], [1], [1, 2], **s), lambda **s: mase_horizon([1, 2], [1, 2], **s)],
)
def test_a_season_that_is_no_positive_integer_is_refused(scaled, season_length):
    with pytest.raises(ValueError, match=rf"integer of at least 1, got {season_length}$"):
        scaled(season_length=season_length)


def test_dtw_batch_refuses_sequences_of_unequal_length():
    with pytest.raises(ValueError, match="`pairs_true` has 2 series but `pairs_pred` has 1"):
        dtw_batch([[1], [2]], [[1]])


def test_dtw_batch_names_the_pair_that_is_infinite():
    with pytest.raises(ValueError, match="pair 1: `y_pred` must be finite or NaN, got inf"):
        dtw_batch([[1], [2]], [[1], [2, 3, math.inf]])


def test_dtw_batch_refuses_one_flat_series():
    with pytest.raises(ValueError, match="pair 0: `y_true` must have 1 dimension, got 0"):
        dtw_batch([1, 2], [1, 2])


@pytest.mark.parametrize("name", METRICS)
def test_the_result_is_a_plain_float(name):
    assert type(METRICS[name](np.array(TRUTH), np.array(HALF_OFF))) is float


@pytest.mark.parametrize("name", METRICS)
def test_float32_is_computed_in_float64(name):
    # 0.1 as float32 is not 0.1: the expected value starts from the same rounded numbers.
    narrow = np.array([0.1, 0.7, 0.3], dtype=np.float32)
    wide = [float(value) for value in narrow]
    assert METRICS[name](narrow, [0, 0, 0]) == METRICS[name](wide, [0, 0, 0])


@pytest.mark.parametrize("name", METRICS)
def test_the_input_stays_as_it_was(name):
    y_true, y_pred = np.array([1.0, 3.0, NAN]), np.array([2.0, NAN, 1.0])
    METRICS[name](y_true, y_pred)
    np.testing.assert_array_equal(y_true, [1, 3, NAN])
    np.testing.assert_array_equal(y_pred, [2, NAN, 1])


def test_dtw_batch_gives_one_float64_a_pair():
    sums = dtw_batch(walks(7, 5), walks(7, 9, seed=1))
    assert sums.shape == (7,)
    assert sums.dtype == np.float64


def test_dtw_batch_of_no_pairs_is_empty():
    assert dtw_batch([], []).shape == (0,)


def test_forecast_errors_are_those_of_the_functions():
    errors = forecast_errors(TRUTH, HALF_OFF, PAST, season_length=2)
    assert errors == {
        "mse": mse(TRUTH, HALF_OFF),
        "mae": mae(TRUTH, HALF_OFF),
        "mase": mase(TRUTH, HALF_OFF, PAST, season_length=2),
        "mase_horizon": mase_horizon(TRUTH, HALF_OFF, season_length=2),
        "dtw": dtw(TRUTH, HALF_OFF),
    }


@pytest.mark.parametrize("name", METRICS)
def test_empty_arrays_are_undefined(name):
    assert math.isnan(METRICS[name]([], []))


@pytest.mark.parametrize("name", METRICS)
def test_arrays_without_a_shared_step_are_undefined(name):
    assert math.isnan(METRICS[name]([1, NAN, 3, NAN], [NAN, 2, NAN, 4]))


@pytest.mark.parametrize("name", ["mse", "mae"])
def test_a_step_missing_on_either_side_is_left_out(name):
    observed = METRICS[name]([1, 4], [3, 7])
    assert METRICS[name]([1, NAN, 4, 9], [3, 100, 7, NAN]) == observed


@pytest.mark.parametrize("past", [[], [4], [4, 4, 4], [4, NAN, 5, NAN], [NAN, NAN]])
def test_mase_is_undefined_for_a_history_that_never_moves(past):
    assert math.isnan(mase([1, 2], [2, 2], past))
    assert math.isnan(mase([1, 2], [1, 2], past))


@pytest.mark.parametrize("season_length", [8, 9])
def test_mase_is_undefined_for_a_history_of_one_season(season_length):
    assert len(PAST) == 8
    assert math.isnan(mase(TRUTH, HALF_OFF, PAST, season_length=season_length))


def test_mase_leaves_gaps_of_the_history_out():
    # 3, 5, -, 6, 10: the steps with both ends are 2 and 4, 3 on average; MAE is 1.5.
    assert mase([1, 2], [2, 4], [3, 5, NAN, 6, 10]) == 0.5


def test_mase_is_undefined_where_the_history_overflows():
    assert math.isnan(mase([1, 2], [1, 3], [-1.7e308, 1.7e308]))


@pytest.mark.parametrize("season_length", [5, 6])
def test_mase_horizon_is_undefined_for_a_horizon_of_one_season(season_length):
    assert len(TRUTH) == 5
    assert math.isnan(mase_horizon(TRUTH, HALF_OFF, season_length=season_length))


def test_mase_horizon_is_undefined_for_a_flat_truth():
    assert math.isnan(mase_horizon([3, 3, 3], [3, 4, 5]))


def test_mase_horizon_leaves_gaps_of_the_truth_out():
    # Steps with both ends: 2 and 4, 3 on average; errors 0 3 - 3 0: 1.5 on average.
    assert mase_horizon([3, 5, NAN, 6, 10], [3, 8, 0, 3, 10]) == 0.5


@pytest.mark.parametrize("pair", [([1, NAN, 3], [1, 2]), ([1, 2], [NAN]), ([], [1]), ([1], [])])
def test_dtw_is_undefined_where_either_array_has_a_gap_or_nothing(pair):
    assert math.isnan(dtw(*pair))


def test_an_undefined_pair_leaves_its_block_alone():
    sums = dtw_batch([[1, 2], [1, NAN], [], [0, 0]], [[1, 4], [1, 2], [3, 4], [2, 2]])
    np.testing.assert_array_equal(sums, [4, NAN, NAN, 8])


@pytest.mark.parametrize("name", ["mse", "dtw"])
def test_a_diverged_forecast_is_infinitely_wrong_without_a_warning(name):
    assert METRICS[name]([1, 2, 3], [1e200, 1e200, 1e200]) == math.inf


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("name", METRICS)
def test_a_wrong_forecast_is_above_0(name, seed):
    y_true, y_pred = walks(2, 12, seed=seed)
    assert METRICS[name](y_true, y_pred) > 0


@pytest.mark.parametrize("name", ["mse", "mae", "dtw"])
def test_truth_and_prediction_can_change_places(name):
    y_true, y_pred = walks(2, 30)
    assert METRICS[name](y_true, y_pred) == METRICS[name](y_pred, y_true)


@pytest.mark.parametrize("name", METRICS)
def test_a_common_shift_changes_nothing(name):
    # Integers, so that the shift is exact.
    y_true, y_pred = np.random.default_rng(3).integers(-50, 50, size=(2, 40))
    assert METRICS[name](y_true + 1000, y_pred + 1000) == METRICS[name](y_true, y_pred)


@pytest.mark.parametrize(("name", "factor"), [("mse", 16), ("mae", 4), ("dtw", 16)])
def test_a_change_of_unit_scales_the_error(name, factor):
    y_true, y_pred = walks(2, 40)
    assert METRICS[name](4 * y_true, 4 * y_pred) == factor * METRICS[name](y_true, y_pred)


def test_mase_does_not_depend_on_the_unit():
    y_true, y_pred, y_past = walks(3, 24)
    expected = mase(y_true, y_pred, y_past, season_length=4)
    assert mase(-8 * y_true, -8 * y_pred, -8 * y_past, season_length=4) == expected


def test_mase_horizon_does_not_depend_on_the_unit():
    y_true, y_pred = walks(2, 24)
    expected = mase_horizon(y_true, y_pred, season_length=4)
    assert mase_horizon(-8 * y_true, -8 * y_pred, season_length=4) == expected


def test_mae_squared_is_at_most_mse():
    y_true, y_pred = walks(2, 50)
    assert mae(y_true, y_pred) ** 2 <= mse(y_true, y_pred)


@pytest.mark.parametrize("seed", range(5))
def test_dtw_lies_between_its_fixed_ends_and_the_straight_path(seed):
    y_true, y_pred = walks(2, 25, seed=seed)
    squares = (y_true - y_pred) ** 2
    assert squares[0] + squares[-1] <= dtw(y_true, y_pred) <= squares.sum() * (1 + 1e-12)


def test_dtw_is_the_same_backwards():
    y_true, y_pred = np.random.default_rng(5).integers(-9, 9, size=(2, 30))
    assert dtw(y_true[::-1], y_pred[::-1]) == dtw(y_true, y_pred)


def test_dtw_forgives_a_late_forecast_that_mse_does_not():
    peak, late, flat = [0, 0, 4, 0, 0, 0], [0, 0, 0, 4, 0, 0], [0, 0, 0, 0, 0, 0]
    assert dtw(peak, late) < dtw(peak, flat)
    assert mse(peak, late) > mse(peak, flat)


@pytest.mark.parametrize("name", METRICS)
def test_a_perfect_forecast_is_0(name):
    truth = walks(20)
    assert METRICS[name](truth, truth) == 0


def test_dtw_of_a_forecast_that_dwells_is_0():
    truth = walks(20)
    assert dtw(truth, np.repeat(truth, 3)) == 0


def test_mse_of_a_worked_example():
    assert mse([3, -0.5, 2, 7], [2.5, 0, 2, 8]) == 0.375  # (0.25 + 0.25 + 0 + 1) / 4


def test_mae_of_a_worked_example():
    assert mae([3, -0.5, 2, 7], [2.5, 0, 2, 8]) == 0.5  # (0.5 + 0.5 + 0 + 1) / 4


def test_mase_of_a_worked_example():
    assert mase(TRUTH, HALF_OFF, PAST) == pytest.approx(0.5 / (20 / 7), rel=1e-15)


def test_mase_with_a_season_compares_steps_a_season_apart():
    # 2 apart in the history: 1 5 1 1 1 5, 14 / 6 on average.
    assert mase(TRUTH, HALF_OFF, PAST, season_length=2) == pytest.approx(0.5 * 6 / 14, rel=1e-15)


def test_mase_horizon_of_a_worked_example():
    assert mase_horizon(TRUTH, HALF_OFF) == pytest.approx(0.5 / (17 / 4), rel=1e-15)


def test_mase_horizon_with_a_season_compares_steps_a_season_apart():
    # 2 apart in the truth: 1 1 0, 2 / 3 on average.
    assert mase_horizon(TRUTH, HALF_OFF, season_length=2) == pytest.approx(0.75, rel=1e-15)


def test_the_seasonal_naive_forecast_of_the_history_itself_has_a_mase_of_1():
    y_past = walks(40)
    assert mase(y_past[7:], y_past[:-7], y_past, season_length=7) == 1


def test_dtw_of_a_worked_example():
    # Values paired (1, 1) (2, 1) (3, 3) (4, 7): 0 + 1 + 0 + 9; the 2 and the ends cost no less.
    assert dtw([1, 2, 3, 4], [1, 3, 7]) == 10


@pytest.mark.parametrize(("n", "m"), [(1, 1), (1, 4), (4, 1), (2, 3), (5, 4), (5, 5)])
def test_dtw_is_the_least_sum_over_all_paths(n, m):
    y_true, y_pred = walks(n), walks(m, seed=1)
    sums = [sum((y_true[i] - y_pred[j]) ** 2 for i, j in path) for path in paths(n - 1, m - 1)]
    assert dtw(y_true, y_pred) == pytest.approx(min(sums), rel=1e-14)


@pytest.mark.parametrize("block_values", [1, 100, 1 << 15])
def test_dtw_batch_over_any_lengths_is_bit_for_bit_the_plain_loop(monkeypatch, block_values):
    monkeypatch.setattr(forecast, "_BLOCK_VALUES", block_values)
    lengths = np.random.default_rng(2).integers(1, 12, size=(120, 2))
    pairs_true = [walks(n, seed=k) for k, (n, _) in enumerate(lengths)]
    pairs_pred = [walks(m, seed=1000 + k) for k, (_, m) in enumerate(lengths)]
    expected = [loop_dtw(*pair) for pair in zip(pairs_true, pairs_pred, strict=True)]
    assert dtw_batch(pairs_true, pairs_pred).tolist() == expected


@pytest.mark.parametrize(("n", "m"), [(96, 96), (24, 70), (70, 24)])
def test_dtw_of_a_long_pair_is_bit_for_bit_the_plain_loop(n, m):
    y_true, y_pred = walks(n), walks(m, seed=1)
    assert dtw(y_true, y_pred) == loop_dtw(y_true, y_pred)


def peak_bytes(pairs: int, n: int, m: int) -> int:
    pairs_true, pairs_pred = list(walks(pairs, n)), list(walks(pairs, m, seed=1))
    tracemalloc.start()
    try:
        dtw_batch(pairs_true, pairs_pred)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_dtw_batch_needs_no_more_memory_for_more_pairs():
    # Both fill a block; a copy of the larger input alone would be four times that of the smaller.
    assert peak_bytes(400, 300, 300) < 1.3 * peak_bytes(110, 300, 300)


def test_dtw_batch_needs_no_more_memory_for_lopsided_pairs():
    # Blocks are sized by the longer side: by the shorter one, each buffer would hold all 100 pairs
    # and not 32, 0.8 MB.
    assert peak_bytes(100, 1000, 1) < 2e6


def test_mase_is_undefined_where_the_history_repeats_but_for_rounding():
    history = np.tile([0.1 + 0.2, 0.7, 1.1], 5)
    history[3] = 0.3  # 0.30000000000000004 elsewhere
    assert math.isnan(mase([1.0, 2.0], [1.0, 3.0], history, season_length=3))
