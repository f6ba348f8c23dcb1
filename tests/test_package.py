"""The package as it is imported: light, and with exactly the names that are promised."""

import inspect
import json
import subprocess
import sys

import pytest

import timevista_hf

PUBLIC = [
    "AnomalyCase",
    "AnomalyStyle",
    "Detection",
    "ForecastCase",
    "JudgeOptions",
    "Judgment",
    "Rubric",
    "Store",
    "Style",
    "__version__",
    "detect_anomalies",
    "judge_cases",
    "list_datasets",
    "list_judges",
    "list_metrics",
    "list_presets",
    "list_rubrics",
    "list_sources",
    "list_subsets",
    "load_dataset",
    "load_judge",
    "load_metric",
    "load_rubric",
    "make_anomalies",
    "read_detections",
    "read_forecasts",
    "read_judgments",
    "read_series",
    "render_anomalies",
    "render_case",
    "score_forecasts",
    "select_rubrics",
    "unregister_names",
    "write_detections",
    "write_judgments",
]

HEAVY = {
    "datasets",
    "evaluate",
    "jinja2",
    "matplotlib",
    "pandas",
    "pyarrow",
    "rich",
    "scipy",
    "torch",
    "typer",
}

LIGHT_MODULES = ["cases", "constraints", "judges", "judges.mock", "metrics", "rubrics"]


def loaded_by(statement):
    """Top-level packages that a fresh interpreter has loaded after a statement."""
    code = f"{statement}\nimport sys, json; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    return {name.partition(".")[0] for name in json.loads(done.stdout)}


def test_importing_the_package_loads_nothing_heavy():
    loaded = loaded_by("import timevista_hf")
    assert "timevista_hf" in loaded
    assert loaded & HEAVY == set()


@pytest.mark.parametrize("module", LIGHT_MODULES)
def test_importing_a_light_module_loads_nothing_heavy(module):
    assert loaded_by(f"import timevista_hf.{module}") & HEAVY == set()


def test_using_a_public_name_loads_what_it_needs_and_no_more():
    loaded = loaded_by("import timevista_hf; timevista_hf.load_rubric('trend')")
    assert "yaml" in loaded
    assert loaded & HEAVY == set()


def test_the_public_names_are_exactly_these():
    assert sorted(timevista_hf.__all__) == PUBLIC


@pytest.mark.parametrize("name", PUBLIC)
def test_a_public_name_resolves_to_what_bears_it(name):
    value = getattr(timevista_hf, name)
    assert isinstance(value, str) if name == "__version__" else value.__name__ == name


def test_a_star_import_gives_the_public_names():
    namespace = {}
    exec("from timevista_hf import *", namespace)
    assert sorted(namespace.keys() - {"__builtins__"}) == PUBLIC


def test_the_public_names_are_listed_for_completion():
    assert set(PUBLIC) <= set(dir(timevista_hf))


def test_an_unknown_name_is_an_attribute_error_that_names_both():
    with pytest.raises(
        AttributeError, match="module 'timevista_hf' has no attribute 'load_rubrik'"
    ):
        timevista_hf.load_rubrik  # noqa: B018


def test_a_public_name_is_the_same_object_every_time():
    assert timevista_hf.load_rubric is timevista_hf.load_rubric


def documented():
    return [name for name in PUBLIC if name != "__version__"]


def functions():
    return [name for name in documented() if inspect.isfunction(getattr(timevista_hf, name))]


@pytest.mark.parametrize("name", documented())
def test_a_public_name_says_in_one_sentence_what_it_is(name):
    first, *rest = inspect.getdoc(getattr(timevista_hf, name)).splitlines()
    assert first.endswith(".")
    assert not rest or not rest[0]


@pytest.mark.parametrize("name", functions())
def test_a_public_function_has_an_example_that_runs_as_a_doctest(name):
    text = inspect.getdoc(getattr(timevista_hf, name))
    _, heading, example = text.partition("\nExamples\n--------\n")
    assert heading, f"{name} has no section Examples"
    assert example.startswith(">>> ")


def test_every_public_function_is_looked_at():
    verbs = (
        "detect_",
        "judge_",
        "list_",
        "load_",
        "make_",
        "read_",
        "render_",
        "score_",
        "select_",
        "unregister_",
        "write_",
    )
    assert functions() == [name for name in PUBLIC if name.startswith(verbs)]
