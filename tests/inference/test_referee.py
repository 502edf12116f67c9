"""The referee against quadrature, exact values and itself; its stated error; its refusals.

Stochastic comparisons allow 5 standard errors: a false alarm once in 1.7 million comparisons, if the stated
errors are honest, which tests of their own look at.
"""

import json

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import expit, log_expit, logsumexp

from dataworth import Dataset, pmi
from dataworth.errors import DataworthError
from dataworth.evidence.referee import referee
from dataworth.inference.importance import (
    FEWEST,
    LARGEST_SHARE,
    Meter,
    Weights,
    laplace_start,
    softmax_from_prior,
    whiten,
)
from dataworth.inference.logistic import Counts
from dataworth.inference.referee import (
    Gap,
    RefereeRefuses,
    adapt_by_chains,
    anneal,
    pilot_schedule,
    referee_log_z,
)
from dataworth.models import Linear, Logistic

TRUST = 5.0


def quadrature(X, counts, prior_variance, offset=0.0, points=None):
    """log Z in one or two dimensions by the trapezoidal rule in z = θ/√C, on ±9.5 prior deviations.

    The integrand is analytic up to π/(√C‖x‖) beside the real axis, so the rule's error is exp(−2π·that/step).
    """
    rows, d = np.sqrt(prior_variance) * X, X.shape[1]
    axis = np.linspace(-9.5, 9.5, points or {1: 10_001, 2: 801}[d])
    rest = np.stack(np.meshgrid(*[axis] * d, indexing="ij"), axis=-1).reshape(-1, d)
    total = []
    for z in np.array_split(rest, 20):
        f = z @ rows.T + offset
        likelihood = log_expit(f) @ counts.ones + log_expit(-f) @ counts.zeros
        total.append(logsumexp(likelihood - 0.5 * (z**2).sum(axis=1)))
    return float(logsumexp(total)) + d * float(np.log(axis[1] - axis[0]) - 0.5 * np.log(2 * np.pi))


def labels(y):
    y = np.asarray(y, dtype=float)
    return Counts(y, 1.0 - y)


def simulated(n, d, seed, scale=1.0):
    rng = np.random.default_rng([seed, 0x2EF])
    X = rng.normal(size=(n, d))
    y = rng.random(n) < 1 / (1 + np.exp(-X @ rng.normal(scale=scale, size=d)))
    return X, labels(y)


LINE = np.linspace(-2.0, 2.0, 9)[:, None]
PLANE = np.random.default_rng(5).normal(size=(12, 2))
SPLIT = PLANE @ np.array([1.0, -2.0]) > 0
SMALL = {
    "one feature": (LINE, labels([0, 0, 1, 0, 1, 0, 1, 1, 1]), 1.0, 0.0),
    "one feature, narrow prior": (LINE, labels([0, 0, 1, 0, 1, 0, 1, 1, 1]), 0.01, 0.0),
    "one feature, separable, wide prior": (LINE, labels([0, 0, 0, 0, 1, 1, 1, 1, 1]), 100.0, 0.0),
    "one class only": (LINE + 3.0, labels(np.ones(9)), 100.0, 0.0),
    "two features": (PLANE, labels(PLANE[:, 0] > 0.3), 4.0, 0.0),
    "two features, separable, wide prior": (PLANE, labels(SPLIT), 100.0, 0.0),
    "offsets": (PLANE, labels(SPLIT), 4.0, np.linspace(-3.0, 3.0, 12)),
    "one offset": (LINE, labels([0, 0, 1, 0, 1, 0, 1, 1, 1]), 9.0, 1.5),
    "weights": (PLANE, Counts(np.linspace(0, 2.5, 12), np.linspace(1.7, 0, 12)), 4.0, 0.0),
    "heavy weights, both labels": (LINE, Counts(np.linspace(0, 40, 9), np.full(9, 12.5)), 100.0, 0.0),
}


@pytest.mark.parametrize("name", SMALL)
def test_quadrature_agrees(name):
    X, counts, prior_variance, offset = SMALL[name]
    found = referee_log_z(X, counts, prior_variance, np.random.default_rng(1), offset=offset, target=0.01)
    assert found.method == "importance"
    assert 0 < found.error <= 0.01
    assert abs(found.log_z - quadrature(X, counts, prior_variance, offset)) < TRUST * found.error


def test_nothing_has_evidence_one():
    rng = np.random.default_rng(0)
    for X in (np.zeros((0, 3)), np.ones((4, 3))):
        found = referee_log_z(X, Counts(np.zeros(len(X)), np.zeros(len(X))), 1.0, rng)
        assert (found.log_z, found.error, found.method) == (0.0, 0.0, "exact")
        assert found.ess == np.inf


def test_orthogonal_rows_are_independent_coins():
    """Z = 2⁻ⁿ exactly; at C = 100 in 20 dimensions no Gaussian fits, and annealing has to answer."""
    found = referee_log_z(3.0 * np.eye(20), labels(np.arange(20) % 2), 100.0, np.random.default_rng(4))
    assert found.method == "annealed"
    assert abs(found.log_z - 20 * np.log(0.5)) < TRUST * found.error


def spread_of_scores(scores):
    """Whether mean and variance of 200 z-scores are those of a standard normal, at 1 in 10,000 each.

    Mean: |z̄|·√200 < 3.9. Sum of squares: χ² with 200 degrees between its 0.005 % and 99.995 % quantiles,
    129 and 287, that is root mean squares from 0.80 to 1.20. Two such tests: false alarm 1 in 2,500.
    """
    assert len(scores) == 200
    assert abs(np.mean(scores)) * np.sqrt(200) < 3.9
    assert 129 < np.sum(np.square(scores)) < 287


def test_the_stated_error_of_importance_sampling_is_honest():
    """The whole of it, tuning and all, 200 times."""
    X, counts, prior_variance, _ = SMALL["one feature, separable, wide prior"]
    truth = quadrature(X, counts, prior_variance)
    rngs = [np.random.default_rng([10, i]) for i in range(200)]
    found = [referee_log_z(X, counts, prior_variance, rng, target=0.05) for rng in rngs]
    assert {f.method for f in found} == {"importance"}
    spread_of_scores([(f.log_z - truth) / f.error for f in found])


def test_the_stated_error_of_annealing_is_honest():
    """Four orthogonal rows, Z = 1/16, the tuning done once; 200 answers of 600 chains.

    Chains enough for the referee to believe them, and none that weighs as much as many others.
    """
    problem = whiten(3.0 * np.eye(4), labels(np.arange(4) % 2), 10.0, 0.0)
    rng, meter = np.random.default_rng(11), Meter(10**8)
    gap = Gap.between(problem, adapt_by_chains(problem, laplace_start(problem), rng, meter))
    schedule = pilot_schedule(gap, 256, rng, meter)[0].subdivided(2)
    found = [Weights(w) for w in anneal(gap, schedule, 200 * 600, rng, meter).reshape(200, 600)]
    assert min(f.ess for f in found) > FEWEST
    assert max(f.largest_share for f in found) < LARGEST_SHARE
    spread_of_scores([(f.log_z - 4 * np.log(0.5)) / f.error for f in found])


def one_sentence(error):
    text = str(error.value)
    assert text.endswith(".")
    assert ". " not in text
    assert "\n" not in text
    return text


HARD = simulated(100, 50, seed=4, scale=2.0)


@pytest.mark.parametrize("budget", [1, 5_000, 100_000])
def test_what_cannot_be_established_is_refused(budget):
    with pytest.raises(RefereeRefuses) as error:
        referee_log_z(*HARD, 100.0, np.random.default_rng(17), budget=budget)
    assert f"{budget:,}" in one_sentence(error)
    assert isinstance(error.value, DataworthError)


def test_an_error_above_the_target_is_refused_with_what_was_reached():
    X, counts = simulated(30, 3, seed=3)
    with pytest.raises(RefereeRefuses, match="standard error is too large") as error:
        referee_log_z(X, counts, 1.0, np.random.default_rng(18), target=1e-4, budget=100_000)
    assert "needed: 0.0001 and 400" in one_sentence(error)


def test_every_doubt_is_raised():
    rng = np.random.default_rng(19)
    even = 0.1 * rng.normal(size=10_000)
    assert Weights(even).doubts(0.02) == ""
    assert "too few" in Weights(even[:300]).doubts(0.02)
    assert "standard error" in Weights(3.0 * even[:1000]).doubts(0.001)
    lone = even.copy()
    lone[0] = np.log(80.0)  # one weight of 80 among 10,000 near 1
    assert "one draw carries" in Weights(lone).doubts(0.02)
    apart = even + np.repeat([0.0, 0.05], 5_000)
    assert "disagree" in Weights(apart).doubts(0.02)


def test_pmi_is_the_difference_of_three_quadratures():
    D = Dataset(LINE, [0, 0, 1, 0, 1, 0, 1, 1, 1], weights=np.linspace(0.5, 2.0, 9))
    T = Dataset(LINE[2:7] + 0.5, [0, 1, 0, 1, 1])
    judged = referee(D, T, Logistic(9.0), seed=1)

    def truth(part):
        X = np.column_stack([part.X, np.ones(len(part))])
        weights = np.ones(len(part)) if part.weights is None else part.weights
        return quadrature(X, Counts(weights * part.y, weights * (1 - part.y)), 9.0)

    expected = truth(Dataset.concat([D, T])) - truth(D) - truth(T)
    assert abs(judged.value - expected) < TRUST * judged.stderr
    assert judged.stderr <= np.sqrt(3) * 0.02
    assert judged.value == judged.joint.log_z - judged.data.log_z - judged.test.log_z
    assert judged.ess == min(judged.joint.ess, judged.data.ess, judged.test.ess)
    assert judged == referee(D, T, Logistic(9.0, inference="ep"), seed=1)  # not swayed by what it judges
    assert judged != referee(D, T, Logistic(9.0), seed=2)


def test_linear_is_exact_and_other_models_are_refused():
    D, T = Dataset(LINE, LINE.ravel() + 0.1), Dataset(LINE, -LINE.ravel())
    judged = referee(D, T, Linear(2.0, 0.5))
    assert (judged.value, judged.stderr, judged.method) == (pmi(D, T, Linear(2.0, 0.5)).value, 0.0, "exact")
    assert json.loads(json.dumps(judged.to_dict(), allow_nan=False))["joint"]["ess"] is None

    class Other:
        pass

    with pytest.raises(DataworthError) as error:
        referee(D, T, Other())
    assert "Other" in one_sentence(error)


def test_input_is_checked_as_by_pmi():
    T = Dataset(LINE, [0, 0, 1, 0, 1, 0, 1, 1, 1])
    with pytest.raises(DataworthError, match="takes two Datasets"):
        referee(LINE, T)
    with pytest.raises(DataworthError, match="missing"):
        referee(Dataset([[np.nan]], [1]), T)
    with pytest.raises(DataworthError, match="target"):
        referee(T, T, target=0.0)


def test_softmax_from_the_prior_by_quadrature():
    """Two classes and one feature: t = θ₁ − θ₀ is N(0, 2C)."""
    x, ones, zeros, C = np.array([0.7, -1.2, 2.0]), np.array([1.0, 0.0, 2.0]), np.array([0.0, 1.0, 1.0]), 3.0

    def integrand(t):
        fit = np.prod(expit(t * x) ** ones * expit(-t * x) ** zeros)
        return fit * np.exp(-(t**2) / (4 * C)) / np.sqrt(4 * np.pi * C)

    truth = np.log(quad(integrand, -40, 40, epsabs=0, epsrel=1e-10, limit=500)[0])
    counts = np.column_stack([zeros, ones])
    for X in (x[:, None], np.column_stack([x, np.zeros((3, 4))])):  # d < n, and d > n
        found = softmax_from_prior(X, counts, C, np.random.default_rng(1), 100_000)
        assert found.error < 0.01
        assert abs(found.log_z - truth) < TRUST * found.error
