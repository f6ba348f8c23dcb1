"""How a case is drawn: one value object, and the fingerprint that a judgment carries."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Literal, get_args

import matplotlib
import numpy as np
from matplotlib.colors import is_color_like, to_hex

Line = Literal["solid", "dashed", "dashdot", "dotted"]


@dataclass(frozen=True, kw_only=True)
class Style:
    """Say how a case is drawn; every length is in pixels.

    Parameters
    ----------
    width, height : int
        Size of the picture, from 600 × 400 to 6000 × 4000.
    context : int, optional
        Steps of history shown, ≥ 1; None shows the last three horizons.
    history_color, truth_color, forecast_color : str
        Any opaque colour of matplotlib; no two alike, and none white.
    history_line, truth_line, forecast_line : {"solid", "dashed", "dashdot", "dotted"}
    history_width, truth_width, forecast_width : float
        Above 0. The truth is drawn over the forecast: it stays visible, and so does the
        forecast behind it, where the truth is the thinner line. All are drawn thinner, down to
        half, where steps are less than a pixel apart.
    font_size : int
        Of all text, 13 to 18.

    Raises
    ------
    ValueError
        For a value outside these rules.

    Examples
    --------
    >>> Style(context=48).width
    1200
    """

    width: int = 1200
    height: int = 500
    context: int | None = None
    history_color: str = "#000000"
    truth_color: str = "#0072B2"
    forecast_color: str = "#D55E00"
    history_line: Line = "solid"
    truth_line: Line = "solid"
    forecast_line: Line = "solid"
    history_width: float = 1.5
    truth_width: float = 1.6
    forecast_width: float = 4.0
    font_size: int = 15

    def __post_init__(self) -> None:
        check_size("Style", "width", self.width, 600, 6000)
        check_size("Style", "height", self.height, 400, 4000)
        check_size("Style", "font_size", self.font_size, 13, 18)
        if self.context is not None:
            check_context(self.context)
        self._check_colors()
        for curve in CURVES:
            line, width = getattr(self, f"{curve}_line"), getattr(self, f"{curve}_width")
            if line not in get_args(Line):
                raise ValueError(
                    f"Style: `{curve}_line` must be one of {', '.join(get_args(Line))}, "
                    f"got {line!r}"
                )
            check_line_width("Style", f"{curve}_width", width)

    @classmethod
    def with_aspect(cls, aspect: str) -> Style:
        """Return the default style with another aspect ratio; the height stays 500.

        Parameters
        ----------
        aspect : {"6:5", "12:5", "18:5", "24:5"}

        Raises
        ------
        ValueError
            For another ratio.

        Examples
        --------
        >>> Style.with_aspect("24:5").width
        2400
        """
        if aspect not in _ASPECTS:
            raise ValueError(f"unknown aspect {aspect!r}. Known: {', '.join(_ASPECTS)}")
        return cls(width=_ASPECTS[aspect])

    @classmethod
    def random(cls, seed: int) -> Style:
        """Draw colours, line styles and widths, to see whether a judge depends on them.

        Parameters
        ----------
        seed : int
            ≥ 0; the same seed gives the same style. The colours stay apart in every form of
            colour blindness, and the truth stays thinner than the forecast.

        Examples
        --------
        >>> Style.random(7) == Style.random(7)
        True
        """
        rng = np.random.default_rng(seed)
        truth, forecast = rng.permutation(np.array(_SAFE_PAIRS[rng.integers(len(_SAFE_PAIRS))]))
        lines: tuple[Line, ...] = ("solid", "dashed", "dashdot")
        return cls(
            truth_color=str(truth),
            forecast_color=str(forecast),
            truth_line=lines[rng.integers(2)],
            forecast_line=lines[rng.integers(3)],
            history_width=round(float(rng.uniform(1.2, 2.2)), 1),
            truth_width=round(float(rng.uniform(1.7, 2.1)), 1),
            forecast_width=round(float(rng.uniform(4.0, 5.2)), 1),
        )

    @property
    def fingerprint(self) -> str:
        """All that can change the picture of a case: size, window, versions, hash of the style."""
        window = "3H" if self.context is None else str(self.context)
        said = json.dumps(asdict(self), sort_keys=True)
        digest = hashlib.sha256(said.encode()).hexdigest()[:12]
        size = f"{self.width}x{self.height}"
        return f"plot{RULE}-{size}-context{window}-mpl{matplotlib.__version__}-{digest}"

    def _check_colors(self) -> None:
        seen = {"#ffffff": "the background"}
        for name in (f"{curve}_color" for curve in CURVES):
            check_color("Style", name, getattr(self, name), seen)
            seen[to_hex(getattr(self, name))] = f"`{name}`"


def check_size(style: str, name: str, value: object, lowest: int, highest: int) -> None:
    """Refuse a number of pixels that is no integer, or outside the range."""
    if not isinstance(value, int) or not lowest <= value <= highest:
        raise ValueError(
            f"{style}: `{name}` must be an integer from {lowest} to {highest}, got {value!r}"
        )


def check_line_width(style: str, name: str, value: float) -> None:
    """Refuse a line that is not seen, or hides the picture."""
    if not 0 < value <= 20:
        raise ValueError(f"{style}: `{name}` must be in (0, 20], got {value!r}")


def check_color(style: str, name: str, value: object, taken: Mapping[str, str]) -> None:
    """Refuse what is no opaque colour, or one that is taken; `taken` says by what."""
    if not isinstance(value, str) or not is_color_like(value):
        raise ValueError(f"{style}: `{name}` must be a colour, got {value!r}")
    if not to_hex(value, keep_alpha=True).endswith("ff"):
        raise ValueError(f"{style}: `{name}` must be opaque, got {value!r}")
    if to_hex(value) in taken:
        raise ValueError(
            f"{style}: `{name}` must differ from {taken[to_hex(value)]}, got {value!r}"
        )


def check_context(context: int) -> None:
    """Refuse a number of history steps that shows nothing."""
    if not isinstance(context, int) or context < 1:
        raise ValueError(f"`context` must be an integer of at least 1, or None, got {context!r}")


CURVES = ("history", "truth", "forecast")

# Part of the fingerprint: it grows whenever the same style draws another picture.
RULE = 1

_ASPECTS = {"6:5": 600, "12:5": 1200, "18:5": 1800, "24:5": 2400}

# From the palettes of Okabe-Ito, Tol and IBM; each has a contrast of 3 or more on white, and a
# colour difference of 45 or more between the two however colours are seen.
_SAFE_PAIRS = (
    ("#0072B2", "#D55E00"),
    ("#004488", "#CC3311"),
    ("#332288", "#D55E00"),
    ("#785EF0", "#CC3311"),
    ("#0077BB", "#997700"),
    ("#785EF0", "#882255"),
    ("#228833", "#AA4499"),
    ("#117733", "#AA4499"),
    ("#009988", "#D55E00"),
    ("#4477AA", "#CC3311"),
)
