"""Fake judges on loopback: servers that speak as OpenAI, Anthropic and Google do.

A test starts one in a thread and scripts its answers; as a program it runs in a process of its
own, and writes down what it was asked.
"""

import argparse
import asyncio
import hashlib
import itertools
import json
import math
import re
import socket
import struct
import sys
import threading
from dataclasses import dataclass, field
from pathlib import Path

from timevista_hf.judges import JudgeOptions, load_judge


@dataclass(frozen=True)
class Call:
    """What a server was asked."""

    number: int  # from 1
    path: str
    headers: dict
    raw: bytes

    @property
    def body(self):
        return json.loads(self.raw)


@dataclass(frozen=True)
class Answer:
    """What a server says, and how it fails."""

    body: object = b""
    status: int = 200
    headers: dict = field(default_factory=dict)
    delay: float = 0.0  # seconds
    cut: str = ""  # "reset" the connection, or send "half" the body


class FakeServer:
    """Serve a script, a function from call to answer, until the block ends."""

    def __init__(self, script, keep=True):
        self.script, self._keep = script, keep
        self.calls, self._numbers = [], itertools.count(1)
        self.inside = self.most_inside = 0

    def __enter__(self):
        self._ready = threading.Event()
        self._thread = threading.Thread(target=asyncio.run, args=(self._serve(),))
        self._thread.start()
        assert self._ready.wait(10)
        return self

    def __exit__(self, *error):
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(10)
        assert not self._thread.is_alive()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    async def _serve(self):
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        self._open = set()
        server = await asyncio.start_server(self._talk, "127.0.0.1", 0, limit=1 << 24)
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._stop.wait()
        server.close()
        for task in self._open:
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)

    async def serve_forever(self, tell):
        """Serve in this process, after telling the address."""
        server = await asyncio.start_server(self._talk, "127.0.0.1", 0, limit=1 << 24)
        self._open = set()
        self.port = server.sockets[0].getsockname()[1]
        tell(self.url)
        await server.serve_forever()

    async def _talk(self, reader, writer):
        task = asyncio.current_task()
        self._open.add(task)
        try:
            while (call := await self._read(reader)) is not None:
                if self._keep:
                    self.calls.append(call)
                self.inside += 1
                self.most_inside = max(self.most_inside, self.inside)
                try:
                    if not await self._say(writer, self.script(call)):
                        break
                finally:
                    self.inside -= 1
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # the client has gone, or the test has ended
        finally:
            self._open.discard(task)
            writer.close()

    async def _read(self, reader):
        head = await reader.readuntil(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").strip().split("\r\n")
        headers = dict(line.lower().split(": ", 1) for line in lines if ": " in line)
        headers |= {line.split(": ")[0].lower(): line.split(": ", 1)[1] for line in lines}
        raw = await reader.readexactly(int(headers.get("content-length", 0)))
        return Call(next(self._numbers), first.split()[1], headers, raw)

    async def _say(self, writer, answer):
        if answer.delay:
            await asyncio.sleep(answer.delay)
        if answer.cut == "reset":
            # Lingering for no time at all makes the kernel send a reset instead of an end.
            line = writer.get_extra_info("socket")
            line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            return False
        body = answer.body if isinstance(answer.body, bytes) else json.dumps(answer.body).encode()
        headers = {"content-type": "application/json", **answer.headers}
        lines = [f"HTTP/1.1 {answer.status} Fake", f"content-length: {len(body)}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        writer.write("\r\n".join([*lines, "", ""]).encode())
        writer.write(body[: len(body) // 2] if answer.cut == "half" else body)
        await writer.drain()
        return answer.cut != "half"


def verdict(score=4, rationale="It rises as the truth does."):
    return json.dumps({"rationale": rationale, "score": score})


def openai_answer(text=None, *, stop="stop", refusal=None, logprobs=None, **more):
    """Make the body of a chat completion; 700 tokens were read and 40 written."""
    message = {"role": "assistant", "content": verdict() if text is None else text}
    choice = {"index": 0, "message": message | {"refusal": refusal}, "finish_reason": stop}
    return {
        "id": "chat-1",
        "object": "chat.completion",
        "model": "fake-2026-01-01",
        "system_fingerprint": "fp_1",
        "choices": [choice | ({"logprobs": logprobs} if logprobs else {})],
        "usage": {"prompt_tokens": 700, "completion_tokens": 40, "total_tokens": 740},
        **more,
    }


def openai_error(message, param=None, code=None):
    return {"error": {"message": message, "type": "error", "param": param, "code": code}}


def openai_logprobs(pieces):
    """Make the log probabilities of a reply in pieces: text, or text and its alternatives."""
    tokens = []
    for piece in pieces:
        text, likely = piece if isinstance(piece, tuple) else (piece, {})
        tops = [{"token": one, "logprob": math.log(p), "bytes": None} for one, p in likely.items()]
        spelled = list(text.encode())
        tokens.append({"token": text, "logprob": 0.0, "bytes": spelled, "top_logprobs": tops})
    return {"content": tokens}


def probable_verdict():
    """Make the log probabilities of `verdict`, with ten alternatives to each of its pieces."""
    others = {f"word {number}": 0.01 for number in range(8)}
    pieces = [(piece, {piece: 0.9, **others}) for piece in re.split(r"(?<=\W)", verdict()[:-2])]
    return openai_logprobs([*pieces, ("4", {"4": 0.7, "5": 0.2, "3": 0.1}), "}"])


def anthropic_answer(text=None, *, stop="end_turn"):
    """Make the body of a message; 700 tokens were read, 100 of them cached, and 40 written."""
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "fake-2026-01-01",
        "content": [{"type": "text", "text": verdict() if text is None else text}],
        "stop_reason": stop,
        "usage": {"input_tokens": 600, "cache_read_input_tokens": 100, "output_tokens": 40},
    }


def anthropic_error(message, kind="invalid_request_error"):
    return {"type": "error", "error": {"type": kind, "message": message}}


def gemini_answer(text=None, *, stop="STOP", logprobs=None, thought=None):
    """Make the body of a response; 700 tokens were read, 30 written and 10 thought."""
    parts = [{"text": thought, "thought": True}] if thought else []
    parts.append({"text": verdict() if text is None else text})
    candidate = {"content": {"role": "model", "parts": parts}, "finishReason": stop, "index": 0}
    return {
        "candidates": [candidate | ({"logprobsResult": logprobs} if logprobs else {})],
        "usageMetadata": {
            "promptTokenCount": 700,
            "candidatesTokenCount": 30,
            "thoughtsTokenCount": 10,
        },
        "modelVersion": "fake-2026-01-01",
    }


def gemini_error(message, status=400, kind="INVALID_ARGUMENT", details=()):
    return {"error": {"code": status, "message": message, "status": kind, "details": list(details)}}


def connect(monkeypatch, server, family="openai", key="sk-test-key", model="fake", **options):
    """Make the judge of that family for a server; it does not wait between attempts."""
    path = "/v1" if family == "openai" else ""
    variables = {
        "openai": ("OPENAI_API_KEY", "OPENAI_BASE_URL"),
        "anthropic": ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"),
        "gemini": ("GEMINI_API_KEY", "GOOGLE_GEMINI_BASE_URL"),
    }
    for variable, value in zip(variables[family], (key, server.url + path), strict=True):
        monkeypatch.setenv(variable, value)
    judge = load_judge(f"{family}:{model}", options=JudgeOptions(**options))
    judge.backoff = 0.0
    return judge


def in_turn(*answers):
    """Script a server: these answers, and the last one ever after."""
    return lambda call: answers[min(call.number, len(answers)) - 1]


class Storm:
    """Fail every third call, with 429 and 500 in turn; note each call in a file, a line each."""

    def __init__(self, log):
        self._log = log

    def __call__(self, call):
        asked = hashlib.sha256(call.raw).hexdigest()
        failing = call.number % 3 == 0
        status = 200 if not failing else (429 if call.number % 2 else 500)
        self._log.write(f"{call.number} {asked} {status}\n")
        self._log.flush()
        if failing:
            return Answer(openai_error("busy"), status)
        return Answer(openai_answer(verdict(1 + call.number % 5, f"answer {call.number}")))


def main():
    """Serve as OpenAI does, with the same answer for everything, or in a storm."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--storm", type=Path, help="fail often, and note the calls in this file")
    parser.add_argument("--logprobs", action="store_true", help="tell probabilities of tokens")
    chosen = parser.parse_args()
    logprobs = probable_verdict() if chosen.logprobs else None
    ready = Answer(json.dumps(openai_answer(logprobs=logprobs)).encode())
    script = (lambda call: ready) if chosen.storm is None else Storm(chosen.storm.open("a"))

    def tell(url):
        sys.stdout.write(f"{url}\n")
        sys.stdout.flush()

    asyncio.run(FakeServer(script, keep=False).serve_forever(tell))


if __name__ == "__main__":
    main()
