"""Results: rows of judgments and detections to tables."""
