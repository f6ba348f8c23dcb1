"""Rubrics: what a judge is asked, and how its reply is read."""

from timevista_hf.rubrics._files import list_rubrics, load_rubric, select_rubrics
from timevista_hf.rubrics._rubric import (
    HIGHEST,
    LOWEST,
    MACRO_DIMENSIONS,
    MICRO_DIMENSIONS,
    JointRubric,
    Judgment,
    Level,
    Modality,
    Rubric,
    Status,
    UnparsableReplyError,
    Verdict,
    check_reply,
)

__all__ = [
    "HIGHEST",
    "LOWEST",
    "MACRO_DIMENSIONS",
    "MICRO_DIMENSIONS",
    "JointRubric",
    "Judgment",
    "Level",
    "Modality",
    "Rubric",
    "Status",
    "UnparsableReplyError",
    "Verdict",
    "check_reply",
    "list_rubrics",
    "load_rubric",
    "select_rubrics",
]
