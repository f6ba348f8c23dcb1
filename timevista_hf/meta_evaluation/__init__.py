"""Meta-evaluation: a judge against people, against graded damage, and against itself."""

from timevista_hf.meta_evaluation.agreement import ERRORS, Alignment, align_judge, format_alignments

__all__ = ["ERRORS", "Alignment", "align_judge", "format_alignments"]
