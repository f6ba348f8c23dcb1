"""Figures of a run: how F1 changes with the number of variates, and with missing steps."""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from typing import Any, Literal

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from timevista_hf.rendering._matplotlib import default_settings
from timevista_hf.results.anomalies import AnomalyScores, SubsetScores
from timevista_hf.synthesis.anomalies import AnomalySubset, find_subset

Effect = Literal["num_variates", "irregularity"]

_Panels = dict[tuple[str, str], dict[int, SubsetScores]]


def draw_effect(scores: Sequence[SubsetScores], effect: Effect) -> bytes | None:
    """Draw F1 against the number of variates, or against the share of missing steps.

    A panel is a base and an anomaly. The judge is a thick line in its interval, chance is dashed,
    published numbers are thin.

    Parameters
    ----------
    scores : sequence of SubsetScores
        Of subsets that `find_subset` knows; others are passed over.
    effect : {"num_variates", "irregularity"}
        What is on the horizontal axis: as in figure 4 of the paper, of series without missing
        steps, or as in figure 5.

    Returns
    -------
    bytes or None
        A PNG; None where no base and anomaly has two subsets to compare.

    Examples
    --------
    >>> draw_effect([], "irregularity") is None
    True
    """
    panels = _panels(scores, effect)
    if not panels:
        return None
    with default_settings():
        return _draw(panels, effect)


def _panels(scores: Sequence[SubsetScores], effect: Effect) -> _Panels:
    panels: _Panels = {}
    for one in scores:
        try:
            subset = find_subset(one.subset)
        except ValueError:
            continue
        if effect == "irregularity" or (subset.num_variates > 1 and not subset.irregularity):
            key = (_row(subset, effect), subset.anomaly)
            panels.setdefault(key, {})[getattr(subset, effect)] = one
    return {key: dict(sorted(of.items())) for key, of in panels.items() if len(of) > 1}


def _row(subset: AnomalySubset, effect: Effect) -> str:
    several = effect == "irregularity" and subset.num_variates > 1
    return subset.base.replace("_", " ") + (f", M = {subset.num_variates}" if several else "")


def _draw(panels: _Panels, effect: Effect) -> bytes:
    rows = [*dict.fromkeys(row for row, _ in panels)]
    columns = max(sum(row == name for name, _ in panels) for row in rows)
    size = (2.5 * columns + 2.2, max(2.2 * len(rows), 3.0))  # inches; a legend stands beside
    figure = Figure(figsize=size, dpi=100, layout="constrained")
    canvas: Any = FigureCanvasAgg(figure)
    axes = figure.subplots(len(rows), columns, squeeze=False, sharey=True)
    for line, row in zip(axes, rows, strict=True):
        mine = [(anomaly, of) for (name, anomaly), of in panels.items() if name == row]
        for axis in line[len(mine) :]:
            axis.set_axis_off()
        line[0].set_ylabel(f"{row}\nF1 in %", fontsize=8)
        for axis, (anomaly, of) in zip(line, mine, strict=False):
            axis.set_title(anomaly.replace("_", " "), fontsize=9)
            axis.set_xlabel(_LABELS[effect], fontsize=8)
            _draw_panel(axis, of)
    handles = {
        label: handle
        for axis in axes.ravel()
        for handle, label in zip(*axis.get_legend_handles_labels(), strict=True)
    }
    figure.legend([*handles.values()], [*handles], loc="outside right upper", fontsize=7)
    file = io.BytesIO()
    canvas.print_png(file, metadata={"Software": None})  # the same bytes with every version
    return file.getvalue()


def _draw_panel(axis: Any, of: dict[int, SubsetScores]) -> None:
    places = [*of]
    lines: dict[tuple[str, str], list[AnomalyScores | None]] = {}
    for column, one in enumerate(of.values()):
        for row in one.rows:
            line = lines.setdefault((row.kind, row.rater), [None] * len(places))
            line[column] = row
    counts = {"judge": 0, "chance": 0, "published": 0}
    for (kind, rater), found in lines.items():
        look = _looks(kind, counts[kind])
        counts[kind] += 1
        label = rater if kind == "judge" else f"{rater} ({kind})"
        axis.plot(places, [_f1(row, "mean") for row in found], label=label, **look)
        if kind == "judge":
            low, high = ([_f1(row, end) for row in found] for end in ("low", "high"))
            axis.fill_between(places, low, high, color=look["color"], alpha=0.2, linewidth=0)
    axis.set(xticks=places, ylim=(-3, 103))
    axis.tick_params(labelsize=7)
    axis.set_axisbelow(True)
    axis.grid(axis="y", color="#e4e4e4", linewidth=0.6)


def _looks(kind: str, number: int) -> dict[str, Any]:
    if kind == "judge":
        return {"color": "#0a5c9c", "linewidth": 2.4, "marker": "o", "markersize": 4, "zorder": 3}
    if kind == "chance":
        dashes = ((4, 2), (1, 1.5), (6, 2, 1, 2), (2, 1))[number % 4]
        return {"color": "#333333", "linewidth": 1.0, "dashes": dashes, "zorder": 2}
    return {"color": _THIN[number % len(_THIN)], "linewidth": 0.8, "zorder": 1}


def _f1(row: AnomalyScores | None, end: str) -> float:
    return math.nan if row is None else 100 * float(getattr(row.f1, end))


_LABELS = {"num_variates": "number of variates M", "irregularity": "missing steps in %"}
_THIN = ("C1", "C2", "C3", "C4", "C5", "C6", "C8", "C9")
