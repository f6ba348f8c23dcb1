"""Files of the sources over HTTP and from the Hub, against servers on loopback."""

import functools
import hashlib
from dataclasses import replace

import numpy as np
import pytest
from file_server import FileServer
from huggingface_hub import hf_hub_download

from timevista_hf.loading import download as downloading
from timevista_hf.sources import Web, _catalog, read_series


@pytest.fixture(autouse=True)
def online(tmp_path, monkeypatch):
    """Let the clients speak to loopback, and keep what they fetch in the test's folder."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr(
        "timevista_hf.sources._files.cached_assets_path", lambda *names: tmp_path.joinpath(*names)
    )
    monkeypatch.setattr(downloading, "PAUSE", 0.0)


def test_a_closed_port_is_told_with_both_ways_out(tmp_path, monkeypatch):
    here = replace(
        _catalog.load_source("covid_death"), origin=Web(pattern="http://127.0.0.1:9/{path}")
    )
    monkeypatch.setitem(_catalog._SOURCES, "covid_death", here)
    with pytest.raises(ValueError, match=r"was not downloaded: .*data_dir"):
        read_series("covid_death")


def ptb_files(digest=None):
    """Make two records, and the list of their hashes as PhysioNet has it."""
    files = {}
    for number in (1, 2):
        steps = np.random.default_rng(number).integers(-2000, 2000, size=600)
        header = f"s{number} 1 100 600\ns{number}.dat 16 2000/mV 16 0 0 0 0 ii\n"
        files[f"patient00{number}/s{number}.dat"] = steps.astype("<i2").tobytes()
        files[f"patient00{number}/s{number}.hea"] = header.encode()
    sums = [f"{digest or hashlib.sha256(body).hexdigest()} {name}" for name, body in files.items()]
    return files | {"SHA256SUMS.txt": "\n".join(sums).encode() + b"\n"}


def physionet(monkeypatch, server):
    web = Web(pattern=f"{server.url}/{{path}}", sums="SHA256SUMS.txt")
    monkeypatch.setitem(_catalog._SOURCES, "ptb", replace(_catalog.load_source("ptb"), origin=web))


def test_records_are_listed_and_checked_by_the_list_of_hashes(monkeypatch):
    with FileServer(ptb_files()) as server:
        physionet(monkeypatch, server)
        ids = {series.id for series in read_series("ptb")}
    assert ids == {f"all/patient00{k}/s{k}/ii@500+100" for k in (1, 2)}


def test_only_the_records_that_are_read_are_downloaded(monkeypatch):
    with FileServer(ptb_files()) as server:
        physionet(monkeypatch, server)
        stream = read_series("ptb")
        next(stream)
        stream.close()
    assert len(server.asked) == 3  # the list, a header and its signals


def test_a_record_unlike_its_hash_is_refused(monkeypatch):
    with FileServer(ptb_files(digest="0" * 64)) as server:
        physionet(monkeypatch, server)
        with pytest.raises(ValueError, match=r"patient00\d/s\d\.hea: the file must have"):
            list(read_series("ptb"))


def on_hub(monkeypatch, server):
    here = functools.partial(hf_hub_download, endpoint=server.url)
    monkeypatch.setattr("timevista_hf.sources._files.hf_hub_download", here)


def test_a_file_of_the_hub_comes_through_its_client(save_arrow, monkeypatch):
    values = np.random.default_rng(0).normal(size=300)
    row = {"item_id": "btc", "start": "2020-01-01T00:00:00", "freq": "D", "target": values}
    name = "Crypto/D/data-00000-of-00001.arrow"
    body = (save_arrow("Crypto/D", [row]) / name).read_bytes()
    address = f"datasets/Real-TSF/TIME/resolve/main/{name}"
    with FileServer({address: body}) as server:
        on_hub(monkeypatch, server)
        assert len(list(read_series("crypto"))) == 9
    assert {path for _, path, _ in server.asked} == {f"/{address}"}


def test_a_file_that_the_hub_lacks_is_told_with_both_ways_out(monkeypatch):
    with FileServer({}) as server:
        on_hub(monkeypatch, server)
        with pytest.raises(ValueError, match=r"arrow was not downloaded: .*data_dir"):
            read_series("crypto")


def test_a_file_of_the_hub_with_another_hash_is_refused_and_had_anew(monkeypatch):
    revision = _catalog.load_source("fnspid").origin.revision
    address = f"datasets/Zihan1004/FNSPID/resolve/{revision}/Stock_price/full_history.zip"
    with FileServer({address: b"another archive"}) as server:
        on_hub(monkeypatch, server)
        for _ in range(2):
            with pytest.raises(ValueError, match=r"full_history\.zip: the file must have the SHA"):
                read_series("fnspid")
    assert [method for method, *_ in server.asked].count("GET") == 2
