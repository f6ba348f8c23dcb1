from __future__ import annotations

import math
from collections import Counter
from itertools import combinations, permutations, product

import numpy as np
import pytest
from scipy import stats

from timevista_hf.metrics import (
    _correlation,
    _rank_tables,
    bootstrap_interval,
    compare_judges,
    consensus,
    consistency,
    gwet_ac2,
    kendall,
    krippendorff_alpha,
    pairwise_agreement,
    spearman,
    weighted_kappa,
)

NAN = math.nan

CORRELATIONS = {
    "spearman": (spearman, lambda x, y: stats.spearmanr(x, y).statistic),
    "kendall": (kendall, lambda x, y: stats.kendalltau(x, y).statistic),
}

# Krippendorff (2011), "Computing Krippendorff's Alpha-Reliability": 4 observers, 12 units.
OBSERVERS = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, NAN, NAN, NAN],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NAN, 3],
    [NAN, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NAN],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NAN],
]

# TimeVista (2026), table 6: cases by max - min over five runs, and their printed percentages.
DIFFERENCES = {0: (2141, 72.70), 1: (663, 22.51), 2: (112, 3.80), 3: (23, 0.78), 4: (6, 0.20)}


def ratings(n: int, *, seed: int = 0, noise: float = 0.7) -> tuple[np.ndarray, np.ndarray]:
    """Ratings from 1 to 5 by two annotators who see the same quality with noise of their own."""
    rng = np.random.default_rng(seed)
    quality = rng.normal(size=n)
    seen = quality + noise * rng.normal(size=(2, n))
    first, second = np.clip(np.round(3 + 1.2 * seen), 1, 5)
    return first, second


def with_gaps(values: np.ndarray, *, seed: int, share: float = 0.15) -> np.ndarray:
    holes = np.random.default_rng(seed).random(values.shape) < share
    return np.where(holes, NAN, values)


def panel(annotators: int, units: int, *, seed: int = 0) -> np.ndarray:
    """Ratings from 1 to 5 by several annotators, some of them missing."""
    rng = np.random.default_rng(seed)
    seen = rng.normal(size=units) + 0.6 * rng.normal(size=(annotators, units))
    return with_gaps(np.clip(np.round(3 + 1.2 * seen), 1, 5), seed=seed + 1)


def columns(kind: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(40, 900))
    first, second = ratings(n, seed=seed)
    return {
        "ratings": (first, second),
        "half steps": (first / 2, second + 0.5),
        "negative": (first - 3, -second),
        "continuous": (first + rng.normal(size=n), second + rng.normal(size=n)),
        "ratings and errors": (first, -np.exp(second + rng.normal(size=n))),
        "large numbers": (1e12 + 1e3 * first, second * 1e-300),
        "close to one": (1 + first * 2.0**-52, second),
        "few": (first[:6] + 9 * (np.arange(6) == 5), second[:6] + 9 * (np.arange(6) == 0)),
    }[kind]


KINDS = [
    "ratings",
    "half steps",
    "negative",
    "continuous",
    "ratings and errors",
    "large numbers",
    "close to one",
    "few",
]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", CORRELATIONS)
def test_a_correlation_equals_scipys(name, kind, seed):
    ours, theirs = CORRELATIONS[name]
    x, y = columns(kind, seed)
    assert ours(x, y) == pytest.approx(theirs(x, y), abs=1e-12)


@pytest.mark.parametrize("kind", ["ratings", "continuous"])
@pytest.mark.parametrize("name", CORRELATIONS)
def test_pairs_with_a_gap_are_left_out(name, kind):
    ours, theirs = CORRELATIONS[name]
    x, y = (with_gaps(values, seed=k) for k, values in enumerate(columns(kind, 5)))
    both = ~np.isnan(x) & ~np.isnan(y)
    assert 0 < both.sum() < both.size
    assert ours(x, y) == pytest.approx(theirs(x[both], y[both]), abs=1e-12)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", CORRELATIONS)
def test_counting_cells_equals_sorting_cases(name, kind, monkeypatch):
    ours = CORRELATIONS[name][0]
    x, y = columns(kind, 7)
    monkeypatch.setattr(_correlation, "_PAIRED_CELLS", 10**9)
    counted = ours(x, y)
    monkeypatch.setattr(_correlation, "_PAIRED_CELLS", 0)
    assert ours(x, y) == pytest.approx(counted, abs=1e-12)


def test_a_wide_table_of_few_values_is_sorted_too():
    # 40 · 40 values, so that either side looks like ratings and the table does not.
    x, y = np.random.default_rng(0).integers(0, 40, size=(2, 3000))
    expected = stats.kendalltau(x, y).statistic
    assert kendall(x, y) == pytest.approx(expected, abs=1e-12)


def test_a_table_and_sorted_rows_are_the_same_cells(monkeypatch):
    codes = [_rank_tables.rank_codes(values) for values in ratings(300)]
    table = _rank_tables.count_cells(codes)
    monkeypatch.setattr(_rank_tables, "_SMALL_TABLE", -(10**9))
    rows = _rank_tables.count_cells(codes)
    assert np.array_equal(table[0], rows[0])
    assert np.array_equal(table[1], rows[1])
    assert dict(zip(zip(*table[0].tolist(), strict=True), table[1].tolist(), strict=True)) == (
        Counter(zip(*(column.tolist() for column in codes), strict=True))
    )


def test_ratings_are_not_sorted_case_by_case(monkeypatch):
    x, y = ratings(2000)
    monkeypatch.setattr(_correlation, "tau_by_sorting", None)
    assert kendall(x, y) > 0.3


def test_tau_b_by_hand():
    # Of 10 pairs one is discordant, (1, 2), one tied in y, (5, 5): (8 - 1) / sqrt(10 · 9).
    assert kendall([1, 2, 3, 4, 5], [2, 1, 3, 5, 5]) == pytest.approx(7 / math.sqrt(90), abs=1e-15)


def test_rho_by_hand():
    # Without ties 1 - 6 Σd² / (n (n² - 1)): d = 1, -1, 0, 1, -1, so 1 - 24 / 120.
    assert spearman([1, 2, 3, 4, 5], [2, 1, 3, 5, 4]) == pytest.approx(0.8, abs=1e-15)


@pytest.mark.parametrize("name", CORRELATIONS)
@pytest.mark.parametrize(
    ("x", "y"),
    [
        ([], []),
        ([1], [2]),
        ([2, 2, 2], [1, 2, 3]),
        ([1, 2, 3], [4, 4, 4]),
        ([1, NAN, 2], [NAN, 1, 2]),
        ([1, 1, 9], [1, 2, NAN]),
        (np.zeros(1000), np.arange(1000)),
    ],
)
def test_without_two_different_values_on_each_side_a_correlation_is_undefined(name, x, y):
    assert math.isnan(CORRELATIONS[name][0](x, y))


@pytest.mark.parametrize("n", [2, 5, 1000])
@pytest.mark.parametrize("name", CORRELATIONS)
def test_the_same_order_is_one_and_the_reverse_minus_one(name, n):
    ours = CORRELATIONS[name][0]
    x = np.random.default_rng(n).permutation(n)
    assert ours(x, np.exp(x / n)) == 1.0
    assert ours(x, -x) == -1.0


@pytest.mark.parametrize("kind", ["ratings", "continuous"])
@pytest.mark.parametrize("name", CORRELATIONS)
def test_a_correlation_is_symmetric(name, kind):
    ours = CORRELATIONS[name][0]
    x, y = columns(kind, 1)
    assert ours(x, y) == pytest.approx(ours(y, x), abs=1e-15)


@pytest.mark.parametrize("kind", ["ratings", "continuous"])
@pytest.mark.parametrize("name", CORRELATIONS)
def test_only_the_order_of_the_values_matters(name, kind):
    ours = CORRELATIONS[name][0]
    x, y = columns(kind, 2)
    assert ours(np.exp(x), y**3) == pytest.approx(ours(x, y), abs=1e-15)
    assert ours(-x, y) == pytest.approx(-ours(x, y), abs=1e-15)


@pytest.mark.parametrize("name", CORRELATIONS)
def test_infinite_values_rank_first_and_last(name):
    ours = CORRELATIONS[name][0]
    for n in (4, 1000):
        x, y = np.random.default_rng(n).normal(size=(2, n))
        order = x.argsort()
        expected = ours(x, y)
        x[order[0]], x[order[-1]] = -math.inf, math.inf
        assert ours(x, y) == expected


@pytest.mark.parametrize("name", CORRELATIONS)
def test_none_and_masked_values_are_missing(name):
    ours = CORRELATIONS[name][0]
    masked = np.ma.masked_equal([1, 9, 3, 2], 9)
    expected = ours([1, 3, 2], [5, 7, 8])
    assert ours([1, None, 3, 2], [5, 6, 7, 8]) == expected
    assert ours(masked, [5, 6, 7, 8]) == expected


@pytest.mark.parametrize("name", CORRELATIONS)
def test_a_correlation_is_a_plain_float(name):
    assert type(CORRELATIONS[name][0](*ratings(20))) is float


@pytest.mark.parametrize("correlate", [spearman, kendall, bootstrap_interval])
def test_columns_of_unequal_length_are_refused(correlate):
    with pytest.raises(ValueError, match="`x` has 3 values but `y` has 2"):
        correlate([1, 2, 3], [1, 2])


@pytest.mark.parametrize("text", [["1", "2"], np.array(["1", "2"], dtype=object)])
@pytest.mark.parametrize("correlate", [spearman, kendall, bootstrap_interval])
def test_text_is_refused(correlate, text):
    with pytest.raises(ValueError, match="`y` must hold numbers: got"):
        correlate([1, 2], text)


@pytest.mark.parametrize("correlate", [spearman, kendall, bootstrap_interval])
def test_a_matrix_is_refused(correlate):
    with pytest.raises(ValueError, match="`x` must have 1 dimension, got 2"):
        correlate([[1, 2]], [1, 2])


def test_the_interval_rests_on_the_distribution_of_all_resamples():
    # All 4⁴ equally likely resamples, by scipy; `low` must be a quantile of theirs up to the
    # sampling error of 20,000 draws: four standard errors of a share.
    x, y = np.array([1.0, 2.0, 2.0, 4.0]), np.array([1.0, 3.0, 2.0, 3.0])
    draws = [list(draw) for draw in product(range(4), repeat=4)]
    usable = [d for d in draws if np.ptp(x[d]) > 0 and np.ptp(y[d]) > 0]
    exact = np.array([stats.kendalltau(x[d], y[d]).statistic for d in usable])
    resamples, share = 20_000, len(usable) / len(draws)
    for confidence in (0.3, 0.5, 0.8):
        interval = bootstrap_interval(
            x, y, statistic="kendall", confidence=confidence, resamples=resamples
        )
        for bound, tail in (
            (interval.low, 0.5 - confidence / 2),
            (interval.high, 0.5 + confidence / 2),
        ):
            error = 4 * math.sqrt(tail * (1 - tail) / interval.resamples)
            assert np.mean(exact < bound - 1e-9) - error <= tail
            assert np.mean(exact <= bound + 1e-9) + error >= tail
        spread = 4 * math.sqrt(share * (1 - share) / resamples)
        assert interval.resamples / resamples == pytest.approx(share, abs=spread)


@pytest.mark.parametrize("kind", ["ratings", "continuous"])
@pytest.mark.parametrize("name", CORRELATIONS)
def test_the_interval_is_scipys_up_to_sampling_error(name, kind):
    x, y = (values[:80] for values in columns(kind, 3))
    theirs = stats.bootstrap(
        (x, y),
        CORRELATIONS[name][1],
        paired=True,
        vectorized=False,
        method="percentile",
        n_resamples=499,
        rng=np.random.default_rng(0),
    )
    ours = bootstrap_interval(x, y, statistic=name, resamples=9999)
    # Standard error of a 2.5 % quantile of a normal distribution, from R draws, in units of its
    # standard deviation: sqrt(.025 · .975 / R) / φ(1.96), and φ(1.96) = .0584. Four of them.
    error = 4 * theirs.standard_error * math.sqrt(0.025 * 0.975 / 499) / 0.0584
    assert ours.low == pytest.approx(theirs.confidence_interval.low, abs=error)
    assert ours.high == pytest.approx(theirs.confidence_interval.high, abs=error)
    assert ours.estimate == pytest.approx(CORRELATIONS[name][1](x, y), abs=1e-12)


@pytest.mark.parametrize("name", CORRELATIONS)
def test_counting_and_drawing_cases_give_the_same_interval_up_to_sampling_error(name, monkeypatch):
    x, y = ratings(200)
    intervals = []
    for cost in (0, 10**9):
        monkeypatch.setattr(_rank_tables, "_BINOMIAL_COST", cost)
        intervals.append(bootstrap_interval(x, y, statistic=name))
    # Widths are 3.92 standard deviations; each bound errs by .027 of one (as above, R = 9,999).
    error = 4 * math.sqrt(2) * 0.027 * (intervals[0].high - intervals[0].low) / 3.92
    assert intervals[0].low != intervals[1].low
    assert intervals[0].low == pytest.approx(intervals[1].low, abs=error)
    assert intervals[0].high == pytest.approx(intervals[1].high, abs=error)


@pytest.mark.parametrize("cost", [0, 10**9])
def test_the_interval_does_not_depend_on_the_size_of_a_chunk(cost, monkeypatch):
    x, y = ratings(60)
    monkeypatch.setattr(_rank_tables, "_BINOMIAL_COST", cost)
    whole = bootstrap_interval(x, y, resamples=500)
    monkeypatch.setattr(_rank_tables, "_CHUNK", 1000)
    assert bootstrap_interval(x, y, resamples=500) == whole


def test_resamples_are_sorted_to_the_same_interval_as_paired(monkeypatch):
    x, y = columns("continuous", 4)
    paired = bootstrap_interval(x, y, statistic="kendall", resamples=50)
    monkeypatch.setattr(_rank_tables, "_PAIRED_CELLS", 0)
    sorted_ = bootstrap_interval(x, y, statistic="kendall", resamples=50)
    assert sorted_.low == pytest.approx(paired.low, abs=1e-12)
    assert sorted_.high == pytest.approx(paired.high, abs=1e-12)


@pytest.mark.parametrize("name", CORRELATIONS)
def test_a_seed_fixes_the_interval(name):
    x, y = ratings(100)
    first = bootstrap_interval(x, y, statistic=name, seed=3)
    assert bootstrap_interval(x, y, statistic=name, seed=3) == first
    generator = np.random.default_rng(3)
    assert bootstrap_interval(x, y, statistic=name, seed=generator) == first
    assert bootstrap_interval(x, y, statistic=name, seed=generator).low != first.low


def test_the_interval_does_not_depend_on_the_order_of_the_cases():
    x, y = columns("continuous", 6)
    order = np.random.default_rng(0).permutation(x.size)
    shuffled = bootstrap_interval(x[order], y[order], resamples=200)
    assert shuffled == bootstrap_interval(x, y, resamples=200)


def test_the_interval_depends_on_the_order_of_the_values_only():
    x, y = ratings(100)
    assert bootstrap_interval(10 * x, y**2 - 7) == bootstrap_interval(x, y)


def test_more_confidence_is_a_wider_interval():
    x, y = ratings(100)
    narrow, wide = (bootstrap_interval(x, y, confidence=c) for c in (0.8, 0.99))
    assert wide.low < narrow.low < narrow.estimate < narrow.high < wide.high


def test_the_interval_covers_the_truth_about_as_often_as_it_says():
    # 200 samples of 100 cases: four standard errors of a share of .95 are .06.
    truth = spearman(*ratings(400_000, seed=99))
    hits = 0
    for seed in range(200):
        interval = bootstrap_interval(*ratings(100, seed=seed), resamples=399, seed=seed)
        hits += interval.low <= truth <= interval.high
    assert 0.89 <= hits / 200 < 1


def test_the_interval_counts_the_complete_cases():
    assert bootstrap_interval([1, 2, 3, NAN], [1, 3, 2, 4], resamples=99).n == 3


def test_undefined_resamples_are_left_out_and_not_counted():
    # A resample is constant in x where case 3 is absent or alone: (3/4)⁴ + (1/4)⁴ = 82 / 256.
    interval = bootstrap_interval([1, 1, 1, 2], [1, 2, 3, 4], resamples=20_000)
    error = 4 * math.sqrt(0.32 * 0.68 / 20_000)
    assert interval.resamples / 20_000 == pytest.approx(1 - 82 / 256, abs=error)
    assert math.isfinite(interval.low)


@pytest.mark.parametrize(("x", "n"), [([], 0), ([1], 1), ([1, NAN], 1), ([2, 2], 2)])
def test_an_undefined_correlation_has_no_interval(x, n):
    interval = bootstrap_interval(x, list(range(len(x))), resamples=99)
    assert [interval.n, interval.resamples] == [n, 0]
    assert np.isnan([interval.estimate, interval.low, interval.high]).all()


@pytest.mark.parametrize("name", CORRELATIONS)
def test_the_same_order_has_an_interval_of_no_width(name):
    interval = bootstrap_interval(range(30), range(30), statistic=name, resamples=99)
    assert (interval.low, interval.estimate, interval.high) == (1.0, 1.0, 1.0)


@pytest.mark.parametrize("confidence", [0, 1, 95, NAN])
def test_a_confidence_that_is_no_share_is_refused(confidence):
    with pytest.raises(
        ValueError, match=rf"`confidence` must be between 0 and 1, got {confidence}"
    ):
        bootstrap_interval([1, 2], [1, 2], confidence=confidence)


@pytest.mark.parametrize("resamples", [0, -1, 10.0, None])
def test_resamples_that_are_no_positive_integer_are_refused(resamples):
    with pytest.raises(ValueError, match=rf"`resamples` must be .* at least 1, got {resamples}"):
        compare_judges([1, 2], [1, 2], [1, 2], resamples=resamples)


def test_an_unknown_statistic_is_named_with_the_nearest():
    with pytest.raises(ValueError, match=r"unknown statistic 'spearmann'; did you mean 'spearman'"):
        bootstrap_interval([1, 2], [1, 2], statistic="spearmann")


def judges(n: int, *, seed: int = 0, noises: tuple[float, float] = (0.4, 0.8)) -> list[np.ndarray]:
    """Ratings by people and by two judges of whom the first sees more clearly."""
    rng = np.random.default_rng(seed)
    quality = rng.normal(size=n)
    seen = [quality + noise * rng.normal(size=n) for noise in (0.4, *noises)]
    return [np.clip(np.round(3 + 1.2 * values), 1, 5) for values in seen]


@pytest.mark.parametrize("name", CORRELATIONS)
def test_judges_are_compared_over_the_cases_that_have_all_three_ratings(name):
    human, first, second = (with_gaps(v, seed=k) for k, v in enumerate(judges(300)))
    comparison = compare_judges(human, first, second, statistic=name, resamples=99)
    complete = ~np.isnan(human + first + second)
    correlate = CORRELATIONS[name][1]
    assert comparison.n == complete.sum() < 300
    assert comparison.first == pytest.approx(correlate(human[complete], first[complete]), abs=1e-12)
    assert comparison.second == pytest.approx(
        correlate(human[complete], second[complete]), abs=1e-12
    )
    assert comparison.difference == comparison.first - comparison.second


@pytest.mark.parametrize("name", CORRELATIONS)
def test_the_difference_is_resampled_in_pairs(name):
    human, first, second = judges(120)
    rng = np.random.default_rng(1)
    correlate = CORRELATIONS[name][0]
    differences = []
    for _ in range(1500):
        drawn = rng.integers(120, size=120)
        of_first, of_second = (correlate(human[drawn], judge[drawn]) for judge in (first, second))
        differences.append(of_first - of_second)
    comparison = compare_judges(human, first, second, statistic=name)
    # As above, with R = 1,500: sqrt(.025 · .975 / 1500) / .0584 = .069 standard deviations.
    error = 4 * 0.069 * np.std(differences)
    assert comparison.low == pytest.approx(np.quantile(differences, 0.025), abs=error)
    assert comparison.high == pytest.approx(np.quantile(differences, 0.975), abs=error)


def test_the_difference_is_surer_than_the_two_intervals_say():
    human, first, second = judges(300, noises=(0.4, 0.6))
    comparison = compare_judges(human, first, second)
    intervals = [bootstrap_interval(human, judge) for judge in (first, second)]
    assert intervals[0].low < intervals[1].high
    assert comparison.low > 0
    assert comparison.williams_p < 0.05
    assert comparison.steiger_p < 0.05


def test_swapping_the_judges_turns_every_sign():
    human, first, second = judges(200)
    there, back = compare_judges(human, first, second), compare_judges(human, second, first)
    assert back.difference == -there.difference
    assert back.williams_t == pytest.approx(-there.williams_t, abs=1e-12)
    assert back.steiger_z == pytest.approx(-there.steiger_z, abs=1e-12)
    assert back.williams_p == pytest.approx(there.williams_p, abs=1e-12)
    assert back.steiger_p == pytest.approx(there.steiger_p, abs=1e-12)
    # Other draws: a bound errs by .027 standard deviations, a width is 3.92 of them.
    error = 4 * math.sqrt(2) * 0.027 * (there.high - there.low) / 3.92
    assert back.low == pytest.approx(-there.high, abs=error)


def test_a_comparison_depends_on_the_order_of_the_ratings_only():
    human, first, second = judges(200)
    expected = compare_judges(human, first, second, resamples=99)
    assert compare_judges(2 * human, np.exp(first), second - 9, resamples=99) == expected


@pytest.mark.parametrize("name", CORRELATIONS)
def test_judges_that_order_alike_do_not_differ_and_leave_nothing_to_test(name):
    human, first, _ = judges(100)
    comparison = compare_judges(human, first, 3 * first, statistic=name, resamples=99)
    assert (comparison.difference, comparison.low, comparison.high) == (0.0, 0.0, 0.0)
    assert math.isnan(comparison.williams_p)
    assert math.isnan(comparison.steiger_p)


def test_kendall_has_an_interval_but_no_test():
    comparison = compare_judges(*judges(100), statistic="kendall", resamples=99)
    tests = [comparison.williams_t, comparison.williams_p, comparison.steiger_z]
    assert np.isnan([*tests, comparison.steiger_p]).all()
    assert comparison.low < comparison.difference < comparison.high


def test_a_comparison_uses_the_tests_on_its_own_correlations():
    human, first, second = judges(150)
    comparison = compare_judges(human, first, second, resamples=99)
    between = spearman(first, second)
    pair = (comparison.first, comparison.second, between, 150)
    assert (comparison.williams_t, comparison.williams_p) == _correlation.williams_test(*pair)
    assert (comparison.steiger_z, comparison.steiger_p) == _correlation.steiger_test(*pair)


def test_williams_t_is_the_published_one():
    # Silver, Hittner and May (2006), doi:10.1177/0146621605277132: r = .3, .4, .5, n = 100.
    t, p = _correlation.williams_test(0.3, 0.4, 0.5, 100)
    assert (round(t, 4), round(p, 4)) == (-1.0767, 0.2843)


def test_steigers_z_is_the_published_one():
    # The same source; and Steiger (1980), case A, who rounds on the way and prints -.8913.
    z, p = _correlation.steiger_test(0.3, 0.4, 0.5, 100)
    assert (round(z, 4), round(p, 4)) == (-1.0718, 0.2838)
    assert _correlation.steiger_test(0.4, 0.5, 0.1, 103)[0] == pytest.approx(-0.8913, abs=0.003)


def test_the_tests_reject_equal_judges_about_as_often_as_they_say():
    # 400 null comparisons at .05: four standard errors are .044.
    results = [
        compare_judges(*judges(80, seed=s, noises=(0.6, 0.6)), resamples=1) for s in range(400)
    ]
    assert np.mean([r.williams_p < 0.05 for r in results]) == pytest.approx(0.05, abs=0.044)
    assert np.mean([r.steiger_p < 0.05 for r in results]) == pytest.approx(0.05, abs=0.044)


def test_a_judge_that_orders_as_people_do_has_no_fisher_z():
    human, _, second = judges(100)
    comparison = compare_judges(human, human, second, resamples=99)
    assert comparison.first == 1.0
    assert math.isnan(comparison.steiger_p)
    assert 0 <= comparison.williams_p < 0.001


@pytest.mark.parametrize("between", [1.0, 1 - 2.0**-53])
@pytest.mark.parametrize("test", [_correlation.williams_test, _correlation.steiger_test])
def test_rounding_makes_no_test_of_judges_that_order_alike(test, between):
    for shared in np.linspace(-0.99, 0.99, 50):
        assert np.isnan(test(shared, shared, between, 50)).all()


@pytest.mark.parametrize("n", [0, 1, 3])
def test_fewer_than_four_cases_are_not_tested(n):
    comparison = compare_judges([1, 2, 3][:n], [1, 3, 2][:n], [3, 1, 2][:n], resamples=99)
    assert comparison.n == n
    assert math.isnan(comparison.williams_p)
    assert math.isnan(comparison.steiger_p)


def test_constant_people_leave_a_comparison_undefined():
    comparison = compare_judges([3, 3, 3, 3, 3], [1, 2, 3, 4, 5], [2, 1, 3, 4, 5], resamples=99)
    assert comparison.resamples == 0
    assert np.isnan([comparison.first, comparison.low, comparison.williams_t]).all()


def test_a_judge_with_too_few_scores_is_named():
    with pytest.raises(ValueError, match="`human` has 3 values but `second` has 2"):
        compare_judges([1, 2, 3], [1, 2, 3], [1, 2])


def loop_alpha(matrix, level: str) -> float:
    """Krippendorff's alpha from pairs of ratings, as defined, with the ordinal sum of counts."""
    kept = [[v for v in unit if not math.isnan(v)] for unit in np.transpose(matrix)]
    kept = [unit for unit in kept if len(unit) >= 2]
    pool = [value for unit in kept for value in unit]

    def delta(a: float, b: float) -> float:
        if level == "nominal":
            return float(a != b)
        if level == "interval":
            return (a - b) ** 2
        low, high = min(a, b), max(a, b)
        between = sum(low <= value <= high for value in pool)
        return (between - (pool.count(a) + pool.count(b)) / 2) ** 2 if a != b else 0.0

    observed = 0.0
    for unit in kept:
        observed += sum(delta(a, b) for a, b in permutations(unit, 2)) / (len(unit) - 1)
    expected = sum(delta(a, b) for a, b in permutations(pool, 2)) / (len(pool) - 1)
    return 1 - observed / expected


LEVELS = ["nominal", "ordinal", "interval"]


@pytest.mark.parametrize(
    ("level", "published"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)]
)
def test_alpha_is_that_of_the_published_example(level, published):
    assert round(krippendorff_alpha(OBSERVERS, level=level), 3) == published


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("level", LEVELS)
def test_alpha_equals_a_loop_over_pairs(level, seed):
    matrix = panel(4, 20, seed=seed)
    assert np.isnan(matrix).any()
    assert krippendorff_alpha(matrix, level=level) == pytest.approx(
        loop_alpha(matrix, level), abs=1e-12
    )


@pytest.mark.parametrize("level", LEVELS)
def test_alpha_of_continuous_ratings_equals_a_loop_over_pairs(level):
    matrix = panel(3, 15) + np.random.default_rng(0).normal(size=(3, 15)).round(1)
    assert krippendorff_alpha(matrix, level=level) == pytest.approx(
        loop_alpha(matrix, level), abs=1e-12
    )


@pytest.mark.parametrize("level", LEVELS)
def test_alpha_does_not_depend_on_the_order_of_annotators_and_units(level):
    matrix, rng = panel(4, 50), np.random.default_rng(0)
    shuffled = matrix[rng.permutation(4)][:, rng.permutation(50)]
    expected = krippendorff_alpha(matrix, level=level)
    assert krippendorff_alpha(shuffled, level=level) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("level", "relabel"),
    [
        ("nominal", lambda v: np.where(np.isnan(v), NAN, (v * 3) % 7)),  # 3 6 2 5 1
        ("ordinal", np.exp),
        ("interval", lambda v: 100 - 8 * v),
    ],
)
def test_alpha_keeps_its_value_under_what_its_level_allows(level, relabel):
    matrix = panel(4, 60)
    expected = krippendorff_alpha(matrix, level=level)
    assert krippendorff_alpha(relabel(matrix), level=level) == pytest.approx(expected, abs=1e-12)


def test_interval_alpha_is_exact_far_from_zero():
    matrix = panel(4, 60)
    expected = krippendorff_alpha(matrix, level="interval")
    assert krippendorff_alpha(matrix + 2.0**31, level="interval") == pytest.approx(
        expected, abs=1e-9
    )


@pytest.mark.parametrize("level", LEVELS)
def test_alpha_of_equal_annotators_is_one(level):
    assert krippendorff_alpha([[1, 4, 2, 5]] * 3, level=level) == 1.0


@pytest.mark.parametrize("level", LEVELS)
def test_alpha_of_opposed_annotators_is_below_zero(level):
    # n = 4, D_o = δ, D_e = 8 δ / 12 in every level: 1 - 12 / 8.
    assert krippendorff_alpha([[1, 2], [2, 1]], level=level) == pytest.approx(-0.5, abs=1e-12)


@pytest.mark.parametrize("level", LEVELS)
def test_a_unit_with_one_rating_does_not_count(level):
    matrix = np.array(OBSERVERS)
    assert np.sum(~np.isnan(matrix[:, -1])) == 1
    assert krippendorff_alpha(matrix[:, :-1], level=level) == (
        krippendorff_alpha(matrix, level=level)
    )


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(
    "matrix",
    [
        np.full((3, 4), 0.1),
        [[1, NAN], [NAN, 2]],
        [[1, 2, 3]],
        np.full((2, 2), NAN),
        np.empty((0, 0)),
        np.empty((3, 0)),
    ],
)
def test_alpha_is_undefined_without_pairs_or_variety(level, matrix):
    assert math.isnan(krippendorff_alpha(matrix, level=level))


def test_alpha_has_no_default_level():
    with pytest.raises(TypeError, match="level"):
        krippendorff_alpha(OBSERVERS)


def test_an_unknown_level_is_named_with_the_nearest():
    with pytest.raises(ValueError, match=r"unknown level 'ordnal'; did you mean 'ordinal'\? Known"):
        krippendorff_alpha(OBSERVERS, level="ordnal")


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (lambda m: krippendorff_alpha(m, level="ordinal"), "ratings"),
        (pairwise_agreement, "ratings"),
        (consensus, "ratings"),
        (lambda m: gwet_ac2(m, levels=[1, 2, 3]), "ratings"),
        (consistency, "runs"),
    ],
)
def test_an_infinite_rating_is_named_by_its_place(function, name):
    with pytest.raises(
        ValueError, match=rf"`{name}`, row 1, unit 0: must be finite or NaN, got inf"
    ):
        function([[1, 2], [math.inf, 2]])


def test_a_list_is_no_matrix_of_ratings():
    with pytest.raises(ValueError, match="`ratings` must have 2 dimensions, got 1"):
        consensus([1, 2, 3])


def test_a_number_too_large_for_a_float_is_refused():
    with pytest.raises(ValueError, match="`ratings` must hold numbers"):
        consensus([[1, 10**400]])


def test_ragged_ratings_are_refused():
    with pytest.raises(ValueError, match="`ratings` must hold numbers"):
        krippendorff_alpha([[1, 2], [1]], level="nominal")


def test_pairwise_agreement_is_the_mean_over_pairs():
    matrix = panel(4, 60)
    for name, (_, theirs) in CORRELATIONS.items():
        values = []
        for a, b in combinations(matrix, 2):
            both = ~np.isnan(a + b)
            values.append(theirs(a[both], b[both]))
        assert pairwise_agreement(matrix, statistic=name) == pytest.approx(np.mean(values), 1e-12)


@pytest.mark.parametrize("ties", ["mean", "lower", "nan"])
def test_agreement_with_the_mode_is_with_that_of_all_annotators(ties):
    matrix = panel(5, 60)
    mode = consensus(matrix, ties=ties)
    expected = np.mean([spearman(row, mode) for row in matrix])
    assert pairwise_agreement(matrix, against="mode", ties=ties) == pytest.approx(expected, 1e-12)


def test_agreement_with_the_others_leaves_the_annotator_out():
    matrix = panel(3, 60)
    expected = np.mean(
        [
            spearman(matrix[0], consensus(matrix[[1, 2]])),
            spearman(matrix[1], consensus(matrix[[0, 2]])),
            spearman(matrix[2], consensus(matrix[[0, 1]])),
        ]
    )
    assert pairwise_agreement(matrix, against="others") == pytest.approx(expected, 1e-12)


def test_a_vote_in_the_mode_flatters():
    matrix = np.random.default_rng(0).integers(1, 6, size=(3, 400))
    assert abs(pairwise_agreement(matrix, against="others")) < 0.1  # chance
    assert pairwise_agreement(matrix, against="mode") > 0.4


def test_an_annotator_without_variety_is_left_out_of_the_mean():
    matrix = [[1, 2, 3, 4], [1, 2, 4, 3], [3, 3, 3, 3]]
    assert pairwise_agreement(matrix) == spearman(matrix[0], matrix[1])


@pytest.mark.parametrize("against", ["pairs", "mode", "others"])
@pytest.mark.parametrize("matrix", [[[1, 2, 3]], np.empty((0, 3)), [[2, 2], [1, 1]]])
def test_agreement_is_undefined_without_a_second_annotator_or_variety(against, matrix):
    assert math.isnan(pairwise_agreement(matrix, against=against))


def test_an_unknown_reference_is_named_with_the_nearest():
    with pytest.raises(ValueError, match="unknown reference 'pair'; did you mean 'pairs'"):
        pairwise_agreement(OBSERVERS, against="pair")


@pytest.mark.parametrize(
    ("ties", "choose"),
    [
        ("mean", lambda tied: sum(tied) / len(tied)),
        ("lower", min),
        ("nan", lambda tied: tied[0] if len(tied) == 1 else NAN),
    ],
)
def test_consensus_equals_counting_votes_unit_by_unit(ties, choose):
    matrix = panel(4, 200)
    matrix[:, 7] = NAN
    expected = []
    for unit in matrix.T:
        votes = Counter(unit[~np.isnan(unit)].tolist())
        most = max(votes.values(), default=0)
        tied = [value for value, count in votes.items() if count == most]
        expected.append(choose(tied) if tied else NAN)
    assert np.array_equal(consensus(matrix, ties=ties), expected, equal_nan=True)
    assert math.isnan(expected[7])


def test_the_lower_of_tied_ratings_is_scipys_mode():
    matrix = panel(5, 200) / 3  # not integers
    mode = stats.mode(matrix, axis=0, nan_policy="omit").mode
    assert np.array_equal(consensus(matrix, ties="lower"), np.asarray(mode))


def test_consensus_of_no_ratings_is_missing():
    assert np.isnan(consensus(np.full((2, 3), NAN))).tolist() == [True] * 3
    assert consensus(np.empty((2, 0))).shape == (0,)


def test_an_unknown_tie_rule_is_named():
    with pytest.raises(ValueError, match="unknown tie rule 'upper'"):
        consensus(OBSERVERS, ties="upper")


# Agresti (1990), 91 couples on "sex is fun for me and my partner", from never to almost always:
# husbands in rows, wives in columns.
COUPLES = [[7, 7, 2, 3], [2, 8, 3, 7], [1, 5, 4, 9], [2, 8, 9, 14]]


def raters_of(table) -> tuple[list[int], list[int]]:
    cells = [(i, j) for i, row in enumerate(table) for j, n in enumerate(row) for _ in range(n)]
    return [i + 1 for i, _ in cells], [j + 1 for _, j in cells]


# The first two as printed by R's vcd::Kappa; the third by statsmodels' cohens_kappa.
@pytest.mark.parametrize(
    ("weights", "published"), [("none", 0.1293), ("linear", 0.2374), ("quadratic", 0.3320)]
)
def test_kappa_is_that_of_the_published_table(weights, published):
    kappa = weighted_kappa(*raters_of(COUPLES), levels=[1, 2, 3, 4], weights=weights)
    assert round(kappa, 4) == published


def weight(weights: str, k: int, m: int) -> float:
    return {"none": float(k != m), "linear": float(abs(k - m)), "quadratic": float((k - m) ** 2)}[
        weights
    ]


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("weights", ["none", "linear", "quadratic"])
def test_kappa_equals_a_loop_over_pairs_of_units(weights, seed):
    first, second = panel(2, 40, seed=seed)
    pairs = [(a, b) for a, b in zip(first, second, strict=True) if not math.isnan(a + b)]
    assert len(pairs) < 40
    observed = np.mean([weight(weights, a, b) for a, b in pairs])
    chance = np.mean([weight(weights, a, b) for (a, _), (_, b) in product(pairs, repeat=2)])
    assert weighted_kappa(first, second, levels=range(1, 6), weights=weights) == pytest.approx(
        1 - observed / chance, abs=1e-12
    )


@pytest.mark.parametrize("weights", ["none", "linear", "quadratic"])
def test_kappa_is_symmetric(weights):
    first, second = panel(2, 60)
    there, back = (
        weighted_kappa(*pair, levels=range(1, 6), weights=weights)
        for pair in ((first, second), (second, first))
    )
    assert there == pytest.approx(back, abs=1e-15)


def test_quadratic_kappa_of_equal_margins_is_the_pearson_correlation():
    # Fleiss and Cohen (1973): with the same mean and variance the two coincide.
    first = np.tile([1, 2, 3, 4, 5], 12)
    second = np.random.default_rng(0).permutation(first)
    second[:30] = first[:30]
    second[30:] = np.roll(first[30:], 1)
    kappa = weighted_kappa(first, second, levels=[1, 2, 3, 4, 5])
    assert kappa == pytest.approx(np.corrcoef(first, second)[0, 1], abs=1e-12)


def test_an_unused_level_separates_its_neighbours():
    first, second = [1, 1, 3, 4, 4], [1, 3, 3, 4, 3]
    with_gap = weighted_kappa(first, second, levels=[1, 2, 3, 4])
    assert with_gap != weighted_kappa(first, second, levels=[1, 3, 4])


@pytest.mark.parametrize("pair", [([], []), ([NAN, 1], [1, NAN]), ([2, 2], [2, 2])])
def test_kappa_is_undefined_without_pairs_or_variety(pair):
    assert math.isnan(weighted_kappa(*pair, levels=[1, 2, 3]))


@pytest.mark.parametrize("weights", ["none", "linear", "quadratic"])
def test_coefficients_of_equal_annotators_are_one(weights):
    options = {"levels": range(1, 6), "weights": weights}
    assert weighted_kappa([1, 2, 5], [1, 2, 5], **options) == 1.0
    assert gwet_ac2([[1, 2, 5, NAN], [1, 2, 5, 3]], **options) == pytest.approx(1.0, abs=1e-15)


# Gwet (2014), Handbook of Inter-Rater Reliability, and the irrCAC package's documentation, whose
# `cac.raw4raters` are Krippendorff's observers: AC1 .77544; with quadratic weights p_a .97538,
# p_e .7137, so AC2 .914.
@pytest.mark.parametrize(
    ("weights", "published", "digits"), [("none", 0.77544, 5), ("quadratic", 0.914, 3)]
)
def test_ac2_is_that_of_the_published_example(weights, published, digits):
    assert round(gwet_ac2(OBSERVERS, levels=range(1, 6), weights=weights), digits) == published


def loop_ac2(matrix, weights: str, levels: list[int]) -> float:
    largest = weight(weights, levels[0], levels[-1])
    units = [[v for v in unit if not math.isnan(v)] for unit in np.transpose(matrix)]
    paired = [unit for unit in units if len(unit) > 1]
    agreements = [
        np.mean([1 - weight(weights, a, b) / largest for a, b in permutations(unit, 2)])
        for unit in paired
    ]
    rated = [unit for unit in units if unit]
    shares = [np.mean([unit.count(level) / len(unit) for unit in rated]) for level in levels]
    total = sum(1 - weight(weights, a, b) / largest for a, b in product(levels, repeat=2))
    q = len(levels)
    chance = total / (q * (q - 1)) * sum(share * (1 - share) for share in shares)
    return (np.mean(agreements) - chance) / (1 - chance)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("weights", ["none", "linear", "quadratic"])
def test_ac2_equals_a_loop_over_pairs(weights, seed):
    matrix = panel(4, 40, seed=seed)
    matrix[1:, 3] = NAN  # one rating: in the shares, in no pair
    matrix[:, 4] = NAN
    assert gwet_ac2(matrix, levels=range(1, 6), weights=weights) == pytest.approx(
        loop_ac2(matrix, weights, [1, 2, 3, 4, 5]), abs=1e-12
    )


def test_ac2_does_not_depend_on_the_order_of_annotators_and_units():
    matrix, rng = panel(4, 50), np.random.default_rng(0)
    shuffled = matrix[rng.permutation(4)][:, rng.permutation(50)]
    expected = gwet_ac2(matrix, levels=range(1, 6))
    assert gwet_ac2(shuffled, levels=range(1, 6)) == pytest.approx(expected, abs=1e-12)


def test_ac2_holds_where_kappa_collapses():
    # Of 100 units 96 are rated 5 by both, and 4 are rated 4 by one of them: the chance term of
    # kappa is .02 · .98 · 2 = .0392, less than the .04 observed.
    first, second = [4] * 2 + [5] * 98, [5] * 2 + [4] * 2 + [5] * 96
    assert weighted_kappa(first, second, levels=range(1, 6)) < 0
    assert gwet_ac2([first, second], levels=range(1, 6)) > 0.95


@pytest.mark.parametrize("matrix", [[[1, NAN], [NAN, 2]], [[1, 2]], np.full((2, 2), NAN)])
def test_ac2_is_undefined_without_pairs(matrix):
    assert math.isnan(gwet_ac2(matrix, levels=[1, 2]))


def test_ac2_of_a_constant_judge_is_one():
    assert gwet_ac2([[3, 3], [3, 3]], levels=range(1, 6)) == 1.0


def test_a_rating_off_the_scale_is_named_by_its_place():
    with pytest.raises(ValueError, match=r"`second`, unit 1: 2\.5 is none of the `levels` 1, 2, 3"):
        weighted_kappa([1, 2], [1, 2.5], levels=[1, 2, 3])
    with pytest.raises(
        ValueError, match="`ratings`, row 1, unit 0: 4 is none of the `levels` 1, 2"
    ):
        gwet_ac2([[1, 2], [4, 2]], levels=[1, 2])


@pytest.mark.parametrize("levels", [[], [1], [2, 1], [1, 1, 2], [1, math.inf], [1, NAN]])
def test_levels_that_are_no_scale_are_refused(levels):
    with pytest.raises(ValueError, match="`levels` must be at least 2 ascending numbers, got"):
        gwet_ac2([[1, 1], [1, 1]], levels=levels)


def test_unknown_weights_are_named_with_the_nearest():
    with pytest.raises(ValueError, match="unknown weights 'square'"):
        weighted_kappa([1, 2], [1, 2], levels=[1, 2], weights="square")
    with pytest.raises(ValueError, match="unknown weights 'quadratc'; did you mean 'quadratic'"):
        gwet_ac2([[1, 2], [1, 2]], levels=[1, 2], weights="quadratc")


def test_annotators_with_unequal_numbers_of_ratings_are_refused():
    with pytest.raises(ValueError, match="`first` has 3 values but `second` has 2"):
        weighted_kappa([1, 2, 3], [1, 2], levels=[1, 2, 3])


def five_runs() -> np.ndarray:
    """Five runs whose differences are counted as in the paper's table 6."""
    steps = [step for step, (count, _) in DIFFERENCES.items() for _ in range(count)]
    runs = np.ones((5, len(steps)))
    runs[2] += steps
    return runs


def test_the_papers_percentages_follow_from_its_counts():
    result = consistency(five_runs())
    assert result.histogram == {step: count for step, (count, _) in DIFFERENCES.items()}
    assert {step: round(share, 2) for step, share in result.percent.items()} == {
        step: percent for step, (_, percent) in DIFFERENCES.items()
    }
    assert round(100 * result.exact_match, 2) == 72.70
    assert result.complete == 2945


def test_a_case_with_a_failed_run_is_incomplete_and_nothing_else():
    # 3,010 judgments were asked for in the paper and 2,945 counted.
    failed = np.full((5, 65), 3.0)
    failed[np.arange(65) % 5, np.arange(65)] = NAN
    result = consistency(np.concatenate([five_runs(), failed], axis=1))
    assert (result.complete, result.incomplete) == (2945, 65)
    assert result.percent == consistency(five_runs()).percent
    assert result.mean_std == consistency(five_runs()).mean_std


@pytest.mark.parametrize("ddof", [0, 1])
def test_the_mean_deviation_takes_its_divisor_from_ddof(ddof):
    # One run of five differs by d: variance d² (4/5)(1/5) · 5 / (5 - ddof).
    factor = math.sqrt(0.8 / (5 - ddof))
    total = sum(step * count for step, (count, _) in DIFFERENCES.items())
    result = consistency(five_runs(), ddof=ddof)
    assert result.mean_std == pytest.approx(factor * total / 2945, abs=1e-12)


def test_consistency_does_not_depend_on_the_order_of_runs_and_cases():
    runs, rng = panel(5, 200), np.random.default_rng(0)
    shuffled = consistency(runs[rng.permutation(5)][:, rng.permutation(200)])
    expected = consistency(runs)
    assert shuffled.histogram == expected.histogram
    assert shuffled.mean_std == pytest.approx(expected.mean_std, abs=1e-12)


def test_the_histogram_is_counted_over_complete_cases_in_ascending_order():
    runs = panel(3, 300)
    kept = [unit for unit in runs.T.tolist() if not any(map(math.isnan, unit))]
    expected = Counter(max(unit) - min(unit) for unit in kept)
    result = consistency(runs)
    assert list(result.histogram.items()) == sorted(expected.items())
    assert sum(result.percent.values()) == pytest.approx(100)


def test_scores_between_the_steps_keep_their_difference():
    assert consistency([[1.5, 2.0], [1.0, 2.0]]).histogram == {0: 1, 0.5: 1}


def test_consistency_without_a_complete_case_is_undefined():
    result = consistency([[1, NAN], [NAN, 2]])
    assert (result.histogram, result.complete, result.incomplete) == ({}, 0, 2)
    assert math.isnan(result.exact_match)
    assert math.isnan(result.mean_std)


def test_one_run_is_refused():
    with pytest.raises(ValueError, match="`runs` must hold at least 2 runs, got 1"):
        consistency([[1, 2, 3]])


@pytest.mark.parametrize("ddof", [-1, 2, 1.0, None])
def test_a_ddof_that_leaves_no_divisor_is_refused(ddof):
    with pytest.raises(ValueError, match=rf"`ddof` must be an integer from 0 to 1, got {ddof}"):
        consistency([[1, 2], [1, 3]], ddof=ddof)
