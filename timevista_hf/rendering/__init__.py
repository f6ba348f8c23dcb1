"""Draw a case for judges that look, and write it as numbers for judges that read."""

from timevista_hf.rendering._figure import Renderer, render_case
from timevista_hf.rendering._style import Style
from timevista_hf.rendering._window import describe_case

__all__ = ["Renderer", "Style", "describe_case", "render_case"]
