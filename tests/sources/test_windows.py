"""The rules cut windows of the lengths in Table 3 of the paper."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from timevista_hf.sources import list_sources, load_source, window_lengths

# Lengths of the series: four years of hours (35064), a year of hours (8760) or of five minutes
# (105120), 30 days of five minutes less one step (8639); the others are those that fit the table.
TABLE_3 = [
    # name, part, steps, windows, shortest and longest input, shortest and longest horizon
    ("crypto", "all", 2842, 9, (2569, 2809), (30, 30)),
    ("supply_chain_customer", "all", 2007, 12, (1642, 1972), (30, 30)),
    ("australia_solar", "all", 35064, 105 + 35 + 15, (32544, 35040), (24, 168)),
    ("azure2019", "D", 8639, 3, (7775, 8351), (288, 288)),
    ("azure2019", "I", 8639, 3, (7775, 8351), (288, 288)),
    ("azure2019", "U", 882, 6, (594, 834), (48, 48)),
    ("loop_seattle", "H", 8760, 1, (7944, 7944), (48, 48)),
    ("loop_seattle", "5T", 105120, 2, (96480, 104256), (48, 480)),
    ("solar", "all", 8760, 9, (8328, 8712), (48, 48)),
    ("covid_death", "all", 494, 5, (200, 468), (21, 21)),
    ("fnspid", "all", 300, 6, (42, 42), (7, 7)),
    ("cpsc2019", "all", 1000, 1, (500, 500), (100, 100)),
    ("ptb", "all", 3840, 7, (500, 500), (100, 100)),
    ("rdbh", "all", 60000, 119, (500, 500), (100, 100)),
    ("current_velocity", "H", 2208, 28 + 4 + 2, (1536, 2184), (24, 336)),
    ("current_velocity", "10T", 9000, 120 + 15 + 5, (6840, 8982), (18, 432)),
    ("current_velocity", "20T", 9000, 120 + 15 + 5, (7920, 8991), (9, 216)),
    ("cphl", "15T", 9000, 120 + 15 + 5, (7560, 8988), (12, 288)),
    ("cphl", "H", 2490, 28 + 4 + 2, (1818, 2466), (24, 336)),
]


@pytest.mark.parametrize(("name", "part", "steps", "number", "inputs", "horizons"), TABLE_3)
def test_a_rule_gives_the_lengths_of_table_3(name, part, steps, number, inputs, horizons):
    lengths = window_lengths(name, steps, part=part)
    histories, truths = zip(*lengths, strict=True)
    assert len(lengths) == number
    assert (min(histories), max(histories)) == inputs
    assert (min(truths), max(truths)) == horizons


@pytest.mark.parametrize(
    ("name", "horizons"),
    [("current_velocity", (9, 432)), ("cphl", (12, 336)), ("azure2019", (48, 288))],
)
def test_the_horizons_of_all_parts_span_those_of_table_3(name, horizons):
    found = [
        truth
        for part in load_source(name).parts
        for _, truth in window_lengths(name, 9000, part=part.name)
    ]
    assert (min(found), max(found)) == horizons


@pytest.mark.parametrize("name", list_sources())
@given(steps=st.integers(1, 12_000))
def test_windows_lie_within_the_series_and_have_a_history(name, steps):
    for part in load_source(name).parts:
        for window in part.rule.windows(steps):
            assert 0 <= window.start < window.cut < window.stop <= steps


@pytest.mark.parametrize("name", list_sources())
def test_a_series_that_is_too_short_gives_no_window(name):
    assert all(window_lengths(name, 7, part=part.name) == [] for part in load_source(name).parts)


def test_a_part_has_to_be_named_where_there_are_several():
    with pytest.raises(ValueError, match=r"unknown part of azure2019 None\. Known: D, I, U"):
        window_lengths("azure2019", 8639)
