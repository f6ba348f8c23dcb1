"""The judge on this machine: a vision-language model, run by transformers."""

from __future__ import annotations

import json
import logging
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.metadata import version
from itertools import groupby
from typing import Any

import numpy as np

from timevista_hf.judges._base import Reply, Request
from timevista_hf.judges._checkpoint import Checkpoint, Context
from timevista_hf.judges._loading import first_line
from timevista_hf.judges._options import JudgeOptions
from timevista_hf.rubrics import LOWEST, Modality, cut_thoughts

_WHY, _SLOT, _SCORE = '{"rationale": "', '", "score": ', '{"score": '
_LIST = '{"anomalies":'
_INSIDE = re.compile(r'(?:[^"\\]|\\.)*', re.DOTALL)  # a JSON string up to its closing quote
_ROOM = 32  # tokens for the slot and what is spelled anew before it
_LOG = logging.getLogger(__name__)
_ROWS = {"cpu": 8}  # there, larger batches cost memory and save no time


@dataclass(frozen=True)
class _Said:
    """What a model wrote before its score."""

    raw: str = ""  # as JSON spells it
    cut: bool = False  # by the limit on tokens, or by the model's end of its answer
    tokens: int = 0

    @property
    def text(self) -> str:
        raw = cut_thoughts(self.raw)
        try:
            return str(json.loads(f'"{raw}"', strict=False))
        except ValueError:  # an escape that JSON does not know
            return raw


class TransformersJudge:
    """Judge with a model in a folder or on the Hub, by the probabilities of the scores 1 to 5.

    The model writes a rationale and then scores from the same cache, or scores in one forward
    pass (``options.rationale = False``). The score is the most probable of the five tokens, and
    `expected_score` their expectation. Requests that follow each other and show the same are
    answered together, and what their prompts have in common is read once. A question without a
    score, as where the anomalies are, is answered in full, without the rationale where there is
    to be none.

    Parameters
    ----------
    model : str
        A folder, or an id on the Hub; `HF_HUB_OFFLINE` is respected. The device is a GPU where
        there is one (bfloat16), else the CPU (float32), unless `TIMEVISTA_DEVICE` names another.
    options : JudgeOptions, optional
        `modality`, `rationale`, `max_tokens` of the rationale, its `temperature` (0 and None are
        greedy; above, each request is drawn from a seed of its own), and `concurrency`, the most
        requests in a batch, of which a CPU takes 8. The others belong to servers.

    Raises
    ------
    ValueError
        Where torch or transformers is missing, the device or the model cannot be used, the model
        has no chat template or, for ``"vision"``, no place for an image, or spells a score in
        more than one token. Weights are loaded, and found missing, on the first request.
    """

    def __init__(self, model: str, options: JudgeOptions | None = None) -> None:
        self.name = f"local:{model}"
        self._model, self._options = model, options or JudgeOptions()
        self._checkpoint = Checkpoint(model, self.modality)
        opening, self._scores = self._checkpoint.slot(_SLOT if self._rationale else _SCORE)
        self._opening = self._checkpoint.spell(_WHY) if self._rationale else opening
        most = self._options.concurrency
        self._rows = min(most, _ROWS.get(self._checkpoint.device.type, most))

    def __reduce__(self) -> tuple[type[TransformersJudge], tuple[str, JudgeOptions]]:
        # Another process loads its own weights.
        return TransformersJudge, (self._model, self._options)

    @property
    def modality(self) -> Modality:
        """Whether the model looks at the plot or reads the numbers."""
        return self._options.modality

    @cached_property
    def identity(self) -> Mapping[str, Any]:
        """What can change an answer: the model's files, their precision, and how it is asked."""
        return {
            "judge": self.name,
            "modality": self.modality,
            "weights": self._checkpoint.fingerprint,
            **self._decoding,
        }

    @property
    def _rationale(self) -> bool:
        return self._options.rationale

    @cached_property
    def _decoding(self) -> dict[str, Any]:
        used: dict[str, Any] = {"dtype": str(self._checkpoint.dtype).removeprefix("torch.")}
        if self._checkpoint.closes_thoughts:
            used["thoughts"] = "closed"
        if not self._rationale:
            return used | {"mode": "one pass"}
        temperature = self._options.temperature or 0.0
        limits = {"temperature": temperature, "max_tokens": self._options.max_tokens}
        return used | {"mode": "rationale", **limits}

    @cached_property
    def _used(self) -> dict[str, Any]:
        return {
            "device": str(self._checkpoint.device),
            "weights": self._checkpoint.fingerprint,
            "transformers": version("transformers"),
            **self._decoding,
        }

    def ask(self, requests: Iterable[Request]) -> Iterator[tuple[Request, Reply]]:
        """Answer the requests in turn, a batch at a time.

        Raises
        ------
        ValueError
            Where the weights cannot be loaded.
        """
        for batch in self._batches(requests):
            _ = self._checkpoint.model  # where it cannot be had, no request can be answered
            yield from self._answer(batch)

    def _batches(self, requests: Iterable[Request]) -> Iterator[list[Request]]:
        batch: list[Request] = []
        for _, alike in groupby(requests, key=_shown):
            mine = list(alike)
            if len(batch) + len(mine) > self._rows and batch:
                yield batch
                batch = []
            batch += mine
            while len(batch) >= self._rows:
                rows = self._rows  # a batch that was too large lowers it
                yield batch[:rows]
                batch = batch[rows:]
        if batch:
            yield batch

    def _answer(self, batch: list[Request]) -> Iterator[tuple[Request, Reply]]:
        try:
            replies, failure = self._judge(batch), ""
        except (RuntimeError, ValueError, OSError, IndexError, MemoryError) as error:
            failure, full = first_line(error), _out_of_memory(error)
        if not failure:
            yield from zip(batch, replies, strict=True)
            return
        self._checkpoint.clear()
        if len(batch) == 1:
            place = f"out of memory on {self._checkpoint.device}: " if full else ""
            reply = Reply("", "error", reason=f"{place}{failure}", options=self._used)
            yield batch[0], reply
            return
        half = len(batch) // 2
        _LOG.warning(
            "%s: %d requests at once failed (%s); asking in halves", self.name, len(batch), failure
        )
        if full:
            self._rows = half
        yield from self._answer(batch[:half])
        yield from self._answer(batch[half:])

    def _judge(self, batch: list[Request]) -> list[Reply]:
        if len({one.scored for one in batch}) > 1:
            raise ValueError("questions with a score and without are answered apart")
        if not batch[0].scored:
            return self._answer_in_full(batch)
        most = self._options.max_tokens if self._rationale else 0
        context = self._read(batch, self._opening, most)
        asked = context.mask.sum(dim=1).tolist()
        said = [_Said()] * len(batch)
        if self._rationale:
            said, context = self._explain(batch, context)
        logits = self._checkpoint.generate(context, most=1).logits.double()
        chances = logits.log_softmax(dim=-1)[:, self._scores].exp().tolist()
        shares = logits[:, self._scores].softmax(dim=-1).tolist()
        return [
            self._reply(one, share, sum(chance), tokens)
            for one, share, chance, tokens in zip(said, shares, chances, asked, strict=True)
        ]

    def _answer_in_full(self, batch: list[Request]) -> list[Reply]:
        opening = _WHY if self._rationale else _LIST
        most = self._options.max_tokens
        context = self._read(batch, self._checkpoint.spell(opening), most)
        asked = context.mask.sum(dim=1).tolist()
        closing = _Closing(
            self._checkpoint, context.ids.shape[1], "}", lambda written: _whole(opening + written)
        )
        controls = self._controls(batch, closing)
        made = self._checkpoint.generate(context, most=most, **controls)
        written = closing.trimmed(made.tokens.tolist())
        replies = [
            Reply(
                opening + self._checkpoint.decode(tokens),
                options={**self._used, "mode": "whole answer", "max_tokens": most},
                input_tokens=read,
                output_tokens=len(tokens),
            )
            for tokens, read in zip(written, asked, strict=True)
        ]
        reason = f"the reply was cut after {most} tokens (`max_tokens`)"
        return [
            reply if closing.ended(row) else replace(reply, status="truncated", reason=reason)
            for row, reply in enumerate(replies)
        ]

    def _read(self, batch: list[Request], opening: Sequence[int], most: int) -> Context:
        groups = [list(mine) for _, mine in groupby(batch, key=_shown)]
        texts = [
            [self._checkpoint.write(one.question.system_prompt, one.prompt) for one in mine]
            for mine in groups
        ]
        images = [mine[0].image for mine in groups]
        context = self._checkpoint.read(texts, images, room=_ROOM + most)
        return self._checkpoint.extend(context, [opening] * len(batch))

    def _controls(self, batch: list[Request], closing: _Closing) -> dict[str, Any]:
        """Say where the rows stop; where a temperature is set, draw each from its own seed."""
        controls: dict[str, Any] = {"stopping_criteria": [closing]}
        temperature = self._options.temperature
        if temperature and self._rationale:
            seeds = [int(request.key(self.identity), 16) for request in batch]
            controls["logits_processor"] = [_Noise(temperature, seeds)]
        return controls

    def _explain(self, batch: list[Request], context: Context) -> tuple[list[_Said], Context]:
        """Let the model write its rationales, and put the slot of the score after each."""
        closing = _Closing(self._checkpoint, context.ids.shape[1], '"', _closed)
        controls = self._controls(batch, closing)
        made = self._checkpoint.generate(context, most=self._options.max_tokens, **controls)
        written = closing.trimmed(made.tokens.tolist())
        read = [self._said(tokens, made.tokens.shape[1] - 1) for tokens in written]
        tails = []
        for (said, held), tokens in zip(read, written, strict=True):
            # What the cache does not hold is spelled anew, together with the slot.
            rest = said.raw[len(self._checkpoint.decode(tokens[:held])) :]
            tails.append(self._checkpoint.slot(rest + _SLOT)[0])
        kept = _masked(made.read, context.ids.shape[1], [held for _, held in read])
        return [said for said, _ in read], self._checkpoint.extend(kept, tails)

    def _said(self, tokens: list[int], cached: int) -> tuple[_Said, int]:
        """Read a rationale, and count its tokens that the cache can keep."""
        written = self._checkpoint.decode(tokens)
        end = _inside(written)
        raw = written[:end]
        said = _Said(raw, cut=not written.startswith('"', end), tokens=len(tokens))
        held = min(len(tokens), cached)
        # The last tokens may hold the closing quote, the end of the answer, or half a letter.
        while held and not self._keeps(tokens[:held], raw):
            held -= 1
        return said, held

    def _keeps(self, tokens: list[int], raw: str) -> bool:
        ended = tokens[-1] in self._checkpoint.ends
        return not ended and raw.startswith(self._checkpoint.decode(tokens))

    def _reply(self, said: _Said, shares: list[float], mass: float, asked: int) -> Reply:
        used = dict(self._used)
        if self._rationale:
            used["rationale_cut"] = said.cut
        reply = Reply(
            "", options=used, mass=mass, input_tokens=asked, output_tokens=said.tokens + 1
        )
        if not math.isfinite(mass):
            reason = f"the scores have no finite probability in {used['dtype']}"
            return replace(reply, status="error", reason=reason, mass=None)
        score = LOWEST + max(range(len(shares)), key=shares.__getitem__)
        verdict = {"rationale": said.text if self._rationale else _in_words(shares), "score": score}
        return replace(
            reply,
            text=json.dumps(verdict, ensure_ascii=False),
            expected_score=sum(share * one for one, share in enumerate(shares, start=LOWEST)),
        )


class _Closing:
    """Stop each row where it is closed, by a letter at the earliest, or the model ends it."""

    def __init__(
        self, checkpoint: Checkpoint, start: int, letter: str, closed: Callable[[str], bool]
    ) -> None:
        self._checkpoint, self._start = checkpoint, start
        self._letter, self._closed = letter, closed
        self._ends: dict[int, int] = {}  # tokens of a row that has ended

    def __call__(self, ids: Any, scores: Any, **_: Any) -> Any:
        for row, tokens in enumerate(ids[:, self._start :].tolist()):
            if row not in self._ends and self._closes(tokens):
                self._ends[row] = len(tokens)
        ended = [row in self._ends for row in range(len(ids))]
        return ids.new_tensor(ended).bool()

    def trimmed(self, rows: Sequence[list[int]]) -> list[list[int]]:
        """Drop what follows a row's end only since others went on."""
        return [tokens[: self._ends.get(row)] for row, tokens in enumerate(rows)]

    def ended(self, row: int) -> bool:
        """Whether a row came to its end, and not to that of its tokens."""
        return row in self._ends

    def _closes(self, tokens: list[int]) -> bool:
        if tokens[-1] in self._checkpoint.ends:
            return True
        if self._letter not in self._checkpoint.decode(tokens[-1:]):
            return False
        return self._closed(self._checkpoint.decode(tokens))


class _Noise:
    """Make the most probable token a random one: Gumbel noise, from a seed for each row."""

    def __init__(self, temperature: float, seeds: Sequence[int]) -> None:
        self._temperature = temperature
        self._sources = [np.random.default_rng(seed) for seed in seeds]

    def __call__(self, ids: Any, scores: Any) -> Any:
        noise = np.stack([source.gumbel(size=scores.shape[1]) for source in self._sources])
        return scores / self._temperature + scores.new_tensor(noise)


def _inside(written: str) -> int:
    """Count the characters before the quote that closes a JSON string."""
    found = _INSIDE.match(written)
    return found.end() if found else 0


def _closed(written: str) -> bool:
    return written.startswith('"', _inside(written))


def _whole(written: str) -> bool:
    """Whether a text starts with a whole JSON object."""
    try:
        json.JSONDecoder(strict=False).raw_decode(written)
    except (ValueError, RecursionError):
        return False
    return True


def _in_words(shares: Sequence[float]) -> str:
    listed = ", ".join(f"{score}: {share:.3f}" for score, share in enumerate(shares, start=LOWEST))
    return f"Scored in one pass without a rationale; probabilities {listed}."


def _masked(context: Context, start: int, kept: Sequence[int]) -> Context:
    """Hide of each row what was generated after the tokens to keep."""
    mask = context.mask.clone()
    for row, held in enumerate(kept):
        mask[row, start + held :] = 0
    return replace(context, mask=mask)


def _shown(request: Request) -> bytes | int:
    return request.image if request.image is not None else id(request.case)


def _out_of_memory(error: BaseException) -> bool:
    said = str(error).lower()
    return isinstance(error, MemoryError) or any(sign in said for sign in _FULL)


# PyTorch has a type for a full GPU, but for a full CPU only words.
_FULL = ("out of memory", "can't allocate memory", "not enough memory")
