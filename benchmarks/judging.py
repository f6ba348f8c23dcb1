"""Measure what a judgment costs this machine, beside inspect_ai, against a server without delay.

The server runs in a process of its own, so CPU time is the client's alone. Every request carries a
picture of its own size, and every rubric of a case the same picture.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import resource
import subprocess
import sys
import tempfile
import time
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

from timevista_hf.cases import ForecastCase
from timevista_hf.judges import JudgeOptions, Request, load_judge
from timevista_hf.rendering import render_case
from timevista_hf.rubrics import Rubric, select_rubrics

SERVERS = Path(__file__).parents[1] / "tests" / "servers.py"
MODEL = "gpt-4o"  # a name that no client treats as one of a model that thinks
CONCURRENCY = 32
ROUNDS = 3
RUBRICS = select_rubrics("micro")


def main() -> None:
    """Print CPU time and rate of a judgment for each client, and the memory of a long run."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--judgments", type=int, default=1000, help="in one round")
    parser.add_argument("--long", type=int, default=20_000, help="judgments of the memory test")
    chosen = parser.parse_args()
    # The clients would otherwise take a key and an address of the user's.
    os.environ.update(OPENAI_API_KEY="none", OPENAI_BASE_URL="none")
    image = render_case(_case(0))
    print(f"openai {version('openai')}, picture of {len(image) / 1000:.0f} kB, best of {ROUNDS}")
    with _server(logprobs=False) as url:
        os.environ["OPENAI_BASE_URL"] = url
        _memory(image, chosen.long)  # first, as the most that was held never falls
    clients = {"timevista": _timevista, **_peer()}
    for logprobs in (False, True):
        with _server(logprobs) as url:
            os.environ["OPENAI_BASE_URL"] = url
            _compare(clients, image, chosen.judgments, logprobs)


Client = Callable[[bytes, int, bool], None]


def _compare(clients: dict[str, Client], image: bytes, number: int, logprobs: bool) -> None:
    print(f"\n{number} judgments, {'with' if logprobs else 'without'} probabilities of tokens")
    print(f"{'client':<28} {'CPU ms each':>12} {'a second':>10} {'CPU, times ours':>16}")
    for client in clients.values():
        client(image, 32, logprobs)  # imports and first connections
    # In turns, so that a busy moment of the machine does not hit one of them alone.
    rounds = [[_cost(c, image, number, logprobs) for c in clients.values()] for _ in range(ROUNDS)]
    best = [min(costs) for costs in zip(*rounds, strict=True)]
    for name, (cpu, wall) in zip(clients, best, strict=True):
        each, ratio = 1000 * cpu / number, cpu / best[0][0]
        print(f"{name:<28} {each:>12.2f} {number / wall:>10.0f} {ratio:>15.1f}x")


def _cost(client: Client, image: bytes, number: int, logprobs: bool) -> tuple[float, float]:
    cpu, wall = time.process_time(), time.perf_counter()
    client(image, number, logprobs)
    return time.process_time() - cpu, time.perf_counter() - wall


def _memory(image: bytes, number: int) -> None:
    """Print the most memory this process has held, ever later in one stream."""
    judge = load_judge(f"openai:{MODEL}", options=JudgeOptions(concurrency=CONCURRENCY))
    print("\njudgments  most memory held, MB", flush=True)
    for done, _ in enumerate(judge.ask(_requests(image, number)), start=1):
        if done in (1000, number // 4, number // 2, number):
            print(f"{done:>9}  {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f}")


def _timevista(image: bytes, number: int, logprobs: bool) -> None:
    options = JudgeOptions(concurrency=CONCURRENCY, logprobs=logprobs)
    judge = load_judge(f"openai:{MODEL}", options=options)
    for request, reply in judge.ask(_requests(image, number)):
        assert request.question.parse(reply.text).score == 4
        assert (reply.expected_score is not None) == logprobs


def _requests(image: bytes, number: int) -> Iterator[Request]:
    for done in range(0, number, len(RUBRICS)):
        shown = image + done.to_bytes(4, "big")  # no two cases show the same
        for rubric in RUBRICS[: number - done]:
            yield Request(_case(done), rubric, rubric.prompt(), shown)


def _case(number: int) -> ForecastCase:
    history = [float(step % 24) for step in range(480)]
    return ForecastCase(
        id=str(number), history=history, truth=history[:96], prediction=history[:96]
    )


def _peer() -> dict[str, Client]:
    try:
        import inspect_ai
    except ModuleNotFoundError:
        print("inspect_ai is not installed; to see it beside: pip install inspect_ai")
        return {}
    print(f"inspect_ai {inspect_ai.__version__}: its model alone, and its `eval` with a scorer")
    return {"inspect_ai, model.generate": _inspect_model, "inspect_ai, eval": _inspect_eval}


def _inspect_model(image: bytes, number: int, logprobs: bool) -> None:
    model = _inspect_client(RUBRICS[0], logprobs)

    async def ask_all() -> None:
        async def ask(request: Request) -> None:
            said = await model.generate(_inspect_messages(request))
            assert request.question.parse(said.completion).score == 4

        await asyncio.gather(*(ask(request) for request in _requests(image, number)))

    asyncio.run(ask_all())


def _inspect_eval(image: bytes, number: int, logprobs: bool) -> None:
    import inspect_ai
    from inspect_ai.dataset import Sample
    from inspect_ai.scorer import Score, Target, accuracy, scorer
    from inspect_ai.solver import TaskState, generate

    @scorer(metrics=[accuracy()])
    def verdict() -> Any:
        async def score(state: TaskState, target: Target) -> Score:
            return Score(value=RUBRICS[0].parse(state.output.completion).score)

        return score

    samples = [Sample(input=_inspect_messages(request)) for request in _requests(image, number)]
    with tempfile.TemporaryDirectory() as folder:
        [log] = inspect_ai.eval(
            inspect_ai.Task(dataset=samples, solver=generate(), scorer=verdict()),
            model=_inspect_client(RUBRICS[0], logprobs),
            log_dir=folder,
            log_images=False,
            display="none",
        )
    assert log.status == "success" and log.results.completed_samples == number


def _inspect_client(rubric: Rubric, logprobs: bool) -> Any:
    from inspect_ai.model import GenerateConfig, ResponseSchema, get_model
    from inspect_ai.util import JSONSchema

    schema = ResponseSchema(
        name="verdict", json_schema=JSONSchema.model_validate(rubric.reply_schema), strict=True
    )
    config = GenerateConfig(
        temperature=0.0,
        max_tokens=1024,
        max_connections=CONCURRENCY,
        response_schema=schema,
        logprobs=True if logprobs else None,
        top_logprobs=10 if logprobs else None,
    )
    return get_model(f"openai/{MODEL}", config=config, memoize=False, responses_api=False)


def _inspect_messages(request: Request) -> list[Any]:
    from inspect_ai.model import ChatMessageSystem, ChatMessageUser, ContentImage, ContentText

    picture = f"data:image/png;base64,{b64encode(request.image or b'').decode()}"
    shown = [ContentImage(image=picture), ContentText(text=request.prompt)]
    return [
        ChatMessageSystem(content=request.question.system_prompt),
        ChatMessageUser(content=shown),
    ]


@contextmanager
def _server(logprobs: bool) -> Iterator[str]:
    command = [sys.executable, str(SERVERS), *(["--logprobs"] if logprobs else [])]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            yield server.stdout.readline().strip() + "/v1"
        finally:
            server.kill()


if __name__ == "__main__":
    main()
