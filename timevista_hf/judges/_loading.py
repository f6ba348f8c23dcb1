"""Loading what a local judge needs, and saying what to do where it cannot be had."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from io import BytesIO
from pathlib import Path
from types import ModuleType
from typing import Any

_PIP = "pip install 'timevista-hf[local]'"
_BLOCK = 1 << 20  # bytes hashed at once


def find_commit(name: str, *, place: str) -> str:
    """Return the commit that a repository of the Hub, or its copy in the cache, stands at.

    Raises
    ------
    ValueError
        Where it cannot be reached; the message says what to do.
    """
    with _explained(name, place):
        config = import_module("huggingface_hub").hf_hub_download(name, "config.json")
    return Path(config).parent.name  # the cache is laid out as snapshots/COMMIT/FILE


def load_pretrained(kind: Any, source: str, *, place: str, **settings: Any) -> Any:
    """Call `from_pretrained` of a class of transformers; code from the checkpoint is never run.

    Raises
    ------
    ValueError
        Where it fails, for whatever reason; the message says what to do.
    """
    with _explained(source, place):
        return kind.from_pretrained(source, trust_remote_code=False, **settings)


def first_line(error: BaseException) -> str:
    """Return the first line of an error's message, as a sentence."""
    text = str(error).strip().partition("\n")[0] or type(error).__name__
    return text if text.endswith((".", "!", "?")) else f"{text}."


def import_optional(package: str) -> ModuleType:
    """Import a package of the extra ``[local]``, or say how to install it."""
    try:
        return import_module(package)
    except ImportError as error:
        raise ValueError(f"a local judge needs the package {package!r}: {_PIP}") from error


def choose_device() -> Any:
    """Return the device of `TIMEVISTA_DEVICE`, else a GPU where there is one, else the CPU.

    Raises
    ------
    ValueError
        Where torch cannot use the device that is asked for.
    """
    torch = import_optional("torch")
    wanted = os.environ.get("TIMEVISTA_DEVICE") or ("cuda" if torch.cuda.is_available() else "cpu")
    try:
        return torch.empty(0, device=wanted).device
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        raise ValueError(
            f"TIMEVISTA_DEVICE: {wanted!r} is no device that torch can use here: "
            f"{first_line(error)}"
        ) from error


def digest_folder(folder: Path) -> str:
    """Return the SHA-256 of all files of a folder but the hidden ones."""
    digest = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        name = path.relative_to(folder)
        if any(part.startswith(".") for part in name.parts):
            continue
        digest.update(f"{name.as_posix()}|{path.stat().st_size}|".encode())
        with path.open("rb") as file:
            while block := file.read(_BLOCK):
                digest.update(block)
    return digest.hexdigest()


def open_image(image: bytes | None) -> Any:
    """Decode a PNG to an image of three channels.

    Raises
    ------
    ValueError, OSError
        Where there is none, or it cannot be read.
    """
    if image is None:
        raise ValueError("the request holds no image for a judge that looks at one")
    return import_module("PIL.Image").open(BytesIO(image)).convert("RGB")


@contextmanager
def _explained(source: str, place: str) -> Iterator[None]:
    broken = import_module("safetensors").SafetensorError
    try:
        yield
    except (OSError, ValueError, ImportError, RuntimeError, KeyError, broken) as error:
        raise ValueError(
            f"{place}: cannot be loaded: {first_line(error)} ({_advice(source, error)})"
        ) from error


def _advice(source: str, error: BaseException) -> str:
    if isinstance(error, ImportError):
        return "install what is missing"
    if Path(source).exists():
        return "a folder must hold all that `save_pretrained` of a model and its processor writes"
    if source.startswith((".", "/", "~")) or source.count("/") > 1:
        return "there is no such folder"
    if import_module("huggingface_hub").constants.HF_HUB_OFFLINE:
        return f"HF_HUB_OFFLINE is set: `hf download {source}` beforehand, or name a folder"
    return "name a folder, or an id on the Hub that you are allowed to read"
