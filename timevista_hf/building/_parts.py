"""One file of a built dataset: the rows of a part in one split, as Parquet."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from importlib import metadata
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from timevista_hf.io import write_atomically
from timevista_hf.loading.names import find_dataset

ROWS = 100  # in a row group, and in memory


@dataclass(frozen=True)
class Recipe:
    """What a dataset is built from; its parts are the same in every process."""

    name: str
    config_name: str | None = None
    data_dir: str | None = None

    @property
    def builder(self) -> Any:
        """The builder, one a process."""
        return _builder(self)

    @property
    def made_by(self) -> bytes:
        """Tell apart what another release, builder, way of drawing or input would write."""
        drawing = f"matplotlib {metadata.version('matplotlib')}"
        fingerprint = find_dataset(self.name).fingerprint
        made_of = getattr(self.builder.config, "made_of", "")
        return f"{self.name} {fingerprint} {drawing} {made_of}".strip().encode()

    def list_parts(self) -> list[Part]:
        """List what the configuration holds, in its order; what is missing for it is an error."""
        return [
            Part(name, str(split.name))
            for split in self.builder._split_generators(None)
            for name in split.gen_kwargs["parts"]
        ]


@dataclass(frozen=True)
class Part:
    """A part of a dataset in one split."""

    name: str
    split: str

    @property
    def path(self) -> str:
        """Where its file lies in the folder."""
        return f"data/{self.name}-{self.split}.parquet"


def is_written(part: Part, recipe: Recipe, folder: Path) -> bool:
    """Say whether the file of a part is there, and is what would be written."""
    path = folder / part.path
    return path.is_file() and (pq.read_schema(path).metadata or {}).get(_MADE_BY) == recipe.made_by


def write_part(part: Part, recipe: Recipe, folder: Path) -> None:
    """Write the file of a part, whole or not at all."""
    builder = recipe.builder
    features = builder.info.features
    schema = features.arrow_schema
    schema = schema.with_metadata({**schema.metadata, _MADE_BY: recipe.made_by})
    examples = builder._generate_examples([part.name], part.split)
    rows = (features.encode_example(row) for _, row in examples)
    path = folder / part.path
    path.parent.mkdir(parents=True, exist_ok=True)
    with write_atomically(path) as temporary, pq.ParquetWriter(temporary, schema) as writer:
        while group := list(islice(rows, ROWS)):
            writer.write_table(pa.Table.from_pylist(group, schema))


@lru_cache(maxsize=4)
def _builder(recipe: Recipe) -> Any:
    found = find_dataset(recipe.name)
    return found.main_class(
        config_name=recipe.config_name, data_dir=recipe.data_dir, hash=found.fingerprint
    )


_MADE_BY = b"timevista_hf"
