"""Measure `sample_prior` against scikit-learn's `sample_y`, in CPU time, in one run.

Both draw from the same composite kernels at the same lengths: those of the synthetic series of
TimeVista, and random ones of the whole bank of KernelSynth.

Run: python benchmarks/kernels.py [SERIES]
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import numpy as np

from timevista_hf.synthesis.kernels import Kernel, sample_kernel, sample_prior
from timevista_hf.synthesis.timevista import SLOW, make_series, make_synthetic

SERIES = 6  # scikit-learn takes up to half a minute for each


def main() -> None:
    """Print the time of both in both sets of kernels, and that of the 400 series."""
    series = int(sys.argv[1]) if len(sys.argv) > 1 else SERIES
    kernels = _peer()
    print(f"numpy {np.__version__}, scikit-learn {version('scikit-learn')}; CPU time")
    lengths = [make_series(int(i)) for i in np.linspace(0, 395, series) // 5 * 5]
    for title, slow in (("kernels of the synthetic series", True), ("the whole bank", False)):
        print(f"\n{title}\n{'T':>5} {'ours':>12} {'sample_y':>12} {'ratio':>9}  kernel")
        total = np.zeros(2)
        for index, one in enumerate(lengths):
            steps, rng = one.trend.size, np.random.default_rng(index)
            slower_than = SLOW * one.season_length if slow else 0
            kernel = sample_kernel(rng, steps=steps, slower_than=slower_than)
            seconds = _compare(kernel, steps, kernels)
            total += seconds
            _print_row(str(steps), seconds, kernel.name)
        _print_row("all", total, "")
    seconds = _cpu_seconds(lambda: list(make_synthetic()))
    print(f"\nthe 400 synthetic series, trends and all else: {seconds:.2f} s")


def _compare(kernel: Kernel, steps: int, kernels: Any) -> np.ndarray:
    from sklearn.gaussian_process import GaussianProcessRegressor

    peer = GaussianProcessRegressor(_theirs(kernel, kernels))
    x = np.linspace(0, 1, steps)[:, None]
    ours = _cpu_seconds(lambda: sample_prior(kernel, steps, np.random.default_rng(0)))
    return np.array([ours, _cpu_seconds(lambda: peer.sample_y(x, random_state=0))])


def _theirs(kernel: Kernel, kernels: Any) -> Any:
    makers: dict[str, Callable[[float], Any]] = {
        "periodic": lambda period: kernels.ExpSineSquared(periodicity=period),
        "linear": lambda sigma: kernels.DotProduct(sigma_0=sigma),
        "rbf": kernels.RBF,
        "rational_quadratic": lambda alpha: kernels.RationalQuadratic(alpha=alpha),
        "white": kernels.WhiteKernel,
        "constant": kernels.ConstantKernel,
    }
    found, *rest = (makers[member.kind](member.value) for member in kernel.members)
    for operator, other in zip(kernel.operators, rest, strict=True):
        found = found + other if operator == "+" else found * other
    return found


def _print_row(steps: str, seconds: np.ndarray, name: str) -> None:
    ours, theirs = seconds
    ratio = theirs / ours
    print(f"{steps:>5} {ours * 1e3:>9.1f} ms {theirs * 1e3:>9.1f} ms {ratio:>8.0f}x  {name}")


def _peer() -> Any:
    try:
        from sklearn.gaussian_process import kernels
    except ModuleNotFoundError as error:
        raise SystemExit(
            f"benchmarks/kernels.py compares with scikit-learn, but {error.name!r} is not "
            "installed: pip install scikit-learn"
        ) from error
    return kernels


def _cpu_seconds(function: Callable[[], object]) -> float:
    start = time.process_time()
    function()
    return time.process_time() - start


if __name__ == "__main__":
    main()
