"""Detections to scores: what a judge found, beside chance and what the paper publishes."""

from timevista_hf.anomaly_scores._scores import (
    METRICS,
    AnomalyScores,
    Convention,
    Estimate,
    SubsetScores,
    published_scores,
    score_subset,
)
from timevista_hf.anomaly_scores._tables import PaperTable, arrange_tables, to_records

__all__ = [
    "METRICS",
    "AnomalyScores",
    "Convention",
    "Estimate",
    "PaperTable",
    "SubsetScores",
    "arrange_tables",
    "published_scores",
    "score_subset",
    "to_records",
]
