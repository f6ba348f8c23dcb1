"""Download a file over HTTP: resumed where it was cut off, checked, in place only when whole."""

from __future__ import annotations

import hashlib
import os
import time
from pathlib import Path

import httpx2
from filelock import FileLock
from huggingface_hub import constants
from rich.console import Console
from rich.progress import DownloadColumn, Progress, TimeRemainingColumn, TransferSpeedColumn

ATTEMPTS = 5
PAUSE = 1.0  # seconds before the second attempt, doubled before each further one
TIMEOUT = 30.0  # seconds without a byte
_LARGE = 4 << 20  # bytes from which a progress bar is of use
_PASSING = {408, 429, 500, 502, 503, 504}


def download(url: str, target: Path, *, sha256: str | None = None) -> Path:
    """Download a file unless it is there, and return its path.

    What a broken connection left is kept beside `target` and gone on with, also by a later run.

    Parameters
    ----------
    url : str
    target : Path
        Its folders are created.
    sha256 : str, optional
        What the file's SHA-256 must be, in hexadecimal digits.

    Raises
    ------
    ConnectionError
        Where the file cannot be had.
    ValueError
        Where it has another hash; it is removed.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(f"{target}.lock"):
        if not target.is_file():
            partial = target.with_name(f"{target.name}.part")
            _fetch(url, partial)
            check_hash(partial, sha256, url)
            os.replace(partial, target)  # noqa: PTH105
    return target


def check_hash(path: Path, sha256: str | None, url: str) -> None:
    """Refuse and remove a file that has another hash than it should; None accepts any."""
    if sha256 is None:
        return
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    if (found := digest.hexdigest()) != sha256:
        path.resolve().unlink()  # in the Hub's cache a path is a link to its content
        path.unlink(missing_ok=True)
        raise ValueError(
            f"{url}: the file must have the SHA-256 {sha256}, got {found}; it was removed. Try "
            "again, and if that does not help, the file at its origin has changed"
        )


def _fetch(url: str, partial: Path) -> None:
    if constants.HF_HUB_OFFLINE:
        raise ConnectionError("HF_HUB_OFFLINE is set")
    with httpx2.Client(follow_redirects=True, timeout=TIMEOUT) as client:
        for attempt in range(ATTEMPTS):
            if attempt:
                time.sleep(PAUSE * 2 ** (attempt - 1))
            try:
                return _go_on(client, url, partial)
            except httpx2.HTTPStatusError as error:
                reason = f"the server answers {error.response.status_code} for {url}"
                if error.response.status_code not in _PASSING:
                    break
            except httpx2.HTTPError as error:
                reason = f"{url}: {error or type(error).__name__}"
    raise ConnectionError(reason)


def _go_on(client: httpx2.Client, url: str, partial: Path) -> None:
    """Write what is missing of a file."""
    held = partial.stat().st_size if partial.is_file() else 0
    asked = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={held}-"} if held else {})
    with client.stream("GET", url, headers=asked) as response:
        if response.status_code == 416:  # nothing is missing, or the file has become shorter
            partial.unlink()
            raise httpx2.ReadError("what was held did not fit")
        response.raise_for_status()
        held = held if response.status_code == 206 else 0
        total = held + int(response.headers.get("Content-Length", 0))
        with _bar(total) as bar, partial.open("ab" if held else "wb") as file:
            task = bar.add_task(partial.stem, total=total or None, completed=held)
            for chunk in response.iter_raw():
                file.write(chunk)
                bar.advance(task, len(chunk))


def _bar(total: int) -> Progress:
    console = Console(stderr=True)
    columns = (*Progress.get_default_columns()[:2], DownloadColumn(), TransferSpeedColumn())
    shown = console.is_terminal and total >= _LARGE
    return Progress(*columns, TimeRemainingColumn(), console=console, disable=not shown)
