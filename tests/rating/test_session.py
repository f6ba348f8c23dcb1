"""A session: every question once, in an order of one's own, and nothing lost."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from timevista_hf.cases import ForecastCase
from timevista_hf.rating import Question, RatingSession
from timevista_hf.rubrics import load_rubric


def case(name, level=3.0, model="ets"):
    return ForecastCase(
        id=name, model=model, history=[1, 2], truth=[3, 4], prediction=[level, level + 1]
    )


def questions(names="abcdefgh", rubrics=("trend", "phase")):
    return [Question(case(name), load_rubric(rubric)) for name in names for rubric in rubrics]


def order(folder, annotator="ana", asked=None, **options):
    """Answer everything and return the questions as they came."""
    seen = []
    with RatingSession(asked or questions(), annotator, folder, **options) as session:
        while session.current:
            seen.append((session.current.rubric.name, session.current.case.id))
            session.rate(3)
    return seen


def records(folder, name="ana"):
    return [json.loads(line) for line in (folder / f"{name}.jsonl").read_bytes().splitlines()]


def test_every_question_is_asked_once(tmp_path):
    seen = order(tmp_path)
    assert sorted(seen) == sorted((q.rubric.name, q.case.id) for q in questions())


def test_an_annotator_gets_the_same_order_again_and_another_one_gets_another(tmp_path):
    first, again = order(tmp_path / "1"), order(tmp_path / "2")
    assert first == again
    assert order(tmp_path, "ben") != first


def test_the_order_is_not_that_of_the_file_and_does_not_depend_on_it(tmp_path):
    asked = questions()
    assert order(tmp_path / "1", asked=asked) == order(tmp_path / "2", asked=asked[::-1])
    assert order(tmp_path / "3") != [(q.rubric.name, q.case.id) for q in asked]


def test_one_rubric_is_done_before_the_next_with_the_cases_in_another_order(tmp_path):
    seen = order(tmp_path)
    assert len({rubric for rubric, _ in seen[:8]}) == 1
    assert [name for _, name in seen[:8]] != [name for _, name in seen[8:]]


def test_a_token_tells_neither_series_nor_model(tmp_path):
    asked = [Question(case("secret-series", model="secret-model"), load_rubric("trend"))]
    with RatingSession(asked, "ana", tmp_path) as session:
        assert session.token.isalnum()
        assert "secret" not in session.token


def test_a_record_says_everything_that_made_it(tmp_path):
    asked = [Question(case("wind"), load_rubric("trend"))]
    with RatingSession(asked, "ana", tmp_path, render="plot1") as session:
        session.rate(4, comment=" too steep\n", seconds=2.345)
    [record] = records(tmp_path)
    assert record.pop("time")[-6:] == "+00:00"
    assert record.pop("version")
    assert record == {
        "action": "rate",
        "annotator": "ana",
        "case_id": "wind",
        "cutoff": None,
        "model": "ets",
        "content": asked[0].content,
        "dataset": None,
        "level": "micro",
        "dimension": "trend",
        "rubric": "trend@1.0",
        "score": 4,
        "comment": "too steep",
        "seconds": 2.3,
        "render": "plot1",
    }


def test_a_session_goes_on_where_it_was_closed(tmp_path):
    whole = order(tmp_path / "whole")
    with RatingSession(questions(), "ana", tmp_path) as session:
        for _ in range(5):
            session.rate(2)
    with RatingSession(questions(), "ana", tmp_path) as session:
        assert (session.done, session.total) == (5, 16)
    assert order(tmp_path) == whole[5:]


def test_new_questions_join_those_that_are_left(tmp_path):
    assert len(order(tmp_path, asked=questions("abc"))) == 6
    assert sorted(order(tmp_path, asked=questions("abcd"))) == [("phase", "d"), ("trend", "d")]


def test_a_case_whose_numbers_changed_is_asked_again(tmp_path):
    rubric = load_rubric("trend")
    order(tmp_path, asked=[Question(case("a", 3.0), rubric)])
    assert order(tmp_path, asked=[Question(case("a", 3.0), rubric)]) == []
    assert order(tmp_path, asked=[Question(case("a", 3.5), rubric)]) == [("trend", "a")]


def test_a_gap_has_one_content_whatever_its_bits(tmp_path):
    gaps = [
        ForecastCase(id="a", history=[1, gap], truth=[3, 4], prediction=[3, 4])
        for gap in (float("nan"), -float("nan"))
    ]
    assert len({Question(one, load_rubric("trend")).content for one in gaps}) == 1


def test_a_skipped_question_counts_as_answered_and_has_no_score(tmp_path):
    with RatingSession(questions("a"), "ana", tmp_path) as session:
        session.skip(comment="cannot tell")
        assert (session.done, session.skipped) == (1, 1)
    [record] = records(tmp_path)
    assert (record["action"], record["score"], record["comment"]) == ("skip", None, "cannot tell")


def test_undo_asks_the_last_question_again_and_adds_a_record(tmp_path):
    with RatingSession(questions("ab"), "ana", tmp_path) as session:
        session.rate(1)
        second = session.token
        session.rate(5, comment="why")
        assert session.undo().comment == "why"
        assert (session.token, session.done) == (second, 1)
    assert [record["action"] for record in records(tmp_path)] == ["rate", "rate", "undo"]


def test_undo_reaches_into_an_earlier_session(tmp_path):
    order(tmp_path, asked=questions("a"))
    with RatingSession(questions("a"), "ana", tmp_path) as session:
        session.undo()
        session.undo()
        assert session.undo() is None
        assert session.done == 0
    with RatingSession(questions("a"), "ana", tmp_path) as session:
        assert session.done == 0


def test_an_undone_question_comes_next_also_where_an_earlier_one_was_added(tmp_path):
    whole = order(tmp_path / "whole", asked=questions("abcdefgh", ["trend"]))
    last = next(name for _, name in whole[::-1])
    order(tmp_path, asked=questions(last, ["trend"]))
    with RatingSession(questions("abcdefgh", ["trend"]), "ana", tmp_path) as session:
        session.undo()
        assert session.current.case.id == last


def test_nothing_that_was_written_is_ever_written_again(tmp_path):
    path, before = tmp_path / "ana.jsonl", b""
    with RatingSession(questions("abc"), "ana", tmp_path) as session:
        for step in (lambda: session.rate(3), session.undo, session.skip, session.undo):
            step()
            assert path.read_bytes().startswith(before)
            assert len(path.read_bytes()) > len(before)
            before = path.read_bytes()


def test_every_answer_is_on_the_disk_before_the_next_is_asked_for(tmp_path, monkeypatch):
    synced = []
    monkeypatch.setattr("os.fsync", synced.append)
    with RatingSession(questions("ab"), "ana", tmp_path) as session:
        for count, step in enumerate((lambda: session.rate(3), session.skip, session.undo), 1):
            step()
            assert len(synced) == count


def test_a_line_that_a_kill_cut_short_is_passed_over_with_a_notice(tmp_path):
    with RatingSession(questions("ab"), "ana", tmp_path) as session:
        session.rate(1)
        session.rate(2)
    path = tmp_path / "ana.jsonl"
    path.write_bytes(path.read_bytes()[:-40])
    with RatingSession(questions("ab"), "ana", tmp_path) as session:
        assert session.done == 1
        [notice] = session.notices
        assert notice.startswith("ana.jsonl, line 2: was not finished")
        session.rate(4)
    with RatingSession(questions("ab"), "ana", tmp_path) as session:
        assert session.done == 2
    whole = path.read_bytes().splitlines()
    assert json.loads(whole[2])["score"] == 4


def test_a_record_whose_line_end_alone_is_missing_counts(tmp_path):
    with RatingSession(questions("ab"), "ana", tmp_path) as session:
        session.rate(1)
    path = tmp_path / "ana.jsonl"
    path.write_bytes(path.read_bytes()[:-1])
    with RatingSession(questions("ab"), "ana", tmp_path) as session:
        assert (session.done, session.notices) == (1, [])
        session.rate(2)
    assert [record["score"] for record in records(tmp_path)] == [1, 2]


def test_an_answer_that_cannot_be_saved_leaves_the_question_where_it_was(tmp_path, monkeypatch):
    def full(_):
        raise OSError(28, "No space left on device")

    with RatingSession(questions("ab"), "ana", tmp_path) as session:
        token = session.token
        with monkeypatch.context() as patch:
            patch.setattr("os.fsync", full)
            with pytest.raises(ValueError, match=r"the answer was not saved: .*No space left"):
                session.rate(3)
        assert (session.token, session.done) == (token, 0)
        session.rate(3)
    with RatingSession(questions("ab"), "ana", tmp_path) as session:
        assert session.done == 1


def test_a_second_process_is_refused_until_the_first_is_gone(tmp_path):
    code = (
        "import sys; from timevista_hf.rating._record import RatingFile; from pathlib import Path\n"
        "held = RatingFile(Path(sys.argv[1]), 'ana'); print('open', flush=True); sys.stdin.read()"
    )
    first = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with first:
        assert first.stdout.readline() == "open\n"
        with pytest.raises(ValueError, match=r"ana\.jsonl: another `timevista rate` has it open"):
            RatingSession(questions("a"), "ana", tmp_path)
        RatingSession(questions("a"), "ben", tmp_path).close()
        first.kill()
    RatingSession(questions("a"), "ana", tmp_path).close()


@pytest.mark.parametrize(
    ("name", "stem"),
    [
        ("ana", "ana"),
        ("rater-7", "rater-7"),
        ("Ana", "ana-"),
        ("../../etc/passwd", "etc-passwd-"),
        ("Ana María", "ana-maria-"),
        ("con", "con-"),
        ("李", ""),
    ],
)
def test_a_name_becomes_a_file_name_that_every_system_takes(tmp_path, name, stem):
    with RatingSession(questions("a"), name, tmp_path / "r") as session:
        session.rate(3)
        assert session.path.parent == tmp_path / "r"
        assert session.path.stem.startswith(stem)
        assert (session.path.stem == name) == (name in ("ana", "rater-7"))
        assert set(session.path.stem) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")


def test_names_that_look_alike_have_files_of_their_own(tmp_path):
    names = ["ana", "Ana", "ANA", "ána", "a na", "a-na", "李", "王"]
    stems = set()
    for name in names:
        with RatingSession(questions("a"), name, tmp_path) as session:
            stems.add(session.path.stem)
    assert len(stems) == len(names)


@pytest.mark.parametrize("name", ["", "  ", "a\0b", "a\x1bb", "x" * 81])
def test_a_name_that_is_none_is_refused(tmp_path, name):
    with pytest.raises(ValueError, match="must have 1 to 80 printable characters, got"):
        RatingSession(questions("a"), name, tmp_path)


def test_half_an_emoji_in_a_comment_can_be_written(tmp_path):
    with RatingSession(questions("a"), "ana", tmp_path) as session:
        session.rate(3, comment="so \ud83d")
    assert records(tmp_path)[0]["comment"] == "so ?"


@pytest.mark.parametrize("score", [0, 6, 3.0, True, "3"])
def test_a_score_outside_the_scale_is_refused_and_not_written(tmp_path, score):
    with RatingSession(questions("a"), "ana", tmp_path) as session:
        with pytest.raises(ValueError, match="`score` must be an integer from 1 to 5"):
            session.rate(score)
        assert session.done == 0
    assert not (tmp_path / "ana.jsonl").exists()


def test_after_the_last_question_there_is_none_to_answer(tmp_path):
    order(tmp_path)
    with RatingSession(questions(), "ana", tmp_path) as session:
        assert (session.current, session.token) == (None, "")
        with pytest.raises(ValueError, match="all questions are answered"):
            session.rate(3)


def test_without_a_question_there_is_no_session(tmp_path):
    with pytest.raises(ValueError, match="there is no case to rate"):
        RatingSession([], "ana", tmp_path)


def test_a_question_asked_twice_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"series 'a', model 'ets': rubric 'trend@1\.0' is asked"):
        RatingSession(questions("aa", ["trend"]), "ana", tmp_path)


def test_a_folder_that_cannot_be_one_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ValueError, match="cannot hold ratings"):
        RatingSession(questions("a"), "ana", tmp_path / "file")


def test_a_file_of_another_annotator_is_refused_and_left_free(tmp_path):
    order(tmp_path, "ben", asked=questions("a"))
    (tmp_path / "ben.jsonl").rename(tmp_path / "ana.jsonl")
    for _ in range(2):  # the second time would find it locked
        with pytest.raises(ValueError, match="holds ratings of 'ben', not of 'ana'"):
            RatingSession(questions("a"), "ana", tmp_path)


def test_pictures_in_another_style_are_a_notice(tmp_path):
    order(tmp_path, asked=questions("a"), render="wide")
    with RatingSession(questions("ab"), "ana", tmp_path, render="narrow") as session:
        assert session.notices == ["2 earlier answers are on pictures in another style"]
