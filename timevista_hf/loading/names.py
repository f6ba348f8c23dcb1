"""Bare names: `evaluate.load("vlm_judge")` and `load_dataset("timevista")` mean this package.

Each library looks a name up in one function, which its modules find in their globals at every
call. That function is wrapped as soon as the library is imported: names of ours are answered, all
others are delegated.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import sys
import threading
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

from timevista_hf._version import __version__
from timevista_hf.loading.known import check_known


def load_metric(name: str, config_name: str | None = None, **options: Any) -> Any:
    """Load one of this package's evaluate modules, without a hook into `evaluate`.

    Parameters
    ----------
    name : str
        One of `list_metrics`.
    config_name : str, optional
        A configuration, where the module has several: the level of ``"vlm_judge"``.
    **options
        As `evaluate.load` takes them (`num_process`, `keep_in_memory`, …), and the module's own.

    Returns
    -------
    evaluate.Metric
        What ``evaluate.load(name)`` gives after ``import timevista_hf``.

    Raises
    ------
    ValueError
        For an unknown name, configuration or option; the message lists the known ones.

    Examples
    --------
    >>> metric = load_metric("forecast_error")
    >>> metric.compute(predictions=[[4, 5]], references=[[4, 6]])["mae"]
    0.5
    """
    found = _find("metric", _METRICS, name)
    return found.main_class(config_name=config_name, hash=found.fingerprint, **options)


def load_dataset(
    name: str,
    config_name: str | None = None,
    *,
    split: Any = None,
    streaming: bool = False,
    cache_dir: str | Path | None = None,
    download_mode: str | None = None,
    num_proc: int | None = None,
    **options: Any,
) -> Any:
    """Load one of this package's datasets, without a hook into `datasets`.

    Parameters
    ----------
    name : str
        One of `list_datasets`.
    config_name : str, optional
        A configuration, where the dataset has several.
    split, streaming, cache_dir, download_mode, num_proc
        As in `datasets.load_dataset`.
    **options
        The dataset's own options.

    Returns
    -------
    datasets.Dataset, DatasetDict, IterableDataset or IterableDatasetDict
        What ``datasets.load_dataset(name)`` gives after ``import timevista_hf``.

    Raises
    ------
    ValueError
        For an unknown name; the message lists the known ones.

    Examples
    --------
    >>> load_dataset("m4")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    ValueError: unknown dataset 'm4'. Known: ...
    """
    found = find_dataset(name)
    builder = found.main_class(
        cache_dir=None if cache_dir is None else str(cache_dir),
        dataset_name=name,
        config_name=config_name,
        hash=found.fingerprint,
        **options,
    )
    if streaming:
        return builder.as_streaming_dataset(split=split)
    builder.download_and_prepare(download_mode=download_mode, num_proc=num_proc)
    return builder.as_dataset(split=split)


def list_metrics() -> dict[str, str]:
    """List this package's evaluate modules, each with what it measures in one sentence.

    Examples
    --------
    >>> list_metrics()["forecast_error"]
    'Errors of point forecasts: MSE, MAE, MASE and DTW.'
    """
    return {name: found.summary for name, found in sorted(_modules(_METRICS).items())}


def list_datasets() -> dict[str, str]:
    """List this package's datasets, each with what it holds in one sentence.

    Examples
    --------
    >>> list(list_datasets())
    ['meta_timevista', 'timevista', 'visual_time_anomaly']
    """
    return {name: found.summary for name, found in sorted(_modules(_DATASETS).items())}


def find_dataset(name: str) -> NamedModule:
    """Return where a dataset is built.

    Raises
    ------
    ValueError
        For an unknown name; the message lists the known ones.
    """
    return _find("dataset", _DATASETS, name)


def register_names() -> None:
    """Make the bare names resolve, now or as soon as `datasets` or `evaluate` is imported.

    Calling it again does nothing. A name with a slash, as ``"./vlm_judge"``, is a path and always
    reaches the folder of that name.
    """
    with _lock:
        if _finder not in sys.meta_path:
            sys.meta_path.insert(0, _finder)
    for package in _LIBRARIES:
        if package in sys.modules:
            _hook(import_module(package))  # waits where another thread is at importing it


def unregister_names() -> None:
    """Undo what ``import timevista_hf`` did to `datasets` and `evaluate`.

    `load_metric` and `load_dataset` go on working.

    Examples
    --------
    >>> unregister_names()
    >>> register_names()  # and back again
    """
    with _lock:
        if _finder in sys.meta_path:
            sys.meta_path.remove(_finder)
        while _wrapped:
            library, original, wrapper = _wrapped.pop()
            _replace(library, wrapper, original)


@dataclass(frozen=True)
class NamedModule:
    """A folder of `metrics/` or `dataset_scripts/` with a module of the same name in it."""

    path: str  # to import it
    folder: Path

    @property
    def file(self) -> Path:
        """The module."""
        return self.folder / f"{self.folder.name}.py"

    @property
    def main_class(self) -> Any:
        """The metric or builder that the module defines; what it imports does not count."""
        home = import_module(self.path)
        own = [kind for kind in vars(home).values() if getattr(kind, "__module__", "") == self.path]
        [main] = [kind for kind in own if isinstance(kind, type) and hasattr(kind, "_info")]
        return main

    @property
    def summary(self) -> str:
        """First line of the module's docstring."""
        docstring = ast.get_docstring(ast.parse(self.file.read_text(encoding="utf-8")))
        return (docstring or "").partition("\n")[0]

    @property
    def fingerprint(self) -> str:
        """Tell apart what other code, or another release, would build."""
        digest = hashlib.sha256(__version__.encode())
        for file in sorted(self.folder.glob("*.py")):
            digest.update(file.name.encode() + file.read_bytes())
        return digest.hexdigest()


@dataclass(frozen=True)
class _Library:
    """Where a library looks names up, and what the answer is made of."""

    package: str
    mark: str  # a name that tells the library from a user's own module of the same name
    home: str
    function: str
    result: str
    carrier: str  # our package that holds the modules
    instead: str

    def answer(self, name: object, revision: object) -> Any:
        """Return what the library's function would, for a name of ours; None for others."""
        found = _modules(self.carrier).get(name) if isinstance(name, str) else None
        if found is None:
            return None
        if revision is not None:
            raise ValueError(
                f"{name!r} is part of timevista_hf {__version__} and has no `revision`, got "
                f"{revision!r}"
            )
        make = getattr(sys.modules[self.home], self.result)
        extra = [{"dataset_name": name}] if self.carrier == _DATASETS else []
        return make(found.path, found.fingerprint, *extra)


class _Finder(MetaPathFinder):
    """Let the other finders find the libraries, and hook them once they are loaded."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname not in _LIBRARIES:
            return None
        for finder in list(sys.meta_path):
            find = getattr(finder, "find_spec", None)
            spec: ModuleSpec | None = None
            if find is not None and finder is not self:
                spec = find(fullname, path, target)
            if spec is not None:
                if spec.loader is not None:
                    spec.loader = _HookingLoader(spec.loader)
                return spec
        return None


class _HookingLoader(Loader):
    """Load as the library's own loader does, then step aside for it and hook the module."""

    def __init__(self, loader: Any) -> None:
        self._loader = loader

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        made: ModuleType | None = self._loader.create_module(spec)
        return made

    def exec_module(self, module: ModuleType) -> None:
        module.__loader__ = self._loader
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        self._loader.exec_module(module)
        _hook(module)


def _hook(package: ModuleType) -> None:
    library = _LIBRARIES[package.__name__]
    if not hasattr(package, library.mark):
        return
    try:
        home = vars(import_module(library.home))
    except ModuleNotFoundError:
        home = {}
    if not {library.function, library.result} <= home.keys():
        version = getattr(package, "__version__", "of unknown version")
        warnings.warn(
            f"{library.package} {version} has no `{library.home}.{library.function}` to answer "
            f"timevista_hf's names; use `timevista_hf.{library.instead}` instead",
            RuntimeWarning,
            stacklevel=2,
        )
        return
    with _lock:
        original = home[library.function]
        if not any(original is wrapper for _, _, wrapper in _wrapped):
            wrapper = _wrap(library, original)
            _replace(library, original, wrapper)
            _wrapped.append((library, original, wrapper))


def _wrap(library: _Library, original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def factory(path: Any, *args: Any, **options: Any) -> Any:
        answer = library.answer(path, options.get("revision"))
        return original(path, *args, **options) if answer is None else answer

    return factory


def _replace(library: _Library, old: object, new: object) -> None:
    """Replace the function in every module of the library that has imported it."""
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == library.package:
            known = getattr(module, "__dict__", {})
            if known.get(library.function) is old:
                known[library.function] = new


def _modules(carrier: str) -> dict[str, NamedModule]:
    return {
        folder.name: NamedModule(f"{carrier}.{folder.name}.{folder.name}", folder)
        for root in import_module(carrier).__path__
        for folder in Path(root).glob("*")
        if (folder / f"{folder.name}.py").is_file()
    }


def _find(kind: str, carrier: str, name: str) -> NamedModule:
    modules = _modules(carrier)
    check_known(kind, name, sorted(modules))
    return modules[name]


_METRICS = "timevista_hf.metric_modules"
_DATASETS = "timevista_hf.dataset_scripts"

_LIBRARIES = {
    library.package: library
    for library in (
        _Library(
            package="datasets",
            mark="load_dataset",
            home="datasets.load",
            function="dataset_module_factory",
            result="DatasetModule",
            carrier=_DATASETS,
            instead="load_dataset",
        ),
        _Library(
            package="evaluate",
            mark="EvaluationModule",
            home="evaluate.loading",
            function="evaluation_module_factory",
            result="ImportableModule",
            carrier=_METRICS,
            instead="load_metric",
        ),
    )
}

_finder = _Finder()
_lock = threading.RLock()
_wrapped: list[tuple[_Library, Callable[..., Any], Callable[..., Any]]] = []
