"""A checkpoint as the local judge needs it: prompts read on one cache, and continued."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib import import_module
from inspect import signature
from itertools import groupby
from pathlib import Path
from typing import Any

from timevista_hf.judges._loading import (
    choose_device,
    digest_folder,
    find_commit,
    first_line,
    import_optional,
    load_pretrained,
    open_image,
)
from timevista_hf.rubrics import HIGHEST, LOWEST, Modality, close_thought, marks_thought

_SCORES = range(LOWEST, HIGHEST + 1)


@dataclass(frozen=True, eq=False)
class Context:
    """Rows of tokens for a model to read, of which the cache holds the first.

    Attributes
    ----------
    ids, mask : tensor of shape (R, L)
        Padded on the left, both within what the cache holds and within what it does not.
    cache : Cache, optional
    beside : mapping
        What the model needs beside the tokens while there is no cache: the pixels.
    """

    ids: Any
    mask: Any
    cache: Any = None
    beside: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Generated:
    """How rows went on.

    Attributes
    ----------
    tokens : tensor of shape (R, n)
    logits : tensor of shape (R, vocabulary), optional
        Of the only new token, where one was asked for.
    read : Context
        All but the last of the tokens, which the cache does not hold.
    """

    tokens: Any
    logits: Any
    read: Context


class Checkpoint:
    """A folder or Hub repository: template and tokens at once, weights when they are needed.

    Parameters
    ----------
    name : str
        A folder, or an id on the Hub.
    modality : {"vision", "text"}

    Raises
    ------
    ValueError
        For a missing package or device, a checkpoint that cannot be loaded, one without a chat
        template or, for ``"vision"``, without a place for an image.
    """

    def __init__(self, name: str, modality: Modality) -> None:
        self._torch, self._library = import_optional("torch"), import_optional("transformers")
        self.name, self._vision = name, modality == "vision"
        self.device = choose_device()
        self.dtype = self._torch.bfloat16 if self.device.type == "cuda" else self._torch.float32
        folder = Path(name).expanduser()
        self._source = str(folder) if folder.exists() else name
        self._commit = None if folder.exists() else find_commit(name, place=str(self))
        self._config = self._load(self._library.AutoConfig)
        self._processor = self._load(self._library.AutoProcessor)
        self._tokenizer = getattr(self._processor, "tokenizer", self._processor)
        if self._tokenizer.pad_token_id is None:
            self._tokenizer.pad_token = self._tokenizer.eos_token
        self._check_template()

    def __str__(self) -> str:
        return f"judge 'local:{self.name}'"

    @cached_property
    def fingerprint(self) -> str:
        """The commit on the Hub, or the SHA-256 of all files of the folder."""
        return self._commit or digest_folder(Path(self._source))

    @cached_property
    def model(self) -> Any:
        """The weights on the device; a `ValueError` where they cannot be had in full."""
        sees = type(self._config) in self._library.MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING
        kind = "AutoModelForImageTextToText" if sees else "AutoModelForCausalLM"
        model, loaded = self._load(
            getattr(self._library, kind), dtype=self.dtype, output_loading_info=True
        )
        if missing := sorted(loaded["missing_keys"]):
            raise ValueError(
                f"{self}: {len(missing)} of the model's weights are missing, such as "
                f"{missing[0]!r}: fetch or save the checkpoint anew"
            )
        return self._placed(model)

    @cached_property
    def ends(self) -> frozenset[int]:
        """The tokens that end an answer."""
        ends = self.model.generation_config.eos_token_id
        return frozenset([ends] if isinstance(ends, int) else ends or [])

    def slot(self, text: str) -> tuple[list[int], list[int]]:
        """Return the tokens before a score that follows `text`, and the five tokens it can be.

        Raises
        ------
        ValueError
            Where a score is not one token of its own.
        """
        spelled = [self.spell(f"{text}{score}") for score in _SCORES]
        before, last = spelled[0][:-1], [tokens[-1] for tokens in spelled]
        for score, tokens in zip(_SCORES, spelled, strict=True):
            if tokens[:-1] != before or last.count(tokens[-1]) > 1:
                raise ValueError(
                    f"{self}: each score from {LOWEST} to {HIGHEST} must be one token of its own "
                    f"after {text!r}, but {score} is not: choose a model that spells digits singly"
                )
        return before, last

    def spell(self, text: str) -> list[int]:
        """Return the tokens of a text that stands inside a longer one."""
        # At the very start some tokenizers add a space: hence the line before it.
        line, after_line = self._encode("\n"), self._encode(f"\n{text}")
        if after_line[: len(line)] == line:
            return after_line[len(line) :]
        return self._encode(text)

    def write(self, system: str, prompt: str) -> str:
        """Write the conversation up to where the answer starts, past a thought that it opens."""
        return close_thought(self._conversation(system, prompt, picture=self._vision))

    @cached_property
    def closes_thoughts(self) -> bool:
        """Whether the template opens a thought, which is closed before the answer."""
        opened = self._conversation("", "", picture=False)
        return close_thought(opened) != opened

    def decode(self, tokens: Sequence[int]) -> str:
        """Return the text of some tokens of an answer; of special ones only marks of thoughts."""
        parts = groupby(tokens, key=lambda token: self._marks.get(token, ""))
        return "".join(mark * len([*some]) if mark else self._text(some) for mark, some in parts)

    def _text(self, tokens: Iterable[int]) -> str:
        text: str = self._tokenizer.decode(
            [*tokens], skip_special_tokens=True, clean_up_tokenization_spaces=False
        )
        return text

    @cached_property
    def _marks(self) -> dict[int, str]:
        special = zip(
            self._tokenizer.all_special_ids, self._tokenizer.all_special_tokens, strict=True
        )
        return {token: text for token, text in special if marks_thought(text)}

    def read(
        self, texts: Sequence[Sequence[str]], images: Sequence[bytes | None], *, room: int
    ) -> Context:
        """Make one row of each text; what those about one image have in common is read once.

        Parameters
        ----------
        texts : sequence of sequences of str
            For each image, all that is asked about it.
        images : sequence of bytes or None
            PNG, or None for a judge that sees none.
        room : int
            Tokens that the answer may take.

        Raises
        ------
        ValueError
            For an image that cannot be read, and for more tokens than the model can take.
        """
        heads, beside = self._process([mine[0] for mine in texts], images)
        tails = [
            self._tails(mine, head["input_ids"].tolist())
            for mine, head in zip(texts, heads, strict=True)
        ]
        if not all(tails):
            each = [image for image, mine in zip(images, texts, strict=True) for _ in mine]
            return self.read([[text] for mine in texts for text in mine], each, room=room)
        self._check_length(heads, tails, room)
        if all(len(mine) == 1 for mine in tails):
            return self._context(heads, beside)
        common = [
            {name: row[: len(row) - len(mine[0])] for name, row in head.items()}
            for head, mine in zip(heads, tails, strict=True)
        ]
        return self._branch(self._context(common, beside), tails)

    def extend(self, context: Context, tails: Sequence[Sequence[int]]) -> Context:
        """Append tokens to each row, which are not in the cache yet."""
        added = self._context([{"input_ids": context.ids.new_tensor(tail)} for tail in tails], {})
        beside = {
            name: self._joined(value, self._torch.zeros_like(added.ids))
            if value.shape == context.ids.shape
            else value
            for name, value in context.beside.items()
        }
        return replace(
            context,
            ids=self._joined(context.ids, added.ids),
            mask=self._joined(context.mask, added.mask),
            beside=beside,
        )

    def generate(self, context: Context, *, most: int, **controls: Any) -> Generated:
        """Continue each row by at most so many tokens, each the most probable one."""
        settings = self._library.GenerationConfig(
            max_new_tokens=most,
            do_sample=False,
            return_dict_in_generate=True,
            output_logits=most == 1,  # of a long answer they would fill the memory
        )
        cached = {} if context.cache is None else {self._cache_name: context.cache}
        output = self.model.generate(
            input_ids=context.ids,
            attention_mask=context.mask,
            generation_config=settings,
            **context.beside,
            **cached,
            **controls,
        )
        tokens = output.sequences[:, context.ids.shape[1] :]
        seen = self._joined(context.mask, self._torch.ones_like(tokens[:, :-1]))
        read = Context(output.sequences[:, :-1], seen, cache=output[self._cache_name])
        return Generated(tokens, output.logits[0] if most == 1 else None, read)

    def clear(self) -> None:
        """Give unused memory of the device back."""
        if self.device.type == "cuda":
            self._torch.cuda.empty_cache()

    def _load(self, kind: Any, **settings: Any) -> Any:
        if self._commit is not None:
            settings["revision"] = self._commit
        return load_pretrained(kind, self._source, place=str(self), **settings)

    def _placed(self, model: Any) -> Any:
        try:
            model = model.to(self.device).eval()
        except RuntimeError as error:
            raise ValueError(
                f"{self}: does not fit on {self.device}: {first_line(error)} (Choose a smaller "
                "model, or another device by TIMEVISTA_DEVICE.)"
            ) from error
        ends = model.generation_config.eos_token_id
        # What else a checkpoint sets, such as a repetition penalty, would bend the choice.
        model.generation_config = self._library.GenerationConfig(
            eos_token_id=self._tokenizer.eos_token_id if ends is None else ends,
            pad_token_id=self._pad,
        )
        return model

    @cached_property
    def _cache_name(self) -> str:
        # transformers 5 renames it on the way.
        return "cache" if "cache" in signature(self.model.forward).parameters else "past_key_values"

    def _check_template(self) -> None:
        if not getattr(self._processor, "chat_template", None):
            raise ValueError(f"{self}: has no chat template: choose a model tuned for conversation")
        failures = (import_module("jinja2").TemplateError, TypeError)
        self._system_role = True
        try:
            self._system_role = "(system)" in self._conversation("(system)", "", picture=False)
        except failures:
            self._system_role = False
        try:
            plain, seeing = (self._conversation("", "", picture=p) for p in (False, True))
        except failures as error:
            raise ValueError(
                f"{self}: the chat template fails on a question: {first_line(error)}"
            ) from error
        if self._vision and plain == seeing:
            raise ValueError(
                f"{self}: the model has no place for an image: choose one that sees, or let it "
                "read the numbers by modality 'text'"
            )

    def _conversation(self, system: str, prompt: str, *, picture: bool) -> str:
        # Some templates know no system role, and some drop it without a word.
        said = prompt if self._system_role else f"{system}\n\n{prompt}"
        messages = [{"role": "user", "content": self._content(said, picture)}]
        if self._system_role:
            messages.insert(0, {"role": "system", "content": self._content(system, False)})
        text: str = self._processor.apply_chat_template(
            messages, tokenize=False, add_generation_prompt=True
        )
        return text

    def _content(self, text: str, picture: bool) -> str | list[dict[str, str]]:
        if self._processor is self._tokenizer:
            return text
        return [{"type": "image"}] * picture + [{"type": "text", "text": text}]

    def _encode(self, text: str, *, special: bool = False) -> list[int]:
        tokens: list[int] = self._tokenizer(text, add_special_tokens=special)["input_ids"]
        return tokens

    def _special(self, text: str) -> bool:
        """Tell whether the template has left the first token to the tokenizer."""
        first = self._tokenizer.bos_token
        return self._processor is not self._tokenizer and not (first and text.startswith(first))

    def _process(
        self, texts: Sequence[str], images: Sequence[bytes | None]
    ) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        """Return what goes along with each row's tokens, and what there is beside them."""
        settings = {
            "padding": True,
            "return_tensors": "pt",
            "add_special_tokens": self._special(texts[0]),
        }
        if self._vision:
            pictures = [[open_image(image)] for image in images]
            found = self._processor(images=pictures, text=list(texts), **settings)
        else:
            found = self._tokenizer(list(texts), return_token_type_ids=False, **settings)
        inputs = {name: self._moved(value) for name, value in found.items()}
        mask = inputs.pop("attention_mask").bool()
        along = [name for name, value in inputs.items() if value.shape == mask.shape]
        rows = [{name: inputs[name][row][mask[row]] for name in along} for row in range(len(mask))]
        return rows, {name: value for name, value in inputs.items() if name not in along}

    def _moved(self, value: Any) -> Any:
        return value.to(self.device, self.dtype if value.is_floating_point() else None)

    def _tails(self, texts: Sequence[str], tokens: list[int]) -> list[list[int]]:
        """Return each text's tokens from where they differ; none where the image comes later."""
        if len(texts) == 1:
            return [tokens[-1:]]
        special = self._special(texts[0])
        plain = [self._encode(text, special=special) for text in texts]
        common = _common(plain)
        tails = [one[common:] for one in plain]
        holder = getattr(self._config, "image_token_id", None)
        whole = tokens[-len(tails[0]) :] == tails[0] and len(tokens) > len(tails[0])
        return tails if whole and not any(holder in tail for tail in tails) else []

    def _check_length(
        self, heads: list[dict[str, Any]], tails: list[list[list[int]]], room: int
    ) -> None:
        most = getattr(self._config.get_text_config(), "max_position_embeddings", None)
        for head, mine in zip(heads, tails, strict=True):
            asked = len(head["input_ids"]) - len(mine[0]) + max(map(len, mine))
            if most is not None and asked + room > most:
                raise ValueError(
                    f"the question takes {asked} tokens and the answer up to {room}, but the "
                    f"model takes {most} together"
                )

    def _branch(self, common: Context, tails: list[list[list[int]]]) -> Context:
        """Read what is common once, and go on with a row for each tail."""
        read = self.generate(common, most=1).read
        origin = [index for index, mine in enumerate(tails) for _ in mine]
        rows = self._torch.tensor(origin, device=self.device)
        read.cache.batch_select_indices(rows)
        for module in self.model.modules():
            # Qwen's models keep in themselves how far an image has shifted each row's positions.
            if getattr(module, "rope_deltas", None) is not None:
                module.rope_deltas = module.rope_deltas[rows]
        branched = replace(read, ids=read.ids[rows], mask=read.mask[rows])
        return self.extend(branched, [tail for mine in tails for tail in mine])

    def _context(self, rows: Sequence[Mapping[str, Any]], beside: Mapping[str, Any]) -> Context:
        longest = max(len(row["input_ids"]) for row in rows)
        padded: dict[str, Any] = {
            name: self._stacked([row[name] for row in rows], longest) for name in rows[0]
        }
        ids = padded.pop("input_ids")
        mask = self._stacked([self._torch.ones_like(row["input_ids"]) for row in rows], longest)
        ids = ids.masked_fill(mask == 0, self._pad)
        return Context(ids, mask, beside={**beside, **padded})

    def _stacked(self, rows: Sequence[Any], longest: int) -> Any:
        pad = self._torch.nn.functional.pad
        return self._torch.stack([pad(row, (longest - len(row), 0)) for row in rows])

    def _joined(self, left: Any, right: Any) -> Any:
        return self._torch.cat([left, right], dim=1)

    @property
    def _pad(self) -> int:
        token: int | None = self._tokenizer.pad_token_id
        return 0 if token is None else token


def _common(rows: Sequence[Sequence[int]]) -> int:
    """Count the tokens that all rows begin with, leaving at least one of each."""
    steps = enumerate(zip(*rows, strict=False))
    apart = (place for place, tokens in steps if len(set(tokens)) > 1)
    return next(apart, min(map(len, rows)) - 1)
