"""Every small test problem, once: tests run all models over all of them.

Sizes are small because references are slow (60-digit arithmetic); the difficulty is in the geometry of the
rows, in the labels, the weights and the scales.
"""

from typing import NamedTuple

import numpy as np

from dataworth.inference.geometry import Dual, Primal, graded_features
from dataworth.inference.logistic import Counts

PRIOR_VARIANCES = (1e-6, 1e-2, 1.0, 1e4, 1e8)


class Case(NamedTuple):
    name: str
    X: np.ndarray
    y: np.ndarray
    weights: np.ndarray

    @property
    def numeric_labels(self) -> np.ndarray:
        """Targets for regression: the labels, blurred."""
        return self.y + 0.3 * np.sin(np.arange(len(self.y)) + 1.0)

    def halves(self) -> tuple[np.ndarray, np.ndarray]:
        rows = np.arange(len(self.y))
        return rows[::2], rows[1::2]


def _case(name, X, y, weights=None) -> Case:
    X, y = np.asarray(X, dtype=float), np.asarray(y, dtype=float)
    return Case(name, X, y, np.ones(len(y)) if weights is None else np.asarray(weights, dtype=float))


def counts_of(case: Case) -> Counts:
    return Counts(case.weights * case.y, case.weights * (1.0 - case.y))


def geometries(X: np.ndarray, prior_variance: float) -> dict[str, Dual | Primal]:
    Z, _ = graded_features(X)
    return {
        "n×n": Dual(prior_variance * X @ X.T), "d×d": Primal(X, prior_variance),
        "square root": Primal(X, prior_variance, root=True), "graded": Primal(Z, prior_variance),
        "graded, square root": Primal(Z, prior_variance, root=True),
    }  # fmt: skip


def _make_cases() -> tuple[Case, ...]:
    rng = np.random.default_rng(20)
    X = rng.normal(size=(12, 3))
    theta = np.array([1.0, -2.0, 0.5])
    noisy = (rng.random(12) < 1.0 / (1.0 + np.exp(-X @ theta))).astype(float)
    separable = (X @ theta > 0).astype(float)
    scales = np.array([1e-8, 1e8, 1.0, 1e-4, 1e4])
    odd = X[:, [0, 1, 2, 0, 1]] + rng.normal(size=(12, 5))
    wide = rng.normal(size=(10, 50))
    very_wide = rng.normal(size=(8, 4000))
    twins = np.repeat(X[:6], 2, axis=0)
    return (
        _case("noisy", X, noisy), _case("separable", X, separable),
        _case("barely separable", X[:, :1] * np.array([[1e-3]]), X[:, 0] > np.median(X[:, 0])),
        _case("one feature", X[:, :1], noisy),
        _case("contradicting duplicates", np.repeat(X[:4], 3, axis=0), np.tile([0, 1, 1], 4)),
        _case("duplicates across halves", twins, np.tile([0, 1], 6)),
        _case("near-duplicates", twins * (1.0 + 1e-9 * rng.normal(size=twins.shape)), np.tile([0, 1], 6)),
        _case("identical rows", np.ones((7, 2)), [0, 1, 1, 0, 1, 1, 1]), _case("all ones", X, np.ones(12)),
        _case("all zeros", X, np.zeros(12)), _case("one row", X[:1], [1]), _case("two rows", X[:2], [1, 0]),
        _case("no features", np.zeros((6, 0)), [0, 1, 1, 1, 0, 1]), _case("wide", wide, rng.random(10) < 0.5),
        _case("very wide", very_wide, rng.random(8) < 0.5),
        _case("collinear", np.column_stack([X[:, 0], 2 * X[:, 0], -X[:, 0], X[:, 1]]), noisy),
        _case("collinear, scaled", np.column_stack([X[:, 0], 1e6 * X[:, 0], X[:, 1]]), noisy),
        _case("constant columns", np.column_stack([np.full(12, 3.0), np.zeros(12), X[:, 0]]), noisy),
        _case("badly scaled", odd * scales, noisy),
        _case("badly scaled, separable", odd * scales, odd[:, 2] > 0), _case("tiny", X * 1e-8, noisy),
        _case("huge", X * 1e8, noisy), _case("huge, separable", X * 1e8, separable),
        _case("zero weights", X, noisy, np.tile([0.0, 1.0, 2.0], 4)),
        _case("fractional weights", X, noisy, rng.uniform(0.05, 2.0, 12)),
        _case("heavy weights", X, noisy, 10.0 ** rng.uniform(-3, 3, 12)),
    )  # fmt: skip


CASES = _make_cases()

WIDE_PRIORS = tuple((_case(*given), prior_variance) for prior_variance, *given in (
    # found at random: Gram matrices of these rows lose what tells the rows apart, once by 30,000 nats
    (12841519.414162153, "three rows", [[-1.267027155191668], [1.0986933978577844], [-0.27476380713070997]],
     [0, 1, 0]),
    (1e8, "heavy rows", [[0.3, 0.4, -0.5], [0.9, 0.0, 0.1], [-0.8, 0.6, 0.0], [1.2, -1.2, 0.0],
                         [-0.7, 0.1, -1.7], [-2.4, 0.6, 1.6]],
     [1, 1, 0, 1, 0, 0], [0.02, 1e5, 6.0, 0.05, 4.0, 200.0]),
    (28350555.12546544, "two twins", [
        [-0.8753335305035264, -0.11576595316930749], [1.8629756979798608, 0.6251497423992188],
        [-1.8794873606640963, 0.3650701021314599], [1.8629775702158828, 0.6251484654595728],
        [-1.6472410595259461, -1.432570471309129]], [0, 1, 0, 1, 0]),
    (62013.58778190817, "two contradicting twins", [
        [-8.433683095701145, 63.399978690122154, 0.0009364384057193427, 4.286697553635136],
        [9.34222233743643, 28.071999585768893, -0.008939855876921532, 4.955123884615023],
        [9.34222220357613, 28.071999618543746, -0.008939855826734316, 4.955123771320333]], [0, 1, 0]),
    (113443447.91993746, "closer twins", [
        [-0.9517373988269983, 0.5137376278911817, 0.30674908489029173, -1.6462891239686313],
        [-0.9517373988256982, 0.5137376278906701, 0.30674908489084063, -1.6462891239648358],
        [-0.6487176691389476, -0.2457598497105685, -0.733485402161319, 0.01670544512731882]], [0, 1, 0]),
    (1e-4, "two heavy rows", [[-1.7e-4, -1.19e-3, 1.22e6], [9.8e-4, -4.1e-4, 1.1e6]], [0, 1], [1e5, 1e4]),
))  # fmt: skip
"""Cases with the prior variance at which they are hard."""


def hostile(seed, rounds, rows, columns, scale, twins, heavy, priors):
    """Scales, twins, weights and prior variances all at random, each within ten to these powers."""
    rng = np.random.default_rng(seed)
    for _ in range(rounds):
        n, d = rng.integers(*rows), rng.integers(*columns)
        X = rng.normal(size=(n, d)) * 10.0 ** rng.uniform(-scale, scale, d)
        if rng.random() < 0.5:
            X = X[rng.integers(0, n, n)] * (1.0 + 10.0 ** rng.uniform(twins, -1) * rng.normal(size=(n, d)))
        y, weights = (rng.random(n) < 0.5).astype(float), 10.0 ** rng.uniform(-2, heavy, n)
        yield X, y, weights, 10.0 ** rng.uniform(*priors)
