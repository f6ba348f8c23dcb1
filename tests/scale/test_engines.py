"""The pipeline on Ray: what one process gives, in the same order, from a pool of actors."""

import importlib.util
import json
import os
import subprocess
import sys

import pytest

from timevista_hf.judges import load_judge
from timevista_hf.scale import engines
from timevista_hf.scale.engines import Pool, judge_with_ray, render_with_ray

needs_ray = pytest.mark.skipif(
    importlib.util.find_spec("ray") is None,
    reason="Ray is not installed; pip install 'timevista-hf[ray]'",
)

# Ray opens sockets and warns in its own ways, so it runs in a process of its own, once.
SCRIPT = '''
import json, os, sys, time
from pathlib import Path

import ray

from timevista_hf import (
    ForecastCase, Store, Style, judge_cases, load_judge, render_case, select_rubrics
)
from timevista_hf.scale.engines import Pool, judge_with_ray, render_with_ray
from timevista_hf.judges.mock import MockJudge
from timevista_hf.judges import Reply

folder, said = Path(sys.argv[1]), {}
cases = [
    ForecastCase(id=str(n), history=[1, 2, 3, 2], truth=[4, 5, 3], prediction=[4, n, n % 7])
    for n in range(50)
]
few, rubrics, style = cases[:5], select_rubrics("micro"), Style(width=600, height=400)


def plain(entries):
    return [(e.case.id, e.judgments, e.image, e.reused) for e in entries]


def message(run):
    try:
        list(run())
    except ValueError as error:
        return str(error)


class Slow(MockJudge):
    """Slow on the first cases, so that others are done before; it notes where it is copied to."""

    def __init__(self):
        super().__init__(self._late, "numbers")

    def __reduce__(self):
        return arrived, ()

    def _late(self, request):
        number = int(request.case.prediction[1])
        time.sleep(0.5 if number < 2 else 0.02)
        return Reply(json.dumps({"rationale": f"case {number}", "score": 1 + number % 5}))


def arrived():
    Path(folder, f"made-{os.getpid()}-{time.time_ns()}").touch()
    return Slow()


def answer(request):
    raise AssertionError("asked again")


builtin, never = load_judge("builtin"), load_judge("builtin")
never.ask = lambda requests: [answer(request) for request in requests]
expected = list(judge_cases(cases, rubrics, builtin))
store = Store(folder / "answers.sqlite")
judged = list(judge_with_ray(iter(cases), rubrics, builtin, store=store))
said["equal"] = plain(judged) == plain(expected)
said["read-only"] = not any(e.case.truth.flags.writeable for e in judged)
said["left running"] = ray.is_initialized()
said["stored"] = len(store)

ray.init(num_cpus=2, logging_level="WARNING")
again = list(judge_with_ray(cases, rubrics, never, store=store, pool=Pool(actors=1)))
said["again"] = [e.judgments for e in again] == [e.judgments for e in expected]
said["reused"] = sum(e.reused for e in again)

pool = Pool(actors=2, num_cpus=1, batch_size=2)
slow = list(judge_with_ray(cases[:16], rubrics[:1], Slow(), pool=pool))
said["order"] = [(e.case.id, e.judgments[0].score) for e in slow]
said["made"] = len(list(folder.glob("made-*")))

shown = dict(style=style, runs=2)
by_case = lambda case: rubrics[: 1 + int(case.id) % 2]
vision = MockJudge(modality="vision")
drawn = list(judge_with_ray(few, by_case, vision, **shown, pool=Pool(batch_size=5)))
said["drawn"] = plain(drawn) == plain(judge_cases(few, by_case, vision, **shown))
images = list(render_with_ray(few, style=style, pool=Pool(batch_size=2)))
said["images"] = [(case.id, png == render_case(case, style)) for case, png in images]

panel, joint = [vision, MockJudge(modality="text")], dict(joint=True)
judged = list(judge_with_ray(few, rubrics, panel, **joint))
said["panel"] = plain(judged) == plain(judge_cases(few, rubrics, panel, **joint))
said["no rubrics"] = message(lambda: judge_with_ray(few, [], builtin))
hosted = load_judge("openai:gpt-5.4")
said["no key"] = message(lambda: judge_with_ray(few, rubrics, hosted))
said["no cases"] = list(judge_with_ray([], rubrics, builtin))
first = judge_with_ray(cases, rubrics, builtin, store=store)
said["first"] = next(first).case.id
first.close()
said["kept running"] = ray.is_initialized()
Path(folder, "said.json").write_text(json.dumps(said))
'''


@pytest.fixture(scope="module")
def said(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ray")
    (folder / "run.py").write_text(SCRIPT)
    done = subprocess.run(
        [sys.executable, folder / "run.py", folder],
        timeout=300,
        check=False,
        capture_output=True,
        text=True,
        env={name: value for name, value in os.environ.items() if name != "OPENAI_API_KEY"},
    )
    assert done.returncode == 0, done.stderr[-5000:]
    return json.loads((folder / "said.json").read_text())


@needs_ray
def test_the_judgments_are_those_of_one_process(said):
    assert said["equal"]


@needs_ray
def test_the_cases_that_come_back_are_read_only(said):
    assert said["read-only"]


@needs_ray
def test_answers_of_all_actors_are_in_one_store_and_none_is_asked_again(said):
    assert said["stored"] == said["reused"] == 50 * 5
    assert said["again"]


@needs_ray
def test_the_order_is_that_of_the_cases_though_later_ones_are_done_first(said):
    assert said["order"] == [[str(number), 1 + number % 5] for number in range(16)]


@needs_ray
def test_each_actor_gets_one_copy_of_the_judge_and_all_cpus_can_be_taken(said):
    assert 1 <= said["made"] <= 2


@needs_ray
def test_pictures_runs_and_rubrics_by_case_are_those_of_one_process(said):
    assert said["drawn"]


@needs_ray
def test_a_panel_that_is_asked_all_in_one_question_judges_as_in_one_process(said):
    assert said["panel"]


@needs_ray
def test_a_case_is_drawn_as_in_one_process(said):
    assert said["images"] == [[str(number), True] for number in range(5)]


@needs_ray
def test_what_a_user_can_mend_is_the_same_error_as_in_one_process(said):
    assert said["no rubrics"].endswith("at least one rubric is needed to judge it")
    assert said["no key"].endswith("set the environment variable OPENAI_API_KEY")


@needs_ray
def test_no_cases_give_no_judgments(said):
    assert said["no cases"] == []


@needs_ray
def test_a_cluster_that_was_started_here_is_ended_and_one_of_the_caller_is_not(said):
    assert (said["left running"], said["first"], said["kept running"]) == (False, "0", True)


@pytest.mark.parametrize(
    "call", [lambda: judge_with_ray([], [], load_judge("mock")), lambda: render_with_ray([])]
)
def test_without_ray_the_error_gives_the_pip_line(monkeypatch, call):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ValueError, match=r"pip install 'timevista-hf\[ray\]'"):
        call()


@pytest.mark.parametrize(
    ("field", "value", "rule"),
    [
        ("actors", 0, "at least 1"),
        ("num_cpus", -0.5, "at least 0"),
        ("num_cpus", float("nan"), "at least 0"),
        ("num_gpus", float("inf"), "at least 0"),
        ("batch_size", 0, "from 1 to 64"),
        ("batch_size", 65, "from 1 to 64"),
    ],
)
def test_a_pool_outside_its_ranges_is_refused(field, value, rule):
    with pytest.raises(ValueError, match=f"`{field}` must be {rule}, got {value}"):
        Pool(**{field: value})


def test_an_actor_that_no_machine_can_hold_is_refused():
    nodes = [{"Resources": {"CPU": 2.0}}, {"Resources": {"CPU": 4.0, "GPU": 1.0}}]
    engines._check_room(nodes, Pool(num_cpus=4, num_gpus=1))
    with pytest.raises(ValueError, match="`num_cpus` is 6 an actor, but no machine"):
        engines._check_room(nodes, Pool(num_cpus=6))
    with pytest.raises(ValueError, match=r"has more than 1$"):
        engines._check_room(nodes, Pool(num_gpus=2))
