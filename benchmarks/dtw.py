"""Measure `dtw_batch` against aeon's DTW over the same pairs, in CPU time, in one run."""

from __future__ import annotations

import time
from collections.abc import Callable
from importlib.metadata import version

import numpy as np

from timevista_hf.metrics import dtw_batch

# Horizon and number of pairs: about a quarter of a second a round each.
SIZES = ((100, 4000), (200, 1500), (500, 250))
ROUNDS = 5


def main() -> None:
    """Print the time a pair takes in each library, best of the rounds, and their ratio."""
    aeon_batch = _aeon()
    print(f"numpy {np.__version__}, aeon {version('aeon')}, numba {version('numba')}")
    print("CPU time a pair, random walks, float64, best of", ROUNDS)
    print(f"{'H':>4} {'pairs':>6} {'dtw_batch':>12} {'aeon':>12} {'ratio':>8} {'rel. diff.':>12}")
    for horizon, pairs in SIZES:
        walks = np.random.default_rng(horizon).normal(size=(2, pairs, horizon)).cumsum(axis=-1)
        ours, theirs = dtw_batch(*walks), aeon_batch(*walks)
        fast, slow = _best([dtw_batch, aeon_batch], walks)
        print(
            f"{horizon:>4} {pairs:>6} {fast / pairs * 1e3:>9.4f} ms {slow / pairs * 1e3:>9.4f} ms "
            f"{slow / fast:>7.2f}x {np.abs(ours / theirs - 1).max():>12.1e}"
        )


def _aeon() -> Callable[..., np.ndarray]:
    try:
        from aeon.distances import dtw_distance
    except ModuleNotFoundError as error:
        raise SystemExit(
            f"benchmarks/dtw.py compares with aeon, but {error.name!r} is not installed: "
            "pip install 'timevista-hf[benchmarks]' (Python 3.11 or later)"
        ) from error

    def batch(pairs_true: np.ndarray, pairs_pred: np.ndarray) -> np.ndarray:
        return np.array([dtw_distance(*pair) for pair in zip(pairs_true, pairs_pred, strict=True)])

    return batch


def _best(functions: list[Callable[..., np.ndarray]], walks: np.ndarray) -> list[float]:
    # In turns, so that a busy moment of the machine does not hit one of them alone.
    rounds = [[_cpu_seconds(function, walks) for function in functions] for _ in range(ROUNDS)]
    return [min(times) for times in zip(*rounds, strict=True)]


def _cpu_seconds(function: Callable[..., np.ndarray], walks: np.ndarray) -> float:
    start = time.process_time()
    function(*walks)
    return time.process_time() - start


if __name__ == "__main__":
    main()
