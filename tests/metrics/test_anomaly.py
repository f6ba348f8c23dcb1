from __future__ import annotations

import itertools
import json
import math
import re
import tracemalloc
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from timevista_hf.metrics import (
    EventTable,
    _chance,
    _events,
    _zones,
    affiliation_precision_recall,
    anomaly,
    chance_affiliation,
    chance_set,
    events_from_mask,
    events_from_points,
    set_precision_recall_f1,
    summarize_affiliation,
)

NAN = math.nan
REFERENCE = json.loads(Path(__file__).with_name("affiliation_cases.json").read_text("utf-8"))
CASES = {case["name"]: case for case in REFERENCE["cases"]}
SCORED = [name for name, case in CASES.items() if "error" not in case]
REFUSED = [name for name, case in CASES.items() if "error" in case]
CLOSE = {"rtol": 0, "atol": 1e-12, "equal_nan": True}
PATHS = {"few": 10**9, "many": 0}  # samples up to which the plain path is taken


@pytest.fixture(params=PATHS)
def path(request, monkeypatch):
    """Run the test once through the plain path and once through the arrays."""
    monkeypatch.setattr(anomaly, "_FEW", PATHS[request.param])
    monkeypatch.setattr(_events, "_FEW_EVENTS", 10**9)
    return request.param


def number(value: str | float | None) -> float:
    return NAN if value is None else float(Fraction(value))


def times(events: list) -> list[tuple[float, ...]]:
    return [tuple(float(v) if v == "nan" else v for v in event) for event in events]


def score(case: dict, **options):
    """Score one case, as a batch of one."""
    return affiliation_precision_recall(
        [times(case["y_true"])], [times(case["y_pred"])], ranges=case["range"], **options
    )


def one(y_true, y_pred, ranges, **options) -> tuple[float, float, float]:
    scores = affiliation_precision_recall([y_true], [y_pred], ranges=ranges, **options)
    return float(scores.precision[0]), float(scores.recall[0]), float(scores.f1[0])


def draw_events(rng: np.random.Generator, steps: int, density: float) -> list[tuple[int, int]]:
    return [tuple(event) for event in events_from_mask(rng.random(steps) < density).tolist()]


def draw_samples(count: int, seed: int, *, steps: int = 14):
    """Draw true events, predicted events and ranges; about a tenth of the predictions is empty."""
    rng = np.random.default_rng(seed)
    truth, prediction, ranges = [], [], []
    while len(truth) < count:
        length = int(rng.integers(3, steps))
        events = draw_events(rng, length, rng.uniform(0.1, 0.7))
        if events:
            truth.append(events)
            prediction.append(draw_events(rng, length, rng.uniform(0.0, 0.7)))
            ranges.append((0, length))
    return truth, prediction, ranges


# The oracle takes the definition at its word. Times are whole eighths of a step. Between multiples
# of a quarter step every integrand is straight, so its value in the middle is its mean.


def cells(low: int, high: int) -> Iterator[int]:
    """Yield the middles of the quarter steps between two times."""
    yield from range(low + 1, high, 2)


def share_as_far(distance: int, low: int, high: int, left: int, right: int) -> Fraction:
    """Compute how much of [left, right] is at least as far from [low, high]: 1 - what is nearer."""
    if distance <= 0:
        return Fraction(1)
    nearer = min(high + distance, right) - max(low - distance, left)
    return 1 - Fraction(nearer, right - left)


def distance_to(point: int, events: list[tuple[int, int]]) -> int:
    return min(max(start - point, point - stop, 0) for start, stop in events)


def oracle_zone(left: int, right: int, event: tuple[int, int], prediction):
    pieces = [(max(a, left), min(b, right)) for a, b in prediction if a < right and b > left]
    if not pieces:
        return None, Fraction(0)
    precision = [
        share_as_far(distance_to(x, [event]), *event, left, right)
        for piece in pieces
        for x in cells(*piece)
    ]
    recall = [share_as_far(distance_to(y, pieces), y, y, left, right) for y in cells(*event)]
    return sum(precision) / len(precision), sum(recall) / len(recall)


def oracle(truth, prediction, length):
    """Return precision and recall of each zone, exactly."""
    truth, prediction = ([(8 * a, 8 * b) for a, b in events] for events in (truth, prediction))
    middles = [(a[1] + b[0]) // 2 for a, b in itertools.pairwise(truth)]
    borders = [0, *middles, 8 * length]
    zones = zip(borders[:-1], borders[1:], truth, strict=True)
    return [oracle_zone(left, right, event, prediction) for left, right, event in zones]


def mean(values) -> float:
    defined = [value for value in values if value is not None]
    return float(sum(defined) / len(defined)) if defined else NAN


@pytest.mark.parametrize("name", SCORED)
def test_a_reference_case_scores_its_exact_value(name, path):
    scores, case = score(CASES[name]), CASES[name]
    np.testing.assert_allclose(scores.precision, [number(case["precision"])], **CLOSE)
    np.testing.assert_allclose(scores.recall, [number(case["recall"])], **CLOSE)


@pytest.mark.parametrize("name", SCORED)
def test_a_reference_case_scores_its_values_zone_by_zone(name, path):
    scores, case = score(CASES[name], zones=True), CASES[name]
    expected = [number(value) for value in case["precision_zones"]]
    np.testing.assert_allclose(scores.precision_zones[0], expected, **CLOSE)
    np.testing.assert_allclose(scores.recall_zones[0], case["recall_zones"], **CLOSE)


@pytest.mark.parametrize("name", REFUSED)
def test_a_reference_case_that_is_no_good_says_what_is_wrong(name, path):
    with pytest.raises(ValueError, match=re.escape(CASES[name]["error"])):
        score(CASES[name])


def test_there_are_all_forty_reference_cases():
    assert (len(SCORED), len(REFUSED)) == (29, 11)


def test_five_thousand_random_samples_equal_the_definition():
    truth, prediction, ranges = draw_samples(5000, seed=1)
    scores = affiliation_precision_recall(truth, prediction, ranges=ranges, zones=True)
    exact = [oracle(t, p, r[1]) for t, p, r in zip(truth, prediction, ranges, strict=True)]
    precision, recall = ([[zone[side] for zone in zones] for zones in exact] for side in (0, 1))
    np.testing.assert_allclose(scores.precision, [mean(zones) for zones in precision], **CLOSE)
    np.testing.assert_allclose(scores.recall, [mean(zones) for zones in recall], **CLOSE)
    flat = [number(value) for value in itertools.chain(*precision)]
    np.testing.assert_allclose(np.concatenate(scores.precision_zones), flat, **CLOSE)
    flat = [number(value) for value in itertools.chain(*recall)]
    np.testing.assert_allclose(np.concatenate(scores.recall_zones), flat, **CLOSE)
    assert np.isnan(scores.precision).sum() > 100  # the empty predictions were among them


def test_a_batch_equals_its_samples_one_by_one():
    truth, prediction, ranges = draw_samples(1000, seed=2, steps=60)
    batch = affiliation_precision_recall(truth, prediction, ranges=ranges)
    singles = [one(*sample) for sample in zip(truth, prediction, ranges, strict=True)]
    np.testing.assert_allclose(
        np.column_stack([batch.precision, batch.recall, batch.f1]), singles, **CLOSE
    )


def test_both_paths_agree_where_times_are_no_whole_numbers(monkeypatch):
    truth, prediction, _ = draw_samples(30, seed=3, steps=40)
    truth, prediction = (
        [[(math.pi * a, math.pi * b) for a, b in events] for events in side]
        for side in (truth, prediction)
    )
    few = affiliation_precision_recall(truth, prediction, ranges=(0.0, 130.0), zones=True)
    monkeypatch.setattr(anomaly, "_FEW", 0)
    many = affiliation_precision_recall(truth, prediction, ranges=(0.0, 130.0), zones=True)
    for name in ("precision", "recall", "f1"):
        np.testing.assert_allclose(getattr(few, name), getattr(many, name), **CLOSE)
    for name in ("precision_zones", "recall_zones"):
        np.testing.assert_allclose(
            np.concatenate(getattr(few, name)), np.concatenate(getattr(many, name)), **CLOSE
        )


def test_the_size_of_the_blocks_changes_nothing(monkeypatch):
    truth, prediction, ranges = draw_samples(300, seed=13)
    whole = affiliation_precision_recall(truth, prediction, ranges=ranges)
    monkeypatch.setattr(_zones, "_BLOCK_EVENTS", 7)
    parts = affiliation_precision_recall(truth, prediction, ranges=ranges)
    np.testing.assert_array_equal(parts.precision, whole.precision)
    np.testing.assert_array_equal(parts.recall, whole.recall)


def test_memory_grows_with_the_events_and_not_with_their_square():
    def peak(count: int) -> int:
        starts = 3 * np.arange(count)
        table = EventTable(np.column_stack([starts, starts + 1]), [count])
        tracemalloc.start()
        affiliation_precision_recall(table, table, ranges=(0, 3 * count))
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    assert peak(40_000) < 2.5 * peak(20_000)


FORMS = {
    "lists": lambda samples: [[list(event) for event in events] for events in samples],
    "arrays": lambda samples: [np.array(events).reshape(-1, 2) for events in samples],
    "lists of numpy numbers": lambda samples: [
        [(np.int64(a), np.float64(b)) for a, b in events] for events in samples
    ],
    "a table": lambda samples: EventTable(
        [event for events in samples for event in events], [len(events) for events in samples]
    ),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("count", [5, 50])
def test_every_form_of_input_scores_alike(form, count):
    truth, prediction, ranges = draw_samples(count, seed=4)
    expected = affiliation_precision_recall(truth, prediction, ranges=ranges)
    scores = affiliation_precision_recall(
        FORMS[form](truth), FORMS[form](prediction), ranges=np.array(ranges)
    )
    np.testing.assert_allclose(scores.precision, expected.precision, **CLOSE)
    np.testing.assert_allclose(scores.recall, expected.recall, **CLOSE)


SHIFTS = {
    "epoch seconds": (1_700_000_000, 1),
    "fractional epoch seconds": (1_700_000_000.25, 1),
    "epoch milliseconds": (1_700_000_000_000, 1000),
    "epoch nanoseconds": (1_700_000_000_000_000_000, 10**9),
    "single nanoseconds": (1_700_000_000_000_000_001, 1),
    "before the epoch": (-1_700_000_000_000_000_001, 1),
}


@pytest.mark.parametrize("form", ["lists", "arrays", "a table"])
@pytest.mark.parametrize("shift", SHIFTS)
def test_a_shift_of_all_times_changes_nothing(shift, form, path):
    start, unit = SHIFTS[shift]
    truth, prediction, ranges = draw_samples(60, seed=5, steps=40)
    expected = affiliation_precision_recall(truth, prediction, ranges=ranges)
    moved = [
        [[(start + unit * a, start + unit * b) for a, b in events] for events in side]
        for side in (truth, prediction)
    ]
    scores = affiliation_precision_recall(
        *map(FORMS[form], moved), ranges=[(start + unit * a, start + unit * b) for a, b in ranges]
    )
    np.testing.assert_allclose(scores.precision, expected.precision, rtol=0, atol=1e-9)
    np.testing.assert_allclose(scores.recall, expected.recall, rtol=0, atol=1e-9)


def test_whole_floats_and_integers_beyond_floats_mix(path):
    start = 2**60  # a float holds it, but not the integers after it
    truth, prediction = [(start + 3, start + 5)], [(start, start + 1), (start + 3, start + 6)]
    assert one(truth, prediction, (float(start), start + 8))[:2] == (0.6875, 1.0)


def test_a_mirrored_range_scores_the_same(path):
    truth, prediction, ranges = draw_samples(200, seed=6, steps=40)
    scores = affiliation_precision_recall(truth, prediction, ranges=ranges)
    mirrored = (
        [[(r[1] - b, r[1] - a) for a, b in events[::-1]] for events, r in zip(side, ranges)]  # noqa: B905
        for side in (truth, prediction)
    )
    others = affiliation_precision_recall(*mirrored, ranges=ranges)
    np.testing.assert_allclose(others.precision, scores.precision, **CLOSE)
    np.testing.assert_allclose(others.recall, scores.recall, **CLOSE)


def test_another_unit_scores_the_same(path):
    truth, prediction, ranges = draw_samples(200, seed=7, steps=40)
    scores = affiliation_precision_recall(truth, prediction, ranges=ranges)
    unit = 2.0**-30  # exact: predictions that end at the border of a zone must go on to do so
    scaled = ([[(unit * a, unit * b) for a, b in e] for e in side] for side in (truth, prediction))
    others = affiliation_precision_recall(*scaled, ranges=unit * np.array(ranges))
    np.testing.assert_allclose(others.precision, scores.precision, **CLOSE)
    np.testing.assert_allclose(others.recall, scores.recall, **CLOSE)


def test_scores_lie_between_0_and_1(path):
    rng = np.random.default_rng(8)
    # Specks of prediction at the far end of the range lose all but a rounding error.
    truth = [[(9 - width, 9.0)] for width in rng.uniform(1e-3, 5, size=400)]
    prediction = [[(0.0, width)] for width in 10.0 ** rng.uniform(-15, 0, size=400)]
    scores = affiliation_precision_recall(truth, prediction, ranges=(0, 9))
    for values in (scores.precision, scores.recall, scores.f1):
        assert ((values >= 0) & (values <= 1)).all()


def test_the_truth_itself_is_perfect(path):
    truth, _, ranges = draw_samples(100, seed=9, steps=40)
    scores = affiliation_precision_recall(truth, truth, ranges=ranges)
    for values in (scores.precision, scores.recall, scores.f1):
        np.testing.assert_array_equal(values, np.ones(100))


def test_precision_falls_as_the_prediction_moves_away(path):
    moved = [[(start, start + 2)] for start in range(20, 38)]
    scores = affiliation_precision_recall([[(18, 20)]] * 18, moved, ranges=(0, 40))
    assert (np.diff(scores.precision) < 0).all()


def test_predicting_the_whole_range_reaches_every_truth(path):
    truth, _, ranges = draw_samples(100, seed=10)
    scores = affiliation_precision_recall(truth, [[r] for r in ranges], ranges=ranges)
    np.testing.assert_array_equal(scores.recall, np.ones(100))


def test_f1_is_the_harmonic_mean(path):
    # P = 11/16 and R = 1: 2 * 11/16 / (27/16) = 22/27.
    assert one([(3, 5)], [(0, 1), (3, 6)], (0, 8))[2] == pytest.approx(22 / 27, abs=1e-15)


def test_f1_is_0_where_precision_and_recall_are(path):
    # A speck of prediction at one end of the range, a speck of truth at the other: all but a
    # 2**-53 of the zone is nearer, which rounds to all of it.
    assert one([(1 - 2**-53, 1)], [(0, 1e-300)], (0, 1)) == (0.0, 0.0, 0.0)


def test_an_empty_prediction_has_no_precision(path):
    precision, recall, f1 = one([(3, 5)], [], (0, 10))
    assert math.isnan(precision)
    assert (recall, f1) == (0.0, 0.0)


def test_an_empty_truth_is_skipped_and_counted_where_asked(path):
    scores = affiliation_precision_recall(
        [[(3, 5)], [], [(3, 5)]],
        [[(3, 5)], [(1, 2)], []],
        ranges=(0, 10),
        empty_truth="skip",
        empty_prediction="zero",
        zones=True,
    )
    assert scores.skipped == 1
    np.testing.assert_array_equal(scores.precision, [1.0, NAN, 0.0])
    np.testing.assert_array_equal(scores.recall, [1.0, NAN, 0.0])
    np.testing.assert_array_equal(scores.f1, [1.0, NAN, 0.0])
    assert [zones.size for zones in scores.recall_zones] == [1, 0, 1]


def test_a_batch_of_nothing_has_no_scores():
    scores = affiliation_precision_recall([], [], ranges=(0, 10), zones=True)
    assert scores.precision.shape == scores.recall.shape == scores.f1.shape == (0,)
    assert (scores.skipped, scores.precision_zones, scores.recall_zones) == (0, [], [])


def test_zones_are_kept_only_where_asked(path):
    scores = affiliation_precision_recall([[(3, 5)]], [[(3, 5)]], ranges=(0, 10))
    assert scores.precision_zones is scores.recall_zones is None


@pytest.mark.parametrize(
    ("events", "joined"),
    [
        ([(5, 8), (3, 5)], [(3, 8)]),  # unsorted and touching
        ([(1, 6), (2, 3), (8, 9)], [(1, 6), (8, 9)]),  # one inside another
        ([(2, 4), (2, 4), (3, 7)], [(2, 7)]),  # twice, and overlapping
        ([(-5, 2), (9, 30)], [(0, 2), (9, 10)]),  # over both ends of the range
        ([(4, 4), (6, 7)], [(6, 7)]),  # an empty event adds nothing
        ([(20, 30)], []),  # outside
    ],
)
def test_merge_takes_events_as_a_set_of_times(events, joined):
    truth = [(3, 5)]
    assert one(truth, events, (0, 10), merge=True) == pytest.approx(
        one(truth, joined, (0, 10)), nan_ok=True
    )


def test_merge_keeps_samples_apart():
    scores = affiliation_precision_recall(
        [[(8, 10)], [(0, 2)]], [[(9, 10), (8, 9)], [(1, 2), (0, 1)]], ranges=(0, 10), merge=True
    )
    np.testing.assert_array_equal(scores.f1, [1.0, 1.0])


def test_merge_changes_nothing_in_good_events():
    truth, prediction, ranges = draw_samples(500, seed=11)
    scores = affiliation_precision_recall(truth, prediction, ranges=ranges)
    merged = affiliation_precision_recall(truth, prediction, ranges=ranges, merge=True)
    np.testing.assert_allclose(merged.precision, scores.precision, **CLOSE)
    np.testing.assert_allclose(merged.recall, scores.recall, **CLOSE)


def test_merged_points_score_as_their_mask():
    points = np.random.default_rng(12).integers(0, 50, size=30)
    mask = np.isin(np.arange(50), points)
    truth = [(10, 12), (30, 31)]
    from_points = one(truth, events_from_points(points), (0, 50), merge=True)
    assert from_points == pytest.approx(one(truth, events_from_mask(mask), (0, 50)), abs=1e-12)


BAD = {
    "no number": ([(1, "2")], "must be a pair of numbers (start, stop), got (1, '2')"),
    "three numbers": ([(1, 2, 3)], "must be a pair of numbers (start, stop), got (1, 2, 3)"),
    "no event": ([5], "must be a pair of numbers (start, stop), got 5"),
    "infinite": ([(1, math.inf)], "must be finite, got (1, inf)"),
    "too large": ([(1, 10**400)], "must be finite"),
    "reversed": ([(3, 1)], "must start before it stops, got (3, 1)"),
    "left of the range": ([(-1, 1)], "must lie in the range (0, 9)"),
    "touching": ([(1, 2), (2, 3)], "must start after (1, 2) has stopped"),
}


@pytest.mark.parametrize("bad", ["no number", "three numbers", "no event", "infinite", "reversed"])
@pytest.mark.parametrize("merge", [False, True])
def test_an_event_that_cannot_be_scored_is_named(bad, merge, path):
    events, message = BAD[bad]
    truth, prediction = [[(3, 4)]] * 3, [[(3, 4)], [(3, 4)], events]
    with pytest.raises(ValueError, match=re.escape(f"sample 2, event 0 of `y_pred` {message}")):
        affiliation_precision_recall(truth, prediction, ranges=(0, 9), merge=merge)


@pytest.mark.parametrize("bad", ["left of the range", "touching"])
def test_an_event_out_of_order_is_named_in_the_middle_of_a_batch(bad):
    events, message = BAD[bad]
    truth = [[(3, 4)]] * 50
    truth[40] = events
    place = f"sample 40, event {len(events) - 1} of `y_true` {message}"
    with pytest.raises(ValueError, match=re.escape(place)):
        affiliation_precision_recall(truth, [[]] * 50, ranges=(0, 9))


def test_an_integer_beyond_every_float_is_refused(path):
    with pytest.raises(ValueError, match="sample 0, event 0 of `y_pred`"):
        one([(3, 4)], [(1, 10**400)], (0, 9))


def test_text_that_reads_as_numbers_is_refused_beyond_whole_floats_too():
    with pytest.raises(ValueError, match="must be a pair of numbers"):
        one([("3", "4")], [], (0, 2**60))


def test_a_sample_that_is_no_list_is_named(path):
    with pytest.raises(ValueError, match=r"sample 1 of `y_pred` must be a sequence .* got None"):
        affiliation_precision_recall([[(3, 4)]] * 2, [[], None], ranges=(0, 9))


def test_samples_that_are_no_sequence_are_refused():
    with pytest.raises(ValueError, match="`y_true` must be a sequence of samples, got 3"):
        affiliation_precision_recall(3, [], ranges=(0, 9))


def test_unequal_numbers_of_samples_are_refused():
    with pytest.raises(ValueError, match="`y_true` has 2 samples but `y_pred` has 1"):
        affiliation_precision_recall([[(3, 4)]] * 2, [[]], ranges=(0, 9))


def test_an_event_too_short_for_a_float_is_refused():
    # 400 days of nanoseconds: near the end a float cannot tell neighbours apart.
    length = 400 * 86400 * 10**9
    with pytest.raises(ValueError, match="`y_pred` has an event that is too short for a float"):
        one([(3, 4)], [(length - 4, length - 3)], (0, length))


@pytest.mark.parametrize(
    ("ranges", "message"),
    [
        ([(0, 9)], "`ranges` has 1 entries for 2 samples"),
        ([(0, 9), (9, 0)], "`ranges`, sample 1: must be finite and start before it stops"),
        ([(0, 9), (0, NAN)], "`ranges`, sample 1: must be finite and start before it stops"),
        ((0, math.inf), "`ranges`: must be finite and start before it stops, got (0, inf)"),
        ([(0, 9), 5], "`ranges`, sample 1: must be a pair of numbers (start, stop), got 5"),
        (("0", "9"), "`ranges`, sample 0: must be a pair of numbers (start, stop), got '0'"),
        ((-1.7e308, 1.7e308), "`ranges`: are too long for a float"),
    ],
)
def test_ranges_that_do_not_fit_are_refused(ranges, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        affiliation_precision_recall([[(3, 4)]] * 2, [[]] * 2, ranges=ranges)


def test_an_empty_truth_is_named():
    with pytest.raises(ValueError, match=r"sample 1: `y_true` must hold an event .* got \[\]"):
        affiliation_precision_recall([[(3, 4)], []], [[], []], ranges=(0, 9))


def test_a_truth_that_merging_cuts_off_is_empty():
    with pytest.raises(ValueError, match="sample 0: `y_true` must hold an event in the range"):
        one([(20, 30)], [(1, 2)], (0, 9), merge=True)


@pytest.mark.parametrize("option", ["empty_prediction", "empty_truth"])
def test_an_unknown_option_lists_the_known(option):
    with pytest.raises(ValueError, match=rf"unknown `{option}` 'Zero'.* Known: "):
        one([(3, 4)], [], (0, 9), **{option: "Zero"})


def test_a_misspelt_option_gets_a_hint():
    with pytest.raises(ValueError, match="did you mean 'zero'"):
        one([(3, 4)], [], (0, 9), empty_prediction="zeros")


@pytest.mark.parametrize("kind", [bool, int, float, np.uint8])
def test_a_mask_of_any_kind_becomes_its_runs(kind):
    mask = np.array([1, 1, 0, 1, 0, 0, 1]).astype(kind)
    assert events_from_mask(mask).tolist() == [[0, 2], [3, 4], [6, 7]]


@pytest.mark.parametrize("mask", [[], [0, 0, 0]])
def test_a_mask_without_runs_has_no_events(mask):
    assert events_from_mask(mask).shape == (0, 2)


@pytest.mark.parametrize("mask", [[0, 2], [0.5], [NAN], ["1"], [-1]])
def test_a_mask_of_something_else_is_refused(mask):
    with pytest.raises(ValueError, match="`mask` must hold booleans, or 0 and 1"):
        events_from_mask(mask)


def test_a_mask_of_two_dimensions_is_refused():
    with pytest.raises(ValueError, match="`mask` must have 1 dimension, got 2"):
        events_from_mask([[0, 1]])


def test_points_are_sorted_and_unique():
    assert events_from_points([7, 2, 7, -1]).tolist() == [[-1, 0], [2, 3], [7, 8]]


def test_no_points_are_no_events():
    assert events_from_points([]).shape == (0, 2)


@pytest.mark.parametrize("points", [[1.0], [True], ["1"], [[1]], 1])
def test_points_that_are_no_integers_are_refused(points):
    with pytest.raises(ValueError, match="`points` must be a flat sequence of integers"):
        events_from_points(points)


@pytest.mark.parametrize(
    ("events", "counts", "message"),
    [
        ([[0, 1, 2]], [1], "`events` must be pairs of numbers"),
        ([["0", "1"]], [1], "`events` must be pairs of numbers"),
        ([[0, 1]], [2], "`counts` add up to 2 but there are 1 events"),
        ([[0, 1]], [2, -1], "`counts` must be integers of at least 0"),
        ([[0, 1]], [1.0], "`counts` must be integers of at least 0"),
    ],
)
def test_a_table_that_does_not_add_up_is_refused(events, counts, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        EventTable(events, counts)


# On a range of 20: P = 77/300 and R = 277/600, then P = 5/32 and R = 91/384, from the reference
# cases; then an empty answer and one that could not be read.
TRUTH = [[(2, 4), (11, 14)], [(2, 4), (12, 14)], [(1, 2)], [(1, 2)]]
ANSWERS = [[(5, 9)], [(7, 9)], [], None]


def test_the_paper_convention_rounds_scores_empty_as_0_and_drops_the_unread():
    summary = summarize_affiliation(TRUTH, ANSWERS, ranges=(0, 20), convention="paper")
    # .2567 and .1563 become .257 and .156; .4617 and .2370 become .462 and .237;
    # F1 = 2PR / (P + R) = .3299 and .1883 become .330 and .188. Three answers were read.
    assert summary["precision"] == pytest.approx((0.257 + 0.156) / 3, abs=1e-15)
    assert summary["recall"] == pytest.approx((0.462 + 0.237) / 3, abs=1e-15)
    assert summary["f1"] == pytest.approx((0.330 + 0.188) / 3, abs=1e-15)


def test_the_honest_convention_counts_the_unread_as_empty_and_does_not_round():
    summary = summarize_affiliation(TRUTH, ANSWERS, ranges=(0, 20))
    first, second = (Fraction(77, 300), Fraction(277, 600)), (Fraction(5, 32), Fraction(91, 384))
    f1 = [2 * p * r / (p + r) for p, r in (first, second)]
    assert summary["precision"] == pytest.approx(float((first[0] + second[0]) / 2), abs=1e-15)
    assert summary["recall"] == pytest.approx(float((first[1] + second[1]) / 4), abs=1e-15)
    assert summary["f1"] == pytest.approx(float(sum(f1) / 4), abs=1e-15)


@pytest.mark.parametrize("convention", ["honest", "paper"])
def test_a_summary_counts_what_it_averages(convention):
    summary = summarize_affiliation(
        [*TRUTH, []], [*ANSWERS, None], ranges=(0, 20), convention=convention, empty_truth="skip"
    )
    counts = {name: summary[name] for name in summary if name not in ("precision", "recall", "f1")}
    assert counts == {
        "judged": 3,
        "asked": 4,
        "coverage": 0.75,
        "empty_predictions": 1,
        "unparsable": 1,
        "skipped": 1,
    }


def test_an_oracle_that_refuses_half_its_answers_is_perfect_only_on_paper():
    answers = [events if index % 2 else None for index, events in enumerate(TRUTH)]
    paper = summarize_affiliation(TRUTH, answers, ranges=(0, 20), convention="paper")
    honest = summarize_affiliation(TRUTH, answers, ranges=(0, 20))
    assert (paper["f1"], honest["f1"]) == (1.0, 0.5)


def test_a_summary_of_refusals_alone_is_undefined_on_paper_and_0_in_earnest():
    paper = summarize_affiliation(TRUTH, [None] * 4, ranges=(0, 20), convention="paper")
    honest = summarize_affiliation(TRUTH, [None] * 4, ranges=(0, 20))
    assert all(math.isnan(paper[name]) for name in ("precision", "recall", "f1"))
    assert (honest["recall"], honest["f1"]) == (0.0, 0.0)
    assert math.isnan(honest["precision"])


def test_a_summary_of_nothing_has_no_coverage():
    assert math.isnan(summarize_affiliation([], [], ranges=(0, 20))["coverage"])


def test_a_summary_takes_tables_and_merges():
    table = EventTable([(5, 6), (3, 5)], [2])
    assert summarize_affiliation([[(3, 6)]], table, ranges=(0, 9), merge=True)["f1"] == 1.0


def test_an_answer_that_is_cut_off_by_the_range_is_empty():
    summary = summarize_affiliation([[(3, 6)]], [[(50, 60)]], ranges=(0, 9), merge=True)
    assert (summary["empty_predictions"], summary["judged"]) == (1, 1)


def test_an_unknown_convention_is_refused():
    with pytest.raises(ValueError, match=r"unknown `convention` 'Paper'.* Known: honest, paper"):
        summarize_affiliation(TRUTH, ANSWERS, ranges=(0, 20), convention="Paper")


def test_sets_score_each_sample():
    scores = set_precision_recall_f1([[3, 4], [0], [1]], [[4, 5, 6], [0], [2]], n_labels=9)
    np.testing.assert_allclose(scores.precision, [1 / 3, 1, 0])
    np.testing.assert_allclose(scores.recall, [1 / 2, 1, 0])
    np.testing.assert_allclose(scores.f1, [2 / 5, 1, 0])


def test_sets_average_by_sample_and_by_id():
    scores = set_precision_recall_f1([[3, 4], [0], [1]], [[4, 5, 6], [0], [2]], n_labels=9)
    means = (scores.mean_precision, scores.mean_recall, scores.mean_f1)
    np.testing.assert_allclose(means, [4 / 9, 1 / 2, 7 / 15])
    # 2 of 5 predicted and 2 of 4 true ids are shared.
    micro = (scores.micro_precision, scores.micro_recall, scores.micro_f1)
    np.testing.assert_allclose(micro, [2 / 5, 2 / 4, 4 / 9])


def test_sets_leave_undefined_scores_out_of_the_mean():
    scores = set_precision_recall_f1([[1], [], []], [[], [2], []], n_labels=3)
    np.testing.assert_array_equal(scores.precision, [NAN, 0, NAN])
    np.testing.assert_array_equal(scores.recall, [0, NAN, NAN])
    np.testing.assert_array_equal(scores.f1, [0, 0, NAN])
    assert (scores.mean_precision, scores.mean_recall, scores.mean_f1) == (0, 0, 0)


def test_no_sets_have_no_scores():
    scores = set_precision_recall_f1([], [], n_labels=3)
    assert scores.f1.shape == (0,)
    assert math.isnan(scores.mean_f1) and math.isnan(scores.micro_f1)


def test_an_id_that_occurs_twice_counts_once():
    assert set_precision_recall_f1([[1, 1]], [[1, 1, 1]], n_labels=3).precision.tolist() == [1.0]


def test_ids_may_come_as_arrays():
    scores = set_precision_recall_f1([np.array([1, 2])], [np.array([2], np.uint8)], n_labels=3)
    assert (scores.precision.tolist(), scores.recall.tolist()) == ([1.0], [0.5])


INVALID_IDS = [-1, 9, 3.0, "3", None, True, np.float64(2)]


@pytest.mark.parametrize("value", INVALID_IDS)
def test_an_id_that_can_be_none_is_refused(value):
    with pytest.raises(ValueError, match=r"sample 1: `y_pred` must hold integers from 0 to 8, got"):
        set_precision_recall_f1([[1], [1]], [[1], [1, value]], n_labels=9)


@pytest.mark.parametrize("value", INVALID_IDS)
def test_a_true_id_that_can_be_none_is_always_refused(value):
    with pytest.raises(ValueError, match=r"sample 0: `y_true` must hold integers from 0 to 8, got"):
        set_precision_recall_f1([[value]], [[1]], n_labels=9, invalid="drop")


def test_dropped_ids_are_counted_and_nothing_else():
    scores = set_precision_recall_f1([[8], [1]], [INVALID_IDS, [1]], n_labels=9, invalid="drop")
    assert scores.rejected.tolist() == [7, 0]
    # -1 is not the last id, and 3.0, "3" and True are no ids: the first answer is empty.
    np.testing.assert_array_equal(scores.precision, [NAN, 1.0])


@pytest.mark.parametrize("n_labels", [0, 2.0, True, None])
def test_a_number_of_labels_that_is_no_positive_integer_is_refused(n_labels):
    with pytest.raises(ValueError, match="`n_labels` must be an integer of at least 1"):
        set_precision_recall_f1([[0]], [[0]], n_labels=n_labels)


def test_sets_of_unequal_number_are_refused():
    with pytest.raises(ValueError, match="`y_true` has 2 samples but `y_pred` has 1"):
        set_precision_recall_f1([[0], [0]], [[0]], n_labels=2)


def test_ids_that_are_no_sequences_are_refused():
    with pytest.raises(ValueError, match="`y_pred` must be a sequence of sequences of ids"):
        set_precision_recall_f1([[0]], [0], n_labels=2)


def test_an_unknown_way_with_invalid_ids_is_refused():
    with pytest.raises(ValueError, match="`invalid` must be one of raise, drop, got 'ignore'"):
        set_precision_recall_f1([[0]], [[0]], n_labels=2, invalid="ignore")


@pytest.mark.parametrize("size", [0, 1, 3, 6])
def test_the_chance_of_sets_is_the_mean_over_all_answers(size):
    truth = [[0, 4], [2]]
    answers = list(itertools.product(itertools.combinations(range(6), size), repeat=2))
    scores = [set_precision_recall_f1(truth, answer, n_labels=6) for answer in answers]
    chance = chance_set(truth, n_labels=6, size=size)
    for name in ("precision", "recall", "f1", "micro_precision", "micro_recall", "micro_f1"):
        expected = np.mean([getattr(score, name) for score in scores], axis=0)
        np.testing.assert_allclose(getattr(chance, name), expected, atol=1e-15)


def test_the_chance_of_sets_takes_a_size_for_each_sample():
    chance = chance_set([[0], [0]], n_labels=4, size=[1, 4])
    np.testing.assert_allclose(chance.recall, [1 / 4, 1])
    np.testing.assert_allclose(chance.precision, [1 / 4, 1 / 4])


@pytest.mark.parametrize("size", [[1, 5], [1, -1], [1, 1.0], [1, True]])
def test_a_size_of_set_out_of_bounds_is_refused(size):
    with pytest.raises(ValueError, match="sample 1: `size` must be an integer from 0 to 4, got"):
        chance_set([[0], [0]], n_labels=4, size=size)


@pytest.mark.parametrize("chance", [chance_set, chance_affiliation])
def test_sizes_for_another_number_of_samples_are_refused(chance):
    options = {"n_labels": 4} if chance is chance_set else {"ranges": (0, 4)}
    truth = [[0]] if chance is chance_set else [[(0, 1)]]
    with pytest.raises(ValueError, match="`size` has 2 entries for 1 samples"):
        chance(truth, size=[1, 1], **options)


def placements(lengths: tuple[int, ...], steps: int) -> list[list[tuple[int, int]]]:
    """List every way to put the events on the steps, in every order, none over another."""
    answers = []
    for order in itertools.permutations(lengths):
        for starts in itertools.combinations(range(steps), len(order)):
            events = [(a, a + n) for a, n in zip(starts, order, strict=True)]
            apart = all(a[1] <= b[0] for a, b in itertools.pairwise(events))
            if apart and events[-1][1] <= steps:
                answers.append(events)
    return answers


@pytest.mark.parametrize(
    ("truth", "lengths", "steps"),
    [
        ([(2, 3)], (1,), 10),
        ([(0, 1), (4, 5)], (1, 1), 7),  # two points
        ([(1, 3), (6, 7)], (2, 1), 8),  # events of unequal length
        ([(1, 3)], (1, 1, 1), 4),  # hardly a free step
    ],
)
def test_the_chance_of_affiliation_is_the_mean_over_all_answers(truth, lengths, steps):
    answers = placements(lengths, steps)
    exact = affiliation_precision_recall(
        [truth] * len(answers), answers, ranges=(0, steps), merge=True
    )
    chance = chance_affiliation([truth], ranges=(0, steps), size=[lengths], draws=20_000)
    for name in ("precision", "recall", "f1"):
        expected = getattr(exact, name)
        error = getattr(chance, f"{name}_error")[0]
        assert abs(getattr(chance, name)[0] - expected.mean()) < 4 * error + 1e-12
        # The stated error is the spread over the answers by the root of the draws.
        assert error == pytest.approx(expected.std() / math.sqrt(20_000), rel=0.1, abs=1e-12)


def test_a_random_point_is_half_right():
    truth = [[(start, start + 1)] for start in range(0, 400, 4)]
    chance = chance_affiliation(truth, ranges=(0, 400), size=1, draws=200)
    errors = [np.sqrt(np.square(e).sum()) / 100 for e in (chance.precision_error,)]
    assert abs(chance.precision.mean() - 0.5) < 4 * errors[0] + 0.5 / 400


def test_a_number_of_points_is_as_many_events_of_one_step():
    truth = [[(2, 4)], [(5, 6)]]
    points = chance_affiliation(truth, ranges=(0, 30), size=[2, 3], seed=5)
    lengths = chance_affiliation(truth, ranges=(0, 30), size=[[1, 1], [1, 1, 1]], seed=5)
    np.testing.assert_array_equal(points.f1, lengths.f1)


def test_a_random_answer_keeps_its_place_in_another_unit_and_epoch():
    steps = chance_affiliation([[(2, 4)]], ranges=(0, 30), size=2, seed=6)
    start = 1_700_000_000_000_000_000
    event, span = (start + 20, start + 40), (start, start + 300)
    nanoseconds = chance_affiliation([[event]], ranges=span, size=2, step=10, seed=6)
    np.testing.assert_allclose(nanoseconds.f1, steps.f1, **CLOSE)


def test_no_answer_at_all_has_no_chance():
    chance = chance_affiliation([[(2, 4)], [(2, 4)]], ranges=(0, 30), size=[0, 30])
    np.testing.assert_array_equal(chance.recall, [0.0, 1.0])
    np.testing.assert_array_equal(chance.f1_error, [0.0, 0.0])
    assert math.isnan(chance.precision[0])


def test_the_same_seed_draws_the_same_answers():
    options = {"ranges": (0, 30), "size": 2, "draws": 5}
    first = chance_affiliation([[(2, 4)]], seed=1, **options)
    again = chance_affiliation([[(2, 4)]], seed=np.random.default_rng(1), **options)
    other = chance_affiliation([[(2, 4)]], seed=2, **options)
    assert first.f1 == again.f1 != other.f1


def test_draws_in_several_blocks_are_averaged_alike(monkeypatch):
    options = {"ranges": (0, 30), "size": 2, "draws": 3001}
    whole = chance_affiliation([[(2, 4)], [(20, 21)]], **options)
    monkeypatch.setattr(_chance, "_SAMPLES_AT_ONCE", 2000)
    parts = chance_affiliation([[(2, 4)], [(20, 21)]], **options)
    assert (np.abs(whole.f1 - parts.f1) < 5 * np.hypot(whole.f1_error, parts.f1_error)).all()
    np.testing.assert_allclose(parts.f1_error, whole.f1_error, rtol=0.1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"size": [[1.5]]}, "sample 0: `size` must be whole numbers of steps of 1, got [1.5]"),
        ({"size": [[0]]}, "sample 0: `size` must be whole numbers of steps of 1, got [0]"),
        ({"size": [["a"]]}, "sample 0: `size` must hold lengths, got ['a']"),
        ({"size": -1}, "sample 0: `size` must not be negative, got -1"),
        ({"size": None}, "`size` must be one size or one a sample, got None"),
        ({"size": 10}, "sample 0: `size` takes 10 steps, but the range has 9"),
        ({"size": 1, "step": 2}, "sample 0: the length of `ranges` must be whole numbers of steps"),
        ({"size": 1, "step": 0}, "`step` must be a number above 0, got 0"),
        ({"size": 1, "draws": 1}, "`draws` must be an integer of at least 2, got 1"),
    ],
)
def test_a_chance_that_cannot_be_drawn_is_refused(options, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        chance_affiliation([[(2, 4)]], ranges=(0, 9), **options)


def test_a_sample_without_truth_has_no_chance():
    with pytest.raises(ValueError, match="sample 1: `y_true` must hold an event"):
        chance_affiliation([[(2, 4)], []], ranges=(0, 9), size=1)


def test_an_echo_of_the_example_is_the_example_for_every_sample():
    example = events_from_points([2, 51, 106])
    truth = [[(start, start + 1)] for start in (2, 60, 300)]
    echo = affiliation_precision_recall(truth, [example] * 3, ranges=(0, 400))
    singles = [one(events, example, (0, 400))[2] for events in truth]
    np.testing.assert_allclose(echo.f1, singles, **CLOSE)
