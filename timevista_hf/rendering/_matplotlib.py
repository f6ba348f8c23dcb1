"""What every picture is drawn with: matplotlib under its own settings, in pixels."""

from __future__ import annotations

import functools
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.artist import Artist
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.text import Text

INK = "#000000"


class Sheet:
    """A white picture that is drawn artist by artist; a point is a pixel."""

    def __init__(self, width: int, height: int, font_size: int) -> None:
        self.figure = Figure(figsize=(width / 72, height / 72), dpi=72)
        self.canvas: Any = FigureCanvasAgg(self.figure)
        self._text = Text(fontproperties=font(font_size), color=INK, parse_math=False)
        self._text.set_figure(self.figure)

    def draw(self, artist: Artist) -> None:
        """Draw over what is there."""
        artist.draw(self.canvas.get_renderer())

    def write(
        self,
        text: str,
        x: float,
        y: float,
        *,
        ha: str = "center",
        va: str = "center_baseline",
        rotation: float = 0,
    ) -> None:
        """Write at a place in pixels from the lower left."""
        if text:
            self._text.set(text=text, x=x, y=y, ha=ha, va=va, rotation=rotation)
            self.draw(self._text)

    def keep(self) -> None:
        """Keep what is drawn so far as the backdrop."""
        self._backdrop = self.canvas.copy_from_bbox(self.figure.bbox)

    def restore(self) -> None:
        """Take away all but the backdrop."""
        self.canvas.restore_region(self._backdrop)

    @property
    def pixels(self) -> np.ndarray:
        """What is drawn so far, as RGBA of shape (height, width, 4)."""
        return np.asarray(self.canvas.buffer_rgba())


@contextmanager
def default_settings() -> Iterator[None]:
    """Hold matplotlib's own settings; they belong to the whole process, so one thread has them."""
    with _SETTINGS_LOCK, matplotlib.rc_context(_SETTINGS):
        yield


@functools.cache
def font(size: int) -> FontProperties:
    """Return the font by its file: the system may have another version under the same name."""
    file = Path(matplotlib.get_data_path(), "fonts", "ttf", "DejaVuSans.ttf")
    return FontProperties(fname=str(file), size=size)


_SETTINGS_LOCK = threading.RLock()
_SETTINGS: Any = {
    key: value for key, value in matplotlib.rcParamsDefault.items() if key != "backend"
}
