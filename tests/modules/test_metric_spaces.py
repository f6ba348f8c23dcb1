"""The Spaces of metrics/: a form that computes, and settings that give nothing away."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import timevista_hf

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("gradio") is None, reason="pip install 'timevista-hf[space]'"
)

EXAMPLES = {  # what the cards show, which are doctests
    "affiliation_f1": ["precision", "0.9625"],
    "annotator_agreement": ["alpha nominal", "0.6224"],
    "forecast_error": ["mse", "0.25"],
    "judge_correlation": ["spearman", "0.8278"],
    "variate_f1": ["precision", "0.6667"],
    "vlm_judge": [
        "trend",
        5,
        "The smooth part follows the truth's, within 0% of the truth's range.",
    ],
}
each_space = pytest.mark.parametrize("name", sorted(EXAMPLES))


@pytest.fixture(scope="module")
def spaces():
    """What each Space does, seen in a process of its own."""
    done = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("open_spaces.py"))],
        env={**os.environ, "GRADIO_SERVER_NAME": "127.0.0.1"},
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_every_metric_has_a_space(spaces):
    assert set(spaces) == set(timevista_hf.list_metrics()) == set(EXAMPLES)


@each_space
def test_the_form_opens_with_an_example_that_computes_what_the_card_shows(name, spaces):
    rows = spaces[name]["rows"]
    assert rows[0] == EXAMPLES[name]
    assert all(len(row) == spaces[name]["columns"] for row in rows)


def test_the_forecast_that_comes_late_is_seen_to_be_late(spaces):
    assert ["phase", 3, "Peaks come 6.0 steps late, 25% of a cycle of 24 steps."] in (
        spaces["vlm_judge"]["rows"]
    )


@each_space
def test_what_cannot_be_read_is_an_error_that_names_field_and_line(name, spaces):
    message, printed = spaces[name]["wrong"]["<b>\n"]
    assert ", line 1: must " in message
    assert "&lt;b&gt;" in message
    assert "<b>" not in message
    assert printed is False


@each_space
def test_nothing_filled_in_is_an_error_that_is_shown(name, spaces):
    message, _ = spaces[name]["wrong"][""]
    assert message.endswith(": must not be empty")


@each_space
def test_a_form_without_its_kind_of_values_is_an_error_that_is_shown(name, spaces):
    assert spaces[name]["wrong"]['"word"']
    assert spaces[name]["wrong"]["{}"]


@each_space
def test_a_space_measures_nobody_and_clears_its_cache(name, spaces):
    assert (spaces[name]["analytics"], spaces[name]["delete_cache"]) == (False, [600, 600])


@each_space
def test_a_space_keeps_no_history_in_the_browser_and_is_not_watched(name, spaces):
    launched = spaces[name]["launched"]
    assert launched.pop("address").startswith("http://127.0.0.1:")
    assert launched == {
        "run_history": False,
        "enable_monitoring": False,
        "max_file_size": 1 << 20,
        "api_open": False,
        "ssr_mode": False,
    }


@each_space
def test_a_space_bears_the_name_of_its_metric(name, spaces):
    assert spaces[name]["title"].lower().replace(" ", "_") == name
