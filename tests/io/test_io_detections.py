"""Detections in files: written whole, and read back as they were."""

from dataclasses import fields, replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from datasets import load_dataset

from timevista_hf.detection import Detection
from timevista_hf.io import _detections, read_detections, write_detections

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


@pytest.fixture
def path(tmp_path):
    return tmp_path / "detections.parquet"


def test_detections_are_read_back_as_they_were(path):
    written = [FULL, FAILED, VARIATES]
    write_detections(path, (entry for entry in written))
    assert [plain(entry) for entry in read_detections(path)] == [plain(one) for one in written]


def test_without_a_detection_there_is_a_file_without_rows(path):
    write_detections(path, [])
    assert list(read_detections(path)) == []


def test_several_groups_of_rows_are_written(path, monkeypatch):
    file = replace(_detections._FILE, group=2)
    monkeypatch.setattr("timevista_hf.io._detections._FILE", file)
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


def test_datasets_reads_the_file(path, tmp_path):
    write_detections(path, [FULL, VARIATES])
    cache = str(tmp_path / "cache")
    rows = load_dataset("parquet", data_files=str(path), split="train", cache_dir=cache)
    assert rows[0]["events"] == [[2, 12], [50, 61]]


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


def row_with(path, **fields):
    write_detections(path, [FULL, FULL])
    table = pq.read_table(path)
    first, second = table.to_pylist()
    changed = [first, {**second, **fields}]
    pq.write_table(pa.Table.from_pylist(changed, schema=table.schema), path)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"status": "fine"}, "row 2, column 'status': must be one of ok,"),
        ({"granularity": "year"}, "row 2, column 'granularity': must be one of point,"),
        ({"events": [[1, 2], [3]]}, "row 2, column 'events': must hold pairs"),
    ],
)
def test_a_row_that_is_no_detection_is_named(path, fields, message):
    row_with(path, **fields)
    with pytest.raises(ValueError, match=message):
        list(read_detections(path))


def test_what_a_detection_does_not_have_is_passed_over(path):
    write_detections(path, [FULL])
    table = pq.read_table(path)
    pq.write_table(table.append_column("note", pa.array(["mine"])), path)
    assert [entry.case_id for entry in read_detections(path)] == ["a"]
