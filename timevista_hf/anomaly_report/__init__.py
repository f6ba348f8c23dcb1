"""What a run of detection shows: a page, tables as text, figures."""

from timevista_hf.anomaly_report._charts import Effect, draw_effect
from timevista_hf.anomaly_report._page import DetectionExample, write_detection_report
from timevista_hf.anomaly_report._texts import explain_run, to_csv, to_markdown

__all__ = [
    "DetectionExample",
    "Effect",
    "draw_effect",
    "explain_run",
    "to_csv",
    "to_markdown",
    "write_detection_report",
]
