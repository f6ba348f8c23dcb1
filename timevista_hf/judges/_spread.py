"""The expected score: what the probabilities of the verdict's one token say."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from timevista_hf.rubrics import HIGHEST, LOWEST, cut_thoughts, whole_number

LEAST_MASS = 0.5  # below it the model was about to write something else


class Token(NamedTuple):
    """A token of a reply: its UTF-8 bytes, and the likeliest texts at its place."""

    spelling: bytes
    likeliest: Sequence[tuple[str, float | None]]  # text, log probability


class Spread(NamedTuple):
    """Expected score, 1 to 5, and the probability mass it rests on; None where unknown."""

    expected: float | None
    mass: float | None


UNKNOWN = Spread(None, None)


def spread_of(text: str, tokens: Iterable[Token]) -> Spread:
    """Average the scale over the token of the verdict's score, and only that token.

    Digits in the rationale, in thoughts, in objects before the last one, and in nested ones do not
    count. The expectation is None where less than half of the probability lies on the scale.
    Probabilities that are missing, or in a form that no one knows, cost the expectation alone.

    Examples
    --------
    >>> said = [Token(b'{"score": ', []), Token(b"4", [("4", math.log(0.6)), ("2", math.log(0.2))])]
    >>> spread = spread_of('{"score": 4}', [*said, Token(b"}", [])])
    >>> round(spread.expected, 6), round(spread.mass, 6)
    (3.5, 0.8)
    """
    found = _verdict(cut_thoughts(text))
    if found is None:
        return UNKNOWN
    written, offset, score = found
    try:
        token = _token_at([*tokens], written.encode("utf-8", "surrogatepass"), offset)
        if token is None or token.spelling.strip() != str(score).encode():
            return UNKNOWN
        return _average(token.likeliest)
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError):
        return UNKNOWN


def _verdict(text: str) -> tuple[str, int, int] | None:
    """Find the last object as it is written, the byte where its score stands, and the score."""
    decoder, found = json.JSONDecoder(), None
    start = text.find("{")
    while start >= 0:
        try:
            value, stop = decoder.raw_decode(text, start)
            found = (value, text[start:stop])
        except (ValueError, RecursionError):
            stop = start + 1
        start = text.find("{", stop)
    if found is None:
        return None
    value, written = found
    places = list(_SCORE.finditer(written))
    score = whole_number(value.get("score"))
    if len(places) != 1 or score is None or not LOWEST <= score <= HIGHEST:
        return None
    [place] = places
    return written, len(written[: place.start(1)].encode("utf-8", "surrogatepass")), score


def _token_at(tokens: list[Token], written: bytes, offset: int) -> Token | None:
    place = b"".join(token.spelling for token in tokens).rfind(written) + offset
    if place < offset:
        return None
    for token in tokens:
        place -= len(token.spelling)
        if place < 0:
            return token
    return None


def _average(likeliest: Sequence[tuple[str, float | None]]) -> Spread:
    masses = dict.fromkeys(range(LOWEST, HIGHEST + 1), 0.0)
    for text, log_probability in likeliest:
        stripped = text.strip()
        if log_probability is None or not log_probability < 0.01:  # missing, NaN, no logarithm
            continue
        if len(stripped) == 1 and stripped in _DIGITS:
            masses[int(stripped)] += math.exp(log_probability)
    total = math.fsum(masses.values())
    if total > 1.05:  # these are no probabilities
        return UNKNOWN
    mass = min(1.0, total)
    if mass < LEAST_MASS:
        return Spread(None, mass)
    return Spread(math.fsum(score * part for score, part in masses.items()) / total, mass)


_SCORE = re.compile(r'"score"\s*:\s*(\d)')
_DIGITS = "".join(str(score) for score in range(LOWEST, HIGHEST + 1))
