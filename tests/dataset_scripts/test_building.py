"""Datasets as folders: `build_dataset` and `timevista build`."""

import io
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import datasets
import pyarrow.parquet as pq
import pytest
import yaml
from PIL import Image
from typer.testing import CliRunner

from timevista_hf.building import _build, _parts, anomaly_rows, build_dataset
from timevista_hf.cli import app
from timevista_hf.loading.names import find_dataset

NAME = "visual_time_anomaly"
SUBSET = "sine-trend"
FILES = {f"data/corrected/{SUBSET}-{split}.parquet" for split in ("train", "test")}


def blank_picture():
    image = io.BytesIO()
    Image.new("1", (10, 10)).save(image, format="PNG")
    return image.getvalue()


@pytest.fixture
def fast(monkeypatch):
    """Draw nothing: a build takes no time."""
    picture = blank_picture()
    monkeypatch.setattr(
        "timevista_hf.building._anomaly_rows.AnomalyRenderer.render", lambda self, case: picture
    )


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A build by one process that nothing stopped."""
    return build_dataset(NAME, tmp_path_factory.mktemp("whole"), config_name=SUBSET)


def files_of(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def configs_of(folder):
    front = (folder / "README.md").read_text(encoding="utf-8").split("---\n")[1]
    return yaml.safe_load(front)["configs"]


def command(*arguments):
    return CliRunner().invoke(app, ["build", *map(str, arguments)])


def test_a_build_holds_a_file_a_part_and_split_the_card_and_its_picture(whole):
    assert set(files_of(whole.folder)) == FILES | {"README.md", "examples.png"}
    assert (whole.written, whole.kept) == (2, 0)


def test_a_file_holds_the_rows_of_the_builder_and_its_features(whole):
    found = datasets.Dataset.from_parquet(
        str(whole.folder / f"data/corrected/{SUBSET}-test.parquet")
    )
    builder = datasets.load_dataset_builder(NAME, SUBSET)
    assert found.features == builder.info.features
    first = found.cast_column("image", datasets.Image(decode=False))[0]
    assert first == next(anomaly_rows(f"corrected/{SUBSET}", "test"))
    assert found[0]["image"].size == (1000, 150)


def test_the_hash_in_the_card_is_what_the_card_says_prints_it(whole):
    text = (whole.folder / "README.md").read_text(encoding="utf-8")
    [line] = re.findall(r"^find data .*$", text, flags=re.MULTILINE)
    done = subprocess.run(["bash", "-c", line], cwd=whole.folder, capture_output=True, text=True)
    assert done.stdout.split()[0] == whole.content
    assert f"`{whole.content}`" in text


def test_killed_halfway_and_run_again_it_is_the_same_to_the_byte(whole, tmp_path):
    first = tmp_path / "data" / "corrected" / f"{SUBSET}-train.parquet"
    arguments = ["build", NAME, "--config", SUBSET, "--output", str(tmp_path)]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    killed = subprocess.Popen([sys.executable, "-m", "timevista_hf", *arguments], **quiet)
    end = time.monotonic() + 100
    while not first.exists() and killed.poll() is None and time.monotonic() < end:
        time.sleep(0.01)
    killed.send_signal(signal.SIGKILL)
    assert killed.wait() == -signal.SIGKILL
    assert not (tmp_path / "README.md").exists()
    before = first.stat().st_mtime_ns
    again = build_dataset(NAME, tmp_path, config_name=SUBSET)
    assert (again.written, again.kept, first.stat().st_mtime_ns) == (1, 1, before)
    assert files_of(tmp_path) == files_of(whole.folder)


def test_two_processes_write_the_same_bytes(whole, tmp_path):
    build_dataset(NAME, tmp_path, config_name=SUBSET, num_proc=2)
    assert files_of(tmp_path) == files_of(whole.folder)


def test_a_second_run_keeps_every_file(fast, tmp_path):
    first = build_dataset(NAME, tmp_path, config_name=SUBSET)
    second = build_dataset(NAME, tmp_path, config_name=SUBSET)
    assert (second.written, second.kept, second.content) == (0, 2, first.content)


def test_files_of_another_release_are_written_anew(fast, tmp_path, monkeypatch):
    build_dataset(NAME, tmp_path, config_name=SUBSET)
    other = replace(find_dataset(NAME), folder=tmp_path)
    monkeypatch.setattr(_parts, "find_dataset", lambda name: other)
    part, recipe = _parts.Part(f"corrected/{SUBSET}", "test"), _parts.Recipe(NAME, SUBSET)
    assert not _parts.is_written(part, recipe, tmp_path)


def test_temporary_files_of_a_killed_build_are_removed(fast, tmp_path):
    left = tmp_path / "data" / "corrected" / f".{SUBSET}-test.parquet.01234567.tmp"
    left.parent.mkdir(parents=True)
    left.write_bytes(b"half")
    build_dataset(NAME, tmp_path, config_name=SUBSET)
    assert not left.exists()


def test_a_build_that_is_stopped_keeps_what_is_finished(fast, tmp_path):
    def stop(parts, total):
        yield next(iter(parts))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build_dataset(NAME, tmp_path, config_name=SUBSET, progress=stop)
    assert set(files_of(tmp_path)) == {f"data/corrected/{SUBSET}-train.parquet"}
    assert build_dataset(NAME, tmp_path, config_name=SUBSET).kept == 1


def test_a_part_that_fails_leaves_no_file(tmp_path, monkeypatch):
    def fail(self, case):
        raise ValueError("no picture")

    monkeypatch.setattr("timevista_hf.building._anomaly_rows.AnomalyRenderer.render", fail)
    with pytest.raises(ValueError, match="no picture"):
        build_dataset(NAME, tmp_path, config_name=SUBSET)
    assert files_of(tmp_path) == {}


def test_the_progress_is_told_how_many_files_are_left(fast, tmp_path):
    totals = []

    def progress(parts, total):
        totals.append(total)
        return parts

    build_dataset(NAME, tmp_path, config_name=SUBSET, progress=progress)
    build_dataset(NAME, tmp_path, config_name=SUBSET, progress=progress)
    assert totals == [2, 0]


def test_other_configurations_join_the_folder_and_the_card(fast, tmp_path):
    names = ["sine-trend", "sine-global"]
    for name in names:
        build_dataset(NAME, tmp_path, config_name=name)
    configs = configs_of(tmp_path)
    assert sorted(config["config_name"] for config in configs) == sorted(names)
    assert [config.get("default", False) for config in configs] == [True, False]
    assert datasets.load_dataset(str(tmp_path), "sine-trend", split="test").num_rows == 100


def test_a_configuration_of_many_subsets_lists_them_in_order_and_each_alone(
    fast, tmp_path, monkeypatch
):
    module = import_module(f"timevista_hf.dataset_scripts.{NAME}.{NAME}")
    monkeypatch.setattr(
        module, "anomaly_rows", lambda *a, **k: anomaly_rows(*a, **{"count": 2, **k})
    )
    build_dataset(NAME, tmp_path)
    default, *singles = configs_of(tmp_path)
    builder = datasets.load_dataset_builder(NAME)
    assert (default["config_name"], default["default"]) == ("default", True)
    assert [one["config_name"] for one in singles] == list(builder.config.subsets)
    stream = datasets.load_dataset(str(tmp_path), split="test", streaming=True)
    ids = [row["id"] for row in stream.select_columns("id")]
    assert ids[::2] == [f"{subset}-test-0000" for subset in builder.config.subsets]


def test_a_file_says_what_it_was_made_by(whole):
    schema = pq.read_schema(whole.folder / f"data/corrected/{SUBSET}-test.parquet")
    assert re.fullmatch(
        rb"visual_time_anomaly [0-9a-f]{64} matplotlib [\d.]+", schema.metadata[b"timevista_hf"]
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["no_such"], "unknown dataset 'no_such'. Known: "),
        ([NAME, "--config", "papers"], "unknown configuration of 'visual_time_anomaly' 'papers'"),
        ([NAME, "--config", "paper", "--data-dir", "."], ".: holds no file of 'Symbols' cases"),
    ],
)
def test_what_a_user_can_mend_is_one_line(options, message, tmp_path):
    done = command(*options, "--output", tmp_path / "new")
    assert done.exit_code == 2
    assert done.stderr.startswith(f"error: {message}")
    assert done.stderr.count("\n") == 1


def test_an_output_that_is_a_file_is_refused(tmp_path):
    (tmp_path / "file").touch()
    done = command(NAME, "--config", SUBSET, "--output", tmp_path / "file")
    assert done.stderr == f"error: {tmp_path / 'file'}: is a file; give a folder\n"


def test_fewer_than_one_process_is_refused(tmp_path):
    with pytest.raises(ValueError, match="`num_proc` must be at least 1, got 0"):
        build_dataset(NAME, tmp_path, num_proc=0)


def test_ctrl_c_says_how_to_go_on(tmp_path, monkeypatch):
    def stop(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(_build, "write_part", stop)
    done = command(NAME, "--config", SUBSET, "--output", tmp_path)
    assert done.exit_code == 130
    assert done.stderr.splitlines()[-1] == (
        "Stopped. Run the same command again to go on from here."
    )


def test_the_command_says_what_it_did_and_how_to_load_it(fast, tmp_path):
    done = command(NAME, "--config", SUBSET, "--output", tmp_path)
    assert done.exit_code == 0
    assert done.stdout == f'datasets.load_dataset("{tmp_path}")\n'
    assert re.search(r"^2 files written, 0 kept\. Content [0-9a-f]{64}$", done.stderr, re.MULTILINE)


def test_workers_end_with_a_parent_that_is_killed(tmp_path):
    code = f"""
import multiprocessing, os, signal, threading, time
from timevista_hf.building import build_dataset
if __name__ == "__main__":
    def report():
        while len(multiprocessing.active_children()) < 2:
            time.sleep(0.05)
        print(*[child.pid for child in multiprocessing.active_children()], flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
    threading.Thread(target=report).start()
    build_dataset({NAME!r}, {str(tmp_path)!r}, num_proc=2)
"""
    script = tmp_path / "script.py"
    script.write_text(code, encoding="utf-8")
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=100)
    assert done.returncode == -signal.SIGKILL
    workers = [int(pid) for pid in done.stdout.split()]
    assert len(workers) == 2
    end = time.monotonic() + 60
    while any(map(is_running, workers)) and time.monotonic() < end:
        time.sleep(0.1)
    assert not any(map(is_running, workers))


def is_running(pid):
    status = Path(f"/proc/{pid}/stat")
    if not status.exists():
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return status.read_text().rpartition(")")[2].split()[0] != "Z"
