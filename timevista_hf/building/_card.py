"""The card of a built dataset: the builder's own, with the files of each configuration."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from timevista_hf._version import __version__
from timevista_hf.building._parts import Part, Recipe
from timevista_hf.io import write_atomically
from timevista_hf.loading.names import find_dataset

_COPY = """
## This copy

Built with timevista_hf {version} by `timevista build {name}`; it loads without that package, by
`datasets.load_dataset` and the path of this folder, or the name of the repository that holds it.
{section}
Content, {count} files: `{content}`. It is what this prints in the folder:

```bash
find data -name '*.parquet' | LC_ALL=C sort | xargs sha256sum | sha256sum
```
"""


def hash_content(folder: Path) -> tuple[int, str]:
    """Return how many files a folder holds, and the SHA-256 of the list of their SHA-256."""
    root = folder / "data"
    paths = sorted(path.relative_to(folder).as_posix() for path in root.rglob("*.parquet"))
    lines = "".join(f"{_hash(folder / path)}  {path}\n" for path in paths)
    return len(paths), hashlib.sha256(lines.encode()).hexdigest()


def write_card(recipe: Recipe, folder: Path, splits: list[str]) -> str:
    """Write README.md and what it shows; return the hash of the content."""
    from huggingface_hub import DatasetCard

    source = find_dataset(recipe.name).folder
    for extra in source.iterdir():
        if extra.is_file() and extra.suffix not in (".py", ".md"):
            _write(folder / extra.name, extra.read_bytes())
    card = DatasetCard((source / "README.md").read_text(encoding="utf-8"))
    card.data["configs"] = list(_configs(recipe.builder, folder, splits))
    metadata, section = _described(recipe.builder, folder)
    for key, value in metadata.items():
        card.data[key] = value
    count, content = hash_content(folder)
    copy = _COPY.format(
        version=__version__, name=recipe.name, section=section, count=count, content=content
    )
    _write(folder / "README.md", f"{str(card).rstrip()}\n{copy}".encode())
    return content


def _configs(builder: Any, folder: Path, splits: list[str]) -> Iterator[dict[str, Any]]:
    """Describe each configuration whose files are all there; the first is the default."""
    configs = sorted(
        builder.BUILDER_CONFIGS, key=lambda config: config.name != builder.DEFAULT_CONFIG_NAME
    )
    default = {"default": True}
    for config in configs:
        files = [
            {"split": split, "path": [Part(name, split).path for name in config.parts]}
            for split in splits
        ]
        if all((folder / path).is_file() for split in files for path in split["path"]):
            yield {"config_name": config.name, "data_files": files, **default}
            default = {}


def _described(builder: Any, folder: Path) -> tuple[dict[str, Any], str]:
    """Ask the builder for front matter and a section on what the folder holds, if it has any."""
    if not hasattr(builder, "describe_copy"):
        return {}, ""
    metadata, section = builder.describe_copy(sorted((folder / "data").rglob("*.parquet")))
    return metadata, f"\n{section}\n"


def _hash(path: Path) -> str:
    with path.open("rb") as file:
        digest = hashlib.sha256()
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def _write(path: Path, content: bytes) -> None:
    with write_atomically(path) as temporary:
        temporary.write_bytes(content)
