"""Judges: who reads a case with a rubric and says how good it is."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from timevista_hf.judges._base import Judge, Reply, Request
from timevista_hf.judges._options import JudgeOptions
from timevista_hf.judges._presets import Preset, load_presets
from timevista_hf.judges._store import Store
from timevista_hf.loading.known import nearest

__all__ = [
    "Judge",
    "JudgeOptions",
    "Reply",
    "Request",
    "Store",
    "list_judges",
    "list_presets",
    "load_judge",
]


def load_judge(name: str, *, options: JudgeOptions | None = None) -> Judge:
    """Make the judge of that name.

    Parameters
    ----------
    name : str
        A judge of `list_judges`, a preset of `list_presets`, or a family and a model:
        ``openai:MODEL``, ``anthropic:MODEL``, ``gemini:MODEL``, ``hf:MODEL`` (Hugging Face
        Inference Providers), ``server:URL#MODEL`` (vLLM, llama.cpp, Ollama), ``local:MODEL`` (a
        folder or an id on the Hub, run by transformers).
    options : JudgeOptions, optional
        How a model is asked, also in place of what a preset says; the judges that are no models
        have none.

    Raises
    ------
    ValueError
        For an unknown name; the message has the nearest known one. Also where an optional package
        is not installed. A key is taken from the environment when the first question is asked.

    Examples
    --------
    >>> load_judge("builtin").name
    'builtin'
    """
    if name in _JUDGES:
        return _make(_JUDGES[name])
    presets = load_presets()
    family, _, model = name.partition(":")
    preset = presets.get(model if model else name)
    if preset is not None and family in (preset.family, name):
        return _from_preset(name, preset, options)
    if family not in _FAMILIES or not model:
        raise ValueError(_unknown(name, presets))
    if family == "local":
        return _make(_FAMILIES[family], model, options or JudgeOptions())
    return _make(_FAMILIES[family], model, options, name=name)


def list_judges() -> list[str]:
    """List the names of the judges that need no model.

    Examples
    --------
    >>> list_judges()
    ['builtin', 'mock']
    """
    return list(_JUDGES)


def list_presets() -> list[str]:
    """List the short names of hosted models, as `load_judge` takes them.

    Examples
    --------
    >>> list_presets()[:2]
    ['gpt-5.4', 'claude-sonnet-4.6']
    """
    return list(load_presets())


def _from_preset(name: str, preset: Preset, options: JudgeOptions | None) -> Judge:
    make = _FAMILIES[preset.family]
    options = (options or JudgeOptions()).over(preset.options)
    if preset.family != "server":
        return _make(make, preset.model, options, name=name)
    key = {"key": preset.key, "needed": True} if preset.key else {}
    return _make(make, f"{preset.base_url}#{preset.model}", options, name=name, **key)


def _make(home: tuple[str, str], *arguments: Any, **named: Any) -> Judge:
    module, maker = home
    make: Callable[..., Judge] = getattr(import_module(module), maker)
    return make(*arguments, **named)


def _unknown(name: str, presets: dict[str, Preset]) -> str:
    family, colon, model = name.partition(":")
    if colon and family in _FAMILIES:
        return f"judge {name!r}: must name a model, as {family}:MODEL"
    known = [*_JUDGES, *presets, *_FAMILIES]
    meant = nearest(family, known)
    if meant in _FAMILIES:
        meant = f"{meant}:{model or 'MODEL'}"
    hint = f"; did you mean {meant!r}?" if meant else "."
    listed = ", ".join([*_JUDGES, *presets, *(f"{one}:MODEL" for one in _FAMILIES)])
    return f"unknown judge {name!r}{hint} Known: {listed}"


_JUDGES = {
    "builtin": ("timevista_hf.judges.builtin", "BuiltinJudge"),
    "mock": ("timevista_hf.judges.mock", "MockJudge"),
}
_FAMILIES = {
    "openai": ("timevista_hf.judges.openai", "OpenAIJudge"),
    "anthropic": ("timevista_hf.judges.anthropic", "AnthropicJudge"),
    "gemini": ("timevista_hf.judges.gemini", "GeminiJudge"),
    "hf": ("timevista_hf.judges.openai", "router_judge"),
    "server": ("timevista_hf.judges.openai", "server_judge"),
    "local": ("timevista_hf.judges.transformers", "TransformersJudge"),
}
