"""A judge against what is known: grades of ladders, ratings by people."""

import json

import numpy as np
import pytest
from scipy.stats import kendalltau, spearmanr

from timevista_hf.building import rated_rows
from timevista_hf.judges import Reply
from timevista_hf.meta_evaluation import ERRORS, align_judge, format_alignments
from timevista_hf.metrics import dtw, mae, mse

DIMENSIONS = ("trend", "motif", "phase", "magnitude")


class Oracle:
    """Score by a function of model and dimension; None refuses."""

    name, modality = "oracle", "numbers"

    def __init__(self, score):
        self.identity, self._score = {"judge": "oracle"}, score

    def ask(self, requests):
        for request in requests:
            score = self._score(request.case, request.question.dimension)
            if score is None:
                yield request, Reply(text="", status="refused", reason="would not say")
            else:
                yield request, Reply(text=json.dumps({"rationale": "so it is", "score": score}))


def graded(case, dimension):
    damaged, _, grade = case.model.partition("-")
    return int(grade) if damaged == dimension else 5


@pytest.fixture(scope="module")
def rows():
    """The ladders of the first two series in phase and in magnitude."""
    streams = [rated_rows(f"ladders/{dimension}") for dimension in ("phase", "magnitude")]
    return [next(stream) for stream in streams for _ in range(10)]


def found(rows, judge=None, **options):
    return {
        (one.dimension, one.rater, one.among): one
        for one in align_judge(rows, judge, resamples=9, **options)
    }


def test_a_judge_that_gives_the_grades_is_perfect_among_its_own_and_all_cases(rows):
    alignments = found(rows, Oracle(graded))
    for among, count in (("own", 10), ("all", 20)):
        one = alignments["phase", "oracle", among]
        assert (one.spearman.estimate, one.kendall.estimate) == pytest.approx((1, 1))
        assert one.spearman.n == count


def test_a_judge_that_takes_one_damage_for_another_is_right_among_its_own_cases_alone(rows):
    confused = Oracle(lambda case, dimension: int(case.model[-1]))
    alignments = found(rows, confused)
    assert alignments["phase", "oracle", "own"].spearman.estimate == pytest.approx(1)
    assert alignments["phase", "oracle", "all"].spearman.estimate < 0.9


@pytest.mark.parametrize(("rater", "error"), [("−MSE", mse), ("−MAE", mae), ("−DTW", dtw)])
def test_an_error_is_compared_as_scipy_does(rows, rater, error):
    errors = [-error(row["truth"], row["prediction"]) for row in rows]
    deserved = [row["grade"] if row["dimension"] == "phase" else 5 for row in rows]
    one = found(rows)["phase", rater, "all"]
    assert one.spearman.estimate == pytest.approx(spearmanr(errors, deserved).statistic)
    assert one.kendall.estimate == pytest.approx(kendalltau(errors, deserved).statistic)


def test_random_scores_are_drawn_by_the_seed(rows):
    first, again, other = (
        found(rows, seed=seed)["phase", "random", "all"].spearman.estimate for seed in (0, 0, 1)
    )
    assert first == again != other


def test_a_case_without_a_score_is_left_out(rows):
    silent = Oracle(lambda case, name: None if case.model == "phase-1" else graded(case, name))
    assert found(rows, silent)["phase", "oracle", "own"].spearman.n == 8


def test_people_rate_one_dimension_of_a_case(rows):
    rated = [
        {**row, "source": "people", "grade": None, "rating": row["grade"] / 1.0} for row in rows
    ]
    alignments = found(rated, Oracle(graded))
    assert {key[::2] for key in alignments} == {("phase", "own"), ("magnitude", "own")}
    assert alignments["phase", "oracle", "own"].spearman.estimate == pytest.approx(1)


def test_rows_without_grade_and_rating_are_passed_over(rows):
    unrated = [{**row, "source": "people", "grade": None} for row in rows]
    assert align_judge(unrated) == []


def test_the_table_has_a_row_a_dimension_and_rater(rows):
    head, _, *lines = format_alignments(align_judge(rows, resamples=9)).splitlines()
    assert head.endswith("| Spearman, all cases | Kendall, all cases |")
    names = [tuple(line.strip("| ").split(" | ")[:2]) for line in lines]
    assert sorted(names) == sorted((name, rater) for name in DIMENSIONS for rater in ERRORS)


def test_what_is_undefined_is_a_dash(rows):
    # among ladders of phase and magnitude all deserve the best in trend
    lines = format_alignments(align_judge(rows, resamples=9)).splitlines()
    [line] = [line for line in lines if line.startswith("| trend | −MSE ")]
    assert line.count("–") == 4
    assert np.isnan(found(rows)["trend", "−MSE", "all"].spearman.estimate)
