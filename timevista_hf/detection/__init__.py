"""Detection: how a judge is asked where a series is anomalous, and how its reply is read."""

from timevista_hf.detection._answers import Answer, parse_paper
from timevista_hf.detection._detection import LONGEST_TEXT, Detection
from timevista_hf.detection._question import DetectionQuestion, Example

__all__ = [
    "LONGEST_TEXT",
    "Answer",
    "Detection",
    "DetectionQuestion",
    "Example",
    "parse_paper",
]
