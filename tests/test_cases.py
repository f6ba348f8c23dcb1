"""What a case takes, what it refuses, and that nothing changes it afterwards."""

import dataclasses
import re
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from timevista_hf.cases import AnomalyCase, ForecastCase

ARRAYS = ("history", "truth", "prediction")


def make_case(**fields):
    whole = {"id": "a", "history": [1, 2, 3], "truth": [4, 5], "prediction": [4, 6], **fields}
    return ForecastCase(**whole)


@pytest.mark.parametrize("name", ARRAYS)
@pytest.mark.parametrize(
    ("values", "rule"),
    [
        (3.0, "must have 1 dimension, got 0"),
        ([[1, 2], [3, 4]], "must have 1 dimension, got 2"),
        ([], "must not be empty"),
        ([1, np.inf], "must be finite, got inf at 1"),
        ([-np.inf, 1], "must be finite, got -inf at 0"),
        ([1, [2, 3]], "must hold numbers: "),
        ([1, "two"], "must hold numbers: "),
        (["1", "2"], "must hold numbers: "),
        ([1 + 2j, 3], "must hold numbers: "),
        ([1, 10**400], "must hold numbers: "),
        (np.array(["2024-01-01", "2024-01-02"], dtype="M8[D]"), "must hold numbers: "),
    ],
)
def test_an_unfit_array_is_refused_with_the_series_the_array_and_the_rule(name, values, rule):
    place = re.escape(f"series 'a', model 'prediction': `{name}` {rule}")
    with pytest.raises(ValueError, match=f"^{place}"):
        make_case(**{name: values})


def test_truth_and_prediction_of_unequal_length_are_refused_with_both_lengths():
    with pytest.raises(ValueError, match=r"'a'.*: `truth` has 3 steps but `prediction` has 2$"):
        make_case(truth=[4, 5, 6])


def test_truth_and_prediction_must_share_two_observed_steps():
    # Both hold two values, but only step 2 holds both.
    with pytest.raises(ValueError, match="share 1 observed steps, at least 2 are needed"):
        make_case(truth=[4, 5, np.nan], prediction=[np.nan, 5, 6])


def test_two_shared_steps_are_enough():
    case = make_case(truth=[4, 5, np.nan], prediction=[4, 5, 6])
    assert case.horizon == 3


def test_a_history_of_one_missing_step_is_enough():
    assert np.isnan(make_case(history=[None]).history).all()


@pytest.mark.parametrize("season_length", [0, -1, 0.5, 12.5, float("nan"), "12"])
def test_a_season_that_is_no_integer_of_at_least_one_is_refused_with_its_value(season_length):
    rule = f"`season_length` must be an integer of at least 1, got {season_length!r}"
    with pytest.raises(ValueError, match=f"^series 'a'.*: {re.escape(rule)}$"):
        make_case(season_length=season_length)


@pytest.mark.parametrize("season_length", [None, 1, np.int64(24)])
def test_a_season_of_whole_steps_or_none_is_kept(season_length):
    assert make_case(season_length=season_length).season_length == season_length


def test_an_error_names_the_cutoff_where_there_is_one():
    with pytest.raises(ValueError, match=r"^series 'a', cutoff 2024-01, model 'ets': "):
        make_case(truth=[1], cutoff="2024-01", model="ets")


@pytest.mark.parametrize(
    ("fields", "label"),
    [
        ({}, "series 'a', model 'prediction'"),
        ({"cutoff": "2024-01", "model": "ets"}, "series 'a', cutoff 2024-01, model 'ets'"),
        ({"id": "it's\n"}, "series \"it's\\n\", model 'prediction'"),
    ],
)
def test_the_label_is_one_line_that_tells_the_case_apart(fields, label):
    assert make_case(**fields).label == label


@pytest.mark.parametrize("name", ARRAYS)
def test_arrays_are_read_only(name):
    with pytest.raises(ValueError, match="read-only"):
        getattr(make_case(), name)[0] = 9


@pytest.mark.parametrize("name", ARRAYS)
def test_changing_the_callers_array_does_not_change_the_case(name):
    values = np.array([1.0, 2.0])
    case = make_case(**{name: values})
    values[0] = 9
    assert getattr(case, name).tolist() == [1.0, 2.0]


def test_the_callers_array_stays_writable():
    values = np.array([4.0, 5.0])
    make_case(truth=values)
    values[0] = 9
    assert values[0] == 9


def test_fields_cannot_be_replaced():
    with pytest.raises(dataclasses.FrozenInstanceError):
        make_case().truth = np.array([1.0, 2.0])


@pytest.mark.parametrize(
    "values",
    [
        (4, 5),
        [True, False],
        [Decimal("4.5"), None],
        np.array([4, 5], dtype=np.int8),
        np.array([4, 5], dtype=np.float32)[::-1],
        pd.Series([4.0, 5.0], index=[7, 3]),
    ],
)
def test_whatever_holds_numbers_becomes_float64(values):
    case = make_case(history=values)
    expected = [np.nan if value is None else float(value) for value in values]
    assert case.history.dtype == np.float64
    np.testing.assert_array_equal(case.history, expected)


def test_a_masked_step_is_missing_and_does_not_show_what_is_under_the_mask():
    masked = np.ma.masked_array([1, -999, 3], mask=[False, True, False])
    np.testing.assert_array_equal(make_case(history=masked).history, [1, np.nan, 3])


@given(arrays(np.float64, st.integers(2, 9), elements=st.floats(allow_infinity=False, width=64)))
def test_finite_and_missing_values_are_kept_to_the_bit(values):
    kept = make_case(history=values).history
    assert kept.tobytes() == values.tobytes()


def anomalies(**given):
    fields = {"id": "a", "values": [0.0, 9.0, 0.0, 0.0], "granularity": "point"}
    return AnomalyCase(**{**fields, **given})


def test_an_anomaly_case_keeps_its_events_as_read_only_steps():
    case = anomalies(events=[(1, 2), (2, 3)])
    assert case.events.tolist() == [[1, 2], [2, 3]]
    assert not case.events.flags.writeable
    assert (case.steps, case.num_variates) == (4, 1)


def test_an_anomaly_case_may_be_clean_and_miss_steps():
    assert anomalies(values=[1, None, 2]).events.shape == (0, 2)


def test_variates_are_found_in_a_series_of_several():
    case = anomalies(values=np.zeros((5, 3)), granularity="variate", variates=[0, 2])
    assert case.variates == (0, 2)
    assert case.num_variates == 3


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"values": ["a", "b"]}, "`values` must hold numbers"),
        ({"values": [1.0, np.inf]}, "`values` must be finite"),
        ({"values": [[1.0, 2.0], [3.0, 4.0]]}, r"shape \(T,\) with T ≥ 2, got \(2, 2\)"),
        ({"granularity": "variate"}, r"shape \(T, M\) with T, M ≥ 2, got \(4,\)"),
        ({"granularity": "points"}, "did you mean 'point'"),
        ({"events": [(0, 2)]}, "a point must be one step long"),
        ({"events": [(3, 4), (0, 1)]}, "in order, apart and within 0 to 4"),
        ({"events": [(4, 5)]}, "within 0 to 4"),
        ({"events": [(0, 2), (2, 4)], "granularity": "range"}, "in order, apart"),
        ({"events": [(0.5, 2)], "granularity": "range"}, "pairs of integers"),
        ({"variates": [0]}, "no variate is to be found"),
    ],
)
def test_a_malformed_anomaly_case_is_refused(given, message):
    with pytest.raises(ValueError, match=message):
        anomalies(**given)


@pytest.mark.parametrize("ids", [(3,), (-1,), (1, 0), (1, 1), (0.5,)])
def test_variates_that_the_series_does_not_have_are_refused(ids):
    with pytest.raises(ValueError, match="ascending integers from 0 to 2"):
        anomalies(values=np.zeros((5, 3)), granularity="variate", variates=ids)
