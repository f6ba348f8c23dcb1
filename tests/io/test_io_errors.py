"""Every malformed table gives one error that says place, rule and value."""

import gzip
import io
import json
import pickle
import re
import zipfile

import numpy as np
import pandas as pd
import pytest

from timevista_hf.io import Columns, read_forecasts

GOOD = "unique_id,ds,y,m\na,2024-01-01,1,\na,2024-01-02,2,\na,2024-01-03,3,3\na,2024-01-04,4,4\n"
WINDOWED = (
    "unique_id,ds,cutoff,y,m\na,2024-01-01,,1,\na,2024-01-02,,2,\n"
    "a,2024-01-03,2024-01-02,3,3\na,2024-01-04,2024-01-02,4,4\n"
)
LINE = {"id": "a", "history": [1, 2], "truth": [3, 4], "predictions": {"m": [3, 4]}}


def changed(old, new, base=GOOD):
    assert base.count(old) >= 1, old
    return base.replace(old, new)


def line(**changes):
    return json.dumps({**LINE, **changes}) + "\n"


def without(key):
    return json.dumps({name: value for name, value in LINE.items() if name != key}) + "\n"


def zipped(*names):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name in names:
            archive.writestr(name, "x")
    return file.getvalue()


def npz():
    file = io.BytesIO()
    np.savez(file, a=np.zeros(2))
    return file.getvalue()


def parquet(**columns):
    file = io.BytesIO()
    pd.DataFrame(columns).to_parquet(file)
    return file.getvalue()


FOREIGN = {
    "zip": (zipped("a.csv"), "is a zip archive, not a forecast table; unpack it"),
    "xlsx": (zipped("xl/workbook.xml"), r"is an Excel workbook \(.xlsx\).*save the sheet as CSV"),
    "npz": (npz(), r"is a NumPy archive \(.npz\).*write the table as CSV"),
    "broken zip": (b"PK\x03\x04", "is a zip archive"),
    "rar": (b"Rar!\x1a\x07\x00", "is a RAR archive.*unpack it"),
    "7z": (b"7z\xbc\xaf\x27\x1c\0\0", "is a 7z archive"),
    "bzip2": (b"BZh91AY&SY", "is a bzip2 file"),
    "xls": (b"\xd0\xcf\x11\xe0\xa1\xb1", r"is an old Excel workbook \(.xls\)"),
    "npy": (b"\x93NUMPY\x01\0", r"is a NumPy array \(.npy\)"),
    "pickle": (pickle.dumps([1, 2]), "is a Python pickle, which is never opened"),
    "hdf5": (b"\x89HDF\r\n\x1a\n", "is an HDF5 file"),
    "feather": (b"ARROW1\0\0", "is an Arrow or Feather file.*write it as Parquet"),
    "sqlite": (b"SQLite format 3\0", "is an SQLite database"),
    "picture": (b"\x89PNG\r\n\x1a\n", "is a picture"),
    "utf-32": (GOOD.encode("utf-32"), "is UTF-32 text.*save it as UTF-8"),
    "zero bytes": (b"ab\0\0\0c" * 20, "is a binary file"),
    "control bytes": (b"\x01\x02\x03abc", "is a binary file"),
    "damaged gzip": (gzip.compress(GOOD.encode())[:-12], "is a damaged gzip file"),
    "damaged Parquet": (b"PAR1abcPAR1", "is a damaged Parquet file"),
    "half of a UTF-16 character": (GOOD.encode("utf-16")[:-1], "is not valid UTF-16 text"),
    "page": ("<!DOCTYPE html><html></html>", "is an HTML or XML page.*download the raw file"),
    "JSON array": ('[{"id": 1}]', "is a JSON array.*one JSON object a line"),
    "pretty JSON": ('{\n "id": 1\n}\n', "row 1: is not a JSON object.*JSON over several lines"),
    "empty": (b"", "the file is empty"),
    "blank": (b"\n \n\t\n", "the file is empty"),
    "header only": ("unique_id,ds,y,m\n", "has a header but no rows"),
}

STRUCTURE = {
    "short row": (
        changed("a,2024-01-03,3,3", "a,2024-01-03,3"),
        "row 4: every row needs the header's 4 fields, this one has 3, got 'a'",
    ),
    "long row": (
        changed("a,2024-01-03,3,3", "a,2024-01-03,3,3,"),
        "row 4: every row needs the header's 4 fields, this one has 5",
    ),
    "open quote": (
        changed("a,2024-01-03", '"a,2024-01-03'),
        "row 4: (cannot be read as delimited text|every row needs).*check the quotes",
    ),
    "one field": (
        "value\n1\n2\n",
        "the header must have several fields.*got 'value'; .*--delimiter",
    ),
    "two delimiters": ("ds,y;m\n1,2;3\n2,3;4\n", "the delimiter may be ',' or ';'"),
    "same name twice": (
        changed("ds,y,m", "ds,m,m"),
        "column 'm': two columns have this name; name every column once",
    ),
    "column without a name": (changed("ds,y,m", "ds,,m"), "column 3 has no name"),
    "no time": (changed(",ds,", ",when,"), r"no column holds the time.*got \['unique_id', 'when'"),
    "two times": (changed("ds,y,m", "ds,date,m"), "columns 'ds' and 'date' may both be the time"),
    "two truths": (
        changed("ds,y,m", "ds,y,target"),
        "columns 'y' and 'target' may both be the target; name it with --target-column",
    ),
    "two units": (
        changed("ds,y,m", "unit,UNIT,m"),
        "columns 'unit' and 'UNIT' may both be the unit; rename one of them",
    ),
    "no truth": (changed("ds,y,m", "ds,sales,m"), "no column holds the truth.*--actuals"),
    "no model": (
        "unique_id,ds,y\na,2024-01-01,1\na,2024-01-02,2\n",
        r"no column holds a model's predictions, got \['unique_id', 'ds', 'y'\]",
    ),
    "only quantiles": (
        changed(",m\n", ",m-lo-90\n"),
        r"no column holds a model's predictions \(quantiles are kept apart\)",
    ),
    "only text beside": (
        changed(",3\n", ",x\n").replace(",4\n", ",y\n"),
        "no column holds a model",
    ),
}

CELLS = {
    "text in a model": (
        changed("a,2024-01-04,4,4", "a,2024-01-04,4,abc"),
        "row 5, column 'm': must be a number with the decimal mark '.', got 'abc'",
    ),
    "text in the truth": (
        changed("a,2024-01-02,2,", "a,2024-01-02,two,"),
        "row 3, column 'y': must be a number with the decimal mark '.', got 'two'",
    ),
    "only text as truth": (
        re.sub(r",\d,(\d?)\n", r",x,\1\n", GOOD),
        "row 2, column 'y': the truth must be numbers, got 'x'",
    ),
    "infinite": (
        changed("a,2024-01-04,4,4", "a,2024-01-04,4,inf"),
        "row 5, column 'm': must be a finite number, got 'inf'",
    ),
    "too large": (
        changed("a,2024-01-04,4,4", "a,2024-01-04,4,1e400"),
        "row 5, column 'm': must be a finite number, got '1e400'",
    ),
    "percent": (changed("a,2024-01-04,4,4", "a,2024-01-04,4,4%"), "row 5, column 'm': .*got '4%'"),
    "nan with a payload": (
        changed("a,2024-01-04,4,4", "a,2024-01-04,4,nan(1)"),
        r"row 5, column 'm': .*got 'nan\(1\)'",
    ),
    "after a quoted line break": (
        'unique_id,ds,y,m\n"a\nb",2024-01-01,1,\n\n"a\nb",2024-01-02,x,\n"a\nb",2024-01-03,3,3\n',
        "row 5, column 'y': .*got 'x'",
    ),
    "after a byte order mark": (
        "\ufeff" + changed("a,2024-01-02,2,", "a,2024-01-02,two,"),
        "row 3, column 'y'.*got 'two'",
    ),
    "with Windows line ends": (
        changed("a,2024-01-02,2,", "a,2024-01-02,two,").replace("\n", "\r\n"),
        "row 3, column 'y'",
    ),
    "thousands or decimals": (
        "ds;y;m\n1;1,234;\n2;2,345;\n3;3,456;3\n4;4;4\n",
        "row 2, column 'y': the mark may be a decimal mark or may group thousands, got '1,234'.*"
        "--decimal",
    ),
    "points between semicolons": (
        "ds;y;m\n1;1.234;\n2;2.345;\n3;3.456;3\n4;4;4\n",
        "row 2, column 'y': the mark may be a decimal mark.*got '1.234'",
    ),
    "two decimal marks": (
        "ds;y;m\n1;1,5;\n2;2.5;\n3;3;3\n4;4;4\n",
        "row 2, column 'y': the comma is the decimal mark here, but the point is in row 3, "
        r"column 'y' \('2.5'\), got '1,5'",
    ),
    "thousands out of step": (
        "ds;y;m\n1;1.234,5;\n2;12.34,5;\n3;3;3\n4;4;4\n",
        "row 3, column 'y': must be a number with the decimal mark ',', got '12.34,5'",
    ),
    "no id": (changed("a,2024-01-02", ",2024-01-02"), "row 3, column 'unique_id': every row needs"),
}

TIMES = {
    "no time": (
        changed("a,2024-01-02", "a,"),
        "row 3, column 'ds': every row needs a time, got ''",
    ),
    "all times empty": (re.sub("2024-01-0.", "", GOOD), "column 'ds': every row needs a time"),
    "not a time": (
        changed("2024-01-02", "soon"),
        "row 3, column 'ds': is not a time, got 'soon'; write 2024-01",
    ),
    "first not a time": (changed("2024-01-01", "soon"), "row 2, column 'ds': is not a time"),
    "two-digit years": (
        re.sub(r"2024-01-0(\d)", r"0\1/01/24", GOOD),
        "got '01/01/24'.*years have four digits",
    ),
    "no such day": (
        changed("2024-01-02", "2024-02-30"),
        "row 3, column 'ds': is no day of the calendar or no time of day, got '2024-02-30'",
    ),
    "no such month": (changed("2024-01-02", "2024-13-01"), "row 3, column 'ds': is no day"),
    "no such hour": (changed("2024-01-02", "2024-01-02 25:00"), "row 3, column 'ds': is no day"),
    "date among numbers": (
        re.sub(r"2024-01-0([134])", r"\1", GOOD),
        "row 3, column 'ds': times must be of one form; row 2 is a whole number, this is a date",
    ),
    "number among dates": (
        changed("2024-01-02", "2"),
        "row 3, column 'ds': times must be of one form; row 2 is a date",
    ),
    "some with a zone": (
        changed("2024-01-02", "2024-01-02T00:00Z"),
        "row 2, column 'ds': times must all have a zone or none; others here have one, got",
    ),
    "no such zone": (
        re.sub(r"(2024-01-0.)", r"\1T00:00+19:00", GOOD),
        "row 2, column 'ds': has an offset",
    ),
    "day or month": (
        re.sub(r"2024-01-0(.)", r"0\1/01/2024", GOOD),
        "row 2, column 'ds': may be day/month or month/day.*--first day or --first month",
    ),
    "day and month first": (
        changed("2024-01-01", "13/01/2024")
        .replace("2024-01-02", "01/14/2024")
        .replace("2024-01-03", "01/15/2024")
        .replace("2024-01-04", "01/16/2024"),
        r"row 3, column 'ds': the month comes first here, but the day does in row 2.*'13/01/2024'",
    ),
    "month or quarter": (
        re.sub(r"2024-01-0(.)", r"\1-2015", GOOD),
        "may be a month or a quarter.*write 2015-01",
    ),
    "dates and a cutoff of numbers": (
        changed("2024-01-02,3", "2,3", WINDOWED).replace("2024-01-02,4", "2,4"),
        "column 'cutoff': holds whole numbers, but column 'ds' of forecasts.csv holds times",
    ),
    "a zone on one column": (
        re.sub(r",2024-01-02,(\d)", r",2024-01-02T00:00Z,\1", WINDOWED),
        "column 'cutoff': holds times with a zone, but column 'ds' .* holds times without a zone",
    ),
}

LAYOUT = {
    "same step twice": (
        GOOD + "a,2024-01-03,3,3\n",
        "series 'a': rows 4 and 6 both hold time 2024-01-03; .*give each window its own cutoff",
    ),
    "same step twice in a late series": (
        GOOD + GOOD[17:].replace("a,", "z,") + "z,2024-01-02,2,\n",
        "series 'z': rows 7 and 10 both hold time 2024-01-02",
    ),
    "same step of a window twice": (
        WINDOWED + "a,2024-01-04,2024-01-02,4,4\n",
        "rows 5 and 6 both hold time 2024-01-04; keep",
    ),
    "two truths for a step": (
        WINDOWED + "a,2024-01-03,2024-01-01,9,9\na,2024-01-04,2024-01-01,4,4\n",
        "row 6, column 'y': series 'a' has two truths at 2024-01-03, 3.0 in .* got 9.0",
    ),
    "prediction without a cutoff": (
        changed("2024-01-03,2024-01-02", "2024-01-03,", WINDOWED),
        "row 4: a row with a prediction needs a cutoff, got '2024-01-03'",
    ),
    "prediction before its cutoff": (
        changed("2024-01-03,2024-01-02", "2024-01-03,2024-01-03", WINDOWED),
        "row 4: a predicted time must be after its cutoff, got '2024-01-03'",
    ),
    "no history": (
        "unique_id,ds,y,m\na,2024-01-01,1,1\na,2024-01-02,2,2\n",
        "series 'a', model 'm': no history before its first prediction at 2024-01-01; .*--actuals",
    ),
    "history without a truth": (
        changed("2024-01-01,1", "2024-01-01,").replace("2024-01-02,2", "2024-01-02,"),
        "series 'a', model 'm': no history before",
    ),
    "no history up to the cutoff": (
        changed("2024-01-01,,1", "2024-01-05,,1", WINDOWED).replace(
            "2024-01-02,,2", "2024-01-06,,2"
        ),
        "series 'a', cutoff 2024-01-02, model 'm': no history before",
    ),
    "one step": (
        changed("a,2024-01-04,4,4\n", ""),
        "series 'a', model 'm': a horizon has at least 2 predicted steps, this one .*2024-01-03",
    ),
    "no truth in the horizon": (
        changed("3,3\n", ",3\n").replace("4,4\n", ",4\n"),
        "series 'a', model 'm': at least 2 predicted steps need a truth, but 0 of the 2 from "
        "2024-01-03 to 2024-01-04 have one; .*--actuals",
    ),
    "one truth in the horizon": (changed("4,4\n", ",4\n"), "but 1 of the 2 from 2024-01-03"),
    "two units": (
        GOOD.replace("m\n", "m,unit\n")
        .replace(",\n", ",,kW\n")
        .replace("3,3\n", "3,3,MW\n")
        .replace("4,4\n", "4,4,MW\n"),
        "row 4, column 'unit': series 'a' must have one value here, 'kW' in another row, got 'MW'",
    ),
}

LINES = {
    "not JSON": (line() + "{oops}\n", "row 2: is not a JSON object"),
    "too deep": (line() + '{"a":' + "[" * 100_000 + "\n", "row 2: is not a JSON object"),
    "no object": (line() + "3\n", r"row 2: every line must be one JSON object, got '?3"),
    "key twice": ('{"id": 1, "id": 2}\n', "row 1, column 'id': one object holds this key twice"),
    "mixed kinds": (line() + '{"id": "b", "ds": 1}\n', "row 2: lines must be of one kind; row 1"),
    "no history": (without("history"), "row 1: a window needs the key 'history'"),
    "no truth": (without("truth"), "row 1: a window needs the key 'truth'"),
    "no predictions": (without("predictions"), "row 1: a window needs a model's steps"),
    "no id": (line() + without("id"), "row 2: every window needs an id"),
    "two ids": (line(item_id="b"), "row 1: 'id' and 'item_id' may both be the id"),
    "same window twice": (line() + line(), "rows 1 and 2 hold the same window"),
    "unequal lengths": (line(truth=[1, 2, 3]), "row 1: .*`truth` has 3 steps but .* has 2"),
    "text in an array": (
        line(history=[1, "x"]), "row 1, column 'history': step 2 must be a finite number, got 'x'"
    ),
    "nested array": (line(truth=[[1], 2]), "row 1, column 'truth': step 1 must be a finite number"),
    "infinite in an array": (
        line(truth=[float("inf"), 2]), "row 1, column 'truth': step 1 must be .* got 'Infinity'"
    ),
    "number for an array": (line(history=3), "row 1, column 'history': must be an array"),
    "predictions not named": (line(predictions="m"), "column 'predictions': must map each model"),
    "season of zero": (line(season_length=0), "column 'season_length': must be a whole number"),
    "object as id": (line(id={"a": 1}), "row 1, column 'id': must be a text or a number"),
    "rows of text": (
        '{"ds": 1, "y": 1, "m": null}\n{"ds": 2, "y": true, "m": 2}\n',
        "row 2, column 'y': must be a number with the decimal mark '.', got 'true'",
    ),
}  # fmt: skip

TABLES = {**FOREIGN, **{f"structure: {k}": v for k, v in STRUCTURE.items()}}
for kind, cases in (("cell", CELLS), ("time", TIMES), ("layout", LAYOUT), ("lines", LINES)):
    TABLES.update({f"{kind}: {name}": case for name, case in cases.items()})


@pytest.mark.parametrize("name", TABLES)
def test_malformed_table_is_one_error_with_place_rule_and_value(name, write):
    content, expected = TABLES[name]
    with pytest.raises(ValueError, match=expected) as caught:
        read_forecasts(write(content))
    assert str(caught.value).startswith("forecasts.csv")
    assert "\n" not in str(caught.value)


OPTIONS = {
    "unknown id": ({"id": "unique"}, "no column 'unique' for the id; did you mean 'unique_id'?"),
    "unknown model": ({"models": ("n",)}, "no column for the model 'n'; .*known: m"),
    "unknown time": ({"time": "dss"}, "no column 'dss' for the time; did you mean 'ds'"),
    "one column twice": (
        {"time": "y", "target": "y"},
        "column 'y': cannot be both time and target",
    ),
    "time as a model": ({"models": ("ds",)}, r"no column holds the time of a step"),
}


@pytest.mark.parametrize("name", OPTIONS)
def test_wrong_column_is_refused_with_the_nearest_name(name, write):
    named, expected = OPTIONS[name]
    with pytest.raises(ValueError, match=expected):
        read_forecasts(write(GOOD), columns=Columns(**named))


def test_model_named_without_numbers_is_refused(write):
    path = write(GOOD.replace("m\n", "m,note\n").replace("\n", ",x\n").replace("note,x", "note"))
    with pytest.raises(ValueError, match="column 'note': this model holds no number"):
        read_forecasts(path, columns=Columns(models=("note",)))


ACTUALS = {
    "other ids": (
        "id,ds,y\nb,2024-01-01,1\n",
        "actuals.csv, column 'id': has no series of forecasts.csv, which has 'a', got 'b'",
    ),
    "other truth": (
        "id,ds,y\na,2024-01-03,7\n",
        "actuals.csv, row 2, column 'y': series 'a' has two truths at 2024-01-03, 3.0 in",
    ),
    "numbers for dates": (
        "id,ds,y\na,1,1\n",
        "actuals.csv, column 'ds': holds whole numbers, but column 'ds' of forecasts.csv",
    ),
    "a zone": ("id,ds,y\na,2024-01-01T00:00Z,1\n", "actuals.csv, column 'ds': holds times with a"),
    "several columns": ("id,ds,low,high\na,2024-01-01,1,2\n", "columns 'low', 'high' may all hold"),
    "time as a model": ("id,ds,note\na,2024-01-01,x\n", "no column can hold the observed values"),
    "twice": (
        "id,ds,y\na,2024-01-01,1\na,2024-01-01,1\n",
        "actuals.csv, series 'a': rows 2 and 3|"
        "actuals.csv: series 'a': rows 2 and 3 both hold time 2024-01-01",
    ),
    "arrays": (line(), "actuals have one row a step, not arrays"),
    "empty": ("", "actuals.csv: the file is empty"),
}


@pytest.mark.parametrize("name", ACTUALS)
def test_malformed_actuals_are_an_error_that_names_them(name, write):
    content, expected = ACTUALS[name]
    with pytest.raises(ValueError, match=expected):
        read_forecasts(write(GOOD), actuals=write(content, "actuals.csv"))


def test_actuals_of_many_series_need_ids_in_the_forecasts(write):
    actuals = write("id,ds,y\na,2024-01-01,1\nb,2024-01-01,1\n", "actuals.csv")
    with pytest.raises(
        ValueError, match=r"has 2 series, but forecasts.csv has no column of series"
    ):
        read_forecasts(write(GOOD.replace("unique_id", "note")), actuals=actuals)


def test_actuals_without_ids_serve_one_series_only(write):
    path = write(GOOD + GOOD[17:].replace("a,", "b,"))
    with pytest.raises(ValueError, match=r"no column of series, but forecasts.csv has 2 of them"):
        read_forecasts(path, actuals=write("ds,y\n2024-01-01,1\n", "actuals.csv"))


def test_array_lines_take_no_actuals(write):
    with pytest.raises(ValueError, match="lines with arrays hold their own truth"):
        read_forecasts(write(line()), actuals=write("ds,y\n2024-01-01,1\n", "actuals.csv"))


def test_array_lines_name_the_nearest_model(write):
    with pytest.raises(ValueError, match=r"no line holds the model 'n'; known: m, note"):
        read_forecasts(write(line(note="x")), columns=Columns(models=("n",)))


def test_missing_file_is_named(tmp_path):
    with pytest.raises(ValueError, match=r"absent.csv: no such file"):
        read_forecasts(tmp_path / "absent.csv")


def test_folder_is_no_file(tmp_path):
    with pytest.raises(ValueError, match="is a folder; name one of its files"):
        read_forecasts(tmp_path)


def test_name_with_a_zero_byte_is_no_file():
    with pytest.raises(ValueError, match="cannot be read"):
        read_forecasts("a\0b")


def test_row_of_parquet_is_the_record(write):
    path = write(parquet(ds=[1, 2, 3, 4], y=[1.0, 2, 3, 4], m=[None, None, np.inf, 4]))
    with pytest.raises(ValueError, match="row 3, column 'm': must be a finite number, got inf"):
        read_forecasts(path)


def test_list_in_parquet_is_no_truth(write):
    path = write(parquet(ds=[1, 2], y=[[1], [2]], m=[1.0, 2.0]))
    with pytest.raises(ValueError, match="column 'y': cells must be numbers or text, got list"):
        read_forecasts(path)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"delimiter": ";;"}, "`delimiter` must be one character and no quote, got ';;'"),
        ({"delimiter": '"'}, "`delimiter` must be one character"),
        ({"delimiter": "|"}, "the header must have several fields, but '|' splits nothing"),
        ({"decimal": "'"}, "`decimal` must be '.' or ','"),
        ({"season_length": 0}, "`season_length` must be at least 1, got 0"),
        ({"day_first": True}, None),
    ],
)
def test_options_are_checked(options, expected, write):
    if expected is None:
        assert len(read_forecasts(write(GOOD), **options)) == 1
        return
    with pytest.raises(ValueError, match=re.escape(expected).replace(r"\ ", " ")):
        read_forecasts(write(GOOD), **options)


def test_day_first_against_the_calendar_is_refused(write):
    path = write(re.sub(r"2024-01-0(.)", r"01/1\1/2024", GOOD).replace("01/11", "01/13"))
    with pytest.raises(ValueError, match="row 2, column 'ds': is no day of the calendar"):
        read_forecasts(path, day_first=True)


def test_cases_name_the_nearest_model(write):
    with pytest.raises(ValueError, match="unknown model 'M'; did you mean 'm'"):
        read_forecasts(write(GOOD)).cases(models=["M"])


def test_cases_take_no_negative_limit(write):
    with pytest.raises(ValueError, match="`limit` must not be negative, got -1"):
        read_forecasts(write(GOOD)).cases(limit=-1)
