"""What every folder of metrics/ promises, whatever it measures."""

import doctest
import importlib
import json
import math
import os
import pickle
import re
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import evaluate
import pytest
import yaml
from module_examples import EXAMPLES

import timevista_hf
from timevista_hf import metric_modules

FOLDERS = {
    folder.name: folder
    for root in metric_modules.__path__
    for folder in Path(root).iterdir()
    if folder.is_dir() and folder.name != "__pycache__"
}
HERE = Path(__file__).parent
PER_ROW = {"predictions", "references", "history"}
each_folder = pytest.mark.parametrize("name", sorted(FOLDERS))


@pytest.fixture(autouse=True)
def _registered(registered):
    """The bare names resolve, in whatever order the tests run."""


def computed(metric, name):
    return metric.compute(**EXAMPLES[name].inputs, **EXAMPLES[name].options)


def same(left, right):
    """Equality in which nan equals nan, and floats are those that JSON gives back."""
    return json.dumps(left) == json.dumps(right)


@pytest.fixture(scope="module")
def expected():
    return {name: computed(timevista_hf.load_metric(name), name) for name in FOLDERS}


def test_every_folder_has_an_example_and_every_example_a_folder():
    assert set(FOLDERS) == set(EXAMPLES)


def test_every_folder_is_listed_by_name():
    assert set(timevista_hf.list_metrics()) == set(FOLDERS)


@each_folder
def test_the_result_equals_that_of_the_plain_functions(name, expected):
    plain = EXAMPLES[name].plain()
    assert plain
    for key, value in plain.items():
        if isinstance(value, float):
            assert expected[name][key] == pytest.approx(value, rel=1e-12, nan_ok=True), key
        else:
            assert expected[name][key] == value, key


@each_folder
def test_it_loads_by_bare_name(name, expected):
    metric = evaluate.load(name)
    assert type(metric).__module__ == f"timevista_hf.metric_modules.{name}.{name}"
    assert same(computed(metric, name), expected[name])


@each_folder
def test_it_loads_by_folder(name, expected):
    assert same(computed(evaluate.load(str(FOLDERS[name])), name), expected[name])


@each_folder
def test_it_loads_by_file_name(name, expected):
    metric = evaluate.load(str(FOLDERS[name] / f"{name}.py"))
    assert same(computed(metric, name), expected[name])


@each_folder
def test_it_loads_alone_from_an_otherwise_empty_folder(name, expected, tmp_path, monkeypatch):
    (tmp_path / "alone" / name).mkdir(parents=True)
    shutil.copy(FOLDERS[name] / f"{name}.py", tmp_path / "alone" / name)
    monkeypatch.chdir(tmp_path / "alone")
    metric = evaluate.load(f"./{name}")
    assert type(metric).__module__.startswith("evaluate_modules.")
    assert same(computed(metric, name), expected[name])


@each_folder
def test_its_module_holds_one_class_of_evaluate_and_defines_it(name):
    module = importlib.import_module(f"timevista_hf.metric_modules.{name}.{name}")
    kinds = [kind for kind in vars(module).values() if isinstance(kind, type)]
    [found] = [kind for kind in kinds if issubclass(kind, evaluate.EvaluationModule)]
    assert found.__module__ == module.__name__
    assert issubclass(found, evaluate.Metric)


@each_folder
def test_every_number_it_takes_is_a_float64(name):
    features = timevista_hf.load_metric(name).features.to_dict()
    dtypes = set(re.findall(r"'dtype': '(\w+)'", repr(features)))
    assert dtypes == {"float64"}


@each_folder
def test_it_survives_pickling(name, expected):
    metric = pickle.loads(pickle.dumps(evaluate.load(name)))
    assert same(computed(metric, name), expected[name])


@each_folder
def test_rows_may_be_added_in_batches(name, expected):
    metric, example = evaluate.load(name), EXAMPLES[name]
    for rows in (slice(0, 1), slice(1, None)):
        metric.add_batch(**{key: values[rows] for key, values in example.inputs.items()})
    assert same(metric.compute(**example.options), expected[name])


@each_folder
def test_rows_may_be_added_one_by_one(name, expected):
    metric, example = evaluate.load(name), EXAMPLES[name]
    for row in range(len(next(iter(example.inputs.values())))):
        metric.add(**{key.removesuffix("s"): v[row] for key, v in example.inputs.items()})
    assert same(metric.compute(**example.options), expected[name])


@each_folder
def test_it_combines_with_another(name, expected):
    pair = evaluate.combine({"left": evaluate.load(name), "right": evaluate.load(name)})
    both = computed(pair, name)
    assert same({key: both[f"left_{key}"] for key in expected[name]}, expected[name])
    assert same({key: both[f"right_{key}"] for key in expected[name]}, expected[name])


@each_folder
def test_an_option_may_be_given_at_load(name, expected):
    example = EXAMPLES[name]
    options = dict(example.options)
    loaded = {example.own_option: options.pop(example.own_option)}
    metric = evaluate.load(name, **loaded)
    assert same(metric.compute(**example.inputs, **options), expected[name])


@each_folder
def test_an_unknown_option_at_load_is_an_error_that_lists_the_known(name):
    with pytest.raises(ValueError, match="unknown option 'num_proces'; did you mean 'num_process'"):
        evaluate.load(name, num_proces=2)


@each_folder
def test_an_unknown_option_of_compute_is_an_error_that_lists_the_known(name):
    metric = evaluate.load(name, keep_in_memory=True)
    with pytest.raises(ValueError, match="unknown option 'no_such'"):
        metric.compute(**EXAMPLES[name].inputs, **EXAMPLES[name].options, no_such=1)


@each_folder
def test_an_unknown_configuration_is_an_error_that_lists_the_known(name):
    with pytest.raises(ValueError, match=r"unknown configuration 'no_such'\. Known: default"):
        evaluate.load(name, "no_such")


@each_folder
def test_after_an_error_the_next_call_is_right(name, expected):
    metric = evaluate.load(name, keep_in_memory=True)
    with pytest.raises(ValueError, match="unknown option"):
        metric.compute(**EXAMPLES[name].inputs, **EXAMPLES[name].options, no_such=1)
    assert same(computed(metric, name), expected[name])


@each_folder
def test_without_rows_every_number_is_undefined_and_not_zero(name):
    example = EXAMPLES[name]
    inputs = {key: [] for key in (*example.inputs, *example.options) if key in PER_ROW}
    found = timevista_hf.load_metric(name).compute(**{**example.options, **inputs})
    numbers = [value for value in found.values() if isinstance(value, float)]
    assert numbers
    assert all(math.isnan(number) for number in numbers)


@each_folder
def test_no_request_leaves_the_machine(name, monkeypatch):
    asked = []

    def refuse(*arguments, **options):
        asked.append(arguments)
        raise OSError("no network in this test")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    computed(evaluate.load(name), name)
    computed(evaluate.load(str(FOLDERS[name])), name)
    assert asked == []


@pytest.fixture(scope="module")
def of_two_processes():
    """What the first of two processes computes from the rows of both, for every folder."""
    environment = {**os.environ, "PYTHONWARNINGS": "error"}
    command = [sys.executable, str(HERE / "two_processes.py")]
    pair = [
        subprocess.Popen(
            [*command, str(process)],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for process in (0, 1)
    ]
    said = [process.communicate(timeout=120) for process in pair]
    assert [process.returncode for process in pair] == [0, 0], said
    return json.loads(said[0][0])


@each_folder
def test_two_processes_give_one_result(name, expected, of_two_processes):
    assert same(of_two_processes[name], json.loads(json.dumps(expected[name])))


@each_folder
def test_the_folder_holds_what_a_space_needs(name):
    files = {path.name for path in FOLDERS[name].iterdir() if path.name != "__pycache__"}
    assert files == {f"{name}.py", "app.py", "requirements.txt", "README.md"}


def card(name):
    text = (FOLDERS[name] / "README.md").read_text(encoding="utf-8")
    _, front, body = text.split("---\n", 2)
    return yaml.safe_load(front), body


@each_folder
def test_the_card_has_the_front_matter_of_a_space(name):
    front, _ = card(name)
    assert {"title", "emoji", "colorFrom", "colorTo", "license"} <= front.keys()
    assert front["sdk"] == "gradio"
    assert front["app_file"] == "app.py"
    assert {"evaluate", "metric"} <= set(front["tags"])


@each_folder
def test_the_space_pins_one_gradio(name):
    front, _ = card(name)
    lines = (FOLDERS[name] / "requirements.txt").read_text(encoding="utf-8").splitlines()
    assert f"gradio=={front['sdk_version']}" in lines
    assert any(line.startswith("timevista-hf[space]") for line in lines)


@each_folder
def test_the_card_has_every_section(name):
    _, body = card(name)
    sections = re.findall(r"^## (.+)$", body, flags=re.MULTILINE)
    assert sections == ["How to use", "Inputs", "Output values", "Limitations", "Citation"]


@each_folder
def test_the_card_names_every_output(name, expected):
    _, body = card(name)
    outputs = body.split("## Output values")[1].split("## Limitations")[0]
    for key in expected[name].keys() - {"without_knowledge"}:  # a dimension of another level
        assert f"`{key}`" in outputs, key


@each_folder
def test_what_the_card_shows_is_what_it_prints(name):
    _, body = card(name)
    code = "\n".join(re.findall(r"```python\n(.*?)```", body, flags=re.DOTALL))
    assert code.count(">>> ") >= 3
    test = doctest.DocTestParser().get_doctest(code, {}, f"{name}/README.md", None, 0)
    failures, tried = doctest.DocTestRunner().run(test)
    assert (failures, tried > 0) == (0, True)


@each_folder
def test_a_number_in_the_card_is_one_that_its_examples_print(name):
    _, body = card(name)
    prose, _, _ = body.partition("## Citation")
    code = "\n".join(re.findall(r"```python\n(.*?)```", prose, flags=re.DOTALL))
    prose = re.sub(r"```.*?```", "", prose, flags=re.DOTALL)
    for number in re.findall(r"\b\d+\.\d+\b", prose):
        assert number in code, number
