"""Forecasts whose score is known, from ladders or from people, to judge judges by."""

from dataclasses import dataclass

import datasets

from timevista_hf.building import hash_rated, rated_parts, rated_rows

_CITATION = """\
@article{chen2026timevista,
  title = {TimeVista: Exploring and Exploiting Vision-Language Models as Judges for Time Series
    Forecasting},
  author = {Chen, Z. and others},
  journal = {arXiv preprint arXiv:2606.16173},
  year = {2026}
}"""


@dataclass
class MetaTimeVistaConfig(datasets.BuilderConfig):
    """Say which parts there are, and where those come from that are not made here."""

    parts: tuple[str, ...] = ()
    repo: str | None = None

    @property
    def made_of(self):
        """Tell apart what another folder of ratings would give."""
        rated = self.data_dir is not None and "rated" in self.parts
        return hash_rated(self.data_dir) if rated else ""

    def create_config_id(self, config_kwargs, custom_features=None):
        """Name the folder in the cache: another one when a rating was added."""
        made_of = {"made_of": self.made_of} if self.made_of else {}
        return super().create_config_id({**config_kwargs, **made_of}, custom_features)


def _config(name, description, parts):
    return MetaTimeVistaConfig(name=name, description=description, parts=tuple(parts))


def _list(dtype):
    return datasets.List(datasets.Value(dtype))


_LADDERS = [part for part in rated_parts() if part.startswith("ladders/")]


class MetaTimeVista(datasets.GeneratorBasedBuilder):
    """Build forecasts, each with a rubric and a grade or the ratings of people."""

    VERSION = datasets.Version("1.0.0")
    BUILDER_CONFIG_CLASS = MetaTimeVistaConfig
    BUILDER_CONFIGS = (
        _config("ladders", "480 forecasts damaged by rule; nothing is needed.", _LADDERS),
        _config("rated", "Ratings by people, from a folder of `timevista rate`.", ("rated",)),
        _config("published", "Ratings by people, from a repository.", ("published",)),
    )
    DEFAULT_CONFIG_NAME = "ladders"

    def _info(self):
        text, whole = datasets.Value("string"), datasets.Value("int64")
        features = {
            **dict.fromkeys(("id", "cutoff", "dataset", "model"), text),
            **dict.fromkeys(("history", "truth", "prediction"), _list("float64")),
            **dict.fromkeys(("freq", "unit"), text),
            "season_length": whole,
            **dict.fromkeys(("level", "dimension", "rubric"), text),
            "grade": whole,
            "rating": datasets.Value("float64"),
            "ratings": datasets.List({"annotator": whole, "score": whole}),
            "source": text,
        }
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
            for number, row in enumerate(self._rows(part)):
                yield f"{part}/{number}", row

    def _rows(self, part):
        return rated_rows(part, data_dir=self.config.data_dir, repo=self.config.repo)
