"""The page in a real browser, as an annotator uses it, and its program killed in between."""

from __future__ import annotations

import base64
import importlib.util
import json
import os
import signal
import subprocess
import sys
from contextlib import suppress

import pytest
from browsing import ARGUMENTS, find_chromium

from timevista_hf.cases import ForecastCase
from timevista_hf.rendering import render_case

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
pytestmark = [
    pytest.mark.skipif(
        importlib.util.find_spec("gradio") is None, reason="pip install 'timevista-hf[space]'"
    ),
    pytest.mark.skipif(find_chromium() is None, reason="no Chromium is on the PATH"),
]

SECONDS = 60_000  # in the browser's milliseconds; the first page of Gradio is slow to come
LEVELS = [f"Level <i>{score}</i>" for score in range(1, 6)]
TRUTH, FORECASTS = [3.0, 4.0, 5.0], {"model-x": 3.0, "model-y": 4.0, "model-z": 5.0}

# Every address that the program connects to, or looks up, other than this machine's own.
PROGRAM = """
import sys
def listen(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo"):
        host = arguments[1] if event == "socket.connect" else arguments[0]
        host = host[0] if isinstance(host, tuple) else host
        if host not in (None, "", "127.0.0.1", "::1", "localhost", "0.0.0.0"):
            print("outside:", host, file=sys.stderr, flush=True)
sys.addaudithook(listen)
from timevista_hf.cli import app
app()
"""


def write_inputs(folder):
    rows = [f"series-secret,{t},{t}.0,,," for t in range(1, 4)]
    for step, truth in enumerate(TRUTH):
        values = ",".join(str(start + step) for start in FORECASTS.values())
        rows.append(f"series-secret,{4 + step},{truth},{values}")
    (folder / "f.csv").write_text("\n".join([f"id,step,y,{','.join(FORECASTS)}", *rows]))
    scale = "".join(f"  {score}: {text}\n" for score, text in enumerate(LEVELS, start=1))
    (folder / "mine.md").write_text(
        "---\nname: mine\nversion: '1'\nlevel: micro\ndimension: general\n"
        f"scale:\n{scale}---\nJudge **it** all. <script>window.ran = 1</script>\n"
    )


class Program:
    """`timevista rate`, running; it can be killed."""

    def __init__(self, folder):
        self.said = folder / "stderr.txt"
        self._stderr = self.said.open("ab")
        words = ["rate", "f.csv", "--annotator", "ana", "--rubric", "mine.md"]
        self.process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, *words],
            cwd=folder,
            env={**os.environ, "GRADIO_TEMP_DIR": str(folder / "cache"), "NO_COLOR": "1"},
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            text=True,
        )
        line = self.process.stdout.readline()
        assert line.startswith("Rate at http://127.0.0.1:"), self.said.read_text()
        self.address = line.split()[2]

    def stop(self, how=signal.SIGKILL):
        with suppress(ProcessLookupError):
            self.process.send_signal(how)
        self.process.wait(timeout=60)
        self.process.stdout.close()
        self._stderr.close()
        return self.process.returncode


class Annotator:
    """A page, and what an annotator sees and does on it."""

    def __init__(self, browser, address):
        self.requests, self.complaints = [], []
        self.page = browser.new_page(viewport={"width": 1280, "height": 900})
        self.page.set_default_timeout(SECONDS)
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.open(address)

    def open(self, address):
        self.page.goto(address)
        self.page.locator("#head").wait_for()

    def sees(self, count):
        """Wait for the words beside the progress bar."""
        sync_api.expect(self.page.locator("#head span")).to_have_text(count, timeout=SECONDS)

    def picture(self):
        source = self.page.locator("#plot").get_attribute("src")
        return base64.b64decode(source.removeprefix("data:image/png;base64,"))

    def press(self, *keys):
        for key in keys:
            self.page.keyboard.press(key)

    @property
    def comment(self):
        return self.page.locator("#comment textarea")


def answers(folder):
    lines = (folder / "ratings" / "ana.jsonl").read_text(encoding="utf-8").splitlines()
    records = [json.loads(line) for line in lines]
    return [(record["action"], record["score"], record["comment"]) for record in records]


@pytest.fixture(scope="module")
def day(tmp_path_factory):
    """An annotator's whole way through three pictures; what was seen on it, by name."""
    folder, seen = tmp_path_factory.mktemp("rating"), {}
    write_inputs(folder)
    program = Program(folder)
    try:
        with sync_api.sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=find_chromium(), args=ARGUMENTS)
            ana = Annotator(browser, program.address)
            work(ana, browser, program.address, folder, seen)
            program.stop()
            program = Program(folder)
            ana.open(program.address)
            finish(ana, folder, seen)
            seen["requests"], seen["complaints"] = ana.requests, ana.complaints
            browser.close()
        seen["stopped"] = program.stop(signal.SIGINT)
    finally:
        program.stop()
    seen["said"] = program.said.read_text()
    seen["answers"] = answers(folder)
    seen["cache"] = [path for path in (folder / "cache").rglob("*") if path.is_file()]
    return seen


def work(ana, browser, address, folder, seen):
    """Rate, comment, undo, skip, and look into a second window."""
    ana.sees("1 of 3")
    seen["labels"] = [
        ana.page.locator(f"#rate-{score}").inner_text().strip() for score in range(1, 6)
    ]
    seen["picture"], seen["page"] = ana.picture(), ana.page.content()
    seen["ran"] = ana.page.evaluate("window.ran")
    late = Annotator(browser, address)
    late.sees("1 of 3")
    ana.press("4", "4")  # the second before the next picture is there
    ana.sees("2 of 3")
    late.press("1")  # meant for the first picture
    late.sees("2 of 3")
    late.page.close()
    seen["after a late answer"] = answers(folder)
    ana.press("c")
    ana.page.keyboard.type("u s 1 <b>5</b>")
    seen["while typing"] = answers(folder)
    ana.press("Escape", "2")
    ana.sees("3 of 3")
    seen["next comment"] = ana.comment.input_value()
    ana.press("u")
    ana.sees("2 of 3")
    seen["undone comment"] = ana.comment.input_value()
    ana.page.reload()
    ana.sees("2 of 3")
    ana.press("s")
    ana.sees("3 of 3")


def finish(ana, folder, seen):
    """Go on after the kill, to the end, and once back from there."""
    ana.sees("3 of 3")
    ana.page.locator("#rate-5").click()
    ana.sees("3 of 3")
    ana.page.locator("#end").wait_for()
    seen["end"] = ana.page.locator("#end").inner_text()
    seen["buttons at the end"] = ana.page.locator("#rate-5").count()
    ana.press("5", "s", "u")
    ana.page.locator("#plot").wait_for()
    ana.press("0")
    ana.page.locator("#end").wait_for()


def test_the_picture_is_the_one_that_a_judge_sees(day):
    pictures = [
        render_case(
            ForecastCase(
                id="", history=[1, 2, 3], truth=TRUTH, prediction=[start, start + 1, start + 2]
            )
        )
        for start in FORECASTS.values()
    ]
    assert day["picture"] in pictures


def test_neither_series_nor_model_is_on_the_page(day):
    assert "series-secret" not in day["page"]
    assert "model-" not in day["page"]


def test_the_levels_of_the_rubric_are_the_buttons_as_text(day):
    assert day["labels"] == LEVELS


def test_a_script_in_a_rubric_does_not_run(day):
    assert day["ran"] is None


def test_a_key_that_is_pressed_twice_answers_one_picture_and_a_late_window_none(day):
    assert day["after a late answer"] == [("rate", 4, "")]


def test_keys_do_nothing_but_write_while_a_comment_is_typed(day):
    assert day["while typing"] == day["after a late answer"]


def test_a_comment_belongs_to_its_picture_and_comes_back_with_it(day):
    assert (day["next comment"], day["undone comment"]) == ("", "u s 1 <b>5</b>")


def test_the_file_holds_every_step_over_a_reload_and_a_kill(day):
    assert day["answers"] == [
        ("rate", 4, ""),
        ("rate", 2, "u s 1 <b>5</b>"),
        ("undo", None, ""),
        ("skip", None, ""),
        ("rate", 5, ""),
        ("undo", None, ""),
        ("skip", None, ""),
    ]


def test_the_end_says_what_comes_next_and_takes_no_answer(day):
    assert "2 rated, 1 skipped." in day["end"]
    assert "timevista rate merge ratings" in day["end"]
    assert day["buttons at the end"] == 0


def test_the_browser_asks_this_machine_only_and_does_not_complain(day):
    outside = [url for url in day["requests"] if not url.startswith(("http://127.0.0.1:", "data:"))]
    assert (outside, day["complaints"]) == ([], [])


def test_the_program_speaks_to_this_machine_only_and_leaves_no_picture_behind(day):
    assert "outside:" not in day["said"]
    assert day["cache"] == []


def test_ctrl_c_says_how_to_go_on(day):
    assert day["stopped"] == 130
    assert "Run the same command again to go on from here." in day["said"]
    assert "Traceback" not in day["said"]
