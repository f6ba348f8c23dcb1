"""Build a dataset as a folder: Parquet, and a card that tells `datasets` what is in it."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from timevista_hf.building._card import write_card
from timevista_hf.building._parts import Part, Recipe, is_written, write_part
from timevista_hf.loading.known import check_known

Progress = Callable[[Iterable[Part], int], Iterable[Part]]


@dataclass(frozen=True, kw_only=True)
class Build:
    """What a build did: files written, files kept from an earlier one, and the content's hash."""

    folder: Path
    written: int
    kept: int
    content: str


def build_dataset(
    name: str,
    folder: str | Path,
    *,
    config_name: str | None = None,
    data_dir: str | Path | None = None,
    num_proc: int = 1,
    progress: Progress | None = None,
) -> Build:
    """Build a dataset as a folder that `datasets.load_dataset` reads without this package.

    Each file is written whole or not at all, and kept by the next run: a build that was stopped,
    or killed, goes on where it was. Other configurations may be built into the same folder. The
    bytes do not depend on `num_proc`.

    Parameters
    ----------
    name : str
        Name of a dataset, as in `load_dataset`.
    folder : str or Path
        Where to; made if need be.
    config_name : str, optional
        The configuration; by default the dataset's own default.
    data_dir : str or Path, optional
        Where the files lie that the dataset is made of, if any.
    num_proc : int
        How many processes work, ≥ 1. With several, a script needs the usual
        ``if __name__ == "__main__":``.
    progress : callable, optional
        Takes the stream of finished parts and their number, as `rich.progress.track` does, and
        passes them on.

    Returns
    -------
    Build

    Raises
    ------
    ValueError
        For an unknown dataset or configuration, a `num_proc` below 1, a folder that is a file, and
        where what the dataset is made of is missing.

    Examples
    --------
    >>> build_dataset("m4", "folder")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    ValueError: unknown dataset 'm4'. Known: ...
    """
    if num_proc < 1:
        raise ValueError(f"`num_proc` must be at least 1, got {num_proc!r}")
    recipe = Recipe(name, config_name, None if data_dir is None else str(data_dir))
    _check_config(recipe)
    folder = _make_folder(folder)
    parts = recipe.list_parts()
    missing = [part for part in parts if not is_written(part, recipe, folder)]
    done: Iterable[Part] = _write_parts(missing, recipe, folder, num_proc)
    for _ in progress(done, len(missing)) if progress else done:
        pass
    content = write_card(recipe, folder, [*dict.fromkeys(part.split for part in parts)])
    return Build(
        folder=folder, written=len(missing), kept=len(parts) - len(missing), content=content
    )


def _check_config(recipe: Recipe) -> None:
    known = [config.name for config in Recipe(recipe.name).builder.BUILDER_CONFIGS]
    if recipe.config_name is not None:
        check_known(f"configuration of {recipe.name!r}", recipe.config_name, known)


def _make_folder(folder: str | Path) -> Path:
    folder = Path(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError as error:
        raise ValueError(f"{folder}: is a file; give a folder") from error
    for left_over in (folder / "data").rglob(".*.tmp"):  # of a build that was killed
        left_over.unlink()
    return folder


def _write_parts(parts: list[Part], recipe: Recipe, folder: Path, num_proc: int) -> Iterator[Part]:
    if num_proc == 1 or len(parts) < 2:
        for part in parts:
            write_part(part, recipe, folder)
            yield part
        return
    # Spawned, so that threads of the libraries are not forked halfway through their work.
    context = multiprocessing.get_context("spawn")
    queue = iter(parts)
    with ProcessPoolExecutor(num_proc, mp_context=context, initializer=_follow_parent) as pool:
        # No more than are under way: those are finished, and kept, before a stopped build ends.
        running = {
            pool.submit(write_part, part, recipe, folder): part for part in islice(queue, num_proc)
        }
        while running:
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                future.result()
                yield running.pop(future)
                for part in islice(queue, 1):
                    running[pool.submit(write_part, part, recipe, folder)] = part


def _follow_parent() -> None:
    """End when the parent does, even killed; leave Ctrl-C to it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
