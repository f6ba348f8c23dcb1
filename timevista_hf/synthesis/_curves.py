"""Slow curves between -1 and 1: how an amplitude or a speed changes over a series."""

from __future__ import annotations

import numpy as np

from timevista_hf.synthesis.kernels import BaseKernel, Kernel, sample_prior

WANDERING = Kernel((BaseKernel("rbf", 0.1),))

CURVES = ("rising", "falling", "swaying", "shifting", "wandering")  # and "steady": none of them


def draw_curve(name: str, steps: int, rng: np.random.Generator) -> np.ndarray:
    """Draw a curve of that kind, in [-1, 1]; a steady one is 0 everywhere."""
    s = np.linspace(0, 1, steps)
    if name == "steady":
        return np.zeros(steps)
    if name == "swaying":
        return np.sin(2 * np.pi * (rng.uniform(2, 6) * s + rng.uniform()))
    if name == "shifting":
        return float(rng.choice([-1, 1])) * np.tanh((s - rng.uniform(0.6, 0.9)) / 0.04)
    if name == "wandering":
        path = sample_prior(WANDERING, steps, rng)
        return np.asarray(2 * (path - path.min()) / np.ptp(path) - 1)
    return (2 * s - 1) * (1 if name == "rising" else -1)
