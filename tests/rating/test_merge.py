"""The ratings of several annotators: read, merged, measured, written."""

from __future__ import annotations

import json
import math
from dataclasses import asdict

import numpy as np
import pyarrow.parquet as pq
import pytest

from timevista_hf.metrics import consensus, krippendorff_alpha, pairwise_agreement
from timevista_hf.rating import (
    Rating,
    measure_agreement,
    merge_ratings,
    read_ratings,
    write_ratings,
)

NAN = math.nan
# Three annotators, four questions: the first two agree on a and b, the first and last on c and d.
SCORES = [[1, 2, 3, 4], [1, 2, 4, 3], [2, 1, 3, 4]]


def rating(annotator="ana", score=3, case_id="a", dimension="trend", **more):
    known = {
        "cutoff": None,
        "model": "ets",
        "content": "0",
        "dataset": None,
        "level": "micro",
        "rubric": f"{dimension}@1.0",
    }
    names = {"annotator": annotator, "case_id": case_id, "dimension": dimension, "score": score}
    return Rating(**{**known, **names, **more})


def rated(rows, dimension="trend"):
    """Ratings from a matrix of annotators and questions, without those that are None."""
    return [
        rating(f"annotator {number}", score, f"case {column}", dimension)
        for number, row in enumerate(rows)
        for column, score in enumerate(row)
        if score is not None
    ]


def write(folder, name, *records):
    lines = [json.dumps({"action": action, **asdict(entry)}) for action, entry in records]
    (folder / f"{name}.jsonl").write_text("".join(line + "\n" for line in lines))


def test_the_consensus_is_the_most_frequent_score():
    assert [question.consensus for question in merge_ratings(rated(SCORES))] == [1, 2, 3, 4]


@pytest.mark.parametrize(
    ("scores", "agreed"),
    [
        ([4, 1], 2.5),  # both once: (4 + 1) / 2
        ([5, 5, 1, 1, 2], 3.0),  # 5 and 1 twice
        ([1, 2, 4], 7 / 3),  # all once
        ([2, 2, 5, 5, 2], 2.0),
        ([3], 3.0),
        ([3, None], 3.0),
        ([None, None], NAN),
    ],
)
def test_where_scores_are_equally_frequent_the_consensus_is_their_mean(scores, agreed):
    [question] = merge_ratings(rating(f"{n}", score) for n, score in enumerate(scores))
    assert question.consensus == pytest.approx(agreed, nan_ok=True)


def test_agreement_is_what_one_derives_by_hand():
    found = measure_agreement(merge_ratings(rated(SCORES)))["trend"]
    # Nominal: 8 / 12 of the pairs within questions differ, 108 / 132 of all: 1 - (2/3) / (9/11).
    assert found.alpha_nominal == pytest.approx(5 / 27)
    # Ordinal: each level three times, so midranks lie evenly and may be counted 1 to 4;
    # 2/3 within, 9 · 2 · (3 · 1 + 2 · 4 + 1 · 9) / 132 = 30/11 overall.
    assert found.alpha_ordinal == pytest.approx(34 / 45)
    assert found.kendall == pytest.approx((2 / 3 + 2 / 3 + 1 / 3) / 3)
    assert found.spearman == pytest.approx((0.8 + 0.8 + 0.6) / 3)
    assert (found.annotators, found.questions) == (3, 4)


def test_agreement_is_that_of_the_metrics_with_ratings_missing():
    rng = np.random.default_rng(0)
    scores = np.clip(rng.integers(1, 6, 40) + rng.integers(-1, 2, (5, 40)), 1, 5)
    missing = rng.random((5, 40)) < 0.2
    rows = [[None if gap else int(s) for s, gap in zip(*r)] for r in zip(scores, missing)]  # noqa: B905
    merged = merge_ratings(rated(rows))
    matrix = np.where(missing, NAN, scores)
    found = measure_agreement(merged)["trend"]
    assert found.alpha_ordinal == pytest.approx(krippendorff_alpha(matrix, level="ordinal"))
    assert found.alpha_nominal == pytest.approx(krippendorff_alpha(matrix, level="nominal"))
    assert found.kendall == pytest.approx(pairwise_agreement(matrix, statistic="kendall"))
    assert found.spearman == pytest.approx(pairwise_agreement(matrix, statistic="spearman"))
    by_case = {question.case_id: question.consensus for question in merged}
    expected = consensus(matrix)
    for column, value in enumerate(expected):
        assert by_case.get(f"case {column}", NAN) == pytest.approx(value, nan_ok=True)


def test_a_lone_annotator_agrees_with_nobody():
    found = measure_agreement(merge_ratings(rated([[1, 2, 3]])))["trend"]
    assert np.isnan([found.alpha_ordinal, found.alpha_nominal, found.kendall, found.spearman]).all()
    assert (found.annotators, found.questions) == (1, 0)


def test_one_who_only_skipped_is_no_annotator():
    found = measure_agreement(merge_ratings([*rated([[1, 2]]), rating("x", None, "case 0")]))
    assert found["trend"].annotators == 1


def test_dimensions_come_in_the_order_of_the_rubrics_and_are_measured_apart():
    merged = merge_ratings([*rated(SCORES, "phase"), *rated([[1, 2], [1, 2]], "trend")])
    found = measure_agreement(merged)
    assert list(found) == ["trend", "phase"]
    assert found["trend"].spearman == pytest.approx(1)
    assert found["phase"].alpha_nominal == pytest.approx(5 / 27)


def test_a_merge_does_not_depend_on_the_order_of_the_ratings():
    ratings = rated(SCORES)
    assert merge_ratings(ratings) == merge_ratings(ratings[::-1])


@pytest.mark.parametrize(
    "other", [{"content": "1"}, {"rubric": "trend@2.0"}, {"cutoff": "2024"}, {"model": "arima"}]
)
def test_ratings_of_different_questions_are_not_mixed(other):
    merged = merge_ratings([rating("ana", 1), rating("ben", 5, **other)])
    assert sorted(question.consensus for question in merged) == [1, 5]


def test_a_question_has_one_rating_of_an_annotator():
    with pytest.raises(
        ValueError, match=r"series 'a', model 'ets', rubric 'trend@1\.0' is rated t"
    ):
        merge_ratings([rating(score=1), rating(score=2)])


def test_nothing_merges_to_nothing():
    assert merge_ratings([]) == []
    assert measure_agreement([]) == {}


def test_what_was_undone_is_not_read_and_what_was_skipped_has_no_score(tmp_path):
    first, second = rating(score=1), rating(score=2, case_id="b")
    again, skipped = rating(score=4), rating(score=None, case_id="c", comment="cannot tell")
    write(
        *(tmp_path, "ana", ("rate", first), ("undo", rating(score=None)), ("rate", second)),
        *(("rate", again), ("skip", skipped)),
    )
    assert read_ratings(tmp_path) == [second, again, skipped]


def test_the_files_of_all_annotators_are_read_and_nothing_else(tmp_path):
    write(tmp_path, "ana", ("rate", rating("ana")))
    write(tmp_path, "ben", ("rate", rating("ben")))
    (tmp_path / "ana.lock").write_text("")
    (tmp_path / "ratings.parquet").write_text("")
    assert [one.annotator for one in read_ratings(tmp_path)] == ["ana", "ben"]


def test_an_unfinished_line_is_a_warning_or_goes_where_one_says(tmp_path):
    write(tmp_path, "ana", ("rate", rating()))
    with (tmp_path / "ana.jsonl").open("a") as file:
        file.write('{"action": "ra')
    with pytest.warns(UserWarning, match=r"ana\.jsonl, line 2: was not finished"):
        read_ratings(tmp_path)
    said = []
    assert read_ratings(tmp_path, notice=said.append) == [rating()]
    assert len(said) == 1


def test_an_annotators_ratings_may_lie_in_two_files_but_not_the_same_twice(tmp_path):
    write(tmp_path, "one", ("rate", rating()))
    write(tmp_path, "two", ("rate", rating(case_id="b")))
    assert len(read_ratings(tmp_path)) == 2
    write(tmp_path, "three", ("rate", rating()))
    with pytest.raises(ValueError, match=r"two\.jsonl|three\.jsonl.* by 'ana' is also in"):
        read_ratings(tmp_path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"score": 9}, "`score` must be an integer from 1 to 5, or None .*, got 9"),
        ({"score": "4"}, "`score` must be an integer .* got '4'"),
        ({"action": "rat"}, "unknown action 'rat'; did you mean 'rate'"),
        ({"model": None}, "`model` must be str, got None"),
        ({"seconds": "3"}, "`seconds` must be float, got '3'"),
        ({"rubric": ...}, "the record lacks `rubric`"),
        ({"action": ...}, "is no record of `timevista rate`: it lacks `action`"),
    ],
)
def test_a_line_that_is_no_record_is_an_error_that_names_it(tmp_path, change, message):
    record = {"action": "rate", **asdict(rating())} | change
    lines = [{"action": "rate", **asdict(rating(case_id="b"))}]
    lines += [{name: value for name, value in record.items() if value is not ...}]
    (tmp_path / "ana.jsonl").write_text("\n".join(map(json.dumps, lines)))
    with pytest.raises(ValueError, match=rf"ana\.jsonl, line 2: {message}"):
        read_ratings(tmp_path)


def test_a_list_is_no_record(tmp_path):
    (tmp_path / "ana.jsonl").write_text("[1]\n")
    with pytest.raises(ValueError, match="line 1: is no record"):
        read_ratings(tmp_path)


@pytest.mark.parametrize("folder", [".", "missing"])
def test_a_folder_without_ratings_is_an_error_that_says_how_to_make_some(tmp_path, folder):
    with pytest.raises(
        ValueError, match="holds no ratings; `timevista rate FILE --annotator NAME`"
    ):
        read_ratings(tmp_path / folder)


def test_the_file_has_a_row_for_each_rating_with_the_consensus(tmp_path):
    ratings = [
        rating("ana", 4, comment="late"),
        rating("ben", 4),
        rating("cem", None),
        rating("ana", None, "b", "phase"),
    ]
    write_ratings(tmp_path / "ratings.parquet", merge_ratings(ratings))
    rows = pq.read_table(tmp_path / "ratings.parquet").to_pylist()
    assert [Rating(**{k: v for k, v in row.items() if k != "consensus"}) for row in rows] == ratings
    assert [row["consensus"] for row in rows] == [4, 4, 4, None]


def test_the_columns_are_the_same_where_all_are_empty(tmp_path):
    write_ratings(tmp_path / "ratings.parquet", [])
    schema = pq.read_schema(tmp_path / "ratings.parquet")
    assert schema.names == [*asdict(rating()), "consensus"]
    kinds = {name: str(schema.field(name).type) for name in ("case_id", "score", "consensus")}
    assert kinds == {"case_id": "string", "score": "int64", "consensus": "double"}
