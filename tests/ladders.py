"""Synthetic cases y(t) = T(t) + A(t)·M(P(t)) and ladders that damage one of the four parts.

Grade 0 leaves a part alone; grades 1 to 5 damage it more and more. Shapes that replace one another
are put where they overlap best, so that a replaced motif does not move in time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from timevista_hf.cases import ForecastCase

PARTS = ("trend", "motif", "phase", "magnitude")
NONE = dict.fromkeys(PARTS, 0)


def bump(p: np.ndarray, at: float, width: float) -> np.ndarray:
    """A Gaussian bump on the unit circle."""
    d = (p - at + 0.5) % 1.0 - 0.5
    return np.exp(-0.5 * (d / width) ** 2)


SHAPES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "sine": lambda p: np.sin(2 * np.pi * p),
    "spikes": lambda p: bump(p, 0.3, 0.03),
    "beats": lambda p: bump(p, 0.3, 0.02) - 0.3 * bump(p, 0.36, 0.02) + 0.3 * bump(p, 0.6, 0.05),
    "plateau": lambda p: np.tanh(4 * np.sin(2 * np.pi * p)),
    "double": lambda p: bump(p, 0.3, 0.07) + 0.7 * bump(p, 0.6, 0.07),
    "bell": lambda p: np.clip(np.sin(2 * np.pi * p), 0, None) ** 1.5,
    "asymmetric": lambda p: np.where(p % 1 < 0.2, (p % 1) / 0.2, (1 - p % 1) / 0.8),
    "sawtooth": lambda p: p % 1,
    "triangle": lambda p: np.abs(2 * (p % 1) - 1),
    "valleys": lambda p: -bump(p, 0.35, 0.06) - 0.6 * bump(p, 0.75, 0.08),
    "burst": lambda p: np.exp(-5 * (p % 1)) * (1 - np.exp(-60 * (p % 1))),
    "harmonics": lambda p: np.sin(2 * np.pi * p) + 0.6 * np.sin(4 * np.pi * p + 1),
    "square": lambda p: (p % 1 < 0.4).astype(float),
    "wiggle": lambda p: np.sin(2 * np.pi * p) + 0.4 * np.sin(10 * np.pi * p),
}


def motif(name: str, offset: float = 0.0, *, norm: str = "range") -> Callable:
    """A shape, centred, of unit height ("range") or unit deviation ("std")."""
    grid = np.arange(512) / 512
    values = SHAPES[name](grid)
    centre = values.mean()
    scale = np.ptp(values) / 2 if norm == "range" else values.std() * np.sqrt(2)
    return lambda p: (SHAPES[name]((p + offset) % 1.0) - centre) / scale


def aligned(name: str, other: str, norm: str) -> Callable:
    """The other shape, turned to where it overlaps the first best."""
    grid = np.arange(512) / 512
    first, second = motif(name)(grid), motif(other)(grid)
    overlap = np.fft.irfft(np.fft.rfft(first).conj() * np.fft.rfft(second))
    return motif(other, float(np.argmax(overlap)) / 512, norm=norm)


def shape_angle(name: str, other: str) -> float:
    """Angle between two shapes at their best overlap, in radians."""
    grid = np.arange(512) / 512
    likeness = np.corrcoef(motif(name)(grid), aligned(name, other, "range")(grid))[0, 1]
    return float(np.arccos(np.clip(likeness, -1, 1)))


def unlike(name: str) -> list[str]:
    """The four shapes that are plainly another: at about a radian."""
    return sorted(SHAPES, key=lambda other: abs(shape_angle(name, other) - 1.0))[:4]


@dataclass(frozen=True)
class Series:
    """The parts of one series and how each of them is damaged."""

    shape: str
    period: float
    horizon: int
    history: int
    trend: np.ndarray  # [T + H]
    amplitude: np.ndarray  # [T + H]
    noise: np.ndarray  # [T + H]
    fresh: np.ndarray  # [H], noise of the prediction
    other: str
    smooth: bool
    norm: str
    start: float
    growing: bool
    sign: float
    direction: float
    slope: bool
    drift: float = 0.0

    def case(self, grades: dict[str, int] = NONE, id_: str = "x") -> ForecastCase:
        t = np.arange(self.history + self.horizon, dtype=float)
        phase = self.start + t / self.period + self.drift * np.sin(2 * np.pi * t / t.size)
        values = self.trend + self.amplitude * motif(self.shape)(phase) + self.noise
        h = slice(self.history, None)
        k = np.arange(self.horizon) / (self.horizon - 1)
        scale = np.ptp(values[h] - self.noise[h])
        error = grades["trend"] / 5 * scale * self.sign
        trend = self.trend[h] + error * (k if self.slope else 1.0)
        lag = grades["phase"] * 0.09
        lag = lag * (2 * k if self.growing else 1.0)
        lag = np.minimum(lag, 0.5) * self.sign
        factor = np.exp(self.direction * np.log(3.2) * grades["magnitude"] / 5)
        shape = self._shape(grades["motif"])
        prediction = trend + self.amplitude[h] * factor * shape(phase[h] - lag) + self.fresh
        return ForecastCase(
            id=id_, history=values[: self.history], truth=values[h], prediction=prediction
        )

    def _shape(self, grade: int) -> Callable:
        own = motif(self.shape)
        if grade == 0:
            return own
        if self.smooth:
            return smoothed(self.shape, grade * 0.2, self.norm)
        weight, new = grade / 5, aligned(self.shape, self.other, self.norm)
        grid = np.arange(512) / 512
        blend = (1 - weight) * own(grid) + weight * new(grid)
        size = (
            np.ptp(own(grid)) / np.ptp(blend)
            if self.norm == "range"
            else (own(grid).std() / blend.std())
        )
        return lambda p: size * ((1 - weight) * own(p) + weight * new(p))


def smoothed(name: str, angle: float, norm: str) -> Callable:
    """The shape smeared until it stands at that angle to itself, its height restored."""
    grid = np.arange(512) / 512
    values = motif(name)(grid)
    widths = np.geomspace(0.002, 0.45, 200)
    kernels = np.exp(-0.5 * (((grid + 0.5) % 1 - 0.5) / widths[:, None]) ** 2)
    kernels /= kernels.sum(axis=1, keepdims=True)
    soft = np.fft.irfft(np.fft.rfft(values) * np.fft.rfft(kernels), axis=1)
    soft -= soft.mean(axis=1, keepdims=True)
    fit = soft @ values / np.linalg.norm(soft, axis=1) / np.linalg.norm(values)
    best = soft[np.argmin(np.abs(np.arccos(np.clip(fit, -1, 1)) - angle))]
    best = best * (np.ptp(values) / np.ptp(best) if norm == "range" else values.std() / best.std())
    return lambda p: np.interp(p % 1.0, np.r_[grid, 1.0], np.r_[best, best[0]])


def draw(seed: int) -> Series:
    """One random series with its ladders."""
    rng = np.random.default_rng(seed)
    names = list(SHAPES)
    shape = names[seed % len(names)]
    period = float(rng.choice([rng.uniform(10, 24), rng.uniform(24, 60)]))
    other = unlike(shape)[rng.integers(4)]
    if {shape, other} & {"spikes", "beats", "wiggle"}:
        period = max(period, 25.0)  # narrower than a step, a peak would be seen only now and then
    cycles = rng.uniform(2.5, 9)
    horizon = int(np.clip(period * cycles, 32, 601))
    history = int(horizon * rng.uniform(1.5, 4))
    t = np.arange(history + horizon) / horizon
    kind = rng.integers(4)
    level = rng.normal() * 10
    trend = [
        0 * t,
        rng.uniform(-2, 2) * t,
        rng.uniform(-0.6, 0.6) * t**2,
        1.2 * np.sin(2 * np.pi * t / rng.uniform(2, 5) + rng.uniform(0, 6)),
    ][kind] + level
    amplitude = [
        1 + 0 * t,
        1 + rng.uniform(-0.12, 0.2) * t,
        1 + 0.35 * np.sin(2 * np.pi * t / rng.uniform(1.5, 4)),
    ][rng.integers(3)]
    level_of_noise = rng.choice([0.0, 0.05, 0.1, 0.15])
    noise = level_of_noise * rng.normal(size=t.size)
    fresh = [noise[history:], 0.0 * noise[history:], level_of_noise * rng.normal(size=horizon)][
        rng.integers(3)
    ]
    return Series(
        shape=shape,
        period=period,
        horizon=horizon,
        history=history,
        trend=trend,
        amplitude=amplitude,
        noise=noise,
        fresh=fresh,
        other=other,
        smooth=bool(rng.integers(2)) and shape in ("spikes", "beats", "burst", "double"),
        norm=str(rng.choice(["range", "std"])),
        start=rng.uniform(),
        growing=bool(rng.integers(2)),
        sign=float(rng.choice([-1, 1])),
        direction=float(rng.choice([-1, 1])),
        slope=bool(rng.integers(2)),
        drift=float(rng.choice([0.0, rng.uniform(-0.1, 0.1)])),
    )
