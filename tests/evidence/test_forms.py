"""Forms of the score: by hand, by many digits, by dense matrices, by sampling, and for models of users."""

import json

import numpy as np
import pytest
from scipy.special import betaln
from scipy.stats import beta

import dataworth as dw
from dataworth import Dataset, pmi
from dataworth.evidence.forms import FORMS
from dataworth.inference.logistic import Counts
from dataworth.inference.tilted import tilted_moments
from dataworth.models import Linear, Logistic, Softmax
from reference import LOG_2_PI, dense_laplace, with_ones
from worlds import classes, flipped, held_out, refusal, yardstick

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


class Gaussian:
    """N(μ, Λ⁻¹), dense."""

    def __init__(self, mean, precision):
        self.mean, self.precision = mean, precision

    def log_density(self, theta):
        off = theta - self.mean
        return 0.5 * (np.linalg.slogdet(self.precision)[1] - len(off) * LOG_2_PI - off @ self.precision @ off)

    def square(self):
        return self.mean @ self.precision @ self.mean

    def divergence(self, other):
        """KL(self ‖ other)."""
        off = self.mean - other.mean
        ratio = np.linalg.slogdet(self.precision)[1] - np.linalg.slogdet(other.precision)[1]
        trace = np.trace(other.precision @ np.linalg.inv(self.precision))
        return 0.5 * (trace - len(off) + off @ other.precision @ off + ratio)


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
        parts = (self.data, self.test)
        log_det = sum(np.linalg.slogdet(p.precision)[1] for p in parts)
        log_det -= np.linalg.slogdet(precision)[1] + np.linalg.slogdet(self.prior.precision)[1]
        return 0.5 * (log_det + self.prior.square() + together.square() - sum(p.square() for p in parts))

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
    both = Dataset.concat([D, T])
    d = D.X.shape[1] + intercept
    prior = Gaussian(np.zeros(d), np.eye(d) / c)
    if inference == "laplace":
        fits = [
            dense_laplace(
                with_ones(s.X) if intercept else s.X,
                s.y,
                np.ones(len(s)) if s.weights is None else s.weights,
                c,
            )
            for s in (D, T, both)
        ]
        return Dense(prior, *(Gaussian(f.mean, np.linalg.inv(f.covariance)) for f in fits))
    return Dense(prior, *(dense_ep(s, c, intercept) for s in (D, T, both)))


def dense_ep(data, c, intercept):
    """EP's Gaussian with plain d×d matrices: 300 damped rounds; for its integrals see test_ep."""
    weights = np.ones(len(data)) if data.weights is None else data.weights
    X, place = np.unique(with_ones(data.X) if intercept else data.X, axis=0, return_inverse=True)
    counts = Counts(*(np.bincount(place.ravel(), weights * (data.y == k), len(X)) for k in (1, 0)))
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
    D, T = two_sets(7, n, m, d, weighted=True, numeric_labels=True)
    model = Linear(0.7, 0.4)
    expected = pmi(D, T, model).value
    assert abs(expected) > 0.1
    etas = [0, "joint", "data", "test", np.linspace(-2, 2, d + 1)] if form == "eta" else [0]
    for eta in etas:
        assert pmi(D, T, model, form, eta).value == pytest.approx(expected, abs=1e-8)
        assert pmi(T, D, model, form, eta).value == pytest.approx(expected, abs=1e-8)


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
    assert plain["spread"] == result.spread
    assert plain["form"] == "eta"
    assert pmi(D, T).spread == 0.0


class Coin:
    """Labels from one coin of bias θ ~ Beta(a, b), whatever the features: `fit` alone."""

    def __init__(self, a=2.0, b=1.5):
        self.a, self.b = a, b

    def fit(self, X, y, weights=None):
        w = np.ones(len(y)) if weights is None else weights
        return self.posterior(self.a + w @ y, self.b + w @ (1.0 - y))

    def posterior(self, a, b):
        return CoinPosterior(a, b, betaln(a, b) - betaln(self.a, self.b))

    def pmi(self, D, T):
        def log_z(*sets):
            ones, rows = sum(s.y.sum() for s in sets), sum(len(s) for s in sets)
            return betaln(self.a + ones, self.b + rows - ones) - betaln(self.a, self.b)

        return log_z(D, T) - log_z(D) - log_z(T)


class CoinPosterior:
    def __init__(self, a, b, log_evidence):
        self.a, self.b, self.log_evidence = a, b, log_evidence

    def log_density(self, theta):
        return float(beta.logpdf(theta[0], self.a, self.b))

    def sample(self, rng, m):
        return rng.beta(self.a, self.b, (m, 1))

    def predict_proba(self, X):
        one = self.a / (self.a + self.b)
        return np.tile([1.0 - one, one], (len(X), 1))


def labels(ones, zeros):
    y = np.repeat([1, 0], [ones, zeros])
    return Dataset(np.zeros((len(y), 1)), y)


COINS = [
    (labels(7, 3), labels(4, 5)),
    (labels(0, 6), labels(5, 0)),
    (labels(1, 0), labels(0, 1)),
    (labels(300, 200), labels(150, 170)),
    (labels(400, 0), labels(0, 400)),
    (labels(4000, 0), labels(0, 400)),  # they meet where neither has draws
    (labels(0, 3), labels(9000, 9000)),
]
over_coins = pytest.mark.parametrize(("D", "T"), COINS, ids=lambda s: f"{s.y.sum()} of {len(s)}")


@over_coins
def test_a_coin_in_every_form_that_needs_no_gaussian(D, T):
    expected = Coin().pmi(D, T)
    assert pmi(D, T, Coin()).value == pytest.approx(expected, abs=1e-9)
    for eta in ([0.4], [0.61]):
        assert pmi(D, T, Coin(), "eta", eta).value == pytest.approx(expected, rel=1e-9, abs=1e-8)
    averaged = pmi(D, T, Coin(), "kl")
    assert averaged.value == pytest.approx(expected, rel=1e-9, abs=1e-8)
    assert averaged.stderr < 1e-8
    integral = pmi(D, T, Coin(), "integral")
    assert integral.value == pytest.approx(expected, abs=1e-6)
    assert integral.stderr == 0.0


def test_the_integral_refuses_draws_of_which_too_few_matter():
    D = classes(300, seed=1)
    sentence = refusal(pmi, D, D.with_labels(1 - D.y), Softmax(100.0), form="integral")
    assert "hardly overlap" in sentence
    assert "evidence" in sentence


def test_what_models_of_users_cannot_do_is_one_sentence():
    D, T = COINS[0]
    for form in ("product", "sealed"):
        assert f"the form {form} needs Gaussian posteriors" in refusal(pmi, D, T, Coin(), form=form)
    for eta in ("joint", "data", "test"):
        assert "give eta as a vector" in refusal(pmi, D, T, Coin(), form="eta", eta=eta)
    for eta in (0, [1.5]):
        assert "give an eta inside" in refusal(pmi, D, T, Coin(), form="eta", eta=eta)


@pytest.mark.parametrize(
    ("form", "eta", "words"),
    [
        ("magic", 0, "form is 'magic'; known forms: evidence, eta"),
        ("eta", "mode", "eta is 'mode'; give 0, a vector, or one of: joint, data, test"),
        ("eta", 1.5, "eta is 1.5; give 0, a vector"),
        ("eta", float("nan"), "eta is nan; give 0, a vector"),
        ("product", "joint", "eta means nothing to the form product"),
        ("evidence", [1.0, 2.0, 3.0, 4.0], "eta means nothing to the form evidence"),
        ("kl", [0, "joint"], "eta means nothing to the form kl"),
        ("eta", [1.0, 2.0], "eta has shape (2,); the model has 4 coefficients"),
        ("eta", np.ones((4, 1)), "eta has shape (4, 1)"),
        ("eta", [0.0, 0.0, 0.0, float("nan")], "eta is not finite"),
        ("eta", [0.0, 0.0, 0.0, float("inf")], "eta is not finite"),
    ],
)
def test_forms_and_etas_that_do_not_exist(form, eta, words):
    assert words in refusal(pmi, *PROBLEMS["rows"], form=form, eta=eta)


# --- measurements ----------------------------------------------------------------------------------------

DATA = classes(60, seed=1)
OPTIONS = [{"form": "product"}, {"form": "eta", "eta": "joint"}, {"form": "sealed"}, {"form": "kl"}]
over_options = pytest.mark.parametrize("options", OPTIONS, ids=lambda o: o["form"])


def on_the_yardstick(data):
    yard = yardstick()
    return Dataset(yard.features(data), yard.targets(data), weights=data.weights)


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
    assert plain["form"] == options["form"]
    assert plain.get("eta") == options.get("eta")
    evidence = dw.score(DATA, T, yardstick=yardstick(), pairs=2, size=size)
    assert abs(result.value - evidence.value) > 1e-6


def test_audit_and_rank_in_another_form():
    T, noisy = held_out().take(range(80)), flipped(DATA, 0.4, seed=0)[0]
    asked = {"yardstick": yardstick(), "ignore": "all", "form": "product"}
    result = dw.audit(noisy, DATA, T, **asked)
    ranking = dw.rank({"noisy": noisy, "clean": DATA}, T, **asked)
    assert result.to_dict()["form"] == ranking.to_dict()["form"] == "product"
    scores = {name: dw.score(D, T, **asked).value for name, D in (("noisy", noisy), ("clean", DATA))}
    assert {one.name: one.value for one in ranking} == pytest.approx(scores, abs=1e-5)
    assert result.delta == pytest.approx(scores["clean"] - scores["noisy"], abs=1e-5)
