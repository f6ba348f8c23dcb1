"""`timevista detect`, as a person types it."""

import json

import pytest
from servers import Answer, FakeServer, openai_answer, openai_error
from typer.testing import CliRunner

from timevista_hf.cli import app


def call(folder, *arguments, **variables):
    given = ["detect", *map(str, arguments), "--output", str(folder / "out")]
    return CliRunner().invoke(app, given, env={"COLUMNS": "80", "NO_COLOR": "1", **variables})


def subsets(folder):
    found = json.loads((folder / "out" / "scores.json").read_text(encoding="utf-8"))
    return [one["subset"] for one in found["subsets"]]


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    folder = tmp_path_factory.mktemp("detect")
    return call(folder, "--subset", "sine-global", "--judge", "mock", "--count", 3)


def test_the_table_holds_the_judge_chance_and_published_numbers(done):
    assert done.exit_code == 0, done.output
    found = [line.split()[0] for line in done.stdout.splitlines() if line.strip()]
    for rater in ("mock", "everything", "random", "grid", "echo", "GPT-4o"):
        assert rater in found
    assert "published" in found


def test_the_table_fits_80_columns(done):
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_coverage_failures_and_hallucinated_runs_are_printed(done):
    answers = done.stdout.split("Answers")[1]
    [row] = [line.split() for line in answers.splitlines() if "sine-global" in line]
    assert row == ["sine-global", "3", "3", "100.0%", "0.0%", "0"]


def test_what_may_be_compared_is_said(done):
    assert "beside this corrected edition they compare nothing" in done.stderr


def test_the_report_is_named(done):
    assert "3 answers, 0 from an earlier run. See" in done.stderr


def test_json_is_the_content_of_scores_json(tmp_path):
    done = call(
        tmp_path, "--subset", "sine-trend", "--judge", "mock", "--count", 1, "--format", "json"
    )
    assert json.loads(done.stdout) == json.loads((tmp_path / "out" / "scores.json").read_text())


def test_a_dry_run_counts_the_questions_and_asks_none(tmp_path):
    plan = ("--subset", "sine-*-r5", "--count", 2, "--judge", "openai:gpt-5.4", "--dry-run")
    done = call(tmp_path, *plan, OPENAI_API_KEY="")
    [row] = [line.split() for line in done.stdout.splitlines() if "questions to ask" in line]
    assert row[-1] == "8"
    assert not (tmp_path / "out").exists()


def test_subsets_may_be_given_again_and_by_pattern(tmp_path):
    call(
        tmp_path,
        *("--subset", "sine-*-r5", "--subset", "sine_cosine-square-m7"),
        *("--judge", "mock", "--count", 1),
    )
    assert subsets(tmp_path) == [
        *("sine-global-r5", "sine-seasonal-r5", "sine-trend-r5", "sine-shapelet-r5"),
        "sine_cosine-square-m7",
    ]


LIMITS = ("--max-tokens", 800, "--timeout", 30, "--concurrency", 1, "--attempts", 1)


@pytest.mark.parametrize("status", [200, 429])
def test_the_options_of_a_judge_reach_the_server(tmp_path, status):
    text = '{"rationale": "seen", "anomalies": [3]}'
    body = openai_answer(text) if status == 200 else openai_error("slow down")
    with FakeServer(lambda call: Answer(body, status)) as server:
        plan = ("--subset", "sine-global", "--count", 3, "--judge", f"server:{server.url}/v1#m")
        done = call(tmp_path, *plan, *LIMITS)
    assert done.exit_code == 0, done.output
    assert [asked.body["max_tokens"] for asked in server.calls] == [800] * 3
    assert server.most_inside == 1


@pytest.mark.parametrize(
    ("arguments", "variables", "said"),
    [
        (["--subset", "sine-globl"], {}, "did you mean 'sine-global'"),
        (["--subset", "cosine-*"], {}, "no subset fits 'cosine-*'"),
        (["--subset", "symbols-trend", "--data-dir", "nowhere"], {}, "holds no file of 'Symbols'"),
        (
            ["--subset", "sine-trend", "--judge", "openai:gpt-5.4", "--count", 1],
            {"OPENAI_API_KEY": ""},
            "set the environment variable OPENAI_API_KEY",
        ),
        (["--subset", "sine-trend", "--judge", "bultin"], {}, "did you mean 'builtin'"),
        (
            ["--subset", "sine_cosine-square-m7", "--edition", "paper"],
            {},
            "none of the paper's 124 subsets",
        ),
    ],
)
def test_what_a_user_can_mend_is_one_line(arguments, variables, said, tmp_path):
    done = call(tmp_path, *arguments, **variables)
    assert done.exit_code == 2
    [line] = done.stderr.strip().splitlines()
    assert line.startswith("error: ")
    assert said in line


def test_all_and_synthetic_name_the_subsets_of_the_paper():
    from timevista_hf.cli.detect import _select

    assert (len(_select(["all"])), len(_select(["synthetic"]))) == (124, 65)
