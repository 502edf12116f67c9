"""The neural baselines: bounds against Gaussians of known information, and training to be trusted."""

from __future__ import annotations

import numpy as np
import pytest

from dataworth.errors import DataworthError
from dataworth_studies.estimators.base import as_vectors
from dataworth_studies.estimators.lmi import Lmi, lmi
from dataworth_studies.estimators.mine import Mine, critic, donsker_varadhan, mine
from dataworth_studies.estimators.mine_theta import MineTheta, coefficients
from dataworth_studies.estimators.networks import DEFAULT, Budget, inputs, split, train
from dataworth_studies.known_mi import KnownPairs, Randomness, make_pairs

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
def test_one_nat_in_ten_dimensions(estimate):
    """With the default budget; about 20 s of one core each."""
    assert estimate(*gaussians(1.0, 10_000), 0, DEFAULT).value == pytest.approx(1.0, rel=0.15)


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


def test_the_critic_is_one_network_on_pairs_joined():
    """Splitting the first layer changes what is computed twice, not what is computed."""
    network = critic(3, 2)
    a, b = torch.randn(5, 3), torch.randn(5, 2)
    weight = torch.cat([network.of_a.weight, network.of_b.weight], dim=1)

    def whole(a, b):
        return network.rest(torch.cat([a, b], dim=1) @ weight.T + network.of_a.bias).squeeze(1)

    joint, apart = network(a, b, 2)
    torch.testing.assert_close(joint, whole(a, b))
    again = [whole(a[i : i + 1], b[(i + s) % 5 : (i + s) % 5 + 1]) for s in (1, 2) for i in range(5)]
    torch.testing.assert_close(apart, torch.cat(again))


@ESTIMATORS
def test_the_seed_decides_and_nothing_else_changes(estimate):
    A, B = gaussians(1.0, 300)
    torch.manual_seed(5)
    np.random.seed(5)  # noqa: NPY002 (the global state is what is looked at)
    threads, state, legacy = torch.get_num_threads(), torch.get_rng_state(), np.random.get_state()[1].copy()  # noqa: NPY002
    first = estimate(A, B, 3, SMALL)
    assert torch.equal(torch.get_rng_state(), state)
    assert np.array_equal(np.random.get_state()[1], legacy)  # noqa: NPY002
    assert torch.get_num_threads() == threads
    torch.manual_seed(6)
    assert estimate(A, B, 3, SMALL) == first
    assert estimate(A, B, 4, SMALL).value != first.value


def test_threads_are_restored_when_training_fails():
    threads = torch.get_num_threads()
    with pytest.raises(DataworthError, match="leave 0 held out"):
        mine(np.zeros((2, 1)), np.zeros((2, 1)), 0, Budget(threads=threads + 1))
    assert torch.get_num_threads() == threads


class Runner(torch.nn.Module):
    """One weight that training moves by about 1 an epoch."""

    def __init__(self):
        super().__init__()
        self.place = torch.nn.Parameter(torch.zeros(1))


def run(goal, budget):
    runner, seen = Runner(), []

    def held_out():
        seen.append(runner.place.item())
        return abs(goal - seen[-1])

    trace = train(runner, lambda rows: -runner.place.sum(), held_out, 10, budget, 0.5)
    return runner, seen, trace


@pytest.mark.parametrize(
    ("goal", "epochs", "patience", "looks", "best"),
    [
        (3.0, 9, 4, 8, 3),  # 3 epochs that help, 4 of patience; kept by reference it would be the last
        (3.0, 4, 4, 5, 3),  # also when epochs run out
        (-1.0, 9, 2, 3, 0),  # a network that only gets worse is left as drawn
    ],
)
def test_training_ends_at_the_best_epoch_and_not_at_the_last(goal, epochs, patience, looks, best):
    """Two steps of ½ an epoch: what is held out is nearest to the goal at the best epoch."""
    runner, seen, trace = run(goal, Budget(epochs=epochs, patience=patience, batch=5))
    assert seen == pytest.approx(range(looks), abs=1e-4)
    assert trace.best == best
    assert runner.place.item() == seen[best]


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


def test_wide_features_become_principal_components_of_the_pool():
    """Without labels: changing them changes nothing but the label columns."""
    narrow = known(128)
    assert np.array_equal(inputs(narrow)[0], as_vectors(narrow)[0])
    wide = known(129)
    D, _ = inputs(wide)
    assert D.shape == (60, 12 * 101)
    flipped = KnownPairs(wide.X, 1 - wide.y, wide.data, wide.test, wide.rate_data, wide.rate_test)
    rows, other = D.reshape(60, 12, 101), inputs(flipped)[0].reshape(60, 12, 101)
    assert np.array_equal(rows[..., :100], other[..., :100])
    assert np.array_equal(rows[..., 100], 1 - other[..., 100])


def test_coefficients_solve_the_regression():
    """At the mode the gradient vanishes: θ/C = Xᵀ(y − σ(Xθ)), for fewer and for more rows than features."""
    for features in (3, 30):
        pairs = known(features)
        for found, rows in zip(coefficients(pairs, 0.5), (pairs.data, pairs.test), strict=True):
            X, y = pairs.X[rows[0]], pairs.y[rows[0]]
            gradient = X.T @ (y - 1 / (1 + np.exp(-X @ found[0]))) - found[0] / 0.5
            assert np.abs(gradient).max() < 1e-3
