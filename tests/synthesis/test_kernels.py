"""Composite kernels and draws from their priors."""

from __future__ import annotations

import numpy as np
import pytest

from timevista_hf.synthesis.kernels import (
    FEW,
    BaseKernel,
    Kernel,
    bank_of,
    sample_kernel,
    sample_prior,
)

X = np.linspace(0, 1, 40)
RBF, LINE, WHITE = BaseKernel("rbf", 0.5), BaseKernel("linear", 1.0), BaseKernel("white", 0.1)
SLOW = Kernel((RBF, LINE, WHITE), ("×", "+"))
FAST = Kernel((BaseKernel("periodic", 0.07), LINE, WHITE), ("+", "+"))


def test_the_bank_holds_the_33_kernels():
    kinds = [member.kind for member in bank_of(1024)]
    counts = {kind: kinds.count(kind) for kind in dict.fromkeys(kinds)}
    assert counts == {
        "periodic": 21,
        "linear": 3,
        "rbf": 3,
        "rational_quadratic": 3,
        "white": 2,
        "constant": 1,
    }


def test_a_member_is_its_formula():
    # exp(-2 sin²(π/4)) = exp(-1); exp(-1/2); (1 + 1/2)^-1; 2² + 0
    x, y = np.array([0.0]), np.array([1.0])
    found = [
        BaseKernel(kind, value).smooth(x, y)[0]
        for kind, value in (
            ("periodic", 4.0),
            ("rbf", 1.0),
            ("rational_quadratic", 1.0),
            ("linear", 2.0),
        )
    ]
    assert found == pytest.approx([np.exp(-1), np.exp(-0.5), 2 / 3, 4.0], abs=1e-15)


def test_operators_take_all_that_is_left_of_them():
    a, b, c = (Kernel((member,)).covariance(X) for member in (RBF, LINE, WHITE))
    expression = Kernel((RBF, LINE, WHITE, LINE), ("+", "+", "×"))
    np.testing.assert_allclose(expression.covariance(X), (a + b + c) * b, rtol=1e-14)
    assert expression.name == "(rbf(0.5) + linear(1) + white(0.1)) × linear(1)"


def test_white_noise_times_white_noise_is_white_noise():
    kernel = Kernel((WHITE, WHITE), ("×",))
    np.testing.assert_allclose(kernel.covariance(X), 0.01 * np.eye(40), atol=1e-17)


def test_a_random_expression_has_one_to_five_members():
    rng = np.random.default_rng(0)
    sizes = [len(sample_kernel(rng).members) for _ in range(200)]
    assert set(sizes) == {1, 2, 3, 4, 5}


def test_an_expression_that_is_to_be_slow_is():
    rng = np.random.default_rng(0)
    kernels = [sample_kernel(rng, steps=500, slower_than=100) for _ in range(100)]
    assert min(kernel.cycle for kernel in kernels) >= 0.2
    assert max(len(kernel.members) for kernel in kernels) > 1


def test_a_product_is_faster_than_its_factors():
    # curvatures add: two of 1/0.5² make 8, and 2π/√8 = 2.2214
    assert Kernel((RBF, RBF), ("×",)).cycle == pytest.approx(2.221441469)
    assert Kernel((RBF, RBF), ("+",)).cycle == pytest.approx(np.pi)


@pytest.mark.parametrize("seed", range(12))
def test_nodes_determine_the_draw(seed):
    """Interpolate the covariance from the nodes in both places: it is the kernel's."""
    from numpy.polynomial.chebyshev import chebpts1, chebvander

    kernel = sample_kernel(np.random.default_rng(seed), steps=200, slower_than=20)
    at, degree = chebpts1(kernel.nodes), kernel.nodes - 1
    weights = np.linalg.solve(chebvander(at, degree).T, chebvander(2 * X - 1, degree).T).T
    nodes = (at + 1) / 2
    wanted = kernel.smooth(X[:, None], X)
    found = weights @ kernel.smooth(nodes[:, None], nodes) @ weights.T
    np.testing.assert_allclose(found, wanted, atol=1e-11 * np.abs(wanted).max())


@pytest.mark.parametrize(("kernel", "by_nodes"), [(SLOW, True), (FAST, False)])
def test_draws_have_the_kernels_covariance(kernel, by_nodes):
    steps, count = 120, 800
    assert (kernel.nodes <= FEW) == by_nodes
    rng = np.random.default_rng(0)
    draws = np.array([sample_prior(kernel, steps, rng) for _ in range(count)])[:, ::7]
    wanted = kernel.covariance(np.linspace(0, 1, steps)[::7])
    # An entry of the sample covariance deviates by √((kᵢᵢ kⱼⱼ + kᵢⱼ²) / n); 324 of them stay
    # within five deviations but for a chance of 2e-4.
    variances = np.diag(wanted)
    deviation = np.sqrt((np.outer(variances, variances) + wanted**2) / count)
    assert np.all(np.abs(draws.T @ draws / count - wanted) < 5 * deviation)
    # and their sum of squares is within the chance of all together
    scores = np.linalg.solve(np.linalg.cholesky(wanted), draws.T)
    assert np.mean(scores**2) == pytest.approx(1, abs=5 * np.sqrt(2 / scores.size))


def test_white_noise_alone_is_drawn():
    draw = sample_prior(Kernel((BaseKernel("white", 4.0),)), 4000, np.random.default_rng(0))
    assert draw.std() == pytest.approx(2.0, abs=0.1)  # 4.5 standard errors
    assert abs(np.corrcoef(draw[1:], draw[:-1])[0, 1]) < 0.07


@pytest.mark.parametrize("seed", range(30))
def test_every_kernel_of_the_bank_can_be_drawn(seed):
    rng = np.random.default_rng(seed)
    assert np.isfinite(sample_prior(sample_kernel(rng, steps=150), 150, rng)).all()


def test_rounding_moves_a_draw_by_nodes_hardly():
    rng = np.random.default_rng(2)
    for seed in range(20):
        kernel = sample_kernel(rng, steps=400, slower_than=100)
        moved = Kernel(
            tuple(BaseKernel(one.kind, one.value * (1 + 1e-15)) for one in kernel.members),
            kernel.operators,
        )
        first, second = (
            sample_prior(one, 400, np.random.default_rng(seed)) for one in (kernel, moved)
        )
        assert np.abs(first - second).max() <= 1e-7 * np.abs(first).max()


@pytest.mark.parametrize("draw", [sample_kernel, lambda rng, steps: sample_prior(SLOW, steps, rng)])
def test_a_series_of_one_step_is_refused(draw):
    with pytest.raises(ValueError, match="`steps` must be at least 2, got 1"):
        draw(np.random.default_rng(0), steps=1)


def test_covariances_are_those_of_scikit_learn():
    kernels = pytest.importorskip("sklearn.gaussian_process.kernels")
    theirs = {
        "periodic": lambda p: kernels.ExpSineSquared(periodicity=p),
        "linear": lambda s: kernels.DotProduct(sigma_0=s),
        "rbf": kernels.RBF,
        "rational_quadratic": lambda a: kernels.RationalQuadratic(alpha=a),
        "white": kernels.WhiteKernel,
        "constant": kernels.ConstantKernel,
    }
    rng = np.random.default_rng(0)
    for _ in range(100):
        kernel = sample_kernel(rng, steps=40)
        first, *rest = (theirs[one.kind](one.value) for one in kernel.members)
        for operator, other in zip(kernel.operators, rest, strict=True):
            first = first + other if operator == "+" else first * other
        wanted = first(X[:, None])
        np.testing.assert_allclose(
            kernel.covariance(X), wanted, atol=1e-13 * np.abs(wanted).max() + 1e-15
        )
