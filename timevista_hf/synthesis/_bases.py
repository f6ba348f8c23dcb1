"""The real series below the anomalies: two datasets of the UCR and UEA archives."""

from __future__ import annotations

import hashlib
import os
import secrets
import zipfile
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from timevista_hf.loading.known import check_known

ARCHIVE_URL = "https://timeseriesclassification.com/aeon-toolkit"
DATA_DIR_VARIABLE = "TIMEVISTA_DATA_DIR"


@dataclass(frozen=True, kw_only=True)
class RealBase:
    """A dataset of the archives: its name there, the size of a case, and what proves it."""

    title: str
    steps: int
    num_variates: int
    first_case_file: str  # CSV with a header, a column a variate: enough for the paper's edition
    first_case: str  # SHA-256 of the first test case, float64, little endian, time first
    blob: str  # id that git gives the official file of test cases

    @property
    def files(self) -> tuple[str, ...]:
        """Names of files that hold the cases, in the order they are looked for."""
        formats = (f"{self.title}_TEST.{suffix}" for suffix in ("arff", "ts", "tsv"))
        return (*formats, self.first_case_file)


def load_cases(name: str, data_dir: str | Path | None = None) -> np.ndarray:
    """Load the test cases of a real base.

    Parameters
    ----------
    name : {"symbols", "articulary_word_recognition"}
    data_dir : str or Path, optional
        The folder with a file of cases, or with the archive's folders. By default the environment
        variable `TIMEVISTA_DATA_DIR`; without it, the file is downloaded once and kept.

    Returns
    -------
    ndarray of shape (N, T, C)
        N cases of T steps and C variates, in the order of the file; read-only.

    Raises
    ------
    ValueError
        Where there is no such file, it holds something else, or the archive cannot be reached.
    """
    check_known("base", name, [*REAL_BASES])
    base = REAL_BASES[name]
    folder = data_dir or os.environ.get(DATA_DIR_VARIABLE)
    path = _find_file(Path(folder), base) if folder else _cached_file(base)
    return _read_cases(path, path.stat().st_mtime_ns, base)


def is_first_case(name: str, case: np.ndarray) -> bool:
    """Say whether a case [T, C] is the one that the paper's series are made of."""
    written = np.ascontiguousarray(case, dtype="<f8").tobytes()
    return hashlib.sha256(written).hexdigest() == REAL_BASES[name].first_case


def _find_file(folder: Path, base: RealBase) -> Path:
    for file in base.files:
        for pattern in (file, f"{base.title}/{file}", f"*/{base.title}/{file}"):
            found = sorted(folder.glob(pattern))
            if found:
                return found[0]
    raise ValueError(f"{folder}: holds no file of {base.title!r} cases; {_ways_out(base)}")


def _ways_out(base: RealBase) -> str:
    return (
        f"put one of {', '.join(base.files)} into the folder given as `data_dir` (the archive: "
        f"{ARCHIVE_URL}/{base.title}.zip), or go online without `data_dir`. "
        "The synthetic subsets need no data"
    )


def _cached_file(base: RealBase) -> Path:
    # Both take a while to import, which those who have the files are spared.
    from huggingface_hub import cached_assets_path

    from timevista_hf.loading.download import download

    folder = cached_assets_path("timevista_hf", "archives", base.title)
    path, packed = folder / base.files[0], folder / f"{base.title}.zip"
    if not path.exists():
        url = f"{ARCHIVE_URL}/{packed.name}"
        try:
            cases = _member(download(url, packed), base)
        except (OSError, zipfile.BadZipFile, ValueError) as error:
            raise ValueError(f"{base.title}: {error}; {_ways_out(base)}") from error
        finally:
            packed.unlink(missing_ok=True)
        temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
        temporary.write_bytes(cases)
        temporary.replace(path)
    return path


def _member(packed: Path, base: RealBase) -> bytes:
    """Take the one file out of an archive that is known by its hash."""
    wanted = base.files[0]
    with zipfile.ZipFile(packed) as archive:
        names = [name for name in archive.namelist() if Path(name).name == wanted]
        if not names:
            raise ValueError(f"{packed.name} holds no {wanted}")
        cases = archive.read(names[0])
    # A file that was checked out on another system has other ends of line.
    if base.blob not in (_blob(cases), _blob(cases.replace(b"\r\n", b"\n"))):
        raise ValueError(f"{wanted} must have the git blob id {base.blob}, got {_blob(cases)}")
    return cases


def _blob(content: bytes) -> str:
    header = b"blob %d\0" % len(content)
    return hashlib.sha1(header + content, usedforsecurity=False).hexdigest()


@lru_cache(maxsize=4)
def _read_cases(path: Path, modified: int, base: RealBase) -> np.ndarray:
    text = path.read_text(encoding="utf-8")
    read = _READERS[path.suffix]
    try:
        cases = np.array(read(text), dtype=np.float64)
    except ValueError as error:
        raise ValueError(f"{path}: must hold numbers, cases of equal size: {error}") from error
    if cases.ndim != 3 or cases.shape[1:] != (base.num_variates, base.steps):
        raise ValueError(
            f"{path}: must hold cases of {base.num_variates} x {base.steps} values, "
            f"got {' x '.join(map(str, cases.shape[1:]))}"
        )
    if not np.isfinite(cases).all():
        raise ValueError(f"{path}: must hold finite numbers only")
    cases = np.ascontiguousarray(cases.transpose(0, 2, 1))  # [N, C, T] -> [N, T, C]
    cases.setflags(write=False)
    return cases


def _read_arff(text: str) -> list[list[list[float]]]:
    return [
        [_numbers(row) for row in line[1 : line.rindex(line[0])].split(r"\n")]
        if line[0] in "'\""
        else [_numbers(line.rpartition(",")[0])]
        for line in _data_lines(text)
    ]


def _read_ts(text: str) -> list[list[list[float]]]:
    return [[_numbers(row) for row in line.split(":")[:-1]] for line in _data_lines(text)]


def _read_tsv(text: str) -> list[list[list[float]]]:
    return [[[float(value) for value in line.split()[1:]]] for line in text.splitlines() if line]


def _read_csv(text: str) -> list[list[list[float]]]:
    rows = [_numbers(line) for line in text.splitlines()[1:] if line]
    return [[list(column) for column in zip(*rows, strict=True)]]


def _data_lines(text: str) -> list[str]:
    lines = [line.strip() for line in text.splitlines()]
    start = next((at for at, line in enumerate(lines) if line.lower() == "@data"), len(lines))
    return [line for line in lines[start + 1 :] if line and line[0] not in "%#"]


def _numbers(text: str) -> list[float]:
    return [float(value) for value in text.split(",")]


REAL_BASES = {
    "symbols": RealBase(
        title="Symbols",
        steps=398,
        num_variates=1,
        first_case_file="symbols_test_0.csv",
        first_case="356febd09d14072143498945fae4f8b2d4cb0a63fba2c6ba773b75a09eac20b2",
        blob="d46a3e73b25bfe89a20ca45d06c0c3b33ecbff47",
    ),
    "articulary_word_recognition": RealBase(
        title="ArticularyWordRecognition",
        steps=144,
        num_variates=9,
        first_case_file="articulary_word_recognition_test_0.csv",
        first_case="19cc84e9a59f7a9881d19be0ef7be3f960977b05ffbf8fa0748573b3ccaa6d79",
        blob="feb18d4edcc8568759c999c1af0d1de373ec6810",
    ),
}
_READERS = {".arff": _read_arff, ".ts": _read_ts, ".tsv": _read_tsv, ".csv": _read_csv}
