"""What every folder of dataset_scripts/ promises, whatever it holds."""

import doctest
import importlib
import json
import os
import pickle
import re
import socket
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import datasets
import pytest
import yaml

import timevista_hf
from timevista_hf import dataset_scripts


@dataclass(frozen=True)
class Example:
    """Two parts or more of a dataset that are made in no time, and a configuration to build."""

    options: dict = field(default_factory=dict)
    split: str = "test"
    build: str = "default"


EXAMPLES = {
    "meta_timevista": Example(
        options={"parts": ["ladders/phase", "ladders/magnitude"]}, build="ladders"
    ),
    "timevista": Example(
        options={"parts": ["synthetic/motif", "synthetic/magnitude"]}, build="synthetic"
    ),
    "visual_time_anomaly": Example(
        options={"subsets": ["sine-trend-r5", "sine_cosine-square-m4"], "with_images": False},
        build="sine-trend",
    ),
}
FOLDERS = {
    folder.name: folder
    for root in dataset_scripts.__path__
    for folder in Path(root).iterdir()
    if folder.is_dir() and folder.name != "__pycache__"
}
each_folder = pytest.mark.parametrize("name", sorted(FOLDERS))


def loaded(name, **options):
    example = EXAMPLES[name]
    return datasets.load_dataset(name, split=example.split, **example.options, **options)


def builder_of(name):
    module = importlib.import_module(f"timevista_hf.dataset_scripts.{name}.{name}")
    kinds = [kind for kind in vars(module).values() if isinstance(kind, type)]
    [found] = [kind for kind in kinds if issubclass(kind, datasets.DatasetBuilder)]
    return found


def said(rows):
    """Rows as text, in which nan equals nan."""
    return [json.dumps(row) for row in rows]


def run(code, cwd, **options):
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=120,
        **options,
    )


@pytest.fixture(scope="module")
def expected():
    rows = {}
    for name, example in EXAMPLES.items():
        found = timevista_hf.load_dataset(name, split=example.split, **example.options)
        rows[name] = said(found)
    return rows


def test_every_folder_has_an_example_and_every_example_a_folder():
    assert set(FOLDERS) == set(EXAMPLES)


@each_folder
def test_the_folder_holds_a_builder_a_card_and_pictures(name):
    files = {path.name for path in FOLDERS[name].iterdir() if path.name != "__pycache__"}
    assert {f"{name}.py", "README.md"} <= files
    assert {Path(file).suffix for file in files - {f"{name}.py", "README.md"}} <= {".png", ".yaml"}


@each_folder
def test_its_module_holds_one_builder_and_defines_it(name):
    assert builder_of(name).__module__ == f"timevista_hf.dataset_scripts.{name}.{name}"


@each_folder
def test_it_loads_by_bare_name(name, expected, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert said(loaded(name, cache_dir=tmp_path / "cache")) == expected[name]


@each_folder
def test_it_streams_the_same_rows(name, expected):
    assert said(loaded(name, streaming=True)) == expected[name]


@each_folder
def test_a_stream_survives_pickling_and_is_read_in_parts(name, expected):
    stream = pickle.loads(pickle.dumps(loaded(name, streaming=True)))
    assert stream.num_shards >= 2
    parts = [stream.shard(stream.num_shards, index) for index in range(stream.num_shards)]
    assert [row for part in parts for row in said(part)] == expected[name]


@each_folder
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_two_processes_give_the_same_rows_in_the_same_order(name, expected, tmp_path):
    assert said(loaded(name, cache_dir=tmp_path, num_proc=2)) == expected[name]


@each_folder
def test_a_slice_of_a_split_is_one(name, expected):
    example = EXAMPLES[name]
    some = datasets.load_dataset(name, split=f"{example.split}[5:15]", **example.options)
    assert said(some) == expected[name][5:15]


@each_folder
def test_the_second_time_it_comes_from_the_cache(name, expected, monkeypatch):
    def fail(*arguments, **options):
        raise AssertionError("made again")

    monkeypatch.setattr(builder_of(name), "_generate_examples", fail)
    assert said(loaded(name)) == expected[name]


@each_folder
def test_its_configurations_are_listed_and_one_is_the_default(name):
    names = [config.name for config in builder_of(name).BUILDER_CONFIGS]
    assert datasets.get_dataset_config_names(name) == names
    assert datasets.load.load_dataset_builder(name).config.name in names


@each_folder
def test_each_configuration_lists_its_parts_by_names_that_are_paths(name):
    for config in builder_of(name).BUILDER_CONFIGS:
        parts = list(config.parts)
        assert len(parts) == len(set(parts)) > 0
        assert all(re.fullmatch(r"[\w-]+(/[\w-]+)*", part) for part in parts)


@each_folder
def test_every_number_that_is_not_whole_is_a_float64(name):
    features = datasets.load.load_dataset_builder(name).info.features.to_dict()
    dtypes = set(re.findall(r"'dtype': '(\w+)'", repr(features)))
    assert {dtype for dtype in dtypes if "float" in dtype} <= {"float64"}


@each_folder
@pytest.mark.parametrize("imports", ["timevista_hf, datasets", "datasets, timevista_hf"])
def test_the_order_of_imports_does_not_matter(name, imports, tmp_path, expected):
    code = f"import {imports}, json\noptions = {EXAMPLES[name].options!r}\n"
    code += f"rows = datasets.load_dataset({name!r}, streaming=True, **options)\n"
    code += f"print(json.dumps(next(iter(rows[{EXAMPLES[name].split!r}]))))"
    done = run(code, tmp_path)
    assert done.stdout.splitlines() == expected[name][:1], done.stderr
    assert list(tmp_path.iterdir()) == []


@each_folder
def test_no_request_leaves_the_machine(name, monkeypatch, tmp_path):
    asked = []

    def refuse(*arguments, **options):
        asked.append(arguments)
        raise OSError("no network in this test")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    loaded(name, cache_dir=tmp_path)
    assert asked == []


@each_folder
def test_a_picture_holds_its_bytes_and_no_path(name):
    rows = datasets.load_dataset(name, split=EXAMPLES[name].split, streaming=True)
    pictures = [
        key for key, feature in rows.features.items() if isinstance(feature, datasets.Image)
    ]
    row = next(iter(rows.decode(False)))
    assert all(row[key]["path"] is None for key in pictures)
    assert all(row[key]["bytes"][1:4] == b"PNG" for key in pictures)


@each_folder
def test_a_build_loads_without_this_package(name, tmp_path):
    from timevista_hf.building import build_dataset

    config, split = EXAMPLES[name].build, EXAMPLES[name].split
    build_dataset(name, tmp_path / "built", config_name=config)
    code = "import sys\nsys.modules['timevista_hf'] = None\nimport datasets, json\n"
    code += f"rows = datasets.load_dataset('built', {config!r}, split={split!r})\n"
    code += "plain = [k for k, f in rows.features.items() if not isinstance(f, datasets.Image)]\n"
    code += "print(json.dumps([rows.num_rows, list(rows.features), plain]))\n"
    code += "for row in rows.select_columns(plain): print(json.dumps(row))"
    done = run(code, tmp_path, env={**os.environ, "HF_HOME": str(tmp_path / "home")})
    assert done.stderr == ""
    first, *rows = done.stdout.splitlines()
    own = datasets.load_dataset(name, config, split=split, streaming=True)
    count, features, plain = json.loads(first)
    assert features == list(own.features)
    assert rows[:20] == said(own.select_columns(plain).take(20))
    assert count == len(rows) > 20


def card(name):
    text = (FOLDERS[name] / "README.md").read_text(encoding="utf-8")
    _, front, body = text.split("---\n", 2)
    return yaml.safe_load(front), body


@each_folder
def test_the_card_has_the_front_matter_of_a_dataset(name):
    front, _ = card(name)
    assert {"pretty_name", "license", "task_categories", "tags"} <= front.keys()
    assert "configs" not in front  # they are those of a build


@each_folder
def test_the_card_has_every_section(name):
    _, body = card(name)
    sections = re.findall(r"^## (.+)$", body, flags=re.MULTILINE)
    for section in ("How to use", "Configurations", "Features", "Licence", "Citation"):
        assert section in sections


@each_folder
def test_the_card_has_a_row_for_every_feature_in_order(name):
    _, body = card(name)
    table = body.split("## Features")[1].split("\n## ")[0]
    features = datasets.load.load_dataset_builder(name).info.features
    assert re.findall(r"^\| `(\w+)`", table, flags=re.MULTILINE) == list(features)


@each_folder
def test_the_card_shows_a_picture_that_is_there(name):
    _, body = card(name)
    pictures = re.findall(r"!\[[^]]*\]\(([^)]*)\)", body)
    assert pictures
    assert all((FOLDERS[name] / picture).stat().st_size < 100_000 for picture in pictures)


@each_folder
def test_what_the_card_shows_is_what_it_prints(name):
    _, body = card(name)
    code = "\n".join(re.findall(r"```python\n(.*?)```", body, flags=re.DOTALL))
    test = doctest.DocTestParser().get_doctest(code, {}, f"{name}/README.md", None, 0)
    failures, tried = doctest.DocTestRunner().run(test)
    assert (failures, tried >= 3) == (0, True)
