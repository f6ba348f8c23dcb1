"""Where the curves of an anomaly picture stand: in one box with axes, or in a grid of panels."""

from __future__ import annotations

from dataclasses import dataclass
from math import isqrt

import numpy as np

from timevista_hf.cases import AnomalyCase
from timevista_hf.rendering._anomaly_style import AnomalyStyle, Grid
from timevista_hf.rendering._scale import series_limits

FONT_SIZE = 14


@dataclass(frozen=True, kw_only=True)
class Panel:
    """A box in pixels from the lower left, and the steps and values at its sides."""

    left: int
    bottom: int
    right: int
    top: int
    first: float
    last: float
    low: float
    high: float

    @property
    def step_width(self) -> float:
        """Pixels from one step to the next."""
        return (self.right - self.left) / (self.last - self.first)

    @property
    def outline(self) -> np.ndarray:
        """The closed frame, along the middle of pixels, of shape (5, 2)."""
        x = np.array([self.left, self.right, self.right, self.left, self.left])
        y = np.array([self.bottom, self.bottom, self.top, self.top, self.bottom])
        return np.column_stack([x, y]) + 0.5

    def at(self, steps: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Return the pixels of steps and values, [N, 2]."""
        across = (steps - self.first) / (self.last - self.first)
        up = (values - self.low) / (self.high - self.low)
        x = self.left + 0.5 + across * (self.right - self.left)
        return np.column_stack([x, self.bottom + 0.5 + up * (self.top - self.bottom)])


def panels_of(case: AnomalyCase, style: AnomalyStyle) -> list[Panel]:
    """Place every variate, each in its own range of values with a margin of 5 % on all sides."""
    if case.num_variates == 1:
        return [_panel(case.values, _axes_box(style), case.label)]
    boxes = _panel_boxes(case, style)
    return [
        _panel(values, box, f"{case.label}, variate {place}")
        for place, (values, box) in enumerate(zip(variates_of(case), boxes, strict=True))
    ]


def variates_of(case: AnomalyCase) -> np.ndarray:
    """Return the values of each variate side by side in memory, [M, T]."""
    return np.ascontiguousarray(case.values.reshape(case.steps, -1).T)


def panel_grid(num_variates: int, grid: Grid) -> tuple[int, int]:
    """Return the rows and columns that panels stand in, row by row from the upper left.

    Parameters
    ----------
    num_variates : int
        Number of panels, M ≥ 1.
    grid : {"near_square", "paper_code"}
        As in `AnomalyStyle`.

    Examples
    --------
    >>> panel_grid(7, "near_square"), panel_grid(7, "paper_code")
    ((3, 3), (2, 4))
    """
    if grid == "paper_code":
        rows = isqrt(num_variates)
        return rows, -(-num_variates // rows)
    columns = isqrt(num_variates - 1) + 1
    return -(-num_variates // columns), columns


def _panel(values: np.ndarray, box: tuple[int, int, int, int], label: str) -> Panel:
    low, high = series_limits(values, label)
    left, bottom, right, top = box
    end = values.size - 1
    return Panel(
        left=left,
        bottom=bottom,
        right=right,
        top=top,
        first=-0.05 * end,
        last=1.05 * end,
        low=low,
        high=high,
    )


def _axes_box(style: AnomalyStyle) -> tuple[int, int, int, int]:
    # Room for ten characters on the left, and for a line of text below and above.
    width, height = style.size(1)
    return 7 * FONT_SIZE, 24, width - 15, height - 20


def _panel_boxes(case: AnomalyCase, style: AnomalyStyle) -> list[tuple[int, int, int, int]]:
    width, height = style.size(case.num_variates)
    rows, columns = panel_grid(case.num_variates, style.grid)
    pitch = min(width // columns, height // rows)
    if pitch < _SMALLEST_PITCH:
        raise ValueError(
            f"{case.label}: {rows} × {columns} panels do not fit {width} × {height} pixels; "
            f"draw fewer variates, or a picture with {_SMALLEST_PITCH} pixels a panel"
        )
    gap = min(15, pitch // 10)
    across, down = _edges(width, columns, gap), height - 1 - _edges(height, rows, gap)
    boxes = [
        (left, bottom, right, top)
        for top, bottom in down.tolist()
        for left, right in across.tolist()
    ]
    return boxes[: case.num_variates]


def _edges(length: int, count: int, gap: int) -> np.ndarray:
    # The frames of neighbours are a gap apart, and those at the border as far from it.
    side = (length - gap * (count + 1)) / count
    starts = gap + (side + gap) * np.arange(count)
    return np.round(np.column_stack([starts, starts + side])).astype(int)  # [count, 2]


_SMALLEST_PITCH = 20
