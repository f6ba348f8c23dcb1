"""Cases to answers: render, ask, parse, store; a bounded window of cases at a time."""

from timevista_hf.pipeline._asking import WINDOW
from timevista_hf.pipeline._detecting import DetectedCase, detect_anomalies
from timevista_hf.pipeline._judging import JudgedCase, RubricsFor, judge_cases

__all__ = [
    "WINDOW",
    "DetectedCase",
    "JudgedCase",
    "RubricsFor",
    "detect_anomalies",
    "judge_cases",
]
