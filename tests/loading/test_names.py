"""The bare names: answered for this package, untouched for everything else."""

import importlib
import importlib.util
import inspect
import os
import subprocess
import sys
import threading
import types

import datasets
import datasets.inspect
import evaluate
import evaluate.evaluation_suite
import evaluate.inspect
import pytest

import timevista_hf as tv
from timevista_hf.loading import names
from timevista_hf.loading.names import register_names, unregister_names

HOLDERS = {
    "evaluation_module_factory": (
        evaluate.loading,
        evaluate.inspect,
        evaluate.evaluation_suite,
    ),
    "dataset_module_factory": (datasets.load, datasets.inspect),
}
each_function = pytest.mark.parametrize("function", sorted(HOLDERS))

BUILDER = """
import datasets


class MadeUp(datasets.GeneratorBasedBuilder):
    BUILDER_CONFIGS = [datasets.BuilderConfig(name="few"), datasets.BuilderConfig(name="many")]
    DEFAULT_CONFIG_NAME = "few"

    def _info(self):
        return datasets.DatasetInfo(features=datasets.Features({"x": datasets.Value("int64")}))

    def _split_generators(self, dl_manager):
        return [datasets.SplitGenerator(name="test")]

    def _generate_examples(self):
        for x in range(2 if self.config.name == "few" else 5):
            yield x, {"x": x}
"""

OWN_METRIC = """
import datasets
import evaluate


class Own(evaluate.Metric):
    def _info(self):
        value = datasets.Value("float64")
        features = datasets.Features({"predictions": value, "references": value})
        return evaluate.MetricInfo(
            description="", citation="", inputs_description="", features=features
        )

    def _compute(self, predictions, references):
        return {"mine": len(predictions)}
"""


@pytest.fixture(autouse=True)
def _registered(registered):
    """Start and end with the names registered."""


@pytest.fixture
def builders(tmp_path, monkeypatch):
    """A package of dataset scripts with one in it."""
    (tmp_path / "made_up").mkdir()
    (tmp_path / "made_up" / "made_up.py").write_text(BUILDER, encoding="utf-8")
    package = types.ModuleType("timevista_hf.dataset_scripts")
    package.__path__ = [str(tmp_path)]
    for name in [name for name in sys.modules if name.startswith("timevista_hf.dataset_scripts")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package.__name__, package)
    yield
    for name in [name for name in sys.modules if name.startswith(f"{package.__name__}.made_up")]:
        del sys.modules[name]


@pytest.fixture
def own_metric(tmp_path, monkeypatch):
    """A user's own metric, in a folder of the working directory that bears a name of ours."""
    (tmp_path / "vlm_judge").mkdir()
    (tmp_path / "vlm_judge" / "vlm_judge.py").write_text(OWN_METRIC, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path / "vlm_judge"


def run(code, cwd, **environment):
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        cwd=cwd,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.mark.parametrize(
    ("function", "parameters"),
    [
        (
            evaluate.loading.evaluation_module_factory,
            "path module_type revision download_config download_mode force_local_path "
            "dynamic_modules_path download_kwargs",
        ),
        (
            datasets.load.dataset_module_factory,
            "path revision download_config download_mode data_dir data_files cache_dir "
            "download_kwargs",
        ),
    ],
)
def test_the_wrapped_functions_have_the_names_and_parameters_that_we_count_on(function, parameters):
    assert list(inspect.signature(function.__wrapped__).parameters) == parameters.split()


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        (evaluate.loading.ImportableModule, ["module_path", "hash"]),
        (datasets.load.DatasetModule, ["module_path", "hash", "builder_kwargs"]),
    ],
)
def test_an_answer_is_made_of_the_fields_that_we_count_on(kind, fields):
    assert list(inspect.signature(kind).parameters)[: len(fields)] == fields


@each_function
def test_every_module_that_looks_a_name_up_asks_us_first(function):
    home, *others = HOLDERS[function]
    assert getattr(home, function).__module__ == home.__name__
    assert all(getattr(module, function) is getattr(home, function) for module in others)
    assert hasattr(getattr(home, function), "__wrapped__")


@each_function
def test_registering_again_changes_nothing(function):
    home = HOLDERS[function][0]
    before = getattr(home, function)
    register_names()
    assert getattr(home, function) is before
    assert not hasattr(before.__wrapped__, "__wrapped__")
    assert sys.meta_path.count(names._finder) == 1


@each_function
def test_unregistering_gives_every_module_its_function_back(function):
    original = getattr(HOLDERS[function][0], function).__wrapped__
    unregister_names()
    assert all(getattr(module, function) is original for module in HOLDERS[function])
    assert names._finder not in sys.meta_path


def test_after_unregistering_a_bare_name_is_evaluates_own_business():
    unregister_names()
    with pytest.raises(FileNotFoundError, match="vlm_judge"):
        evaluate.load("vlm_judge")


def test_after_unregistering_load_metric_goes_on_working():
    unregister_names()
    found = tv.load_metric("forecast_error").compute(predictions=[[4, 5]], references=[[4, 6]])
    assert found["mae"] == 0.5


def test_unregistering_twice_is_no_error():
    unregister_names()
    unregister_names()


def test_threads_that_register_and_unregister_leave_one_wrapper_or_none():
    def toggle():
        for _ in range(50):
            register_names()
            unregister_names()

    threads = [threading.Thread(target=toggle) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    register_names()
    factory = evaluate.loading.evaluation_module_factory
    assert not hasattr(factory.__wrapped__, "__wrapped__")
    assert evaluate.inspect.evaluation_module_factory is factory
    assert sys.meta_path.count(names._finder) == 1


@pytest.mark.parametrize("path", ["./vlm_judge", "vlm_judge/vlm_judge.py", "absolute"])
def test_a_path_reaches_a_folder_of_ones_own(path, own_metric):
    metric = evaluate.load(str(own_metric) if path == "absolute" else path)
    assert metric.compute(predictions=[1.0], references=[1.0]) == {"mine": 1}


def test_a_bare_name_reaches_the_package_whatever_the_working_directory_holds(own_metric):
    assert type(evaluate.load("vlm_judge")).__module__.startswith("timevista_hf.")


@pytest.mark.parametrize("name", ["accuracy", "./vlm_judge", "org/vlm_judge", "VLM_judge", ""])
def test_any_other_name_is_delegated_with_all_its_arguments(name):
    asked = []
    library = names._LIBRARIES["evaluate"]
    factory = names._wrap(library, lambda *a, **k: asked.append((a, k)) or "theirs")
    assert factory(name, "metric", revision="main", download_mode=None) == "theirs"
    assert asked == [((name, "metric"), {"revision": "main", "download_mode": None})]


def test_a_revision_of_a_name_of_ours_is_an_error():
    with pytest.raises(ValueError, match=rf"'vlm_judge' is part of timevista_hf {tv.__version__}"):
        evaluate.load("vlm_judge", revision="v1")


def test_an_unknown_metric_names_the_nearest():
    with pytest.raises(ValueError, match="unknown metric 'vlm_juge'; did you mean 'vlm_judge'"):
        tv.load_metric("vlm_juge")


def test_load_metric_gives_the_class_that_evaluate_gives():
    assert type(tv.load_metric("vlm_judge")) is type(evaluate.load("vlm_judge"))


def test_load_metric_passes_the_configuration_on():
    assert tv.load_metric("vlm_judge", "macro").config_name == "macro"


def test_every_metric_is_summarized_in_one_sentence():
    summaries = tv.list_metrics().values()
    assert all(s[0].isupper() and s.endswith(".") and len(s) < 100 for s in summaries)


def test_a_dataset_loads_by_bare_name_as_soon_as_it_has_a_builder(builders):
    assert datasets.load_dataset("made_up", split="test")["x"] == [0, 1]


def test_a_dataset_loads_by_bare_name_in_a_configuration(builders):
    assert datasets.load_dataset("made_up", "many", split="test").num_rows == 5


def test_a_dataset_streams_by_bare_name(builders):
    stream = datasets.load_dataset("made_up", split="test", streaming=True)
    assert [row["x"] for row in stream] == [0, 1]


def test_the_configurations_of_a_dataset_are_found_by_bare_name(builders):
    assert datasets.get_dataset_config_names("made_up") == ["few", "many"]


@pytest.mark.parametrize("streaming", [False, True])
def test_load_dataset_needs_no_hook(builders, tmp_path, streaming):
    unregister_names()
    rows = tv.load_dataset(
        "made_up", "many", split="test", streaming=streaming, cache_dir=tmp_path / "cache"
    )
    assert [row["x"] for row in rows] == [0, 1, 2, 3, 4]


def test_load_dataset_without_a_split_gives_all_of_them(builders, tmp_path):
    assert list(tv.load_dataset("made_up", cache_dir=tmp_path / "cache")) == ["test"]


def test_an_unknown_dataset_lists_the_known(builders):
    with pytest.raises(ValueError, match=r"unknown dataset 'm4'\. Known: made_up"):
        tv.load_dataset("m4")


def test_a_changed_builder_is_built_anew(builders, tmp_path):
    before = names._modules("timevista_hf.dataset_scripts")["made_up"].fingerprint
    (tmp_path / "made_up" / "_part.py").write_text("x = 1\n", encoding="utf-8")
    after = names._modules("timevista_hf.dataset_scripts")["made_up"].fingerprint
    assert before != after


@pytest.mark.parametrize(
    "imports",
    ["import timevista_hf, evaluate, datasets", "import evaluate, datasets, timevista_hf"],
)
def test_the_order_of_imports_does_not_matter(imports, tmp_path):
    code = f"{imports}\nprint(evaluate.load('vlm_judge').name)\n"
    code += "print(datasets.load.dataset_module_factory.__wrapped__ is not None)"
    done = run(code, tmp_path)
    assert (done.stdout.split(), done.stderr) == (["vlm_judge", "True"], "")


def test_a_library_is_left_with_its_own_loader():
    assert isinstance(evaluate.__spec__.loader, importlib.machinery.SourceFileLoader), (
        evaluate.__spec__
    )
    assert evaluate.__loader__ is evaluate.__spec__.loader


def test_looking_for_a_library_without_importing_it_works():
    assert importlib.util.find_spec("evaluate").origin == evaluate.__file__
    spec = names._finder.find_spec("evaluate", None)
    assert spec.loader.get_filename("evaluate") == evaluate.__file__


@pytest.mark.parametrize(
    "files",
    [
        {"datasets.py": "mine = 1"},
        {"datasets/__init__.py": "mine = 1"},
        {"datasets/__init__.py": "mine = 1", "datasets/load.py": "raise RuntimeError"},
    ],
)
def test_a_users_own_module_named_datasets_is_left_alone(files, tmp_path):
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    done = run("import timevista_hf, datasets; print(datasets.mine)", tmp_path)
    assert (done.stdout.strip(), done.stderr) == ("1", "")


@pytest.mark.parametrize(
    "files",
    [
        {"__init__.py": "__version__ = '9.1'\nclass EvaluationModule: ..."},
        {
            "__init__.py": "__version__ = '9.1'\nclass EvaluationModule: ...",
            "loading.py": "def find_module(path): ...",
        },
    ],
)
def test_a_library_that_moved_things_is_a_warning_with_its_version(files, tmp_path):
    (tmp_path / "evaluate").mkdir()
    for name, text in files.items():
        (tmp_path / "evaluate" / name).write_text(text, encoding="utf-8")
    code = "import warnings; warnings.simplefilter('always')\n"
    done = run(f"{code}import timevista_hf, evaluate; print('goes on')", tmp_path)
    assert done.stdout.strip() == "goes on"
    assert "RuntimeWarning: evaluate 9.1 has no `evaluate.loading.evaluation_module_factory`" in (
        done.stderr
    )
    assert "timevista_hf.load_metric" in done.stderr


def test_a_library_that_fails_to_import_fails_as_it_would_without_us(tmp_path):
    (tmp_path / "evaluate.py").write_text("raise ImportError('broken')", encoding="utf-8")
    done = run("import timevista_hf, evaluate", tmp_path)
    assert done.stderr.strip().endswith("ImportError: broken")


def test_a_library_that_is_not_installed_is_not_found(tmp_path):
    code = "import sys, timevista_hf\n"
    code += "sys.meta_path[1:] = []\nsys.path_importer_cache.clear()\nimport evaluate"
    assert "No module named 'evaluate'" in run(code, tmp_path).stderr


def test_threads_that_import_at_once_are_all_answered(tmp_path):
    (tmp_path / "evaluate").mkdir()
    (tmp_path / "evaluate" / "__init__.py").write_text(
        "import time; time.sleep(0.2)\nclass EvaluationModule: ...\nfrom . import loading",
        encoding="utf-8",
    )
    (tmp_path / "evaluate" / "loading.py").write_text(
        "class ImportableModule:\n    def __init__(self, path, hash): self.path = path\n"
        "def evaluation_module_factory(path): return None\n",
        encoding="utf-8",
    )
    code = """
import threading
def use():
    import timevista_hf
    from evaluate import loading
    print(loading.evaluation_module_factory("vlm_judge").path + "\\n", end="")
def first():
    import evaluate
threads = [threading.Thread(target=first), *(threading.Thread(target=use) for _ in range(6))]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
"""
    done = run(code, tmp_path)
    assert done.stderr == ""
    assert done.stdout.split() == ["timevista_hf.metric_modules.vlm_judge.vlm_judge"] * 6
