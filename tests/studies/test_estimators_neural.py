"""The neural baselines: bounds against Gaussians of known information, and training to be trusted."""

import numpy as np
import pytest

from dataworth_studies.estimators.lmi import Lmi, lmi
from dataworth_studies.estimators.mine import Mine, donsker_varadhan, mine
from dataworth_studies.estimators.mine_theta import MineTheta, coefficients
from dataworth_studies.estimators.networks import Budget, split
from dataworth_studies.known_mi import Randomness, make_pairs

torch = pytest.importorskip("torch")

SMALL = Budget(epochs=2, batch=64, rate=1e-3)
ESTIMATORS = pytest.mark.parametrize("estimate", [mine, lmi])


def gaussians(nats, count, dimensions=10, seed=0):
    """Pairs of vectors whose entries correlate by ρ: I = −½ d log(1 − ρ²)."""
    rng = np.random.default_rng(seed)
    rho = np.sqrt(1.0 - np.exp(-2.0 * nats / dimensions))
    a, noise = rng.normal(size=(2, count, dimensions))
    return a, rho * a + np.sqrt(1.0 - rho**2) * noise


@ESTIMATORS
def test_independent_vectors_carry_nothing(estimate):
    """Also with a column that does not vary."""
    A, B = gaussians(0.0, 2_000)
    assert abs(estimate(np.column_stack([A, np.ones(2_000)]), B, 0, SMALL).value) < 0.1


def test_the_bound_of_the_best_network_is_the_truth():
    """The critic log p(a,b)/p(a)p(b) attains the bound. s.d. of the mean over 40,000 pairs: 0.008; 5 s.d."""
    rho = np.sqrt(1.0 - np.exp(-1.0))
    a, b = (torch.from_numpy(part) for part in gaussians(0.5, 40_000, 1))

    def ratio(a, b):
        both = (a**2 - 2 * rho * a * b + b**2) / (1 - rho**2)
        return (-0.5 * np.log(1 - rho**2) - 0.5 * both + 0.5 * (a**2 + b**2)).squeeze(1)

    def best(a, b, shifts):
        return ratio(a, b), torch.cat([ratio(a, b.roll(-s, 0)) for s in range(1, shifts + 1)])

    assert donsker_varadhan(best, a, b) == pytest.approx(0.5, abs=0.04)


def test_what_is_held_out_is_not_trained_on_nor_used_to_standardise():
    A = np.arange(40.0)[:, None] ** 2
    parts = split(A, -A, Budget(held_out=0.25))
    (a, b), (out_a, out_b) = parts
    assert (len(a), len(out_a)) == (30, 10)
    assert torch.equal(a, -b)
    assert torch.equal(out_a, -out_b)  # pairs stay pairs
    assert float(a.mean()) == pytest.approx(0.0, abs=1e-5)
    assert float(a.std(correction=0)) == pytest.approx(1.0, abs=1e-5)
    assert len(torch.cat([a, out_a]).unique()) == 40


def known(features, bits=1.0, count=60, size=12):
    rng = np.random.default_rng(1)
    y = np.repeat([0.0, 1.0], 100)
    X = rng.normal(size=(200, features)) + y[:, None]
    return make_pairs(X, y, bits, Randomness.draw(rng, count, size))


@pytest.mark.parametrize("estimator", [Mine(SMALL), MineTheta(0.5, SMALL), Lmi(SMALL)], ids=lambda e: e.name)
def test_estimators_take_pairs_and_a_seed(estimator):
    pairs = known(4)
    guess = estimator(pairs, 0)
    assert np.isfinite(guess.value)
    assert guess == estimator(pairs, 0)
    assert {"best_epoch", "epochs", "training_value"} <= set(guess.details)


def test_coefficients_solve_the_regression():
    """At the mode the gradient vanishes: θ/C = Xᵀ(y − σ(Xθ)), for fewer and for more rows than features."""
    for features in (3, 30):
        pairs = known(features)
        for found, rows in zip(coefficients(pairs, 0.5), (pairs.data, pairs.test), strict=True):
            X, y = pairs.X[rows[0]], pairs.y[rows[0]]
            gradient = X.T @ (y - 1 / (1 + np.exp(-X @ found[0]))) - found[0] / 0.5
            assert np.abs(gradient).max() < 1e-3
