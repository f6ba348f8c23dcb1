"""What a metric refuses, and in which words."""

import math

import pytest

import timevista_hf as tv

WAVE = [math.sin(step) for step in range(24)]


def compute(name, **inputs):
    return tv.load_metric(name, keep_in_memory=True).compute(**inputs)


REFUSED = [
    (
        "affiliation_f1",
        {"predictions": [[]], "references": [[[1, 2]]]},
        "`ranges` must be given",
    ),
    (
        "affiliation_f1",
        {"predictions": [[], [[4, 3]]], "references": [[[1, 2]], [[1, 2]]], "ranges": [0, 9]},
        "row 1, event 0 of `predictions` must start before it stops",
    ),
    (
        "affiliation_f1",
        {"predictions": [[], []], "references": [[[1, 2]], []], "ranges": [0, 9]},
        "row 1: `references` must hold an event",
    ),
    (
        "affiliation_f1",
        {"predictions": [[]], "references": [[[1, 2]]], "ranges": [0, 9], "convention": "papr"},
        "unknown `convention` 'papr'",
    ),
    (
        "annotator_agreement",
        {"predictions": [[1, 2], [1, 2, 3]]},
        "row 1: must hold 2 ratings, as row 0 does, got 3",
    ),
    (
        "annotator_agreement",
        {"predictions": [[1, 2], None]},
        "row 1: must hold 2 ratings, as row 0 does, got none",
    ),
    (
        "annotator_agreement",
        {"predictions": [[1, 7], [2, 2]]},
        "`predictions`, row 0: 7 is none of the `levels`",
    ),
    (
        "forecast_error",
        {"predictions": [[1, 2], [1]], "references": [[1, 2], [1, 2]]},
        "row 1: `references` has 2 steps but `predictions` has 1",
    ),
    (
        "forecast_error",
        {"predictions": [[1, 2], None], "references": [[1, 2], [1, 2]]},
        "row 1: `predictions` must have 1 dimension",
    ),
    (
        "forecast_error",
        {"predictions": [[1, math.inf]], "references": [[1, 2]]},
        "row 0: `predictions` must be finite or NaN, got inf at step 1",
    ),
    (
        "forecast_error",
        {"predictions": [[1, 2]], "references": [[1, 2]], "history": []},
        "`history` must have one entry for each of 1 rows, got 0",
    ),
    (
        "forecast_error",
        {"predictions": [[1, 2]], "references": [[1, 2]], "season_length": [1, 2]},
        "`season_length` must have one entry for each of 1 rows, got 2",
    ),
    (
        "forecast_error",
        {"predictions": [[1, 2]], "references": [[1, 2]], "season_length": 0},
        "row 0: `season_length` must be an integer of at least 1, got 0",
    ),
    (
        "judge_correlation",
        {"predictions": [1, 2], "references": [1, 2], "confidence": 95},
        "`confidence` must be between 0 and 1, got 95",
    ),
    ("variate_f1", {"predictions": [[1]], "references": [[1]]}, "`n_labels` .*got None"),
    (
        "variate_f1",
        {"predictions": [[1], [2.5]], "references": [[1], [1]], "n_labels": 3},
        "row 1: `predictions` must hold integers from 0 to 2, got 2.5",
    ),
    (
        "variate_f1",
        {"predictions": [[1], [-1]], "references": [[1], [1]], "n_labels": 3},
        "row 1: `predictions` must hold integers from 0 to 2, got -1",
    ),
    (
        "variate_f1",
        {"predictions": [[1]], "references": [[3]], "n_labels": 3, "invalid": "drop"},
        "row 0: `references` must hold integers from 0 to 2, got 3",
    ),
    (
        "vlm_judge",
        {"predictions": [WAVE], "references": [WAVE]},
        "`history` must have one entry for each of 1 rows, got none",
    ),
    (
        "vlm_judge",
        {"predictions": [WAVE, WAVE[:9]], "references": [WAVE] * 2, "history": [WAVE] * 2},
        "row 1: `references` has 24 steps but `predictions` has 9",
    ),
    (
        "vlm_judge",
        {"predictions": [WAVE], "references": [WAVE], "history": [WAVE], "judge": "biltin"},
        "unknown judge 'biltin'; did you mean 'builtin'",
    ),
    (
        "vlm_judge",
        {"predictions": [WAVE], "references": [WAVE], "history": [WAVE], "level": "mikro"},
        "unknown level 'mikro'; did you mean 'micro'",
    ),
]


@pytest.mark.parametrize(("name", "inputs", "message"), REFUSED)
def test_what_is_refused_is_named_in_the_words_of_evaluate(name, inputs, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        compute(name, **inputs)


def test_a_judge_of_ones_own_is_asked():
    judge = tv.load_judge("mock")
    found = compute("vlm_judge", predictions=[WAVE], references=[WAVE], history=[WAVE], judge=judge)
    assert (found["overall"], found["judge"]) == (3.0, "mock")


def test_a_failed_judgment_has_a_reason_and_no_score():
    class Refusing:
        name, modality, identity = "refusing", "numbers", {"name": "refusing"}

        def ask(self, requests):
            from timevista_hf.judges import Reply

            for request in requests:
                yield request, Reply("", status="refused", reason="not today")

    found = compute(
        "vlm_judge", predictions=[WAVE], references=[WAVE], history=[WAVE], judge=Refusing()
    )
    assert math.isnan(found["overall"])
    assert math.isnan(found["trend"])
    assert (found["coverage"], found["failures"]) == (0.0, {"refused": 5})
    assert found["case_scores"][0]["trend"] is None
    assert found["rationales"][0]["trend"] == "not today"


def test_the_level_of_the_call_wins_over_the_configuration():
    metric = tv.load_metric("vlm_judge", "macro")
    inputs = {"predictions": [WAVE], "references": [WAVE], "history": [WAVE]}
    assert "trend" in metric.compute(**inputs, level="micro")
    assert "without_knowledge" in metric.compute(**inputs)


def test_only_the_dimensions_asked_for_are_judged():
    found = compute(
        "vlm_judge",
        predictions=[WAVE],
        references=[WAVE],
        history=[WAVE],
        dimensions=["phase"],
    )
    assert found["case_scores"] == [{"phase": 5}]


def test_the_knowledge_of_a_dataset_is_a_second_rubric():
    found = compute(
        "vlm_judge",
        predictions=[WAVE],
        references=[WAVE],
        history=[WAVE],
        level="macro",
        dataset="crypto",
    )
    assert [rubric.partition("@")[0] for rubric in found["rubrics"]] == [
        "without_knowledge",
        "crypto",
    ]
    assert {"without_knowledge", "with_knowledge"} <= found.keys()


def test_a_season_length_a_row_scales_each_row_by_its_own():
    # MAE 1 over a movement of 1 a step, and MAE 1 over one of 2 every second step
    found = compute(
        "forecast_error",
        predictions=[[1, 2], [1, 2]],
        references=[[2, 3], [2, 3]],
        history=[[1, 2, 3], [1, 2, 3, 4]],
        season_length=[1, 2],
    )
    assert found["mase"] == pytest.approx((1 / 1 + 1 / 2) / 2, rel=1e-12)


def test_an_error_undefined_in_a_row_is_left_out_and_counted():
    # The first history never moves; the second row has MAE 1 over a movement of 1.
    found = compute(
        "forecast_error",
        predictions=[[1, 2], [1, 2]],
        references=[[2, 3], [2, 3]],
        history=[[5, 5, 5], [1, 2, 3]],
    )
    assert (found["mase"], found["undefined"]["mase"]) == (1.0, 1)


def test_without_a_history_the_scaled_error_is_undefined():
    found = compute("forecast_error", predictions=[[1, 2]], references=[[2, 3]])
    assert math.isnan(found["mase"])
    assert found["undefined"]["mase"] == 1


def test_a_missing_step_is_left_out_of_the_mean():
    found = compute("forecast_error", predictions=[[1, None, 5]], references=[[2, 3, 5]])
    assert found["mae"] == 0.5


def test_numbers_are_not_rounded_to_single_precision():
    # 2**24 + 1 is no float32: the difference would be 0.
    found = compute("forecast_error", predictions=[[2.0**24 + 1]], references=[[2.0**24]])
    assert found["mae"] == 1.0


def test_one_range_for_all_rows_is_that_range_for_each():
    inputs = {"predictions": [[[1, 2]], [[5, 6]]], "references": [[[2, 3]], [[5, 7]]]}
    assert compute("affiliation_f1", **inputs, ranges=[0, 9]) == compute(
        "affiliation_f1", **inputs, ranges=[[0, 9], [0, 9]]
    )
