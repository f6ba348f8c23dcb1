"""The numbers that the papers publish, as they stand beside those of a run."""

import csv
from collections import Counter
from pathlib import Path

import pytest

from timevista_hf.published import list_published, load_published
from timevista_hf.synthesis.anomalies import find_subset, list_subsets

SOURCE = Path(__file__).parents[2] / "shared" / "paper_tables" / "visualtimeanomaly_results.csv"


@pytest.fixture(scope="module")
def rows():
    return load_published("visual_time_anomaly")


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(ValueError, match="did you mean 'visual_time_anomaly'"):
        load_published("visual_time_anomalies")
    assert list_published() == ["visual_time_anomaly"]


def test_every_subset_of_the_paper_has_eight_models_and_three_metrics(rows):
    found = {(row["subset"], row["model"], row["metric"]) for row in rows}
    assert {row["subset"] for row in rows} == {one.name for one in list_subsets()}
    assert len(found) == 124 * 8 * 3


def test_tables_2_to_34_are_there(rows):
    assert sorted({int(row["table"]) for row in rows}) == [*range(2, 35)]


def test_numbers_that_two_tables_print_agree(rows):
    printed = {}
    for row in rows:
        key = row["subset"], row["model"], row["metric"]
        printed.setdefault(key, []).append((row["table"], row["percent"]))
    twice = [found for found in printed.values() if len(found) > 1]
    assert all(len({number for _, number in found}) == 1 for found in twice)
    # Table 4 repeats precision and F1 of its 8 subsets and 8 models from tables 6 and 26.
    tables = Counter(tuple(table for table, _ in found) for found in twice)
    assert tables == {("4", "6"): 64, ("4", "26"): 64}


def test_numbers_are_percentages(rows):
    assert all(0 <= float(row["percent"]) <= 100 for row in rows)


def test_a_change_of_the_rows_does_not_reach_the_next_reader(rows):
    load_published("visual_time_anomaly")[0]["percent"] = "0"
    assert load_published("visual_time_anomaly")[0]["percent"] == "55.71"


@pytest.mark.skipif(not SOURCE.exists(), reason="the transcription is not here")
def test_the_data_are_those_transcribed_from_the_paper(rows):
    with SOURCE.open(newline="") as file:
        expected = [
            [r["num_variates"] or "1" if name == "num_variates" else r[name] for name in r]
            for r in csv.DictReader(file)
        ]
    found = []
    for row in rows:
        one = find_subset(row["subset"])
        parts = [one.base, one.scenario, one.anomaly, str(one.num_variates)]
        parts += [str(one.irregularity), row["model"], row["metric"], row["percent"]]
        found.append([row["table"], *parts])
    assert found == expected
