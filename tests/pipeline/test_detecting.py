"""From series to detections: what a judge is asked, what is kept, and what is stored."""

import json
from dataclasses import fields, replace

import numpy as np
import pytest
from servers import (
    Answer,
    FakeServer,
    anthropic_answer,
    connect,
    gemini_answer,
    openai_answer,
    probable_verdict,
)

from timevista_hf import __version__
from timevista_hf.cases import AnomalyCase
from timevista_hf.detection import LONGEST_TEXT, Detection, DetectionQuestion
from timevista_hf.judges import Reply, Request, Store
from timevista_hf.judges.mock import MockJudge
from timevista_hf.pipeline import WINDOW, detect_anomalies
from timevista_hf.rendering import AnomalyStyle, describe_anomalies, render_anomalies

STYLE = AnomalyStyle(width=500)
SERVERS = {"openai": openai_answer, "anthropic": anthropic_answer, "gemini": gemini_answer}


def make_case(number=0, **fields):
    values = np.zeros(100)
    values[20 + number % 50] = 9.0
    whole = {"id": f"series {number}", "values": values, "granularity": "point", **fields}
    return AnomalyCase(**whole)


def make_variates(**fields):
    values = np.random.default_rng(7).normal(size=(60, 7))
    return AnomalyCase(id="many", values=values, granularity="variate", variates=(3,), **fields)


def named(anomalies, **fields):
    return Reply(json.dumps({"rationale": "It stands out.", "anomalies": anomalies}), **fields)


class Recorder(MockJudge):
    """A mock judge that remembers what it was asked; step 20 for everything unless told."""

    def __init__(self, answer=lambda request: named([20]), modality="numbers"):
        super().__init__(answer, modality)
        self.asked = []

    def ask(self, requests):
        for request in requests:
            self.asked.append(request)
            yield from super().ask([request])


def detect(cases, judge=None, **options):
    judge = judge or Recorder()
    return list(detect_anomalies(cases, judge, **{"style": STYLE, **options}))


def one(reply, case=None):
    """The detection that a reply leads to."""
    [entry] = detect([case or make_case()], Recorder(lambda request: reply))
    [detection] = entry.detections
    return detection


def plain(detection):
    held = {field.name: getattr(detection, field.name) for field in fields(Detection)}
    return {**held, "events": held["events"].tolist()}


def test_a_detection_carries_the_case_the_question_and_what_made_it():
    case = make_case(id="a", subset="sine-global", events=[(20, 21)])
    reply = named([20, 20], options={"seed": 1}, input_tokens=700, output_tokens=40)
    assert plain(one(reply, case)) == {
        "case_id": "a",
        "subset": "sine-global",
        "granularity": "point",
        "steps": 100,
        "num_variates": 1,
        "question": "detect_point@1.0",
        "judge": "mock",
        "status": "ok",
        "events": [[20, 21]],
        "variates": (),
        "rationale": "It stands out.",
        "repairs": ("entries that stand twice count once",),
        "rejected": 0,
        "hallucinated_run": False,
        "reason": "",
        "text": reply.text,
        "run": 0,
        "options": '{"seed": 1}',
        "render": "",
        "version": __version__,
        "input_tokens": 700,
        "output_tokens": 40,
    }


def test_variates_are_asked_for_and_kept():
    detection = one(named([3, 7]), make_variates())
    assert (detection.variates, detection.rejected, detection.num_variates) == ((3,), 1, 7)


def test_cases_come_in_their_order_whatever_that_of_the_answers():
    class Backwards(Recorder):
        def ask(self, requests):
            for request in reversed(list(requests)):
                yield request, named([int(np.argmax(request.case.values))])

    cases = [make_case(number) for number in range(WINDOW + 3)]
    found = detect(cases, Backwards())
    assert [entry.case for entry in found] == cases
    steps = [entry.detections[0].events[0, 0] for entry in found]
    assert steps == [20 + number % 50 for number in range(len(cases))]


FAILURES = {
    "refused": Reply("", "refused", reason="the model declined"),
    "truncated": Reply('{"rationale": "x", "anomalies": [3, 5, ', "truncated", reason="9 tokens"),
    "error": Reply("", "error", reason="HTTP 500"),
    "unparsable": Reply("I cannot tell."),
}


@pytest.mark.parametrize("status", FAILURES)
def test_a_failed_detection_has_its_status_and_names_nothing(status):
    detection = one(FAILURES[status])
    assert (detection.status, detection.events.size, detection.says_none) == (status, 0, False)
    assert detection.reason
    assert detection.text == FAILURES[status].text


def test_an_empty_answer_says_that_there_is_none():
    assert one(named([])).says_none


def test_an_answer_outside_the_series_does_not_say_that_there_is_none():
    detection = one(named([100]))
    assert (detection.status, detection.says_none, detection.rejected) == ("ok", False, 1)


def test_a_run_that_was_cut_off_is_recognised_and_names_nothing():
    counted = "[" + ", ".join(map(str, range(2000)))
    detection = one(Reply(counted, "truncated", reason="1024 tokens"))
    assert (detection.status, detection.hallucinated_run) == ("truncated", True)
    assert detection.events.size == 0


def test_of_a_long_reply_the_start_is_kept():
    assert len(one(Reply("x" * 50_000)).text) == LONGEST_TEXT


def test_of_a_reply_that_thinks_at_length_the_answer_is_kept():
    thoughts, answer = f"<think>{'[1] ' * 20_000}</think>", '{"rationale": "r", "anomalies": [3]}'
    long, short = one(Reply(thoughts + answer)), one(Reply(f"<think>[1]</think>{answer}"))
    assert long.text == answer
    assert short.text == f"<think>[1]</think>{answer}"
    assert long.events.tolist() == short.events.tolist() == [[3, 4]]


def test_half_an_emoji_in_a_reply_can_be_written():
    detection = one(Reply('{"rationale": "\\ud83d", "anomalies": []}' + "\ud83d"))
    assert (detection.rationale + detection.text).encode("utf-8")


def test_every_run_asks_anew():
    judge = Recorder()
    [entry] = detect([make_case()], judge, runs=3)
    assert [detection.run for detection in entry.detections] == [0, 1, 2]
    assert len(judge.asked) == 3


def test_equal_series_are_asked_about_once_and_each_has_its_detection():
    judge = Recorder()
    found = detect([make_case(id="a"), make_case(id="b")], judge)
    assert len(judge.asked) == 1
    assert [entry.detections[0].case_id for entry in found] == ["a", "b"]


def test_neither_name_nor_truth_is_in_what_is_asked():
    told = {"id": "secret name", "subset": "secret subset"}
    plain_case, labelled = make_case(), make_case(events=[(20, 21)], **told)
    for modality in ("vision", "text"):
        judges = Recorder(modality=modality), Recorder(modality=modality)
        for judge, case in zip(judges, (plain_case, labelled), strict=True):
            detect([case], judge)
        [[bare], [full]] = judges[0].asked, judges[1].asked
        assert (bare.prompt, bare.image) == (full.prompt, full.image)
        assert "secret" not in full.prompt + full.question.system_prompt


def test_a_judge_that_looks_is_shown_the_plot_and_its_style_is_kept():
    judge = Recorder(modality="vision")
    [entry] = detect([make_case()], judge)
    assert judge.asked[0].image == entry.image == render_anomalies(make_case(), STYLE)
    assert entry.detections[0].render == STYLE.fingerprint


def test_a_judge_that_reads_is_given_the_numbers_and_no_plot():
    judge = Recorder(modality="text")
    [entry] = detect([make_case()], judge)
    assert describe_anomalies(make_case()) in judge.asked[0].prompt
    assert (entry.image, entry.detections[0].render) == (None, "")


@pytest.mark.parametrize(
    ("grid", "said"),
    [("near_square", "3 rows and 3 columns"), ("paper_code", "2 rows and 4 columns")],
)
def test_the_prompt_names_the_grid_that_is_drawn(grid, said):
    judge = Recorder(modality="vision")
    detect([make_variates()], judge, style=AnomalyStyle(grid=grid))
    assert said in judge.asked[0].prompt


def test_the_example_of_the_prompt_can_be_chosen():
    judge = Recorder()
    [entry] = detect([make_case()], judge, example="paper")
    assert "[2, 51, 106]" in judge.asked[0].prompt
    assert entry.detections[0].question == "detect_point_example_paper@1.0"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"runs": 0}, "`runs` must be at least 1"),
        ({"example": "papers"}, "did you mean 'paper'"),
        ({"style": AnomalyStyle(marks=True)}, "shows the truth"),
    ],
)
def test_a_run_that_cannot_be_is_refused_before_the_first_case(options, message):
    with pytest.raises(ValueError, match=message):
        detect_anomalies(iter(()), Recorder(), **options)


# The store.


def test_a_second_run_asks_nothing_and_finds_the_same(tmp_path):
    cases = [make_case(number) for number in range(3)]
    with Store(tmp_path / "s.sqlite") as store:
        first, again = detect(cases, store=store), Recorder()
        second = detect(cases, again, store=store)
    assert (again.asked, [entry.reused for entry in second]) == ([], [1, 1, 1])
    found = [[plain(entry.detections[0]) for entry in run] for run in (first, second)]
    assert found[0] == found[1]


@pytest.mark.parametrize("status", FAILURES)
def test_a_failure_is_asked_again(status, tmp_path):
    with Store(tmp_path / "s.sqlite") as store:
        detect([make_case()], Recorder(lambda request: FAILURES[status]), store=store)
        again = Recorder()
        detect([make_case()], again, store=store)
    assert len(again.asked) == 1


def make_request(case, question=None, **fields):
    question = question or DetectionQuestion("point", case.steps)
    return Request(case, question, question.prompt(), **fields)


def key(case, question=None, **fields):
    return make_request(case, question, **fields).key({"judge": "m"})


def test_without_a_picture_other_values_have_another_key():
    assert key(make_case(1)) != key(make_case(2))


def test_labels_that_no_judge_is_told_do_not_change_the_key():
    assert key(make_case(1)) == key(make_case(1, id="b", subset="s", events=[(3, 4)]))


def test_other_questions_about_a_series_have_other_keys():
    asked = [
        DetectionQuestion("point", 100),
        DetectionQuestion("range", 100),
        DetectionQuestion("point", 100, example="none"),
    ]
    assert len({key(make_case(), question) for question in asked}) == 3


# Judges.


@pytest.mark.parametrize(
    ("case", "events", "variates"),
    [
        (make_case(), [[50, 51]], ()),
        (make_case(granularity="range"), [[50, 61]], ()),
        (make_variates(), [], (3,)),
    ],
)
def test_the_mock_judge_names_the_middle(case, events, variates):
    [entry] = detect([case], MockJudge())
    [detection] = entry.detections
    assert (detection.events.tolist(), detection.variates) == (events, variates)
    assert (detection.status, detection.repairs) == ("ok", ())


@pytest.mark.parametrize("family", SERVERS)
def test_a_hosted_model_is_asked_once_for_each_series_and_never_again(
    family, monkeypatch, tmp_path
):
    said = SERVERS[family](named([21, 300]).text)
    cases = [make_case(number) for number in range(3)]
    with FakeServer(lambda call: Answer(said)) as server, Store(tmp_path / "s.sqlite") as store:
        for _ in range(2):
            found = detect(cases, connect(monkeypatch, server, family), store=store)
    assert len(server.calls) == 3
    for entry in found:
        [detection] = entry.detections
        assert (detection.events.tolist(), detection.rejected) == ([[21, 22]], 1)
        assert (detection.input_tokens, detection.output_tokens) == (700, 40)


@pytest.mark.parametrize("family", SERVERS)
def test_a_hosted_model_is_told_the_form_of_the_answer(family, monkeypatch):
    with FakeServer(lambda call: Answer(SERVERS[family](named([]).text))) as server:
        detect([make_case(granularity="range")], connect(monkeypatch, server, family))
    schema = DetectionQuestion("range", 100).reply_schema
    assert json.dumps(schema["properties"]) in json.dumps(server.calls[0].body)


def test_no_probabilities_are_asked_for_where_there_is_no_score(monkeypatch):
    said = openai_answer(named([20]).text, logprobs=probable_verdict())
    with FakeServer(lambda call: Answer(said)) as server:
        [entry] = detect([make_case()], connect(monkeypatch, server, logprobs=True))
    assert "logprobs" not in server.calls[0].body
    assert json.loads(entry.detections[0].options)["top_logprobs"] == 0


@pytest.mark.parametrize(
    ("stop", "status"), [("length", "truncated"), ("content_filter", "refused")]
)
def test_a_hosted_model_that_was_stopped_has_that_status(stop, status, monkeypatch):
    said = openai_answer('{"rationale": "x", "anomalies": [3, ', stop=stop)
    with FakeServer(lambda call: Answer(said)) as server:
        [entry] = detect([make_case()], connect(monkeypatch, server))
    assert (entry.detections[0].status, entry.detections[0].events.size) == (status, 0)


def local_judge(folder, **options):
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    from tiny_vlm import save_tiny_vlm

    from timevista_hf.judges import JudgeOptions
    from timevista_hf.judges.transformers import TransformersJudge

    return TransformersJudge(str(save_tiny_vlm(folder)), JudgeOptions(**options))


class Written:
    """Makes the model write a text instead of what it would."""

    def __init__(self, judge, text):
        self.tokens = judge._checkpoint.spell(text)
        self.original, judge._checkpoint.generate = judge._checkpoint.generate, self.generate

    def generate(self, context, *, most, **controls):
        self.start = context.ids.shape[1]
        return self.original(context, most=most, logits_processor=[self], **controls)

    def __call__(self, ids, scores):
        forced = scores * 0.0
        forced[:, self.tokens[min(ids.shape[1] - self.start, len(self.tokens) - 1)]] = 1.0
        return forced


@pytest.mark.parametrize(
    ("rationale", "text"),
    [(True, 'It stands out.", "anomalies": [20, 3]}'), (False, " [20, 3]}")],
)
def test_a_local_model_writes_its_answer_in_full(rationale, text, tmp_path):
    judge = local_judge(tmp_path, rationale=rationale, max_tokens=100)
    Written(judge, text + " and more")
    found = detect([make_case(0), make_case(1)], judge)
    for entry in found:
        [detection] = entry.detections
        assert (detection.status, detection.events.tolist()) == ("ok", [[3, 4], [20, 21]])
        assert detection.rationale == ("It stands out." if rationale else "")
        assert json.loads(detection.options)["mode"] == "whole answer"
        assert "more" not in detection.text


def test_a_local_model_that_does_not_end_its_answer_is_cut_off(tmp_path):
    judge = local_judge(tmp_path, max_tokens=6)
    Written(judge, "On and on and on and on and on and on")
    [entry] = detect([make_case()], judge)
    [detection] = entry.detections
    assert (detection.status, detection.output_tokens) == ("truncated", 6)
    assert "6 tokens (`max_tokens`)" in detection.reason


def test_a_local_model_answers_questions_with_a_score_and_without_in_one_call(tmp_path):
    from timevista_hf.cases import ForecastCase
    from timevista_hf.rubrics import load_rubric

    judge = local_judge(tmp_path, max_tokens=6)
    image = render_anomalies(make_case(), STYLE)
    forecast = ForecastCase(id="f", history=[1, 2], truth=[3, 4], prediction=[3, 4])
    scored = Request(forecast, load_rubric("trend"), "How is the trend?", image)
    found = replace(make_request(make_case()), image=image)
    replies = dict(judge.ask([scored, found]))
    assert replies[scored].expected_score is not None
    assert (replies[found].status, replies[found].expected_score) == ("truncated", None)
