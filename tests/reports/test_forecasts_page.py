"""The page in a real browser: it sorts, filters, decodes its images and asks nobody."""

from pathlib import Path

import pytest
from browsing import ARGUMENTS, CANDIDATES, find_chromium
from case_reports import RUN, judgment, report, write

from timevista_hf.reports.forecasts import CaseReport

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")


@pytest.fixture(scope="module")
def browser():
    executable = find_chromium()
    if executable is None:
        pytest.skip(f"no browser: none of {', '.join(CANDIDATES)} is on the PATH")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def address(tmp_path_factory) -> str:
    folder = tmp_path_factory.mktemp("page")
    mixed = report("wind", "ets", score=1, cutoff="2024-03", rationale="Flat where it climbs.")
    failed = judgment(mixed.case, "phase", status="refused", reason="No.")
    cases = [
        CaseReport(mixed.case, mixed.image, [*mixed.judgments, failed], {"mase": 9.0}),
        report("solar", "ets", score=3, errors={"mase": 0.5}),
        report("wind", "naive", score=4, errors={"mase": 1.0}, breaches=("Negative.",)),
        report("solar", "naive", score=5, errors={"mase": 2.0}),
        report("solar", "arima", score=2, errors={"mase": float("nan")}),
    ]
    write(folder, cases)
    return (folder / "report.html").as_uri()


@pytest.fixture
def page(browser, address):
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto(address)
    yield page
    page.close()


def models(page):
    return page.locator("table.models tbody .name bdi").all_text_contents()


def cases(page):
    shown = page.locator("article.case:not([hidden])")
    return shown.evaluate_all("all => all.map(e => `${e.dataset.series} ${e.dataset.model}`)")


def settle(page):
    """Wait behind the page's own timer of 80 ms, on the same clock."""
    page.evaluate("new Promise(done => setTimeout(done, 100))")


def choose(page, **choices):
    for name, value in choices.items():
        page.locator(f".filters select[name={name}]").select_option(value)
    settle(page)


def test_the_page_opens_without_a_complaint_or_a_request(browser, address):
    page = browser.new_page()
    complaints, requests = [], []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda request: requests.append(request.url[:40]))
    page.route("http*://**", lambda route: route.abort())
    page.goto(address)
    page.mouse.wheel(0, 10_000)
    page.wait_for_timeout(200)
    page.close()
    assert complaints == []
    assert [url for url in requests if not url.startswith("data:")] == [address[:40]]


def test_a_smuggled_script_would_not_run(page):
    page.evaluate(
        "() => { const s = document.createElement('script'); s.textContent = 'window.ran = 1';"
        " document.body.append(s); }"
    )
    assert page.evaluate("window.ran") is None


def test_every_image_decodes_to_its_size(page):
    sizes = page.locator("article img").evaluate_all(
        "all => Promise.all(all.map(async image => { image.loading = 'eager';"
        " await image.decode(); return [image.naturalWidth, image.naturalHeight]; }))"
    )
    assert sizes == [[12, 5]] * 5


def test_models_start_in_the_order_of_their_rank(page):
    assert models(page) == ["naive", "arima", "ets"]  # means 4.5, 2 and 2, ties by name


def test_a_click_on_a_header_sorts_best_first_and_a_second_turns_it(page):
    header = page.locator("table.models thead th", has_text="MASE")
    header.locator("button").click()
    # naive (1 + 2) / 2 = 1.5, ets (9 + 0.5) / 2 = 4.75; the undefined stays last both times.
    assert (models(page), header.get_attribute("aria-sort")) == (
        ["naive", "ets", "arima"],
        "ascending",
    )
    header.locator("button").click()
    assert (models(page), header.get_attribute("aria-sort")) == (
        ["ets", "naive", "arima"],
        "descending",
    )


def test_only_one_header_says_that_it_sorts(page):
    page.locator("table.models thead button").first.click()
    assert page.locator("table.models th[aria-sort]").all_text_contents() == ["Model"]


def test_headers_sort_by_keyboard(page):
    page.locator("table.models thead button").first.focus()
    page.keyboard.press("Enter")
    assert models(page) == ["arima", "ets", "naive"]


def test_the_model_filter_hides_the_others(page):
    choose(page, model="ets")
    assert cases(page) == ["wind ets", "solar ets"]
    assert page.locator(".count").text_content() == "2 of 5 cases"


def test_the_score_filter_keeps_scores_at_or_below(page):
    choose(page, most="2")
    assert cases(page) == ["wind ets", "solar arima"]


def test_the_score_filter_follows_the_dimension(page):
    choose(page, dimension="phase", most="4")
    assert cases(page) == []  # the only phase judgment failed, which is no low score
    assert page.locator(".empty").is_visible()


def test_the_status_filter_finds_failed_judgments(page):
    choose(page, status="is:refused")
    assert cases(page) == ["wind ets"]


def test_the_status_filter_finds_cases_judged_in_full(page):
    choose(page, status="ok")
    assert "wind ets" not in cases(page) and len(cases(page)) == 4


def test_the_search_wants_every_word_and_reads_the_reasons(page):
    page.locator("input[type=search]").fill("CLIMBS 2024-03")
    settle(page)
    assert cases(page) == ["wind ets"]


def test_the_breach_filter_keeps_cases_with_breaches(page):
    page.locator("input[name=breaches]").check()
    settle(page)
    assert cases(page) == ["wind naive"]


def test_cases_can_be_ordered_best_first(page):
    choose(page, order="best")
    assert cases(page)[0] == "solar naive"


def test_cases_can_be_ordered_by_error_with_the_undefined_last(page):
    choose(page, order="mase")
    names = cases(page)
    assert (names[0], names[-1]) == ("wind ets", "solar arima")


def test_cases_can_be_put_back_in_the_order_of_the_input(page):
    choose(page, order="run")
    assert cases(page) == [
        "wind ets",
        "solar ets",
        "wind naive",
        "solar naive",
        "solar arima",
    ]


def test_reset_shows_all_cases_worst_first(page):
    before = cases(page)
    choose(page, model="ets", order="best")
    page.locator(".filters button[type=reset]").click()
    settle(page)
    assert cases(page) == before


def test_a_link_to_a_hidden_case_leads_there(page):
    last = page.locator("article").last
    name = last.get_attribute("id")
    choose(page, model="ets")
    assert last.is_hidden()
    page.evaluate(f"location.hash = '{name}'")
    settle(page)
    assert 0 <= last.bounding_box()["y"] < 900


def test_the_page_is_no_wider_than_a_phone(browser, address):
    page = browser.new_page(viewport={"width": 390, "height": 800})
    page.goto(address)
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    page.close()


def test_without_scripts_every_case_is_there_and_no_dead_control(browser, address):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(address)
    assert page.locator("article.case:visible").count() == 5
    assert page.locator("form:visible, table.models button").count() == 0
    context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_chips_are_legible_in_both_schemes(browser, tmp_path: Path, scheme):
    write(tmp_path, [report(str(score), score=score) for score in range(1, 6)], run=RUN)
    page = browser.new_page(color_scheme=scheme)
    page.goto((tmp_path / "report.html").as_uri())
    colours = page.locator("article .judgments .chip").evaluate_all(
        "all => all.map(e => [getComputedStyle(e).color, getComputedStyle(e).backgroundColor])"
    )
    page.close()
    assert len({ground for _, ground in colours}) == 5
    assert min(contrast(*pair) for pair in colours) >= 4.5  # WCAG 2.2, 1.4.3


def contrast(first, second):
    lighter, darker = sorted((luminance(first), luminance(second)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def luminance(colour):
    """Relative luminance of ``rgb(r, g, b)``, as WCAG defines it."""
    parts = [int(part) / 255 for part in colour.removeprefix("rgb(").rstrip(")").split(",")]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
