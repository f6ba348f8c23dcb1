"""Electrocardiograms: CPSC2019 in MATLAB files, PTB and the challenge of 2014 in WFDB records."""

from __future__ import annotations

import io
import re
import zipfile
from pathlib import PurePosixPath
from typing import Any

import numpy as np
from scipy.io import loadmat
from scipy.signal import resample

from timevista_hf.sources._files import Files
from timevista_hf.sources._series import NO_TIMES, Flaw, Series
from timevista_hf.sources._wfdb import read_header, read_signal

RATE = 100  # Hz, of all electrocardiograms
_CPSC_RATE = 500.0  # Hz
_LEAD = re.compile(r"ecg.*|(mc|ml)?i{1,3}|(mc|ml)v?\d|mcl\d|av[rlf]|v\d?", re.IGNORECASE)


class CpscReader:
    """Read a zip archive of recordings ``data_NNNNN.mat``, each with one lead."""

    def __init__(self, files: Files, path: str) -> None:
        self._file = files.path(path)
        try:
            self._archive = zipfile.ZipFile(self._file)
        except zipfile.BadZipFile as error:
            raise ValueError(f"{self._file}: is no zip archive: {error}") from error
        members = (PurePosixPath(name) for name in self._archive.namelist())
        self._members = [one for one in members if re.fullmatch(r"data_\d+\.mat", one.name)]
        self.names = [member.stem for member in self._members]

    def read(self, index: int) -> list[Series]:
        """Read one recording."""
        member = str(self._members[index])
        file: Any = io.BytesIO(self._archive.read(member))  # the stubs know paths only
        try:
            values = loadmat(file)["ecg"]
        except (KeyError, ValueError, TypeError) as error:
            raise ValueError(f"{self._file}, {member}: holds no matrix `ecg`: {error}") from error
        return [lead_series(self.names[index], values.ravel(), _CPSC_RATE)]


class WfdbReader:
    """Read records whose headers match a pattern; their leads are a group."""

    def __init__(self, files: Files, pattern: str) -> None:
        self._files = files
        self._headers = files.matching(pattern)
        self.names = [PurePosixPath(header).with_suffix("").as_posix() for header in self._headers]

    def read(self, index: int) -> list[Series]:
        """Read the leads of one record; its other signals are passed over."""
        folder = PurePosixPath(self._headers[index]).parent
        signals = read_header(self._files.path(self._headers[index]))
        leads = []
        for signal in signals:
            if _LEAD.fullmatch(signal.name):
                values = read_signal(self._files.path(str(folder / signal.file)), signal, signals)
                leads.append(lead_series(f"{self.names[index]}/{signal.name}", values, signal.rate))
        return leads


def lead_series(name: str, values: np.ndarray, rate: float) -> Series:
    """Resample a lead to `RATE`; steps near a gap are missing.

    A lead of which more than a quarter is missing, or has one and the same value, is unfit.
    """
    values = np.asarray(values, dtype=np.float64)
    steps = round(values.size * RATE / rate)
    seen = np.isfinite(values)
    flaw: Flaw | None = "missing" if seen.mean() < 0.75 else None
    if flaw is None and np.unique(values[seen], return_counts=True)[1].max() > values.size / 4:
        flaw = "flat"
    if flaw:
        return Series(name=name, values=np.full(steps, np.nan), times=NO_TIMES, flaw=flaw)
    at = np.arange(values.size)
    resampled = resample(np.interp(at, at[seen], values[seen]), steps)
    places = np.arange(steps) * rate / RATE
    resampled[np.interp(places, at, seen) < 1] = np.nan
    return Series(name=name, values=resampled, times=NO_TIMES)
