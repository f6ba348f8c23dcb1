"""Files that `datasets` saved, as TIME and GIFT-Eval have them."""

from collections import Counter

import datasets
import numpy as np
import pytest

from timevista_hf.sources import read_series

FILE = "Crypto/D/data-00000-of-00001.arrow"


def item(name, values):
    return {"item_id": name, "start": "2017-12-20T00:00:00", "freq": "D", "target": values}


def wave(steps, seed=0):
    return np.random.default_rng(seed).normal(size=steps).astype(np.float32)


def test_windows_of_a_series_are_its_steps_widened_to_float64(save_arrow):
    values = wave(300)
    folder = save_arrow("Crypto/D", [item("btc", values)])
    found = {series.id: series for series in read_series("crypto", data_dir=folder)}
    # 300 - 273 = 27 steps before the span, which holds nine windows of 30.
    assert sorted(found) == sorted(f"all/btc@{27 + 30 * k}+30" for k in range(9))
    series = found["all/btc@57+30"]
    assert series.history.dtype == series.truth.dtype == np.float64
    np.testing.assert_array_equal(series.history, values[:57].astype(np.float64))
    np.testing.assert_array_equal(series.truth, values[57:87].astype(np.float64))


def test_a_series_says_what_it_is_and_where_it_came_from(save_arrow):
    folder = save_arrow("Crypto/D", [item("btc", wave(300))])
    series = next(read_series("crypto", data_dir=folder))
    assert (series.dataset, series.freq, series.unit) == ("crypto", "D", "USD")
    assert series.start == "2017-12-20T00:00:00"
    assert series.provenance["origin"] == "hf://datasets/Real-TSF/TIME@main"
    assert series.provenance["file"] == FILE
    assert series.provenance["cut"] == series.history.size


def test_arrays_are_read_only(save_arrow):
    folder = save_arrow("Crypto/D", [item("btc", wave(300))])
    series = next(read_series("crypto", data_dir=folder))
    with pytest.raises(ValueError, match="read-only"):
        series.history[0] = 1.0


@pytest.mark.parametrize("length", [-1, 2])
def test_the_variates_of_an_item_are_series_of_their_own(save_arrow, length):
    variates = np.stack([wave(300, 1), wave(300, 2)])
    kind = datasets.List(datasets.List(datasets.Value("float32")), length=length)
    folder = save_arrow("Crypto/D", [item("btc", variates)], target=kind)
    found = {series.id: series for series in read_series("crypto", data_dir=folder)}
    assert len(found) == 18
    np.testing.assert_array_equal(found["all/btc_dim1@27+30"].history, variates[1, :27])


def test_items_of_one_name_are_told_apart(save_arrow):
    folder = save_arrow("Crypto/D", [item("a", wave(300, 1)), item("a", wave(300, 2))])
    ids = [series.id for series in read_series("crypto", data_dir=folder)]
    assert len(set(ids)) == len(ids) == 18


def test_windows_with_missing_steps_are_dropped_and_counted(save_arrow):
    values = wave(300)
    values[250] = np.nan
    folder, counts = save_arrow("Crypto/D", [item("btc", values)]), Counter()
    kept = list(read_series("crypto", data_dir=folder, counts=counts))
    # The windows end at 57, 87, ... 297: the first seven, up to 237, do not reach step 250.
    assert max(series.provenance["stop"] for series in kept) == 237
    assert counts == {"kept": 7, "missing": 2}


def test_windows_with_a_constant_history_or_truth_are_dropped_and_counted(save_arrow):
    values = wave(300)
    values[:87] = 4.0  # the histories of the first three windows: 27, 57 and 87 steps
    values[267:] = 5.0  # the truth of the last one
    folder, counts = save_arrow("Crypto/D", [item("btc", values)]), Counter()
    list(read_series("crypto", data_dir=folder, counts=counts))
    assert counts == {"kept": 5, "constant": 4}


def test_parts_lie_in_folders_of_their_own(save_arrow):
    for name, steps in (("D", 900), ("I", 900), ("U", 400)):
        folder = save_arrow(f"azure2019_{name}/5T", [item("vm", wave(steps))])
    ids = [series.id for series in read_series("azure2019", data_dir=folder)]
    assert Counter(name[0] for name in ids) == {"D": 3, "I": 3, "U": 6}


def test_a_file_that_is_no_arrow_stream_is_refused(tmp_path):
    (tmp_path / FILE).parent.mkdir(parents=True)
    (tmp_path / FILE).write_bytes(b"PAR1" * 9)
    with pytest.raises(ValueError, match=r"data-00000-of-00001\.arrow: is no Arrow stream"):
        read_series("crypto", data_dir=tmp_path)


def test_a_file_without_the_columns_is_refused(tmp_path):
    datasets.Dataset.from_dict({"y": [1.0]}).save_to_disk(tmp_path / "Crypto/D")
    with pytest.raises(ValueError, match="lacks the columns item_id, start, target"):
        read_series("crypto", data_dir=tmp_path)
