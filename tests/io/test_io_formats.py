"""Every format, encoding and way of writing numbers and times is read as what it says."""

import gzip
import io
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from timevista_hf.io import Columns, read_forecasts

SAMPLES = Path(__file__).parents[3] / "shared" / "samples"
TIMES = ["2024-01-01", "2024-01-02", "2024-01-03", "2024-01-04"]
HISTORY, TRUTH, PREDICTION = [1.5, 2.5], [3.5, 4.5], [3.0, 4.0]


def table(times=TIMES, name="a", mark=",", decimal=".", ids=True):
    """Two steps of history and two of horizon, as delimited text."""
    cells = [["unique_id"] * ids + ["ds", "y", "m"]]
    for time, truth, prediction in zip(times, HISTORY + TRUTH, ["", "", *PREDICTION], strict=True):
        numbers = [str(truth).replace(".", decimal), str(prediction).replace(".", decimal)]
        cells.append([name] * ids + [str(time), *numbers])
    return "\n".join(mark.join(row) for row in cells) + "\n"


def only_case(path, **options):
    [case] = read_forecasts(path, **options).cases()
    return case


def assert_is_the_case(case):
    assert case.history.tolist() == HISTORY
    assert case.truth.tolist() == TRUTH
    assert case.prediction.tolist() == PREDICTION


@pytest.mark.parametrize(
    ("encoding", "said"),
    [
        ("utf-8", "utf-8"),
        ("utf-8-sig", "utf-8-sig"),
        ("utf-16", "utf-16"),
        ("utf-16-le", "utf-16-le"),
        ("utf-16-be", "utf-16-be"),
        ("cp1252", "cp1252"),
    ],
)
def test_encoding_is_told_by_the_bytes(encoding, said, write):
    read = read_forecasts(write(table(name="Ämter").encode(encoding)))
    [case] = read.cases()
    assert (case.id, read.decisions["encoding"]) == ("Ämter", said)
    assert_is_the_case(case)


def test_bytes_that_windows_1252_leaves_undefined_are_latin_1(write):
    read = read_forecasts(write(table(name="\x81").encode("latin-1")))
    assert read.decisions["encoding"] == "latin-1"


@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
def test_delimiter_is_told_by_the_header(mark, write):
    read = read_forecasts(write(table(mark=mark)))
    assert read.decisions["delimiter"] == mark
    assert_is_the_case(next(read.cases()))


def test_other_delimiter_is_taken_as_named(write):
    assert_is_the_case(only_case(write(table(mark="#")), delimiter="#"))


def test_rows_that_fit_decide_between_two_delimiters(write):
    # The header splits at both marks, the rows at the semicolon only.
    path = write(table(mark=";").replace(";m\n", ";m,1\n"))
    assert read_forecasts(path).models == ("m,1",)


@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_line_ends_of_every_system_are_read(end, write):
    assert_is_the_case(only_case(write(table().replace("\n", end))))


def test_gzip_is_unpacked_whatever_the_name(write):
    read = read_forecasts(write(gzip.compress(table().encode()), "forecasts.bin"))
    assert read.decisions["compression"] == "gzip"
    assert_is_the_case(next(read.cases()))


def test_quoted_cells_may_hold_delimiters_and_line_breaks(write):
    assert only_case(write(table(name='"x, ""y""\nz"'))).id == 'x, "y"\nz'


def frame(times):
    return pd.DataFrame(
        {
            "item_id": "a",
            "timestamp": times,
            "target": HISTORY + TRUTH,
            "m": [np.nan] * 2 + PREDICTION,
        }
    )


@pytest.mark.parametrize(
    "times",
    [
        pd.to_datetime(TIMES),
        pd.to_datetime(TIMES).tz_localize("Asia/Kolkata"),
        pd.to_datetime(TIMES).date,
        TIMES,
        [1, 2, 3, 4],
    ],
    ids=["stamps", "zone", "dates", "text", "numbers"],
)
def test_parquet_is_read_as_typed(times, write):
    file = io.BytesIO()
    frame(times).to_parquet(file)
    read = read_forecasts(write(file.getvalue(), "forecasts.parquet"))
    assert read.decisions["format"] == "parquet"
    assert_is_the_case(next(read.cases()))


def test_parquet_ids_of_numbers_and_categories_are_text(write):
    file = io.BytesIO()
    rows = frame(TIMES).assign(item_id=7, unit=pd.Categorical(["kW"] * 4))
    rows.to_parquet(file)
    case = only_case(write(file.getvalue()))
    assert (case.id, case.unit) == ("7", "kW")


def test_parquet_index_of_pandas_is_dropped(write):
    file = io.BytesIO()
    frame(TIMES).iloc[[1, 0, 2, 3]].to_parquet(file)
    assert read_forecasts(write(file.getvalue())).models == ("m",)


def test_json_lines_are_read_as_the_rows_of_a_table(write):
    rows = frame(TIMES).to_dict("records")
    text = "\n".join(json.dumps(row) for row in rows) + "\n\n"
    read = read_forecasts(write(text, "forecasts.jsonl"))
    assert read.decisions["format"] == "jsonl"
    assert_is_the_case(next(read.cases()))


def test_json_lines_of_arrays_are_windows(write):
    lines = [
        {"id": 7, "cutoff": "c1", "history": [1, None], "truth": [3, 4], "m": [3, 4], "freq": "h"},
        {"id": 7, "cutoff": "c2", "history": [2], "truth": [3, 4],
         "predictions": {"m": [1, 2], "n": [5, 6], "0.1": [0, 0]}, "season_length": 12},
    ]  # fmt: skip
    read = read_forecasts(write("\n".join(map(json.dumps, lines))))
    cases = list(read.cases())
    assert [(c.id, c.cutoff, c.model) for c in cases] == [
        ("7", "c1", "m"), ("7", "c2", "m"), ("7", "c2", "n"),
    ]  # fmt: skip
    assert np.array_equal(cases[0].history, [1, np.nan], equal_nan=True)
    assert [c.season_length for c in cases] == [24, 12, 12]
    assert (read.models, read.decisions["quantile_columns"]) == (("m", "n"), ["0.1"])
    assert read.decisions["columns"] == {
        "history": "history", "id": "id", "target": "truth", "cutoff": "cutoff", "freq": "freq",
    }  # fmt: skip


def test_one_array_line_needs_no_id(write):
    line = {"history": [1], "y": [3, 4], "predictions": [3, 5], "note": "x"}
    read = read_forecasts(write(json.dumps(line)))
    case = next(read.cases())
    assert (case.id, case.model, case.prediction.tolist()) == ("forecasts", "predictions", [3, 5])
    assert read.decisions["ignored_columns"] == ["note"]


def test_comma_is_decimal_where_no_cell_says_otherwise(write):
    read = read_forecasts(write(table(mark=";", decimal=",")))
    assert read.decisions["decimal"] == ","
    assert_is_the_case(next(read.cases()))


@pytest.mark.parametrize(
    ("cell", "decimal", "value"),
    [
        ("1.234,5", None, 1234.5),
        ("1,234.5", None, 1234.5),
        ("1,234,567", None, 1234567.0),
        ("0,125", None, 0.125),
        ("-1234,5", None, -1234.5),
        ("+2,5e3", None, 2500.0),
        (" 2.5 ", None, 2.5),
        ("+.5", None, 0.5),
        ("1e3", None, 1000.0),
        ("1,234", ",", 1.234),
        ("1,234", ".", 1234.0),
        ("1.234", ",", 1234.0),
        ("1.234", ".", 1.234),
    ],
)
def test_number_is_read_by_the_decimal_mark_of_the_file(cell, decimal, value, write):
    text = f"ds;y;m\n1;{cell};\n2;2;\n3;3;3\n4;4;4\n"
    assert only_case(write(text), decimal=decimal).history[0] == value


def test_decimal_mark_is_decided_by_other_columns_too(write):
    # "1,234" alone is open to both; "2,5" in the model's column decides.
    case = only_case(write("ds;y;m\n1;1,234;\n2;2;\n3;3;2,5\n4;4;4\n"))
    assert (case.history[0], case.prediction[0]) == (1.234, 2.5)


@pytest.mark.parametrize("cell", ["", "NA", "nan", "NaN", "null", "None", "-", "N/A", " n/a "])
def test_missing_value_is_nan(cell, write):
    case = only_case(write(f"ds,y,m\n1,1,\n2,{cell},NA\n3,3,3\n4,4,4\n"))
    assert np.array_equal(case.history, [1, np.nan], equal_nan=True)


@pytest.mark.parametrize("name", ["001", "NA", "1e5", "-", "null"])
def test_id_stays_text(name, write):
    assert only_case(write(table(name=name))).id == name


@pytest.mark.parametrize(
    ("times", "freq", "season"),
    [
        (TIMES, "D", 7),
        ([f"{d}T00:00:00+05:30" for d in TIMES], "D", 7),
        ([f"2024-01-01 {h:02}:30" for h in range(4)], "h", 24),
        ([f"2024-01-01T{h:02}" for h in range(4)], "h", 24),
        ([f"2024-01-01 00:{m:02}:00.0" for m in (0, 15, 30, 45)], "15min", 96),
        ([f"2024-01-01 00:00:0{s}" for s in range(4)], "s", 60),
        ([f"2024-01-01 00:00:00.{s:03}" for s in range(4)], "ms", None),
        (["2024-01-01", "2024-01-08", "2024-01-15", "2024-01-22"], "W", 52),
        (["2024-01-01", "2024-02-01", "2024-03-01", "2024-04-01"], "MS", 12),
        (["2024-01-31", "2024-02-29", "2024-03-31", "2024-04-30"], "ME", 12),
        (["2023-03-31", "2023-06-30", "2023-09-30", "2023-12-31"], "QE", 4),
        (["2024-01", "2024-02", "2024-03", "2024-04"], "MS", 12),
        (["2024M1", "2024M2", "2024M3", "2024M4"], "MS", 12),
        (["1-2015", "2-2015", "3-2015", "5-2015"], "MS", 12),
        (["202311", "202312", "202401", "202402"], "MS", 12),
        (["2023Q3", "2023Q4", "2024Q1", "2024Q2"], "QS", 4),
        (["2023-Q3", "2023-Q4", "2024-Q1", "2024-Q2"], "QS", 4),
        (["Q3 2023", "Q4 2023", "Q1 2024", "Q2 2024"], "QS", 4),
        ([2001, 2002, 2003, 2004], "YS", 1),
        ([20231230, 20231231, 20240101, 20240102], "D", 7),
        ([1704067200 + 3600 * h for h in range(4)], "h", 24),
        ([1704067200000 + 60000 * m for m in range(4)], "min", 1440),
        ([1, 2, 3, 4], None, None),
        ([20240230, 20240231, 20240232, 20240233], None, None),
        (["1/30/2024", "1/31/2024", "2/1/2024", "2/2/2024"], "D", 7),
        (["30.01.2024", "31.01.2024", "01.02.2024", "02.02.2024"], "D", 7),
        ([f"4/1/2016 {h}:55 PM" for h in (12, 1, 2, 3)], "h", 24),
    ],
)
def test_time_is_read_in_the_form_of_its_column(times, freq, season, write):
    path = write(table(times=times))
    # Only the last reads both ways with the same step.
    day_first = False if "PM" in str(times[0]) else None
    case = only_case(path, day_first=day_first)
    assert (case.freq, case.season_length) == (freq, season)
    assert case.history.size == 2
    assert_same_values(case)


def assert_same_values(case):
    """The horizon may hold a gap, its observed values are the same."""
    kept = np.isfinite(case.truth)
    assert case.history.tolist() == HISTORY
    assert case.truth[kept].tolist() == TRUTH
    assert case.prediction[kept].tolist() == PREDICTION


def test_four_digit_steps_are_no_years(write):
    text = table(times=[2001, 2002, 2003, 2004]).replace("ds", "step")
    assert only_case(write(text)).freq is None


def test_even_step_decides_between_day_and_month(write):
    # As month/day these are five minutes apart; as day/month the day changes by a month.
    times = ["4/1/2016 23:50", "4/1/2016 23:55", "4/2/2016 00:00", "4/2/2016 00:05"]
    read = read_forecasts(write(table(times=times)))
    assert read.decisions["freq"] == "5min"
    assert read.decisions["notes"] == [
        "forecasts.csv, ds: month first, since only so the steps are even"
    ]


def test_cutoff_above_twelve_decides_the_day_order_of_the_times(write):
    # Alone, 1/2 to 4/2 reads both ways; the cutoff's 31 does not.
    rows = ["ds,cutoff,y,m", "30/1/2024,,1,", "31/1/2024,,2,"]
    rows += ["1/2/2024,31/1/2024,3,3", "2/2/2024,31/1/2024,4,4"]
    case = only_case(write("\n".join(rows)))
    assert (case.cutoff, case.freq) == ("2024-01-31", "D")


@pytest.mark.parametrize(("day_first", "freq"), [(True, "MS"), (False, "D")])
def test_day_order_is_taken_as_asked(day_first, freq, write):
    times = [f"01/0{n}/2024" for n in range(1, 5)]
    assert only_case(write(table(times=times)), day_first=day_first).freq == freq


def test_zone_is_turned_into_utc_and_said(write):
    times = [f"{day}T01:00+02:00" for day in TIMES]
    text = table(times=times).replace("ds,y", "ds,cutoff,y").replace(",3.5", f",{times[1]},3.5")
    text = (
        text.replace(",4.5", f",{times[1]},4.5").replace(",1.5", ",,1.5").replace(",2.5", ",,2.5")
    )
    read = read_forecasts(write(text))
    # 01:00 at +02:00 is 23:00 of the day before in UTC.
    assert next(read.cases()).cutoff == "2024-01-01T23:00Z"
    assert "forecasts.csv, ds: zone +02:00, read as UTC" in read.decisions["notes"]


@pytest.mark.parametrize("header", [",unique_id,ds,y,m", "Unnamed: 0,unique_id,ds,y,m"])
def test_unnamed_index_column_is_dropped(header, write):
    lines = table().splitlines()
    text = "\n".join([header, *(f"{n},{line}" for n, line in enumerate(lines[1:]))])
    read = read_forecasts(write(text))
    assert (read.models, read.decisions["unnamed_columns_dropped"]) == (("m",), 1)


def test_empty_columns_behind_the_last_are_dropped(write):
    assert_is_the_case(only_case(write(table().replace("\n", ",,\n"))))


def test_quantiles_and_intervals_are_no_models(write):
    extra = ["m-lo-90", "m-hi-90", "0.1", "q0.9", "m-q-0.1", "m_q50", "m-0.25"]
    lines = table().splitlines()
    text = "\n".join([",".join([lines[0], *extra])] + [line + ",1" * 7 for line in lines[1:]])
    read = read_forecasts(write(text))
    assert (read.models, read.decisions["quantile_columns"]) == (("m",), extra)


def test_columns_without_any_number_are_passed_over_and_listed(write):
    lines = table().splitlines()
    text = "\n".join([f"{lines[0]},note,empty"] + [f"{line},see,NA" for line in lines[1:]])
    read = read_forecasts(write(text))
    assert (read.models, read.decisions["ignored_columns"]) == (("m",), ["note", "empty"])


def test_named_models_pass_over_every_other_column(write):
    lines = table().splitlines()
    text = "\n".join(
        [f"{lines[0]},mixed"] + [f"{line},x{n % 2}" for n, line in enumerate(lines[1:])]
    )
    read = read_forecasts(write(text), columns=Columns(models=("m",)))
    assert read.decisions["ignored_columns"] == ["mixed"]


def test_second_name_of_a_role_is_no_model(write):
    lines = table().splitlines()
    text = "\n".join([f"{lines[0]},step"] + [f"{line},{n}" for n, line in enumerate(lines[1:])])
    read = read_forecasts(write(text), columns=Columns(time="ds"))
    assert (read.models, read.decisions["ignored_columns"]) == (("m",), ["step"])


def test_names_of_roles_are_told_in_any_case(write):
    text = table().replace("unique_id,ds,y", "Series_ID,Date,Actual")
    assert read_forecasts(write(text)).decisions["columns"] == {
        "id": "Series_ID", "time": "Date", "target": "Actual",
    }  # fmt: skip


def test_decisions_are_fit_for_json(write):
    read = read_forecasts(write(table()), actuals=write(table(), "actuals.csv"))
    assert json.loads(json.dumps(read.decisions)) == read.decisions


SAMPLE_COLUMNS = {
    "azure2019.csv": (None, "timestamp_s", "cpu_usage_total", None, 1),
    "covid_death.csv": ("item_id", "date", "deaths_cumulative", "D", 16),
    "cphl.csv": ("item_id", "timestamp", "cphl_mg_m3", "15min", 2),
    "current_velocity.csv": ("item_id", "timestamp", "value", "30min", 11),
    "fnspid.csv": ("item_id", "date", "close", "B", 10),
    "ptb.csv": (None, "t", "s0010_re_i", None, 1),
    "ptb_raw1000hz.csv": (None, "t", "s0010_re_ii", None, 1),
    "solar.csv": (None, "timestamp", "40.85_-73.85_2006_DPV_21MW", "h", 1),
}


@pytest.mark.skipif(not SAMPLES.is_dir(), reason="the samples of real data are not here")
@pytest.mark.parametrize("name", SAMPLE_COLUMNS)
def test_real_sample_serves_as_actuals(name, tmp_path):
    item, time, target, freq, count = SAMPLE_COLUMNS[name]
    rows = pd.read_csv(SAMPLES / name, dtype=str)
    last = rows.groupby(item).tail(24) if item else rows.tail(24)
    last = last[[*([item] if item else []), time]].assign(m="1")
    last.to_csv(tmp_path / "forecasts.csv", index=False)
    read = read_forecasts(
        tmp_path / "forecasts.csv",
        actuals=SAMPLES / name,
        columns=Columns(time=time, target=target),
    )
    assert (len(read), read.decisions["freq"]) == (count, freq)
    # Only the last series' truth is compared, as pandas reads it.
    *_, case = read.cases()
    expected = pd.to_numeric(rows[target]).to_numpy()[-24:]
    assert np.array_equal(case.truth, expected, equal_nan=True)
