"""Measure `Renderer` against plain pyplot drawing the same content: CPU time an image.

Run: python benchmarks/rendering.py
"""

from __future__ import annotations

import io
import time
from collections.abc import Callable
from statistics import median

import matplotlib as mpl

mpl.use("agg")
import matplotlib.pyplot as plt
import numpy as np

from timevista_hf.cases import ForecastCase
from timevista_hf.rendering import Renderer, Style

ROUNDS = 25


def main() -> None:
    """Print the table."""
    renderer, style = Renderer(), Style()
    print("CPU time an image, median of", ROUNDS, "different cases; PNG bytes of the last")
    print(
        f"{'horizon':>8} {'pyplot':>10} {'Renderer':>10} {'ratio':>6} {'pyplot':>9} {'Renderer':>9}"
    )
    for horizon in (12, 96, 720):
        cases = [_case(horizon, seed) for seed in range(ROUNDS + 1)]
        plain, plain_size = _measure(lambda case: _draw_with_pyplot(case, style), cases)
        ours, ours_size = _measure(renderer.render, cases)
        print(
            f"{horizon:>8} {plain:>7.1f} ms {ours:>7.1f} ms {plain / ours:>5.1f}x "
            f"{plain_size:>9,} {ours_size:>9,}"
        )


def _measure(draw: Callable[[ForecastCase], bytes], cases: list[ForecastCase]) -> tuple[float, int]:
    image = draw(cases[0])  # fonts and imports are paid once
    spent = []
    for case in cases[1:]:
        before = time.process_time()
        image = draw(case)
        spent.append(1000 * (time.process_time() - before))
    return median(spent), len(image)


def _draw_with_pyplot(case: ForecastCase, style: Style) -> bytes:
    history = case.history[-3 * case.horizon :]
    steps = np.arange(1, case.horizon + 1)
    figure, axes = plt.subplots(figsize=(style.width / 100, style.height / 100), dpi=100)
    axes.plot(np.arange(1 - history.size, 1), history, color=style.history_color, label="History")
    axes.plot(steps, case.prediction, color=style.forecast_color, lw=2.5, label="Forecast")
    axes.plot(steps, case.truth, color=style.truth_color, lw=1, label="Truth")
    axes.axvline(0.5, color="0.4", linestyle="--")
    axes.grid(color="0.88")
    axes.set(xlabel="Step", ylabel="Value")
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=3, frameon=False)
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png")
    plt.close(figure)
    return buffer.getvalue()


def _case(horizon: int, seed: int) -> ForecastCase:
    rng = np.random.default_rng(seed)
    steps = np.arange(4 * horizon)
    values = 10 * np.sin(2 * np.pi * steps / 24) + 0.01 * steps + rng.normal(size=steps.size)
    values = values * rng.uniform(1, 100)
    history, truth = values[: 3 * horizon], values[3 * horizon :]
    return ForecastCase(
        id=str(seed), history=history, truth=truth, prediction=truth + rng.normal(size=horizon)
    )


if __name__ == "__main__":
    main()
