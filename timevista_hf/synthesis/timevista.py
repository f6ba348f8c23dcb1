r"""The 400 synthetic series of TimeVista, each the sum of a trend and a cycle that are known.

.. math:: y(t) = T(t) + A(t) \, M(P(t))

with the trend :math:`T`, the amplitude :math:`A > 0`, the motif :math:`M` (mean 0 and height 2 over
a cycle) and the phase :math:`P`, counted in cycles and ascending. There is no noise. In four of the
five groups one part varies from series to series, and the others are held:

========= =============================================== =====================================
part      where it varies                                 where it is held
========= =============================================== =====================================
trend     a draw from a composite kernel that takes 8     0
          seasons or more a cycle, a level, and a height
          of 1/2 to 3 cycles over the last four horizons
motif     16 shapes, upside down or backwards too         "shoulder", two harmonics
phase     offset, season, and a speed that rises, falls,  t / season; a quarter of the horizon
          sways, shifts or wanders by up to e^±0.25       is a season, and at least 12 steps
magnitude an amplitude that does so, by up to e^±0.9      1
========= =============================================== =====================================

In the group "general" all four vary.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from numbers import Integral
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from timevista_hf.cases import ForecastCase
from timevista_hf.synthesis._curves import CURVES, draw_curve
from timevista_hf.synthesis._motifs import MOTIFS, Motif
from timevista_hf.synthesis.kernels import sample_kernel, sample_prior

Group = Literal["trend", "motif", "phase", "magnitude", "general"]

GROUPS: tuple[Group, ...] = get_args(Group)
COUNT = 400
EDITION = 1  # changes whenever a series does
SHORTEST = (107, 32)  # steps of history and horizon
LONGEST = (1720, 601)
HORIZONS = (36, 48, 60, 72, 96, 120, 144, 168, 192, 240, 288, 336, 384, 432, 480, 540)
FEWEST = 12  # steps in a season
SLOW = 8  # seasons that the fastest movement of a trend takes, at least
HELD_MOTIF = Motif("shoulder")


@dataclass(frozen=True, eq=False, kw_only=True)
class SyntheticSeries:
    """Hold one series, and the parts that it was made from.

    Parameters
    ----------
    id : str
        The group and a number in it, as "phase-07".
    group : {"trend", "motif", "phase", "magnitude", "general"}
        Which part varies from series to series.
    history, truth : np.ndarray of shape (T,), (H,)
        107 ≤ T ≤ 1720 steps, and the 32 ≤ H ≤ 601 that followed, without unit.
    trend, amplitude, motif, phase : np.ndarray of shape (T + H,)
        History and truth are ``trend + amplitude * motif``; `motif` holds the values of the shape
        at `phase`.
    season_length : int
        Steps in a cycle, on average over the horizon.
    kernel_name, motif_name, phase_name, amplitude_name : str
        What each part is, in words.
    seed : int
        Seed of the generator that made the series.
    """

    id: str
    group: Group
    history: np.ndarray  # [T]
    truth: np.ndarray  # [H]
    trend: np.ndarray  # [T + H]
    amplitude: np.ndarray  # [T + H]
    motif: np.ndarray  # [T + H]
    phase: np.ndarray  # [T + H], in cycles
    season_length: int
    kernel_name: str
    motif_name: str
    phase_name: str
    amplitude_name: str
    seed: int

    def __post_init__(self) -> None:
        for field in fields(self):
            if isinstance(value := getattr(self, field.name), np.ndarray):
                value.setflags(write=False)

    def forecast(self, prediction: ArrayLike, *, model: str = "prediction") -> ForecastCase:
        """Return the case of one forecast of this series.

        Parameters
        ----------
        prediction : array_like of shape (H,)
        model : str
            Name of the model.
        """
        return ForecastCase(
            id=self.id,
            history=self.history,
            truth=self.truth,
            prediction=np.asarray(prediction),
            model=model,
            dataset="synthetic",
            season_length=self.season_length,
        )


def make_synthetic(count: int = COUNT) -> Iterator[SyntheticSeries]:
    """Make the first series of the synthetic subset, the five groups in turn.

    Parameters
    ----------
    count : int
        1 to 400.

    Returns
    -------
    iterator of SyntheticSeries

    Raises
    ------
    ValueError
        For a count outside of that.

    Examples
    --------
    >>> [series.id for series in make_synthetic(6)]
    ['trend-00', 'motif-00', 'phase-00', 'magnitude-00', 'general-00', 'trend-01']
    """
    if not isinstance(count, Integral) or not 1 <= count <= COUNT:
        raise ValueError(f"`count` must be an integer from 1 to {COUNT}, got {count!r}")
    return map(make_series, range(count))


def make_series(index: int) -> SyntheticSeries:
    """Make one series of the synthetic subset.

    Parameters
    ----------
    index : int
        0 to 399; the group is ``GROUPS[index % 5]``. The first of each group is as short as a
        series can be, the last as long.

    Returns
    -------
    SyntheticSeries
        The same for an index whatever was made before. Machines that round differently agree to
        1e-7 of the range of the series; names, lengths and seasons are equal everywhere.

    Raises
    ------
    ValueError
        For an index outside of that.

    Examples
    --------
    >>> series = make_series(0)
    >>> series.history.size, series.truth.size, series.season_length
    (107, 32, 12)
    """
    if not isinstance(index, Integral) or not 0 <= index < COUNT:
        raise ValueError(f"`index` must be an integer from 0 to {COUNT - 1}, got {index!r}")
    group, place = GROUPS[index % len(GROUPS)], int(index) // len(GROUPS)
    seed = 1000 * EDITION + int(index)
    rng = np.random.default_rng(seed)
    past, horizon = _lengths(place, rng)
    season = _season(group, horizon, rng)
    phase, phase_name = _phase(group, past + horizon, horizon, season, rng)
    amplitude, amplitude_name = _amplitude(group, past + horizon, rng)
    motif = _motif(group, place, rng)
    trend, kernel_name = _trend(group, past + horizon, horizon, season, rng)
    shape = motif(phase)
    values = trend + amplitude * shape
    return SyntheticSeries(
        id=f"{group}-{place:02d}",
        group=group,
        history=values[:past].copy(),
        truth=values[past:].copy(),
        trend=trend,
        amplitude=amplitude,
        motif=shape,
        phase=phase,
        season_length=season,
        kernel_name=kernel_name,
        motif_name=motif.name,
        phase_name=phase_name,
        amplitude_name=amplitude_name,
        seed=seed,
    )


def _lengths(place: int, rng: np.random.Generator) -> tuple[int, int]:
    """Draw the lengths of history and horizon, in whole numbers alone."""
    horizon = HORIZONS[rng.integers(len(HORIZONS))]
    past = int(rng.integers(5 * horizon // 2, 5 * horizon, endpoint=True))
    if place == 0:
        return SHORTEST
    if place == COUNT // len(GROUPS) - 1:
        return LONGEST
    return min(max(past, SHORTEST[0]), LONGEST[0]), horizon


def _season(group: Group, horizon: int, rng: np.random.Generator) -> int:
    shortest, longest = max(FEWEST, horizon // 12), max(FEWEST, horizon // 3)
    drawn = int(rng.integers(shortest, longest, endpoint=True))
    return drawn if group in ("phase", "general") else max(FEWEST, horizon // 4)


def _phase(
    group: Group, steps: int, horizon: int, season: int, rng: np.random.Generator
) -> tuple[np.ndarray, str]:
    """Draw a phase that advances by a cycle a season on average over the horizon."""
    if group not in ("phase", "general"):
        return np.arange(steps) / season, "steady"
    name = ("steady", *CURVES)[rng.integers(len(CURVES) + 1)]
    offset, depth = rng.uniform(), rng.uniform(0.1, 0.25)
    speed = np.exp(depth * draw_curve(name, steps, rng))
    return offset + np.cumsum(speed) / (season * speed[-horizon:].mean()), name


def _amplitude(group: Group, steps: int, rng: np.random.Generator) -> tuple[np.ndarray, str]:
    if group not in ("magnitude", "general"):
        return np.ones(steps), "steady"
    name = CURVES[rng.integers(len(CURVES))]
    return np.exp(rng.uniform(0.3, 0.9) * draw_curve(name, steps, rng)), name


def _motif(group: Group, place: int, rng: np.random.Generator) -> Motif:
    if group not in ("motif", "general"):
        return HELD_MOTIF
    drawn = int(rng.integers(len(MOTIFS)))
    shape = [*MOTIFS][drawn if group == "general" else place % len(MOTIFS)]
    return Motif(shape, inverted=bool(rng.integers(2)), reversed=bool(rng.integers(2)))


def _trend(
    group: Group, steps: int, horizon: int, season: int, rng: np.random.Generator
) -> tuple[np.ndarray, str]:
    """Draw a path that moves, as tall against the cycle as a plot of it should show."""
    if group not in ("trend", "general"):
        return np.zeros(steps), "none"
    kernel = sample_kernel(rng, steps=steps, slower_than=SLOW * season)
    while kernel.is_constant:
        kernel = sample_kernel(rng, steps=steps, slower_than=SLOW * season)
    path = sample_prior(kernel, steps, rng)
    height = 2.0 ** rng.uniform(0, 2.6)
    level = 10 * rng.standard_normal()
    return level + height * (path - path.mean()) / np.ptp(path[-4 * horizon :]), kernel.name
