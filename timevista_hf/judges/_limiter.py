"""How many requests may be in flight: more while all goes well, fewer when a server says so."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from types import TracebackType

_START = 8
_DECREASE = 0.6


class Limiter:
    """Hold the limit that a judge has found; it outlives one call of `ask`.

    The limit doubles every round until the server first complains, then rises by one a round, as
    TCP does. It falls once for all the requests that were sent under the same limit.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._limit = float(min(_START, most))
        self._lock = threading.Lock()
        self.epoch = 0  # how often the limit fell
        self._closed = (0.0, "")  # until when, and why

    def __reduce__(self) -> tuple[type[Limiter], tuple[int]]:
        # In another process it learns anew.
        return Limiter, (self._most,)

    @property
    def limit(self) -> int:
        """Requests that may be in flight, ≥ 1."""
        return int(self._limit)

    def succeed(self) -> None:
        """Note an answer."""
        with self._lock:
            step = 1.0 if self.epoch == 0 else 1.0 / self._limit
            self._limit = min(self._most, self._limit + step)

    def throttle(self, epoch: int) -> None:
        """Note that the server had too much of what was sent in that `epoch`."""
        with self._lock:
            if epoch == self.epoch:
                self._limit = max(1.0, self._limit * _DECREASE)
                self.epoch += 1

    def close(self, seconds: float, why: str) -> None:
        """Note that the server will answer nothing for so long."""
        self._closed = (time.monotonic() + seconds, why)

    @property
    def closed(self) -> str:
        """Why nothing is asked at present; empty where something may be."""
        until, why = self._closed
        return why if time.monotonic() < until else ""


class Gate:
    """Let as many in as the limiter allows, in turn; it belongs to one event loop."""

    def __init__(self, limiter: Limiter) -> None:
        self._limiter = limiter
        self._inside = 0
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def __aenter__(self) -> None:
        if self._inside < self._limiter.limit and not self._waiting:
            self._inside += 1
            return
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if not turn.cancelled():  # it was let in at the same moment
                self._leave()
            raise

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._leave()

    def _leave(self) -> None:
        self._inside -= 1
        while self._waiting and self._inside < self._limiter.limit:
            turn = self._waiting.popleft()
            if not turn.done():  # a cancelled one is not waiting any more
                turn.set_result(None)
                self._inside += 1
