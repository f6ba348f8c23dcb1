"""Short names of judges, as data: what provider they are at, and under which model id."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from timevista_hf.judges._options import JudgeOptions
from timevista_hf.loading.known import check_known

_SHIPPED = Path(__file__).with_name("presets.json")
_VARIABLE = "TIMEVISTA_PRESETS"
_FAMILIES = ("openai", "anthropic", "gemini", "hf", "server")


@dataclass(frozen=True, kw_only=True)
class Preset:
    """A judge under a short name.

    Parameters
    ----------
    family : str
    model : str
        As the provider spells it.
    base_url, key : str, optional
        Address, and the environment variable of the key, where the family is ``"server"``.
    options : JudgeOptions
        How the model is asked, unless it is said where the judge is made.
    """

    family: str
    model: str
    base_url: str = ""
    key: str = ""
    options: JudgeOptions = field(default_factory=JudgeOptions)


def load_presets() -> dict[str, Preset]:
    """Load the shipped presets, and over them those of the file that TIMEVISTA_PRESETS names.

    Raises
    ------
    ValueError
        For a file that cannot be read, or an entry that is no preset.

    Examples
    --------
    >>> load_presets()["claude-sonnet-4.6"].model
    'claude-sonnet-4-6'
    """
    presets = _read(_SHIPPED)["judges"]
    if own := os.environ.get(_VARIABLE):
        presets |= _read(Path(own)).get("judges", {})
    return {name: _preset(name, entry) for name, entry in presets.items()}


def thinks(model: str) -> bool:
    """Say whether a model is known to think before it answers, or says so in its name.

    Examples
    --------
    >>> thinks("gpt-5.4"), thinks("Qwen/Qwen3-VL-8B-Thinking"), thinks("gpt-4o")
    (True, True, False)
    """
    starts: Sequence[str] = _read(_SHIPPED)["thinking"]
    name = model.rpartition("/")[2].lower()
    return name.startswith(tuple(starts)) or "think" in name or "reason" in name


def _read(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ValueError(f"{path}: cannot be read as presets: {error}") from error
    if not isinstance(content, dict) or not isinstance(content.get("judges", {}), dict):
        raise ValueError(f"{path}: presets must be a mapping with `judges`")
    return content


def _preset(name: str, entry: Any) -> Preset:
    try:
        preset = _made(entry)
    except (TypeError, ValueError) as error:
        raise ValueError(f"preset {name!r}: {error}") from error
    if preset.family not in _FAMILIES:
        raise ValueError(
            f"preset {name!r}: `family` must be one of {', '.join(_FAMILIES)}, "
            f"got {preset.family!r}"
        )
    if preset.family == "server" and not preset.base_url:
        raise ValueError(f"preset {name!r}: a server needs `base_url`")
    return preset


def _made(entry: Any) -> Preset:
    if not isinstance(entry, dict) or not {"family", "model"} <= set(entry):
        raise ValueError("must have `family` and `model`")
    options = [one.name for one in fields(JudgeOptions)]
    own = [one.name for one in fields(Preset) if one.name != "options"]
    for name in entry:
        check_known("field", name, [*own, *options])
        if name in own and not isinstance(entry[name], str):
            raise ValueError(f"`{name}` must be a text, got {entry[name]!r}")
    chosen = JudgeOptions(**{name: entry[name] for name in options if name in entry})
    return Preset(**{name: entry[name] for name in own if name in entry}, options=chosen)
