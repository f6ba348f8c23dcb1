"""Tell an answer from the thoughts before it: what a model thinks is a draft and never read."""

from __future__ import annotations

import json
import re

_NAMES = (
    r"(?:think|thinking|thoughts?|reasoning|reflection|scratchpad|(?:inner|internal)_monologue)"
)
_BEGINS = (
    rf"<(?:\w+:)?{_NAMES}(?:\s[^<>]*)?>",  # DeepSeek, Qwen, GLM; seed:think of Seed
    rf"\[{_NAMES}\]",  # Magistral
    rf"◁{_NAMES}▷",  # Kimi
    rf"<\|(?:(?:begin|start)_(?:of_)?)?{_NAMES}\|>",  # Command A, OpenThinker
    r"<\|inner_prefix\|>",  # Apertus
    r"<unused94>",  # MedGemma
    r"<\|channel>",  # Gemma 4
    r"<\|channel\|>(?!\s*final)",  # the channels of gpt-oss
    r"\Aanalysis(?-i:(?=[A-Z]))",  # the same where a server has dropped the marks
    r"\A\s*here(?:'s| is) my (?:thought|thinking) process:",  # Granite
)
_ENDS = (
    rf"</(?:\w+:)?{_NAMES}>",
    rf"\[/{_NAMES}\]",
    rf"◁/{_NAMES}▷",
    rf"<\|(?:end_(?:of_)?|/){_NAMES}\|>",
    r"<\|inner_suffix\|>",
    r"<unused95>",
    r"<channel\|>",
    r"<\|channel\|>\s*final[^{}]{0,80}?<\|message\|>",
    r"(?-i:assistantfinal)",
    r"here(?:'s| is) my response:",
)
_MARK = re.compile(f"(?P<end>{'|'.join(_ENDS)})|(?P<begin>{'|'.join(_BEGINS)})", re.IGNORECASE)
_OPEN = re.compile(rf"(<(?:\w+:)?|\[|◁)({_NAMES})([>\]▷])\s*\Z", re.IGNORECASE)


def cut_thoughts(reply: str) -> str:
    """Return a reply without what the model thought, whatever marks it.

    A thought that begins and does not end takes all that follows, and an end without a beginning
    all that comes before: templates often begin the thought in the prompt. Marks in the strings of
    a reply that is one piece of JSON are text.

    Examples
    --------
    >>> cut_thoughts('<think>A 3? {"score": 3}</think>{"score": 4}')
    '{"score": 4}'
    >>> cut_thoughts('[THINK]A 3? {"score": 3}')
    ''
    """
    if not _MARK.search(reply) or _marks_are_text(reply):
        return reply
    kept: list[str] = []
    start, thinking = 0, False
    for mark in _MARK.finditer(reply):
        if mark["end"] is not None:
            if not thinking:
                kept.clear()
            start, thinking = mark.end(), False
        elif not thinking:
            kept.append(reply[start : mark.start()])
            thinking = True
    if not thinking:
        kept.append(reply[start:])
    # With a space between them, two numbers do not become one.
    return " ".join(part for part in kept if part.strip())


def beside_thoughts(reply: str) -> str:
    """Quote the start of a reply for an error, and say where thoughts are not quoted.

    Examples
    --------
    >>> beside_thoughts("<think>It rises.</think>No verdict.")
    " beside the model's thoughts: 'No verdict.'"
    """
    answer = cut_thoughts(reply)
    where = "" if answer == reply else " beside the model's thoughts"
    return f"{where}: {answer[:80]!r}"


def close_thought(prompt: str) -> str:
    """Return a prompt whose end is no open thought, so that what follows is the answer.

    Examples
    --------
    >>> close_thought("assistant: <think>").split()
    ['assistant:', '<think>', '</think>']
    """
    opened = _OPEN.search(prompt)
    if opened is None:
        return prompt
    bracket, name, closing = opened.groups()
    return f"{prompt}\n{bracket[0]}/{bracket[1:]}{name}{closing}\n\n"


def marks_thought(text: str) -> bool:
    """Say whether a text is a mark of thoughts and nothing else.

    Examples
    --------
    >>> marks_thought("[/THINK]"), marks_thought("</s>")
    (True, False)
    """
    return _MARK.fullmatch(text) is not None


def _marks_are_text(reply: str) -> bool:
    opening, closing = re.search(r"[{\[]", reply), max(reply.rfind("}"), reply.rfind("]"))
    if opening is None or _MARK.search(reply, 0, opening.start()) or _MARK.search(reply, closing):
        return False
    try:
        json.loads(reply[opening.start() : closing + 1])
    except (ValueError, RecursionError):
        return False
    return True
