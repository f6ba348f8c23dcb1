"""Which cases a page opens with: the worst, and a sample that favours nobody."""

from collections import Counter

import pytest
from case_reports import report
from hypothesis import given
from hypothesis import strategies as st

from timevista_hf.reports.cases import draw_lot
from timevista_hf.reports.picks import Picks

entries = st.lists(st.tuples(st.integers(0, 5), st.sampled_from("abcd"), st.integers(0, 2**64)))


def pick(offered, worst=3, sample=4):
    picks = Picks(worst=worst, sample=sample)
    for place, (rank, group, lot) in enumerate(offered):
        picks.offer(place, rank=(rank,), group=group, lot=lot)
    return picks


@given(entries)
def test_the_worst_are_those_of_the_smallest_rank_and_of_equal_ones_the_first(offered):
    ranked = sorted(range(len(offered)), key=lambda place: offered[place][0])
    assert pick(offered).worst() == ranked[:3]


@given(st.lists(st.tuples(st.just(0), st.sampled_from("abcd"), st.integers()), unique=True))
def test_the_sample_takes_the_first_lot_of_each_group_then_the_second_and_so_on(offered):
    rounds = []
    for name in "abcd":
        mine = [place for place, entry in enumerate(offered) if entry[1] == name]
        mine.sort(key=lambda place: offered[place][2])
        rounds += [(number, offered[place][2], place) for number, place in enumerate(mine)]
    assert pick(offered).sample() == [place for *_, place in sorted(rounds)][:4]


@pytest.mark.parametrize(
    ("sizes", "taken"),
    [
        ({"a": 50, "b": 50}, {"a": 10, "b": 10}),
        ({"a": 2, "b": 50, "c": 50}, {"a": 2, "b": 9, "c": 9}),
        ({"a": 1000, "b": 15}, {"a": 10, "b": 10}),
        ({"a": 3, "b": 3}, {"a": 3, "b": 3}),
    ],
)
def test_the_sample_is_spread_over_the_groups_as_far_as_they_reach(sizes, taken):
    offered = [(0, name, place) for name, size in sizes.items() for place in range(size)]
    sample = pick(offered, sample=20).sample()
    assert Counter(offered[place][1] for place in sample) == taken


def test_every_case_is_sampled_about_as_often_whatever_its_score():
    # Of 40 cases 10 are taken, by 200 seeds: 50 times each on average, with a deviation of
    # sqrt(200 * 0.25 * 0.75) = 6.1. The seeds are fixed, so that the counts are too.
    counts = Counter()
    for seed in range(200):
        offered = [(place, "a", draw_lot(report(str(place)).case, seed)) for place in range(40)]
        counts.update(pick(offered, sample=10).sample())
    assert 50 - 4 * 6.1 < min(counts.values()) < max(counts.values()) < 50 + 4 * 6.1


def test_lots_tell_windows_models_and_seeds_apart():
    cases = [report("a"), report("b"), report("a", "ets"), report("a", cutoff="1")]
    lots = [draw_lot(entry.case, seed) for entry in cases for seed in (0, 1)]
    assert len(set(lots)) == 8
