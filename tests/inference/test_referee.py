"""The referee against quadrature, exact values and itself; its stated error; its refusals.

Stochastic comparisons allow 5 standard errors: a false alarm once in 1.7 million comparisons, if the stated
errors are honest, which tests of their own look at.
"""

import json

import numpy as np
import pytest
from scipy.special import log_expit, logsumexp

from dataworth import Dataset, pmi
from dataworth.evidence.referee import referee
from dataworth.inference.geometry import graded_features
from dataworth.inference.importance import (
    FEWEST,
    LARGEST_SHARE,
    Meter,
    Proposal,
    Weights,
    log_likelihood,
    whiten,
)
from dataworth.inference.logistic import Counts
from dataworth.inference.referee import (
    Chains,
    Gap,
    RefereeRefuses,
    Schedule,
    adapt_by_chains,
    anneal,
    annealed,
    laplace_start,
    pilot_schedule,
    referee_log_z,
)
from dataworth.models import Linear, Logistic, Softmax
from worlds import refusal

TRUST = 5.0


def quadrature(X, counts, prior_variance, offset=0.0, points=None):
    """log Z in one or two dimensions by the trapezoidal rule in z = θ/√C, on ±9.5 prior deviations. The
    integrand is analytic up to π/(√C‖x‖) beside the real axis, so the rule's error is exp(−2π·that/step)."""
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
    """With all of its tuning, and from a q that fits badly: annealing then has work to do."""
    X, counts, prior_variance, offset = SMALL[name]
    truth = quadrature(X, counts, prior_variance, offset)
    found = referee_log_z(X, counts, prior_variance, np.random.default_rng(1), offset=offset, target=0.01)
    assert 0 < found.error <= 0.01
    assert abs(found.log_z - truth) < TRUST * found.error
    problem = whiten(X, counts, prior_variance, offset)
    start = laplace_start(problem)
    start = Proposal.from_moments(start.mean + 0.7 * start.scales, 2.0 * start.covariance())
    found = annealed(problem, start, 0.03, np.random.default_rng(2), Meter(10**7))
    assert 0 < found.error <= 0.03
    assert abs(found.log_z - truth) < TRUST * found.error


def test_the_grid_itself_is_fine_enough():
    """The ruler's own check: a finer grid changes nothing, and one row has Z = 1/2. Against scipy and
    finite differences."""
    X, counts, prior_variance, _ = SMALL["two features, separable, wide prior"]
    truth = quadrature(X, counts, prior_variance)
    assert quadrature(X, counts, prior_variance, points=1001) == pytest.approx(truth, abs=1e-7)
    assert quadrature(np.array([[2.0]]), labels([1]), 100.0) == pytest.approx(np.log(0.5), abs=1e-9)
    margins = np.array([np.linspace(-900.0, 900.0, 250), np.linspace(-3.0, 3.0, 250)])
    weights, step = np.linspace(0.1, 3.0, 250), 1e-6
    value, slope = log_likelihood(margins, weights)
    np.testing.assert_allclose(value, log_expit(margins) @ weights, rtol=1e-13)
    rise = (log_expit(margins[1] + step) - log_expit(margins[1] - step)) / (2 * step)
    np.testing.assert_allclose(slope[1], weights * rise, rtol=1e-6)


def test_what_does_not_depend_on_coefficients_is_exact():
    """Nothing has evidence one; without features the evidence is the likelihood."""
    rng = np.random.default_rng(0)
    for X in (np.zeros((0, 3)), np.ones((4, 3))):
        found = referee_log_z(X, Counts(np.zeros(len(X)), np.zeros(len(X))), 1.0, rng)
        assert (found.log_z, found.error, found.ess) == (0.0, 0.0, np.inf)
    found = referee_log_z(np.zeros((3, 0)), labels([1, 1, 0]), 1.0, rng, offset=0.5)
    assert found.log_z == pytest.approx(2 * log_expit(0.5) + log_expit(-0.5), abs=1e-12)
    assert found.error == 0.0
    X, prior_variance = np.array([[1.0], [1.0], [1.0], [-0.5], [-0.5]]), 9.0
    merged = X[[0, 3]], Counts(np.array([2.0, 1.0]), np.array([1.0, 1.0]))
    truth = quadrature(*merged, prior_variance)
    for given in ((X, labels([1, 1, 0, 0, 1])), merged):
        found, same = (referee_log_z(*given, prior_variance, np.random.default_rng(8)) for _ in range(2))
        assert found == same
        assert abs(found.log_z - truth) < TRUST * found.error


@pytest.mark.parametrize(
    ("rows", "prior_variance"),
    [(np.array([[3.0, -4.0, 1.0]]), c) for c in (0.01, 1.0, 1e4)] + [(3.0 * np.eye(20), 100.0)],
)
def test_orthogonal_rows_are_independent_coins(rows, prior_variance):
    """Z = 2⁻ⁿ exactly, also of one row; at C = 100 in 20 dimensions no Gaussian fits."""
    n = len(rows)
    found = referee_log_z(rows, labels(np.arange(n) % 2), prior_variance, np.random.default_rng(4))
    assert abs(found.log_z - n * np.log(0.5)) < TRUST * found.error


def test_more_features_than_rows_is_the_reduced_problem():
    X, counts = simulated(6, 40, seed=1)
    assert whiten(X, counts, 2.0, 0.0).rows.shape == (6, 6)
    wide = referee_log_z(X, counts, 2.0, np.random.default_rng(5))
    same = referee_log_z(graded_features(X)[0], counts, 2.0, np.random.default_rng(6))
    assert abs(wide.log_z - same.log_z) < TRUST * np.hypot(wide.error, same.error)
    # two rows in 30 dimensions are two dimensions, which quadrature can do
    two = X[:2, :30]
    found = referee_log_z(two, Counts(counts.ones[:2], counts.zeros[:2]), 2.0, np.random.default_rng(7))
    truth = quadrature(graded_features(two)[0], Counts(counts.ones[:2], counts.zeros[:2]), 2.0)
    assert abs(found.log_z - truth) < TRUST * found.error


def check_spread(scores):
    """Whether mean and variance of 200 z-scores are those of a standard normal, at 1 in 10,000 each. Mean:
    |z̄|·√200 < 3.9. Sum of squares: χ² with 200 degrees between its 0.005 % and 99.995 % quantiles, 129
    and 287, that is root mean squares from 0.80 to 1.20. Two such tests: false alarm 1 in 2,500."""
    assert len(scores) == 200
    assert abs(np.mean(scores)) * np.sqrt(200) < 3.9
    assert 129 < np.sum(np.square(scores)) < 287


def test_the_stated_error_is_honest():
    """The whole of it, tuning and all, 200 times. Four orthogonal rows, Z = 1/16, the tuning done once;
    200 answers of 600 chains. Chains enough for the referee to believe them, and none that weighs as much
    as many others."""
    X, counts, prior_variance, _ = SMALL["two features"]
    truth = quadrature(X, counts, prior_variance)
    rngs = [np.random.default_rng([10, i]) for i in range(200)]
    found = [referee_log_z(X, counts, prior_variance, rng, target=0.05) for rng in rngs]
    check_spread([(f.log_z - truth) / f.error for f in found])
    problem = whiten(3.0 * np.eye(4), labels(np.arange(4) % 2), 10.0, 0.0)
    rng, meter = np.random.default_rng(11), Meter(10**8)
    gap = Gap.between(problem, adapt_by_chains(problem, laplace_start(problem), rng, meter))
    schedule = pilot_schedule(gap, 256, rng, meter)[0].subdivided(2)
    found = [Weights(w) for w in anneal(gap, schedule, 200 * 600, rng, meter).reshape(200, 600)]
    assert min(f.ess for f in found) > FEWEST
    assert max(f.largest_share for f in found) < LARGEST_SHARE
    check_spread([(f.log_z - 4 * np.log(0.5)) / f.error for f in found])


def test_moves_leave_the_posterior_invariant():
    """Exact draws from p (by rejection from the prior) are draws from p after ten rough moves, some
    refused. Means of u and u² of moved and of other, unmoved draws: 4 comparisons at 5 standard errors."""
    X, counts, prior_variance, _ = SMALL["two features"]
    problem = whiten(X, counts, prior_variance, 0.0)
    rng = np.random.default_rng(13)
    z = rng.standard_normal((1_000_000, 2))
    log_w = log_likelihood(z @ problem.rows.T + problem.shift, problem.weights)[0]
    z = z[-rng.standard_exponential(len(z)) < log_w - log_w.max()]
    q = laplace_start(problem)
    q = Proposal.from_moments(q.mean + 0.5 * q.scales, q.covariance())
    u = (z - q.mean) @ np.linalg.inv(q.axes).T
    half = len(u) // 2
    assert half > 4_000
    chains = Chains(Gap.between(problem, q), half, rng, Meter(10**9))
    chains.place(u[:half].copy())
    accepted = [chains.move(1.0, 1) for _ in range(10)]
    assert 0.2 < np.mean(accepted) < 0.97
    for moved, still in ((chains.u, u[half:]), (chains.u**2, u[half:] ** 2)):
        error = np.sqrt(moved.var(axis=0) / len(moved) + still.var(axis=0) / len(still))
        assert (np.abs(moved.mean(axis=0) - still.mean(axis=0)) < TRUST * error).all()


def test_a_coarse_schedule_is_unbiased_too():
    """Whatever the schedule and step size, E w = Z: here four steps and single leaps."""
    X, counts, prior_variance, _ = SMALL["one feature"]
    problem = whiten(X, counts, prior_variance, 0.0)
    gap = Gap.between(problem, laplace_start(problem))
    schedule = Schedule(np.array([0.0, 0.1, 0.4, 0.8, 1.0]), np.ones(5))
    found = Weights(anneal(gap, schedule, 20_000, np.random.default_rng(15), Meter(10**7)))
    assert abs(found.log_z - quadrature(X, counts, prior_variance)) < TRUST * found.error


HARD = simulated(100, 50, seed=4, scale=2.0)


def test_every_doubt_is_raised():
    for budget in (1, 5_000, 100_000):
        with pytest.raises(RefereeRefuses, match=f"{budget:,}"):
            referee_log_z(*HARD, 100.0, np.random.default_rng(17), budget=budget)
    X, counts = simulated(30, 3, seed=3)
    with pytest.raises(RefereeRefuses, match=r"standard error is too large .*needed: 0.0001 and 400"):
        referee_log_z(X, counts, 1.0, np.random.default_rng(18), target=1e-4, budget=100_000)
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
    D, T = Dataset([[1.0], [1.0], [-1.0]], ["b", "b", "a"]), Dataset([[1.0], [1.0]], ["b", "a"])
    judged = referee(D, T, Logistic(4.0, intercept=False))
    sets = [Counts(np.array(o, float), np.array(z, float)) for o, z in [([3, 0], [1, 1]), ([2, 0], [0, 1])]]
    X = np.array([[1.0], [-1.0]])
    test = quadrature(X[:1], Counts(np.ones(1), np.ones(1)), 4.0)
    expected = quadrature(X, sets[0], 4.0) - quadrature(X, sets[1], 4.0) - test
    assert abs(judged.value - expected) < TRUST * judged.stderr


def test_linear_is_exact_and_other_models_are_refused():
    D, T = Dataset(LINE, LINE.ravel() + 0.1), Dataset(LINE, -LINE.ravel())
    judged = referee(D, T, Linear(2.0, 0.5))
    assert (judged.value, judged.stderr, judged.ess) == (pmi(D, T, Linear(2.0, 0.5)).value, 0.0, np.inf)
    assert json.loads(json.dumps(judged.to_dict(), allow_nan=False))["joint"]["ess"] is None
    assert "Softmax" in refusal(referee, D, T, Softmax())
    T = Dataset(LINE, [0, 0, 1, 0, 1, 0, 1, 1, 1])
    assert "takes two Datasets" in refusal(referee, LINE, T)
    assert "missing" in refusal(lambda: referee(Dataset([[np.nan]], [1]), T))
    assert "target" in refusal(referee, T, T, target=0.0)
