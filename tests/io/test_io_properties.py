"""What holds for every table: it comes back as it was written, or is refused with a ValueError."""

import json
import tempfile
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from timevista_hf.io import read_forecasts

FORMATS = {
    "%Y-%m-%d %H:%M:%S": None,
    "%Y-%m-%dT%H:%MZ": None,
    "%Y/%m/%d %H:%M": None,
    "%d.%m.%Y %H:%M": True,
    "%m/%d/%Y %I:%M %p": False,
}
NAMES = st.text(
    st.characters(codec="cp1252", exclude_categories=["C"], exclude_characters=',;\t|"'), min_size=1
).filter(str.strip)
VALUES = st.floats(-1e6, 1e6, allow_subnormal=False).map(lambda value: round(value, 4))


@st.composite
def tables(draw):
    size = draw(st.integers(4, 12))
    names = draw(st.lists(NAMES, min_size=1, max_size=3, unique=True))
    start = draw(st.datetimes(datetime(1990, 1, 1), datetime(2030, 1, 1)))
    series = {}
    for name in names:
        history = draw(st.integers(1, size - 2))
        truth = draw(st.lists(VALUES, min_size=size, max_size=size))
        steps = size - history
        series[name] = (history, truth, draw(st.lists(VALUES, min_size=steps, max_size=steps)))
    return {
        "series": series,
        "start": start.replace(second=0, microsecond=0, minute=0),
        "step": timedelta(hours=draw(st.sampled_from([1, 6, 24]))),
        "mark": draw(st.sampled_from([",", ";", "\t", "|"])),
        "encoding": draw(st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "cp1252"])),
        "decimal": draw(st.sampled_from([".", ","])),
        "format": draw(st.sampled_from(sorted(FORMATS))),
        "order": draw(st.randoms(use_true_random=False)),
    }


def tells_its_encoding(table):
    """Whether the bytes are of that encoding only: some of cp1252 are UTF-8 for other letters."""
    names = "".join(table["series"])
    if table["encoding"] != "cp1252" or names.isascii():
        return True
    try:
        names.encode("cp1252").decode("utf-8")
    except UnicodeDecodeError:
        return True
    return False


def written(table):
    rows = []
    for name, (history, truth, prediction) in table["series"].items():
        for step, value in enumerate(truth):
            time = (table["start"] + step * table["step"]).strftime(table["format"])
            forecast = repr(prediction[step - history]) if step >= history else ""
            numbers = [cell.replace(".", table["decimal"]) for cell in (repr(value), forecast)]
            rows.append([name, time, *numbers])
    table["order"].shuffle(rows)
    lines = [["unique_id", "ds", "y", "m"], *rows]
    quoted = [[f'"{cell}"' if table["mark"] in cell else cell for cell in row] for row in lines]
    return "\n".join(table["mark"].join(row) for row in quoted) + "\n"


@settings(max_examples=60, deadline=None)
@given(tables())
def test_table_comes_back_as_it_was_written(table):
    assume(tells_its_encoding(table))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "forecasts.csv"
        path.write_bytes(written(table).encode(table["encoding"]))
        read = read_forecasts(path, decimal=table["decimal"], day_first=FORMATS[table["format"]])
    found = {case.id: case for case in read.cases()}
    assert set(found) == set(table["series"])
    for name, (history, truth, prediction) in table["series"].items():
        assert found[name].history.tolist() == truth[:history]
        assert found[name].truth.tolist() == truth[history:]
        assert found[name].prediction.tolist() == prediction


def read_or_refuse(content):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "forecasts.csv"
        path.write_bytes(content)
        try:
            read = read_forecasts(path)
        except ValueError as error:
            assert str(error).startswith("forecasts.csv")
            return
        for case in read.cases():
            assert np.isfinite(case.history).any()


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=300))
def test_any_bytes_are_read_or_refused(content):
    read_or_refuse(content)


@settings(max_examples=150, deadline=None)
@given(
    st.binary(max_size=200),
    st.sampled_from([b"PAR1", b"\x1f\x8b", b"PK\x03\x04", b"\xff\xfe", b"{"]),
)
def test_any_bytes_behind_a_known_start_are_read_or_refused(content, start):
    read_or_refuse(start + content)


CELLS = st.one_of(
    st.sampled_from(
        ["", "1", "2", "1,5", "1.234", "NA", "inf", "2024-01-02", "1/2/2024", "Q1", '"']
    ),
    st.text(st.characters(codec="utf-8"), max_size=6),
)


@settings(max_examples=250, deadline=None)
@given(
    st.lists(st.lists(CELLS, min_size=4, max_size=4), max_size=6),
    st.sampled_from([",", ";"]),
    st.sampled_from([["id", "ds", "y", "m"], ["ds", "cutoff", "y", "m"], ["ds", "y", "m", "freq"]]),
)
def test_any_cells_are_read_or_refused(rows, mark, header):
    read_or_refuse("\n".join(mark.join(row) for row in [header, *rows]).encode())


JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=4)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=3), inner)
    ),
    max_leaves=8,
)
KEYS = ["id", "ds", "y", "m", "history", "truth", "predictions", "cutoff", "freq", "season_length"]


@settings(max_examples=250, deadline=None)
@given(st.lists(st.dictionaries(st.sampled_from(KEYS), JSON), min_size=1, max_size=4))
def test_any_objects_are_read_or_refused(lines):
    read_or_refuse("\n".join(json.dumps(line) for line in lines).encode())
