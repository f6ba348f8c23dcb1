"""What the page says, that it is safe to open, and that it is whole or absent."""

import gc
import math
import random
import re
import tracemalloc
import weakref
from html.parser import HTMLParser

import pytest
from case_reports import RUN, judgment, report, write

from timevista_hf.reports import numbers
from timevista_hf.reports.cases import CaseReport
from timevista_hf.reports.forecasts import write_report

HOSTILE = "<script>alert('\"&')</script>\u202e\u05d0</article>"


class Page(HTMLParser):
    """Every element of a page with its attributes, and the text outside style and script."""

    def __init__(self, html):
        super().__init__()
        self.elements, self.texts, self._open = [], [], ""
        self.feed(html)
        self.text = re.sub(r"\s+", " ", " ".join(self.texts)).strip()

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        self._open = tag

    def handle_endtag(self, tag):
        self._open = ""

    def handle_data(self, data):
        if self._open not in ("style", "script"):
            self.texts.append(data)

    def all(self, tag, **wanted):
        return [
            attributes
            for name, attributes in self.elements
            if name == tag and wanted.items() <= attributes.items()
        ]


def series_in_order(html):
    return re.findall(r"<h3><bdi>(.*?)</bdi>", html)


def hostile_page(folder):
    entry = report(
        HOSTILE, HOSTILE, cutoff=HOSTILE, rationale=HOSTILE, breaches=(HOSTILE,), dimension=HOSTILE
    )
    failed = judgment(entry.case, "phase", status="error", reason=HOSTILE)
    entry = CaseReport(entry.case, entry.image, [*entry.judgments, failed], {HOSTILE: 1.0})
    run = {"judge": HOSTILE, "input": HOSTILE, HOSTILE: {HOSTILE: [HOSTILE]}}
    return Page(write(folder, [entry], run=run))


def test_foreign_text_adds_no_element_to_the_page(tmp_path):
    page = hostile_page(tmp_path)
    assert len(page.all("script")) - len(page.all("script", type="text/plain")) == 1
    assert len(page.all("details")) == 1


def test_foreign_text_is_shown_as_it_is(tmp_path):
    # Title, heading, judge, row of the model, two filters, three in the case's heading, rationale,
    # reason, breach, and the run.
    shown = [text for text in hostile_page(tmp_path).texts if HOSTILE in text]
    assert len(shown) >= 13


def test_foreign_text_stays_inside_its_attribute(tmp_path):
    page = hostile_page(tmp_path)
    assert len(page.all("option", value=HOSTILE)) == 2  # the model and the dimension
    assert HOSTILE in page.all("img")[0]["alt"]


def test_foreign_text_keeps_to_its_own_direction(tmp_path):
    html = write(tmp_path, [report("\u05d0\u202e", rationale="\u202eend")])
    assert "<bdi>\u05d0\u202e</bdi>" in html
    assert "<bdi>\u202eend</bdi>" in html


def test_text_that_utf_8_cannot_hold_is_spelt_out(tmp_path):
    assert "broken \\udc80" in write(tmp_path, [report(rationale="broken \udc80")])


def test_nothing_is_loaded_from_elsewhere(tmp_path):
    page = Page(write(tmp_path, [report()]))
    loads = [
        value
        for tag, attributes in page.elements
        for name, value in attributes.items()
        if name in ("src", "srcset", "href", "action", "data", "poster") and tag != "a"
    ]
    assert loads and all(value.startswith("data:") for value in loads)


def test_links_stay_inside_the_page(tmp_path):
    page = Page(write(tmp_path, [report()]))
    names = {attributes["id"] for _, attributes in page.elements if "id" in attributes}
    targets = [attributes["href"] for attributes in page.all("a")]
    assert targets and all(target[0] == "#" and target[1:] in names for target in targets)


def test_style_and_script_name_no_address(tmp_path):
    html = write(tmp_path, [report()])
    parts = re.findall(r"<(style|script)>(.*?)</\1>", html, re.DOTALL)
    assert [kind for kind, _ in parts] == ["style", "script"]
    assert not [text for _, text in parts if re.search(r"https?:|url\(|@import|//[a-z]", text)]


def test_the_page_forbids_the_network_to_itself(tmp_path):
    page = Page(write(tmp_path, [report()]))
    policy = page.all("meta", **{"http-equiv": "Content-Security-Policy"})[0]["content"]
    assert policy.startswith("default-src 'none'; img-src data: file: 'self';")
    assert "unsafe" not in policy and "http" not in policy


def test_the_image_is_embedded_with_its_size_and_a_text(tmp_path):
    (image,) = Page(write(tmp_path, [report("wind", "ets", score=4)])).all("img")
    assert (image["width"], image["height"], image["loading"]) == ("12", "5", "lazy")
    assert image["src"].startswith("data:image/png;base64,iVBOR")
    assert image["alt"] == (
        "History, truth and the forecast of ets for series wind: overall score 4.00 of 5"
    )


def test_an_image_that_is_no_png_is_refused(tmp_path):
    entry = report()
    broken = CaseReport(entry.case, b"GIF89a", entry.judgments, entry.errors)
    with pytest.raises(ValueError, match=r"series 'a', model 'naive': `image` must be a PNG"):
        write_report(tmp_path / "report.html", run=RUN, models=[], cases=[broken])


def test_the_head_counts_forecasts_models_and_judgments(tmp_path):
    text = Page(write(tmp_path, [report("a"), report("b", status="error", reason="down")])).text
    assert "2 forecasts by 1 model were judged in 1 dimension: 1 of 2 judgments hold a" in text


def test_the_built_in_judge_is_said_to_be_no_vision_model(tmp_path):
    text = Page(write(tmp_path, [report()])).text
    assert "Scores by the built-in judge, which measures the arrays; it is no vision model." in text


def test_another_judge_is_named(tmp_path):
    text = Page(write(tmp_path, [report()], run={"judge": "openai:gpt"})).text
    assert "Scores by the judge openai:gpt ;" in text
    assert "built-in" not in text


@pytest.mark.parametrize("run", [{}, {"judge": ""}, {"judge": None}])
def test_a_run_without_a_judge_is_refused(tmp_path, run):
    with pytest.raises(ValueError, match="`run` must name the judge"):
        write_report(tmp_path / "report.html", run=run, models=[], cases=[])


def test_a_failed_judgment_shows_its_status_and_reason_and_no_score(tmp_path):
    html = write(tmp_path, [report(status="refused", reason="I cannot judge this.")])
    (row,) = re.findall(r'<tr class="failed".*?</tr>', html, re.DOTALL)
    assert "chip" not in row and "data-score" not in row
    assert Page(row).text == "trend refused No score: I cannot judge this."


def test_a_score_comes_with_its_reason(tmp_path):
    html = write(tmp_path, [report(score=2, rationale="Too flat.")])
    (row,) = re.findall(r"<tbody>\s*(<tr><th scope.*?</tr>)", html, re.DOTALL)
    assert '<span class="chip s2">2</span>' in row
    assert Page(row).text == "trend 2 Too flat."


def test_the_score_before_rounding_is_a_hint(tmp_path):
    html = write(tmp_path, [report(score=2, expected_score=2.345)])
    assert '<span class="chip s2" title="before rounding: 2.35">2</span>' in html


def test_breaches_are_listed_once_a_case(tmp_path):
    entry = report(breaches=("Below zero at step 3.",))
    again = judgment(entry.case, "phase", breaches=("Below zero at step 3.",))
    entry = CaseReport(entry.case, entry.image, [*entry.judgments, again], entry.errors)
    html = write(tmp_path, [entry])
    assert html.count("<li><bdi>Below zero at step 3.</bdi></li>") == 1


def test_undefined_errors_are_dashes_with_a_reason(tmp_path):
    html = write(tmp_path, [report(errors={"mase": math.nan})])
    assert '<span class="none" title="not defined for this case">–</span>' in html
    assert '<span class="none" title="defined for none of the cases">–</span>' in html


def test_the_table_says_how_often_an_error_was_undefined(tmp_path):
    html = write(tmp_path, [report(errors={"mase": 2.0}), report(errors={"mase": math.nan})])
    assert "2.00<small>1 undefined</small>" in html


def test_a_model_without_scores_is_a_dash_and_not_a_number(tmp_path):
    html = write(tmp_path, [report(status="error")])
    assert '<td data-value="nan" class="overall"><span class="none"' in html


def test_the_table_shows_mean_and_interval(tmp_path):
    # Two cases of 2 and 4: resampled means are 2, 3 and 4, and the tails hold a quarter each.
    text = Page(write(tmp_path, [report("a", score=2), report("b", score=4)])).text
    assert "3.00 2.00–4.00" in text


def test_coverage_is_never_rounded_up_to_all(tmp_path):
    entry = report()
    many = [judgment(entry.case) for _ in range(1999)] + [judgment(entry.case, status="error")]
    html = write(tmp_path, [CaseReport(entry.case, entry.image, many, {})])
    assert "99.9 %<small>1,999 of 2,000</small>" in html


def test_the_worst_case_comes_first_and_the_unscored_last(tmp_path):
    scored = [report("good", score=5), report("bad", score=1), report("fair", score=3)]
    html = write(tmp_path, [report("failed", status="error"), *scored])
    assert series_in_order(html) == ["bad", "fair", "good", "failed"]


def test_equal_scores_are_ordered_by_breaches_then_by_mase(tmp_path):
    cases = [
        report("low error", errors={"mase": 0.1}),
        report("high error", errors={"mase": 9.0}),
        report("breach", errors={"mase": 0.1}, breaches=("negative",)),
    ]
    assert series_in_order(write(tmp_path, cases)) == ["breach", "high error", "low error"]


def scored_cases(scores):
    """Cases in several models, each named by its place and its score."""
    return [
        report(f"{place}: {score}", f"model {place % 3}", score=score)
        for place, score in enumerate(scores)
    ]


def test_a_page_opens_with_all_cases_where_they_are_few(tmp_path):
    html = write(tmp_path, scored_cases([3, 1, 2, 5, 4]), worst=2, sample=3)
    assert len(series_in_order(html)) == 5
    assert "are listed" not in Page(html).text


def test_a_page_opens_with_the_worst_and_a_sample_and_says_so(tmp_path):
    html = write(tmp_path, scored_cases([3, 5, 1, 4, 2, 5, 5, 5, 5]), worst=2, sample=3)
    shown = series_in_order(html)
    assert shown[:2] == ["2: 1", "4: 2"]
    both = 5 - len(shown)
    assert (
        f"All 9 cases are listed; {len(shown)} are open with their plots: the 2 worst, and a fair "
        "sample of 3, drawn by lot evenly over the models"
        + (f" ({both} {'is' if both == 1 else 'are'} in both)" if both else "")
    ) in Page(html).text


def test_a_case_that_is_both_bad_and_in_the_sample_comes_once(tmp_path):
    cases = scored_cases([1, 2, 3, 4, 5, 5])
    pages = [series_in_order(write(tmp_path, cases, worst=2, sample=3, seed=n)) for n in range(4)]
    assert all(len(shown) == len(set(shown)) for shown in pages)
    assert min(map(len, pages)) < 5  # some case was both


def test_another_seed_gives_another_sample(tmp_path):
    cases = scored_cases([5] * 30)
    samples = {
        tuple(series_in_order(write(tmp_path, cases, worst=0, sample=4, seed=seed)))
        for seed in range(4)
    }
    assert len(samples) == 4


def test_a_page_without_picks_still_lists_the_cases(tmp_path):
    html = write(tmp_path, scored_cases([1, 2]), worst=0, sample=0)
    assert series_in_order(html) == []
    assert "All 2 cases are listed; 0 are open" in Page(html).text


@pytest.mark.parametrize("picks", [{"worst": -1}, {"sample": -1}])
def test_a_negative_number_of_picks_is_refused(tmp_path, picks):
    with pytest.raises(ValueError, match="`worst` and `sample` must be at least 0"):
        write(tmp_path, [report()], **picks)


def test_a_picture_is_asked_for_only_where_the_page_opens_with_it(tmp_path):
    asked = []

    def case(place, score):
        entry = report(str(place), score=score)

        def image():
            asked.append(place)
            return entry.image

        return CaseReport(entry.case, image, entry.judgments, entry.errors)

    cases = [case(place, score) for place, score in enumerate([5, 1, 4, 2])]
    html = write(tmp_path, cases, worst=2, sample=0)
    assert (asked, series_in_order(html)) == ([1, 3], ["1", "3"])


def test_a_case_without_a_picture_has_its_scores_and_reasons(tmp_path):
    entry = report(score=2, rationale="Too flat.")
    html = write(tmp_path, [CaseReport(entry.case, None, entry.judgments, entry.errors)])
    assert Page(html).all("img") == []
    assert "trend 2 Too flat." in Page(html).text
    assert "No plot was drawn." in Page(html).text


@pytest.fixture
def long_cases(monkeypatch):
    """400 cases with reasons that no packing makes small: 400 kB of them."""
    monkeypatch.setattr("timevista_hf.reports.rows.PART", 20)
    generator = random.Random(0)
    return [
        report(f"s{place}", rationale=generator.randbytes(500).hex(), score=1 + place % 5)
        for place in range(400)
    ]


@pytest.mark.parametrize("limit", [50_000, 60_000, 100_000, 200_000, 300_000])
def test_a_page_never_has_more_bytes_than_it_may(long_cases, tmp_path, limit):
    write(tmp_path, long_cases, max_bytes=limit, worst=5, sample=5)
    size = (tmp_path / "report.html").stat().st_size
    assert 0.8 * limit < size <= limit


@pytest.mark.parametrize(
    ("limit", "said"),
    [
        (
            50_000,
            r"Only the \d+ worst of 400 cases are listed, and the fair sample. Reasons are shown",
        ),
        (200_000, r"Reasons are shown and searched for the \d+ worst cases. All of them are in"),
    ],
)
def test_what_does_not_fit_is_said_on_the_page(long_cases, tmp_path, limit, said):
    text = Page(write(tmp_path, long_cases, max_bytes=limit, worst=5, sample=5)).text
    assert "This page would be larger than" in text
    assert re.search(said, text)


def test_what_fits_is_not_spoken_of(long_cases, tmp_path):
    assert "would be larger" not in Page(write(tmp_path, long_cases)).text


def test_of_very_many_models_the_best_are_shown_and_the_page_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr("timevista_hf.reports.forecasts.MOST_MODELS", 2)
    html = write(tmp_path, [report(model=f"m{score}", score=score) for score in (1, 3, 5)])
    assert re.findall(r'<th scope="row" class="name" data-value="(.*?)"', html) == ["m5", "m3"]
    assert "These are the 2 best of 3 models. All are in scores.json ." in Page(html).text


def test_the_same_cases_give_the_same_bytes(long_cases, tmp_path):
    pages = [write(tmp_path, long_cases, worst=5, sample=5) for _ in range(2)]
    assert pages[0] == pages[1]


def addresses(folder, cases):
    return [case["id"] for case in Page(write(folder, cases)).all("details")]


def test_a_case_has_the_same_address_in_every_run(tmp_path):
    first = addresses(tmp_path, [report("a"), report("b")])
    alone = addresses(tmp_path, [report("b")])
    assert alone[0] == first[1] != first[0]


def test_addresses_tell_windows_and_models_apart(tmp_path):
    cases = [report(cutoff=None), report(cutoff="1"), report(cutoff="2"), report(model="ets")]
    assert len(set(addresses(tmp_path, cases))) == 4


def test_an_address_is_readable_and_plain(tmp_path):
    entry = report("Süd / 3", "x\udc80", cutoff="2024-01")
    assert addresses(tmp_path, [entry]) == ["case/S%C3%BCd%20%2F%203/2024-01/x%5Cudc80"]


def test_the_run_is_shown_with_its_nested_values(tmp_path):
    run = {**RUN, "columns": {"models": ["x", "y"], "time": None}, "resumed": False}
    text = Page(write(tmp_path, [report()], run=run)).text
    assert "columns: models x, y" in text
    assert "columns: time –" in text
    assert "resumed no" in text


def test_the_rubrics_that_were_asked_are_named_with_their_versions(tmp_path):
    assert "rubrics asked trend@7" in Page(write(tmp_path, [report(rubric="trend@7")])).text


def test_a_case_without_judgments_says_so(tmp_path):
    entry = report()
    html = write(tmp_path, [CaseReport(entry.case, entry.image, [], {})])
    assert "No judgment was asked for." in Page(html).text


def test_a_run_without_cases_is_a_page_too(tmp_path):
    text = Page(write(tmp_path, [])).text
    assert "There is no case." in text and "No model was judged." in text


def test_failing_cases_leave_nothing_behind(tmp_path):
    def cases():
        yield report()
        raise RuntimeError("the renderer broke")

    with pytest.raises(RuntimeError, match="the renderer broke"):
        write_report(tmp_path / "report.html", run=RUN, models=[], cases=cases())
    assert list(tmp_path.iterdir()) == []


def test_failing_cases_keep_the_older_page(tmp_path):
    before = write(tmp_path, [report()])

    def cases():
        raise RuntimeError("the renderer broke")
        yield

    with pytest.raises(RuntimeError):
        write_report(tmp_path / "report.html", run=RUN, models=[], cases=cases())
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == before


def test_a_finished_page_is_the_only_file(tmp_path):
    write(tmp_path, [report()])
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(ValueError, match="nowhere"):
        write_report(tmp_path / "nowhere" / "report.html", run=RUN, models=[], cases=[])


def test_a_case_that_is_not_picked_is_let_go(tmp_path):
    seen = []

    def cases():
        for number in range(9):
            gc.collect()
            alive = [reference for reference in seen if reference() is not None]
            assert len(alive) <= 2 + 2 + 1 + 1  # picks of both kinds, and the last, twice taken
            entry = report(str(number))
            seen.append(weakref.ref(entry))
            yield entry

    path = tmp_path / "report.html"
    write_report(path, run=RUN, models=[], cases=cases(), worst=1, sample=1)
    assert len(seen) == 9


def test_memory_does_not_grow_with_the_images(tmp_path):
    padding = b"\0" * 300_000  # after the image's end, as PNG allows

    def cases():
        for number in range(100):
            entry = report(str(number))
            yield CaseReport(entry.case, entry.image + padding, entry.judgments, entry.errors)

    path = tmp_path / "report.html"
    write_report(path, run=RUN, models=[], cases=[])
    tracemalloc.start()
    write_report(path, run=RUN, models=[], cases=cases(), worst=2, sample=2)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # 100 images take 30 MB; the picks are at most 6 of them, and 4 of these are written as text.
    assert peak < 10_000_000


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (0.56243, "0.5624"),
        (12.3456, "12.35"),
        (1234.56, "1,235"),
        (4.2e9, "4.200e+09"),
        (0.00002, "2.000e-05"),
        (-3.5, "-3.500"),
        (math.inf, "–"),
    ],
)
def test_a_number_has_four_significant_digits(value, text):
    assert numbers.number(value) == text


def test_a_column_of_errors_shares_its_decimals(tmp_path):
    cases = [report(model="x", errors={"mae": 0.5624}), report(model="y", errors={"mae": 13.25})]
    html = write(tmp_path, cases)
    assert '">0.562</td>' in html and '">13.250</td>' in html
