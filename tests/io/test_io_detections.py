"""Detections in files: written whole, and read back as they were."""

import json
from dataclasses import fields, replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from datasets import load_dataset

from timevista_hf.detection import Detection
from timevista_hf.io import read_detections, write_detections

SUFFIXES = ["jsonl", "parquet"]
FULL = Detection(
    case_id="a", subset="sine-global-r5", granularity="range", steps=150, num_variates=1,
    question="detect_range@1.0", judge="gemini", status="ok", events=np.array([[2, 12], [50, 61]]),
    rationale="Ein Sprung – „hier“", repairs=("a pair alone was read as the only range",),
    rejected=1, hallucinated_run=True, reason="", text="[2, 11]\n", run=2,
    options='{"seed": 1}', render="fingerprint", version="0.1", input_tokens=700, output_tokens=40,
)  # fmt: skip
FAILED = replace(FULL, subset=None, status="refused", events=np.empty((0, 2), int), repairs=())
VARIATES = replace(FAILED, granularity="variate", num_variates=9, status="ok", variates=(0, 8))


def plain(detection):
    held = {field.name: getattr(detection, field.name) for field in fields(Detection)}
    return {**held, "events": (held["events"].dtype, held["events"].tolist())}


@pytest.fixture(params=SUFFIXES)
def path(request, tmp_path):
    return tmp_path / f"detections.{request.param}"


def test_detections_are_read_back_as_they_were(path):
    written = [FULL, FAILED, VARIATES]
    write_detections(path, (entry for entry in written))
    assert [plain(entry) for entry in read_detections(path)] == [plain(one) for one in written]


def test_without_a_detection_there_is_a_file_without_rows(path):
    write_detections(path, [])
    assert list(read_detections(path)) == []


def test_several_groups_of_rows_are_written(path, monkeypatch):
    monkeypatch.setattr("timevista_hf.io._detections.ROW_GROUP", 2)
    write_detections(path, [replace(FULL, run=run) for run in range(5)])
    assert [entry.run for entry in read_detections(path)] == [0, 1, 2, 3, 4]


def test_an_exception_while_they_come_leaves_the_earlier_file(path):
    write_detections(path, [FULL])
    before = path.read_bytes()

    def failing():
        yield FAILED
        raise RuntimeError("the judge is gone")

    with pytest.raises(RuntimeError, match="the judge is gone"):
        write_detections(path, failing())
    assert path.read_bytes() == before


def test_the_form_of_a_file_is_told_by_its_bytes(tmp_path):
    write_detections(tmp_path / "a.parquet", [FULL])
    renamed = (tmp_path / "a.parquet").rename(tmp_path / "a.jsonl")
    assert [entry.case_id for entry in read_detections(renamed)] == ["a"]


def test_datasets_reads_both_forms_alike(tmp_path):
    kinds = {"parquet": "parquet", "json": "jsonl"}
    loaded = {}
    for kind, suffix in kinds.items():
        file = tmp_path / f"d.{suffix}"
        write_detections(file, [FULL, VARIATES])
        rows = load_dataset(
            kind, data_files=str(file), split="train", cache_dir=str(tmp_path / "cache")
        )
        loaded[kind] = rows.to_list()
    assert loaded["parquet"] == loaded["json"]
    assert loaded["json"][0]["events"] == [[2, 12], [50, 61]]


@pytest.mark.parametrize("fields", [{"steps": "many"}, {"rejected": 2**70}, {"case_id": None}])
def test_a_field_that_holds_what_it_should_not_is_refused(path, fields):
    with pytest.raises(ValueError, match="a detection cannot be written"):
        write_detections(path, [replace(FULL, **fields)])
    assert not path.exists()


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(ValueError, match=r"no\.parquet: cannot be read"):
        read_detections(tmp_path / "no.parquet")


def test_a_parquet_file_without_a_column_is_refused_before_the_first_row(tmp_path):
    write_detections(tmp_path / "a.parquet", [FULL])
    table = pq.read_table(tmp_path / "a.parquet")
    pq.write_table(table.drop_columns(["rejected"]), tmp_path / "a.parquet")
    with pytest.raises(ValueError, match="needs the column 'rejected'"):
        read_detections(tmp_path / "a.parquet")


def test_a_column_of_another_type_is_refused(tmp_path):
    write_detections(tmp_path / "a.parquet", [FULL])
    table = pq.read_table(tmp_path / "a.parquet")
    index = table.schema.get_field_index("steps")
    changed = table.set_column(index, "steps", pa.array(["150"]))
    pq.write_table(changed, tmp_path / "a.parquet")
    with pytest.raises(ValueError, match="column 'steps': must be int64, got string"):
        read_detections(tmp_path / "a.parquet")


def line_with(tmp_path, **fields):
    write_detections(tmp_path / "a.jsonl", [FULL, FULL])
    first, second = (tmp_path / "a.jsonl").read_text(encoding="utf-8").splitlines()
    changed = json.dumps({**json.loads(second), **fields})
    (tmp_path / "a.jsonl").write_text(f"{first}\n{changed}\n", encoding="utf-8")
    return tmp_path / "a.jsonl"


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"status": "fine"}, "a.jsonl, line 2, column 'status': must be one of ok,"),
        ({"granularity": "year"}, "a.jsonl, line 2, column 'granularity': must be one of point,"),
        ({"events": [[1, 2], [3]]}, "a.jsonl, line 2, column 'events': must hold pairs"),
        ({"steps": "many"}, "a.jsonl, line 2: is no detection"),
        ({"judge": None}, "a.jsonl, line 2: is no detection: `judge` must not be missing"),
    ],
)
def test_a_line_that_is_no_detection_is_named(tmp_path, fields, message):
    path = line_with(tmp_path, **fields)
    with pytest.raises(ValueError, match=message):
        list(read_detections(path))


@pytest.mark.parametrize(
    ("line", "message"), [("{", "is no detection"), ('{"case_id": "a"}', "it lacks `subset`")]
)
def test_a_line_that_lacks_something_is_named(tmp_path, line, message):
    (tmp_path / "a.jsonl").write_text(line, encoding="utf-8")
    with pytest.raises(ValueError, match=f"a.jsonl, line 1.*{message}"):
        list(read_detections(tmp_path / "a.jsonl"))


def test_what_a_detection_does_not_have_is_passed_over(tmp_path):
    path = line_with(tmp_path, note="mine")
    assert [entry.case_id for entry in read_detections(path)] == ["a", "a"]
