"""Which windows are read, in which order, and what is said where files lack."""

import hashlib
import logging
from collections import Counter

import numpy as np
import pytest

from timevista_hf.sources import list_sources, load_source, read_series


def digest(name):
    return hashlib.sha256(name.encode()).hexdigest()


def items(number, steps=300):
    noise = np.random.default_rng(0).normal(size=(number, steps))
    return [
        {"item_id": f"coin {k}", "start": "2020-01-01T00:00:00", "freq": "D", "target": values}
        for k, values in enumerate(noise)
    ]


def test_no_more_series_are_read_than_table_3_counts(save_arrow):
    folder, counts = save_arrow("Crypto/D", items(10)), Counter()
    # Ten items of nine windows hold 90; the paper has 29.
    assert len(list(read_series("crypto", data_dir=folder, counts=counts))) == 29
    assert counts == {"kept": 29}


def test_every_item_gives_a_window_before_any_gives_a_second(save_arrow):
    folder = save_arrow("Crypto/D", items(10))
    names = [one.provenance["series"] for one in read_series("crypto", data_dir=folder)]
    assert len(set(names[:10])) == len(set(names[10:20])) == 10


def test_a_dropped_window_is_replaced(save_arrow):
    rows = items(10)
    rows[0]["target"] = np.zeros(300)
    folder, counts = save_arrow("Crypto/D", rows), Counter()
    assert len(list(read_series("crypto", data_dir=folder, counts=counts))) == 29
    # 29 good ones from nine items need four turns, and each of them meets the constant one,
    # if not the last.
    assert counts["constant"] in (3, 4)


def test_the_choice_is_the_same_whatever_the_order_of_the_file(save_arrow):
    ids = [
        [one.id for one in read_series("crypto", data_dir=save_arrow("Crypto/D", rows))]
        for rows in (items(10), items(10)[::-1])
    ]
    assert ids[0] == ids[1]
    first = min((f"all/coin {k}" for k in range(10)), key=digest)
    windows = [f"{first}@{27 + 30 * k}+30" for k in range(9)]
    assert ids[0][0] == min(windows, key=digest)


def test_windows_are_read_as_they_are_asked_for(save_zip):
    *good, last = sorted("abcd", key=lambda name: digest(f"all/{name}"))
    dates = np.arange("2020-01", "2020-03", dtype="datetime64[D]")
    days = [f"{day},{step}" for step, day in enumerate(dates)]
    members = {f"{name}.csv": "\n".join(["date,close", *days]) for name in good}
    members[f"{last}.csv"] = "broken"
    stream = read_series("fnspid", data_dir=save_zip("Stock_price/full_history.zip", members))
    assert [next(stream).provenance["series"] for _ in good] == good
    with pytest.raises(ValueError, match=rf"{last}\.csv: needs the columns"):
        next(stream)


def test_the_log_tells_what_was_kept_and_dropped(save_arrow, caplog):
    rows = items(1)
    rows[0]["target"][250] = np.nan
    with caplog.at_level(logging.INFO, "timevista_hf.sources"):
        list(read_series("crypto", data_dir=save_arrow("Crypto/D", rows)))
    [message] = caplog.messages
    assert message.startswith("crypto: {")
    assert "'missing': 2" in message
    assert message.endswith("Table 3 has 29")


@pytest.mark.parametrize("name", list_sources())
def test_an_empty_folder_is_refused_with_both_ways_out(tmp_path, name):
    source = load_source(name)
    with pytest.raises(ValueError, match=f"dataset '{name}'") as caught:
        read_series(name, data_dir=tmp_path)
    message = str(caught.value)
    assert "go online" in message
    assert "data_dir" in message
    assert source.url in message
    assert all(file in message for file in source.files)


@pytest.mark.parametrize("name", list_sources())
def test_without_a_network_both_ways_out_are_named(name, tmp_path, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr(
        "timevista_hf.sources._files.cached_assets_path", lambda *names: tmp_path.joinpath(*names)
    )
    source = load_source(name)
    with pytest.raises(ValueError, match="was not downloaded") as caught:
        read_series(name)
    assert source.url in str(caught.value)
    assert "data_dir" in str(caught.value)
