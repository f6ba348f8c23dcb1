"""Draw a case for judges that look, and write it as numbers for judges that read."""

from timevista_hf.rendering._anomaly_figure import AnomalyRenderer, render_anomalies
from timevista_hf.rendering._anomaly_layout import panel_grid
from timevista_hf.rendering._anomaly_numbers import describe_anomalies
from timevista_hf.rendering._anomaly_style import AnomalyStyle
from timevista_hf.rendering._figure import Renderer, render_case
from timevista_hf.rendering._style import Style
from timevista_hf.rendering._window import describe_case

__all__ = [
    "AnomalyRenderer",
    "AnomalyStyle",
    "Renderer",
    "Style",
    "describe_anomalies",
    "describe_case",
    "panel_grid",
    "render_anomalies",
    "render_case",
]
