"""The engine for many machines: the same pipeline as batches of Ray Data over a pool of actors."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, cast

import pyarrow as pa

from timevista_hf.cases import ForecastCase
from timevista_hf.judges import Judge, Reply, Store
from timevista_hf.pipeline import WINDOW, JudgedCase, RubricsFor, judge_cases
from timevista_hf.rendering import Renderer, Style
from timevista_hf.rubrics import Rubric

_Work = Callable[[Iterable[ForecastCase]], Iterator[Any]]
_Prepare = Callable[[Any], _Work]  # from the keeper of the store


@dataclass(frozen=True, kw_only=True)
class Pool:
    """How many actors work, and what each of them needs.

    Parameters
    ----------
    actors : int
        ≥ 1; each loads its own judge.
    num_cpus, num_gpus : float
        What an actor holds, ≥ 0; fractions let actors share. A judge that waits for a server needs
        a fraction of a CPU, a local model one GPU.
    batch_size : int
        Cases that an actor judges at once, from 1 to `pipeline.WINDOW`.

    Raises
    ------
    ValueError
        For a number outside of its range.

    Examples
    --------
    >>> Pool(actors=4, num_cpus=0.5).num_gpus
    0.0
    """

    actors: int = 2
    num_cpus: float = 0.25
    num_gpus: float = 0.0
    batch_size: int = 16

    def __post_init__(self) -> None:
        if self.actors < 1:
            raise ValueError(f"`actors` must be at least 1, got {self.actors!r}")
        for name in ("num_cpus", "num_gpus"):
            if not 0 <= getattr(self, name) < float("inf"):
                raise ValueError(f"`{name}` must be at least 0, got {getattr(self, name)!r}")
        if not 1 <= self.batch_size <= WINDOW:
            raise ValueError(f"`batch_size` must be from 1 to {WINDOW}, got {self.batch_size!r}")


def judge_with_ray(
    cases: Iterable[ForecastCase],
    rubrics: Sequence[Rubric] | RubricsFor,
    judge: Judge | Sequence[Judge],
    *,
    store: Store | None = None,
    style: Style | None = None,
    runs: int = 1,
    joint: bool = False,
    pool: Pool | None = None,
) -> Iterator[JudgedCase]:
    """Judge every case by every rubric on a Ray cluster, with the results of `judge_cases`.

    Uses the cluster that this process is connected to, or that the variable ``RAY_ADDRESS`` names,
    or else this machine. All cases are put into Ray's object store before the first is judged;
    judged cases stream back in order. Equal questions are asked once in a batch.

    Parameters
    ----------
    cases : iterable of ForecastCase
    rubrics : sequence of Rubric, or callable
        A function is pickled and runs in the actors.
    judge : Judge, or sequence of Judge
        Each actor gets a copy, and loads its own weights. Keys of hosted judges must be in the
        environment there; none is sent.
    store : Store, optional
        On this machine; one actor writes it, whatever their number.
    style, runs, joint
        As in `judge_cases`.
    pool : Pool, optional
        Two actors with a quarter of a CPU each, where it is not given.

    Yields
    ------
    JudgedCase

    Raises
    ------
    ValueError
        Where Ray is not installed, no machine can hold an actor, and for what `judge_cases`
        refuses.

    Examples
    --------
    >>> judge = load_judge("local:models/judge")  # doctest: +SKIP
    >>> judged = judge_with_ray(cases, rubrics, judge, pool=Pool(num_gpus=1))  # doctest: +SKIP
    """
    _import_ray()
    options = {"rubrics": rubrics, "style": style, "runs": runs, "joint": joint}
    prepare = partial(_prepare_judging, judge=judge, **options)
    judged = _run(cases, prepare, pool or Pool(), store)
    return (replace(entry, case=replace(entry.case)) for entry in judged)


def render_with_ray(
    cases: Iterable[ForecastCase], *, style: Style | None = None, pool: Pool | None = None
) -> Iterator[tuple[ForecastCase, bytes]]:
    """Draw every case on a Ray cluster, in order, with the bytes of `render_case`.

    Parameters
    ----------
    cases : iterable of ForecastCase
    style : Style, optional
    pool : Pool, optional

    Yields
    ------
    ForecastCase, bytes
        The case and its PNG.

    Raises
    ------
    ValueError
        Where Ray is not installed, or no machine can hold an actor.

    Examples
    --------
    >>> for case, png in render_with_ray(cases, pool=Pool(actors=8, num_cpus=1)):
    ...     _ = Path(f"{case.id}.png").write_bytes(png)  # doctest: +SKIP
    """
    _import_ray()
    drawn = _run(cases, partial(_prepare_drawing, style=style), pool or Pool(), None)
    return ((replace(case), image) for case, image in drawn)


def _run(
    cases: Iterable[ForecastCase], prepare: _Prepare, pool: Pool, store: Store | None
) -> Iterator[Any]:
    with _cluster(pool) as ray, _keeper(ray, store) as keeper:
        blocks = [ray.put(block) for block in _blocks(cases, pool.batch_size)]
        if not blocks:
            return
        data = ray.data.from_arrow_refs(blocks)
        data.context.execution_options.preserve_order = True
        data.context.enable_progress_bars = False
        done = data.map_batches(
            _Worker,
            fn_constructor_args=(prepare, keeper),
            batch_size=pool.batch_size,
            batch_format="pyarrow",
            compute=ray.data.ActorPoolStrategy(size=pool.actors),
            num_cpus=pool.num_cpus,
            num_gpus=pool.num_gpus,
        )
        for row in done.iter_rows():
            entry = pickle.loads(row["entry"])
            if isinstance(entry, Exception):
                raise entry
            yield entry


class _Worker:
    """What runs in an actor: it prepares once, when the first batch comes, and then works."""

    def __init__(self, prepare: _Prepare, keeper: Any) -> None:
        self._prepare, self._keeper = prepare, keeper
        self._work: _Work | None = None

    def __call__(self, block: Any) -> Any:
        # An array that was pickled can be written to; a case that is made anew is read-only.
        return _block(self._entries(replace(pickle.loads(e.as_py())) for e in block["entry"]))

    def _entries(self, cases: Iterable[ForecastCase]) -> Iterator[Any]:
        # Ray buries an exception in pages of its own frames; one that a user can mend is a result.
        try:
            if self._work is None:
                self._work = self._prepare(self._keeper)
            yield from self._work(cases)
        except (ImportError, ValueError) as error:
            yield error


def _prepare_judging(keeper: Any, **options: Any) -> _Work:
    store = None if keeper is None else cast(Store, _RemoteStore(keeper))
    return partial(judge_cases, store=store, **options)


def _prepare_drawing(keeper: Any, *, style: Style | None) -> _Work:
    renderer = Renderer(style)
    return lambda cases: ((case, renderer.render(case)) for case in cases)


class _RemoteStore:
    """The part of a `Store` that the pipeline uses, kept by the actor that has the file open."""

    def __init__(self, keeper: Any) -> None:
        self._keeper = keeper

    def get(self, keys: Sequence[str]) -> dict[str, Reply]:
        """Return the kept replies of those keys that have one."""
        return cast(dict[str, Reply], _import_ray().get(self._keeper.get.remote(keys)))

    def put(self, key: str, reply: Reply) -> None:
        """Keep a reply; it is on disk when this returns."""
        _import_ray().get(self._keeper.put.remote(key, reply))


@contextmanager
def _keeper(ray: Any, store: Store | None) -> Iterator[Any]:
    """Give an actor on this machine that opens the store too: SQLite needs a local disk."""
    if store is None:
        yield None
        return
    here = ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(
        ray.get_runtime_context().get_node_id(), soft=False
    )
    keeper = ray.remote(num_cpus=0, scheduling_strategy=here)(Store).remote(
        Path(store.path).resolve()
    )
    try:
        yield keeper
    finally:
        ray.get(keeper.close.remote())
        ray.kill(keeper)


@contextmanager
def _cluster(pool: Pool) -> Iterator[Any]:
    ray = _import_ray()
    if ray.is_initialized():
        yield ray
        return
    ray.init(logging_level="WARNING")
    try:
        _check_room(ray.nodes(), pool)
        yield ray
    finally:
        ray.shutdown()


def _check_room(nodes: Sequence[dict[str, Any]], pool: Pool) -> None:
    """Refuse an actor that no machine can hold: Ray would wait for one without an end."""
    needed = {"CPU": pool.num_cpus, "GPU": pool.num_gpus}
    for kind, amount in needed.items():
        most = max((node["Resources"].get(kind, 0.0) for node in nodes), default=0.0)
        if amount > most:
            raise ValueError(
                f"`num_{kind.lower()}s` is {amount:g} an actor, but no machine of this cluster "
                f"has more than {most:g}"
            )


def _blocks(cases: Iterable[ForecastCase], size: int) -> Iterator[Any]:
    stream = iter(cases)
    while batch := list(islice(stream, size)):
        yield _block(batch)


def _block(entries: Iterable[Any]) -> Any:
    return pa.table({"entry": pa.array([pickle.dumps(entry) for entry in entries], pa.binary())})


def _import_ray() -> Any:
    try:
        import ray
        import ray.data
        import ray.util.scheduling_strategies
    except ImportError as error:
        raise ValueError(
            "Ray is not installed; to judge on a cluster: pip install 'timevista-hf[ray]'"
        ) from error
    return ray
