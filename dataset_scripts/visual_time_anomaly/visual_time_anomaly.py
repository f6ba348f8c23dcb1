"""Plots of series with anomalies to be found, and the series themselves, by VisualTimeAnomaly."""

from dataclasses import dataclass

import datasets

from timevista_hf.building import anomaly_rows
from timevista_hf.synthesis.anomalies import list_subsets

_CITATION = """\
@article{xu2025visualtimeanomaly,
  title = {Can Multimodal LLMs Perform Time Series Anomaly Detection?},
  author = {Xu, X. and others},
  journal = {arXiv preprint arXiv:2502.17812},
  year = {2025}
}"""


@dataclass
class VisualTimeAnomalyConfig(datasets.BuilderConfig):
    """Say which subsets there are, of which edition, and whether their pictures are drawn."""

    subsets: tuple[str, ...] = ()
    edition: str = "corrected"
    with_images: bool = True

    @property
    def parts(self):
        """What is built as one: a subset of an edition."""
        return [f"{self.edition}/{subset}" for subset in self.subsets]


def _config(name, description, **options):
    return VisualTimeAnomalyConfig(name=name, description=description, **options)


def _table(dtype):
    return datasets.List(datasets.List(datasets.Value(dtype)))


_SYNTHETIC = tuple(subset.name for subset in list_subsets(synthetic=True))
_ALL = tuple(subset.name for subset in list_subsets())


class VisualTimeAnomaly(datasets.GeneratorBasedBuilder):
    """Build 100 series a subset and split: picture, values and labels."""

    VERSION = datasets.Version("1.0.0")
    BUILDER_CONFIG_CLASS = VisualTimeAnomalyConfig
    BUILDER_CONFIGS = (
        _config("default", "The 65 synthetic subsets, corrected.", subsets=_SYNTHETIC),
        _config("all", "All 124 subsets, corrected; 59 need real series.", subsets=_ALL),
        _config("paper", "All 124 subsets, as in the paper.", subsets=_ALL, edition="paper"),
        *(_config(name, f"The subset {name}.", subsets=(name,)) for name in _ALL),
    )
    DEFAULT_CONFIG_NAME = "default"

    def _info(self):
        text, whole = datasets.Value("string"), datasets.Value("int64")
        features = {
            "id": text,
            "image": datasets.Image(),
            "series": _table("float64"),
            "missing": _table("bool"),
            "events": _table("int64"),
            "variates": datasets.List(whole),
            **dict.fromkeys(("subset", "scenario", "granularity", "anomaly"), text),
            **dict.fromkeys(("num_variates", "irregularity"), whole),
            **dict.fromkeys(("base", "edition", "seed"), text),
        }
        if not self.config.with_images:
            del features["image"]
        return datasets.DatasetInfo(
            description=__doc__,
            features=datasets.Features(features),
            homepage="https://arxiv.org/abs/2502.17812",
            citation=_CITATION,
        )

    def _split_generators(self, dl_manager):
        parts = self.config.parts
        for part in parts:
            self._rows(part, "test", count=0)  # what is wrong or missing is said before the work
        return [
            datasets.SplitGenerator(name=split, gen_kwargs={"parts": parts, "split": split})
            for split in ("train", "test")
        ]

    def _generate_examples(self, parts, split):
        for part in parts:
            for row in self._rows(part, split):
                yield row["id"], row

    def _rows(self, part, split, **options):
        config = self.config
        return anomaly_rows(
            part, split, data_dir=config.data_dir, with_images=config.with_images, **options
        )
