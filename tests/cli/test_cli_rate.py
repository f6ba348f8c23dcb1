"""`timevista rate`, as far as it needs no page."""

from __future__ import annotations

import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from timevista_hf.cases import ForecastCase
from timevista_hf.cli import app
from timevista_hf.rating import Question, RatingSession
from timevista_hf.rubrics import load_rubric

EXAMPLE = Path(__file__).parents[2] / "examples" / "forecasts.csv"
WIDE = {"COLUMNS": "100", "NO_COLOR": "1"}


def run(*words):
    return CliRunner().invoke(app, ["rate", *map(str, words)], env=WIDE)


def row_of(dimension, text):
    [row] = [words for words in map(str.split, text.splitlines()) if words[:1] == [dimension]]
    return row


def rate(folder, scores):
    """Let annotators rate as many cases as they have scores; None skips."""
    cases = [
        ForecastCase(id=f"s{n}", history=[1, 2], truth=[3, 4], prediction=[3, n])
        for n in range(len(next(iter(scores.values()))))
    ]
    for annotator, row in scores.items():
        asked = [Question(case, load_rubric("trend")) for case in cases]
        with RatingSession(asked, annotator, folder) as session:
            while session.current:
                score = row[int(session.current.case.id[1:])]
                session.rate(score) if score else session.skip()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_merge_prints_the_agreement_and_writes_the_consensus(folder):
    rate("ratings", {"ana": [1, 2, 3, 4], "ben": [1, 2, 4, 3], "cem": [2, 1, 3, 4]})
    done = run("merge")
    assert done.exit_code == 0, done.stderr
    row = row_of("trend", done.stdout)
    # Derived by hand in test_merge.py: 34/45, 5/27, 5/9 and 11/15.
    assert row == ["trend", "0.756", "0.185", "0.556", "0.733", "4"]
    assert "12 ratings, 0 skipped, 4 questions, 3 annotators. See ratings.parquet" in (done.stderr)
    table = pq.read_table("ratings.parquet").select(["case_id", "consensus"]).to_pylist()
    agreed = {entry["case_id"]: entry["consensus"] for entry in table}
    assert agreed == {"s0": 1, "s1": 2, "s2": 3, "s3": 4}


def test_merge_shows_what_is_undefined_as_such(folder):
    rate("mine", {"ana": [1, None]})
    done = run("merge", "mine", "--output", "out.parquet")
    row = row_of("trend", done.stdout)
    assert row == ["trend", "–", "–", "–", "–", "0"]
    assert "1 ratings, 1 skipped, 2 questions, 1 annotators" in done.stderr
    assert (folder / "out.parquet").exists()


def test_merge_says_what_a_kill_left_behind(folder):
    rate("ratings", {"ana": [1, 2], "ben": [1, 2]})
    with (folder / "ratings" / "ana.jsonl").open("a") as file:
        file.write('{"act')
    assert "ana.jsonl, line 3: was not finished" in run("merge").stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["merge", "missing"], "missing: holds no ratings; `timevista rate FILE --annotator NAME`"),
        (["missing.csv", "--annotator", "ana"], "missing.csv: no such file"),
        ([EXAMPLE, "--annotator", " "], "the annotator's name must have 1 to 80 printable"),
        ([EXAMPLE, "--annotator", "ana", "--rubric", "trnd"], "unknown rubric 'trnd'"),
        ([EXAMPLE, "--annotator", "ana", "--output", EXAMPLE], "cannot hold ratings"),
        ([EXAMPLE], "--annotator"),
        ([EXAMPLE, "--annotator", "ana", "--judge", "builtin"], "--judge"),
        (["--annotator", "ana"], "file"),
    ],
)
def test_a_mistake_ends_with_one_clear_error_and_status_two(folder, words, message):
    done = run(*words)
    assert done.exit_code == 2
    assert message.lower() in " ".join(done.stderr.split()).lower()
    assert done.stdout == ""


def test_without_gradio_the_error_says_how_to_install_it(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "gradio", None)
    done = run(EXAMPLE, "--annotator", "ana", "--limit", 1)
    assert done.exit_code == 2
    assert "pip install 'timevista-hf[space]'" in done.stderr.splitlines()[-1]


def test_a_second_program_for_the_same_annotator_is_refused(folder):
    asked = [
        Question(
            ForecastCase(id="a", history=[1], truth=[1, 2], prediction=[1, 2]), load_rubric("trend")
        )
    ]
    with RatingSession(asked, "ana", "ratings"):
        done = run(EXAMPLE, "--annotator", "ana", "--limit", 1)
    assert done.exit_code == 2
    assert "another `timevista rate` has it open" in done.stderr


def test_the_help_has_the_options_of_reading_and_none_of_a_judge():
    said = run("page", "--help").stdout
    assert "--season-length" in said
    assert not {"--judge", "--runs", "--joint", "--modality"} & set(said.split())


def test_the_help_names_both_commands():
    said = run("--help").stdout
    assert "page" in said
    assert "merge" in said
