"""What the ranked table says, and what it refuses to say."""

import json
import math
from random import Random

import numpy as np
import pytest
from scipy import stats

from timevista_hf.metrics import krippendorff_alpha
from timevista_hf.results.forecasts import (
    ModelSummary,
    Scoreboard,
    bootstrap_interval,
    case_score,
    to_records,
)
from timevista_hf.rubrics import Judgment


def judgment(case_id="a", model="naive", dimension="trend", score=3, status="ok", **fields):
    given = {
        "case_id": case_id,
        "cutoff": None,
        "model": model,
        "dataset": None,
        "level": "micro",
        "dimension": dimension,
        "rubric": f"{dimension}@1",
        "judge": "builtin",
        "status": status,
        "score": score,
        "expected_score": None,
        "rationale": "",
    }
    return Judgment(**{**given, **fields})


def summarize(judgments, **options) -> dict[str, ModelSummary]:
    board = Scoreboard()
    for entry in judgments:
        board.add(entry)
    return {summary.model: summary for summary in board.summarize(**options)}


def random_judgments(models=("naive", "ets"), cases=40, seed=0):
    random = Random(seed)
    return [
        judgment(f"series {case}", model, dimension, random.randint(1, 5))
        for model in models
        for case in range(cases)
        for dimension in ("trend", "phase", "general")
    ]


def test_a_case_weighs_the_same_however_many_of_its_dimensions_were_judged():
    # a: (5 + 1) / 2 = 3; b: 1 alone. Mean over cases 2; over judgments it would be 7 / 3.
    scored = [
        judgment("a", score=5),
        judgment("a", dimension="phase", score=1),
        judgment("b", score=1),
    ]
    assert summarize(scored)["naive"].overall.mean == 2.0


def test_a_dimension_is_the_mean_of_its_scores_over_cases():
    scored = [
        judgment("a", score=5),
        judgment("b", score=2),
        judgment("a", dimension="phase", score=1),
    ]
    dimensions = summarize(scored)["naive"].dimensions
    assert (dimensions["trend"].mean, dimensions["phase"].mean) == (3.5, 1.0)


def test_windows_of_one_series_are_cases_of_their_own():
    scored = [judgment(cutoff="2024-01", score=1), judgment(cutoff="2024-02", score=4)]
    assert summarize(scored)["naive"].cases == 2


def test_repeats_of_a_question_are_averaged_before_the_dimensions():
    # trend: (1 + 3) / 2 = 2; phase: 4; the case: 3. Unweighted by repeats, else 8 / 3.
    scored = [judgment(score=1), judgment(score=3), judgment(dimension="phase", score=4)]
    assert summarize(scored)["naive"].overall.mean == 3.0


def test_a_failed_judgment_lowers_the_coverage_and_not_the_mean():
    scored = [judgment("a", score=4), judgment("b", score=None, status="error")]
    summary = summarize(scored)["naive"]
    assert (summary.overall.mean, summary.coverage, summary.cases) == (4.0, 0.5, 2)


def test_failures_are_counted_by_status():
    statuses = ["refused", "error", "refused", "truncated"]
    scored = [judgment(str(i), score=None, status=status) for i, status in enumerate(statuses)]
    assert summarize(scored)["naive"].failures == {"error": 1, "refused": 2, "truncated": 1}


def test_a_score_beside_a_failed_status_is_not_counted():
    summary = summarize([judgment("a", score=1, status="refused"), judgment("b", score=5)])["naive"]
    assert (summary.overall.mean, summary.overall.judged) == (5.0, 1)


def test_a_dimension_knows_its_own_coverage():
    scored = [judgment(), judgment(dimension="phase", score=None, status="unparsable")]
    dimensions = summarize(scored)["naive"].dimensions
    assert (dimensions["trend"].coverage, dimensions["phase"].coverage) == (1.0, 0.0)


def test_a_model_without_any_score_has_no_mean_rather_than_zero():
    overall = summarize([judgment(score=None, status="error")])["naive"].overall
    assert math.isnan(overall.mean) and math.isnan(overall.low) and math.isnan(overall.high)


def test_one_case_gives_no_interval():
    overall = summarize([judgment(score=4), judgment(dimension="phase", score=2)])["naive"].overall
    assert overall.mean == 3.0
    assert math.isnan(overall.low) and math.isnan(overall.high)


def test_equal_cases_give_an_interval_of_no_width():
    overall = summarize([judgment(str(case), score=4) for case in range(5)])["naive"].overall
    assert (overall.low, overall.high) == (4.0, 4.0)


def test_a_score_off_the_scale_is_refused_with_its_place():
    with pytest.raises(ValueError, match=r"series 'a', model 'naive', dimension 'trend': .* got 6"):
        Scoreboard().add(judgment(score=6))


def test_a_judged_status_without_a_score_is_refused():
    with pytest.raises(ValueError, match="must hold a score from 1 to 5, got None"):
        Scoreboard().add(judgment(score=None))


def test_a_refused_judgment_leaves_no_trace():
    board = Scoreboard()
    with pytest.raises(ValueError, match="must hold a score"):
        board.add(judgment(score=0))
    assert board.summarize() == []


def test_the_best_model_comes_first():
    scored = [judgment(model=model, score=score) for model, score in [("x", 2), ("y", 5), ("z", 3)]]
    assert list(summarize(scored)) == ["y", "z", "x"]


def test_equal_models_are_ordered_by_name():
    assert list(summarize([judgment(model=model) for model in "zxy"])) == ["x", "y", "z"]


def test_a_model_without_scores_comes_last():
    failed = judgment(model="a", score=None, status="error")
    assert list(summarize([failed, judgment(model="b", score=1)])) == ["b", "a"]


def test_dimensions_come_in_the_order_of_the_rubrics():
    names = ["with_knowledge", "own", "general", "trend", "motif"]
    dimensions = summarize([judgment(dimension=name) for name in names])["naive"].dimensions
    assert list(dimensions) == ["trend", "motif", "general", "with_knowledge", "own"]


def test_a_dimension_that_a_model_was_not_asked_for_is_absent():
    scored = [judgment(model="x"), judgment(model="y", dimension="phase")]
    assert list(summarize(scored)["x"].dimensions) == ["trend"]


def test_the_order_of_arrival_does_not_matter():
    ordered = random_judgments()
    shuffled = Random(1).sample(ordered, len(ordered))
    assert summarize(shuffled) == summarize(ordered)


def test_a_model_has_the_same_summary_whatever_else_is_on_the_board():
    both, alone = random_judgments(), random_judgments(models=("naive",))
    assert summarize(both)["naive"] == summarize(alone)["naive"]


def test_the_seed_decides_the_interval():
    scored = random_judgments()
    first, again, other = (summarize(scored, seed=seed)["naive"].overall for seed in (1, 1, 2))
    assert first == again
    assert (first.low, first.high) != (other.low, other.high)


def test_the_interval_is_that_of_scipy():
    values = np.random.default_rng(3).choice([1.0, 2.5, 3.0, 4.4, 5.0], size=60)
    expected = stats.bootstrap(
        (values,), np.mean, method="percentile", n_resamples=9999, random_state=5
    ).confidence_interval
    # A 2.5 % quantile of 9,999 normal draws has a standard error of 0.027 standard deviations;
    # the difference of two such is within 0.15 in all but one of 10,000 runs.
    tolerance = 0.15 * values.std() / math.sqrt(values.size)
    assert bootstrap_interval(values, seed=4) == pytest.approx(tuple(expected), abs=tolerance)


def test_the_interval_is_that_of_resampling_case_by_case():
    values = np.array([1.0, 1.0, 2.0, 5.0])
    draws = np.random.default_rng(0).choice(values, size=(200_000, 4)).mean(axis=1)
    # Four values from three kinds: the means are multiples of 1/4, so the quantiles are exact.
    assert bootstrap_interval(values, resamples=200_000) == tuple(
        np.quantile(draws, [0.025, 0.975])
    )


def test_drawing_in_pieces_changes_nothing(monkeypatch):
    values = np.arange(1.0, 6.0)
    whole = bootstrap_interval(values, resamples=101)
    monkeypatch.setattr("timevista_hf.results.forecasts._CHUNK", 35)  # seven draws of five counts
    assert bootstrap_interval(values, resamples=101) == whole


def test_undefined_values_are_left_out_of_the_interval():
    values = np.array([1.0, 4.0, 5.0])
    assert bootstrap_interval(np.append(values, math.nan)) == bootstrap_interval(values)


def test_the_overall_interval_resamples_cases_and_not_judgments():
    # Every case is the same 3, made of a 1 and a 5: over cases there is nothing to vary.
    scored = [
        judgment(str(case), dimension=dimension, score=score)
        for case in range(6)
        for dimension, score in [("trend", 1), ("phase", 5)]
    ]
    overall = summarize(scored)["naive"].overall
    assert (overall.low, overall.high) == (3.0, 3.0)


def test_no_resamples_are_refused():
    with pytest.raises(ValueError, match="`resamples` must be at least 1, got 0"):
        Scoreboard().summarize(resamples=0)


def test_errors_are_averaged_where_they_are_defined():
    board = Scoreboard()
    for mae, mase in [(1.0, 0.5), (4.0, math.nan), (1.0, math.inf)]:
        board.add_errors("naive", {"mae": mae, "mase": mase})
    summary = board.summarize()[0]
    assert summary.errors == {"mae": 2.0, "mase": 0.5}
    assert summary.undefined == {"mae": 0, "mase": 2}


def test_an_error_that_is_never_defined_has_no_mean():
    board = Scoreboard()
    board.add_errors("naive", {"mase": math.nan})
    assert math.isnan(board.summarize()[0].errors["mase"])


def test_a_model_with_errors_only_was_asked_nothing():
    board = Scoreboard()
    board.add_errors("naive", {"mae": 1.0})
    summary = board.summarize()[0]
    assert math.isnan(summary.coverage) and math.isnan(summary.overall.mean)
    assert (summary.cases, summary.dimensions) == (0, {})


def test_breaches_are_summed_over_judgments():
    scored = [
        judgment("a", breaches=("negative", "too high")),
        judgment("b", breaches=("negative",)),
    ]
    assert summarize(scored)["naive"].breaches == 3


def test_an_empty_board_has_no_models():
    assert Scoreboard().summarize() == []


def test_a_case_scores_as_on_the_board():
    scored = [judgment(score=1), judgment(score=2), judgment(dimension="phase", score=5)]
    failed = judgment(dimension="motif", score=None, status="error")
    assert (
        case_score([*scored, failed]) == summarize([*scored, failed])["naive"].overall.mean == 3.25
    )


def test_a_case_without_scores_has_none():
    assert math.isnan(case_score([judgment(score=None, status="refused")]))


def test_records_are_strict_json_with_null_for_undefined():
    board = Scoreboard()
    board.add(judgment(score=None, status="error"))
    board.add_errors("naive", {"mase": math.nan})
    record = json.loads(json.dumps(to_records(board.summarize()), allow_nan=False))[0]
    assert record["rank"] is None
    assert record["overall"] == {"mean": None, "low": None, "high": None, "judged": 0, "asked": 1}
    assert (record["coverage"], record["errors"]) == (0.0, {"mase": None})


def test_records_number_the_models_from_one():
    scored = [judgment(model="x", score=2), judgment(model="y", score=5)]
    records = to_records(list(summarize(scored).values()))
    assert [(record["rank"], record["model"]) for record in records] == [(1, "y"), (2, "x")]


def test_a_judgment_costs_a_few_bytes_however_long_its_text():
    board = Scoreboard()
    for case in range(1000):
        board.add(judgment(str(case % 10), rationale="x" * 100_000))
    tally = board._tallies["naive"]
    stored = sum(
        part.itemsize * len(part) for part in (tally.cases, tally.dimensions, tally.scores)
    )
    assert stored == 7 * 1000


def board_of(judgments) -> Scoreboard:
    board = Scoreboard()
    for entry in judgments:
        board.add(entry)
    return board


def test_one_judge_agrees_with_nobody():
    assert board_of(random_judgments()).agreement() == {}


def panel(scores):
    """Judgments of a panel: one row a judge, one column a case, None where it failed."""
    return [
        judgment(f"case {case}", judge=f"judge {row}", score=score, status=status)
        for row, entries in enumerate(scores)
        for case, score in enumerate(entries)
        for status in ["ok" if score else "error"]
    ]


def test_a_panel_agrees_as_its_ratings_do():
    scores = [[1, 2, 3, 4, 5, None], [1, 2, 3, 3, 5, 2], [2, 2, 3, 4, 4, 2]]
    found = board_of(panel(scores)).agreement()["trend"]
    ratings = np.array(scores, dtype=float)
    assert found.alpha == krippendorff_alpha(ratings, level="ordinal")
    # Of the five cases that all scored, two have one score alone: 2 and 3.
    assert found.exact_match == 2 / 5
    # Medians 1, 2, 3, 4, 5 and 2.
    assert found.median == pytest.approx(17 / 6)
    assert found.means == {"judge 0": 3.0, "judge 1": pytest.approx(16 / 6), "judge 2": 17 / 6}


def test_the_same_case_of_two_models_is_two_units():
    first = [judgment("a", "m", judge=name, score=2) for name in "xy"]
    second = [judgment("a", "n", judge=name, score=score) for name, score in [("x", 5), ("y", 1)]]
    assert board_of(first + second).agreement()["trend"].exact_match == 0.5


def test_runs_of_one_judge_are_raters_too():
    scored = [judgment(run=run, score=run + 2) for run in range(2)]
    assert set(board_of(scored).agreement()["trend"].means) == {"builtin", "builtin, run 2"}


def test_a_panels_scores_are_averaged():
    assert summarize(panel([[1], [4]]))["naive"].overall.mean == 2.5
