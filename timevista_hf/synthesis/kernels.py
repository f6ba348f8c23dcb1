"""Composite kernels of Gaussian processes, and draws from their priors in short time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeVar

import numpy as np
from numpy.polynomial import Chebyshev

LONGEST = 5  # kernels in an expression, at most
JITTER = 1e-10  # share of the mean variance that is added as noise
STURDIER = (1, 10, 100, 1000)  # times JITTER, tried in turn by the dense route
FEW = 300  # nodes that cost little, however short the series
MARGIN = 20  # nodes beyond half the bandwidth at which interpolation has converged

Kind = Literal["periodic", "linear", "rbf", "rational_quadratic", "white", "constant"]
Value = TypeVar("Value")


@dataclass(frozen=True)
class BaseKernel:
    """One member of the bank, as a function of two places on the unit interval."""

    kind: Kind
    value: float  # period, σ₀, length scale, α, variance or level
    label: str = ""

    @property
    def name(self) -> str:
        """The kernel in words."""
        return f"{self.kind}({self.label or f'{self.value:g}'})"

    def smooth(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Return the covariance of two places, without white noise; x and y are broadcast."""
        return np.asarray(_COVARIANCES[self.kind](x, y, self.value))

    @property
    def pace(self) -> float:
        """Root of the curvature at 0, in radians an interval: how fast a draw moves."""
        if self.kind == "periodic":
            return 2 * np.pi / self.value
        if self.kind == "rbf":
            return 1 / self.value
        return {"rational_quadratic": 1.0, "white": np.inf}.get(self.kind, 0.0)

    @property
    def bandwidth(self) -> float:
        """Frequency, in radians an interval, above which less than 1e-14 of the variance lies."""
        if self.kind == "periodic":
            return 14 * self.pace  # weights of the harmonics are Bessel functions
        if self.kind == "rbf":
            return 8.5 * self.pace
        if self.kind == "rational_quadratic":
            return float(8.5 + 33 / np.sqrt(2 * self.value))  # the tail falls as exp(-√(2α) ω)
        return 0.0


@dataclass(frozen=True)
class Kernel:
    """Hold an expression of kernels that are added and multiplied from left to right.

    Parameters
    ----------
    members : tuple of BaseKernel
        At least one.
    operators : tuple of {"+", "×"}
        One fewer than members; each takes all that is left of it as one operand.

    Examples
    --------
    >>> kernel = Kernel((BaseKernel("rbf", 0.1), BaseKernel("linear", 1.0)), ("×",))
    >>> kernel.name
    'rbf(0.1) × linear(1)'
    >>> kernel.covariance([0, 1]).round(3)
    array([[1., 0.],
           [0., 2.]])
    """

    members: tuple[BaseKernel, ...]
    operators: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The expression, with brackets where a sum is multiplied."""
        text, is_sum = self.members[0].name, False
        for operator, member in zip(self.operators, self.members[1:], strict=True):
            text = f"({text})" if is_sum and operator == "×" else text
            text, is_sum = f"{text} {operator} {member.name}", operator == "+"
        return text

    @property
    def cycle(self) -> float:
        """Length of the fastest movement, as a share of the interval.

        The period of a periodic kernel, 2π length scales of the others; 0 for white noise, ∞ for a
        level or a line.
        """
        pace = self._fold([member.pace for member in self.members], max, np.hypot)
        return float(2 * np.pi / pace) if pace else np.inf

    @property
    def is_constant(self) -> bool:
        """Whether a draw is a level and no more."""
        return all(member.kind == "constant" for member in self.members)

    @property
    def nodes(self) -> int:
        """Number of places that determine a draw's smooth part."""
        bandwidth = self._fold([member.bandwidth for member in self.members], max, np.hypot)
        return int(np.ceil(bandwidth / 2)) + MARGIN

    def covariance(self, x: np.ndarray) -> np.ndarray:
        """Return the covariances of n places, of shape (n, n)."""
        at = np.asarray(x, dtype=np.float64)
        return self.smooth(at[:, None], at[None, :]) + np.diag(self.noise(at))

    def smooth(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Return the covariance of two places but for white noise; x and y are broadcast."""
        found = [member.smooth(x, y) for member in self.members]
        return np.asarray(self._fold(found, np.add, np.multiply))

    def noise(self, x: np.ndarray) -> np.ndarray:
        """Return the variance of the white noise at n places, of shape (n,)."""
        pairs = [
            (member.smooth(x, x), np.full(x.shape, member.value * (member.kind == "white")))
            for member in self.members
        ]
        return np.asarray(self._fold(pairs, _add_noise, _multiply_noise)[1])

    def _fold(
        self, values: list[Value], add: Callable[..., Value], multiply: Callable[..., Value]
    ) -> Value:
        found = values[0]
        for operator, value in zip(self.operators, values[1:], strict=True):
            found = (add if operator == "+" else multiply)(found, value)
        return found


def sample_kernel(
    rng: np.random.Generator, *, steps: int = 1024, slower_than: float = 0.0
) -> Kernel:
    """Draw a composite kernel by the rule of KernelSynth.

    One to five members of a bank of 33 are drawn with replacement and joined from left to right,
    each by + or × with equal chance.

    Parameters
    ----------
    rng : numpy.random.Generator
    steps : int
        Length of the series that is meant; the periods of the bank are counted in its steps.
    slower_than : float
        Steps. Members, and expressions, that move through a cycle in fewer are not drawn; with any
        number above 0, white noise is none of them.

    Returns
    -------
    Kernel

    Raises
    ------
    ValueError
        For `steps` below 2.

    References
    ----------
    .. [1] A. F. Ansari et al., "Chronos: Learning the Language of Time Series", TMLR, 2024.
       arXiv:2403.07815

    Examples
    --------
    >>> sample_kernel(np.random.default_rng(4)).name
    'white(1) × rational_quadratic(10) × periodic(6 steps) + white(1)'
    """
    _check_steps(steps)
    shortest = slower_than / steps
    bank = [member for member in bank_of(steps) if Kernel((member,)).cycle >= shortest]
    while True:
        count = int(rng.integers(1, LONGEST, endpoint=True))
        members = tuple(bank[i] for i in rng.integers(len(bank), size=count))
        operators = tuple("+×"[i] for i in rng.integers(2, size=count - 1))
        kernel = Kernel(members, operators)
        if kernel.cycle >= shortest:
            return kernel


def sample_prior(kernel: Kernel, steps: int, rng: np.random.Generator) -> np.ndarray:
    r"""Draw a series from the prior of a Gaussian process on equidistant places of [0, 1].

    A slow kernel's draw is a band-limited function, which its values at m Chebyshev nodes
    determine to rounding: they are drawn as :math:`K^{1/2} z` and interpolated, in
    :math:`O(m^3 + m T)` instead of :math:`O(T^3)`. Where m exceeds 300 and a third of T, a
    Cholesky factor of the covariance of all steps is taken. White noise is added step by step.

    Parameters
    ----------
    kernel : Kernel
    steps : int
        Length of the series, T ≥ 2.
    rng : numpy.random.Generator

    Returns
    -------
    np.ndarray of shape (T,)
        A draw whose covariance is the kernel's, but for noise of 1e-10 of the mean variance; in
        the dense route up to 1e-7 where rounding asks for it.

    Raises
    ------
    ValueError
        For `steps` below 2.

    Notes
    -----
    Machines that round differently agree to about 1e-8 of the largest deviation of a draw by nodes,
    as a symmetric root amplifies rounding less than a Cholesky factor does, and to about 1e-5 of
    that of a dense one.

    Examples
    --------
    >>> line = Kernel((BaseKernel("linear", 0.0),))
    >>> draw = sample_prior(line, 5, np.random.default_rng(0))
    >>> (draw[1:] / draw[-1]).round(3).tolist()
    [0.25, 0.5, 0.75, 1.0]
    """
    _check_steps(steps)
    x = np.linspace(0, 1, steps)
    if kernel.nodes > max(FEW, steps / 3):
        return _draw_by_cholesky(kernel.covariance(x), rng)
    path = Chebyshev.interpolate(
        lambda at: _draw_by_root(kernel.smooth(at[:, None], at), rng),
        kernel.nodes - 1,
        domain=[0, 1],
    )(x)
    noise = kernel.noise(x)
    return np.asarray(path + np.sqrt(noise) * rng.standard_normal(steps) if noise.any() else path)


def bank_of(steps: int) -> list[BaseKernel]:
    """List KernelSynth's 33 kernels for a series of that length, in its order."""
    scales: tuple[tuple[Kind, tuple[float, ...]], ...] = (
        ("linear", (0.0, 1.0, 10.0)),
        ("rbf", (0.1, 1.0, 10.0)),
        ("rational_quadratic", (0.1, 1.0, 10.0)),
        ("white", (0.1, 1.0)),
        ("constant", (1.0,)),
    )
    periodic = [BaseKernel("periodic", p / steps, f"{p} steps") for p in _PERIODS]
    return periodic + [BaseKernel(kind, value) for kind, values in scales for value in values]


def _draw_by_root(covariance: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    # The symmetric root is unique; eigenvectors alone would turn with every rounding.
    values, vectors = np.linalg.eigh(covariance)
    roots = np.sqrt(np.maximum(values, 0) + JITTER * np.mean(np.diag(covariance)))
    return np.asarray(vectors @ (roots * (vectors.T @ rng.standard_normal(roots.size))))


def _draw_by_cholesky(covariance: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    z, diagonal = rng.standard_normal(len(covariance)), np.diag(covariance).copy()
    for times in STURDIER:
        np.fill_diagonal(covariance, diagonal + times * JITTER * diagonal.mean())
        try:
            return np.asarray(np.linalg.cholesky(covariance) @ z)
        except np.linalg.LinAlgError:
            continue
    raise np.linalg.LinAlgError("the covariance is not positive, even with jitter")


def _check_steps(steps: int) -> None:
    if steps < 2:
        raise ValueError(f"`steps` must be at least 2, got {steps!r}")


_Pair = tuple[np.ndarray, np.ndarray]


def _add_noise(left: _Pair, right: _Pair) -> _Pair:
    return left[0] + right[0], left[1] + right[1]


def _multiply_noise(left: _Pair, right: _Pair) -> _Pair:
    return left[0] * right[0], left[0] * right[1] + left[1] * right[0] + left[1] * right[1]


def _rational_quadratic(x: np.ndarray, y: np.ndarray, alpha: float) -> np.ndarray:
    return np.asarray((1 + (x - y) ** 2 / (2 * alpha)) ** -alpha)


_COVARIANCES: dict[Kind, Callable[[np.ndarray, np.ndarray, float], np.ndarray]] = {
    "periodic": lambda x, y, period: np.exp(-2 * np.sin(np.pi * (x - y) / period) ** 2),
    "linear": lambda x, y, sigma: sigma**2 + x * y,
    "rbf": lambda x, y, length: np.exp(-0.5 * ((x - y) / length) ** 2),
    "rational_quadratic": _rational_quadratic,
    "white": lambda x, y, _: np.zeros(np.broadcast_shapes(x.shape, y.shape)),
    "constant": lambda x, y, level: np.full(np.broadcast_shapes(x.shape, y.shape), level),
}

_PERIODS = (*(24, 48, 96, 168, 336, 672, 7, 14, 30, 60, 365, 730, 4, 26, 52, 4, 6, 12, 4, 40, 10),)
