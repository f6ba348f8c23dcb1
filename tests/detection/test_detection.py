"""How a judge is asked for anomalies, and how its reply is read."""

import json
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from timevista_hf.detection import DetectionQuestion, parse_paper
from timevista_hf.rubrics import UnparsableReplyError

POINT = DetectionQuestion("point", steps=150)
RANGE = DetectionQuestion("range", steps=150)
VARIATE = DetectionQuestion("variate", steps=150, num_variates=9, grid=(3, 3))
QUESTIONS = [POINT, RANGE, VARIATE]


def points(reply):
    return POINT.parse(reply).events[:, 0].tolist()


def ranges(reply):
    return RANGE.parse(reply).events.tolist()


def repairs(reply, question=POINT):
    return question.parse(reply).repairs


def wrap(anomalies):
    return json.dumps({"rationale": "seen", "anomalies": anomalies})


# The prompt.


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda q: q.granularity)
def test_the_reply_that_the_prompt_shows_has_the_form_of_the_schema(question):
    shown = json.loads(re.search(r"^\{.*\}$", question.prompt(), re.MULTILINE)[0])
    assert list(shown) == list(question.reply_schema["properties"])


@given(
    steps=st.integers(2, 5000),
    variates=st.integers(2, 400),
    granularity=st.sampled_from(["point", "range", "variate"]),
)
def test_the_example_of_the_prompt_is_never_an_answer(steps, variates, granularity):
    several = granularity == "variate"
    question = DetectionQuestion(granularity, steps, variates if several else 1)
    echoed = re.search(r"^\{.*\}$", question.prompt(), re.MULTILINE)[0]
    answer = question.parse(echoed)
    assert (answer.events.size, answer.variates, answer.rejected) == (0, (), 2)


@pytest.mark.parametrize(
    ("question", "numbers"),
    [
        (POINT, "[2, 51, 106]"),
        (RANGE, "[[2, 11], [50, 60], [105, 118]]"),
        (VARIATE, "[0, 2, 5]"),
    ],
)
def test_the_examples_of_the_paper_are_shown_where_they_are_asked_for(question, numbers):
    asked = DetectionQuestion(
        question.granularity, question.steps, question.num_variates, example="paper"
    )
    assert numbers in asked.prompt()
    assert numbers not in question.prompt()


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda q: q.granularity)
def test_without_an_example_the_prompt_shows_no_list_of_numbers(question):
    asked = DetectionQuestion(
        question.granularity, question.steps, question.num_variates, example="none"
    )
    assert not re.search(r"\[+\d", asked.prompt())


def test_the_prompt_names_the_last_step_and_says_that_ranges_include_both_ends():
    assert "from 0 to 149" in RANGE.prompt()
    assert "both included" in RANGE.prompt()


def test_the_prompt_names_the_grid_of_the_panels_and_how_they_are_numbered():
    said = DetectionQuestion("variate", 150, 7, grid=(3, 3)).prompt()
    assert "3 rows and 3 columns" in said
    assert "2 ends the first row, and the last one is 6" in said


def test_without_a_grid_the_prompt_speaks_of_none():
    assert "rows" not in DetectionQuestion("variate", 150, 9).prompt()


def test_a_judge_that_reads_is_given_the_numbers_and_told_of_no_plot():
    said = VARIATE.prompt(modality="text", numbers="Variate 0: 1, 2")
    assert "Variate 0: 1, 2" in said
    assert "plot" not in said


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda q: q.granularity)
def test_a_prompt_of_the_plot_has_no_gap_to_fill(question):
    assert not re.search(r"\{(?!\")", question.prompt())


def test_other_questions_have_other_fingerprints():
    others = [
        *QUESTIONS,
        DetectionQuestion("point", 151),
        DetectionQuestion("point", 150, example="none"),
        DetectionQuestion("point", 150, example="paper"),
        DetectionQuestion("variate", 150, 8, grid=(3, 3)),
        DetectionQuestion("variate", 150, 9, grid=(1, 9)),
    ]
    assert len({question.fingerprint for question in others}) == len(others)


def test_the_identity_tells_what_is_asked_and_with_which_example():
    paper = DetectionQuestion("range", 150, example="paper")
    assert (RANGE.identity, paper.identity) == (
        "detect_range@1.0",
        "detect_range_example_paper@1.0",
    )


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"granularity": "points"}, "did you mean 'point'"),
        ({"example": "papers"}, "did you mean 'paper'"),
        ({"steps": 1}, "`steps` must be at least 2"),
        ({"num_variates": 2}, "`num_variates` 1, got 150 and 2"),
        ({"granularity": "variate"}, "`num_variates` at least 2"),
        ({"granularity": "variate", "num_variates": 9, "grid": (2, 4)}, "no room for 9 panels"),
    ],
)
def test_a_question_that_cannot_be_asked_is_refused(fields, message):
    with pytest.raises(ValueError, match=message):
        DetectionQuestion(**{"granularity": "point", "steps": 150, **fields})


# Replies as they should be.


def test_points_are_events_one_step_long_in_order():
    assert POINT.parse(wrap([51, 2])).events.tolist() == [[2, 3], [51, 52]]


def test_ranges_include_their_last_step():
    assert ranges(wrap([[50, 60], [2, 2]])) == [[2, 3], [50, 61]]


def test_variates_come_ascending():
    answer = VARIATE.parse(wrap([5, 0]))
    assert (answer.variates, answer.events.shape) == ((0, 5), (0, 2))


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda q: q.granularity)
def test_an_empty_list_says_that_there_is_none(question):
    assert question.parse(wrap([])).says_none


@pytest.mark.parametrize(
    ("question", "anomalies"), [(POINT, [0, 149]), (RANGE, [[0, 149]]), (VARIATE, [0, 8])]
)
def test_a_proper_reply_needs_no_repair_and_loses_nothing(question, anomalies):
    answer = question.parse(wrap(anomalies))
    assert (answer.repairs, answer.rejected, answer.hallucinated_run) == ((), 0, False)


def test_the_rationale_is_kept_and_the_numbers_in_it_are_no_answer():
    answer = POINT.parse('{"rationale": " not [7, 8] ", "anomalies": [3]}')
    assert (answer.rationale, answer.events.tolist()) == ("not [7, 8]", [[3, 4]])


@given(st.sets(st.integers(0, 149)))
def test_what_was_written_is_read_back(steps):
    assert points(wrap(sorted(steps))) == sorted(steps)


# Repairs.


@pytest.mark.parametrize(
    ("reply", "found", "said"),
    [
        ("```json\n" + wrap([2, 51]) + "\n```", [2, 51], "text around the answer"),
        ("I see a spike. " + wrap([2, 51]), [2, 51], "text around the answer"),
        ("[2, 51]", [2, 51], "a list without the object"),
        ('{"points": [2, 51]}', [2, 51], "stood under 'points'"),
        (wrap([9]) + " No: " + wrap([2, 51]), [2, 51], "of 2 lists in the reply the last one"),
        ("[1, 3] or rather [2, 51]", [2, 51], "of 2 lists in the reply the last one"),
        ("[2, 51,]", [2, 51], "a comma before a closing bracket"),
        ('{"anomalies": [2, 51],}', [2, 51], "a comma before a closing bracket"),
        ("{'anomalies': [2, 51]}", [2, 51], "single quotes"),
        ("[2.0, 51]", [2, 51], "whole numbers with a decimal point"),
        ('["2", " 51"]', [2, 51], "numbers in quotes"),
        ("[2, 51, 2]", [2, 51], "stand twice"),
        ('{"anomalies": [2, 51}', [2, 51], "a list that is not closed was closed"),
        ("```\n[2, 51\n```", [2, 51], "a list that is not closed was closed"),
        ('{"anomalies": [9], "anomalies": [2, 51]}', [2, 51], "'anomalies' stands twice"),
    ],
)
def test_a_reply_that_is_mended_says_so(reply, found, said):
    assert points(reply) == found
    assert any(said in repair for repair in repairs(reply))


@pytest.mark.parametrize(
    ("reply", "found"),
    [
        ("[2, 51, 10", [2, 51]),  # 10, or the start of 106
        ("[2, 51, 106,", [2, 51, 106]),
        ("[2, 51, 106, ", [2, 51, 106]),
        ("[2, 51, 106 ", [2, 51, 106]),
        ("[2, 51, 106", [2, 51]),
        ('{"rationale": "seen", "anomalies": [2, 51, 106, ', [2, 51, 106]),
        ('{"rationale": "seen", "anomalies": [2, 51, 106], "more": "x', [2, 51, 106]),
        ('{"rationale": "seen", "anomalies": [2, 51]', [2, 51]),
    ],
)
def test_of_points_that_are_cut_off_only_a_partial_number_is_lost(reply, found):
    assert points(reply) == found
    assert any("cut off" in repair for repair in repairs(reply))


@pytest.mark.parametrize(
    ("reply", "found"),
    [
        ("[[2, 11], [50, 60", [[2, 12]]),
        ("[[2, 11], [50, 60 ", [[2, 12], [50, 61]]),
        ("[[2, 11], [50, 60]", [[2, 12], [50, 61]]),
        ("[[2, 11], [50, ", [[2, 12]]),
        ("[[2, 11], [", [[2, 12]]),
        ('[{"start": 2, "end": 11}, {"start": 50, "en', [[2, 12]]),
    ],
)
def test_of_ranges_that_are_cut_off_only_an_incomplete_one_is_lost(reply, found):
    answer = RANGE.parse(reply)
    assert (answer.events.tolist(), answer.rejected) == (found, 0)
    assert any("cut off" in repair for repair in answer.repairs)


@pytest.mark.parametrize(
    ("reply", "found", "said"),
    [
        (wrap([2, 11]), [[2, 12]], "a pair alone"),
        ("[2, 11]", [[2, 12]], "a pair alone"),
        ("[2, 11], [50, 60]", [[2, 12], [50, 61]], "pairs without the list around them"),
        ("[2, 11] and [50, 60].", [[2, 12], [50, 61]], "pairs without the list around them"),
        (wrap([{"start": 2, "end": 11}]), [[2, 12]], "objects with `start` and `end`"),
        (wrap([{"first": 2, "last": 11}]), [[2, 12]], "objects with `first` and `last`"),
        ("[(2, 11), (50, 60)]", [[2, 12], [50, 61]], "round brackets"),
        (wrap([["2", 11.0]]), [[2, 12]], "numbers in quotes"),
        (wrap([[2, 11], [2, 11]]), [[2, 12]], "merged"),
        (wrap([[2, 11], [8, 20]]), [[2, 21]], "merged"),
        (wrap([[2, 11], [12, 20]]), [[2, 21]], "merged"),
    ],
)
def test_ranges_in_another_form_are_read_and_it_is_said(reply, found, said):
    assert ranges(reply) == found
    assert any(said in repair for repair in repairs(reply, RANGE))


def test_ranges_with_a_step_between_them_stay_apart():
    assert ranges(wrap([[2, 11], [13, 20]])) == [[2, 12], [13, 21]]


# Rejections.


@pytest.mark.parametrize(
    ("question", "anomalies", "rejected"),
    [
        (POINT, [3, -1], 1),  # a negative step does not count from the end
        (POINT, [3, 150], 1),
        (POINT, [3, 2.5], 1),
        (POINT, [3, True], 1),
        (POINT, [3, None, "many"], 2),
        (POINT, [3, [5, 9]], 1),
        (POINT, [3, 10**30], 1),
        (POINT, [3, 1e300], 1),
        (RANGE, [[3, 3], [11, 2]], 1),
        (RANGE, [[3, 3], [140, 150]], 1),
        (RANGE, [[3, 3], [-5, 10]], 1),
        (RANGE, [[3, 3], 50, [1, 2, 3], [1], []], 4),
        (RANGE, [[3, 3], [True, 9]], 1),
        (RANGE, [[3, 3], {"start": 4}], 1),
    ],
)
def test_what_is_outside_or_no_entry_is_rejected_and_counted(question, anomalies, rejected):
    answer = question.parse(wrap(anomalies))
    assert (answer.events.tolist(), answer.rejected) == ([[3, 4]], rejected)


@pytest.mark.parametrize("anomalies", [[3, -1], [3, 9], [3, False]])
def test_ids_that_no_variate_has_are_rejected_and_counted(anomalies):
    answer = VARIATE.parse(wrap(anomalies))
    assert (answer.variates, answer.rejected) == ((3,), 1)


def test_a_reply_whose_entries_are_all_outside_does_not_say_that_there_is_none():
    answer = POINT.parse(wrap([150]))
    assert (answer.events.size, answer.says_none) == (0, False)


@pytest.mark.parametrize(
    ("question", "reply"),
    [
        (POINT, ""),
        (POINT, "There are no anomalies."),
        (POINT, "I cannot look at pictures."),
        (POINT, "A spike at step 12 (see above)."),
        (POINT, "3"),
        (POINT, "[0, 150)"),
        (POINT, "[see the plot]"),
        (POINT, '{"anomalies": null}'),
        (POINT, '{"anomalies": "none"}'),
        (POINT, '{"rationale": "it is ["'),
        (POINT, wrap(["none"])),
        (POINT, wrap([[2, 11]])),
        (RANGE, wrap([2, 11, 50, 60])),
        (RANGE, wrap(["2-11"])),
        (VARIATE, wrap([[0, 2]])),
        (POINT, "[" * 20_000),
        (POINT, "[2"),  # not even an empty list
        (POINT, '{"anomalies": ['),
        (RANGE, "[[2, 11"),
    ],
)
def test_a_reply_without_a_list_of_the_form_asked_for_is_unparsable(question, reply):
    with pytest.raises(UnparsableReplyError):
        question.parse(reply)


@given(st.text(alphabet="[]{}(),:\"'0123456789.-e truenl\\`…", max_size=60))
def test_whatever_the_reply_it_is_read_or_called_unparsable(reply):
    for question in QUESTIONS:
        try:
            answer = question.parse(reply)
        except UnparsableReplyError:
            continue
        starts, stops = answer.events.T
        assert np.all((starts >= 0) & (starts < stops) & (stops <= 150))
        assert all(0 <= one < 9 for one in answer.variates)


# Hallucinated runs.


@pytest.mark.parametrize(
    ("question", "anomalies"),
    [
        (POINT, list(range(101))),
        (POINT, list(range(0, 150, 10))),
        (POINT, [140 + one for one in range(20)]),
        (POINT, [3, 99, *range(100, 0, -1)]),
        (POINT, [90, 20, *range(40, 151, 10), 7]),
        (RANGE, [[start, start + 5] for start in range(0, 150, 10)]),
        (VARIATE, list(range(100))),
    ],
)
def test_a_long_run_at_equal_steps_is_recognised(question, anomalies):
    assert question.parse(wrap(anomalies)).hallucinated_run


@pytest.mark.parametrize(
    ("question", "anomalies"),
    [
        (POINT, list(range(9))),  # short
        (POINT, list(range(20, 60))),  # long, but of a part of the series
        (POINT, [0, 20, 41, 60, 81, 100, 121, 140, 141, 145, 149]),  # uneven
        (POINT, [140, 151]),
        (RANGE, [[0, 149]]),
        (VARIATE, list(range(9))),
    ],
)
def test_other_lists_are_no_such_run(question, anomalies):
    assert not question.parse(wrap(anomalies)).hallucinated_run


@pytest.mark.parametrize("reply", ["[0, 1, 2, ..., 100]", "[0, 1, 2, …]"])
def test_numbers_that_an_ellipsis_continues_are_such_a_run(reply):
    answer = POINT.parse(reply)
    assert (answer.hallucinated_run, answer.rejected) == (True, 1)


def test_the_entries_of_such_a_run_count_all_the_same():
    answer = POINT.parse(wrap(list(range(160))))
    assert (len(answer.events), answer.rejected) == (150, 10)


# The convention of the paper.


def paper(reply, question=POINT):
    answer = parse_paper(reply, question)
    return [*answer.variates] if question is VARIATE else answer.events.tolist()


@pytest.mark.parametrize(
    ("question", "reply", "found"),
    [
        (POINT, "Here: [2, 51]", [[2, 3], [51, 52]]),
        (POINT, "[-1, 2]", [[2, 3], [149, 150]]),
        (POINT, "[150, -151, 2]", [[2, 3]]),
        (POINT, "[true, 2]", [[1, 2], [2, 3]]),
        (POINT, "[nothing]", []),
        (POINT, "[]", []),
        (POINT, "[2, 51, 106", [[2, 3], [51, 52]]),  # the last number is lost, also a whole one
        (POINT, "[2, 51,", [[2, 3], [51, 52]]),
        (RANGE, "[[2, 11], [140, 160]]", [[2, 12], [140, 150]]),
        (RANGE, "[[2, 11], [20, 12], [3], [1, 2, 3]]", [[2, 12]]),
        (RANGE, '[[2.9, "11"]]', [[2, 12]]),
        (RANGE, "[[-5, 3]]", [[0, 4]]),
        (VARIATE, "[0, -1, 9]", [0, 8]),
        (VARIATE, wrap([0, 2]), [0, 2]),
    ],
)
def test_the_paper_reads_more_than_was_said(question, reply, found):
    assert paper(reply, question) == found


@pytest.mark.parametrize(
    ("question", "reply"),
    [
        (POINT, "There is none."),
        (POINT, "[2] and [51]"),
        (POINT, "[2.0]"),
        (POINT, '["2"]'),
        (POINT, "[2,]"),
        (POINT, "[02]"),
        (RANGE, "[2, 11]"),
        (RANGE, '[{"start": 2, "end": 11}]'),
        (RANGE, "[(2, 11)]"),
        (RANGE, "[[2, 11], [50, 60"),
    ],
)
def test_the_paper_leaves_these_replies_out(question, reply):
    with pytest.raises(UnparsableReplyError, match="the paper's evaluation leaves this out"):
        parse_paper(reply, question)
