"""The table of JHU CSSE and the archive of FNSPID."""

from datetime import date, timedelta

import numpy as np
import pytest

from timevista_hf.sources import read_series

JHU = "time_series_covid19_deaths_global.csv"
ZIP = "Stock_price/full_history.zip"


def jhu(folder, rows, days=494):
    first = date(2020, 1, 22)
    dates = [first + timedelta(step) for step in range(days)]
    header = ["Province/State", "Country/Region", "Lat", "Long"]
    header += [f"{day.month}/{day.day}/{day:%y}" for day in dates]
    lines = [header, *([*place, "1.5", "2.5", *map(str, values)] for place, values in rows)]
    (folder / JHU).write_text("\n".join(",".join(line) for line in lines) + "\n")
    return folder


def prices(days, header="date,open,high,low,close,adj close,volume"):
    first = date(2020, 1, 1)
    rows = [f"{first + timedelta(step)},0,0,0,{step + 0.5},0,0" for step in range(days)]
    return "\n".join([header, *rows]) + "\n"


def test_a_place_is_cut_at_five_days(tmp_path):
    folder = jhu(tmp_path, [(("", "Peru"), range(494))])
    found = {series.id: series for series in read_series("covid_death", data_dir=folder)}
    assert sorted(found) == [f"all/Peru@{cut}+21" for cut in (200, 267, 334, 401, 468)]
    series = found["all/Peru@200+21"]
    np.testing.assert_array_equal(series.history, np.arange(200.0))
    np.testing.assert_array_equal(series.truth, np.arange(200.0, 221.0))
    assert (series.start, series.unit, series.freq) == ("2020-01-22T00:00:00", "persons", "D")


def test_a_province_is_told_from_its_country(tmp_path):
    folder = jhu(tmp_path, [(("Hubei", "China"), range(221)), (("", "China"), range(221))], 221)
    ids = {series.id for series in read_series("covid_death", data_dir=folder)}
    assert ids == {"all/China/Hubei@200+21", "all/China@200+21"}


def test_a_row_with_other_days_than_the_header_is_refused(tmp_path):
    folder = jhu(tmp_path, [(("", "Peru"), range(490))])
    with pytest.raises(ValueError, match="row 2: has 490 days, the header has 494"):
        list(read_series("covid_death", data_dir=folder))


def test_a_header_without_days_is_refused(tmp_path):
    (tmp_path / JHU).write_text("a,b,c,d,2020-01-22\n")
    with pytest.raises(ValueError, match="row 1: a day must be as 1/22/20"):
        read_series("covid_death", data_dir=tmp_path)


def test_closing_prices_are_cut_into_blocks_of_49_days(save_zip):
    folder = save_zip(ZIP, {"full_history/AA.csv": prices(100)})
    found = {series.id: series for series in read_series("fnspid", data_dir=folder)}
    assert sorted(found) == ["all/AA@42+7", "all/AA@91+7"]
    second = found["all/AA@91+7"]
    np.testing.assert_array_equal(second.history, np.arange(49.5, 91.5))
    np.testing.assert_array_equal(second.truth, np.arange(91.5, 98.5))
    assert second.start == "2020-02-19T00:00:00"  # day 49 after the first of January


def test_days_in_any_order_and_columns_in_any_case_are_read(save_zip):
    header, *rows = prices(49, "Date,Open,High,Low,Close,Adj Close,Volume").splitlines()
    folder = save_zip(ZIP, {"full_history/aa.csv": "\n".join([header, *rows[::-1], rows[3]])})
    [series] = read_series("fnspid", data_dir=folder)
    np.testing.assert_array_equal(series.truth, np.arange(42.5, 49.5))


def test_shadow_files_of_an_archive_are_passed_over(save_zip):
    members = {"full_history/AA.csv": prices(49), "__MACOSX/full_history/._AA.csv": b"\0\1"}
    assert len(list(read_series("fnspid", data_dir=save_zip(ZIP, members)))) == 1


def test_a_ticker_without_closing_prices_is_refused(save_zip):
    folder = save_zip(ZIP, {"full_history/AA.csv": "date,open\n2020-01-01,1\n"})
    with pytest.raises(ValueError, match=r"AA\.csv: needs the columns date and close"):
        list(read_series("fnspid", data_dir=folder))


def test_a_price_that_is_no_number_is_refused(save_zip):
    folder = save_zip(ZIP, {"full_history/AA.csv": "date,close\n2020-01-01,n/a\n"})
    with pytest.raises(ValueError, match=r"AA\.csv: values must be numbers"):
        list(read_series("fnspid", data_dir=folder))


@pytest.mark.parametrize(("name", "path"), [("fnspid", ZIP), ("cpsc2019", "CPSC2019-train.zip")])
def test_a_file_that_is_no_archive_is_refused(tmp_path, name, path):
    (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / path).write_bytes(b"no archive")
    with pytest.raises(ValueError, match="is no zip archive"):
        read_series(name, data_dir=tmp_path)
