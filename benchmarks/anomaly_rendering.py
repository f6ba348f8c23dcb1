"""Measure `AnomalyRenderer` against plain pyplot drawing the same content: CPU time an image.

The pictures of both are also compared, pixel by pixel, after each is cut to its frames and
brought to the same size.

Run: python benchmarks/anomaly_rendering.py
"""

from __future__ import annotations

import io
import resource
import sys
import time
from collections.abc import Callable
from math import ceil, isqrt
from statistics import median

import matplotlib as mpl

mpl.use("agg")
import matplotlib.pyplot as plt
import numpy as np
from PIL import Image

from timevista_hf.cases import AnomalyCase
from timevista_hf.rendering import AnomalyRenderer

ROUNDS = 10


def main() -> None:
    """Print how memory grows over 2,000 pictures, and the table."""
    renderer = AnomalyRenderer()
    _print_memory(renderer)
    print("CPU time an image, median of", ROUNDS, "different cases; PNG bytes of the last;")
    print(
        "pixels that differ by more than half the range; ink that the other has not within 2 pixels"
    )
    print(
        f"{'variates':>8} {'pyplot':>10} {'ours':>10} {'ratio':>6} {'pyplot':>9} {'ours':>9} "
        f"{'pixels':>7} {'ink':>6}"
    )
    for num_variates in (1, 4, 9, 16, 25, 36):
        cases = [_case(num_variates, seed) for seed in range(ROUNDS + 1)]
        plain, plain_image = _measure(_draw_with_pyplot, cases)
        ours, image = _measure(renderer.render, cases)
        pixels, ink = _distance(plain_image, image)
        print(
            f"{num_variates:>8} {plain:>7.1f} ms {ours:>7.1f} ms {plain / ours:>5.1f}x "
            f"{len(plain_image):>9,} {len(image):>9,} {pixels:>7.1%} {ink:>6.2%}"
        )


def _measure(draw: Callable[[AnomalyCase], bytes], cases: list[AnomalyCase]) -> tuple[float, bytes]:
    image = draw(cases[0])  # fonts and imports are paid once
    spent = []
    for case in cases[1:]:
        before = time.process_time()
        image = draw(case)
        spent.append(1000 * (time.process_time() - before))
    return median(spent), image


def _draw_with_pyplot(case: AnomalyCase) -> bytes:
    if case.num_variates == 1:
        figure, axes = plt.subplots(figsize=(10, 1.5), dpi=100)
        axes.plot(case.values, color="steelblue", linewidth=1.5)
    else:
        rows = isqrt(case.num_variates)
        columns = ceil(case.num_variates / rows)
        figure, grid = plt.subplots(rows, columns, figsize=(10 * columns / rows, 10), dpi=100)
        for place, axes in enumerate(grid.flat):
            if place < case.num_variates:
                axes.plot(case.values[:, place], color="steelblue", linewidth=1.5)
                axes.set(xticks=[], yticks=[])
            else:
                axes.axis("off")
    figure.tight_layout()
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png")
    plt.close(figure)
    return buffer.getvalue()


def _distance(one: bytes, other: bytes) -> tuple[float, float]:
    shades = [_inside_frames(image) for image in (one, other)]
    height, width = shades[1].shape
    shades[0] = np.asarray(Image.fromarray(shades[0]).resize((width, height))).astype(int)
    pixels = np.mean(np.abs(shades[0] - shades[1]) > 127)
    inks = [shade < 200 for shade in shades]
    missed = [(ink & ~_grown(of)).sum() for ink, of in (inks, inks[::-1])]
    return float(pixels), float(sum(missed) / sum(ink.sum() for ink in inks))


def _inside_frames(image: bytes) -> np.ndarray:
    shade = np.asarray(Image.open(io.BytesIO(image)).convert("RGB")).min(axis=-1)
    # Frames are the only dark lines that are long.
    dark = shade < 100
    rows = np.flatnonzero(dark.mean(axis=1) > 0.5)
    columns = np.flatnonzero(dark.mean(axis=0) > 0.5)
    return shade[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]


def _grown(ink: np.ndarray) -> np.ndarray:
    grown = np.zeros_like(ink)
    for down in range(-2, 3):
        for right in range(-2, 3):
            grown |= np.roll(ink, (down, right), axis=(0, 1))
    return grown


def _print_memory(renderer: AnomalyRenderer) -> None:
    cases = [_case(num_variates, seed) for seed in range(5) for num_variates in (1, 9)]
    print("peak memory in MB after 200, 1,000 and 2,000 pictures:", end="")
    for count in range(1, 2001):
        renderer.render(cases[count % len(cases)])
        if count in (200, 1000, 2000):
            unit = 2**20 if sys.platform == "darwin" else 2**10
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
            print(f" {peak:.1f}", end="", flush=True)
    print()


def _case(num_variates: int, seed: int) -> AnomalyCase:
    rng = np.random.default_rng(seed)
    steps = np.arange(400 if num_variates == 1 else 200)
    waves = [
        np.sin(2 * np.pi * rng.uniform(0.03, 0.05) * steps) + 0.1 * rng.normal(size=steps.size)
        for _ in range(num_variates)
    ]
    if num_variates == 1:
        return AnomalyCase(id=str(seed), values=waves[0], granularity="range")
    return AnomalyCase(id=str(seed), values=np.column_stack(waves), granularity="variate")


if __name__ == "__main__":
    main()
