"""Scores of detections: the two conventions, chance, the published numbers, the tables."""

import math
from pathlib import Path

import numpy as np
import pytest
from oracles import Stored, named, truth

from timevista_hf.cases import AnomalyCase
from timevista_hf.judges import Reply
from timevista_hf.metrics import set_precision_recall_f1, summarize_affiliation
from timevista_hf.pipeline import detect_anomalies
from timevista_hf.results.anomalies import METRICS, published_scores, score_subset
from timevista_hf.results.tables import arrange_tables, to_records
from timevista_hf.synthesis.anomalies import make_anomalies

BASES = Path(__file__).parents[3] / "shared" / "base_series"
needs_bases = pytest.mark.skipif(not BASES.exists(), reason="the real base series are not here")

# One of each kind of series and of anomaly.
KINDS = [
    "sine-global",
    "sine-contextual-r25",
    "sine-seasonal-r10",
    "sine-trend",
    "sine-shapelet",
    "sine_cosine-triangle-m4",
    "sine_cosine-square-m9-r25",
    "sine_cosine-sawtooth-m2",
    "sine_cosine-random_walk-m16",
]


def detect(cases, answer, **options):
    return [d for one in detect_anomalies(cases, Stored(answer), **options) for d in one.detections]


def scores(cases, answer, **options):
    return score_subset(cases, detect(cases, answer), **options)


def means(row):
    return [getattr(row, name).mean for name in METRICS]


def make_points(number=6, *, clean=()):
    """Series of 40 steps with points at 10 and 30, or none."""
    return [
        AnomalyCase(
            id=str(index),
            values=np.full(40, float(index)),  # alike series would share an answer
            granularity="point",
            events=[] if index in clean else [(10, 11), (30, 31)],
        )
        for index in range(number)
    ]


@pytest.mark.parametrize("convention", ["honest", "paper"])
@pytest.mark.parametrize("subset", KINDS)
def test_an_oracle_scores_everything_clean_series_too(subset, convention):
    cases = [*make_anomalies(subset, count=10)]
    judge = scores(cases, lambda case: named(truth(case)), convention=convention).judge
    assert [*means(judge), judge.clean.mean] == [1, 1, 1, 1]


@needs_bases
@pytest.mark.parametrize("subset", ["symbols-trend-r5", "articulary_word_recognition-square-m9"])
def test_an_oracle_scores_everything_on_real_series(subset):
    cases = [*make_anomalies(subset, count=10, data_dir=BASES)]
    judge = scores(cases, lambda case: named(truth(case))).judge
    assert [*means(judge), judge.clean.mean] == [1, 1, 1, 1]


@needs_bases
def test_the_echo_of_the_papers_example_scores_as_its_table_30_says():
    cases = [
        *make_anomalies(
            "articulary_word_recognition-triangle-m9-r5", edition="paper", data_dir=BASES
        )
    ]
    found = scores(cases, lambda case: Reply("[0, 2, 5]"), convention="paper")
    published = {row.rater: row for row in found.published}["Qwen2-VL-7B-Instruct"]
    assert [f"{100 * mean:.2f}" for mean in means(found.judge)] == ["17.99", "38.50", "23.90"]
    assert means(published) == pytest.approx(means(found.judge), abs=5e-5)
    assert means(found.chance[3]) == means(found.judge)


@pytest.mark.parametrize("subset", ["sine-global", "sine-trend"])
def test_naming_everything_has_a_precision_of_about_one_half(subset):
    found = scores([*make_anomalies(subset, count=50)], lambda case: named([]))
    everything = found.chance[0]
    assert everything.rater == "everything"
    assert everything.precision.mean == pytest.approx(0.5, abs=0.01)
    assert everything.recall.mean == 1


@pytest.mark.parametrize("convention", ["honest", "paper"])
def test_scores_of_events_are_those_of_the_metric(convention):
    cases = [*make_anomalies("sine-shapelet", edition="paper", count=30)]
    answers = {case.id: [[5 * index, 5 * index + 7]] for index, case in enumerate(cases)}
    answers[cases[3].id] = []
    failed = cases[7].id
    found = scores(
        cases,
        lambda case: Reply("no idea") if case.id == failed else named(answers[case.id]),
        convention=convention,
    )
    predicted = [[(a, b + 1) for a, b in answers[case.id]] for case in cases]
    predicted[7] = None
    expected = summarize_affiliation(
        [case.events for case in cases], predicted, ranges=(0, 400), convention=convention
    )
    assert means(found.judge) == pytest.approx([expected[name] for name in METRICS], abs=1e-12)
    assert found.judge.empty == expected["empty_predictions"]


def test_scores_of_variates_are_those_of_the_sets():
    cases = [*make_anomalies("sine_cosine-square-m9", edition="paper", count=20)]
    found = scores(cases, lambda case: named([0, 4, 8]))
    sets = set_precision_recall_f1([case.variates for case in cases], [[0, 4, 8]] * 20, n_labels=9)
    expected = [sets.mean_precision, sets.mean_recall, sets.mean_f1]
    assert means(found.judge) == pytest.approx(expected, abs=1e-12)


def test_a_failed_answer_counts_as_empty_or_is_left_out():
    # Of four series three are found: recall and F1 are 3/4, or those of the three.
    def answer(case):
        return Reply("I cannot say.") if case.id == "0" else named([10, 30])

    cases = make_points(4)
    honest = scores(cases, answer).judge
    paper = scores(cases, answer, convention="paper").judge
    assert (means(honest), honest.scored, honest.failures) == (
        [1, 0.75, 0.75],
        4,
        {"unparsable": 1},
    )
    assert (means(paper), paper.scored, paper.failures) == ([1, 1, 1], 3, {"unparsable": 1})
    assert honest.coverage == paper.coverage == 0.75


def test_an_empty_answer_has_no_precision_or_one_of_0():
    def answer(case):
        return named([] if case.id == "0" else [10, 30])

    cases = make_points(4)
    assert means(scores(cases, answer).judge) == [1, 0.75, 0.75]
    assert means(scores(cases, answer, convention="paper").judge) == [0.75, 0.75, 0.75]


def test_the_papers_convention_reads_the_reply_anew():
    # -10 counts from the end of 40 steps: 30.
    found = scores(make_points(2), lambda case: Reply("[10, -10]"), convention="paper").judge
    assert means(found) == [1, 1, 1]
    assert scores(make_points(2), lambda case: Reply("[10, -10]")).judge.rejected == 2


def test_the_papers_convention_takes_missing_steps_out_of_the_axis():
    # Steps 0 to 9 are missing: of 20 steps 10 are left, the range is (5, 7), the answer (2, 4).
    values = np.r_[np.full(10, np.nan), np.zeros(10)]
    case = AnomalyCase(id="a", values=values, granularity="range", events=[(15, 17)])
    for convention, true, predicted, span in (
        ("honest", (15, 17), (12, 14), 20),
        ("paper", (5, 7), (2, 4), 10),
    ):
        found = scores([case], lambda case: named([[12, 13]]), convention=convention).judge
        expected = summarize_affiliation(
            [[true]], [[predicted]], ranges=(0, span), convention=convention
        )
        assert means(found) == pytest.approx([expected[name] for name in METRICS], abs=1e-12)


def test_missing_steps_of_several_variates_change_nothing():
    cases = [*make_anomalies("sine_cosine-square-m9-r25", edition="paper", count=10)]
    found = [
        means(scores(cases, lambda case: named([0, 1, 2]), convention=convention).judge)
        for convention in ("honest", "paper")
    ]
    assert found[0] == pytest.approx(found[1], abs=5e-4)  # the paper rounds


def test_each_score_is_rounded_in_the_papers_convention_only():
    # One of three variates: a precision of 1/3.
    cases = [*make_anomalies("sine_cosine-square-m4", edition="paper", count=1)]
    [variate] = cases[0].variates
    ids = [variate, *[one for one in range(4) if one != variate][:2]]
    honest, paper = (
        scores(cases, lambda case: named(ids), convention=convention).judge.precision.mean
        for convention in ("honest", "paper")
    )
    assert (honest, paper) == (1 / 3, 0.333)


def test_clean_series_have_a_score_of_their_own():
    # Series 1 and 3 are clean; the judge names something in the latter.
    def answer(case):
        return named([10, 30] if case.id != "1" else [])

    judge = scores(make_points(4, clean=(1, 3)), answer).judge
    assert (means(judge), judge.clean.mean, judge.scored) == ([1, 1, 1], 0.5, 4)


def test_a_failed_answer_about_a_clean_series_is_wrong_or_left_out():
    def answer(case):
        return Reply("No.") if case.id == "1" else named([] if case.id == "3" else [10, 30])

    cases = make_points(4, clean=(1, 3))
    assert scores(cases, answer).judge.clean.mean == 0.5
    assert scores(cases, answer, convention="paper").judge.clean.mean == 1


def test_rejected_entries_are_no_claim_that_nothing_is_anomalous():
    judge = scores(make_points(3, clean=(1,)), lambda case: named([4000])).judge
    assert (judge.clean.mean, judge.rejected, judge.empty) == (0, 3, 2)


def test_without_clean_series_their_score_is_undefined():
    found = scores(make_points(2), lambda case: named([10]))
    assert all(math.isnan(row.clean.mean) for row in found.rows)


def test_with_clean_series_only_the_other_scores_are_undefined():
    found = scores(make_points(2, clean=(0, 1)), lambda case: named([]))
    assert found.judge.clean.mean == 1
    assert all(math.isnan(mean) for row in found.rows for mean in means(row))


def test_hallucinated_runs_are_counted():
    judge = scores(make_points(3), lambda case: named([*range(40)])).judge
    assert judge.hallucinated == 3


def test_detections_are_matched_by_id_not_by_order():
    cases = [*make_anomalies("sine-global", count=6)]
    detections = detect(cases, lambda case: named(truth(case)))
    found = score_subset(cases, detections[::-1]).judge
    assert means(found) == [1, 1, 1]


def test_a_series_without_a_detection_counts_as_failed():
    cases = make_points(4)
    detections = detect(cases[1:], lambda case: named([10, 30]))
    judge = score_subset(cases, detections).judge
    assert (judge.recall.mean, judge.failures, judge.asked) == (0.75, {"missing": 1}, 4)


def test_runs_of_a_series_are_averaged_first():
    answers = iter([[10, 30], [], [10, 30], [10, 30]])
    cases = make_points(2)
    detections = detect(cases, lambda case: named(next(answers)), runs=2)
    found = score_subset(cases, detections)
    assert found.series_f1 == {"0": 0.5, "1": 1.0}
    assert (found.judge.f1.mean, found.judge.asked) == (0.75, 4)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda cases, found: (cases, [*found, found[0]]), "run 0: has two detections"),
        (lambda cases, found: (cases[1:], found), "series '0': has a detection, but is none"),
        (lambda cases, found: ([], found), "must be series of one subset"),
    ],
)
def test_detections_that_do_not_fit_are_errors(spoil, message):
    cases = make_points(2)
    with pytest.raises(ValueError, match=message):
        score_subset(*spoil(cases, detect(cases, lambda case: named([]))))


def test_series_of_two_kinds_are_an_error():
    cases = [*make_anomalies("sine-global", count=1), *make_anomalies("sine-trend", count=1)]
    with pytest.raises(ValueError, match="2 kinds"):
        score_subset(cases, [])


def test_an_unknown_convention_is_an_error():
    with pytest.raises(ValueError, match="did you mean 'honest'"):
        score_subset(make_points(1), [], convention="honestly")


def test_the_interval_holds_the_mean_and_shrinks_with_the_series():
    def f1(count):
        return scores(
            [*make_anomalies("sine_cosine-square-m9", count=count)], lambda case: named([0, 1])
        ).judge.f1

    few, many = f1(20), f1(100)
    assert few.low < few.mean < few.high
    assert many.high - many.low < few.high - few.low


def test_the_interval_is_that_of_a_binomial():
    # 18 of 36 series are found: the mean's standard error is 1/12, the interval 0.5 +- 0.163.
    f1 = scores(make_points(36), lambda case: named([10, 30] if int(case.id) % 2 else [])).judge.f1
    assert f1.mean == 0.5
    assert [f1.low, f1.high] == pytest.approx([0.337, 0.663], abs=0.02)


def test_the_same_seed_gives_the_same_scores():
    cases = [*make_anomalies("sine-global", count=10)]
    first, again, other = (
        scores(cases, lambda case: named([100, 200]), seed=seed) for seed in (1, 1, 2)
    )
    assert repr(first) == repr(again)  # nan is nan
    assert first.judge.f1.low != other.judge.f1.low


def test_random_answers_score_what_their_size_says():
    # A set as large as the truth shares the part |A| / M of it on average.
    cases = [*make_anomalies("sine_cosine-square-m9", edition="paper", count=40)]
    found = {row.rater: row for row in scores(cases, lambda case: named([])).chance}
    expected = np.mean([len(case.variates) / 9 for case in cases])
    assert found["random"].f1.mean == pytest.approx(expected)


def test_what_the_paper_lacks_has_nothing_published():
    assert published_scores("sine_cosine-square-m7") == ()
    assert len(published_scores("symbols-trend-r5")) == 8


def made(*subsets):
    return [
        scores([*make_anomalies(subset, count=2)], lambda case: named([])) for subset in subsets
    ]


def test_tables_show_the_subsets_of_a_run_as_the_paper_does():
    found = made("sine-contextual", "sine-global", "sine_cosine-triangle-m9", "sine-trend-r5")
    tables = {table.number: table for table in arrange_tables(found)}
    assert [*tables] == [2, 4, 6, 10]
    assert tables[2].headings == ("sine: global", "sine: contextual")
    assert tables[6].headings == ("triangle",)
    assert tables[2].title == "univariate, points"
    assert tables[6].title == "multivariate, sine and cosine, 9 variates"
    assert tables[10].title == "univariate, sine, 5 % of the steps missing"
    assert [cells[0].kind for cells in tables[2].rows] == (
        ["judge"] + ["chance"] * 4 + ["published"] * 8
    )


def test_subsets_that_the_paper_lacks_come_last():
    [table, other] = arrange_tables(made("sine_cosine-square-m7", "sine-global"))
    assert (table.number, other.number, other.headings) == (2, None, ("sine_cosine-square-m7",))


def test_records_hold_every_rater_and_the_tables():
    [found] = made("sine-trend")
    records = to_records([found])
    [subset], [table] = records["subsets"], records["tables"]
    assert (subset["base"], subset["anomaly"], len(subset["rows"])) == ("sine", "trend", 13)
    assert (table["table"], table["columns"], len(table["rows"])) == (3, ["sine-trend"], 13)
    assert subset["rows"][0]["coverage"] == 1
