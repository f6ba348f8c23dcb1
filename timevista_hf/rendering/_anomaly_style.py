"""How a series with anomalies is drawn: one value object, and its fingerprint."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from typing import Literal, get_args

import matplotlib
from matplotlib.colors import to_hex

from timevista_hf.loading.known import check_known
from timevista_hf.rendering._style import check_color, check_line_width, check_size

Grid = Literal["near_square", "paper_code"]


@dataclass(frozen=True, kw_only=True)
class AnomalyStyle:
    """Say how a series with anomalies is drawn; every length is in pixels.

    Parameters
    ----------
    width : int
        Width of the picture, from 500 to 6000.
    height : int, optional
        Height of the picture, from 120 to 6000; None is 150 for one variate and 1000 for
        several.
    line_color : str
        Any opaque colour of matplotlib but white and the red of the marks.
    line_width : float
        Above 0. Lines are drawn thinner, down to half, where two steps are less than a pixel
        apart.
    grid : {"near_square", "paper_code"}
        How many panels stand in a row: ⌈√M⌉ as the paper says, or as many as leave ⌊√M⌋ rows,
        as its code does. They agree where M is a square.
    marks : bool
        Whether the truth is drawn in red: ranges shaded, points as dashed lines, variates as red
        curves. Never for a picture that a judge is to see.

    Raises
    ------
    ValueError
        For a value outside these rules.

    Examples
    --------
    >>> AnomalyStyle().size(1), AnomalyStyle().size(9)
    ((1000, 150), (1000, 1000))
    """

    width: int = 1000
    height: int | None = None
    line_color: str = "#4682B4"
    line_width: float = 2.0
    grid: Grid = "near_square"
    marks: bool = False

    def __post_init__(self) -> None:
        check_size("AnomalyStyle", "width", self.width, 500, 6000)
        if self.height is not None:
            check_size("AnomalyStyle", "height", self.height, 120, 6000)
        taken = {"#ffffff": "the background", to_hex(MARK): "the marks"}
        check_color("AnomalyStyle", "line_color", self.line_color, taken)
        check_line_width("AnomalyStyle", "line_width", self.line_width)
        check_known("`grid`", self.grid, get_args(Grid))

    def size(self, num_variates: int) -> tuple[int, int]:
        """Return width and height of the picture of so many variates.

        Parameters
        ----------
        num_variates : int

        Examples
        --------
        >>> AnomalyStyle(width=600, height=400).size(4)
        (600, 400)
        """
        return self.width, self.height or (150 if num_variates == 1 else 1000)

    @property
    def fingerprint(self) -> str:
        """All that can change the picture of a case: size, grid, versions, hash of the style."""
        said = json.dumps(asdict(self), sort_keys=True)
        digest = hashlib.sha256(said.encode()).hexdigest()[:12]
        size = f"{self.width}x{self.height or 'auto'}-{self.grid}"
        return f"anomalies{RULE}-{size}-mpl{matplotlib.__version__}-{digest}"


MARK, SHADE = "#D62728", "#F7D4D4"

# Part of the fingerprint: it grows whenever the same style draws another picture.
RULE = 1
