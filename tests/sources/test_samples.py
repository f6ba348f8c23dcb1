"""Pieces of the real data, where the folder with them lies beside the checkout."""

import csv
import zipfile
from collections import Counter, defaultdict
from datetime import date
from pathlib import Path

import numpy as np
import pytest

from timevista_hf.sources import read_series

SAMPLES = Path(__file__).parents[3] / "shared" / "samples"
pytestmark = pytest.mark.skipif(not SAMPLES.is_dir(), reason="the samples are not there")


def rows(name):
    with (SAMPLES / name).open(newline="") as file:
        yield from csv.DictReader(file)


def columns(name):
    table = list(rows(name))
    first, *names = table[0]
    assert first in ("t", "timestamp", "timestamp_s")
    return {column: np.array([float(row[column]) for row in table]) for column in names}


def series(name, value):
    found = defaultdict(list)
    for row in rows(name):
        found[row["item_id"]].append((row["date"], row[value]))
    return found


def test_solar_plants_give_the_lengths_of_table_3(save_arrow):
    plants = columns("solar.csv")
    items = [
        {"item_id": name, "start": "2006-01-01T00:00:00", "freq": "H", "target": values}
        for name, values in plants.items()
    ]
    found = list(read_series("solar", data_dir=save_arrow("solar/H", items)))
    lengths = {one.history.size for one in found}
    assert (len(found), min(lengths), max(lengths)) == (4 * 9, 8328, 8712)
    one = found[0]
    plant = plants[one.provenance["series"]].astype(np.float32)
    np.testing.assert_array_equal(one.truth, plant[one.history.size :][:48])


def test_a_data_centre_gives_three_windows_of_a_day(save_arrow):
    [values] = columns("azure2019.csv").values()
    item = {"item_id": "all", "start": "2019-11-01T00:00:00", "freq": "5T", "target": values}
    for name in ("D", "I", "U"):
        folder = save_arrow(f"azure2019_{name}/5T", [item])
    found = [one for one in read_series("azure2019", data_dir=folder) if one.id.startswith("D/")]
    assert sorted(one.history.size for one in found) == [7776, 8064, 8352]  # T = 8640


def test_deaths_are_cut_at_five_days_in_every_country(tmp_path):
    countries = series("covid_death.csv", "deaths_cumulative")
    days = [date.fromisoformat(day) for day, _ in next(iter(countries.values()))]
    header = ["Province/State", "Country/Region", "Lat", "Long"]
    header += [f"{day.month}/{day.day}/{day:%y}" for day in days]
    with (tmp_path / "time_series_covid19_deaths_global.csv").open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(header)
        for name, values in countries.items():
            table.writerow([name, name, 0, 0, *(value for _, value in values)])
    counts = Counter()
    found = list(read_series("covid_death", data_dir=tmp_path, counts=counts))
    assert len(countries) == 16
    assert counts["kept"] + counts["constant"] == 16 * 5
    assert {one.history.size for one in found} == {200, 267, 334, 401, 468}
    italy = next(one for one in found if one.id == "all/Italy@200+21")
    expected = [float(value) for _, value in countries["Italy"][200:221]]
    assert italy.truth.tolist() == expected


def test_ten_tickers_give_sixty_blocks(tmp_path):
    tickers = series("fnspid.csv", "close")
    (tmp_path / "Stock_price").mkdir()
    with zipfile.ZipFile(tmp_path / "Stock_price/full_history.zip", "w") as archive:
        for name, days in tickers.items():
            lines = ["date,close", *(",".join(day) for day in days[::-1])]
            archive.writestr(f"full_history/{name}.csv", "\n".join(lines))
    found = list(read_series("fnspid", data_dir=tmp_path))
    assert len(found) == 10 * 6  # 300 days each
    assert all((one.history.size, one.truth.size) == (42, 7) for one in found)


def test_a_record_of_ptb_is_resampled_as_the_benchmark_does(tmp_path):
    raw = columns("ptb_raw1000hz.csv")  # the first 8 s of three leads
    steps = np.stack([np.rint(values * 2000) for values in raw.values()], axis=1)
    names = [name.rpartition("_")[2] for name in raw]
    (tmp_path / "patient001").mkdir()
    (tmp_path / "patient001/s0010_re.dat").write_bytes(steps.astype("<i2").tobytes())
    lines = [f"s0010_re {len(names)} 1000 {len(steps)}"]
    lines += [f"s0010_re.dat 16 2000/mV 16 0 0 0 0 {name}" for name in names]
    (tmp_path / "patient001/s0010_re.hea").write_text("\n".join(lines) + "\n")
    whole = columns("ptb.csv")  # resampled from all 38.4 s
    found = list(read_series("ptb", data_dir=tmp_path))
    assert len(found) == 3
    for one in found:
        lead = one.provenance["series"].rpartition("/")[2]
        # The ends of the two pieces differ, and ring a little: they are left out.
        np.testing.assert_allclose(one.history[50:], whole[f"s0010_re_{lead}"][50:500], atol=0.02)
