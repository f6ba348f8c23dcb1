"""The store of paid answers: cache and resume in one SQLite file."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

from timevista_hf.judges._base import Reply

_TABLE = """
CREATE TABLE IF NOT EXISTS replies (
    key TEXT PRIMARY KEY,
    reply TEXT NOT NULL
) WITHOUT ROWID
"""
_SETUP = (
    "PRAGMA journal_mode=WAL",
    "PRAGMA synchronous=NORMAL",
    _TABLE,
    "SELECT key, reply FROM replies LIMIT 0",
)
_PATIENCE = 30.0  # seconds to wait for another process
_BATCH = 500  # keys in one query, below SQLite's limit on parameters


class Store:
    """Keep the replies that a rubric could parse, under the hash of all that made them.

    Every reply is on disk before the next one is asked for, so that killing the process loses
    none. Failures are not kept: they are asked again in the next run.

    Parameters
    ----------
    path : str or Path
        The SQLite file; made where it does not exist. ``":memory:"`` keeps nothing.

    Raises
    ------
    ValueError
        Where the file is no such store.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = path
        try:
            self._connection = _open(path)
        except sqlite3.DatabaseError as error:
            raise ValueError(f"{path}: cannot be used as a store of judgments: {error}") from error

    def get(self, keys: Sequence[str]) -> dict[str, Reply]:
        """Return the kept replies of those keys that have one."""
        found: dict[str, Reply] = {}
        for start in range(0, len(keys), _BATCH):
            some = keys[start : start + _BATCH]
            marks = ",".join("?" * len(some))
            query = f"SELECT key, reply FROM replies WHERE key IN ({marks})"
            found.update(
                (key, Reply(**json.loads(reply)))
                for key, reply in self._connection.execute(query, some)
            )
        return found

    def put(self, key: str, reply: Reply) -> None:
        """Keep a reply; it survives the process from here on."""
        # JSON in ASCII: half an emoji, as a cut reply may end in, has no UTF-8.
        kept = {**vars(reply.masked), "options": dict(reply.options)}
        del kept["secret"]
        said = json.dumps(kept)
        self._connection.execute("INSERT OR REPLACE INTO replies VALUES (?, ?)", (key, said))

    def __len__(self) -> int:
        return int(self._connection.execute("SELECT COUNT(*) FROM replies").fetchone()[0])

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


def _open(path: str | Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None, timeout=_PATIENCE)
    try:
        _set_up(connection)
    except sqlite3.DatabaseError:
        connection.close()
        raise
    return connection


def _set_up(connection: sqlite3.Connection) -> None:
    # SQLite itself does not wait where two processes make the same file at once.
    deadline = time.monotonic() + _PATIENCE
    for statement in _SETUP:
        while True:
            try:
                connection.execute(statement)
                break
            except sqlite3.OperationalError as error:
                if "locked" not in str(error) or time.monotonic() > deadline:
                    raise
                time.sleep(0.01)
