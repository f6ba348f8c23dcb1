"""The ratings of several annotators: their consensus, and how far they agree."""

from __future__ import annotations

import math
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from timevista_hf.io import write_atomically
from timevista_hf.metrics import consensus, krippendorff_alpha, pairwise_agreement
from timevista_hf.rating._question import Key
from timevista_hf.rating._record import Rating, read_records, standing
from timevista_hf.rubrics import MACRO_DIMENSIONS, MICRO_DIMENSIONS


@dataclass(frozen=True, kw_only=True)
class RatedQuestion:
    """One case and rubric, with what all annotators said.

    Parameters
    ----------
    ratings : tuple of Rating
        One an annotator, by their names; one without a score was skipped.
    consensus : float
        The most frequent score, 1 (worst) to 5 (best). Where several are equally frequent, their
        mean, which favours neither side and may lie between two scores. nan where all skipped.
    """

    case_id: str
    cutoff: str | None
    model: str
    content: str  # hash of the case's numbers
    dataset: str | None
    level: str
    dimension: str
    rubric: str  # name@version
    ratings: tuple[Rating, ...]
    consensus: float


@dataclass(frozen=True)
class AnnotatorAgreement:
    """How far annotators agree in one dimension; all at most 1, which is perfect.

    Parameters
    ----------
    alpha_ordinal, alpha_nominal : float
        Krippendorff's alpha, scores as ranks and as names; 0 is chance.
    kendall, spearman : float
        Rank correlations, means over the pairs of annotators.
    annotators : int
        Those who gave a score.
    questions : int
        Those with two scores or more.

    nan where undefined, as where all scores are equal or there is one annotator.
    """

    alpha_ordinal: float
    alpha_nominal: float
    kendall: float
    spearman: float
    annotators: int
    questions: int


def read_ratings(
    folder: str | Path, *, notice: Callable[[str], object] = warnings.warn
) -> list[Rating]:
    """Read the files of all annotators in a folder.

    Parameters
    ----------
    folder : str or Path
        What `timevista rate` wrote: a JSON Lines file an annotator.
    notice : callable
        Told of every line that a killed program did not finish; it is passed over.

    Returns
    -------
    list of Rating
        Those that were not taken back, file by file, in the order in which they were given. One
        without a score was skipped.

    Raises
    ------
    ValueError
        Where there is no such folder, no rating in it, or a line is no record; and where two
        files answer the same question in the name of one annotator.

    Examples
    --------
    >>> import tempfile
    >>> read_ratings(tempfile.mkdtemp())  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    ValueError: ...: holds no ratings; `timevista rate FILE --annotator NAME` makes some
    """
    paths = sorted(Path(folder).glob("*.jsonl"))
    ratings: dict[tuple[str, Key], tuple[Rating, str]] = {}
    for path in paths:
        records, notices = read_records(path)
        for text in notices:
            notice(text)
        for key, rating in standing(records).items():
            _, other = ratings.setdefault((rating.annotator, key), (rating, path.name))
            if other != path.name:
                raise ValueError(
                    f"{path}: {_words(rating)} by {rating.annotator!r} is also in {other}; "
                    "leave one of the two out"
                )
    if not ratings:
        raise ValueError(
            f"{folder}: holds no ratings; `timevista rate FILE --annotator NAME` makes some"
        )
    return [rating for rating, _ in ratings.values()]


def merge_ratings(ratings: Iterable[Rating]) -> list[RatedQuestion]:
    """Put together what the annotators say of each question.

    Questions are told apart by series, cutoff, model, the case's numbers and the rubric: where a
    forecast changed between two annotators, these are two questions.

    Parameters
    ----------
    ratings : iterable of Rating
        At most one an annotator and question.

    Returns
    -------
    list of RatedQuestion
        By dimension, then by series, cutoff, model and rubric.

    Raises
    ------
    ValueError
        For a second rating of a question by the same annotator.

    Examples
    --------
    >>> said = [
    ...     Rating(
    ...         annotator=name, case_id="a", cutoff=None, model="ets", content="", dataset=None,
    ...         level="micro", dimension="trend", rubric="trend@1.0", score=score,
    ...     )
    ...     for name, score in [("ana", 4), ("ben", 4), ("cem", 2)]
    ... ]
    >>> [merged] = merge_ratings(said)
    >>> merged.consensus
    4.0
    """
    grouped: dict[Key, dict[str, Rating]] = defaultdict(dict)
    for rating in ratings:
        if grouped[rating.key].setdefault(rating.annotator, rating) is not rating:
            raise ValueError(f"{_words(rating)} is rated twice by {rating.annotator!r}")
    groups = [[by[name] for name in sorted(by)] for by in grouped.values()]
    groups.sort(key=_place)
    agreed = consensus(_matrix(groups))
    return [
        RatedQuestion(
            **{name: getattr(group[0], name) for name in _QUESTION},
            ratings=tuple(group),
            consensus=float(score),
        )
        for group, score in zip(groups, agreed, strict=True)
    ]


def measure_agreement(questions: Iterable[RatedQuestion]) -> dict[str, AnnotatorAgreement]:
    """Measure how far the annotators agree, by dimension.

    Parameters
    ----------
    questions : iterable of RatedQuestion
        What `merge_ratings` returned.

    Returns
    -------
    dict of str to AnnotatorAgreement
        In the order of the questions.

    Examples
    --------
    >>> said = [
    ...     Rating(
    ...         annotator=name, case_id=case, cutoff=None, model="ets", content="", dataset=None,
    ...         level="micro", dimension="trend", rubric="trend@1.0", score=score,
    ...     )
    ...     for name, scores in [("ana", {"a": 4, "b": 2}), ("ben", {"a": 5, "b": 1})]
    ...     for case, score in scores.items()
    ... ]
    >>> measure_agreement(merge_ratings(said))["trend"].spearman
    1.0
    """
    by_dimension: dict[str, list[Sequence[Rating]]] = defaultdict(list)
    for question in questions:
        by_dimension[question.dimension].append(question.ratings)
    return {name: _agreement(_matrix(groups)) for name, groups in by_dimension.items()}


def write_ratings(path: str | Path, questions: Iterable[RatedQuestion]) -> None:
    """Write ratings as a Parquet file, one row a rating, with the consensus in every row.

    Parameters
    ----------
    path : str or Path
    questions : iterable of RatedQuestion
        The rows are in their order, then by annotator. The columns are the fields of `Rating`,
        where `score` is null for a skipped case, and `consensus`, null where all skipped.

    Raises
    ------
    ValueError
        Where the folder of `path` does not exist.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "ratings.parquet"
    >>> write_ratings(path, [])
    >>> pq.read_schema(path).names[-1]
    'consensus'
    """
    rows = [
        asdict(rating)
        | {"consensus": None if math.isnan(question.consensus) else question.consensus}
        for question in questions
        for rating in question.ratings
    ]
    with write_atomically(path) as temporary:
        pq.write_table(pa.Table.from_pylist(rows, schema=_SCHEMA), temporary, compression="zstd")


def _matrix(groups: Sequence[Sequence[Rating]]) -> np.ndarray:
    """Arrange scores by annotator and question, [A, Q]; nan where one did not score."""
    names = sorted({rating.annotator for group in groups for rating in group})
    row = {name: number for number, name in enumerate(names)}
    scores = np.full((len(names), len(groups)), math.nan)
    for column, group in enumerate(groups):
        for rating in group:
            if rating.score is not None:
                scores[row[rating.annotator], column] = rating.score
    return scores


def _agreement(scores: np.ndarray) -> AnnotatorAgreement:
    given = ~np.isnan(scores)
    return AnnotatorAgreement(
        alpha_ordinal=krippendorff_alpha(scores, level="ordinal"),
        alpha_nominal=krippendorff_alpha(scores, level="nominal"),
        kendall=pairwise_agreement(scores, statistic="kendall"),
        spearman=pairwise_agreement(scores, statistic="spearman"),
        annotators=int(given.any(axis=1).sum()),
        questions=int((given.sum(axis=0) >= 2).sum()),
    )


def _place(group: Sequence[Rating]) -> tuple[int, str, str, str, str, str, str]:
    one, known = group[0], (*MICRO_DIMENSIONS, *MACRO_DIMENSIONS)
    place = known.index(one.dimension) if one.dimension in known else len(known)
    return place, one.dimension, one.case_id, one.cutoff or "", one.model, one.rubric, one.content


def _words(rating: Rating) -> str:
    window = f", cutoff {rating.cutoff}" if rating.cutoff else ""
    return f"series {rating.case_id!r}{window}, model {rating.model!r}, rubric {rating.rubric!r}"


_QUESTION = (
    "case_id",
    "cutoff",
    "model",
    "content",
    "dataset",
    "level",
    "dimension",
    "rubric",
)
_TYPES = {"score": pa.int64(), "seconds": pa.float64()}
_SCHEMA = pa.schema(
    [
        *((field.name, _TYPES.get(field.name, pa.string())) for field in fields(Rating)),
        ("consensus", pa.float64()),
    ]
)
