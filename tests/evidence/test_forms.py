"""Forms of the score: by hand, by many digits, by dense matrices, by sampling, and for models of users."""

import json
from functools import cache

import mpmath as mp
import numpy as np
import pytest
from scipy.stats import multivariate_normal

import dataworth as dw
from dataworth import Dataset, pmi
from dataworth.evidence.forms import FORMS
from dataworth.inference.logistic import Counts
from dataworth.inference.tilted import tilted_moments
from dataworth.models import Linear, Logistic
from golden.sentences import all_refused
from reference import (
    LOG_2_PI,
    Gaussian,
    dense_laplace,
    isotropic,
    sampled_log_z,
    with_ones,
)
from user_models import Coin
from worlds import classes, held_out, on_the_yardstick, yardstick

PLAIN = Logistic(1.0, intercept=False)
over_inferences = pytest.mark.parametrize("inference", ["laplace", "ep"])


# --- by hand, mode at zero -------------------------------------------------------------------------------
#
# Each row is seen with both labels, so every mode is 0 by symmetry, and a row adds 2·¼·xxᵀ to the precision:
#   D = (2,0):  Σa⁻¹ = I + ½[[4,0],[0,0]] = [[3,0],[0,1]],   det 3
#   T = (2,2):  Σb⁻¹ = I + ½[[4,4],[4,4]] = [[3,2],[2,3]],   det 5
#   both:       Σab⁻¹ = I + [[2,0],[0,0]] + [[2,2],[2,2]] = [[5,2],[2,3]],   det 11
# All means are 0 and Σa⁻¹ + Σb⁻¹ − I = Σab⁻¹, so every form is ½ log(3·5/11), whatever η.

ZERO = (Dataset([[2.0, 0.0]] * 2, [0, 1]), Dataset([[2.0, 2.0]] * 2, [0, 1]))
HALF_LOG = 0.5 * np.log(15.0 / 11.0)


@pytest.mark.parametrize("form", FORMS)
def test_by_hand_with_modes_at_zero(form):
    assert pmi(*ZERO, PLAIN, form=form).value == pytest.approx(HALF_LOG, abs=1e-10)
    assert pmi(*ZERO[::-1], PLAIN, form=form).value == pytest.approx(HALF_LOG, abs=1e-10)


@pytest.mark.parametrize("eta", [0, "0", "joint", "data", "test", [0.0, 0.0], [3.0, -7.0], (1e3, 2.0)])
def test_by_hand_with_modes_at_zero_at_any_eta(eta):
    assert pmi(*ZERO, PLAIN, form="eta", eta=eta).value == pytest.approx(
        HALF_LOG, abs=1e-8 if eta == (1e3, 2.0) else 1e-10
    )


# --- by hand, modes elsewhere ----------------------------------------------------------------------------
#
# D: x = (1,0), weights w₁ = 4 log 3 + 3 of label 1 and 1 of label 0. At θ = (L, 0), L = log 3, σ = ¾:
#   gradient  w₁·¼ − ¾ − L = 0,   curvature  (w₁ + 1)·¾·¼ = ¾(1 + L) =: c
#   Σa⁻¹ = [[1+c, 0], [0, 1]],   μa = (L, 0)
# T: x = (1,1), weight 1 of label 1 and w₀ = 2 + (3/2) log 2 of label 0. At θ = −(m, m), m = ½ log 2,
#   f = −log 2, σ = ⅓:
#   gradient  1·⅔ − w₀·⅓ + m = 0,   curvature  (1 + w₀)·⅓·⅔ = (2 + log 2)/3 =: k
#   Σb⁻¹ = [[1+k, k], [k, 1+k]],   μb = −(m, m),   Σb⁻¹μb = −(1 + 2k)(m, m)
# Corollary: Σ̃⁻¹ = [[1+c+k, k], [k, 1+k]], det Σ̃⁻¹ = (1+c+k)(1+k) − k² = 1 + c + 2k + ck,
#   h = Σ̃⁻¹μ̃ = ((1+c)L − (1+2k)m, −(1+2k)m),
#   μ̃ᵀΣ̃⁻¹μ̃ = hᵀΣ̃h = ((1+k)h₁² − 2k h₁h₂ + (1+c+k)h₂²) / det Σ̃⁻¹,
#   U = ½ (log[(1+c)(1+2k)/det Σ̃⁻¹] + hᵀΣ̃h − (1+c)L² − 2(1+2k)m²).

L3, L2 = np.log(3.0), np.log(2.0)
AWAY = (
    Dataset([[1.0, 0.0]] * 2, [1, 0], weights=[4.0 * L3 + 3.0, 1.0]),
    Dataset([[1.0, 1.0]] * 2, [1, 0], weights=[1.0, 2.0 + 1.5 * L2]),
)


def test_the_posteriors_are_those_derived_by_hand():
    c, k = 0.75 * (1.0 + L3), (2.0 + L2) / 3.0
    for data, mean, precision in (
        (AWAY[0], [L3, 0.0], [[1.0 + c, 0.0], [0.0, 1.0]]),
        (AWAY[1], [-0.5 * L2, -0.5 * L2], [[1.0 + k, k], [k, 1.0 + k]]),
    ):
        fit = PLAIN.fit(data.X, data.y.astype(float), data.weights)
        assert fit.mean == pytest.approx(mean, abs=1e-6)
        assert fit.precision == pytest.approx(np.array(precision), abs=1e-6)


@pytest.mark.parametrize("form", ["product", "integral"])
def test_the_corollary_by_hand(form):
    c, k, m = 0.75 * (1.0 + L3), (2.0 + L2) / 3.0, 0.5 * L2
    det = 1.0 + c + 2.0 * k + c * k
    h1, h2 = (1.0 + c) * L3 - (1.0 + 2.0 * k) * m, -(1.0 + 2.0 * k) * m
    square = ((1.0 + k) * h1**2 - 2.0 * k * h1 * h2 + (1.0 + c + k) * h2**2) / det
    expected = 0.5 * (
        np.log((1.0 + c) * (1.0 + 2.0 * k) / det) + square - (1.0 + c) * L3**2 - 2.0 * (1.0 + 2.0 * k) * m**2
    )
    assert pmi(*AWAY, PLAIN, form=form).value == pytest.approx(expected, abs=1e-10)


class Digits:
    """The example above with 50 digits: Gaussians as (mean, precision), the joint's mode by root finding."""

    def __init__(self):
        log3, log2 = mp.log(3), mp.log(2)
        self.rows = {
            "data": (mp.matrix([1, 0]), 4 * log3 + 3, mp.mpf(1)),
            "test": (mp.matrix([1, 1]), mp.mpf(1), 2 + 3 * log2 / 2),
        }
        zero = mp.matrix([0, 0])
        self.prior = (zero, mp.eye(2))
        self.data, self.log_z_data = self.laplace(["data"], self.prior, (log3, 0))
        self.test, self.log_z_test = self.laplace(["test"], self.prior, (-log2 / 2, -log2 / 2))
        self.joint, self.log_z_joint = self.laplace(["data", "test"], self.prior, (0.5, -0.5))
        self.given, self.log_z_given = self.laplace(["test"], self.data, (0.5, -0.5))

    def laplace(self, names, prior, start):
        """Mode and precision under a Gaussian prior, and the log evidence."""
        rows = [self.rows[name] for name in names]
        mean, precision = prior

        def gradient(*theta):
            theta = mp.matrix(theta)
            total = -precision * (theta - mean)
            for x, ones, zeros in rows:
                up = 1 / (1 + mp.exp(-mp.fdot(x, theta)))
                total += (ones * (1 - up) - zeros * up) * x
            return list(total)

        mode = mp.findroot(gradient, start, tol=mp.mpf(10) ** -80)
        after, fit = precision.copy(), mp.mpf(0)
        for x, ones, zeros in rows:
            up = 1 / (1 + mp.exp(-mp.fdot(x, mode)))
            after += (ones + zeros) * up * (1 - up) * x * x.T
            fit += ones * mp.log(up) + zeros * mp.log(1 - up)
        off = mode - mean
        fit -= (mp.fdot(off, precision * off) + mp.log(mp.det(after) / mp.det(precision))) / 2
        return (mode, after), fit

    def log_density(self, gaussian, theta):
        mean, precision = gaussian
        off = theta - mean
        return (mp.log(mp.det(precision)) - mp.fdot(off, precision * off)) / 2 - mp.log(2 * mp.pi)

    def divergence(self, p, q):
        """KL(p ‖ q)."""
        off, covariance = p[0] - q[0], mp.inverse(p[1])
        trace = sum((q[1] * covariance)[i, i] for i in range(2))
        return (trace - 2 + mp.fdot(off, q[1] * off) + mp.log(mp.det(p[1]) / mp.det(q[1]))) / 2

    def eta(self, theta):
        at = [self.log_density(g, theta) for g in (self.data, self.test, self.prior, self.joint)]
        return float(at[0] + at[1] - at[2] - at[3])

    def kl(self):
        at = [self.divergence(self.joint, g) for g in (self.prior, self.data, self.test)]
        return float(at[0] - at[1] - at[2])


@pytest.fixture(scope="module")
def digits():
    with mp.workdps(50):
        yield Digits()


@pytest.mark.parametrize("eta", [0, [0.7, -1.3], [5.0, 4.0], "data", "test", "joint"], ids=str)
def test_eta_against_fifty_digits(digits, eta):
    if isinstance(eta, str):
        theta = {"data": digits.data, "test": digits.test, "joint": digits.joint}[eta][0]
    else:
        theta = mp.matrix([0, 0] if eta == 0 else eta)
    assert pmi(*AWAY, PLAIN, form="eta", eta=eta).value == pytest.approx(digits.eta(theta), abs=1e-10)


def test_every_other_form_against_fifty_digits(digits):
    """To the solver's tolerance, 3e-7 nats a fit."""
    assert pmi(*AWAY, PLAIN, form="kl").value == pytest.approx(digits.kl(), abs=1e-10)
    evidence = float(digits.log_z_joint - digits.log_z_data - digits.log_z_test)
    sealed = float(digits.log_z_given - digits.log_z_test)
    assert pmi(*AWAY, PLAIN).value == pytest.approx(evidence, abs=1e-6)
    assert pmi(*AWAY, PLAIN, form="sealed").value == pytest.approx(sealed, abs=1e-6)
    assert abs(evidence - sealed) > 1e-3  # two numbers


class Dense:
    """The paper's formulas, as printed."""

    def __init__(self, prior, data, test, joint):
        self.prior, self.data, self.test, self.joint = prior, data, test, joint

    def eta(self, theta):
        return (
            self.data.log_density(theta)
            + self.test.log_density(theta)
            - self.prior.log_density(theta)
            - self.joint.log_density(theta)
        )

    def product(self):
        precision = self.data.precision + self.test.precision - self.prior.precision
        shift = (
            self.data.precision @ self.data.mean
            + self.test.precision @ self.test.mean
            - self.prior.precision @ self.prior.mean
        )
        together = Gaussian(np.linalg.solve(precision, shift), precision)

        def log_norm(gaussian):
            square = gaussian.mean @ gaussian.precision @ gaussian.mean
            return 0.5 * (np.linalg.slogdet(gaussian.precision)[1] - square)

        return log_norm(self.data) + log_norm(self.test) - log_norm(together) - log_norm(self.prior)

    def kl(self):
        return self.joint.divergence(self.prior) - sum(
            self.joint.divergence(p) for p in (self.data, self.test)
        )


def two_sets(seed, n, m, d, *, weighted=False, shared=False, numeric_labels=False):
    rng = np.random.default_rng(seed)
    X, theta = rng.normal(size=(n + m, d)), 1.5 * rng.normal(size=d)
    if shared:
        X[n : n + 3], X[1] = X[:3], X[0]  # rows of D in T, and a row twice in D
    y = (
        X @ theta + rng.normal(size=n + m)
        if numeric_labels
        else (X @ theta + rng.logistic(size=n + m) > 0).astype(int)
    )
    weights = rng.uniform(0.2, 3.0, n + m) if weighted else None
    return tuple(
        Dataset(X[s], y[s], weights=None if weights is None else weights[s])
        for s in (slice(n), slice(n, None))
    )


PROBLEMS = {
    "rows": two_sets(1, 20, 12, 3),
    "features": two_sets(2, 8, 6, 25),
    "weights": two_sets(3, 15, 9, 4, weighted=True),
    "features and weights": two_sets(4, 7, 9, 30, weighted=True, shared=True),
    "shared rows": two_sets(5, 14, 10, 3, shared=True),
}
over_problems = pytest.mark.parametrize("name", PROBLEMS)


def dense_forms(D, T, c, intercept, inference):
    """Dense Gaussians, by the tests' own Newton and EP."""
    fits = []
    for s in (D, T, Dataset.concat([D, T])):
        X, weights = with_ones(s.X) if intercept else s.X, np.ones(len(s)) if s.weights is None else s.weights
        fit = dense_laplace(X, s.y, weights, c).gaussian() if inference == "laplace" else None
        fits.append(fit or dense_ep(X, s.y, weights, c))
    return Dense(isotropic(D.X.shape[1] + intercept, c), *fits)


def dense_ep(X, y, weights, c):
    """EP's Gaussian with plain d×d matrices: 300 damped rounds; for its integrals see test_ep."""
    X, place = np.unique(X, axis=0, return_inverse=True)
    counts = Counts(*(np.bincount(place.ravel(), weights * (y == k), len(X)) for k in (1, 0)))
    tau, nu = np.zeros(len(X)), np.zeros(len(X))
    for _ in range(300):
        precision = np.eye(X.shape[1]) / c + X.T @ (tau[:, None] * X)
        covariance = np.linalg.inv(precision)
        g, v = X @ covariance @ X.T @ nu, np.einsum("ij,jk,ik->i", X, covariance, X)
        before = 1.0 / v - tau
        centre = (g / v - nu) / before
        moments = tilted_moments(centre, 1.0 / before, counts)
        tau, old = 0.5 * (tau + 1.0 / moments.variance - before), tau
        nu = 0.5 * (nu + moments.mean / moments.variance - centre * before)
    assert np.abs(tau - old).max() < 1e-9
    return Gaussian(covariance @ X.T @ nu, precision)


@over_inferences
@over_problems
@pytest.mark.parametrize(("c", "intercept"), [(0.3, True), (5.0, False)])
def test_every_form_against_dense_matrices(name, c, intercept, inference):
    D, T = PROBLEMS[name]
    model = Logistic(c, inference, intercept)
    dense = dense_forms(D, T, c, intercept, inference)
    theta = np.random.default_rng(0).normal(size=len(dense.prior.mean))
    points = {0: 0.0 * theta, "joint": dense.joint.mean, "data": dense.data.mean, "test": dense.test.mean}
    for eta, point in points.items():
        assert pmi(D, T, model, "eta", eta).value == pytest.approx(dense.eta(point), abs=1e-6), eta
    assert pmi(D, T, model, "eta", theta).value == pytest.approx(dense.eta(theta), abs=1e-6)
    assert pmi(D, T, model, "eta", theta.tolist()).value == pmi(D, T, model, "eta", theta).value
    sharp = 1e-6 if inference == "ep" else 1e-9  # modes are brought to their last digits
    assert pmi(D, T, model, "product").value == pytest.approx(dense.product(), abs=sharp)
    assert pmi(D, T, model, "integral").value == pmi(D, T, model, "product").value
    assert pmi(D, T, model, "kl").value == pytest.approx(dense.kl(), abs=sharp)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("n", "m", "d"), [(20, 12, 3), (6, 5, 20)])
def test_all_forms_are_one_number_for_linear(form, n, m, d):
    """That of dense densities of labels, and U(D, T) = U(T, D); a weight is a precision of the noise."""
    D, T = two_sets(7, n, m, d, weighted=True, numeric_labels=True)
    model = Linear(0.7, 0.4)

    def log_density(s):
        X = with_ones(s.X)
        return multivariate_normal(cov=0.7 * X @ X.T + np.diag(0.4 / s.weights)).logpdf(s.y)

    expected = log_density(Dataset.concat([D, T])) - log_density(D) - log_density(T)
    assert abs(expected) > 0.1
    etas = [0, "joint", "data", "test", np.linspace(-2, 2, d + 1)] if form == "eta" else [0]
    for eta in etas:
        assert pmi(D, T, model, form, eta).value == pytest.approx(expected, abs=1e-8)
        assert pmi(T, D, model, form, eta).value == pytest.approx(expected, abs=1e-8)


@over_inferences
@over_problems
@pytest.mark.parametrize(
    ("form", "eta"), [("evidence", 0), ("eta", 0), ("eta", "joint"), ("product", 0), ("kl", 0)]
)
def test_either_set_may_come_first(name, inference, form, eta):
    D, T = PROBLEMS[name]
    model = Logistic(2.0, inference)
    assert pmi(D, T, model, form, eta).value == pytest.approx(pmi(T, D, model, form, eta).value, abs=2e-6)


@pytest.mark.parametrize("model", [Logistic(2.0), Logistic(2.0, "ep"), Linear(2.0)], ids=str)
@pytest.mark.parametrize("form", FORMS)
def test_nothing_is_worth_nothing(model, form):
    D, T = two_sets(8, 10, 8, 3, numeric_labels=isinstance(model, Linear))
    for eta in (0, "joint", "data", [0.5, 0.5, -1.0, 1.0]) if form == "eta" else (0,):
        assert pmi(D.take([]), T, model, form, eta).value == pytest.approx(0.0, abs=1e-6), eta
        assert pmi(D, T.take([]), model, form, eta).value == pytest.approx(0.0, abs=1e-6), eta
        assert pmi(D.take([]), T.take([]), model, form, eta).value == pytest.approx(0.0, abs=1e-6), eta


@over_inferences
@over_problems
def test_sealed_takes_the_datas_gaussian_as_the_prior(name, inference):
    D, T = PROBLEMS[name]
    model = Logistic(1.5, inference)
    prior = model.fit(D.X, D.y.astype(float), D.weights).as_prior()
    given = model.fit(T.X, T.y.astype(float), T.weights, prior=prior).log_evidence
    expected = given - model.fit(T.X, T.y.astype(float), T.weights).log_evidence
    # EP's Gaussian of D is known to a thousandth of its s.d.
    bar = 1e-5 if inference == "laplace" else 1e-4
    assert pmi(D, T, model, "sealed").value == pytest.approx(expected, abs=bar)


@over_inferences
def test_sealed_tends_to_the_evidence_and_is_nearer_to_the_truth_than_product(inference):
    """As posteriors become Gaussian: a narrow prior, or many rows in D. 20 worlds; importance sampling
    knows each to 0.03, 4 s.e. of a mean square apart."""

    def gap(pair, prior_variance):
        model = Logistic(prior_variance, inference)
        return abs(pmi(*pair, model, "sealed").value - pmi(*pair, model).value)

    few, many = two_sets(9, 30, 10, 2), two_sets(10, 3000, 10, 2)
    assert gap(few, 0.01) < 2e-5 + 0.1 * gap(few, 1.0)
    assert gap(many, 1.0) < 2e-3
    model = Logistic(5.0, inference)  # and it is not the evidence: one prior is Gaussian, the other is not
    assert abs(pmi(*few, model, "sealed").value - pmi(*few[::-1], model, "sealed").value) > 1e-3
    errors = {"sealed": [], "product": []}
    for D, T, truth in worlds_and_truths():
        for form, gaps in errors.items():
            gaps.append(pmi(D, T, Logistic(4.0, inference, False), form).value - truth)
    assert np.mean(np.square(errors["sealed"])) < 0.5 * np.mean(np.square(errors["product"]))


@cache
def worlds_and_truths():
    """20 worlds at d = 3, C = 4, and the PMI of each by importance sampling, which knows it to 0.05."""
    found = []
    for seed in range(20):
        D, T = two_sets(100 + seed, 15, 15, 3)
        rng, both = np.random.default_rng(seed), Dataset.concat([D, T])
        parts = [sampled_log_z(s.X, s.y, 4.0, rng) for s in (both, D, T)]
        assert np.sqrt(sum(p.error**2 for p in parts)) < 0.05
        found.append((D, T, parts[0].log_z - parts[1].log_z - parts[2].log_z))
    return found


@over_inferences
def test_kl_is_eta_averaged_over_the_joint(inference):
    """200 draws of θ ~ p(θ|D,T), 4 s.e.: false alarm 6e-5 (one fixed seed)."""
    D, T = PROBLEMS["rows"]
    model, both = Logistic(3.0, inference), Dataset.concat([D, T])
    draws = model.fit(both.X, both.y.astype(float)).sample(np.random.default_rng(1), 200)
    result = pmi(D, T, model, "eta", list(draws))
    values = np.array(list(result.at_eta.values()))
    assert (len(values), result.value) == (200, pytest.approx(values.mean()))
    error = values.std(ddof=1) / np.sqrt(200)
    assert abs(values.mean() - pmi(D, T, model, "kl").value) < 4.0 * error
    assert error > 1e-4  # or there would be nothing to average


def test_the_spread_over_eta_is_zero_for_exact_posteriors_alone():
    etas = [0, "joint", "data", "test", [1.0, 1.0, -1.0, 0.5]]
    D, T = two_sets(11, 12, 9, 3, numeric_labels=True)
    exact = pmi(D, T, Linear(), "eta", etas)
    assert exact.spread < 1e-9
    D, T = PROBLEMS["rows"]
    result = pmi(D, T, Logistic(5.0), "eta", etas)
    values = [pmi(D, T, Logistic(5.0), "eta", eta).value for eta in etas]
    assert result.spread == pytest.approx(max(values) - min(values), abs=1e-9)
    assert result.spread > 0.1
    assert result.value == pytest.approx(np.mean(values), abs=1e-9)
    assert list(result.at_eta) == ["0", "joint", "data", "test", "[1.0, 1.0, -1.0, 0.5]"]
    plain = json.loads(json.dumps(result.to_dict()))
    assert (plain["spread"], plain["form"], pmi(D, T).spread) == (result.spread, "eta", 0.0)


def labels(ones, zeros):
    y = np.repeat([1, 0], [ones, zeros])
    return Dataset(np.zeros((len(y), 1)), y)


COINS = [
    (labels(7, 3), labels(4, 5)), (labels(0, 6), labels(5, 0)), (labels(1, 0), labels(0, 1)),
    (labels(300, 200), labels(150, 170)), (labels(0, 3), labels(9000, 9000)),
]  # fmt: skip
over_coins = pytest.mark.parametrize(("D", "T"), COINS, ids=lambda s: f"{s.y.sum()} of {len(s)}")


COIN = Coin(2.0, 1.5)


@over_coins
def test_a_coin_in_every_form_that_needs_no_gaussian(D, T):
    """The integral by importance sampling, with its own error; 4 s.e.: false alarm 6e-5 (a fixed seed)."""
    expected = COIN.pmi(D, T)
    assert pmi(D, T, COIN).value == pytest.approx(expected, abs=1e-9)
    for eta in ([0.4], [0.61]):
        assert pmi(D, T, COIN, "eta", eta).value == pytest.approx(expected, rel=1e-9, abs=1e-8)
    averaged = pmi(D, T, COIN, "kl")
    assert averaged.value == pytest.approx(expected, rel=1e-9, abs=1e-8)
    assert averaged.stderr < 1e-8
    integral = pmi(D, T, COIN, "integral")
    assert 0.0 < integral.stderr < 0.1
    assert abs(integral.value - expected) < 4.0 * integral.stderr


class MeanPosterior:
    """θ ~ N(mean, variance·I) in two dimensions."""

    def __init__(self, mean, variance, log_evidence):
        self.mean, self.variance, self.log_evidence = mean, variance, log_evidence

    def log_density(self, theta):
        off = theta - self.mean
        return float(-0.5 * off @ off / self.variance - LOG_2_PI - np.log(self.variance))

    def sample(self, rng, m):
        return self.mean + np.sqrt(self.variance) * rng.standard_normal((m, 2))

    def predict_proba(self, X):
        return np.full((len(X), 2), 0.5)


class Mean:
    """Features are N(θ, I) in two dimensions, θ ~ N(0, C·I); labels do not matter."""

    def __init__(self, c=2.0):
        self.c = c

    def fit(self, X, y, weights=None):
        w = np.ones(len(X)) if weights is None else weights
        return MeanPosterior(*self.moments(X, w), self.log_z(X, w))

    def moments(self, X, w):
        variance = 1.0 / (1.0 / self.c + w.sum())
        return variance * (w @ X), variance

    def log_z(self, X, w):
        mean, variance = self.moments(X, w)
        squares = w @ (X**2).sum(axis=1) - mean @ mean / variance
        return float(np.log(variance / self.c) - 0.5 * squares - w.sum() * LOG_2_PI)

    def pmi(self, D, T):
        """log N(T; …) of the sums alone: x̄_T given D against x̄_T."""
        mean, variance = self.moments(D.X, np.ones(len(D)))
        n = len(T)
        xbar = T.X.mean(axis=0)

        def log_p(centre, spread):
            v = spread + 1.0 / n
            return -0.5 * (xbar - centre) @ (xbar - centre) / v - np.log(v)

        return log_p(mean, variance) - log_p(np.zeros(2), self.c)


def points(n, centre, seed):
    rng = np.random.default_rng(seed)
    return Dataset(np.asarray(centre) + rng.normal(size=(n, 2)), rng.integers(0, 2, n))


@pytest.mark.parametrize(("n", "m", "gap"), [(5, 4, 0.5), (30, 10, 0.3), (3, 60, 1.0)])
def test_a_mean_in_two_dimensions(n, m, gap):
    """Importance sampling of 4,000 draws with its own error; 4 s.e.: false alarm 6e-5 (a fixed seed)."""
    D, T = points(n, (1.0, 0.0), 1), points(m, (1.0 - gap, gap), 2)
    expected = Mean().pmi(D, T)
    assert pmi(D, T, Mean()).value == pytest.approx(expected, abs=1e-9)
    for eta in (0, [0.3, 1.0]):
        assert pmi(D, T, Mean(), "eta", eta).value == pytest.approx(expected, abs=1e-8)
    assert pmi(D, T, Mean(), "kl").value == pytest.approx(expected, abs=1e-8)
    integral = pmi(D, T, Mean(), "integral")
    assert 0.0 < integral.stderr < 0.1
    assert abs(integral.value - expected) < 4.0 * integral.stderr


NO_FORMS = [
    ("magic", 0), ("eta", "mode"), ("eta", 1.5), ("eta", float("nan")), ("product", "joint"),
    ("evidence", [1.0, 2.0, 3.0, 4.0]), ("kl", [0, "joint"]), ("eta", [1.0, 2.0]), ("eta", np.ones((4, 1))),
    ("eta", [0.0, 0.0, 0.0, float("nan")]), ("eta", [0.0, 0.0, 0.0, float("inf")]),
]  # fmt: skip


DATA = classes(60, seed=1)
OPTIONS = [{"form": "product"}, {"form": "eta", "eta": "joint"}, {"form": "sealed"}, {"form": "kl"}]
over_options = pytest.mark.parametrize("options", OPTIONS, ids=lambda o: o["form"])


@over_options
def test_a_score_of_one_pair_is_that_pmi(options):
    T = held_out().take(range(40))
    size = (len(DATA), len(T))
    # without DW005, by which EP would decide
    result = dw.score(DATA, T, yardstick=yardstick(), pairs=2, size=size, ignore="DW005", **options)
    counted = on_the_yardstick(DATA).with_weights(np.full(len(DATA), yardstick().tempering))
    expected = pmi(counted, on_the_yardstick(T), yardstick().model, **options).value
    assert result.table.pmi[:, 0] == pytest.approx([expected] * 2, abs=1e-5)
    plain = json.loads(json.dumps(result.to_dict()))
    assert (plain["form"], plain.get("eta")) == (options["form"], options.get("eta"))
    evidence = dw.score(DATA, T, yardstick=yardstick(), pairs=2, size=size)
    assert abs(result.value - evidence.value) > 1e-6


def test_sentences():
    coins, far = COINS[0], (labels(3000, 0), labels(0, 3000))
    given = [(*PROBLEMS["rows"], None, *one) for one in NO_FORMS] + [(*far, COIN, "integral")]
    given += [(*coins, COIN, form) for form in ("product", "sealed")]
    given += [(*coins, COIN, "eta", eta) for eta in ("joint", "data", "test", 0, [1.5])]
    all_refused("forms", [(pmi, *one) for one in given])
    assert np.isfinite(pmi(*far, COIN).value)
