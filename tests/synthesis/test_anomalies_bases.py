"""The real series below the anomalies: formats, folders, the download."""

import hashlib
import io
import threading
import zipfile
from dataclasses import replace
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest
from huggingface_hub import cached_assets_path, constants
from synthesis.archives import draw_cases, write_arff, write_csv, write_ts, write_tsv

from timevista_hf.synthesis import _bases
from timevista_hf.synthesis._bases import load_cases
from timevista_hf.synthesis.anomalies import make_anomalies

NAMES = {"Symbols": "symbols", "ArticularyWordRecognition": "articulary_word_recognition"}


@pytest.mark.parametrize("title", NAMES)
@pytest.mark.parametrize(("suffix", "write"), [("arff", write_arff), ("ts", write_ts)])
def test_the_archives_formats_hold_the_same_cases(tmp_path, title, suffix, write):
    cases = draw_cases(title, 3)
    (tmp_path / f"{title}_TEST.{suffix}").write_text(write(title, cases))
    assert np.array_equal(load_cases(NAMES[title], tmp_path), cases)


def test_the_tables_of_the_ucr_archive_start_with_the_class(tmp_path):
    cases = draw_cases("Symbols", 3)
    (tmp_path / "Symbols_TEST.tsv").write_text(write_tsv("Symbols", cases))
    assert np.array_equal(load_cases("symbols", tmp_path), cases)


@pytest.mark.parametrize("title", NAMES)
def test_a_csv_file_holds_the_first_case(tmp_path, title):
    cases = draw_cases(title, 1)
    (tmp_path / f"{NAMES[title]}_test_0.csv").write_text(write_csv(title, cases))
    assert np.array_equal(load_cases(NAMES[title], tmp_path), cases)


@pytest.mark.parametrize("folder", ["Symbols", "UCRArchive_2018/Symbols"])
def test_files_are_found_in_the_archives_folders(tmp_path, folder):
    cases = draw_cases("Symbols", 2)
    (tmp_path / folder).mkdir(parents=True)
    (tmp_path / folder / "Symbols_TEST.tsv").write_text(write_tsv("Symbols", cases))
    assert load_cases("symbols", tmp_path).shape == (2, 398, 1)


def test_the_folder_may_come_from_the_environment(tmp_path, monkeypatch):
    (tmp_path / "symbols_test_0.csv").write_text(write_csv("Symbols", draw_cases("Symbols", 1)))
    monkeypatch.setenv("TIMEVISTA_DATA_DIR", str(tmp_path))
    assert len([*make_anomalies("symbols-trend", count=3)]) == 3


def test_a_folder_without_the_file_says_what_to_get_and_where(tmp_path):
    with pytest.raises(ValueError, match=r"put one of Symbols_TEST.arff, .*Symbols\.zip"):
        make_anomalies("symbols-global", data_dir=tmp_path)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("@data\n1,2,3,1\n", "must hold cases of 1 x 398 values, got 1 x 3"),
        ("@data\n1,2,3,1\n1,2,1\n", "cases of equal size"),
        ("@data\n1,x,3,1\n", "must hold numbers"),
        ("no data", "must hold cases of 1 x 398 values"),
        ("@data\n" + "nan," * 398 + "1\n", "finite"),
    ],
)
def test_a_file_of_something_else_is_refused(tmp_path, content, reason):
    (tmp_path / "Symbols_TEST.arff").write_text(content)
    with pytest.raises(ValueError, match=f"Symbols_TEST.arff: .*{reason}"):
        load_cases("symbols", tmp_path)


@pytest.fixture
def archive(tmp_path, monkeypatch):
    """Serve a folder in place of the archive; give it, and the list of what was asked for."""
    served, asked = tmp_path / "served", []
    served.mkdir()

    class Handler(SimpleHTTPRequestHandler):
        def log_message(self, template, *values):
            asked.append(self.path)

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(served)))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    url = f"http://127.0.0.1:{server.server_port}"
    monkeypatch.setattr(_bases, "ARCHIVE_URL", url)
    monkeypatch.setattr(
        "huggingface_hub.cached_assets_path",
        partial(cached_assets_path, assets_dir=tmp_path / "cache"),
    )
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.delenv("TIMEVISTA_DATA_DIR", raising=False)
    yield served, asked
    server.shutdown()
    thread.join()
    server.server_close()


def serve(folder, cases, monkeypatch, line_end="\n"):
    """Put an archive into the folder, and make its content the official one."""
    content = write_arff("Symbols", cases).encode()
    blob = hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False)
    official = replace(_bases.REAL_BASES["symbols"], blob=blob.hexdigest())
    monkeypatch.setitem(_bases.REAL_BASES, "symbols", official)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("Symbols.txt", "about")
        archive.writestr("Symbols_TEST.arff", content.replace(b"\n", line_end.encode()))
    (folder / "Symbols.zip").write_bytes(packed.getvalue())


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_the_archive_is_downloaded_once(archive, monkeypatch, line_end):
    served, asked = archive
    cases = draw_cases("Symbols", 2)
    serve(served, cases, monkeypatch, line_end)
    assert np.array_equal(load_cases("symbols"), cases)
    assert np.array_equal(load_cases("symbols"), cases)
    assert asked == ["/Symbols.zip"]


def test_a_download_with_another_hash_is_refused_and_not_kept(archive, monkeypatch, tmp_path):
    official = _bases.REAL_BASES["symbols"]
    serve(archive[0], draw_cases("Symbols", 2), monkeypatch)
    monkeypatch.setitem(_bases.REAL_BASES, "symbols", official)
    with pytest.raises(ValueError, match="must have the git blob id d46a3e73"):
        load_cases("symbols")
    kept = [path.name for path in (tmp_path / "cache").rglob("*") if path.is_file()]
    assert kept == ["Symbols.zip.lock"]


def test_an_archive_that_is_not_there_says_what_to_do(archive):
    with pytest.raises(ValueError, match=r"answers 404 .*put one of Symbols_TEST.arff"):
        load_cases("symbols")


def test_an_archive_without_the_file_is_refused(archive):
    with zipfile.ZipFile(archive[0] / "Symbols.zip", "w") as packed:
        packed.writestr("Symbols.txt", "about")
    with pytest.raises(ValueError, match=r"holds no Symbols_TEST\.arff"):
        load_cases("symbols")


def test_nothing_is_asked_for_offline(archive, monkeypatch):
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(ValueError, match="HF_HUB_OFFLINE is set; put one of"):
        load_cases("symbols")
    assert archive[1] == []
