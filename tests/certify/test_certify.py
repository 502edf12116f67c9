"""The certifier: every model of ours passes, and whatever is wrong with a model of the user's is found."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats
from scipy.special import gammaln

from dataworth import models
from dataworth.certify import CHECKS, check_model
from dataworth.models import Categorical, InverseGamma, Linear, Logistic, SliceFitter, Softmax
from golden.sentences import all_refused
from user_models import Coin, Ignoring


def constructible():
    """What dataworth.models exports that is a model and asks for nothing, and the other ways to make one."""
    found = {
        "unknown noise": Linear(1.0, InverseGamma(2.0, 0.8)), "ep": Logistic(inference="ep"),
        "ep, wide": Logistic(10.0, inference="ep"), "laplace, wide": Logistic(10.0),
        "no intercept": Logistic(intercept=False), "three classes": Categorical(0.5, 3),
    }  # fmt: skip
    for name in models.__all__:
        kind = getattr(models, name)
        if isinstance(kind, type) and hasattr(kind, "takes") and hasattr(kind, "fit"):
            try:
                found[name] = kind()
            except TypeError:  # a network must be given one
                continue
    return found


MODELS = constructible()


@pytest.mark.parametrize("name", MODELS)
def test_every_model_is_certified(name):
    """False alarm 1e-3 each."""
    certificate = check_model(MODELS[name], repeats=40)
    assert certificate.ok, str(certificate)
    assert certificate["Bayes' identity"].passed is (True if getattr(MODELS[name], "exact", False) else None)
    over_vectors = getattr(MODELS[name], "takes", None) == "vectors"  # no integral is taken over these
    assert certificate["one more row"].passed is (None if over_vectors else True)


class ProbitPosterior:
    """Laplace's Gaussian at a mode under N(0, I)."""

    def __init__(self, mode, precision, log_likelihood):
        self.mean, self.covariance = mode, np.linalg.inv(precision)
        self.log_det = float(np.linalg.slogdet(precision)[1])
        self.log_evidence = log_likelihood - 0.5 * (float(mode @ mode) + self.log_det)

    def log_density(self, theta):
        return float(stats.multivariate_normal(self.mean, self.covariance).logpdf(theta))

    def sample(self, rng, m):
        return rng.multivariate_normal(self.mean, self.covariance, m)

    def predict_proba(self, X):
        X = np.column_stack([X, np.ones(len(X))])
        p = stats.norm.cdf(X @ self.mean / np.sqrt(1 + np.einsum("ij,ij->i", X @ self.covariance, X)))
        return np.column_stack([1 - p, p])


@dataclass(frozen=True)
class Probit:
    """p(y=1|x) = Φ(θᵀ(x, 1)), θ ~ N(0, I), by Laplace's method; approximate, and without `simulate`."""

    def fit(self, X, y, weights=None):
        w, theta = np.ones(len(y)) if weights is None else weights, np.zeros(X.shape[1] + 1)
        signed = np.column_stack([X, np.ones(len(X))]) * (2 * y - 1)[:, None]
        for _ in range(30):
            f = signed @ theta
            slope = np.exp(stats.norm.logpdf(f) - stats.norm.logcdf(f))
            precision = np.eye(len(theta)) + (signed.T * (w * slope * (slope + f))) @ signed
            theta = theta + np.linalg.solve(precision, signed.T @ (w * slope) - theta)
        return ProbitPosterior(theta, precision, float(w @ stats.norm.logcdf(signed @ theta)))


def test_what_a_model_does_not_offer_is_not_held_against_it():
    certificate = check_model(Coin(), repeats=100)
    assert all(outcome.passed for outcome in certificate), str(certificate)  # nothing was left out
    assert check_model(Probit()).ok
    certificate = check_model(Bare(), repeats=20)
    assert certificate.ok, str(certificate)
    assert "takes no weights" in certificate["weights"].meaning
    assert "no log_density" in certificate["density"].meaning
    assert "no simulate" in certificate["balance"].meaning
    assert certificate["one more row"].passed
    given = check_model(Bare(), simulate=Coin().simulate, repeats=20)
    assert given["information"].passed
    assert given["rows halved"].passed is None


class Changed:
    """A posterior some of whose answers are others."""

    def __init__(self, posterior, **answers):
        self.__dict__.update(posterior=posterior, **answers)

    def __getattr__(self, name):
        return getattr(self.posterior, name)


@dataclass(frozen=True)
class Spoiled:
    """A model whose posteriors are changed after the fit; approximate unless it says otherwise."""

    base: object
    answers: Callable
    exact: bool = False

    def fit(self, X, y, weights=None):
        posterior = self.base.fit(X, y, weights)
        return Changed(posterior, **self.answers(posterior, X, y))

    def __getattr__(self, name):
        if name in ("simulate", "takes", "classes") and hasattr(self.base, name):
            return getattr(self.base, name)
        raise AttributeError(name)


def added(extra):
    return lambda p, X, y: {"log_evidence": p.log_evidence + float(extra(p, X, y))}


def per_set(nats, more_rows_than=0):
    return added(lambda p, X, y: nats * (len(y) > more_rows_than))


def penalty(p, *rows):
    return 0.5 * float(p.mean @ p.mean)


def occam(p, *rows):
    return 0.5 * p.log_det


def log_likelihood(p):
    return p.log_evidence + penalty(p) + occam(p)


EP = Logistic(inference="ep")
SUBTLE = {
    "penalty forgotten": (Logistic(), added(penalty)),
    "penalty halved": (Logistic(), added(lambda p, *rows: 0.5 * penalty(p))),
    "penalty twice": (Logistic(), added(lambda p, *rows: -penalty(p))),
    "penalty of a probit forgotten": (Probit(), added(penalty)),
    "penalty of a softmax forgotten": (Softmax(), added(penalty)),
    "penalty of numeric labels forgotten": (Linear(), added(penalty)),
    "determinant forgotten": (Logistic(), added(occam)),
    "determinant twice": (Logistic(), added(lambda p, *rows: -occam(p))),
    "determinant of a probit forgotten": (Probit(), added(occam)),
    "likelihood of the mode": (Logistic(), added(lambda p, *rows: penalty(p) + occam(p))),
    "BIC": (Logistic(), added(lambda p, X, y: penalty(p) + occam(p) - 1.5 * np.log(max(len(y), 1)))),
    "bits for nats": (Logistic(), added(lambda p, *rows: p.log_evidence * (1 / np.log(2) - 1))),
    "half the likelihood": (Logistic(), added(lambda p, *rows: -0.5 * log_likelihood(p))),
    "less from four rows on": (Logistic(), per_set(-0.3, 3)),
    "a constant a row": (Logistic(), added(lambda p, X, y: 0.1 * len(y))),
    "a jump at seven rows": (Logistic(), per_set(0.2, 6)),
    "a label that pays": (Logistic(), added(lambda p, X, y: 0.2 * y.sum())),
    "+0.3 a set": (Logistic(), per_set(0.3)),
    "-0.3 a set": (Logistic(), per_set(-0.3)),
}


ALL_KINDS = (Logistic(), EP, Softmax(), Probit(), Linear())
SUBTLE |= {f"{nats:+} a set, {kind}": (kind, per_set(nats)) for kind in ALL_KINDS for nats in (0.1, -0.1)}


@pytest.mark.parametrize("name", SUBTLE)
def test_an_evidence_that_is_subtly_wrong_is_found(name):
    """By what holds of one dataset: two repeats show nothing of expectations."""
    certificate = check_model(Spoiled(*SUBTLE[name]), repeats=2)
    failed = {outcome.name for outcome in certificate if outcome.passed is False}
    assert failed & {"one more row", "forecast"}, str(certificate)


class NeedsRows(Coin):
    def fit(self, X, y, weights=None):
        if len(y) == 0:
            raise ValueError("no rows")
        return super().fit(X, y, weights)


class Bound(Coin):
    def bind(self, X, y):
        return SliceFitter(Categorical(1.5), X, y)


class StartFitter(SliceFitter):
    def __call__(self, rows, start=(), **more):
        fit = super().__call__(rows, start, **more)
        return fit._replace(log_z=fit.log_z + 1e-3 * len(start))


class Started(Coin):
    def bind(self, X, y):
        return StartFitter(self, X, y)


class Sure(Coin):
    """Counts each row three times: fails statistically, where nothing claims to be exact."""

    exact = False

    def fit(self, X, y, weights=None):
        return super().fit(X, y, 3.0 * (np.ones(len(y)) if weights is None else weights))


def coin(ones, zeros, a=0.8):
    """The answers of another coin, given what Beta(0.8, 0.8) became."""
    other = Coin(a, a).posterior(a + ones, a + zeros)
    return {name: getattr(other, name) for name in ("log_evidence", "log_density", "sample", "predict_proba")}


def counts(p):
    return p.a - 0.8, p.b - 0.8


def contrary(p, X, y):
    """U has the wrong sign, and evidences of one more row do add up."""
    return {"log_evidence": -2 * len(y) * np.log(2) - p.log_evidence}


def exactly(answers):
    return Spoiled(Coin(), answers, exact=True)


NAN = exactly(lambda p, X, y: {"log_evidence": float("nan")})
OFF = exactly(lambda p, X, y: coin(*counts(p), 1.8 if len(y) > 6 else 0.8))
BROKEN = {
    "a posterior twice as sure": (
        exactly(lambda p, X, y: coin(*(2 * n for n in counts(p))) | {"log_evidence": p.log_evidence}),
        "Bayes' identity",
    ),
    "another prior for many rows": (OFF, "Bayes' identity"),
    "not normalised": (exactly(added(lambda p, X, y: 0.3 * len(y))), "one more row"),
    "from something": (exactly(added(lambda p, X, y: -1.0)), "no rows"),
    "ordered": (exactly(added(lambda p, X, y: 1e-3 * X[0, 0] if len(y) else 0.0)), "row order"),
    "weights ignored": (Ignoring(), "weights"),
    "weights ignored, approximate": (Spoiled(Ignoring(), lambda p, X, y: {}), "weights"),
    "not a number": (NAN, "protocol"), "not without rows": (NeedsRows(), "no rows"),
    "draws of another": (
        exactly(lambda p, X, y: {"sample": coin(*(0.5 * n for n in counts(p)))["sample"]}),
        "density",
    ),
    "density too large": (
        Spoiled(Coin(), lambda p, X, y: {"log_density": lambda theta: p.log_density(theta) + 0.4}),
        "density",
    ),
    "probabilities of 1.1": (
        exactly(lambda p, X, y: {"predict_proba": lambda X: np.full((len(X), 2), 0.55)}),
        "predictive",
    ),
    "forecasts of the other class": (
        Spoiled(Logistic(), lambda p, X, y: {"predict_proba": lambda X: p.predict_proba(X)[:, ::-1]}),
        "forecast",
    ),
    "simulates another prior": (
        Spoiled(SimpleNamespace(fit=Coin().fit, simulate=Categorical(20.0).simulate), lambda p, X, y: {}),
        "simulated labels",
    ),
    "bound to another": (Bound(), "bind"), "starts matter": (Started(), "warm starts"),
    "contrary": (Spoiled(Coin(), contrary), "information"),
    "no determinant, wide": (Spoiled(Logistic(10.0), added(occam)), "balance"),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_model_fails_where_it_is_broken(name):
    model, check = BROKEN[name]
    certificate = check_model(model, repeats=200)
    assert not certificate.ok
    assert certificate[check].passed is False, str(certificate)


def test_whole_numbers_are_summed_and_expectations_show_what_identities_do_not():
    certificate = check_model(Sure(), repeats=1000)
    failed = {outcome.name for outcome in certificate if outcome.passed is False}
    assert "rows halved" in failed
    y = np.random.default_rng(0).poisson(3.0, 24).astype(float)
    X = np.zeros((24, 1))
    assert check_model(Poisson(), X=X, y=y)["one more row"].passed
    assert check_model(Spoiled(Poisson(), per_set(0.1)), X=X, y=y)["one more row"].passed is False


def test_a_certificate_says_what_was_tried():
    certificate, unkept = check_model(OFF, repeats=20), check_model(NAN, repeats=20)
    told = json.loads(json.dumps(certificate.to_dict()))
    assert [outcome["name"] for outcome in told["outcomes"]] == ["protocol", *CHECKS]
    assert ("NOT OK" in str(certificate), "FAILED Bayes' identity" in str(certificate)) == (True, True)
    assert len(str(certificate).splitlines()) == 1 + len(told["outcomes"])
    assert {outcome.passed for outcome in unkept} == {False, None}  # nothing else is tried


class Bare:
    """As little as a model can be: an evidence, and no weights."""

    def fit(self, X, y):
        return SimpleNamespace(log_evidence=Coin().fit(X, y).log_evidence)


class Poisson:
    """Whole numbers, y ~ Poisson(rate), rate ~ Gamma(2, 1): a sum over them is 1, an integral is not."""

    takes = "numbers"

    def fit(self, X, y, weights=None):
        w = np.ones(len(y)) if weights is None else weights
        total, rows = float(w @ y), float(w.sum())
        evidence = gammaln(2 + total) - (2 + total) * np.log1p(rows) - w @ gammaln(y + 1)
        return SimpleNamespace(log_evidence=float(evidence))


REFUSED = [
    (3, {}), (Coin(), {"y": np.zeros(20)}), (Coin(), {"rows": 5}),
    (Coin(), {"X": np.zeros((20, 1)), "y": np.zeros(19)}),
]  # fmt: skip


def test_sentences():
    all_refused("certify", [lambda m=model, s=settings: check_model(m, **s) for model, settings in REFUSED])
