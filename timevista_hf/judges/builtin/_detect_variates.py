"""The variates that move in another way than most: the shape of their waves and their texture."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from timevista_hf.judges.builtin._detect_waves import (
    ROUNDING,
    Wave,
    fit_wave,
    scaled,
    strongest_frequency,
)
from timevista_hf.judges.builtin._measures import filled

FEWEST = 16  # observed steps below which nothing is said of a variate's shape
HARMONICS = 5  # of a variate's main wave, itself included
LONGEST = 0.7  # cycles that the series must hold of its main wave
SHORTEST = 4  # steps in a cycle of it
PLAIN = 3.0  # standard scores of overtones up to which most variates are plain waves
WINDOW = 16  # parts of the series: movement is that within one part
CRESTS = np.array([0, 0, 1 / 9, 0, 1 / 25])  # overtones, in phase, of a wave of straight lines

# What is compared, in words; the spread between variates that says nothing; and how many spreads
# from the majority make another kind of variate. Movement is what most real variates differ in
# least, and what shows best: it gets by with fewer.
TRAITS = {
    "crests": ("the sharpness of its crests", 1.0, 3.3),
    "overtones": ("the strength of its overtones", 1.0, 3.3),
    "remainder": ("the smoothness of what its wave leaves over", 0.1, 3.3),
    "pace": ("the length of its main wave", 0.25, 5.0),
    "movement": ("how far it moves within a sixteenth of the series", 0.15, 2.7),
    "stillness": ("the share of steps without movement", 0.05, 3.3),
}


@dataclass(frozen=True, eq=False)
class Comparison:
    """How far each variate is from the majority, and in what."""

    excess: np.ndarray  # [M] largest distance from the majority, over the limit of its trait
    traits: list[str]  # [M] in what that is, in words
    odd: tuple[int, ...]  # the variates beyond a limit, fewer than half


def compare_variates(values: np.ndarray) -> Comparison:
    """Compare the shapes of variates; level and height do not count, as panels hide them.

    Of two variates neither is the majority: they are compared with a plain wave in noise.

    Parameters
    ----------
    values : np.ndarray of shape (T, M)
        nan where missing.
    """
    measured = np.array([[*_measure(column).values()] for column in values.T])  # [M, traits]
    names, floors, limits = (np.array(column) for column in zip(*TRAITS.values(), strict=True))
    measured[:, np.isfinite(measured).sum(axis=0) <= len(measured) / 2] = 0  # of too few to compare
    centre, usual = _majority(measured)
    meant, known = _meant(centre, usual, len(measured))
    spreads = np.where(known, floors, np.maximum(usual, floors))
    excess = np.nan_to_num(meant * np.abs(measured - centre) / (spreads * limits))
    odd = _fewer(excess.max(axis=1))
    return Comparison(excess.max(axis=1), names[excess.argmax(axis=1)].tolist(), odd)


def _fewer(excess: np.ndarray) -> tuple[int, ...]:
    """Keep the variates beyond a limit, furthest first, while the others are the majority."""
    order = np.argsort(-excess, kind="stable")[: np.count_nonzero(excess > 1)]
    most = max((excess.size - 1) // 2, int(order.size == 1))
    return tuple(sorted(int(variate) for variate in order[:most]))


def _majority(measured: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the median of each trait, and the usual distance from it."""
    if measured.shape[0] == 2:
        return np.zeros(len(TRAITS)), np.zeros(len(TRAITS))
    centre = np.nanmedian(measured, axis=0)
    return centre, np.nanmedian(np.abs(measured - centre), axis=0) / 0.6745


def _meant(centre: np.ndarray, usual: np.ndarray, variates: int) -> tuple[np.ndarray, np.ndarray]:
    """Tell which traits mean something, and of which the spread by chance is known.

    Where most variates are plain waves, their overtones are chance, and movement is their pace.
    """
    traits = list(TRAITS)
    overtones = traits.index("overtones")
    waves = max(abs(centre[overtones]), usual[overtones]) < PLAIN
    of_waves = np.isin(traits, ["crests", "overtones"])
    meant = {"remainder": True, "movement": not waves and variates > 2}
    others = np.array([meant.get(trait, variates > 2) for trait in traits])
    return np.where(of_waves, waves, others), of_waves & waves


def _measure(values: np.ndarray) -> dict[str, float]:
    """Measure the traits of one variate; nan where there is nothing to measure them on."""
    traits = dict.fromkeys(TRAITS, math.nan)
    found = scaled(values)
    if found is None:
        return {**traits, "stillness": 1.0 if np.isfinite(values).any() else math.nan}
    shares = found[0]
    steps, moves = _moves(shares, 1), _moves(shares, max(1, round(shares.size / WINDOW)))
    if not steps.size or not moves.size or np.isfinite(shares).sum() < FEWEST:
        return traits
    frequency = strongest_frequency(filled(shares), LONGEST, SHORTEST)
    traits["stillness"] = float(np.mean(steps <= ROUNDING))
    traits["movement"] = float(np.sqrt(np.mean(moves**2)) / np.nanstd(shares))
    if frequency is not None:
        traits["pace"] = math.log(frequency)
        traits.update(_measure_wave(shares, frequency))
    return traits


def _moves(values: np.ndarray, lag: int) -> np.ndarray:
    """Return how far a variate moves in so many steps, where both ends are observed."""
    moves = np.abs(values[lag:] - values[:-lag])
    return np.asarray(moves[np.isfinite(moves)])


def _measure_wave(values: np.ndarray, frequency: float) -> dict[str, float]:
    """Measure the overtones of the main wave, in standard scores, and what is left over."""
    plain = fit_wave(values, frequency, 1, 0)
    full = fit_wave(values, plain.frequency, HARMONICS, 0)
    rest = values - full.curve
    count = int(np.isfinite(values).sum())
    extra, free = 2 * HARMONICS - 2, count - 2 * HARMONICS - 2
    left = float(np.nansum(rest**2)) / free + ROUNDING**2
    gain = max(float(np.nansum((values - plain.curve) ** 2)) / left - free, 0.0) / extra
    pairs = rest[1:] * rest[:-1]
    follow = float(np.mean(pairs[np.isfinite(pairs)])) if np.isfinite(pairs).any() else 0.0
    return {
        "crests": _sharpness(full) / math.sqrt(2 * left / count),
        "overtones": max(_standard_score(gain, extra, free), 0.0),
        "remainder": follow / left,
    }


def _standard_score(ratio: float, extra: int, free: int) -> float:
    """Turn an F ratio into a standard score; Paulson's formula, which knows no underflow."""
    root, above, below = np.cbrt(ratio), 2 / (9 * extra), 2 / (9 * free)
    return float(((1 - below) * root - (1 - above)) / np.sqrt(below * root**2 + above))


def _sharpness(wave: Wave) -> float:
    """Project the overtones onto those of straight lines from crest to trough."""
    phase = np.arctan2(wave.sines[0], wave.cosines[0])
    turned = phase * np.arange(1, HARMONICS + 1)
    in_phase = wave.sines * np.sin(turned) + wave.cosines * np.cos(turned)
    return float(CRESTS @ in_phase / np.linalg.norm(CRESTS))
