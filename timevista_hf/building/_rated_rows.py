"""Forecasts with a score that is known, of ladders or by people, as rows of a dataset."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from timevista_hf.cases import ForecastCase
from timevista_hf.io import read_forecasts
from timevista_hf.loading.known import check_known
from timevista_hf.rating import Question, RatedQuestion, merge_ratings, read_ratings
from timevista_hf.rubrics import MICRO_DIMENSIONS, load_rubric
from timevista_hf.synthesis.timevista import COUNT, SyntheticSeries, make_series

RATED, PUBLISHED = "rated", "published"
CLIMBED = range(0, COUNT, 17)  # 24 series: 17 has no factor in common with the five groups


def rated_parts() -> list[str]:
    """Name the parts of the dataset `meta_timevista`.

    Examples
    --------
    >>> rated_parts()  # doctest: +NORMALIZE_WHITESPACE
    ['ladders/trend', 'ladders/motif', 'ladders/phase', 'ladders/magnitude', 'rated', 'published']
    """
    return [*(f"ladders/{dimension}" for dimension in _DAMAGED), RATED, PUBLISHED]


def rated_rows(
    part: str, *, data_dir: str | Path | None = None, repo: str | None = None
) -> Iterator[dict[str, Any]]:
    """Make the rows of one part, one after another.

    Parameters
    ----------
    part : str
        One of `rated_parts`.
    data_dir : str or Path, optional
        For "rated": a folder that holds the forecasts that were rated as its one file
        ``forecasts.*``, in any format of `read_forecasts`, and beside it the folder ``ratings``
        that `timevista rate` filled.
    repo : str, optional
        For "published": a dataset on the Hub that was built from "rated", as "owner/name".

    Returns
    -------
    iterator of dict
        A value for each feature of the dataset `meta_timevista`.

    Raises
    ------
    ValueError
        At once, for an unknown part, a folder that lacks one of these, ratings of forecasts that
        the file does not hold, and a repository that cannot be read. While rows are taken, for
        one that lacks a feature.

    Examples
    --------
    >>> row = next(rated_rows("ladders/phase"))
    >>> row["id"], row["model"], row["grade"], row["rating"], row["source"]
    ('trend-00', 'phase-1', 1, None, 'ladder')
    """
    check_known("part", part, rated_parts())
    if part == RATED:
        return _people_rows(_rated_folder(data_dir))
    if part == PUBLISHED:
        return _published_rows(repo)
    return _ladder_rows(part.partition("/")[2])


def rated_case(row: Mapping[str, Any]) -> ForecastCase:
    """Turn a row of the dataset `meta_timevista` into a case.

    Parameters
    ----------
    row : mapping
        With the dataset's features, as plain Python or numpy. Mind that ``with_format("numpy")``
        alone rounds to float32; add ``dtype=numpy.float64``.

    Returns
    -------
    ForecastCase

    Raises
    ------
    ValueError
        Where the row does not make a valid case.

    Examples
    --------
    >>> rated_case(next(rated_rows("ladders/phase"))).label
    "series 'trend-00', model 'phase-1'"
    """
    season = row["season_length"]
    held: dict[str, Any] = {name: row[name] for name in _NAMES}
    held |= {name: np.asarray(row[name], dtype=np.float64) for name in _ARRAYS}
    return ForecastCase(**held, season_length=None if season is None else int(season))


def hash_rated(data_dir: str | Path) -> str:
    """Return a hash of what the rows of "rated" are made of, so that a new rating is noticed."""
    digest = hashlib.sha256()
    folder = Path(data_dir)
    for path in sorted([*(folder / _RATINGS).glob("*.jsonl"), *folder.glob("forecasts.*")]):
        digest.update(f"{path.name}:".encode() + hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def _ladder_rows(dimension: Any) -> Iterator[dict[str, Any]]:
    # Importing scipy takes a while, which other commands are spared.
    from timevista_hf.synthesis.ladders import make_ladder

    rubric = load_rubric(dimension)
    for number in CLIMBED:
        ladder = make_ladder(_series(number), dimension, seed=number)
        for grade, case in enumerate(ladder, start=1):
            yield {
                **_case_row(case),
                "level": rubric.level,
                "dimension": dimension,
                "rubric": rubric.identity,
                "grade": grade,
                "rating": None,
                "ratings": [],
                "source": "ladder",
            }


@cache
def _series(number: int) -> SyntheticSeries:
    return make_series(number)


def _rated_folder(data_dir: str | Path | None) -> Path:
    if data_dir is None:
        raise ValueError(
            "ratings by people are not shipped: name a folder as `data_dir` that holds forecasts "
            "as forecasts.csv, .jsonl or .parquet, and the folder ratings of `timevista rate`"
        )
    return Path(data_dir)


def _people_rows(folder: Path) -> Iterator[dict[str, Any]]:
    questions = merge_ratings(read_ratings(folder / _RATINGS))
    names = sorted({one.annotator for question in questions for one in question.ratings})
    number = {name: place for place, name in enumerate(names, start=1)}
    path, cases = _rated_cases(folder, questions)
    for question in questions:
        if _key(question) not in cases:
            raise ValueError(
                f"{path}: holds no forecast of series {question.case_id!r} by "
                f"{question.model!r} with the numbers that were rated; give the file that was"
            )
    return (_people_row(question, cases[_key(question)], number) for question in questions)


def _rated_cases(
    folder: Path, questions: list[RatedQuestion]
) -> tuple[Path, dict[tuple[Any, ...], ForecastCase]]:
    paths = sorted(folder.glob("forecasts.*"))
    if len(paths) != 1:
        raise ValueError(
            f"{folder}: needs one file forecasts.* beside the folder {_RATINGS}, with the "
            f"forecasts that were rated; has {len(paths)}"
        )
    wanted = {_key(question) for question in questions}
    found = {}
    for case in read_forecasts(paths[0]).cases():
        key = Question(case, load_rubric("general")).key[:4]
        if key in wanted:
            found[key] = case
    return paths[0], found


def _key(question: RatedQuestion) -> tuple[Any, ...]:
    return question.case_id, question.cutoff, question.model, question.content


def _people_row(
    question: RatedQuestion, case: ForecastCase, number: Mapping[str, int]
) -> dict[str, Any]:
    return {
        **_case_row(case),
        "dataset": question.dataset,
        "level": question.level,
        "dimension": question.dimension,
        "rubric": question.rubric,
        "grade": None,
        "rating": None if math.isnan(question.consensus) else question.consensus,
        "ratings": [
            {"annotator": number[one.annotator], "score": one.score} for one in question.ratings
        ],
        "source": "people",
    }


def _published_rows(repo: str | None) -> Iterator[dict[str, Any]]:
    import datasets  # type: ignore[import-untyped]

    if repo is None:
        raise ValueError(
            "no ratings have been published with this package: name a repository as `repo`, or "
            "build from a folder of your own with the configuration 'rated'"
        )
    try:
        rows = datasets.load_dataset(repo, split="test", streaming=True)
    except OSError as error:  # not found, not allowed, not reached
        reason = str(error).strip().partition("\n")[0]
        raise ValueError(
            f"{repo}: was not read: {reason}. Go online and log in if need be, or build from a "
            "folder of your own with the configuration 'rated'"
        ) from error
    return (_published_row(row, repo) for row in rows)


def _published_row(row: Mapping[str, Any], repo: str) -> dict[str, Any]:
    missing = [name for name in _FEATURES if name not in row]
    if missing:
        raise ValueError(
            f"{repo}: lacks the feature {missing[0]!r}, and so is no copy of meta_timevista"
        )
    return {name: row[name] for name in _FEATURES}


def _case_row(case: ForecastCase) -> dict[str, Any]:
    return {
        **{name: getattr(case, name) for name in (*_NAMES, "season_length")},
        **{name: getattr(case, name).tolist() for name in _ARRAYS},
    }


_DAMAGED = tuple(name for name in MICRO_DIMENSIONS if name != "general")
_RATINGS = "ratings"  # what `timevista rate` calls its folder by default
_ARRAYS = ("history", "truth", "prediction")
_NAMES = ("id", "cutoff", "dataset", "model", "freq", "unit")
_FEATURES = (
    *("id", "cutoff", "dataset", "model", *_ARRAYS, "freq", "unit", "season_length"),
    *("level", "dimension", "rubric", "grade", "rating", "ratings", "source"),
)
