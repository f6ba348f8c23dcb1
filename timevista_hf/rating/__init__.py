"""Ratings by people: an order of questions for each annotator, a file that only grows, a merge."""

from timevista_hf.rating._merge import (
    AnnotatorAgreement,
    RatedQuestion,
    measure_agreement,
    merge_ratings,
    read_ratings,
    write_ratings,
)
from timevista_hf.rating._question import Question
from timevista_hf.rating._record import Rating
from timevista_hf.rating._session import RatingSession

__all__ = [
    "AnnotatorAgreement",
    "Question",
    "RatedQuestion",
    "Rating",
    "RatingSession",
    "measure_agreement",
    "merge_ratings",
    "read_ratings",
    "write_ratings",
]
