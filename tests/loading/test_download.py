"""Downloads over HTTP, against a server on loopback."""

import hashlib

import pytest
from file_server import FileServer

from timevista_hf.loading import download as downloading
from timevista_hf.loading.download import download

BODY = bytes(range(256)) * 40


@pytest.fixture(autouse=True)
def online(monkeypatch):
    """Let the client speak to loopback, and never wait."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    monkeypatch.setattr(downloading, "PAUSE", 0.0)


def test_a_file_is_downloaded_once(tmp_path):
    with FileServer({"a.csv": BODY}) as server:
        for _ in range(2):
            path = download(f"{server.url}/a.csv", tmp_path / "new" / "a.csv")
    assert path.read_bytes() == BODY
    assert server.asked == [("GET", "/a.csv", None)]


def test_a_cut_download_goes_on_where_it_stopped(tmp_path):
    with FileServer({"a.csv": BODY}, cuts=[1000, 3000]) as server:
        path = download(f"{server.url}/a.csv", tmp_path / "a.csv")
    assert path.read_bytes() == BODY
    assert [ranged for *_, ranged in server.asked] == [None, "bytes=1000-", "bytes=4000-"]


def test_what_an_earlier_run_left_is_gone_on_with(tmp_path):
    (tmp_path / "a.csv.part").write_bytes(BODY[:500])
    with FileServer({"a.csv": BODY}) as server:
        path = download(f"{server.url}/a.csv", tmp_path / "a.csv")
    assert path.read_bytes() == BODY
    assert server.asked == [("GET", "/a.csv", "bytes=500-")]
    assert not (tmp_path / "a.csv.part").exists()


def test_a_server_without_ranges_sends_the_file_anew(tmp_path):
    with FileServer({"a.csv": BODY}, cuts=[1000], ranges=False) as server:
        path = download(f"{server.url}/a.csv", tmp_path / "a.csv")
    assert path.read_bytes() == BODY


def test_a_part_longer_than_the_file_is_thrown_away(tmp_path):
    (tmp_path / "a.csv.part").write_bytes(BODY * 2)
    with FileServer({"a.csv": BODY}) as server:
        path = download(f"{server.url}/a.csv", tmp_path / "a.csv")
    assert path.read_bytes() == BODY


def test_a_busy_server_is_asked_again(tmp_path):
    with FileServer({"a.csv": BODY}, statuses=[503, 429]) as server:
        download(f"{server.url}/a.csv", tmp_path / "a.csv")
    assert len(server.asked) == 3


def test_a_file_that_is_not_there_is_asked_for_once(tmp_path):
    with (
        FileServer({}) as server,
        pytest.raises(ConnectionError, match="the server answers 404 for"),
    ):
        download(f"{server.url}/a.csv", tmp_path / "a.csv")
    assert len(server.asked) == 1
    assert not (tmp_path / "a.csv").exists()


def test_a_line_that_always_breaks_is_given_up(tmp_path):
    with (
        FileServer({"a.csv": BODY}, cuts=[0] * downloading.ATTEMPTS) as server,
        pytest.raises(ConnectionError, match=r"a\.csv: "),
    ):
        download(f"{server.url}/a.csv", tmp_path / "a.csv")
    assert len(server.asked) == downloading.ATTEMPTS


def test_a_file_with_another_hash_is_refused_and_removed(tmp_path):
    expected = hashlib.sha256(b"another").hexdigest()
    with (
        FileServer({"a.csv": BODY}) as server,
        pytest.raises(ValueError, match=f"must have the SHA-256 {expected}, got"),
    ):
        download(f"{server.url}/a.csv", tmp_path / "a.csv", sha256=expected)
    assert [path.name for path in tmp_path.iterdir()] == ["a.csv.lock"]
