"""One call of a remote judge: an event loop in a thread, and how a question finds its answer."""

from __future__ import annotations

import asyncio
import functools
import math
import queue
import random
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import replace
from email.utils import parsedate_to_datetime
from types import TracebackType
from typing import Any, Protocol

from timevista_hf.judges._access import Secret
from timevista_hf.judges._base import Reply, Request
from timevista_hf.judges._ladder import AttemptError, lower
from timevista_hf.judges._limiter import Gate, Limiter
from timevista_hf.judges._options import Decoding, JudgeOptions, SchemaMode

Send = Callable[[dict[str, Any]], Awaitable[Mapping[str, Any]]]

LONGEST_WAIT = 120.0  # seconds; a server that wants more is asked again after these
_LONGEST_BACKOFF = 60.0  # seconds
_STRIKES = 3  # hopeless failures in a row, after which the rest of a session is not asked
_LONGEST_REASON = 300  # characters


class Asked(Protocol):
    """Who is asked: what is sent there, how the response is read, and what has been learned.

    Attributes
    ----------
    options : JudgeOptions
    schemas : sequence of str
        Ways to ask for JSON, the strictest first.
    decoding : Decoding
        What is sent; lowered where the server refuses some of it.
    limiter : Limiter
    backoff : float
        Seconds, doubled with every attempt.
    sleep : callable
    """

    options: JudgeOptions
    decoding: Decoding
    limiter: Limiter
    backoff: float
    sleep: Callable[[float], Awaitable[None]]

    @property
    def schemas(self) -> Sequence[SchemaMode]: ...

    def payload(self, request: Request, decoding: Decoding) -> dict[str, Any]: ...

    def reply_of(self, response: Mapping[str, Any], decoding: Decoding) -> Reply: ...

    def connect(self, key: Secret) -> AbstractAsyncContextManager[Send]: ...


class Session:
    """An event loop in a thread of its own, with one client, for one call of `ask`."""

    def __init__(self, judge: Asked, key: Secret) -> None:
        self._judge, self._key = judge, key
        self._done: queue.SimpleQueue[tuple[Request, asyncio.Task[Reply]] | None] = (
            queue.SimpleQueue()
        )
        self._tasks: set[asyncio.Task[Reply]] = set()
        self._stop = asyncio.Event()
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="timevista-judge")

    def __enter__(self) -> Session:
        self._loop = asyncio.new_event_loop()
        self._thread = self._pool.submit(self._run)
        self._thread.add_done_callback(lambda thread: self._done.put(None))
        try:
            self._done.get()  # it serves, or has failed
            if self._thread.done():
                self._thread.result()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        with suppress(RuntimeError):  # where the loop has ended by itself
            self._loop.call_soon_threadsafe(self._stop.set)
        self._pool.shutdown()

    def submit(self, request: Request) -> None:
        """Start asking."""
        self._loop.call_soon_threadsafe(self._begin, request)

    def take(self) -> tuple[Request, Reply]:
        """Wait for the next answer."""
        done = self._done.get()
        if done is None:
            self._thread.result()
            raise RuntimeError("the judge's event loop has ended early")
        request, task = done
        return request, task.result()

    def _run(self) -> None:
        try:
            self._loop.run_until_complete(self._serve())
        finally:
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
            # The threads in which names of hosts were looked up.
            self._loop.run_until_complete(self._loop.shutdown_default_executor())
            self._loop.close()

    async def _serve(self) -> None:
        async with self._judge.connect(self._key) as send:
            self._line = Line(self._judge, self._key, send, Gate(self._judge.limiter))
            self._done.put(None)
            await self._stop.wait()
            # Up to Python 3.11 `wait_for` swallows a cancellation that comes with its result.
            while self._tasks:
                for task in self._tasks:
                    task.cancel()
                await asyncio.wait(self._tasks, timeout=0.1)

    def _begin(self, request: Request) -> None:
        task = self._loop.create_task(self._line.answer(request))
        self._tasks.add(task)
        task.add_done_callback(functools.partial(self._finish, request))

    def _finish(self, request: Request, task: asyncio.Task[Reply]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()  # seen here, as `take` may not be called for it any more
            self._done.put((request, task))


class Line:
    """The way to the server that the requests of one session share."""

    def __init__(self, judge: Asked, key: Secret, send: Send, gate: Gate) -> None:
        self._judge, self._key, self._send, self._gate = judge, key, send, gate
        self._strikes = 0  # hopeless failures since the last answer
        self._given_up = ""

    async def answer(self, request: Request) -> Reply:
        """Ask until there is an answer, or a reason why there will be none."""
        judge, wasted, attempt = self._judge, (0, 0), 0
        while not self._given_up:
            async with self._gate:
                decoding, epoch = judge.decoding, judge.limiter.epoch
                outcome = await self._attempt(judge.payload(request, decoding))
            if not isinstance(outcome, AttemptError):
                reply = self._read(outcome, decoding.fitted(scored=request.scored))
                return self._settled(reply, wasted, attempt + 1)
            wasted = (wasted[0] + outcome.tokens[0], wasted[1] + outcome.tokens[1])
            if self._step_down(decoding, outcome):
                continue
            attempt += 1
            if outcome.crowded:
                judge.limiter.throttle(epoch)
            if not outcome.passes or attempt >= judge.options.attempts:
                return self._failed(outcome, wasted, attempt)
            await judge.sleep(self._pause(outcome, attempt))
        return Reply("", "error", reason=self._given_up)

    async def _attempt(self, payload: dict[str, Any]) -> Mapping[str, Any] | AttemptError:
        limit = self._judge.options.timeout
        try:
            return await asyncio.wait_for(self._send(payload), limit)
        except asyncio.TimeoutError:
            return AttemptError(f"no answer within {limit:g} s", code="timeout")
        except AttemptError as failure:
            return failure

    def _read(self, response: Mapping[str, Any], decoding: Decoding) -> Reply:
        try:
            return self._judge.reply_of(response, decoding)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            # A server may send any JSON; none of it may end the run.
            reason = f"the response has an unknown form ({type(error).__name__})"
            return Reply("", "error", reason=reason, options=decoding.used())

    def _step_down(self, sent: Decoding, failure: AttemptError) -> bool:
        lowered = lower(sent, failure, self._judge.schemas)
        # Many requests are refused at once; the first one lowers the decoding for all.
        if lowered is not None and self._judge.decoding == sent:
            self._judge.decoding = lowered
        return lowered is not None

    def _pause(self, failure: AttemptError, attempt: int) -> float:
        """Give the seconds to wait: as the server says, or at random, so that crowds disperse."""
        base = self._judge.backoff
        if failure.retry_after is not None:
            return min(failure.retry_after, LONGEST_WAIT) + random.uniform(0, base)
        return random.uniform(0, min(_LONGEST_BACKOFF, base * 2 ** (attempt - 1)))

    def _settled(self, reply: Reply, wasted: tuple[int, int], attempt: int) -> Reply:
        self._judge.limiter.succeed()
        self._strikes = 0
        options = {**reply.options, "attempts": attempt} if attempt > 1 else reply.options
        return self._safe(
            replace(
                reply,
                options=options,
                input_tokens=reply.input_tokens + wasted[0],
                output_tokens=reply.output_tokens + wasted[1],
            )
        )

    def _failed(self, failure: AttemptError, wasted: tuple[int, int], attempt: int) -> Reply:
        tries = f" ({attempt} attempts)" if attempt > 1 else ""
        status = f"status {failure.status}: " if failure.status is not None else ""
        # Hidden before it is cut: half a key would not be recognised.
        said = self._key.hide(failure.reason)[:_LONGEST_REASON]
        reply = self._safe(
            Reply(
                "",
                "refused" if failure.refuses else "error",
                reason=f"{status}{said}{tries}",
                options=self._judge.decoding.used(attempts=attempt),
                input_tokens=wasted[0],
                output_tokens=wasted[1],
            )
        )
        self._strikes = self._strikes + 1 if failure.hopeless else 0
        if self._strikes == _STRIKES:
            self._given_up = f"not asked after {_STRIKES} failures in a row: {reply.reason}"
        return reply

    def _safe(self, reply: Reply) -> Reply:
        """Take the key out of whatever a server may have echoed."""
        hide = self._key.hide
        options = {
            name: hide(value) if isinstance(value, str) else value
            for name, value in reply.options.items()
        }
        return replace(reply, text=hide(reply.text), reason=hide(reply.reason), options=options)


def wait_of(headers: Mapping[str, str]) -> float | None:
    """Read how many seconds a server asks to wait: a number, or the date of an HTTP header.

    Examples
    --------
    >>> wait_of({"retry-after": "1.5"})
    1.5
    """
    said = headers.get("retry-after")
    if said is None:
        return None
    with suppress(ValueError):
        seconds = float(said)
        return max(0.0, seconds) if math.isfinite(seconds) else None
    with suppress(ValueError, TypeError, OverflowError):
        return max(0.0, parsedate_to_datetime(said).timestamp() - time.time())
    return None
