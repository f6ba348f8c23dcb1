"""The picture of a case: a backdrop drawn once, and the case drawn over it."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.transforms import IdentityTransform

from timevista_hf.cases import ForecastCase
from timevista_hf.rendering._matplotlib import INK, Sheet, default_settings, font
from timevista_hf.rendering._png import encode_png
from timevista_hf.rendering._scale import leaving_note, step_ticks, value_limits, value_ticks
from timevista_hf.rendering._style import CURVES, Style
from timevista_hf.rendering._window import Curve, shown_history, thinned_curve


class Renderer:
    """Draw many cases in one style, several times faster than with a new figure for each.

    The bytes depend on the case and the style only: not on what was drawn before, nor on the
    user's matplotlib settings. Step 1 is the first that was forecast, step 0 the last known;
    the truth starts at step 0, as it continues the history. A forecast that goes far beyond what
    was observed is cut off there, marked with triangles, and its extremes are noted.

    Parameters
    ----------
    style : Style, optional

    Examples
    --------
    >>> renderer = Renderer(Style(width=600))
    >>> case = ForecastCase(id="a", history=[1, 2, 3], truth=[4, 5], prediction=[4, 6])
    >>> renderer.render(case)[1:4]
    b'PNG'
    """

    def __init__(self, style: Style | None = None) -> None:
        self.style = style or Style()
        with default_settings():
            self._lay_out()
            self._add_artists()
            self._draw_backdrop()

    def render(self, case: ForecastCase) -> bytes:
        """Draw a case.

        Parameters
        ----------
        case : ForecastCase

        Returns
        -------
        bytes
            A PNG of `style.width` × `style.height` pixels, without metadata.

        Raises
        ------
        ValueError
            For a history shown, or a truth, with values of a size above 1e300.
        """
        history = shown_history(case, self.style.context)
        low, high = value_limits(case, history)
        with default_settings():
            self._sheet.restore()
            self._draw_scale(1 - history.size, case.horizon, low, high)
            self._draw_curves(case, history)
            self._draw_leaving(case.prediction)
            return encode_png(self._sheet.pixels, exact=self._colors)

    def _lay_out(self) -> None:
        style, size = self.style, self.style.font_size
        self._left, self._right = 7 * size, style.width - 2 * size
        # Legend and note share a row where there is room for both.
        head = 2.2 * size if style.width >= 60 * size else 4 * size
        self._bottom, self._top = round(3.4 * size), style.height - round(head)
        self._sheet = Sheet(style.width, style.height, size)
        self._figure, self._canvas = self._sheet.figure, self._sheet.canvas
        left, bottom = self._left / style.width, self._bottom / style.height
        right, top = self._right / style.width, self._top / style.height
        self._axes = self._figure.add_axes((left, bottom, right - left, top - bottom))
        self._axes.set_axis_off()

    def _add_artists(self) -> None:
        style = self.style
        self._colors = [INK, _START, _FRAME, _GRID]
        self._colors += [getattr(style, f"{curve}_color") for curve in CURVES]
        self._grid = LineCollection([], colors=_GRID, linewidths=1, antialiased=False)
        self._axes.add_collection(self._grid, autolim=False)
        self._start = self._line(color=_START, linewidth=2, linestyle="dashed", antialiased=False)
        self._curves, self._points = {}, {}
        for curve in CURVES:
            look = {part: getattr(style, f"{curve}_{part}") for part in ("color", "width", "line")}
            self._curves[curve] = self._line(
                color=look["color"], linewidth=look["width"], linestyle=look["line"]
            )
            self._points[curve] = self._marks(look["color"], "o", 4 + look["width"])
        self._leaving = {mark: self._marks(style.forecast_color, mark, 12) for mark in "v^"}

    def _line(self, **look: Any) -> Line2D:
        return self._axes.add_line(Line2D([], [], **look))

    def _marks(self, color: str, mark: str, size: float) -> Line2D:
        return self._line(
            color=color, linestyle="none", marker=mark, markersize=size, markeredgewidth=0
        )

    def _draw_backdrop(self) -> None:
        pixels = IdentityTransform()
        size, names = self.style.font_size, [curve.capitalize() for curve in CURVES]
        self._figure.legend(
            [self._curves[curve] for curve in CURVES],
            names,
            loc="upper left",
            bbox_to_anchor=(self._left, self.style.height),
            bbox_transform=pixels,
            ncols=len(names),
            prop=font(size),
            labelcolor=INK,
            frameon=False,
            borderpad=0,
        )
        width, height = self._right - self._left, self._top - self._bottom
        corner = (self._left, self._bottom)
        self._figure.add_artist(
            Rectangle(corner, width, height, fill=False, edgecolor=_FRAME, transform=pixels)
        )
        self._canvas.draw()
        self._sheet.write("Step", (self._left + self._right) / 2, 0.3 * size, va="bottom")
        self._sheet.keep()

    def _draw_scale(self, first: int, last: int, low: float, high: float) -> None:
        margin = max(0.5, 0.01 * (last - first))
        left, right = first - margin, last + margin
        self._axes.set(xlim=(left, right), ylim=(low, high))
        size, room = self.style.font_size, self._right - self._left
        steps = step_ticks(left, right, most=room // round(0.65 * size * (len(str(first)) + 2)))
        values = value_ticks(low, high, most=(self._top - self._bottom) // (3 * size))
        self._grid.set_segments(
            [[(step, low), (step, high)] for step in steps.places]
            + [[(left, value), (right, value)] for value in values.places]
        )
        self._sheet.draw(self._grid)
        self._start.set_data([0.5, 0.5], [low, high])
        self._sheet.draw(self._start)
        for (x, y), label in zip(self._at(steps.places, low), steps.labels, strict=True):
            self._sheet.write(label, x, y - 0.4 * size, va="top")
        for (x, y), label in zip(self._at(left, values.places), values.labels, strict=True):
            self._sheet.write(label, x - 0.5 * size, y, ha="right")
        middle = (self._bottom + self._top) / 2
        self._sheet.write(values.title, 0.2 * size, middle, ha="left", va="center", rotation=90)

    def _draw_curves(self, case: ForecastCase, history: np.ndarray) -> None:
        # The truth continues the history, so that no gap is seen where none is. A forecast
        # begins with its first step: how far that one is off must show.
        low, high = self._axes.get_ylim()
        reach = 100 * (high - low)  # as far as can be drawn with the slope kept
        forecast = np.clip(case.prediction, low - reach, high + reach)
        self._draw_curve("history", thinned_curve(1 - history.size, history))
        self._draw_curve("forecast", thinned_curve(1, forecast))
        truth = thinned_curve(0, np.concatenate([history[-1:], case.truth]))
        self._draw_curve("truth", truth, points_from=1)

    def _draw_curve(self, name: str, curve: Curve, *, points_from: int | None = None) -> None:
        self._curves[name].set_data(curve.steps, curve.values)
        width = getattr(self.style, f"{name}_width")
        self._curves[name].set_linewidth(width * min(1.0, max(0.5, self._step_width())))
        self._sheet.draw(self._curves[name])
        marked = np.isfinite(curve.values) if self._step_width() >= _ROOMY else curve.isolated
        if points_from is not None:
            marked = marked & (curve.steps >= points_from)
        if marked.any():
            self._points[name].set_data(curve.steps[marked], curve.values[marked])
            self._sheet.draw(self._points[name])

    def _draw_leaving(self, prediction: np.ndarray) -> None:
        low, high = self._axes.get_ylim()
        inset = 7 * (high - low) / (self._top - self._bottom)
        apart = max(1, round(14 / self._step_width()))
        sides = {"v": (prediction < low, low + inset), "^": (prediction > high, high - inset)}
        for mark, (outside, edge) in sides.items():
            if outside.any():
                steps = _spread(np.flatnonzero(outside), apart) + 1
                self._leaving[mark].set_data(steps, np.full(steps.size, edge))
                self._sheet.draw(self._leaving[mark])
        note = leaving_note(prediction, low, high)
        size = self.style.font_size
        self._sheet.write(note, self._right, self._top + 0.4 * size, ha="right", va="bottom")

    def _step_width(self) -> float:
        left, right = self._axes.get_xlim()
        return (self._right - self._left) / (right - left)

    def _at(self, x: Any, y: Any) -> np.ndarray:
        return np.asarray(
            self._axes.transData.transform(np.column_stack(np.broadcast_arrays(x, y)))
        )


def render_case(case: ForecastCase, style: Style | None = None) -> bytes:
    """Draw one case; many in one style are drawn by a `Renderer` with the same bytes.

    Parameters
    ----------
    case : ForecastCase
    style : Style, optional

    Returns
    -------
    bytes
        A PNG, see `Renderer.render`.

    Examples
    --------
    >>> case = ForecastCase(id="a", history=[1, 2, 3], truth=[4, 5], prediction=[4, 6])
    >>> render_case(case) == render_case(case)
    True
    """
    return _renderer(style or Style()).render(case)


@functools.lru_cache(maxsize=4)
def _renderer(style: Style) -> Renderer:
    return Renderer(style)


def _spread(positions: np.ndarray, apart: int) -> np.ndarray:
    # The first and last of a long run stay: they show where the forecast leaves and returns.
    kept: list[int] = []
    for run in np.split(positions, np.flatnonzero(np.diff(positions) > 1) + 1):
        for index in np.linspace(0, run.size - 1, 1 + (run.size - 1) // apart, dtype=int):
            if not kept or run[index] - kept[-1] >= apart:
                kept.append(int(run[index]))
    return np.array(kept)


_START, _FRAME, _GRID = "#666666", "#999999", "#E0E0E0"

# Where steps are this many pixels apart, every one is marked.
_ROOMY = 18
