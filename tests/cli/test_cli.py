"""The command, as a person types it."""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest
from servers import Answer, FakeServer, openai_answer
from typer.testing import CliRunner

import timevista_hf as tv
from timevista_hf.cli import app
from timevista_hf.rubrics import MICRO_DIMENSIONS

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "forecasts.csv"
COMMAND = [sys.executable, "-m", "timevista_hf"]


needs_ray = pytest.mark.skipif(
    importlib.util.find_spec("ray") is None,
    reason="Ray is not installed; pip install 'timevista-hf[ray]'",
)


@dataclass(frozen=True)
class Done:
    """What a command has printed, and its exit status."""

    returncode: int
    stdout: str
    stderr: str


def run(*arguments: object, cwd: Path, **variables: str) -> Done:
    """Run a command in this process, which has imported already what it needs."""
    before = Path.cwd()
    os.chdir(cwd)
    try:
        done = CliRunner().invoke(app, [*map(str, arguments)], env=variables)
    finally:
        os.chdir(before)
    return Done(done.exit_code, done.stdout, done.stderr)


def run_process(*arguments: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *map(str, arguments)],
        cwd=cwd,
        env={**os.environ, "COLUMNS": "80", "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=300,
    )


def lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.splitlines() if line.strip()]


@pytest.fixture(scope="module")
def scored(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, subprocess.CompletedProcess]:
    folder = tmp_path_factory.mktemp("run")
    done = run_process("score", EXAMPLE, cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder / "forecasts-scores", done


def test_the_readme_shows_what_the_command_prints(scored):
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = readme.split("```text\n")[1].split("```")[0]
    assert lines(shown) == lines(scored[1].stdout)


def test_the_folder_holds_page_tables_and_plots(scored):
    folder = scored[0]
    assert {path.name for path in folder.iterdir()} == {
        "report.html",
        "judgments.parquet",
        "judgments.sqlite",
        "scores.json",
        "plots",
    }
    assert len(list((folder / "plots").iterdir())) == 18


def test_what_was_decided_is_printed_and_stored(scored):
    folder, done = scored
    assert "time 'ds'" in done.stderr
    assert "6 series, 6 windows, 18 cases" in done.stderr
    decisions = json.loads((folder / "scores.json").read_text())["run"]["decisions"]
    assert decisions["columns"]["time"] == "ds"


def test_json_is_the_content_of_scores_json(tmp_path):
    done = run("score", EXAMPLE, "--format", "json", "--limit", 1, cwd=tmp_path)
    stored = (tmp_path / "forecasts-scores" / "scores.json").read_text()
    assert json.loads(done.stdout) == json.loads(stored)


def test_a_second_run_asks_for_nothing(scored):
    folder, _ = scored
    again = run("score", EXAMPLE, cwd=folder.parent)
    assert "90 judgments, 90 from an earlier run" in again.stderr


def test_limit_model_and_dimension_narrow_the_run(tmp_path):
    done = run(
        *("score", EXAMPLE, "--limit", 2, "--model", "ARIMA", "--dimension", "phase"),
        *("--dimension", "trend", "--format", "json"),
        cwd=tmp_path,
    )
    [model] = json.loads(done.stdout)["models"]
    assert (model["model"], model["cases"]) == ("ARIMA", 2)
    assert set(model["dimensions"]) == {"phase", "trend"}


def test_the_macro_level_with_knowledge_uses_the_datasets_rubric(tmp_path):
    done = run(
        *("score", EXAMPLE, "--level", "macro", "--knowledge", "--dataset", "covid_death"),
        *("--limit", 1, "--format", "json"),
        cwd=tmp_path,
    )
    scores = json.loads(done.stdout)
    assert scores["run"]["rubrics"] == ["without_knowledge@1.0", "covid_death@1.0"]
    assert set(scores["models"][0]["dimensions"]) == {"without_knowledge", "with_knowledge"}


def test_the_mock_judge_is_shown_plots(tmp_path):
    done = run(
        *("score", EXAMPLE, "--judge", "mock", "--limit", 1, "--aspect", "24:5"),
        *("--format", "json"),
        cwd=tmp_path,
    )
    scores = json.loads(done.stdout)
    assert scores["models"][0]["overall"]["mean"] == 3.0
    assert "2400x500" in scores["run"]["render"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["missing.csv"], "missing.csv: no such file"),
        ([EXAMPLE, "--judge", "bultin"], "unknown judge 'bultin'; did you mean 'builtin'?"),
        ([EXAMPLE, "--aspect", "4:3"], "unknown aspect '4:3'. Known: 6:5, 12:5, 18:5, 24:5"),
        ([EXAMPLE, "--dimension", "fase"], "unknown dimension of level 'micro' 'fase'"),
        ([EXAMPLE, "--knowledge"], "--knowledge belongs to the macro level: add --level macro"),
        ([EXAMPLE, "--dataset", "solar"], "--dataset names the rubric of --knowledge"),
        (
            [EXAMPLE, "--level", "macro", "--knowledge", "--dataset", "solr"],
            "unknown dataset with a rubric 'solr'; did you mean 'solar'?",
        ),
        (
            [EXAMPLE, "--level", "macro", "--knowledge"],
            "--knowledge needs its dataset; give --dataset NAME, or a column `dataset`",
        ),
        ([EXAMPLE, "--rubric", "trnd"], "unknown rubric 'trnd'; did you mean 'trend'?"),
        ([EXAMPLE, "--rubric", "trend", "--dimension", "trend"], "--rubric stands alone"),
        ([EXAMPLE, "--model", "ARMA"], "'ARMA'"),
        ([EXAMPLE, "--target-column", "z"], "'z'"),
        ([EXAMPLE, "--output", EXAMPLE], "cannot be used as the output folder"),
        ([EXAMPLE, "--limit", "0"], "--limit"),
        ([EXAMPLE, "--level", "nano"], "--level"),
    ],
)
def test_a_mistake_ends_with_one_clear_error_and_status_two(
    tmp_path, monkeypatch, arguments, message
):
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, ["score", *map(str, arguments)])
    assert done.exit_code == 2
    assert message in " ".join(done.stderr.split())
    assert done.stdout == ""


def test_a_rubric_of_ones_own_is_a_file(tmp_path):
    levels = "".join(f"  {score}: level {score}\n" for score in range(1, 6))
    (tmp_path / "mine.md").write_text(
        "---\nname: mine\nversion: '3'\nlevel: micro\ndimension: general\n"
        f"scale:\n{levels}---\nJudge it all.\n"
    )
    done = run(
        *("score", EXAMPLE, "--rubric", "mine.md", "--limit", 1, "--format", "json"), cwd=tmp_path
    )
    assert json.loads(done.stdout)["run"]["rubrics"] == ["mine@3"]


def test_ctrl_c_says_how_to_go_on_and_the_next_run_does(tmp_path):
    table = tmp_path / "many.csv"
    rows = ["id,ds,y,m"]
    for series in range(400):
        rows += [
            f"s{series},{t},{t * series % 7},{'' if t < 30 else t * series % 5}" for t in range(44)
        ]
    table.write_text("\n".join(rows))
    process = subprocess.Popen(
        [*COMMAND, "score", str(table)],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    store = tmp_path / "many-scores" / "judgments.sqlite-wal"
    deadline = time.monotonic() + 60
    while not (store.exists() and store.stat().st_size > 100_000):
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "Run the same command again to go on from here." in stderr
    assert "Traceback" not in stderr
    again = run("score", table, cwd=tmp_path)
    reused = int(again.stderr.split("2000 judgments, ")[1].split()[0])
    assert 0 < reused < 2000


def test_a_panel_is_averaged_and_its_agreement_shown(tmp_path):
    done = run("score", EXAMPLE, "--panel", "builtin,mock", "--limit", 1, cwd=tmp_path)
    assert "Agreement of the raters" in done.stdout
    scores = json.loads((tmp_path / "forecasts-scores" / "scores.json").read_text())
    assert set(scores["run"]["judges"]) == {"builtin", "mock"}
    assert scores["agreement"]["trend"]["means"]["mock"] == 3.0


def test_shards_are_merged_into_a_store_that_answers_everything(tmp_path):
    for part in (1, 2):
        run("score", EXAMPLE, "--shard", f"{part}/2", "--output", f"part{part}", cwd=tmp_path)
    (tmp_path / "all").mkdir()
    sources = [f"part{part}/judgments.sqlite" for part in (1, 2)]
    done = run("merge", "all/judgments.sqlite", *sources, cwd=tmp_path)
    assert done.stdout.strip() == "90 added, 0 known, 0 conflicts"
    again = run("score", EXAMPLE, "--output", "all", cwd=tmp_path)
    assert "90 judgments, 90 from an earlier run" in again.stderr


@pytest.mark.parametrize(
    ("command", "listed"), [("datasets", tv.list_datasets), ("metrics", tv.list_metrics)]
)
def test_what_is_found_by_a_bare_name_is_listed(tmp_path, command, listed):
    said = run(command, cwd=tmp_path).stdout
    assert [line.split()[0] for line in lines(said) if not line.startswith(" ")] == [*listed()]


def test_a_dry_run_asks_nothing_and_says_what_it_would_take(tmp_path):
    done = run("score", EXAMPLE, "--dry-run", cwd=tmp_path)
    assert "questions to ask" in done.stdout
    assert list(tmp_path.iterdir()) == []


def test_cost_counts_what_an_earlier_run_has_answered(tmp_path):
    run("score", EXAMPLE, "--limit", 2, cwd=tmp_path)
    rows = dict(
        line.rsplit(maxsplit=1)
        for line in lines(run("cost", EXAMPLE, cwd=tmp_path).stdout)
        if line.split()[-1].isdigit()
    )
    found = {name.strip(): int(value) for name, value in rows.items()}
    assert (found["questions to ask"], found["answers known already"]) == (60, 30)


def test_what_a_hosted_judge_would_cost_is_said_without_its_key(tmp_path):
    done = run("cost", EXAMPLE, "--judge", "openai:gpt-5.4", cwd=tmp_path, OPENAI_API_KEY="")
    assert done.returncode == 0, done.stderr
    assert "questions to ask" in done.stdout


def test_the_options_of_a_judge_reach_the_server_and_the_price(tmp_path):
    limits = ("--max-tokens", 8000, "--timeout", 300, "--concurrency", 1, "--attempts", 1)
    with FakeServer(lambda call: Answer(openai_answer())) as server:
        judge = ("--judge", f"server:{server.url}/v1#m", "--limit", 1, "--dimension", "trend")
        run("score", EXAMPLE, *judge, *limits, cwd=tmp_path)
        priced = [run("cost", EXAMPLE, *judge, *more, cwd=tmp_path) for more in (limits, ())]
    assert {call.body["max_tokens"] for call in server.calls} == {8000}
    assert server.most_inside == 1
    known = [
        line.split()[-1]
        for done in priced
        for line in lines(done.stdout)
        if "answers known already" in line
    ]
    assert known == ["3", "0"]  # an answer of another limit is another answer


def test_a_batch_has_the_longest_reply_that_was_asked_for(tmp_path):
    asked = ("--judge", "openai:gpt-4o", "--limit", 1, "--max-tokens", 700)
    done = run("batch", "write", EXAMPLE, *asked, "--folder", "b", cwd=tmp_path)
    [file] = done.stdout.split()
    entry = json.loads((tmp_path / file).read_text().splitlines()[0])
    assert entry["body"]["max_completion_tokens"] == 700


@pytest.mark.parametrize(("more", "limit"), [((), 6000), (("--max-tokens", 1024), 1024)])
def test_the_command_line_comes_before_a_preset_and_that_before_the_defaults(tmp_path, more, limit):
    with FakeServer(lambda call: Answer(openai_answer())) as server:
        own = {"max_tokens": 6000, "modality": "text", "body": {"enable_thinking": False}}
        entry = {"family": "server", "model": "m", "base_url": f"{server.url}/v1", **own}
        (tmp_path / "presets.json").write_text(json.dumps({"judges": {"ours": entry}}))
        variables = {"TIMEVISTA_PRESETS": str(tmp_path / "presets.json")}
        plan = ("--judge", "ours", "--limit", 1, "--dimension", "trend")
        done = run("score", EXAMPLE, *plan, *more, cwd=tmp_path, **variables)
    assert done.returncode == 0, done.stderr
    body = server.calls[0].body
    assert (body["max_tokens"], body["enable_thinking"]) == (limit, False)
    assert isinstance(body["messages"][1]["content"], str)  # without a picture


@pytest.mark.parametrize(
    ("option", "value"), [("--max-tokens", 0), ("--timeout", -1), ("--attempts", "many")]
)
def test_an_option_of_a_judge_outside_its_range_is_refused(tmp_path, option, value):
    done = run(
        "score", EXAMPLE, "--judge", "server:http://127.0.0.1:9#m", option, value, cwd=tmp_path
    )
    assert done.returncode == 2
    assert option.strip("-").replace("-", "_") in done.stderr.replace("-", "_")


def test_a_missing_key_ends_a_run_with_one_line(tmp_path):
    done = run("score", EXAMPLE, "--judge", "openai:gpt-5.4", cwd=tmp_path, OPENAI_API_KEY="")
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith("error: judge 'openai:gpt-5.4' needs a key")


@needs_ray
def test_a_run_on_a_cluster_prints_what_one_process_prints(scored, tmp_path):
    done = run_process("score", EXAMPLE, "--engine", "ray", "--actors", 1, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert lines(done.stdout) == lines(scored[1].stdout)
    made = [path / "forecasts-scores/judgments.parquet" for path in (tmp_path, scored[0].parent)]
    assert made[0].read_bytes() == made[1].read_bytes()


def test_a_budget_is_refused_on_a_cluster(tmp_path):
    done = run("score", EXAMPLE, "--engine", "ray", "--budget", 1, cwd=tmp_path)
    assert "--budget is kept by one process" in done.stderr


@pytest.mark.parametrize("joint", [False, True])
def test_batch_files_go_out_and_their_answers_come_back(tmp_path, joint):
    key = {"OPENAI_API_KEY": "sk-none"}
    asked = ("--judge", "openai:gpt-5.4", "--modality", "text", "--limit", 1)
    asked += ("--joint",) if joint else ()
    done = run("batch", "write", EXAMPLE, *asked, "--folder", "b", cwd=tmp_path, **key)
    [file] = done.stdout.split()
    verdict = {"rationale": "seen", "score": 4}
    answer = json.dumps(dict.fromkeys(MICRO_DIMENSIONS, verdict) if joint else verdict)
    message = {"role": "assistant", "content": answer}
    body = {"choices": [{"message": message, "finish_reason": "stop"}], "model": "gpt-5.4"}
    with (tmp_path / "out.jsonl").open("w") as out:
        for line in (tmp_path / file).read_text().splitlines():
            result = {"custom_id": json.loads(line)["custom_id"], "error": None}
            result["response"] = {"status_code": 200, "body": body}
            out.write(json.dumps(result) + "\n")
    read = ("batch", "read", "out.jsonl", "--folder", "b", "--output", "forecasts-scores")
    assert run(*read, cwd=tmp_path).stdout.strip() == ("3 stored" if joint else "15 stored")
    scored = run("score", EXAMPLE, *asked, cwd=tmp_path, **key)
    assert "15 judgments, 15 from an earlier run" in scored.stderr


def test_the_help_names_every_option_of_reading():
    done = run("score", "--help", cwd=ROOT)
    for option in ("--actuals", "--context", "--first", "--decimal", "--season-length"):
        assert option in done.stdout
