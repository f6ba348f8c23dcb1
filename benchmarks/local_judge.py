"""Measure the local judge: one pass, shared prefixes, 64 tokens, and transformers' own `generate`.

The models are made here, with random weights: what they cost depends on their size alone.
Run: python benchmarks/local_judge.py
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from statistics import median

import numpy as np
import torch
import transformers
from PIL import Image

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from tiny_vlm import make_tokenizer, save_tiny_vlm

from timevista_hf.cases import ForecastCase
from timevista_hf.judges import JudgeOptions, Reply, Request
from timevista_hf.judges.transformers import TransformersJudge
from timevista_hf.rendering import render_case
from timevista_hf.rubrics import Rubric, select_rubrics

TOKENS = 64
ROUNDS = 9
SIZES = ((32, 2), (256, 8))  # hidden size and layers
SENTENCE = "Judge how well the forecast follows the truth in its {}, from 1 to 5."
WORDS = 4096  # in the vocabulary, so that prompts are about as long as in a real model


def main() -> None:
    """Print the table."""
    transformers.logging.disable_progress_bar()
    torch.set_num_threads(1)
    print(f"CPU time of one thread, median of {ROUNDS} cases")
    rubrics = select_rubrics("micro")
    texts = [text for one in rubrics for text in (one.system_prompt, one.prompt())]
    full = [_questions(seed, rubrics) for seed in range(ROUNDS + 1)]
    short = [
        [replace(one, prompt=SENTENCE.format(one.question.name)) for one in mine] for mine in full
    ]
    for width, layers in SIZES:
        with tempfile.TemporaryDirectory() as folder:
            tokenizer = make_tokenizer(sentences=texts, size=WORDS)
            save_tiny_vlm(folder, tokenizer=tokenizer, width=width, layers=layers, endless=True)
            for name, cases in (("a sentence", short), ("a rubric", full)):
                print(f"\nhidden size {width}, {layers} layers, asked by {name}")
                _compare(folder, cases)


def _compare(folder: str, cases: list[list[Request]]) -> None:
    one_pass = TransformersJudge(folder, JudgeOptions(rationale=False))
    writing = TransformersJudge(folder, JudgeOptions(max_tokens=TOKENS))
    turns = [[[one] for one in turn] for turn in zip(*cases, strict=True)]  # the same rubric's
    singly, alone = zip(*(_measure(one_pass, turn) for turn in turns), strict=True)
    written, said = _measure(writing, turns[0])
    shared, together = _measure(one_pass, cases)
    explained, _ = _measure(writing, cases)
    generated = _generate(folder, [request for [request] in turns[0]])
    tokens = median(reply.output_tokens - 1 for reply in said)
    in_turn = [reply for replies in zip(*alone, strict=True) for reply in replies]
    read, many = alone[0][0].input_tokens, f"{len(turns)} rubrics"
    _line(f"a score, {read} tokens read in one pass", singly[0])
    _line(f"a score, {tokens:.0f} tokens written first", written, written / singly[0], "dearer")
    _line(f"{TOKENS} tokens by transformers' generate", generated, generated / singly[0], "dearer")
    _line(f"{many}, one pass, one by one", sum(singly))
    _line(f"{many}, one pass, shared prefix", shared, sum(singly) / shared, "cheaper")
    _line(f"{many}, written first, shared prefix", explained, explained / shared, "dearer")
    cheaper = len(turns) * generated / shared
    print(f"  a score of those costs {cheaper:.1f}x less than {TOKENS} tokens")
    print(f"  shared or not, the scores differ by {_apart(together, in_turn):.0e} at most")


def _line(what: str, spent: float, ratio: float | None = None, word: str = "") -> None:
    print(f"  {what:<42}{spent:>8.1f} ms", f" {ratio:.1f}x {word}" if ratio else "")


def _measure(
    judge: TransformersJudge, groups: Sequence[Sequence[Request]]
) -> tuple[float, list[Reply]]:
    spent, replies = [], []
    for requests in groups:
        before = time.process_time()
        answers = [reply for _, reply in judge.ask(requests)]
        spent.append(1000 * (time.process_time() - before))
        replies += answers
    return median(spent[1:]), replies  # the first one loads the weights


def _generate(folder: str, requests: Sequence[Request]) -> float:
    """Ask as one would without this package: one question after another."""
    model = transformers.AutoModelForImageTextToText.from_pretrained(folder)
    processor = transformers.AutoProcessor.from_pretrained(folder)
    spent = []
    for request in requests:
        before = time.process_time()
        asked = [{"type": "image"}, {"type": "text", "text": request.prompt}]
        system = {"role": "system", "content": request.question.system_prompt}
        turns = [system, {"role": "user", "content": asked}]
        text = processor.apply_chat_template(turns, add_generation_prompt=True)
        image = Image.open(BytesIO(request.image or b"")).convert("RGB")
        given = processor(images=image, text=text, return_tensors="pt")
        model.generate(**given, min_new_tokens=TOKENS, max_new_tokens=TOKENS, do_sample=False)
        spent.append(1000 * (time.process_time() - before))
    return median(spent[1:])


def _apart(left: list[Reply], right: list[Reply]) -> float:
    scores = [[reply.expected_score for reply in replies] for replies in (left, right)]
    return float(np.abs(np.diff(np.array(scores, float), axis=0)).max())


def _questions(seed: int, rubrics: Sequence[Rubric]) -> list[Request]:
    values = np.random.default_rng(seed).normal(size=96).cumsum()
    case = ForecastCase(
        id=str(seed), history=values[:72], truth=values[72:], prediction=values[72:] + 1
    )
    image = render_case(case)
    return [Request(case, one, one.prompt(), image) for one in rubrics]


if __name__ == "__main__":
    main()
