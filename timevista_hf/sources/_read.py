"""Read the windows of a dataset: chosen evenly, checked, one at a time."""

from __future__ import annotations

import hashlib
import logging
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from timevista_hf.sources._arrow import ArrowReader
from timevista_hf.sources._catalog import load_source
from timevista_hf.sources._files import Files, describe_origin
from timevista_hf.sources._series import Flaw, Reader, Series
from timevista_hf.sources._source import Format, Part, Source, SourceSeries
from timevista_hf.sources._tables import FnspidReader, JhuReader
from timevista_hf.sources._windows import Window

logger = logging.getLogger(__name__)


class _Group(NamedTuple):
    part: Part
    reader: Reader
    number: int


def read_series(
    name: str,
    *,
    data_dir: str | Path | None = None,
    counts: Counter[str] | None = None,
) -> Iterator[SourceSeries]:
    r"""Read the windows of one dataset, at most as many as Table 3 counts.

    A group is what was recorded together: a record with its leads, an item with its variates, a
    place, a ticker. In each turn every group gives one of its windows. Groups, and the windows
    within one, come in the order of the SHA-256 of their names, which is the same everywhere and
    favours none. A window that misses a step, or whose history or truth is constant, is dropped,
    and another takes its place. One group is held in memory at a time.

    Parameters
    ----------
    name : str
        One of `list_sources`.
    data_dir : str or Path, optional
        A folder that holds the files by their paths at the origin. Where it is not given, files
        are downloaded as they are needed: those of the Hub into its cache, others beside it.
    counts : collections.Counter, optional
        What was found is counted here: windows ``"kept"``, and those dropped as ``"missing"``,
        ``"constant"``, or ``"flat"``, of a lead that stands still for a quarter of the record.
        The log holds the same.

    Yields
    ------
    SourceSeries

    Raises
    ------
    ValueError
        For an unknown name, a file that is not there or cannot be downloaded, and one that cannot
        be read.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> file = folder / "time_series_covid19_deaths_global.csv"
    >>> days = ",".join(f"1/{1 + step % 28}/20" for step in range(221))
    >>> deaths = ",".join(str(step) for step in range(221))
    >>> _ = file.write_text(f"Province/State,Country/Region,Lat,Long,{days}\n,A,0,0,{deaths}\n")
    >>> [series] = read_series("covid_death", data_dir=folder)
    >>> series.id, series.history.size, series.truth.size
    ('all/A@200+21', 200, 21)
    """
    source = load_source(name)
    files = Files(source, data_dir)
    groups = [
        _Group(part, reader, number)
        for part in source.parts
        for reader in [_open(source.format, files, part.path)]
        for number in range(len(reader.names))
    ]
    return _choose(source, groups, Counter() if counts is None else counts)


def _open(kind: Format, files: Files, path: str) -> Reader:
    if kind == "arrow":
        return ArrowReader(files, path)
    if kind == "jhu":
        return JhuReader(files, path)
    if kind == "fnspid":
        return FnspidReader(files, path)
    # Importing scipy.signal takes a second, which other datasets are spared.
    from timevista_hf.sources._ecg import CpscReader, WfdbReader

    return CpscReader(files, path) if kind == "cpsc2019" else WfdbReader(files, path)


def _choose(source: Source, groups: list[_Group], counts: Counter[str]) -> Iterator[SourceSeries]:
    kept = 0
    for part, series, window in _turns(groups):
        flaw = _flaw(series, window)
        counts[flaw or "kept"] += 1
        if flaw is None:
            kept += 1
            yield _cut(source, part, series, window)
        if kept == source.count:
            break
    logger.info("%s: %s; Table 3 has %d", source.name, dict(counts), source.count)


def _turns(groups: list[_Group]) -> Iterator[tuple[Part, Series, Window]]:
    left = sorted(groups, key=lambda one: _rank(f"{one.part.name}/{one.reader.names[one.number]}"))
    turn = 0
    while left:
        still = []
        for group in left:
            windows = _windows(group)
            if turn < len(windows):
                still.append(group)
                yield group.part, *windows[turn]
        left, turn = still, turn + 1


def _windows(group: _Group) -> list[tuple[Series, Window]]:
    windows = [
        (series, window)
        for series in group.reader.read(group.number)
        for window in group.part.rule.windows(series.values.size)
    ]
    return sorted(windows, key=lambda one: _rank(_id(group.part, *one)))


def _id(part: Part, series: Series, window: Window) -> str:
    return f"{part.name}/{series.name}@{window.cut}+{window.horizon}"


def _rank(name: str) -> bytes:
    return hashlib.sha256(name.encode()).digest()


def _flaw(series: Series, window: Window) -> Flaw | None:
    history = series.values[window.start : window.cut]
    truth = series.values[window.cut : window.stop]
    if series.flaw:
        return series.flaw
    if not (np.isfinite(history).all() and np.isfinite(truth).all()):
        return "missing"
    return "constant" if np.ptp(history) == 0 or np.ptp(truth) == 0 else None


def _cut(source: Source, part: Part, series: Series, window: Window) -> SourceSeries:
    dated = window.start < series.times.size
    return SourceSeries(
        id=_id(part, series, window),
        dataset=source.name,
        history=_frozen(series.values[window.start : window.cut]),
        truth=_frozen(series.values[window.cut : window.stop]),
        freq=part.freq,
        start=str(series.times[window.start]) if dated else None,
        unit=source.unit,
        season_length=part.season_length,
        provenance={
            "origin": describe_origin(source),
            "file": part.path,
            "series": series.name,
            "start": window.start,
            "cut": window.cut,
            "stop": window.stop,
        },
    )


def _frozen(values: np.ndarray) -> np.ndarray:
    copy = np.array(values, dtype=np.float64)  # a view would keep the whole series in memory
    copy.setflags(write=False)
    return copy
