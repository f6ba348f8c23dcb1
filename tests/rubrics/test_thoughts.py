"""What a model thinks is no answer, whatever marks it."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from timevista_hf.detection import DetectionQuestion, parse_paper
from timevista_hf.rubrics import (
    JointRubric,
    UnparsableReplyError,
    check_reply,
    close_thought,
    cut_thoughts,
    load_rubric,
    marks_thought,
)

TREND = load_rubric("trend")
POINT = DetectionQuestion("point", steps=100)
DRAFT = 'Perhaps {"rationale": "first idea", "score": 1}, or [3, 4]? '
ANSWER = '{"rationale": "The slope is right.", "score": 4}'
MARKS = [
    ("<think>", "</think>"),
    ("<THINK>", "</think>"),
    ("<thinking>", "</thinking>"),
    ('<thinking level="high">', "</thinking>"),
    ("<reasoning>", "</reasoning>"),
    ("<thought>", "</thought>"),
    ("<seed:think>", "</seed:think>"),
    ("[THINK]", "[/THINK]"),
    ("[think]", "[/think]"),
    ("◁think▷", "◁/think▷"),
    ("<|START_THINKING|>", "<|END_THINKING|>"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
    ("<|inner_prefix|>", "<|inner_suffix|>"),
    ("<unused94>thought\n", "<unused95>"),
    ("<|channel>thought\n", "<channel|>"),
    ("<|channel|>analysis<|message|>", "<|end|><|start|>assistant<|channel|>final<|message|>"),
    (
        "<|channel|>commentary to=x<|message|>",
        "<|end|><|channel|>final <|constrain|>json<|message|>",
    ),
    ("analysisWe judge. ", "assistantfinal"),
    ("Here is my thought process: ", "Here is my response: "),
]
everywhere = pytest.mark.parametrize(("begin", "end"), MARKS)


@everywhere
def test_a_thought_before_the_answer_is_not_read(begin, end):
    assert TREND.parse(f"{begin}{DRAFT}{end}\n{ANSWER}").score == 4


@everywhere
def test_a_thought_before_prose_is_no_answer(begin, end):
    with pytest.raises(
        UnparsableReplyError, match=r"beside the model's thoughts: ' ?No verdict\.'"
    ):
        TREND.parse(f"{begin}{DRAFT}{end}No verdict.")


@everywhere
def test_a_thought_that_does_not_end_has_no_answer(begin, end):
    with pytest.raises(UnparsableReplyError, match="beside the model's thoughts: ''"):
        TREND.parse(f"{begin}{DRAFT}")


@everywhere
def test_an_end_without_a_beginning_ends_a_thought_too(begin, end):
    # Templates put the beginning into the prompt.
    with pytest.raises(UnparsableReplyError, match="beside the model's thoughts"):
        TREND.parse(f"{DRAFT}{end}No verdict.")
    assert TREND.parse(f"{DRAFT}{end}{ANSWER}").score == 4


@everywhere
def test_anomalies_are_read_in_the_same_way(begin, end):
    reply = '{"rationale": "seen", "anomalies": [7]}'
    assert POINT.parse(f"{begin}{DRAFT}{end}{reply}").events.tolist() == [[7, 8]]
    for parse in (POINT.parse, lambda said: parse_paper(said, POINT)):
        with pytest.raises(UnparsableReplyError):
            parse(f"{begin}{DRAFT}{end}Nothing to report.")
        with pytest.raises(UnparsableReplyError):
            parse(f"{begin}{DRAFT}")


def test_the_paper_reads_what_stands_beside_the_thoughts():
    found = parse_paper("<think>[1] or [2]?</think>[-1, 7]", POINT)
    assert found.events.tolist() == [[7, 8], [99, 100]]


@pytest.mark.parametrize(
    ("reply", "left"),
    [
        (f"{ANSWER}<think>{DRAFT}</think>", ANSWER),
        (f"{ANSWER}<think>{DRAFT}", ANSWER),
        (f"<think>a</think><think>{DRAFT}</think>{ANSWER}", ANSWER),
        (f"<think>a <think>b</think> {DRAFT}</think>{ANSWER}", ANSWER),
        (f"<think>a [/THINK] {DRAFT}</think>{ANSWER}", ANSWER),
        (f"{DRAFT}</think>{DRAFT}</think>{ANSWER}", ANSWER),
        ("3<think>no</think>4", "3 4"),
        ("<think>a</think>", ""),
    ],
)
def test_several_thoughts_are_all_cut(reply, left):
    assert cut_thoughts(reply) == left


@pytest.mark.parametrize(
    "reply",
    [
        '{"rationale": "It ends in </think>, a mark.", "score": 2}',
        '```json\n{"rationale": "No <think> here.", "score": 2}\n```',
        '{"rationale": "[THINK] is drawn in the plot.", "score": 2}',
        "a < think b, and so [thinking of 4] I say nothing",
        "Analysis: the slope is right.",
        "analysis: the slope is right.",
        "",
    ],
)
def test_what_is_no_mark_or_stands_in_the_answer_is_left_alone(reply):
    assert cut_thoughts(reply) == reply


@given(rationale=st.text(alphabet='<>/[]think▷◁ |"\\', min_size=1, max_size=40))
def test_whatever_stands_in_the_rationale_of_an_answer_is_kept(rationale):
    reply = json.dumps({"rationale": f"x{rationale}", "score": 2}, ensure_ascii=False)
    assert TREND.parse(reply).rationale == f"x{rationale}".strip()


@given(st.lists(st.sampled_from([mark for pair in MARKS for mark in pair] + [ANSWER, "a"])))
def test_no_mark_is_left_and_nothing_is_invented(parts):
    reply = "".join(parts)
    left = cut_thoughts(reply)
    assert left == reply or len(left) <= len(reply)
    assert cut_thoughts(left) == left


def test_joint_replies_and_batches_are_read_in_the_same_way():
    joint = JointRubric((TREND, load_rubric("phase")))
    draft = json.dumps({name: {"rationale": "r", "score": 1} for name in ("trend", "phase")})
    final = draft.replace("1", "5")
    assert [one.score for one in joint.parse_parts(f"{draft}</think>{final}")] == [5, 5]
    with pytest.raises(UnparsableReplyError):
        check_reply(f"<think>{draft}")


@pytest.mark.parametrize("mark", ["<think>", "</think>", "<|channel|>final", "<think ", "[THINK]"])
def test_a_reply_of_nothing_but_marks_is_no_answer(mark):
    with pytest.raises(UnparsableReplyError):
        TREND.parse(mark * 50_000)


@pytest.mark.parametrize(
    ("prompt", "closing"),
    [
        ("<|im_start|>assistant\n<think>\n", "\n</think>\n\n"),
        ("assistant<seed:think>", "\n</seed:think>\n\n"),
        ("[THINK] ", "\n[/THINK]\n\n"),
        ("◁think▷", "\n◁/think▷\n\n"),
        ("<think>\n\n</think>\n\n", ""),
        ("<|im_start|>assistant\n", ""),
    ],
)
def test_a_thought_that_a_prompt_opens_is_closed(prompt, closing):
    assert close_thought(prompt) == prompt + closing


@pytest.mark.parametrize(
    ("text", "marks"), [("[THINK]", True), ("</think>", True), ("</s>", False), ("a<think>", False)]
)
def test_marks_are_told_from_other_tokens(text, marks):
    assert marks_thought(text) is marks
