"""The picture of a series with anomalies: its curves alone, or with the truth marked in red."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.lines import Line2D
from matplotlib.transforms import IdentityTransform

from timevista_hf.cases import AnomalyCase
from timevista_hf.rendering._anomaly_layout import FONT_SIZE, Panel, panels_of, variates_of
from timevista_hf.rendering._anomaly_style import MARK, SHADE, AnomalyStyle
from timevista_hf.rendering._matplotlib import INK, Sheet, default_settings
from timevista_hf.rendering._png import encode_png
from timevista_hf.rendering._scale import step_ticks, value_ticks
from timevista_hf.rendering._window import thinned_curve


class AnomalyRenderer:
    """Draw many cases in one style, many times faster than with axes for each variate.

    One variate is drawn in a box with step and value axes; steps count from 0. Several are drawn
    in panels without axes, row by row from variate 0 at the upper left, each over its own range
    of values. Missing steps are blank, and a step observed between them is a dot. The bytes
    depend on the case and the style only: not on what was drawn before, nor on the user's
    matplotlib settings. Threads may share a renderer.

    Parameters
    ----------
    style : AnomalyStyle, optional

    Examples
    --------
    >>> renderer = AnomalyRenderer(AnomalyStyle(width=600))
    >>> case = AnomalyCase(id="a", values=[0, 9, 0, 0], granularity="point", events=[(1, 2)])
    >>> renderer.render(case)[1:4]
    b'PNG'
    """

    def __init__(self, style: AnomalyStyle | None = None) -> None:
        self.style = style or AnomalyStyle()
        self._sheets: dict[tuple[int, int], Sheet] = {}

    def render(self, case: AnomalyCase) -> bytes:
        """Draw a case.

        Parameters
        ----------
        case : AnomalyCase

        Returns
        -------
        bytes
            A PNG of `style.size(case.num_variates)` pixels, without metadata.

        Raises
        ------
        ValueError
            For values of a size above 1e300, and for more variates than there is room for.
        """
        panels = panels_of(case, self.style)
        with default_settings():
            self._sheet = self._sheet_of(self.style.size(case.num_variates))
            self._sheet.restore()
            if self.style.marks:
                self._draw_events(case, panels[0])
            if case.num_variates == 1:
                self._draw_scale(panels[0])
            self._draw_curves(case, panels)
            self._draw_lines([panel.outline for panel in panels], color=INK, **_CRISP)
            exact = [INK, self.style.line_color, MARK, SHADE]
            return encode_png(self._sheet.pixels, exact=exact)

    def _sheet_of(self, size: tuple[int, int]) -> Sheet:
        if size not in self._sheets:
            sheet = Sheet(*size, FONT_SIZE)
            sheet.canvas.draw()
            sheet.keep()
            self._sheets[size] = sheet
        return self._sheets[size]

    def _draw_events(self, case: AnomalyCase, panel: Panel) -> None:
        if case.granularity == "point":
            lines = [_across(panel, start) for start in case.events[:, 0]]
            self._draw_lines(lines, color=MARK, linestyle="dashed", **_CRISP)
        if case.granularity == "range":
            shades = [_shade(panel, start, stop) for start, stop in case.events]
            self._draw_artist(PolyCollection(shades, color=SHADE, linewidth=0, antialiased=False))

    def _draw_scale(self, panel: Panel) -> None:
        steps = step_ticks(panel.first, panel.last, most=(panel.right - panel.left) // 60)
        most = (panel.top - panel.bottom) // (2 * FONT_SIZE)
        values = value_ticks(panel.low, panel.high, most=most)
        below = panel.at(steps.places, np.full(steps.places.size, panel.low))
        beside = panel.at(np.full(values.places.size, panel.first), values.places)
        ticks = [(place, place - np.array([0, 4])) for place in _centers(below)]
        ticks += [(place, place - np.array([4, 0])) for place in _centers(beside)]
        self._draw_lines(ticks, color=INK, **_CRISP)
        for (x, y), label in zip(below, steps.labels, strict=True):
            self._sheet.write(label, x, y - 6, va="top")
        for (x, y), label in zip(beside, values.labels, strict=True):
            self._sheet.write(label, x - 7, y, ha="right")
        if values.title != "Value":
            self._sheet.write(values.title, panel.left, panel.top + 3, ha="left", va="bottom")

    def _draw_curves(self, case: AnomalyCase, panels: Sequence[Panel]) -> None:
        lines = [
            _line(panel, values) for panel, values in zip(panels, variates_of(case), strict=True)
        ]
        found = case.variates if self.style.marks else ()
        red = np.isin(np.arange(case.num_variates), found)
        width = self.style.line_width * min(1.0, max(0.5, 2 * panels[0].step_width))
        for color, chosen in ((self.style.line_color, ~red), (MARK, red)):
            places = np.flatnonzero(chosen)
            self._draw_lines([lines[place] for place in places], color=color, linewidth=width)
            dots = [_dots(lines[place], self.style.line_width) for place in places]
            self._draw_dots(np.concatenate([np.empty((0, 2)), *dots]), color)

    def _draw_dots(self, places: np.ndarray, color: str) -> None:
        x, y = places.T
        size = self.style.line_width + 2
        dots = Line2D(x, y, marker="o", markersize=size, markeredgewidth=0, linestyle="none")
        dots.set_color(color)
        self._draw_artist(dots)

    def _draw_lines(self, lines: Sequence[Any], *, color: str, **look: Any) -> None:
        self._draw_artist(LineCollection(lines, colors=color, **{"linewidth": 1, **look}))

    def _draw_artist(self, artist: Any) -> None:
        artist.set_figure(self._sheet.figure)
        artist.set_transform(IdentityTransform())
        self._sheet.draw(artist)


def render_anomalies(case: AnomalyCase, style: AnomalyStyle | None = None) -> bytes:
    """Draw one case; many in one style are drawn by an `AnomalyRenderer` with the same bytes.

    Parameters
    ----------
    case : AnomalyCase
    style : AnomalyStyle, optional

    Returns
    -------
    bytes
        A PNG, see `AnomalyRenderer.render`.

    Examples
    --------
    >>> case = AnomalyCase(id="a", values=[0, 9, 0, 0], granularity="point", events=[(1, 2)])
    >>> render_anomalies(case) == render_anomalies(case)
    True
    """
    return _renderer(style or AnomalyStyle()).render(case)


@functools.lru_cache(maxsize=4)
def _renderer(style: AnomalyStyle) -> AnomalyRenderer:
    return AnomalyRenderer(style)


def _line(panel: Panel, values: np.ndarray) -> np.ndarray:
    # Two extremes in every half pixel: more cannot be seen.
    curve = thinned_curve(0, values, most=4 * (panel.right - panel.left))
    return panel.at(curve.steps, curve.values)


def _dots(line: np.ndarray, width: float) -> np.ndarray:
    # Steps alone between missing ones, or so few that their line would be shorter than wide.
    missing = np.isnan(line[:, 1])
    start, stop = np.flatnonzero(np.diff(np.r_[True, missing, True])).reshape(-1, 2).T
    along = np.r_[0, np.cumsum(np.nan_to_num(np.hypot(*np.diff(line, axis=0).T)))]
    short = along[stop - 1] - along[start] < width
    return np.asarray((line[start[short]] + line[stop[short] - 1]) / 2)


def _across(panel: Panel, step: int) -> np.ndarray:
    return _centers(panel.at(np.full(2, step), np.array([panel.low, panel.high])))


def _centers(places: np.ndarray) -> np.ndarray:
    return np.asarray(np.floor(places) + 0.5)


def _shade(panel: Panel, start: int, stop: int) -> np.ndarray:
    # Half a step beyond its steps, but at least a pixel: it must be seen.
    beyond = max(0.5, 1 / panel.step_width)
    left, right = np.clip([start - beyond, stop - 1 + beyond], panel.first, panel.last)
    low, high = panel.low, panel.high
    return panel.at(np.array([left, right, right, left]), np.array([low, low, high, high]))


# A line along the middle of pixels fills just these.
_CRISP: Any = {"antialiased": False, "snap": False}
