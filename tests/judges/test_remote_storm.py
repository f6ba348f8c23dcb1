"""A thousand judgments from a server that fails every third time, by a process that is killed."""

import contextlib
import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

SERVERS = Path(__file__).parents[1] / "servers.py"
CASES, RUBRICS = 200, 5
ALL = CASES * RUBRICS

RUN = """
import sys
from timevista_hf.cases import ForecastCase
from timevista_hf.judges import JudgeOptions, Store, load_judge
from timevista_hf.pipeline import judge_cases
from timevista_hf.rubrics import select_rubrics

cases = [
    ForecastCase(id=str(i), history=[1, 2, 3], truth=[4, 5], prediction=[4, i])
    for i in range(200)
]
options = JudgeOptions(modality="text", attempts=20, concurrency=8)
judge = load_judge("openai:fake", options=options)
judge.backoff = 0.002
with Store(sys.argv[1]) as store:
    for entry in judge_cases(cases, select_rubrics("micro"), judge, store=store):
        for judgment in entry.judgments:
            print(judgment.status, judgment.score, judgment.rationale, entry.reused, flush=True)
"""


@contextlib.contextmanager
def storm(log):
    """Run the server in a process of its own, and give its address."""
    command = [sys.executable, str(SERVERS), "--storm", str(log)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            yield server.stdout.readline().strip()
        finally:
            server.kill()


def start(store, url, output):
    environment = {**os.environ, "OPENAI_API_KEY": "sk-x", "OPENAI_BASE_URL": f"{url}/v1"}
    command = [sys.executable, "-c", RUN, str(store)]
    with output.open("w") as file:
        return subprocess.Popen(command, env=environment, stdout=file)


def kept(store):
    """Give the answers in the store, by the number that each of them bears."""
    if not store.exists():
        return {}
    with contextlib.closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as connection:
        try:
            rows = connection.execute("SELECT key, reply FROM replies").fetchall()
        except sqlite3.OperationalError:  # the table is being made
            return {}
    texts = {key: json.loads(json.loads(reply)["text"]) for key, reply in rows}
    return {int(said["rationale"].split()[1]): key for key, said in texts.items()}


def kill_after(number, process, store, log):
    """Kill the process once the store holds so many answers; give those, and the calls so far."""
    deadline = time.monotonic() + 60
    while len(kept(store)) < number and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL  # it had neither ended nor hung
    return set(kept(store)), log.read_text().count("\n")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Judge all, with two kills on the way, and once more; give everything that was noted."""
    folder = tmp_path_factory.mktemp("storm")
    store, log = folder / "answers.sqlite", folder / "calls.txt"
    log.touch()
    with storm(log) as url:
        survived = [
            kill_after(number, start(store, url, folder / "killed.txt"), store, log)
            for number in (250, 600)
        ]
        for name in ("third", "again"):
            assert start(store, url, folder / f"{name}.txt").wait(120) == 0
            if name == "third":
                before_again = log.read_text().count("\n")
        calls = [line.split() for line in log.read_text().splitlines()]
    outputs = {name: (folder / f"{name}.txt").read_text() for name in ("third", "again")}
    return survived, calls, before_again, outputs, kept(store)


def numbers(output):
    """Give the number that each judgment's rationale bears."""
    return [int(number) for number in re.findall(r"answer (\d+)", output)]


def test_all_are_scored_in_spite_of_the_failures_and_the_kills(run):
    _, calls, _, outputs, _ = run
    assert [line.split()[0] for line in outputs["third"].splitlines()] == ["ok"] * ALL
    failed = sum(status != "200" for *_, status in calls)
    assert failed >= ALL // 3


def test_every_judgment_rests_on_a_paid_answer_of_its_own(run):
    _, calls, _, outputs, _ = run
    paid = {int(number) for number, _, status in calls if status == "200"}
    used = numbers(outputs["third"])
    assert len(used) == len(set(used)) == ALL
    assert set(used) <= paid


def test_what_was_stored_before_a_kill_is_never_asked_again(run):
    survived, calls, _, outputs, _ = run
    asked = {int(number): question for number, question, _ in calls}
    for before, made in survived:
        assert len(before) >= 250 and before <= set(numbers(outputs["third"]))
        later = {question for _, question, _ in calls[made:]}
        assert not {asked[number] for number in before} & later


def test_a_kill_loses_no_more_than_was_under_way(run):
    _, calls, *_ = run
    paid = sum(status == "200" for *_, status in calls)
    # Eight at most are asked and not yet stored, at each of the two kills.
    assert ALL <= paid <= ALL + 2 * 8


def test_the_same_run_again_makes_no_call_and_says_the_same(run):
    _, calls, before_again, outputs, _ = run
    assert len(calls) == before_again
    assert numbers(outputs["again"]) == numbers(outputs["third"])
    assert {line.split()[-1] for line in outputs["again"].splitlines()} == {str(RUBRICS)}
