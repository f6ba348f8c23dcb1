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
    whole_number,
)
from timevista_hf.rubrics._thoughts import (
    beside_thoughts,
    close_thought,
    cut_thoughts,
    marks_thought,
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
    "beside_thoughts",
    "check_reply",
    "close_thought",
    "cut_thoughts",
    "list_rubrics",
    "load_rubric",
    "marks_thought",
    "select_rubrics",
    "whole_number",
]
