"""Measure the agreement metrics against scipy over the same ratings, in CPU time, in one run.

Run: python benchmarks/agreement.py
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

import numpy as np
import scipy
from scipy import stats

from timevista_hf.metrics import (
    bootstrap_interval,
    compare_judges,
    kendall,
    krippendorff_alpha,
    spearman,
)

CASES = 545  # the paper's macro-level cases
RESAMPLES, SCIPY_RESAMPLES = 9999, 499
SIZES = (545, 10_000, 1_000_000)
ROUNDS = 5


def main() -> None:
    """Print the three tables."""
    print(f"numpy {np.__version__}, scipy {scipy.__version__}; CPU time, best of {ROUNDS} rounds")
    _print_bootstraps()
    _print_correlations()
    _print_alphas()


def _print_bootstraps() -> None:
    print(f"\nPercentile bootstrap, n = {CASES}: {RESAMPLES:,} resamples, and {SCIPY_RESAMPLES} of")
    print("scipy.stats.bootstrap (paired); the times a resample and their ratio")
    print(f"{'':>24} {'whole call':>12} {'a resample':>12} {'scipy':>12} {'ratio':>8}")
    ratings = _ratings(CASES)
    continuous = ratings + 0.1 * np.random.default_rng(1).normal(size=ratings.shape)
    for kind, (x, y, other) in (("ratings", ratings), ("continuous", continuous)):
        for name, reference in (("kendall", _scipy_tau), ("spearman", _scipy_rho)):
            ours, theirs = _best(
                partial(bootstrap_interval, x, y, statistic=name, resamples=RESAMPLES),
                partial(_scipy_interval, reference, x, y),
            )
            _print_resamples(f"{name}, {kind}", ours, theirs)
        ours, theirs = _best(
            partial(compare_judges, x, y, other, statistic="kendall", resamples=RESAMPLES),
            partial(_scipy_interval, _scipy_tau_difference, x, y, other),
        )
        _print_resamples(f"two judges, {kind}", ours, theirs)


def _print_resamples(name: str, ours: float, theirs: float) -> None:
    one, their_one = ours / RESAMPLES, theirs / SCIPY_RESAMPLES
    print(
        f"{name:>24} {ours * 1e3:>9.1f} ms {one * 1e6:>9.2f} µs {their_one * 1e6:>9.1f} µs "
        f"{their_one / one:>7.0f}x"
    )


def _print_correlations() -> None:
    print(f"\nOne correlation\n{'':>24} {'n':>12} {'ours':>12} {'scipy':>12} {'ratio':>8}")
    for n in SIZES:
        x, y, _ = _ratings(n)
        errors = -np.exp(np.random.default_rng(1).normal(size=n) - y)
        for kind, values in (("ratings", y), ("continuous", errors)):
            for own, reference in ((kendall, _scipy_tau), (spearman, _scipy_rho)):
                ours, theirs = _best(partial(own, x, values), partial(reference, x, values))
                _print_times(f"{own.__name__}, {kind}", n, ours, theirs)


def _print_times(name: str, n: int, ours: float, theirs: float) -> None:
    print(
        f"{name:>24} {n:>12,} {ours * 1e3:>9.3f} ms {theirs * 1e3:>9.3f} ms {theirs / ours:>7.1f}x"
    )


def _print_alphas() -> None:
    print("\nKrippendorff's alpha, 5 annotators, a tenth of the ratings missing")
    print(f"{'':>24} {'units':>12} {'ours':>12}")
    for units in SIZES:
        rng = np.random.default_rng(units)
        panel = np.clip(np.round(3 + rng.normal(size=units) + rng.normal(size=(5, units))), 1, 5)
        panel[rng.random(panel.shape) < 0.1] = np.nan
        for level in ("nominal", "ordinal", "interval"):
            (ours,) = _best(partial(krippendorff_alpha, panel, level=level))
            print(f"{level:>24} {units:>12,} {ours * 1e3:>9.3f} ms")


def _ratings(n: int) -> np.ndarray:
    """Ratings from 1 to 5 by people and two judges, [3, n]."""
    rng = np.random.default_rng(n)
    seen = rng.normal(size=n) + np.array([[0.3], [0.4], [0.5]]) * rng.normal(size=(3, n))
    return np.clip(np.round(3 + 1.2 * seen), 1, 5)


def _scipy_interval(statistic: Callable[..., float], *columns: np.ndarray) -> object:
    return stats.bootstrap(
        columns,
        statistic,
        paired=True,
        vectorized=False,
        method="percentile",
        n_resamples=SCIPY_RESAMPLES,
    ).confidence_interval


def _scipy_tau(x: np.ndarray, y: np.ndarray) -> float:
    return float(stats.kendalltau(x, y).statistic)


def _scipy_rho(x: np.ndarray, y: np.ndarray) -> float:
    return float(stats.spearmanr(x, y).statistic)


def _scipy_tau_difference(human: np.ndarray, first: np.ndarray, second: np.ndarray) -> float:
    return _scipy_tau(human, first) - _scipy_tau(human, second)


def _best(*functions: Callable[[], object]) -> list[float]:
    # In turns, so that a busy moment of the machine does not hit one of them alone.
    rounds = [[_cpu_seconds(function) for function in functions] for _ in range(ROUNDS)]
    return [min(times) for times in zip(*rounds, strict=True)]


def _cpu_seconds(function: Callable[[], object]) -> float:
    start = time.process_time()
    function()
    return time.process_time() - start


if __name__ == "__main__":
    main()
