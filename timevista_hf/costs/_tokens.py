"""Tokens of pictures, by each provider's own formula, and of texts, by their characters."""

from __future__ import annotations

import math
import re
import string
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from typing import Literal, get_args

from timevista_hf.loading.known import check_known

MediaResolution = Literal["low", "medium", "high", "ultra_high"]

UNKNOWN_RULE = "one token a patch of 28×28 pixels"


@dataclass(frozen=True)
class ImageTokens:
    """Tokens that a picture is billed as.

    Parameters
    ----------
    tokens : int
    rule : str
        The formula, named by a model it holds for, or in words where none is known.
    known : bool
        False where the model's formula is not known, and `rule` was assumed.
    """

    tokens: int
    rule: str
    known: bool


def image_tokens(
    model: str, width: int, height: int, *, media_resolution: MediaResolution = "high"
) -> ImageTokens:
    r"""Count the tokens of one picture, sent in full detail.

    With sides :math:`w, h` in pixels, after the provider's own shrinking of large pictures:

    - OpenAI since GPT-5.2, and its small models: :math:`\lceil m \lceil w/32 \rceil \lceil h/32
      \rceil \rceil` with a multiplier :math:`m` and at most 1,536 or 2,500 patches;
    - GPT-4o, GPT-4.1, GPT-5 and o3: :math:`a + b \lceil w/512 \rceil \lceil h/512 \rceil`;
    - Claude: :math:`\lceil w/28 \rceil \lceil h/28 \rceil`, at most 1,568, since 4.7 at most 4,784;
    - Gemini 3 and later: the cap of the media resolution, 280 to 2,240, which is nearly reached
      whatever the size; Gemini 2: 258 a tile of about two thirds of the shorter side;
    - Qwen2-VL, Qwen2.5-VL: sides rounded to 28 pixels, a token each 28×28; Qwen3-VL: 32.

    A model without a known formula is counted as `UNKNOWN_RULE`, and flagged.

    Parameters
    ----------
    model : str
        A judge (``"openai:gpt-5.4"``), a model, or a provider for its current models.
    width, height : int
        Of the picture in pixels, ≥ 1.
    media_resolution : {"low", "medium", "high", "ultra_high"}
        What Gemini is asked for; the others ignore it.

    Raises
    ------
    ValueError
        For a side below 1, or an unknown media resolution.

    Examples
    --------
    >>> image_tokens("anthropic:claude-sonnet-4.6", 1200, 500).tokens
    774
    >>> image_tokens("my-own-model", 1200, 500).known
    False
    """
    for name, side in (("width", width), ("height", height)):
        if side < 1:
            raise ValueError(f"`{name}` must be at least 1 pixel, got {side!r}")
    check_known("media resolution", media_resolution, get_args(MediaResolution))
    return tokens_by_rule(rule_of(model), width, height, media_resolution)


@lru_cache(maxsize=1024)
def tokens_by_rule(
    rule: str | None, width: int, height: int, media_resolution: MediaResolution = "high"
) -> ImageTokens:
    """Count by a named rule of `IMAGE_RULES`; None is the assumed one."""
    if rule is None:
        return ImageTokens(math.ceil(width / 28) * math.ceil(height / 28), UNKNOWN_RULE, False)
    if rule == "gemini-3":
        return ImageTokens(_GEMINI_CAPS[media_resolution], rule, True)
    return ImageTokens(IMAGE_RULES[rule](width, height), rule, True)


def text_tokens(text: str) -> int:
    """Estimate the tokens of a text from its characters, without a tokenizer.

    Four letters or spaces make a token, two digits or signs, and one character beyond ASCII:
    English prose comes out as the usual quarter of its length, a list of numbers as half of it,
    as today's tokenizers cut them. Expect an error of a quarter; `calibrate` removes it.

    Returns
    -------
    int
        Rounded up; 0 for an empty text.

    Examples
    --------
    >>> text_tokens("the same slope as before")
    6
    >>> text_tokens("12.5, 13.75")
    6
    """
    plain = text.encode("ascii", "ignore")
    dense = len(plain.translate(None, _LETTERS))
    return math.ceil((len(plain) - dense) / 4 + dense / 2 + (len(text) - len(plain)))


@lru_cache(maxsize=256)
def rule_of(model: str) -> str | None:
    """Return the rule that a judge's, model's or provider's name stands for; None if unknown."""
    name = model.lower().rpartition("#")[2].rstrip("/").rpartition("/")[2]
    family, colon, rest = name.partition(":")
    name = rest if colon and family in _FAMILIES else name
    claude = _CLAUDE.match(name)
    if claude:
        version = (int(claude[1]), int(claude[2] or 0))
        return "claude-high-resolution" if version >= (4, 7) else "claude"
    return next((rule for pattern, rule in _MODELS if re.match(pattern, name)), None)


def _patches(width: int, height: int, *, multiplier: str, most: int) -> int:
    """Count 32-pixel patches; too many are shrunk until whole patches fill one side."""
    patches = math.ceil(width / 32) * math.ceil(height / 32)
    if patches > most:
        columns, rows = math.isqrt(most * width // height), math.isqrt(most * height // width)
        scale = min(Fraction(32 * columns, width), Fraction(32 * rows, height))
        patches = _covering(width, height, scale, 32)
    return math.ceil(patches * Fraction(multiplier))


def _tiles(width: int, height: int, *, base: int, tile: int, enlarge: bool = False) -> int:
    """Count 512-pixel tiles after shrinking to 2,048 pixels and the shorter side to 768."""
    scale = min(Fraction(2048, max(width, height)), Fraction(768, min(width, height)))
    scale = scale if enlarge else min(scale, Fraction(1))
    return base + tile * _covering(width, height, scale, 512)


def _claude(width: int, height: int, *, edge: int, most: int) -> int:
    """Count 28-pixel patches of the largest size with both sides and the count within bounds."""
    side = edge // 28
    scale = max(
        min(Fraction(28 * columns, width), Fraction(28 * min(side, most // columns), height))
        for columns in range(1, side + 1)
    )
    return _covering(width, height, min(scale, Fraction(1)), 28)


def _gemini_2(width: int, height: int) -> int:
    if max(width, height) <= 384:
        return 258
    unit = min(max(math.floor(min(width, height) / 1.5), 256), 768)
    return 258 * math.ceil(width / unit) * math.ceil(height / unit)


def _qwen(width: int, height: int, *, factor: int, least: int, most: int) -> int:
    columns, rows = max(1, round(width / factor)), max(1, round(height / factor))
    if columns * rows * factor**2 > most:
        shrink = math.sqrt(width * height / most) * factor
        columns, rows = max(1, int(width / shrink)), max(1, int(height / shrink))
    elif columns * rows * factor**2 < least:
        grow = math.sqrt(least / (width * height)) / factor
        columns, rows = math.ceil(width * grow), math.ceil(height * grow)
    return columns * rows


def _covering(width: int, height: int, scale: Fraction, side: int) -> int:
    """Count the squares that cover a scaled picture, at least one."""
    return max(1, math.ceil(width * scale / side)) * max(1, math.ceil(height * scale / side))


_LETTERS = (string.ascii_letters + string.whitespace).encode()

_FAMILIES = ("openai", "anthropic", "gemini", "hf", "server", "local")

_GEMINI_CAPS = {"low": 280, "medium": 560, "high": 1120, "ultra_high": 2240}

# Multipliers and bases as measured where measurements and documentation differ.
IMAGE_RULES: dict[str, Callable[[int, int], int]] = {
    "gpt-5.4": partial(_patches, multiplier="1.2", most=2500),
    "gpt-5-mini": partial(_patches, multiplier="1.2", most=1536),
    "gpt-5-nano": partial(_patches, multiplier="1.5", most=1536),
    "gpt-4.1-mini": partial(_patches, multiplier="1.62", most=1536),
    "gpt-4.1-nano": partial(_patches, multiplier="2.46", most=1536),
    "o4-mini": partial(_patches, multiplier="1.72", most=1536),
    "gpt-4o": partial(_tiles, base=85, tile=170),
    "gpt-4o-enlarged": partial(_tiles, base=85, tile=170, enlarge=True),
    "gpt-4o-mini": partial(_tiles, base=2833, tile=5667),
    "gpt-5": partial(_tiles, base=70, tile=140),
    "o3": partial(_tiles, base=75, tile=150),
    "claude": partial(_claude, edge=1568, most=1568),
    "claude-high-resolution": partial(_claude, edge=2576, most=4784),
    "gemini-2": _gemini_2,
    "gemini-3": lambda width, height: _GEMINI_CAPS["high"],
    "qwen2-vl": partial(_qwen, factor=28, least=56 * 56, most=28 * 28 * 1280),
    "qwen3-vl": partial(_qwen, factor=32, least=65536, most=16777216),
}

_CLAUDE = re.compile(r"claude-(?:[a-z]+-)?(\d{1,2})(?:[.-](\d{1,2}))?(?!\d)")

_MODELS = (
    (r"gpt-(5[.-][2-9]|[6-9])(?!\d)|openai$", "gpt-5.4"),
    (r"gpt-5-mini", "gpt-5-mini"),
    (r"gpt-5-nano", "gpt-5-nano"),
    (r"gpt-5", "gpt-5"),
    (r"gpt-4[.-]1-mini", "gpt-4.1-mini"),
    (r"gpt-4[.-]1-nano", "gpt-4.1-nano"),
    (r"gpt-4o-mini", "gpt-4o-mini"),
    (r"gpt-4(o|[.-]1|[.-]5)(?!\d)", "gpt-4o"),
    (r"o4-mini|codex-mini", "o4-mini"),
    (r"o3(?!-mini)", "o3"),
    (r"(claude|anthropic)$", "claude-high-resolution"),
    (r"gemini-[12](?!\d)", "gemini-2"),
    (r"gemini", "gemini-3"),
    (r"qwen2([.-]5)?-?vl", "qwen2-vl"),
    (r"qwen3-?vl|qwen$", "qwen3-vl"),
)
