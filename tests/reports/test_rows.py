"""What is packed into a page for every case, and what is left out where there is no room."""

import base64
import io
import json
import zlib

import pytest
from case_reports import judgment, report

from timevista_hf.reports import rows
from timevista_hf.reports.cases import CaseReport
from timevista_hf.reports.rows import RowSpool


def unpack(part):
    return json.loads(zlib.decompress(base64.b64decode(part)))


def spooled(reports):
    spool = RowSpool(io.BytesIO())
    for entry in reports:
        spool.add(entry)
    return spool


def packed(reports, room=1_000_000, **options):
    return spooled(reports).pack(room, **options)


def column(parts, name):
    return [entry for part in parts for entry in unpack(part)[name]]


def test_rows_come_worst_first_and_those_without_a_score_last():
    scores = {"good": 5, "bad": 1, "fair": 3}
    reports = [report("failed", status="error"), *(report(n, score=s) for n, s in scores.items())]
    found = packed(reports)
    assert column(found.tables, "series") == ["bad", "fair", "good", "failed"]
    assert column(found.tables, "position") == [2, 3, 1, 0]


def test_a_row_refers_to_its_model_and_to_what_was_asked_by_number():
    found = packed([report("a", "ets", score=1), report("b", "naive", score=2)])
    head = unpack(found.head)
    assert (head["models"], column(found.tables, "model")) == (["ets", "naive"], [0, 1])
    asked = [[["trend", "builtin", 0]], ["mae", "mase", "dtw"]]
    assert (head["sheets"], column(found.tables, "sheet")) == ([asked], [0, 0])


def test_outcomes_are_digits_for_scores_and_letters_for_failures():
    entry = report(score=4)
    more = [
        judgment(entry.case, "phase", status="refused", reason="No."),
        judgment(entry.case, "motif", score=2),
        judgment(entry.case, "general", status="error", reason="HTTP 500"),
    ]
    found = packed([CaseReport(entry.case, None, [*entry.judgments, *more], {})])
    # Trend, motif, phase, general.
    assert column(found.tables, "outcomes") == ["42ab"]
    assert unpack(found.head)["statuses"] == ["refused", "error"]
    assert column(found.reasons, "reasons") == [["Why 4.", "Why 2.", "No.", "HTTP 500"]]


def test_errors_are_written_as_the_page_shows_them():
    found = packed([report(errors={"mae": 1234.5, "mase": float("nan")})])
    assert column(found.tables, "errors") == [["1,234", "–"]]


def test_breaches_are_counted_in_the_table_and_named_beside_the_reasons():
    found = packed([report(breaches=("Negative.", "Too tall."))])
    assert column(found.tables, "broken") == [2]
    assert column(found.reasons, "breaches") == [["Negative.", "Too tall."]]


def test_the_score_before_rounding_and_the_plot_are_there_where_they_are_known():
    known, plain = report("a", score=1, expected_score=1.234), report("b", score=2)
    known = CaseReport(known.case, None, known.judgments, {}, "plots/a.png")
    found = packed([known, plain])
    assert column(found.reasons, "expected") == [["1.23"], [None]]
    assert column(found.tables, "plot") == ["plots/a.png", None]


@pytest.mark.parametrize("text", ["</script><!--", "\u202e\u05d0", "half an emoji \udc80", "\0"])
def test_any_text_comes_back_or_is_spelt_out(text):
    found = packed([report(text, text, cutoff=text, rationale=text, dimension=text)])
    spelt = text.replace("\udc80", "\\udc80")
    assert column(found.tables, "series") == column(found.tables, "cutoff") == [spelt]
    assert column(found.reasons, "reasons") == [[spelt]]
    assert unpack(found.head)["models"] == [spelt]


def test_a_very_long_reason_is_cut_and_says_so():
    found = packed([report(rationale="x" * 10_001)])
    assert column(found.reasons, "reasons") == [["x" * 10_000 + " … (cut here)"]]


def test_no_rows_are_packed_too():
    found = packed([])
    assert (found.total, found.listed, found.explained) == (0, 0, 0)


@pytest.fixture
def found(monkeypatch):
    monkeypatch.setattr(rows, "PART", 3)
    reports = [report(f"s{place}", score=1 + place % 5) for place in range(10)]
    return packed(reports, sample=[4, 5])  # of score 5, and of score 1


def test_the_sample_comes_worst_first_with_all_that_is_known_of_it(found):
    sample = unpack(found.sample)
    assert sample["series"] == ["s5", "s4"]
    assert sample["reasons"] == [["Why 1."], ["Why 5."]]


def test_all_rows_are_listed_where_there_is_room(found):
    assert (found.listed, found.explained, found.total) == (10, 10, 10)
    assert found.cut(found.size) == found.cut(10**9)


def test_where_room_is_short_the_reasons_of_the_best_go_first(found):
    cut = found.cut(found.size - 1)
    assert (cut.listed, cut.explained) == (10, 9)


def test_where_not_all_rows_fit_the_best_go_but_the_sample_stays(found):
    without_reasons = found.size - sum(len(part) + 64 for part in found.reasons)
    cut = found.cut(without_reasons - 1)
    assert (cut.listed, cut.sample) == (9, found.sample)


def test_nothing_is_packed_in_no_room_but_the_sample(found):
    cut = found.cut(0)
    assert (cut.listed, cut.explained, cut.total) == (0, 0, 10)


def test_packing_stops_where_the_room_is_full(monkeypatch):
    monkeypatch.setattr(rows, "PART", 1)
    spool = spooled([report(str(place)) for place in range(50)])
    everything = spool.pack(10**9)
    found = spool.pack(1000)
    assert found.cut(1000) == everything.cut(1000)
    assert len(found.tables) < 10
