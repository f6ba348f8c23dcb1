"""The page in a real browser: it sorts, filters, decodes its images and asks nobody."""

from dataclasses import replace
from pathlib import Path

import pytest
from browsing import ARGUMENTS, CANDIDATES, find_chromium
from case_reports import RUN, judgment, png, report, write

from timevista_hf.reports.cases import CaseReport

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
    yield from opened(browser, address)


def opened(browser, address):
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto(address)
    page.locator("form.filters").wait_for()
    yield page
    page.close()


def models(page):
    return page.locator("table.models tbody .name bdi").all_text_contents()


def cases(page):
    name = (
        "e => e.querySelector('h3 bdi').textContent + ' ' + e.querySelector('.model').textContent"
    )
    return page.locator("details.case").evaluate_all(f"all => all.map({name})")


def settle(page):
    """Wait behind the page's own timer of 80 ms, on the same clock."""
    page.evaluate("new Promise(done => setTimeout(done, 100))")


def choose(page, **choices):
    for name, value in choices.items():
        page.locator(f".filters select[name={name}]").select_option(value)
    settle(page)


def follow(page, name):
    page.evaluate(f"location.hash = '{name}'")
    settle(page)


def search(page, words):
    page.locator("input[type=search]").fill(words)
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
    sizes = page.locator("details img").evaluate_all(
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
    search(page, "CLIMBS 2024-03")
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


def test_cases_can_be_ordered_by_series_and_then_by_model(page):
    choose(page, order="series")
    assert cases(page) == ["solar arima", "solar ets", "solar naive", "wind ets", "wind naive"]


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
    name = page.locator("details.case").last.get_attribute("id")
    choose(page, model="ets")
    assert page.locator(f"details[id='{name}']").count() == 0
    follow(page, name)
    assert 0 <= page.locator(f"details[id='{name}']").bounding_box()["y"] < 900


def test_the_page_is_no_wider_than_a_phone(browser, address):
    page = browser.new_page(viewport={"width": 390, "height": 800})
    page.goto(address)
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    page.close()


def test_without_scripts_every_case_is_there_and_no_dead_control(browser, address):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(address)
    assert page.locator("details.case:visible").count() == 5
    assert page.locator("form:visible, table.models button").count() == 0
    context.close()


NAMES = [f"s{place:03}" for place in range(120)]
HOSTILE = "<img src=x onerror=window.ran=1>\u202e</script>"


def many_cases():
    """Sixty good ones without a plot, and sixty with a file; s000 to s004 are bad."""
    for place, name in enumerate(NAMES):
        entry = report(
            name, f"m{place % 2}", score=1 if place < 5 else 5, rationale=f"Reason {name}."
        )
        files = (
            {"image": entry.image, "plot": f"plots/{name}.png"} if place % 2 else {"image": None}
        )
        yield replace(entry, **files)
    entry = report(HOSTILE, "m0", score=5, cutoff=HOSTILE, rationale=HOSTILE, dimension=HOSTILE)
    yield replace(entry, image=None, errors={HOSTILE: 1.0})


@pytest.fixture(scope="module")
def large(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("large")
    (folder / "plots").mkdir()
    for name in NAMES[:-1]:
        (folder / "plots" / f"{name}.png").write_bytes(png(24, 10))
    write(folder, many_cases(), worst=4, sample=6)
    return folder / "report.html"


@pytest.fixture
def large_page(browser, large):
    yield from opened(browser, large.as_uri())


def test_all_cases_are_listed_fifty_at_a_time(large_page):
    more = large_page.locator(".more button")
    assert (len(cases(large_page)), more.text_content()) == (50, "Show 50 more of 71")
    more.click()
    assert (len(cases(large_page)), more.text_content()) == (100, "Show 21 more of 21")
    more.press("Enter")
    assert len(set(cases(large_page))) == 121
    assert more.is_hidden()


def test_showing_more_moves_the_focus_to_the_first_of_them(large_page):
    large_page.locator(".more button").press("Enter")
    focused = large_page.evaluate("document.activeElement.parentElement.id")
    assert focused == large_page.locator("details.case").nth(50).get_attribute("id")


def test_the_worst_come_first_and_are_open(large_page):
    states = large_page.locator("details.case").evaluate_all("all => all.map(e => e.open)")
    assert cases(large_page)[:5] == ["s000 m0", "s001 m1", "s002 m0", "s003 m1", "s004 m0"]
    assert states[:4] == [True] * 4
    assert states.count(False) >= 50 - 10


def test_the_search_reads_the_reasons_of_cases_that_are_not_open(large_page):
    search(large_page, "reason s077")
    assert cases(large_page) == ["s077 m1"]
    assert large_page.locator(".count").text_content() == "1 of 121 cases"


def open_by_key(page, words):
    search(page, words)
    assert page.locator("details.case").get_attribute("open") is None
    page.locator("summary").focus()
    page.keyboard.press("Enter")
    page.locator("details.case .judgments").wait_for()
    return page.locator("details.case")


def test_a_case_opens_by_a_key_with_its_plot_from_the_folder(large_page, large):
    unpicked = unpicked_case(large_page, 1)
    image = open_by_key(large_page, unpicked).locator("img")
    image.wait_for()
    assert image.evaluate("async e => { await e.decode(); return e.naturalWidth; }") == 24
    assert image.get_attribute("src") == f"plots/{unpicked}.png"


def unpicked_case(page, remainder):
    """Name a case that the page does not open with, with a plot (1) or without one (0)."""
    closed = page.locator("details.case:not([open]) h3 bdi:first-child").all_text_contents()
    return next(name for name in closed if int(name[1:]) % 2 == remainder)


def test_a_case_without_a_plot_says_so(large_page):
    case = open_by_key(large_page, unpicked_case(large_page, 0))
    assert "not drawn; --plots all draws every one." in case.text_content()
    assert case.locator(".judgments td").last.is_visible()


def test_a_plot_that_is_gone_is_named(large_page, large):
    name = unpicked_case(large_page, 1)
    file = large.parent / "plots" / f"{name}.png"
    content = file.read_bytes()
    file.unlink()
    said = open_by_key(large_page, name).locator("p.none")
    said.wait_for()
    file.write_bytes(content)
    assert said.text_content().startswith(f"There is no plots/{name}.png beside this page")


def test_the_fair_sample_can_be_chosen_alone(large_page):
    choose(large_page, kind="sample")
    models = [name.split()[-1] for name in cases(large_page) if name.startswith("s")]
    assert len(cases(large_page)) == 6
    assert {models.count("m0"), models.count("m1")} <= {2, 3}


def test_cases_with_a_plot_can_be_chosen_alone(large_page):
    choose(large_page, kind="plot")
    assert large_page.locator(".count").text_content() == "60 of 121 cases"


def test_a_link_to_a_case_far_down_puts_it_first_and_opens_it(large_page):
    follow(large_page, "case/s119//m1")
    case = large_page.locator("details.case").first
    assert (case.get_attribute("id"), case.get_attribute("open")) == ("case/s119//m1", "")
    assert 0 <= case.bounding_box()["y"] < 900


def test_a_page_opens_at_the_case_of_its_address(browser, large):
    for page in opened(browser, f"{large.as_uri()}#case/s118//m0"):
        settle(page)
        assert 0 <= page.locator("[id='case/s118//m0']").bounding_box()["y"] < 900


def test_foreign_text_in_a_row_is_text(large_page):
    case = open_by_key(large_page, "onerror")
    assert large_page.evaluate("window.ran") is None
    assert case.locator("img").count() == 0
    shown = case.locator("bdi", has_text=HOSTILE)
    assert shown.count() == 3  # series, cutoff and reason
    follow(large_page, case.get_attribute("id"))
    assert case.get_attribute("open") is not None


def test_a_case_looks_the_same_whether_the_page_opens_with_it_or_not(browser, tmp_path):
    entry = report("wind", "ets", score=1, cutoff="3", expected_score=1.25, breaches=("Negative.",))
    more = [
        judgment(entry.case, "trend", score=2, judge="other", run=1),
        judgment(entry.case, "phase", status="refused", reason="No."),
        judgment(entry.case, "motif", status="error"),
    ]
    errors = {"mae": 1234.5, "mase": float("nan")}
    full = CaseReport(entry.case, entry.image, [*entry.judgments, *more], errors, "plots/a.png")
    bare = CaseReport(entry.case, entry.image, [], {}, "plots/a.png")
    looks = []
    for picks in (2, 0):
        write(tmp_path, [full, bare], worst=picks, sample=0)
        for page in opened(browser, (tmp_path / "report.html").as_uri()):
            page.locator("details:not([open]) summary").evaluate_all(
                "all => all.map(e => e.click())"
            )
            page.evaluate("document.querySelectorAll('figure').forEach(e => e.replaceChildren())")
            settle(page)
            looks.append(page.locator("details.case").evaluate_all(_LOOK))
    assert looks[0] == looks[1]


_LOOK = """all => all.map(e => [...e.querySelectorAll("*")]
  .filter(one => !one.closest(".plot, p.none"))
  .map(one => [one.tagName, one.className, one.title,
    one.children.length ? "" : one.textContent.trim()].join("|")))"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_chips_are_legible_in_both_schemes(browser, tmp_path: Path, scheme):
    write(tmp_path, [report(str(score), score=score) for score in range(1, 6)], run=RUN)
    page = browser.new_page(color_scheme=scheme)
    page.goto((tmp_path / "report.html").as_uri())
    colours = page.locator("details .judgments .chip").evaluate_all(
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
