"""Files are written whole or not at all."""

import json
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from timevista_hf.io import (
    _judgments,
    read_judgments,
    write_atomically,
    write_json,
    write_judgments,
)
from timevista_hf.rubrics import Judgment

OK = Judgment(
    case_id="a", cutoff="2024-01-01", model="m", dataset="d", level="micro", dimension="trend",
    rubric="trend@1", judge="builtin", status="ok", score=4, expected_score=3.75,
    rationale="same slope ✓\nnext", breaches=("negative", "jump"), reason="", options='{"a": 1}',
    render="f00", version="0.1",
)  # fmt: skip
FAILED = replace(
    OK, cutoff=None, dataset=None, status="error", score=None, expected_score=None, rationale="",
    breaches=(), reason="no answer",
)  # fmt: skip


def names(folder):
    return [path.name for path in folder.iterdir()]


def test_failed_block_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")
    with pytest.raises(RuntimeError), write_atomically(path) as temporary:
        temporary.write_text("half")
        raise RuntimeError
    assert path.read_text() == "old"
    assert names(tmp_path) == ["a.txt"]


def test_finished_block_replaces_the_file(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")
    with write_atomically(path) as temporary:
        temporary.write_text("new")
        assert path.read_text() == "old"
    assert (path.read_text(), names(tmp_path)) == ("new", ["a.txt"])


def test_new_file_may_be_read_by_whom_the_mask_allows(tmp_path):
    plain, atomic = tmp_path / "plain", tmp_path / "atomic"
    plain.write_text("")
    with write_atomically(atomic) as temporary:
        temporary.write_text("")
    assert atomic.stat().st_mode == plain.stat().st_mode


def test_absent_folder_is_named(tmp_path):
    with (
        pytest.raises(ValueError, match=r"a\.txt: its folder .* does not exist"),
        write_atomically(tmp_path / "none" / "a.txt"),
    ):
        pass


def test_folder_is_no_file_to_write(tmp_path):
    with pytest.raises(ValueError, match="is a folder"), write_atomically(tmp_path):
        pass


def test_json_is_strict_and_nan_is_null(tmp_path):
    path = tmp_path / "a.json"
    value = {"x": np.float64("nan"), 1: [float("nan"), (np.int8(2), True)], "é": np.array([1.5])}
    write_json(path, value)
    assert json.loads(path.read_text(encoding="utf-8"), parse_constant=pytest.fail) == {
        "x": None, "1": [None, [2, True]], "é": [1.5],
    }  # fmt: skip


def test_json_refuses_an_infinite_number(tmp_path):
    with pytest.raises(ValueError, match=r"a\.json: JSON holds finite numbers only"):
        write_json(tmp_path / "a.json", [np.inf])
    assert names(tmp_path) == []


def test_judgments_come_back_as_they_were(tmp_path):
    path = tmp_path / "judgments.parquet"
    judgments = [OK, FAILED, replace(OK, score=1, model="")]
    write_judgments(path, iter(judgments))
    assert list(read_judgments(path)) == judgments


def test_expected_score_of_nan_stays_apart_from_none(tmp_path):
    path = tmp_path / "judgments.parquet"
    write_judgments(path, [replace(OK, expected_score=float("nan")), FAILED])
    one, two = read_judgments(path)
    assert np.isnan(one.expected_score)
    assert two.expected_score is None


def test_judgments_are_streamed_in_row_groups(tmp_path, monkeypatch):
    file = replace(_judgments._FILE, group=2)
    monkeypatch.setattr("timevista_hf.io._judgments._FILE", file)
    path = tmp_path / "judgments.parquet"
    write_judgments(path, (replace(OK, case_id=str(n)) for n in range(5)))
    assert pq.ParquetFile(path).num_row_groups == 3
    assert [entry.case_id for entry in read_judgments(path)] == ["0", "1", "2", "3", "4"]


def test_failing_stream_leaves_no_file(tmp_path):
    def stream():
        yield OK
        raise RuntimeError

    with pytest.raises(RuntimeError):
        write_judgments(tmp_path / "judgments.parquet", stream())
    assert names(tmp_path) == []


def test_judgment_with_a_wrong_field_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"judgments\.parquet: a judgment cannot be written"):
        write_judgments(tmp_path / "judgments.parquet", [replace(OK, score="high")])


@pytest.mark.parametrize(
    ("column", "values", "expected"),
    [
        ("status", ["fine"], r"row 1, column 'status': must be one of ok, .* got 'fine'"),
        ("level", ["nano"], r"row 1, column 'level': must be one of micro, macro, got 'nano'"),
        ("score", ["4"], r"column 'score': must be int64, got string"),
        ("score", None, r"a file of judgments needs the column 'score'"),
    ],
)
def test_other_parquet_is_no_file_of_judgments(column, values, expected, tmp_path):
    path = tmp_path / "judgments.parquet"
    write_judgments(path, [OK])
    table = pq.read_table(path)
    position = table.column_names.index(column)
    table = table.remove_column(position)
    if values is not None:
        table = table.append_column(column, pa.array(values))
    pq.write_table(table, path)
    with pytest.raises(ValueError, match=expected):
        list(read_judgments(path))


def test_text_is_no_file_of_judgments(tmp_path):
    path = tmp_path / "judgments.parquet"
    path.write_text("a,b\n")
    with pytest.raises(ValueError, match=r"judgments\.parquet: cannot be read as a Parquet file"):
        read_judgments(path)


def test_absent_judgments_are_named_before_the_first_is_asked_for(tmp_path):
    with pytest.raises(ValueError, match=r"none\.parquet: cannot be read"):
        read_judgments(tmp_path / "none.parquet")
