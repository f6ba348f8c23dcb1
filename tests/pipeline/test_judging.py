"""From cases to judgments: what is asked, what is kept, and what a killed run loses."""

import gc
import json
import runpy
import subprocess
import sys
import time
import weakref
from collections import Counter
from dataclasses import asdict, replace

import numpy as np
import pytest

from timevista_hf import __version__
from timevista_hf.cases import ForecastCase
from timevista_hf.constraints import load_constraint
from timevista_hf.judges import Reply, Store, load_judge
from timevista_hf.judges.mock import MockJudge
from timevista_hf.pipeline import WINDOW, judge_cases
from timevista_hf.rendering import Style, describe_case, render_case
from timevista_hf.rubrics import load_rubric, select_rubrics

RUBRICS = [load_rubric("trend"), load_rubric("phase")]
STYLE = Style(width=600, height=400)
PNG = b"\x89PNG\r\n\x1a\n"


def make_case(number=0, **fields):
    numbers = {"history": [1, 2, 3], "truth": [4, 5], "prediction": [4, number]}
    return ForecastCase(**{"id": f"series {number}", **numbers, **fields})


def make_cases(count):
    return [make_case(number) for number in range(count)]


def scored(score, **fields):
    return Reply(text=json.dumps({"rationale": f"a {score}", "score": score}), **fields)


class Recorder(MockJudge):
    """A mock judge that remembers what it was asked; three for everything unless told."""

    def __init__(self, answer=lambda request: scored(3), modality="numbers"):
        super().__init__(answer, modality)
        self.asked = []

    def ask(self, requests):
        for request in requests:
            self.asked.append(request)
            yield from super().ask([request])


def judge(cases, judge=None, rubrics=RUBRICS, **options):
    return list(judge_cases(cases, rubrics, judge or Recorder(), style=STYLE, **options))


def statuses(judged):
    return [judgment.status for entry in judged for judgment in entry.judgments]


def one(reply, **options):
    """The judgment that a reply leads to."""
    [entry] = judge([make_case()], Recorder(lambda request: reply), RUBRICS[:1], **options)
    return entry.judgments[0]


def test_cases_come_in_their_order_and_judgments_in_that_of_the_rubrics():
    cases = make_cases(WINDOW + 3)
    said = [
        (judgment.case_id, judgment.dimension)
        for entry in judge(cases)
        for judgment in entry.judgments
    ]
    assert said == [(case.id, name) for case in cases for name in ("trend", "phase")]


class Backwards(Recorder):
    def ask(self, requests):
        for request in reversed(list(requests)):
            yield request, scored(1 + int(request.case.prediction[1]) % 5)


def test_a_judge_that_answers_out_of_order_gives_each_case_its_own_answer():
    cases = make_cases(WINDOW + 3)
    scores = [entry.judgments[1].score for entry in judge(cases, Backwards())]
    assert scores == [1 + number % 5 for number in range(len(cases))]


def test_a_judgment_carries_the_case_the_rubric_and_what_made_it():
    case = make_case(id="a", cutoff="2024", model="ets", dataset="mine", unit="kW")
    reply = scored(4, expected_score=3.75, options={"seed": 1, "base": "x"})
    [entry] = judge([case], Recorder(lambda request: reply), RUBRICS[:1])
    assert asdict(entry.judgments[0]) == {
        "case_id": "a",
        "cutoff": "2024",
        "model": "ets",
        "dataset": "mine",
        "level": "micro",
        "dimension": "trend",
        "rubric": RUBRICS[0].identity,
        "judge": "mock",
        "status": "ok",
        "score": 4,
        "expected_score": 3.75,
        "rationale": "a 4",
        "run": 0,
        "mass": None,
        "breaches": (),
        "reason": "",
        "options": '{"base": "x", "seed": 1}',
        "render": "",
        "version": __version__,
        "input_tokens": 0,
        "output_tokens": 0,
    }


def test_a_rubric_that_is_written_for_a_dataset_names_it():
    [entry] = judge([make_case(dataset="my_solar")], rubrics=[load_rubric("solar")])
    assert entry.judgments[0].dataset == "solar"


FAILURES = {
    "refused": Reply(text="", status="refused", reason="the model declined"),
    "truncated": Reply(text='{"rationale": "it', status="truncated", reason="512 tokens"),
    "error": Reply(text="", status="error", reason="HTTP 500"),
    "unparsable": Reply(text="I give it a 4."),
}


@pytest.mark.parametrize("status", FAILURES)
def test_a_failed_judgment_has_its_status_and_no_score(status):
    judgment = one(replace(FAILURES[status], expected_score=2.0))
    found = (judgment.status, judgment.score, judgment.expected_score, judgment.rationale)
    assert found == (status, None, None, "")


@pytest.mark.parametrize("status", ["refused", "truncated", "error"])
def test_a_failed_judgment_gives_the_judges_reason(status):
    assert one(FAILURES[status]).reason == FAILURES[status].reason


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("I give it a 4.", "holds no JSON object: 'I give it a 4.'"),
        ('{"rationale": "r", "score": 6}', "`score` must be an integer from 1 to 5, got 6"),
        ('{"rationale": "r", "score": 4.5}', "`score` must be an integer from 1 to 5, got 4.5"),
        ('<think>{"rationale": "r", "score": 4}', "no JSON object beside the model's thoughts: ''"),
        ('{"score": 4}', "`rationale` must be a text, got None"),
    ],
)
def test_an_unparsable_reply_gives_the_rule_that_it_breaks_and_what_it_said(text, reason):
    judgment = one(Reply(text=text))
    assert judgment.status == "unparsable"
    assert reason in judgment.reason


@pytest.mark.parametrize("status", ["refused", "truncated", "error"])
def test_a_score_in_a_reply_that_failed_is_not_read(status):
    assert one(replace(scored(5), status=status)).score is None


def test_what_the_judge_really_used_is_recorded_for_failures_too():
    assert one(replace(FAILURES["error"], options={"seed": 1})).options == '{"seed": 1}'


def test_text_that_no_file_can_hold_becomes_a_question_mark():
    said = [
        one(Reply(text='{"rationale": "up \\ud83d", "score": 4}')).rationale,
        one(Reply(text="", status="error", reason="up \ud83d")).reason,
    ]
    assert said == ["up ?", "up ?"]


def test_breaches_of_the_rubric_are_recorded_whatever_the_judge_says():
    floor = {"rule": "minimum", "value": 0, "cap": 2, "why": "a count"}
    strict = replace(RUBRICS[0], constraints=(load_constraint(floor, place="mine"),))
    [entry] = judge([make_case(-3)], Recorder(lambda request: scored(5)), [strict, *RUBRICS])
    assert [(j.score, len(j.breaches)) for j in entry.judgments] == [(5, 1), (5, 0), (5, 0)]


@pytest.mark.parametrize("status", FAILURES)
def test_breaches_are_recorded_for_failed_judgments(status):
    floor = {"rule": "minimum", "value": 0, "cap": 2, "why": "a count"}
    strict = replace(RUBRICS[0], constraints=(load_constraint(floor, place="mine"),))
    [entry] = judge([make_case(-3)], Recorder(lambda request: FAILURES[status]), [strict])
    assert "falls to -3 at step 2" in entry.judgments[0].breaches[0]


def test_a_vision_judge_is_shown_the_plot_of_the_case():
    recorder = Recorder(modality="vision")
    [entry] = judge([make_case()], recorder)
    images = [entry.image, *(request.image for request in recorder.asked)]
    assert images == [render_case(make_case(), STYLE)] * 3
    assert images[0].startswith(PNG)


def test_a_vision_judge_is_asked_about_the_plot_and_told_no_number():
    recorder = Recorder(modality="vision")
    judge([make_case(prediction=[4, 987.25])], recorder)
    assert [request.prompt for request in recorder.asked] == [r.prompt() for r in RUBRICS]
    assert not any("987" in request.prompt for request in recorder.asked)


def test_the_fingerprint_of_the_picture_is_recorded_where_one_was_shown():
    [seen], [told] = (judge([make_case()], Recorder(modality=m)) for m in ("vision", "text"))
    renders = [seen.judgments[0].render, told.judgments[0].render]
    assert renders == [STYLE.fingerprint, ""]


def test_a_text_judge_reads_the_numbers_and_gets_no_image():
    recorder, case = Recorder(modality="text"), make_case(prediction=[4, 987.25])
    [entry] = judge([case], recorder)
    assert describe_case(case) in recorder.asked[0].prompt
    assert (recorder.asked[0].image, entry.image) == (None, None)


def test_a_text_judge_reads_as_much_history_as_the_plot_shows():
    recorder = Recorder(modality="text")
    list(judge_cases([make_case()], RUBRICS, recorder, style=Style(context=2)))
    assert "History (steps -1 to 0): 2, 3\n" in recorder.asked[0].prompt


def test_a_judge_that_measures_gets_the_case_itself_and_no_image():
    recorder, case = Recorder(), make_case()
    judge([case], recorder)
    assert recorder.asked[0].case is case
    assert recorder.asked[0].image is None


@pytest.mark.parametrize("modality", ["vision", "text", "numbers"])
def test_no_name_of_a_case_enters_a_prompt(modality):
    names = {name: f"<{name}>" for name in ("id", "model", "cutoff", "dataset", "unit", "freq")}
    recorder = Recorder(modality=modality)
    judge([make_case(**names)], recorder, select_rubrics("micro"))
    prompts = [request.prompt + request.question.system_prompt for request in recorder.asked]
    assert len(prompts) == 5
    assert not [name for name in names.values() if any(name in prompt for prompt in prompts)]


def test_no_name_of_a_case_enters_its_picture():
    pictures = [
        judge([make_case(**names)], Recorder(modality="vision"))[0].image
        for names in ({}, {"id": "other", "model": "other", "unit": "kW", "dataset": "other"})
    ]
    assert pictures[0] == pictures[1]


def test_rubrics_may_differ_from_case_to_case():
    def rubrics_for(case):
        return RUBRICS[:1] if case.id == "series 0" else RUBRICS

    assert [len(entry.judgments) for entry in judge(make_cases(3), rubrics=rubrics_for)] == [
        1,
        2,
        2,
    ]


@pytest.mark.parametrize("rubrics", [[], lambda case: []])
def test_a_case_without_rubrics_is_refused_by_its_name(rubrics):
    with pytest.raises(ValueError, match=r"'series 0'.*: at least one rubric is needed"):
        judge([make_case()], rubrics=rubrics)


def test_no_cases_give_no_judgments_and_ask_nothing():
    recorder = Recorder()
    assert (judge([], recorder), recorder.asked) == ([], [])


def test_cases_are_taken_at_most_a_window_ahead():
    taken = []

    def endless():
        while True:
            taken.append(len(taken))
            yield make_case(len(taken))

    stream, ahead = judge_cases(endless(), RUBRICS, Recorder()), []
    for given in range(3 * WINDOW):
        next(stream)
        ahead.append(len(taken) - given)
    assert max(ahead) == WINDOW


def test_nothing_is_taken_or_asked_before_the_first_is_wanted():
    taken, recorder = [], Recorder()
    judge_cases((taken.append(case) for case in make_cases(2)), RUBRICS, recorder)
    assert (taken, recorder.asked) == ([], [])


def test_cases_that_were_given_back_are_let_go():
    alive, most = weakref.WeakSet(), 0

    def watched():
        for number in range(5 * WINDOW):
            case = make_case(number)
            alive.add(case)
            yield case

    for _ in judge_cases(watched(), RUBRICS, MockJudge(modality="numbers")):
        gc.collect(0)
        most = max(most, len(alive))
    # The window at hand and the one before it, which its last entry still holds.
    assert most <= 2 * WINDOW


@pytest.fixture
def store(tmp_path):
    with Store(tmp_path / "judgments.sqlite") as opened:
        yield opened


def test_the_first_answer_is_kept_in_an_empty_store(store):
    judge([make_case()], rubrics=RUBRICS[:1], store=store)
    assert len(store) == 1


def test_a_second_run_asks_nothing(store):
    judge(make_cases(WINDOW + 3), store=store)
    again = Recorder()
    judge(make_cases(WINDOW + 3), again, store=store)
    assert again.asked == []


@pytest.mark.parametrize("modality", ["vision", "text", "numbers"])
def test_a_second_run_gives_the_same_judgments(store, modality):
    reply = scored(4, expected_score=3.6, options={"seed": 1})
    runs = [
        judge([make_case()], Recorder(lambda request: reply, modality), store=store)
        for _ in range(2)
    ]
    assert runs[0][0].judgments == runs[1][0].judgments


def test_a_case_says_how_many_of_its_judgments_came_from_the_store(store):
    judge(make_cases(2), rubrics=RUBRICS[:1], store=store)
    assert [entry.reused for entry in judge(make_cases(3), store=store)] == [1, 1, 0]


def test_without_a_store_everything_is_asked_in_every_run():
    recorder = Recorder()
    for _ in range(2):
        judge(make_cases(2), recorder)
    assert len(recorder.asked) == 8


@pytest.mark.parametrize("status", FAILURES)
def test_a_failure_is_never_kept_and_is_asked_again(store, status):
    failing = Recorder(lambda request: FAILURES[status])
    assert statuses(judge(make_cases(2), failing, store=store)) == [status] * 4
    assert len(store) == 0
    assert statuses(judge(make_cases(2), store=store)) == ["ok"] * 4


def test_only_what_failed_is_asked_again(store):
    def answer(request):
        return FAILURES["error"] if request.question.name == "phase" else scored(3)

    judge(make_cases(2), Recorder(answer), store=store)
    again = Recorder()
    judge(make_cases(2), again, store=store)
    assert [(r.case.id, r.question.name) for r in again.asked] == [
        ("series 0", "phase"),
        ("series 1", "phase"),
    ]


def test_a_kept_reply_that_can_no_longer_be_parsed_is_asked_again_and_replaced(store):
    recorder = Recorder()
    judge([make_case()], recorder, RUBRICS[:1], store=store)
    key = recorder.asked[0].key(recorder.identity)
    store.put(key, Reply(text="of an older grammar"))
    [entry] = judge([make_case()], rubrics=RUBRICS[:1], store=store)
    assert (entry.judgments[0].status, entry.reused) == ("ok", 0)
    assert store.get([key]) == {key: scored(3)}


def test_an_answer_is_kept_before_the_next_question_is_taken(store):
    kept = []

    class Watching(Recorder):
        def ask(self, requests):
            for request in requests:
                kept.append(len(store))
                yield request, scored(3)

    judge(make_cases(3), Watching(), store=store)
    assert kept == list(range(6))


def test_what_was_answered_is_kept_when_the_judge_breaks_off(store):
    class Breaking(Recorder):
        def ask(self, requests):
            yield from list(super().ask(requests))[:5]
            raise RuntimeError("the connection is gone")

    with pytest.raises(RuntimeError, match="connection is gone"):
        judge(make_cases(4), Breaking(), store=store)
    again = Recorder()
    judge(make_cases(4), again, store=store)
    assert len(again.asked) == 3


def test_models_with_equal_forecasts_are_asked_about_once(store):
    recorder = Recorder(lambda request: scored(2))
    cases = [make_case(model=model) for model in ("ets", "naive", "mean")]
    judged = judge(cases, recorder, store=store)
    assert [request.question.name for request in recorder.asked] == ["trend", "phase"]
    assert [(j.model, j.score) for entry in judged for j in entry.judgments] == [
        (model, 2) for model in ("ets", "naive", "mean") for _ in RUBRICS
    ]


def test_an_edited_rubric_is_asked_anew(store):
    judge([make_case()], rubrics=RUBRICS[:1], store=store)
    recorder = Recorder()
    edited = replace(RUBRICS[0], body=RUBRICS[0].body + " Look twice.")
    judge([make_case()], recorder, [edited], store=store)
    assert len(recorder.asked) == 1


def test_another_style_is_asked_anew_by_a_judge_that_looks(store):
    for style in (STYLE, Style(width=601, height=400)):
        recorder = Recorder(modality="vision")
        list(judge_cases([make_case()], RUBRICS, recorder, store=store, style=style))
        assert len(recorder.asked) == 2


def test_another_season_is_asked_anew_by_the_judge_that_measures_it(store):
    wave = np.sin(np.arange(96) * 2 * np.pi / 12)
    fields = {"history": wave[:72], "truth": wave[72:], "prediction": wave[70:94]}
    for season_length in (12, 24):
        case = make_case(**fields, season_length=season_length)
        [entry] = judge([case], load_judge("builtin"), store=store)
        assert entry.reused == 0


SCRIPT = """
import json
import sys
import time
from dataclasses import asdict

from timevista_hf.cases import ForecastCase
from timevista_hf.judges import Reply, Store
from timevista_hf.judges.mock import MockJudge
from timevista_hf.pipeline import judge_cases
from timevista_hf.rubrics import load_rubric


def run(store, log, pause):
    def answer(request):
        key = request.key(judge.identity)
        score = 1 + int(key, 16) % 5
        with open(log, "a") as file:
            file.write(key + "\\n")
        time.sleep(pause)
        return Reply(text=json.dumps({"rationale": key, "score": score}), expected_score=score / 3)

    judge = MockJudge(answer, "numbers")
    rubrics = [load_rubric(name) for name in ("trend", "motif", "phase")]
    cases = [
        ForecastCase(id=str(n), history=[1, 2], truth=[3, 4], prediction=[3, n]) for n in range(100)
    ]
    with Store(store) as opened:
        judged = list(judge_cases(cases, rubrics, judge, store=opened))
    return [asdict(judgment) for entry in judged for judgment in entry.judgments]


if __name__ == "__main__":
    store, log, result = sys.argv[1:]
    with open(result, "w") as file:
        json.dump(run(store, log, pause=0.005), file)
"""


def lines(path):
    return path.read_text().splitlines() if path.exists() else []


def kill_after(count, log, command):
    """Start a process and kill it when it has logged so many answers more."""
    count += len(lines(log))
    process = subprocess.Popen(command)
    deadline = time.monotonic() + 60
    while len(lines(log)) < count:
        assert process.poll() is None, "the run ended before it could be killed"
        assert time.monotonic() < deadline, "the run does not come forward"
        time.sleep(0.005)
    process.kill()
    process.wait()


def stored(path, keys):
    with Store(path) as opened:
        return set(opened.get(sorted(keys)))


def test_a_run_that_is_killed_twice_loses_at_most_the_answer_on_its_way_to_the_store(tmp_path):
    script, log, result = tmp_path / "judge.py", tmp_path / "log", tmp_path / "result.json"
    script.write_text(SCRIPT)
    command = [sys.executable, script, tmp_path / "store.sqlite", log, result]
    lost = 0
    for kill in (1, 2):
        before = len(lines(log))
        kill_after(60, log, command)
        answered = lines(log)
        kept = stored(command[2], set(answered))
        assert before < len(kept) < 300
        assert len(set(answered) - kept) <= 1  # the one on its way when this kill came
        lost += len(set(answered) - kept)
        assert len(answered) - len(kept) == lost <= kill
    subprocess.run(command, check=True, timeout=60)

    asked = Counter(lines(log))
    assert len(asked) == 300
    assert sum(asked.values()) - 300 == lost
    whole = runpy.run_path(str(script))["run"](":memory:", tmp_path / "other log", pause=0)
    assert json.loads(result.read_text()) == json.loads(json.dumps(whole))


def test_a_panel_judges_every_case_one_judge_after_another():
    first, second = Recorder(lambda request: scored(2)), Recorder(lambda request: scored(4))
    cases = make_cases(WINDOW + 3)
    judged = judge(cases, [first, second])
    assert [entry.case for entry in judged] == cases
    assert [judgment.score for judgment in judged[-1].judgments] == [2, 2, 4, 4]


def test_independent_runs_are_asked_anew_and_kept_apart(tmp_path):
    recorder = Recorder(lambda request: scored(2 + request.run))
    with Store(tmp_path / "store.sqlite") as store:
        [entry] = judge([make_case()], recorder, RUBRICS[:1], runs=3, store=store)
        [again] = judge([make_case()], recorder, RUBRICS[:1], runs=3, store=store)
    assert [(j.run, j.score) for j in entry.judgments] == [(0, 2), (1, 3), (2, 4)]
    assert (len(recorder.asked), again.reused) == (3, 3)


def test_no_run_at_all_is_refused():
    with pytest.raises(ValueError, match="`runs` must be at least 1, got 0"):
        judge([make_case()], runs=0)


def joint_reply(**scores):
    return json.dumps({name: {"rationale": name, "score": value} for name, value in scores.items()})


def test_a_joint_question_is_asked_once_and_answers_every_rubric():
    reply = Reply(text=joint_reply(phase=2, trend=5), input_tokens=7, output_tokens=3)
    recorder = Recorder(lambda request: reply, modality="text")
    [entry] = judge([make_case()], recorder, joint=True)
    assert len(recorder.asked) == 1
    found = {judgment.dimension: judgment.score for judgment in entry.judgments}
    assert found == {"trend": 5, "phase": 2}
    assert [judgment.rubric for judgment in entry.judgments] == [r.identity for r in RUBRICS]
    assert sum(judgment.input_tokens for judgment in entry.judgments) == 7


def test_a_joint_reply_that_lacks_a_dimension_scores_none():
    reply = Reply(text=joint_reply(trend=5))
    [entry] = judge([make_case()], Recorder(lambda request: reply, modality="text"), joint=True)
    assert statuses([entry]) == ["unparsable", "unparsable"]
    assert "must hold trend, phase" in entry.judgments[0].reason


def test_a_joint_answer_is_reused_for_all_its_rubrics(tmp_path):
    reply = Reply(text=joint_reply(trend=5, phase=2))
    recorder = Recorder(lambda request: reply, modality="text")
    with Store(tmp_path / "store.sqlite") as store:
        judge([make_case()], recorder, joint=True, store=store)
        [again] = judge([make_case()], recorder, joint=True, store=store)
    assert (len(recorder.asked), again.reused) == (1, 2)


def test_a_judge_that_measures_is_asked_no_joint_question():
    with pytest.raises(ValueError, match="a judge that measures is asked one rubric at a time"):
        judge([make_case()], load_judge("builtin"), joint=True)
