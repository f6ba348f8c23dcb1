"""One call of a remote judge: an event loop in a thread, and how a question finds its answer."""

from __future__ import annotations

import asyncio
import functools
import queue
import random
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Any, Protocol

from timevista_hf.judges._access import Secret
from timevista_hf.judges._base import Reply, Request
from timevista_hf.judges._failures import AttemptError
from timevista_hf.judges._ladder import Ladder
from timevista_hf.judges._limiter import Gate, Limiter
from timevista_hf.judges._options import Decoding, JudgeOptions

Send = Callable[[dict[str, Any]], Awaitable[Mapping[str, Any]]]

_LONGEST_BACKOFF = 60.0  # seconds
_STRIKES = 3  # hopeless failures in a row, after which the rest of a session is not asked
_LONGEST_REASON = 300  # characters


class Asked(Protocol):
    """Who is asked: what is sent there, how the response is read, and what has been learned.

    Attributes
    ----------
    options : JudgeOptions
    decoding : Decoding
        What is sent; lowered where the server refuses some of it.
    ladder : Ladder
        The ways down from there.
    limiter : Limiter
    backoff : float
        Seconds, doubled with every attempt.
    sleep : callable
    """

    options: JudgeOptions
    decoding: Decoding
    ladder: Ladder
    limiter: Limiter
    backoff: float
    sleep: Callable[[float], Awaitable[None]]

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


@dataclass(eq=False)
class _Turn:
    """One request, and what it has taken so far; what the server declined is no attempt."""

    request: Request
    attempts: int = 0
    input_tokens: int = 0
    output_tokens: int = 0

    def pay(self, tokens: tuple[int, int]) -> None:
        """Count what an attempt has cost."""
        self.input_tokens += tokens[0]
        self.output_tokens += tokens[1]


class Line:
    """The way to the server that the requests of one session share."""

    def __init__(self, judge: Asked, key: Secret, send: Send, gate: Gate) -> None:
        self._judge, self._key, self._send, self._gate = judge, key, send, gate
        self._searching = asyncio.Lock()
        self._strikes = 0  # hopeless failures since the last answer
        self._given_up = judge.limiter.closed

    async def answer(self, request: Request) -> Reply:
        """Ask until there is an answer, or a reason why there will be none."""
        turn = _Turn(request)
        while not self._given_up:
            sent = self._judge.decoding
            outcome = await self._try(turn, sent)
            if isinstance(outcome, AttemptError) and self._judge.ladder.hopes(outcome):
                async with self._searching:
                    if self._judge.decoding != sent:
                        continue  # meanwhile another request has found what to leave out
                    sent, outcome = await self._search(turn, sent, outcome)
            if isinstance(outcome, AttemptError):
                return self._failed(outcome, turn)
            decoding = sent.fitted(scored=request.scored)
            return self._settled(self._judge.reply_of(outcome, decoding), turn)
        return Reply("", "error", reason=self._given_up)

    async def _search(
        self, turn: _Turn, sent: Decoding, failure: AttemptError
    ) -> tuple[Decoding, Mapping[str, Any] | AttemptError]:
        """Leave out what is optional until the server takes the request, or nothing has helped."""
        judge = self._judge
        search = judge.ladder.search(sent, failure, scored=turn.request.scored)
        for way in search:
            outcome = await self._try(turn, way)
            if not isinstance(outcome, AttemptError):
                judge.decoding = search.settle(way)
                return way, outcome
            if not outcome.declines:
                return sent, outcome
            search.learn(way, outcome)
        return sent, search.failure

    async def _try(self, turn: _Turn, decoding: Decoding) -> Mapping[str, Any] | AttemptError:
        """Send a request, again and again while the server is busy or out of reach."""
        judge = self._judge
        while True:
            async with self._gate:
                epoch = judge.limiter.epoch
                outcome = await self._attempt(judge.payload(turn.request, decoding))
            if not isinstance(outcome, AttemptError):
                return outcome
            turn.pay(outcome.tokens)
            if outcome.declines:
                return outcome
            turn.attempts += 1
            if outcome.crowded:
                judge.limiter.throttle(epoch)
            if not outcome.passes or turn.attempts >= judge.options.attempts or self._given_up:
                return outcome
            await judge.sleep(self._pause(outcome, turn.attempts))

    async def _attempt(self, payload: dict[str, Any]) -> Mapping[str, Any] | AttemptError:
        limit = self._judge.options.timeout
        try:
            return await asyncio.wait_for(self._send(payload), limit)
        except asyncio.TimeoutError:
            return AttemptError(f"no answer within {limit:g} s", code="timeout")
        except AttemptError as failure:
            return failure

    def _pause(self, failure: AttemptError, attempt: int) -> float:
        """Give the seconds to wait: as the server says, or at random, so that crowds disperse."""
        base = self._judge.backoff
        if failure.retry_after is not None:
            return failure.retry_after + random.uniform(0, base)
        return random.uniform(0, min(_LONGEST_BACKOFF, base * 2 ** (attempt - 1)))

    def _settled(self, reply: Reply, turn: _Turn) -> Reply:
        self._judge.limiter.succeed()
        self._strikes = 0
        attempts = {"attempts": turn.attempts + 1} if turn.attempts else {}
        options, reason = {**reply.options, **attempts}, self._said(reply.reason)
        return self._safe(replace(reply, options=options, reason=reason), turn)

    def _failed(self, failure: AttemptError, turn: _Turn) -> Reply:
        attempts = max(turn.attempts, 1)
        tries = f" ({attempts} attempts)" if attempts > 1 else ""
        status = f"status {failure.status}: " if failure.status is not None else ""
        reason = f"{status}{self._said(failure.reason)}{tries}"
        options = self._judge.decoding.used(attempts=attempts)
        failed = Reply(
            "", "refused" if failure.refuses else "error", reason=reason, options=options
        )
        reply = self._safe(failed, turn)
        self._strikes = self._strikes + 1 if failure.hopeless else 0
        if failure.spent:
            self._given_up = f"not asked any more: {reply.reason}"
            self._judge.limiter.close(failure.retry_after or 0.0, self._given_up)
        elif self._strikes == _STRIKES:
            self._given_up = f"not asked after {_STRIKES} failures in a row: {reply.reason}"
        return reply

    def _said(self, reason: str) -> str:
        # Hidden before it is cut: half a key would not be recognised.
        return self._key.hide(reason)[:_LONGEST_REASON]

    def _safe(self, reply: Reply, turn: _Turn) -> Reply:
        """Add what the attempts before have cost, and hide the key that a server may have echoed.

        The text stays as it came, and hides the key where it is written.
        """
        hide = self._key.hide
        options = {
            name: hide(value) if isinstance(value, str) else value
            for name, value in reply.options.items()
        }
        return replace(
            reply,
            reason=hide(reply.reason),
            options=options,
            input_tokens=reply.input_tokens + turn.input_tokens,
            output_tokens=reply.output_tokens + turn.output_tokens,
            secret=self._key,
        )
