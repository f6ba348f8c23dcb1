"""Series to be forecast and judged, synthetic ones and thirteen real datasets, by TimeVista."""

from dataclasses import dataclass

import datasets

from timevista_hf.building import describe_series, series_parts, series_rows
from timevista_hf.sources import list_sources, load_source

_CITATION = """\
@article{chen2026timevista,
  title = {TimeVista: Exploring and Exploiting Vision-Language Models as Judges for Time Series
    Forecasting},
  author = {Chen, Z. and others},
  journal = {arXiv preprint arXiv:2606.16173},
  year = {2026}
}"""


@dataclass
class TimeVistaConfig(datasets.BuilderConfig):
    """Say which parts there are, and whether pictures are drawn."""

    parts: tuple[str, ...] = ()
    with_images: bool = False


def _config(name, description, parts):
    return TimeVistaConfig(name=name, description=description, parts=tuple(parts))


def _list(dtype):
    return datasets.List(datasets.Value(dtype))


_REAL = list_sources()
_SYNTHETIC = [part for part in series_parts() if part not in _REAL]


class TimeVista(datasets.GeneratorBasedBuilder):
    """Build the windows of series: history, truth, and the rubrics to judge forecasts by."""

    VERSION = datasets.Version("1.0.0")
    BUILDER_CONFIG_CLASS = TimeVistaConfig
    BUILDER_CONFIGS = (
        _config("synthetic", "400 synthetic series; nothing is needed.", _SYNTHETIC),
        _config("real", "All thirteen real datasets.", _REAL),
        _config("all", "The synthetic series and the real datasets.", series_parts()),
        *(_config(name, f"{load_source(name).title}, real.", (name,)) for name in _REAL),
    )
    DEFAULT_CONFIG_NAME = "synthetic"

    def _info(self):
        text = datasets.Value("string")
        components = ("trend", "amplitude", "motif", "phase")
        features = {
            **dict.fromkeys(("id", "dataset", "domain"), text),
            "image": datasets.Image(),
            **dict.fromkeys(("history", "truth"), _list("float64")),
            **dict.fromkeys(("freq", "start", "unit"), text),
            "season_length": datasets.Value("int64"),
            "rubrics": datasets.List(dict.fromkeys(("level", "dimension", "rubric", "text"), text)),
            "components": dict.fromkeys(components, _list("float64")),
            "provenance": text,
        }
        if not self.config.with_images:
            del features["image"]
        return datasets.DatasetInfo(
            description=__doc__,
            features=datasets.Features(features),
            homepage="https://arxiv.org/abs/2606.16173",
            citation=_CITATION,
        )

    def _split_generators(self, dl_manager):
        for part in self.config.parts:
            self._rows(part)  # what is wrong or missing is said before the work
        parts = {"parts": [*self.config.parts]}
        return [datasets.SplitGenerator(name="test", gen_kwargs={**parts, "split": "test"})]

    def _generate_examples(self, parts, split):
        for part in parts:
            for row in self._rows(part):
                yield f"{part}/{row['id']}", row

    def _rows(self, part):
        config = self.config
        return series_rows(part, data_dir=config.data_dir, with_images=config.with_images)

    def describe_copy(self, files):
        """Tell the card of a built folder what is in it, and what may be published."""
        return describe_series(files)
