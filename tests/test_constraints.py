"""Each rule of the hard constraints: broken, kept, broken by the truth too, and with gaps."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from timevista_hf.cases import ForecastCase
from timevista_hf.constraints import Breach, Constraint, find_breaches, load_constraint
from timevista_hf.rubrics import list_rubrics, load_rubric

NAN = np.nan


def load(rule: str, **parameters: object) -> Constraint:
    return load_constraint({"rule": rule, "cap": 2, "why": "a test", **parameters}, place="here")


def breach(
    constraint: Constraint,
    prediction: object,
    *,
    truth: object = None,
    history: object = (0.0, 10.0),
    season_length: int | None = None,
) -> Breach | None:
    """Check one constraint; the truth is a copy of the history's end where none is given."""
    size = np.size(prediction)
    case = ForecastCase(
        id="a",
        history=history,
        truth=np.resize(np.asarray(history)[-1:], size) if truth is None else truth,
        prediction=prediction,
        season_length=season_length,
    )
    found = find_breaches(case, [constraint])
    return found[0] if found else None


# load_constraint


def test_parameters_left_out_take_their_defaults():
    assert load("peaks_present", direction="up").parameters == {
        "direction": "up",
        "share": 0.5,
        "prominence": 0.5,
    }


def test_a_constraint_can_be_a_key():
    assert len({load("positive"), load("positive"), load("minimum", value=0)}) == 2


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("positive", r"^here: a constraint must be a mapping, got 'positive'"),
        (
            {"rule": "minimun"},
            r"^here: unknown rule 'minimun'; did you mean 'minimum'\? Known: pos",
        ),
        ({"cap": 2, "why": "x"}, "unknown rule None"),
        ({"rule": ["minimum"]}, "unknown rule"),
        ({"rule": "minimum", "cap": 2, "why": "x"}, "'minimum': lacks the parameter `value`"),
        ({"rule": "minimum", "value": 0, "toleranse": 1, "cap": 2, "why": "x"}, "'tolerance'"),
        ({"rule": "positive", "value": 0, "cap": 2, "why": "x"}, "unknown parameter 'value'"),
        ({"rule": "positive", "cap": 0, "why": "x"}, "`cap` must be an integer from 1 to 4, got 0"),
        ({"rule": "positive", "cap": 5, "why": "x"}, "got 5"),
        ({"rule": "positive", "cap": 2.0, "why": "x"}, r"got 2\.0"),
        ({"rule": "positive", "cap": True, "why": "x"}, "got True"),
        ({"rule": "positive", "why": "x"}, "`cap` .* got None"),
        ({"rule": "positive", "cap": 2}, "`why` must be a text, got None"),
        ({"rule": "positive", "cap": 2, "why": " "}, "`why` must be a text"),
        ({"rule": "minimum", "value": "0", "cap": 2, "why": "x"}, "`value` must be a finite num"),
        ({"rule": "minimum", "value": NAN, "cap": 2, "why": "x"}, "finite number, got nan"),
        ({"rule": "minimum", "value": True, "cap": 2, "why": "x"}, "finite number, got True"),
        (
            {"rule": "non_decreasing", "tolerance": -0.1, "cap": 2, "why": "x"},
            r"'non_decreasing': `tolerance` must lie in 0 to inf, got -0\.1",
        ),
        (
            {"rule": "peaks_present", "direction": "up", "share": 2, "cap": 2, "why": "x"},
            "`share` must lie in 0 to 1, got 2",
        ),
        (
            {"rule": "peaks_present", "direction": "upp", "cap": 2, "why": "x"},
            r"unknown `direction` 'upp'; did you mean 'up'\? Known: up, down, dominant",
        ),
    ],
)
def test_an_unfit_entry_is_refused_with_place_rule_and_value(entry, message):
    with pytest.raises(ValueError, match=message):
        load_constraint(entry, place="here")


# positive, minimum, maximum


def test_a_price_of_zero_is_not_positive():
    found = breach(load("positive"), [1.0, 0.0, 2.0])
    assert found.message == "falls to 0 at step 2, where it must be above 0"


def test_a_small_price_is_positive():
    assert breach(load("positive"), [1e-9, 1.0]) is None


def test_a_truth_that_is_not_positive_lifts_the_rule():
    assert breach(load("positive"), [-1.0, 1.0], truth=[0.0, 1.0]) is None


def test_a_gap_is_not_below_zero():
    assert breach(load("positive"), [NAN, 1.0, 2.0]) is None


def test_a_fall_below_the_minimum_names_the_worst_step_and_its_value():
    found = breach(load("minimum", value=0), [4.0, -1.0, -3.2, -2.0])
    assert (found.step, found.value) == (3, -3.2)
    assert found.message == "falls to -3.2 at step 3, below the minimum of 0"


def test_the_minimum_itself_is_kept():
    assert breach(load("minimum", value=0), [0.0, 1.0]) is None


@pytest.mark.parametrize(("low", "breaks"), [(-0.9, False), (-1.1, True)])
def test_the_tolerance_of_a_minimum_is_a_fraction_of_the_historys_range(low, breaks):
    # The history covers 0 to 10, so that a tenth of its range is 1.
    found = breach(load("minimum", value=0, tolerance=0.1), [low, 1.0])
    assert (found is not None) == breaks


def test_a_truth_below_the_minimum_lifts_the_rule():
    assert breach(load("minimum", value=0), [-9.0, 1.0], truth=[-1.0, 1.0]) is None


def test_a_gap_beside_a_fall_below_the_minimum_hides_nothing():
    assert breach(load("minimum", value=0), [NAN, -1.0, 3.0]).step == 2


def test_a_rise_above_the_maximum_is_a_breach():
    found = breach(load("maximum", value=100), [99.0, 123456.0])
    assert found.message == "rises to 123,456 at step 2, above the maximum of 100"


def test_the_maximum_itself_is_kept():
    assert breach(load("maximum", value=100), [100.0, 20.0]) is None


def test_a_truth_above_the_maximum_lifts_the_rule():
    assert breach(load("maximum", value=1), [5.0, 1.0], truth=[2.0, 0.0]) is None


def test_a_history_without_an_observed_step_leaves_no_tolerance():
    limit = load("maximum", value=1, tolerance=0.5)
    assert breach(limit, [1.1, 1.0], truth=[0.0, 0.0], history=[NAN, NAN]).step == 1


# non_decreasing, not_below_last, starts_at_last


def test_a_fall_of_a_cumulative_count_is_a_breach_against_the_highest_before_it():
    found = breach(load("non_decreasing"), [10.0, 15.0, 13.0, 12.0, 14.0])
    assert found.message == "falls to 12 at step 4, after 15 before it"


def test_a_plateau_does_not_decrease():
    assert breach(load("non_decreasing"), [10.0, 10.0, 12.0, 12.0]) is None


def test_a_slow_decline_adds_up_beyond_the_tolerance():
    # A range of 10 tolerates 0.5: each fall of 0.3 is small, two of them are not.
    found = breach(load("non_decreasing", tolerance=0.05), [12.0, 11.7, 11.4])
    assert found.step == 3


def test_a_truth_that_decreases_lifts_the_rule():
    assert breach(load("non_decreasing"), [3.0, 1.0], truth=[3.0, 2.0]) is None


def test_a_gap_does_not_hide_a_fall_between_its_ends():
    assert breach(load("non_decreasing"), [10.0, NAN, 9.0]).step == 3


def test_a_start_below_the_last_total_is_a_breach():
    found = breach(load("not_below_last"), [8.0, 11.0])
    assert found.message == "falls to 8 at step 1, below the last known 10"


def test_a_start_at_the_last_total_is_none():
    assert breach(load("not_below_last"), [10.0, 11.0]) is None


def test_a_truth_below_the_last_total_lifts_the_rule():
    assert breach(load("not_below_last"), [8.0, 9.0], truth=[9.0, 9.5]) is None


def test_the_last_total_before_a_gap_counts():
    gappy = {"truth": [10.0, 10.0, 11.0], "history": [9.0, 10.0, NAN]}
    assert breach(load("not_below_last"), [8.0, NAN, 9.0], **gappy).step == 1


def test_nothing_lies_below_a_history_without_observed_steps():
    constraint = load("not_below_last")
    assert breach(constraint, [-8.0, 1.0], truth=[0.0, 1.0], history=[NAN, NAN]) is None


# Changes of 1, 2 and 1: their median size is 1, so one deviation is 1.4826.
WALK = (10.0, 11.0, 13.0, 12.0)


@pytest.mark.parametrize(("first", "breaks"), [(14.9, False), (15.1, True), (8.9, True)])
def test_a_start_further_than_the_usual_changes_allow_is_a_breach(first, breaks):
    # Two deviations are 2.97: the last value of 12 allows 9.03 to 14.97.
    found = breach(load("starts_at_last", deviations=2), [first, 12.0], history=WALK)
    assert (found is not None) == breaks


def test_the_message_of_a_far_start_says_how_far_it_may_be():
    found = breach(load("starts_at_last", deviations=2), [20.0, 12.0], history=WALK)
    assert found.message == "starts at 20 at step 1, over 2.965 away from the last known 12"


def test_later_steps_may_lie_anywhere():
    assert breach(load("starts_at_last", deviations=2), [12.0, 90.0], history=WALK) is None


def test_a_truth_that_jumps_lifts_the_rule():
    constraint = load("starts_at_last", deviations=2)
    assert breach(constraint, [50.0, 12.0], truth=[20.0, 21.0], history=WALK) is None


@pytest.mark.parametrize(("first", "breaks"), [(16.1, False), (16.3, True)])
def test_a_gap_before_the_first_step_widens_the_allowance_by_its_root(first, breaks):
    # Two steps after the last value: 2.965 times the root of 2 is 4.193, so that 16.19 is allowed.
    found = breach(load("starts_at_last", deviations=2), [NAN, first, 12.0], history=WALK)
    assert (found is not None) == breaks


def test_a_history_that_never_moved_allows_any_start():
    constraint = load("starts_at_last", deviations=2)
    assert breach(constraint, [9.0, 9.0], history=[5.0, 5.0, 5.0]) is None


# within_history_range, within_history_moves


def test_a_value_far_below_the_history_is_a_breach():
    found = breach(load("within_history_range", margin=0.5), [5.0, -5.1])
    assert found.message == (
        "falls to -5.1 at step 2, below the history's lowest 0 by more than 50% of its range"
    )


def test_a_value_far_above_the_history_is_a_breach():
    found = breach(load("within_history_range", margin=0.05), [10.6, 5.0])
    assert found.message == (
        "rises to 10.6 at step 1, above the history's highest 10 by more than 5% of its range"
    )


def test_a_value_within_the_margin_is_none():
    assert breach(load("within_history_range", margin=0.5), [14.9, -4.9]) is None


@pytest.mark.parametrize(("side", "step"), [("above", 2), ("below", 1)])
def test_a_side_checks_that_side_only(side, step):
    found = breach(load("within_history_range", margin=0.1, side=side), [-5.0, 15.0])
    assert found.step == step


def test_a_truth_outside_the_range_lifts_the_rule():
    constraint = load("within_history_range", margin=0.1)
    assert breach(constraint, [15.0, 5.0], truth=[12.0, 5.0]) is None


def test_gaps_in_history_and_forecast_leave_the_range_as_it_is():
    constraint = load("within_history_range", margin=0.1)
    assert breach(constraint, [NAN, 12.0, 5.0], history=[0.0, NAN, 10.0]).step == 2


def test_a_constant_history_has_no_range_to_keep():
    assert breach(load("within_history_range", margin=0.1), [9.0, 1.0], history=[5.0, 5.0]) is None


# Within two steps this history moves by 3 at most (1 to 4), or by a factor of 4.
MOVES = (1.0, 2.0, 4.0, 3.0, 2.0)


@pytest.mark.parametrize(
    ("scale", "end", "breaks"),
    [
        ("difference", 5.0, False),  # 2 + 3
        ("difference", 5.1, True),
        ("difference", -1.1, True),  # 2 - 3.1
        ("ratio", 8.0, False),  # 2 times 4
        ("ratio", 8.1, True),
        ("ratio", 0.49, True),  # 2 divided by more than 4
    ],
)
def test_a_move_beyond_the_largest_of_the_history_is_a_breach(scale, end, breaks):
    constraint = load("within_history_moves", factor=1 + 1e-12, scale=scale)
    found = breach(constraint, [2.0, end], truth=[2.0, 2.0], history=MOVES)
    assert (found is not None) == breaks


def test_the_message_of_a_far_move_says_from_where_to_where():
    found = breach(load("within_history_moves", factor=1), [2.0, 9.0], history=MOVES)
    assert (
        found.message == "goes from 2 to 9 by step 2, further than 2 steps of the history ever went"
    )


def test_an_excursion_on_the_way_counts_as_a_move():
    assert breach(load("within_history_moves", factor=1), [9.0, 2.0], history=MOVES).step == 1


def test_a_truth_that_moves_as_far_lifts_the_rule():
    constraint = load("within_history_moves", factor=1)
    assert breach(constraint, [2.0, 9.0], truth=[2.0, 8.0], history=MOVES) is None


def test_gaps_in_the_history_and_the_forecast_leave_the_moves_as_they_are():
    constraint = load("within_history_moves", factor=1)
    history = (1.0, NAN, 4.0, 3.0, 2.0, NAN)
    assert breach(constraint, [NAN, 4.9, 2.0], truth=[2.0] * 3, history=history) is None
    assert breach(constraint, [NAN, 5.1, 2.0], truth=[2.0] * 3, history=history).step == 2


def test_a_history_shorter_than_the_horizon_has_no_such_move():
    assert breach(load("within_history_moves", factor=1), [0.0, 99.0], history=[1.0, 2.0]) is None


def test_the_largest_move_is_that_of_a_loop_over_all_starts():
    history = np.cumsum(np.random.default_rng(3).normal(size=200))
    horizon = 7
    largest = max(
        np.abs(history[start : start + horizon + 1] - history[start]).max()
        for start in range(history.size - horizon)
    )
    constraint = load("within_history_moves", factor=1)
    truth = np.full(horizon, history[-1])
    for shift, breaks in ((0.999 * largest, False), (1.001 * largest, True)):
        prediction = truth + np.r_[np.zeros(horizon - 1), shift]
        found = breach(constraint, prediction, truth=truth, history=history)
        assert (found is not None) == breaks


# near_zero_when_history_is


DAYS = np.tile([0.0, 0.0, 0.0, 8.0, 10.0, 6.0], 4)  # three dark steps, three bright ones


def test_power_at_a_dark_step_is_a_breach():
    found = breach(
        load("near_zero_when_history_is"),
        [0.0, 3.0, 0.0, 7.0, 9.0, 6.0, 0.0],
        truth=[0.0] * 7,
        history=DAYS,
        season_length=6,
    )
    assert found.message == "is 3 at step 2, where the history is nearly 0"


def test_the_season_goes_on_beyond_its_first_turn():
    found = breach(
        load("near_zero_when_history_is"),
        np.r_[DAYS[:6], 0.0, 0.0, 1.0],
        truth=np.r_[DAYS[:6], np.zeros(3)],
        history=DAYS,
        season_length=6,
    )
    assert found.step == 9


def test_a_season_that_repeats_itself_is_none():
    constraint = load("near_zero_when_history_is")
    prediction = DAYS[:6]
    assert breach(constraint, prediction, truth=prediction, history=DAYS, season_length=6) is None


@pytest.mark.parametrize(("value", "breaks"), [(0.4, False), (0.6, True), (-0.6, True)])
def test_near_zero_is_a_fraction_of_the_historys_top(value, breaks):
    # A twentieth of 10 is 0.5.
    found = breach(
        load("near_zero_when_history_is", tolerance=0.05),
        [value, 0.0],
        truth=[0.0, 0.0],
        history=DAYS,
        season_length=6,
    )
    assert (found is not None) == breaks


def test_the_border_leaves_out_the_dark_steps_beside_the_bright_ones():
    constraint = load("near_zero_when_history_is", border=1)
    rising = {"truth": [0.0] * 3, "history": DAYS, "season_length": 6}
    assert breach(constraint, [2.0, 0.0, 2.0], **rising) is None
    assert breach(constraint, [0.0, 2.0, 0.0], **rising).step == 2


def test_a_truth_that_is_bright_in_the_dark_lifts_the_rule():
    constraint = load("near_zero_when_history_is")
    bright = {"truth": [0.0, 4.0], "history": DAYS, "season_length": 6}
    assert breach(constraint, [5.0, 5.0], **bright) is None


def test_without_a_season_length_no_step_is_dark():
    constraint = load("near_zero_when_history_is")
    assert breach(constraint, [5.0, 5.0], truth=[0.0, 0.0], history=DAYS) is None


def test_a_share_forgives_one_busy_closed_day():
    busy = DAYS.copy()
    busy[6] = 9.0  # one of four
    kept = {"truth": [0.0, 0.0], "history": busy, "season_length": 6}
    assert breach(load("near_zero_when_history_is", share=1), [5.0, 0.0], **kept) is None
    assert breach(load("near_zero_when_history_is", share=0.75), [5.0, 0.0], **kept).step == 1


def test_only_the_last_seasons_count():
    summer = np.r_[np.tile([5.0, 5.0], 20), np.tile([0.0, 5.0], 4)]
    dark = {"truth": [0.0, 0.0], "history": summer, "season_length": 2}
    assert breach(load("near_zero_when_history_is", seasons=4), [5.0, 0.0], **dark).step == 1
    assert breach(load("near_zero_when_history_is", seasons=5), [5.0, 0.0], **dark) is None


def test_gaps_neither_make_a_step_dark_nor_break_it():
    gappy = DAYS.copy()
    gappy[[0, 6]] = NAN  # two nights are left, and three are needed
    constraint = load("near_zero_when_history_is")
    found = breach(constraint, [5.0, NAN, 5.0], truth=[0.0] * 3, history=gappy, season_length=6)
    assert found.step == 3


# peaks_present


def spikes(size: int, places: list[int], *, height: float = 1.0, seed: int = 0) -> np.ndarray:
    curve = np.random.default_rng(seed).normal(scale=0.01, size=size)
    for place in places:
        curve[place - 2 : place + 3] += height * np.array([0.3, 0.7, 1.0, 0.7, 0.3])
    return curve


BEATS = spikes(500, list(range(40, 500, 80)))
BEAT_TRUTH = spikes(100, [20, 70], seed=1)


@pytest.mark.parametrize("sign", [1, -1])
def test_a_line_without_beats_is_a_breach_whichever_way_they_point(sign):
    constraint = load("peaks_present", direction="dominant")
    found = breach(constraint, np.zeros(100), truth=sign * BEAT_TRUTH, history=sign * BEATS)
    kind = "peaks" if sign > 0 else "valleys"
    assert (found.step, found.value) == (None, 0.0)
    assert found.message == f"has 0 large {kind} where the truth has 2"


@pytest.mark.parametrize(
    ("prediction", "breaks"),
    [
        (spikes(100, [28, 62], seed=2), False),  # shifted by a tenth of the interval
        (spikes(100, [20], seed=2), False),  # half of them
        (spikes(100, [20, 70], height=0.5, seed=2), False),  # too low, but there
        (spikes(100, [20, 70], height=0.1, seed=2), True),
        (spikes(100, [20, 70], height=-1.0, seed=2), True),
    ],
)
def test_half_of_the_beats_at_about_half_their_height_are_enough(prediction, breaks):
    constraint = load("peaks_present", direction="up", share=0.5)
    found = breach(constraint, prediction, truth=BEAT_TRUTH, history=BEATS)
    assert (found is not None) == breaks


def test_valleys_are_looked_for_downwards():
    constraint = load("peaks_present", direction="down")
    history, truth = 60 - 40 * BEATS, 60 - 40 * BEAT_TRUTH
    assert breach(constraint, np.full(100, 60.0), truth=truth, history=history).value == 0
    assert breach(constraint, truth, truth=truth, history=history) is None


def test_a_truth_without_beats_asks_for_none():
    constraint = load("peaks_present", direction="up")
    calm = spikes(100, [], seed=3)
    assert breach(constraint, np.zeros(100), truth=calm, history=BEATS) is None


def test_a_beat_at_the_edge_of_the_horizon_is_not_asked_for():
    constraint = load("peaks_present", direction="up")
    late = spikes(100, [95], seed=3)
    assert breach(constraint, np.zeros(100), truth=late, history=BEATS) is None


def test_a_beat_cut_by_the_end_of_the_horizon_counts_as_made():
    constraint = load("peaks_present", direction="up", share=1)
    rising = np.r_[np.zeros(97), 0.3, 0.7, 1.0]
    truth = spikes(100, [80], seed=3)
    assert breach(constraint, rising, truth=truth, history=BEATS) is None


def test_noise_has_no_peaks_to_miss():
    noise = np.random.default_rng(4).normal(size=600)
    constraint = load("peaks_present", direction="up")
    assert breach(constraint, np.zeros(100), truth=noise[500:], history=noise[:500]) is None


def test_a_beat_in_a_gap_is_not_asked_for():
    constraint = load("peaks_present", direction="up")
    truth = spikes(100, [50], seed=5)
    line = np.zeros(100)
    assert breach(constraint, line, truth=truth, history=BEATS).value == 0
    truth[40:60] = NAN
    assert breach(constraint, line, truth=truth, history=BEATS) is None
    whole = spikes(100, [50], seed=5)
    line[40:60] = NAN
    assert breach(constraint, line, truth=whole, history=BEATS) is None


def test_a_history_of_a_few_steps_says_nothing_of_peaks():
    constraint = load("peaks_present", direction="up")
    assert breach(constraint, np.zeros(100), truth=BEAT_TRUTH, history=[0.0, 1.0, 0.0]) is None


# alternates_sign


TIDE = np.sin(2 * np.pi * np.arange(173) / 24.84)  # half-hourly steps
TIDE_HISTORY, TIDE_TRUTH = TIDE[:125], TIDE[125:]


def test_a_tide_that_does_not_reverse_is_a_breach():
    found = breach(
        load("alternates_sign"), np.full(48, 0.5), truth=TIDE_TRUTH, history=TIDE_HISTORY
    )
    # Steps 125 to 172 cross zero at 136.6, 149.0 and 161.5: all within the inner four fifths, up
    # to the band of a tenth of the amplitude.
    assert found.message == "changes sign 0 times, the truth 3 times"


def test_a_tide_at_another_height_and_a_little_late_is_none():
    late = 0.4 * np.sin(2 * np.pi * (np.arange(125, 173) - 3) / 24.84)
    assert breach(load("alternates_sign"), late, truth=TIDE_TRUTH, history=TIDE_HISTORY) is None


def test_a_stream_that_keeps_its_direction_need_not_reverse():
    history, truth = TIDE_HISTORY + 2, TIDE_TRUTH + 2
    assert breach(load("alternates_sign"), np.full(48, 2.0), truth=truth, history=history) is None


def test_a_truth_that_keeps_its_direction_lifts_the_rule():
    constraint = load("alternates_sign")
    truth = np.abs(TIDE_TRUTH) + 0.5
    assert breach(constraint, np.full(48, 0.5), truth=truth, history=TIDE_HISTORY) is None


def test_noise_around_zero_is_no_tide():
    noise = np.random.default_rng(6).normal(size=173)
    constraint = load("alternates_sign")
    assert breach(constraint, np.full(48, 0.5), truth=noise[125:], history=noise[:125]) is None


def test_a_reversal_in_a_gap_is_not_asked_for():
    constraint = load("alternates_sign")
    truth = np.where(np.arange(48) < 30, TIDE_TRUTH, NAN)
    line = np.r_[np.full(9, 0.5), np.full(39, NAN)]
    line[:2] = [0.5, 0.5]
    assert breach(constraint, line, truth=truth, history=TIDE_HISTORY) is None


# find_breaches


def test_breaches_come_in_the_order_of_the_constraints_one_for_each():
    constraints = [load("maximum", value=20), load("positive"), load("minimum", value=-1)]
    case = ForecastCase(id="a", history=[1, 2], truth=[1, 2], prediction=[-5, 30])
    found = find_breaches(case, constraints)
    assert [breach.constraint for breach in found] == constraints


def test_the_truth_lifts_only_the_constraint_that_it_breaks():
    constraints = [load("maximum", value=1), load("minimum", value=0)]
    case = ForecastCase(id="a", history=[1, 0], truth=[2, 0], prediction=[3, -1])
    assert [breach.constraint.rule for breach in find_breaches(case, constraints)] == ["minimum"]


def test_without_constraints_there_are_no_breaches():
    case = ForecastCase(id="a", history=[1], truth=[1, 2], prediction=[-1, -2])
    assert find_breaches(case, ()) == ()


EVERY_CONSTRAINT = [c for name in list_rubrics() for c in load_rubric(name).constraints]
VALUES = st.floats(-1e6, 1e6) | st.just(NAN)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    history=arrays(np.float64, st.integers(1, 60), elements=VALUES),
    truth=arrays(np.float64, 12, elements=VALUES),
)
def test_a_copy_of_the_truth_breaks_no_shipped_constraint(history, truth):
    truth[:2] = [1.0, 2.0]
    case = ForecastCase(id="a", history=history, truth=truth, prediction=truth, season_length=4)
    assert find_breaches(case, EVERY_CONSTRAINT) == ()


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    history=arrays(np.float64, st.integers(1, 60), elements=VALUES),
    prediction=arrays(np.float64, 12, elements=VALUES),
)
def test_a_breach_names_an_observed_step_of_the_forecast_and_its_value(history, prediction):
    prediction[:2] = [1.0, 2.0]
    truth = np.linspace(1, 2, 12)
    case = ForecastCase(
        id="a", history=history, truth=truth, prediction=prediction, season_length=4
    )
    for found in find_breaches(case, EVERY_CONSTRAINT):
        assert found.step is None or prediction[found.step - 1] == found.value


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    factor=st.sampled_from([1e-3, 0.25, 8.0, 1024.0]),
    prediction=arrays(np.float64, 24, elements=st.floats(-20, 20, width=16)),
)
def test_every_rule_but_fixed_limits_holds_in_any_unit(factor, prediction):
    free = [c for c in EVERY_CONSTRAINT if not c.parameters.get("value")]
    rng = np.random.default_rng(7)
    season = np.tile([0, 0, 0, 5, 9, 4], 24) * (1 + rng.random(144))
    history, truth = season[:120], season[120:]
    found = []
    for unit in (1.0, factor):
        arrays_ = {"history": history, "truth": truth, "prediction": prediction}
        scaled = {name: unit * values for name, values in arrays_.items()}
        case = ForecastCase(id="a", season_length=6, **scaled)
        found.append([(b.constraint.rule, b.step) for b in find_breaches(case, free)])
    assert found[0] == found[1]
