"""Series in delimited tables: deaths of COVID-19 by JHU CSSE, and stock prices of FNSPID."""

from __future__ import annotations

import csv
import io
import zipfile
from datetime import datetime
from pathlib import PurePosixPath

import numpy as np

from timevista_hf.sources._files import Files
from timevista_hf.sources._series import Series


class JhuReader:
    """Read a table with a row a place, and a column a day after the fourth."""

    def __init__(self, files: Files, path: str) -> None:
        self._file = files.path(path)
        with self._file.open(newline="", encoding="utf-8-sig") as file:
            header, *rows = csv.reader(file)
        try:
            days = [datetime.strptime(day, "%m/%d/%y") for day in header[4:]]
        except ValueError as error:
            raise ValueError(f"{self._file}, row 1: a day must be as 1/22/20: {error}") from error
        self._times = np.array(days, dtype="datetime64[s]")
        self._rows = [row for row in rows if row]
        self.names = [_place(row) for row in self._rows]

    def read(self, index: int) -> list[Series]:
        """Read the row of one place."""
        cells = self._rows[index][4:]
        if len(cells) != self._times.size:
            raise ValueError(
                f"{self._file}, row {index + 2}: has {len(cells)} days, the header has "
                f"{self._times.size}"
            )
        where = f"{self._file}, row {index + 2}"
        return [Series(name=self.names[index], values=_numbers(cells, where), times=self._times)]


class FnspidReader:
    """Read the closing prices of a zip archive with a file a ticker, by day."""

    def __init__(self, files: Files, path: str) -> None:
        self._file = files.path(path)
        try:
            self._archive = zipfile.ZipFile(self._file)
        except zipfile.BadZipFile as error:
            raise ValueError(f"{self._file}: is no zip archive: {error}") from error
        members = (PurePosixPath(name) for name in self._archive.namelist())
        self._members = [
            member
            for member in members
            if member.suffix == ".csv" and not member.name.startswith("._")
        ]
        self.names = [member.stem for member in self._members]

    def read(self, index: int) -> list[Series]:
        """Read the file of one ticker, oldest day first, each day once."""
        member = str(self._members[index])
        where = f"{self._file}, {member}"
        with self._archive.open(member) as raw:
            header, *rows = csv.reader(io.TextIOWrapper(raw, encoding="utf-8-sig", newline=""))
        columns = [name.strip().lower() for name in header]
        if not {"date", "close"} <= set(columns):
            raise ValueError(f"{where}: needs the columns date and close, got {', '.join(columns)}")
        date, close = columns.index("date"), columns.index("close")
        prices = {row[date][:10]: row[close] for row in rows if row}
        days = sorted(prices)
        values = _numbers([prices[day] for day in days], where)
        return [Series(name=self.names[index], values=values, times=_dates(days, where))]


def _place(row: list[str]) -> str:
    province, country = row[0].strip(), row[1].strip()
    return country if province in ("", country) else f"{country}/{province}"


def _numbers(cells: list[str], where: str) -> np.ndarray:
    try:
        return np.array([float(cell) if cell.strip() else np.nan for cell in cells])
    except ValueError as error:
        raise ValueError(f"{where}: values must be numbers: {error}") from error


def _dates(days: list[str], where: str) -> np.ndarray:
    try:
        return np.array(days, dtype="datetime64[s]")
    except ValueError as error:
        raise ValueError(f"{where}: a date must be as 2020-01-22: {error}") from error
