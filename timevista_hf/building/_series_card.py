"""What a copy of the dataset `timevista` holds, beside Table 3 of the paper."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from timevista_hf.building._series_rows import SYNTHETIC
from timevista_hf.sources import list_sources, load_source
from timevista_hf.synthesis.timevista import COUNT, LONGEST, SHORTEST

Span = tuple[int, int]  # least and most steps

_COLUMNS = ("dataset", "freq", "history", "truth")


@dataclass(frozen=True)
class SeriesStatistics:
    """Hold what Table 3 of the paper says of a dataset.

    Parameters
    ----------
    dataset : str
        Name of the source, or "synthetic".
    input_length, horizon : tuple of int
        Least and most steps of history and of truth.
    freqs : tuple of str
        Pandas offset aliases of the steps, in alphabetical order; empty where there are none.
    count : int
        Number of series.
    """

    dataset: str
    input_length: Span
    horizon: Span
    freqs: tuple[str, ...]
    count: int

    def differences(self) -> list[str]:
        """Say in words where this is not what the table has; nothing where it is.

        Raises
        ------
        ValueError
            For a dataset that is not in the table.

        Examples
        --------
        >>> SeriesStatistics("crypto", (2569, 2809), (30, 30), ("D",), 28).differences()
        ['28 series instead of 29']
        """
        paper = published_statistics(self.dataset)
        spans = (
            ("input", self.input_length, paper.input_length),
            ("horizon", self.horizon, paper.horizon),
        )
        said = [
            f"{name} {as_range(own)} instead of {as_range(other)}"
            for name, own, other in spans
            if own != other
        ]
        if self.count != paper.count:
            said.append(f"{self.count} series instead of {paper.count}")
        return said


def published_statistics(dataset: str) -> SeriesStatistics:
    """Return what Table 3 has for a dataset.

    The steps are those of the catalog: of electrocardiograms the table names a second or a minute
    and means 10 ms.

    Parameters
    ----------
    dataset : str
        "synthetic", or one of `list_sources`.

    Raises
    ------
    ValueError
        For an unknown dataset.

    Examples
    --------
    >>> published_statistics("solar").input_length
    (8328, 8712)
    """
    if dataset == SYNTHETIC:
        spans = [(low, high) for low, high in zip(SHORTEST, LONGEST, strict=True)]
        return SeriesStatistics(SYNTHETIC, spans[0], spans[1], (), COUNT)
    source = load_source(dataset)
    freqs = tuple(sorted({part.freq for part in source.parts}))
    return SeriesStatistics(dataset, *_LENGTHS[dataset], freqs, source.count)


def summarize_series(tables: Iterable[pa.Table | pa.RecordBatch]) -> list[SeriesStatistics]:
    """Count the series of each dataset, and their steps.

    Parameters
    ----------
    tables : iterable of pyarrow.Table or pyarrow.RecordBatch
        With the columns `dataset`, `freq`, `history` and `truth`, as
        ``rows.with_format("arrow").iter(100)`` gives them.

    Returns
    -------
    list of SeriesStatistics
        The synthetic ones first, then in alphabetical order.

    Examples
    --------
    >>> rows = [{"dataset": "crypto", "freq": "D", "history": [1, 2, 3], "truth": [4, 5]}]
    >>> [found] = summarize_series([pa.Table.from_pylist(rows)])
    >>> found.input_length, found.horizon, found.count
    ((3, 3), (2, 2), 1)
    """
    found: dict[str, list[tuple[int, int, str | None]]] = {}
    for table in tables:
        for dataset, freq, past, horizon in _lengths(table):
            found.setdefault(dataset, []).append((past, horizon, freq))
    return [_statistics(name, found[name]) for name in sorted(found, key=_place)]


def describe_series(files: Iterable[Path]) -> tuple[dict[str, Any], str]:
    """Describe a built copy: front matter of its card, and a section on what it holds.

    Parameters
    ----------
    files : iterable of Path
        The Parquet files of the copy.

    Returns
    -------
    metadata : dict
        Empty for synthetic series alone. Otherwise `license`, and `do_not_publish`, the names of
        the datasets whose licence does not let their series be published again, if there are any.
    section : str
        Markdown: the statistics, each with its difference to Table 3, and what not to publish.
    """
    statistics = summarize_series(_read(files))
    names = [entry.dataset for entry in statistics if entry.dataset != SYNTHETIC]
    kept = [name for name in names if not load_source(name).redistributable]
    metadata: dict[str, Any] = {}
    if names:
        metadata |= {"license": "other", "license_name": "as-listed-by-dataset"}
    if kept:
        metadata["do_not_publish"] = kept
    return metadata, "\n\n".join([_table(statistics), *_warning(kept)])


def as_range(span: Span) -> str:
    """Write least and most as the paper does."""
    low, high = span
    return str(low) if low == high else f"{low} – {high}"


def _read(files: Iterable[Path]) -> Iterator[pa.RecordBatch]:
    for path in files:
        with pq.ParquetFile(path) as file:
            yield from file.iter_batches(100, columns=[*_COLUMNS])


def _lengths(table: pa.Table | pa.RecordBatch) -> Iterator[tuple[str, str | None, int, int]]:
    dataset, freq, past, horizon = (table.column(name) for name in _COLUMNS)
    lengths = (pc.list_value_length(column).to_pylist() for column in (past, horizon))
    return zip(dataset.to_pylist(), freq.to_pylist(), *lengths, strict=True)


def _statistics(name: str, rows: list[tuple[int, int, str | None]]) -> SeriesStatistics:
    past, horizon, freqs = zip(*rows, strict=True)
    return SeriesStatistics(
        dataset=name,
        input_length=(min(past), max(past)),
        horizon=(min(horizon), max(horizon)),
        freqs=tuple(sorted({freq for freq in freqs if freq is not None})),
        count=len(rows),
    )


def _place(name: str) -> int:
    return [SYNTHETIC, *list_sources()].index(name)


def _table(statistics: Iterable[SeriesStatistics]) -> str:
    head = "| dataset | input | horizon | step | series | difference to Table 3 |"
    lines = ["What is in it:\n", head, "|---|---|---|---|---|---|"]
    for entry in statistics:
        spans = f"{as_range(entry.input_length)} | {as_range(entry.horizon)}"
        difference = "; ".join(entry.differences()) or "none"
        steps = ", ".join(entry.freqs) or "–"
        lines.append(f"| `{entry.dataset}` | {spans} | {steps} | {entry.count} | {difference} |")
    return "\n".join(lines)


def _warning(kept: list[str]) -> list[str]:
    if not kept:
        return []
    licences = "; ".join(f"`{name}`: {load_source(name).licence}" for name in kept)
    return [
        "**Do not publish this copy.** It holds series whose makers did not allow it "
        f"({licences}). Who has the files builds the same copy with the command above."
    ]


_LENGTHS: Mapping[str, tuple[Span, Span]] = {
    "australia_solar": ((32544, 35040), (24, 168)),
    "azure2019": ((594, 8351), (48, 288)),
    "covid_death": ((200, 468), (21, 21)),
    "cphl": ((1818, 17542), (12, 336)),
    "cpsc2019": ((500, 500), (100, 100)),
    "crypto": ((2569, 2809), (30, 30)),
    "current_velocity": ((1536, 31849), (9, 432)),
    "fnspid": ((42, 42), (7, 7)),
    "loop_seattle": ((7944, 104256), (48, 480)),
    "ptb": ((500, 500), (100, 100)),
    "rdbh": ((500, 500), (100, 100)),
    "solar": ((8328, 8712), (48, 48)),
    "supply_chain_customer": ((1642, 1972), (30, 30)),
}
