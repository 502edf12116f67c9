"""The theorems that a score rests on, for exact models and broken ones; the certifier of anybody's model."""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import product

import numpy as np
import pytest
from scipy import stats
from scipy.special import betaln

import dataworth as dw
from dataworth import models
from dataworth.certify import CHECKS, check_model, run_trials
from dataworth.models import Categorical, InverseGamma, Linear, Logistic, SliceFitter
from worlds import refusal

# --- labels: every dataset there is, so no Monte Carlo error at all ----------------------------------------


def sequential(a, classes, labels):
    """The truth: P(labels) one after the other."""
    counts, total = np.full(classes, float(a)), 1.0
    for label in labels:
        total *= counts[label] / counts.sum()
        counts[label] += 1
    return total


def dropped(d, classes):
    """Without its last row."""
    return {d[:-1]: 1.0}


def emptied(d, classes):
    return {(): 1.0}


def coarsened(d, classes):
    """Class 2 called class 1."""
    return {tuple(min(c, 1) for c in d): 1.0}


def relabelled(d, classes):
    """Each label replaced with probability 0.3 by one of the classes; every outcome with its probability."""
    share = {}
    for other in product(range(classes), repeat=len(d)):
        same = [0.3 / classes + 0.7 * (x == z) for x, z in zip(d, other, strict=True)]
        share[other] = float(np.prod(same))
    return share


BLIND = (dropped, emptied, coarsened, relabelled)


def label_violations(log_z, a, classes=3, n=3, m=2):
    """Names of the theorems that U made of `log_z` breaks when labels come from the Dirichlet of a."""
    every = [d for size in range(n + m + 2) for d in product(range(classes), repeat=size)]
    sets = [d for d in every if len(d) <= n + 1]
    evidence = {d: log_z(d) for d in every}
    ours = list(product(range(classes), repeat=n))
    tests = list(product(range(classes), repeat=m))
    truth = {d: sequential(a, classes, d) for d in [*ours, *tests, *(d + t for d in ours for t in tests)]}

    def score(d, t):
        return evidence[d + t] - evidence[d] - evidence[t]

    def expected(report, d):
        """E_T[U(report, T) | d]."""
        return sum(truth[d + t] / truth[d] * score(report, t) for t in tests)

    broken = set()
    for d in ours:
        if abs(sum(truth[t] * np.exp(score(d, t)) for t in tests) - 1) > 1e-12:
            broken.add("mean of exp U")
        if max(expected(report, d) for report in sets) > expected(d, d) + 1e-12:
            broken.add("truthfulness")
    whole = sum(truth[d] * expected(d, d) for d in ours)
    for f in BLIND:
        if sum(truth[d] * p * expected(e, d) for d in ours for e, p in f(d, classes).items()) > whole + 1e-12:
            broken.add("data processing")
    return broken


def categorical(a, classes=3):
    def log_z(labels):
        return (
            Categorical(a, classes)
            .fit(np.empty((len(labels), 0)), np.array(labels, dtype=float))
            .log_evidence
        )

    return log_z


def too_sure(labels):
    """A posterior as if every label had been seen twice."""
    total, counts = 0.0, np.full(3, 0.7)
    for label in labels:
        total += np.log(counts[label] / counts.sum())
        counts[label] += 2
    return total


def off_by_one_when_joint(labels):
    return categorical(0.7 + (len(labels) > 4))(labels)


def without_normaliser(labels):
    """Π Γ(a + n_c)/Γ(a), not divided by Γ(Ka + n)/Γ(Ka)."""
    return categorical(0.7)(labels) + float(np.log(np.prod(2.1 + np.arange(len(labels)))))


@pytest.mark.parametrize("a", [0.2, 0.7, 3.0])
def test_theorems_of_labels_by_enumeration(a):
    assert label_violations(categorical(a), a) == set()


def test_theorems_of_one_coin_by_enumeration():
    assert label_violations(categorical(0.5, 2), 0.5, classes=2, n=4, m=3) == set()


@pytest.mark.parametrize("broken", [too_sure, off_by_one_when_joint, without_normaliser])
def test_a_broken_evidence_of_labels_breaks_them(broken):
    found = label_violations(broken, 0.7)
    assert {"truthfulness", "mean of exp U"} & found


def test_each_theorem_can_fail():
    everything = [
        label_violations(broken, 0.7) for broken in (too_sure, off_by_one_when_joint, without_normaliser)
    ]
    everything.append(label_violations(lambda d: -categorical(0.7)(d), 0.7))
    assert set.union(*everything) == {"truthfulness", "mean of exp U", "data processing"}


def bayes_risks(predict, f, a=0.7, classes=3, n=3):
    """Log loss and squared loss of predicting one more label from D by `predict`, and from f(D) by the truth.

    The truth given f(D) is by enumeration: p(next | f(D)) ∝ Σ_d p(d, next) p(f(D)|d).
    """
    joint = {}
    risk = np.zeros(2)

    def losses(p, label):
        return np.array([-np.log(p[label]), ((p - np.eye(classes)[label]) ** 2).sum()])

    for d in product(range(classes), repeat=n):
        for label in range(classes):
            p = sequential(a, classes, (*d, label))
            risk += p * losses(predict(d), label)
            for e, share in f(d, classes).items():
                joint.setdefault(e, np.zeros(classes))[label] += p * share
    coarse = sum(p[label] * losses(p / p.sum(), label) for p in joint.values() for label in range(classes))
    return risk, coarse


@pytest.mark.parametrize("f", BLIND)
def test_blackwell_by_enumeration(f):
    """No f(D) predicts better than D, by log loss or squared loss; a posterior too sure of itself loses."""

    def predict(d):
        posterior = Categorical(0.7, 3).fit(np.empty((3, 0)), np.array(d, dtype=float))
        return posterior.predict_proba(np.empty((1, 0)))[0]

    def sure(d):
        alpha = 0.7 + 20.0 * np.bincount(d, minlength=3)
        return alpha / alpha.sum()

    with_d, with_f = bayes_risks(predict, f)
    assert (with_d <= with_f + 1e-12).all()
    with_d, with_f = bayes_risks(sure, f)
    assert with_d[0] > with_f[0] or f is emptied


# --- numeric labels: one test row, by quadrature over its target -------------------------------------------

NOISE = InverseGamma(2.0, 0.8)
X = np.array([[0.5, 1.0], [-1.0, 1.0], [2.0, 1.0], [0.1, 1.0], [1.2, 1.0]])
Y = np.array([0.7, -0.4, 1.6, 0.2])
NODES, NODE_WEIGHTS = np.pi / 2 * np.array(np.polynomial.legendre.leggauss(120))
NUMERIC = {
    "known noise": Linear(0.9, 0.4, intercept=False),
    "unknown noise": Linear(0.9, NOISE, intercept=False),
}


def predictive(model, rows, y, x):
    """The truth: the density of one more target, by dense covariances and scipy."""
    both = np.vstack([rows, x])
    if isinstance(model.noise_variance, InverseGamma):
        a, b = NOISE
        K = np.eye(len(both)) + 0.9 * both @ both.T
        solved = np.linalg.solve(K[:-1, :-1], np.column_stack([K[:-1, -1], y]))
        scale = (b + 0.5 * y @ solved[:, 1]) / (a + 0.5 * len(y)) * (K[-1, -1] - K[-1, :-1] @ solved[:, 0])
        return stats.t(2 * a + len(y), K[-1, :-1] @ solved[:, 1], np.sqrt(scale))
    K = 0.4 * np.eye(len(both)) + 0.9 * both @ both.T
    solved = np.linalg.solve(K[:-1, :-1], np.column_stack([K[:-1, -1], y]))
    return stats.norm(K[-1, :-1] @ solved[:, 1], np.sqrt(K[-1, -1] - K[-1, :-1] @ solved[:, 0]))


MISREPORTS = {
    "nothing": (np.arange(0), np.empty(0)),
    "two rows": (np.arange(2), Y[:2]),
    "doubled": (np.tile(np.arange(4), 2), np.tile(Y, 2)),
    "tripled": (np.tile(np.arange(4), 3), np.tile(Y, 3)),
    "polished": (np.arange(4), 0.9 * Y),
    "rounded": (np.arange(4), np.round(Y)),
    "exaggerated": (np.arange(4), 1.2 * Y),
    "negated": (np.arange(4), -Y),
}


def numeric_violations(model, log_z):
    """Names of the theorems that U made of `log_z` breaks for one test row, given X[:4] and targets Y."""
    x = X[4:]
    given, before = predictive(model, X[:4], Y, x), predictive(model, X[:0], Y[:0], x)

    def score(rows, labels, target):
        both = np.vstack([X[rows], x])
        return log_z(both, np.append(labels, target)) - log_z(X[rows], labels) - log_z(x, np.array([target]))

    def mean(f, density):
        """E f(y) by Gauss–Legendre in u, y = mean + s.d. · tan u."""
        y = density.mean() + density.std() * np.tan(NODES)
        shares = NODE_WEIGHTS * density.pdf(y) * density.std() / np.cos(NODES) ** 2
        return float(shares @ [f(v) for v in y])

    broken = set()
    honest = (np.arange(4), Y)
    if abs(mean(lambda t: np.exp(score(*honest, t)), before) - 1) > 1e-6:
        broken.add("mean of exp U")
    best = mean(lambda t: score(*honest, t), given)
    for report in MISREPORTS.values():
        if mean(lambda t, report=report: score(*report, t), given) > best + 1e-7:
            broken.add("truthfulness")
    return broken


def evidence(model):
    return lambda rows, y: model.fit(rows, y).log_evidence


@pytest.mark.parametrize("name", NUMERIC)
def test_theorems_of_numeric_labels_by_quadrature(name):
    assert numeric_violations(NUMERIC[name], evidence(NUMERIC[name])) == set()


@pytest.mark.parametrize("name", NUMERIC)
def test_a_broken_evidence_of_numeric_labels_breaks_them(name):
    model = NUMERIC[name]
    good = evidence(model)

    def halved_variance(rows, y):
        return good(rows, y) - np.log(2.0) * (len(y) > 0)

    def no_determinant(rows, y):
        return good(rows, y) + 0.5 * np.linalg.slogdet(np.eye(2) + 0.9 * rows.T @ rows)[1]

    def other_prior_when_joint(rows, y):
        wide = Linear(2 * model.prior_variance, model.noise_variance, intercept=False)
        return evidence(wide if len(y) > 4 else model)(rows, y)

    def too_sure(rows, y):
        return model.fit(rows, y, np.full(len(y), 3.0)).log_evidence

    for broken in (halved_variance, no_determinant, other_prior_when_joint, too_sure):
        assert numeric_violations(model, broken), broken.__name__
    assert "truthfulness" in numeric_violations(model, too_sure)


def test_blackwell_of_numeric_labels_by_simulation():
    """Squared error with D no more than with half of D: 600 worlds, 3.1 standard errors, false alarm 1e-3."""
    rng = np.random.default_rng(21)
    for model in NUMERIC.values():
        differences = []
        for _ in range(600):
            rows = rng.normal(size=(7, 2))
            y = model.simulate(rng, rows)
            errors = [(model.fit(rows[:n], y[:n]).predict_proba(rows[6:])[0] - y[6]) ** 2 for n in (6, 3)]
            differences.append((errors[0] - errors[1]) / (1 + abs(y[6])))
        differences = np.array(differences)
        assert differences.mean() <= 3.1 * differences.std() / np.sqrt(600)
        assert differences.mean() < 0  # more rows do predict better, on this seed


@pytest.mark.parametrize("name", NUMERIC)
def test_data_processing_of_numeric_labels_by_simulation(name):
    """Every f of D alone, 800 worlds, one-sided 4 standard errors: false alarm 2e-4 a model."""
    model = NUMERIC[name]
    trials = run_trials(
        model,
        np.random.default_rng(1).normal(size=(12, 2)),
        model.simulate,
        800,
        True,
        np.random.default_rng(2),
    )
    for f, gain in trials.gains.items():
        assert gain.mean() <= 4 * gain.std() / np.sqrt(len(gain)), f
    assert trials.gains["no rows"].mean() < -0.1


# --- the certifier, on every model that there is -----------------------------------------------------------


def constructible():
    """What dataworth.models exports that is a model and asks for nothing, and the other ways to make one."""
    found = {
        "unknown noise": Linear(1.0, NOISE),
        "ep": Logistic(inference="ep"),
        "three classes": Categorical(0.5, 3),
    }
    for name in models.__all__:
        kind = getattr(models, name)
        if isinstance(kind, type) and hasattr(kind, "takes") and hasattr(kind, "fit"):
            try:
                found[name] = kind()
            except TypeError:  # a network must be given one
                continue
    return found


MODELS = constructible()


def test_there_are_models():
    assert {"Categorical", "Linear", "Logistic"} <= set(MODELS)


@pytest.mark.parametrize("name", MODELS)
def test_every_model_is_certified(name):
    """False alarm 1e-3 each."""
    certificate = check_model(MODELS[name], repeats=40)
    assert certificate.ok, str(certificate)
    exact = getattr(MODELS[name], "exact", False)
    assert certificate["Bayes' identity"].passed is (True if exact else None)


def test_a_correct_model_passes_whatever_the_seed():
    """Ten seeds at a false alarm of 1e-3 each."""
    for seed in range(10):
        certificate = check_model(Categorical(), repeats=60, seed=seed)
        assert certificate.ok, str(certificate)


# --- a model of the user's, and ways to break it -----------------------------------------------------------


class CoinPosterior:
    """Beta(a + ones, a + zeros) of p itself, not of a log-ratio: a bounded parameter."""

    def __init__(self, ones, zeros, a=0.8):
        self.ones, self.zeros = a + ones, a + zeros
        self.log_evidence = float(betaln(a + ones, a + zeros) - betaln(a, a))

    def log_density(self, theta):
        p = float(theta[0])
        if not 0 < p < 1:
            return -np.inf
        log_p = (self.ones - 1) * np.log(p) + (self.zeros - 1) * np.log1p(-p)
        return float(log_p - betaln(self.ones, self.zeros))

    def sample(self, rng, m):
        return rng.beta(self.ones, self.zeros, size=(m, 1))

    def predict_proba(self, X):
        p = self.ones / (self.ones + self.zeros)
        return np.tile([1 - p, p], (len(X), 1))


@dataclass(frozen=True)
class Coin:
    """One class of user code, with `fit` alone (and `simulate`, for what is true of expectations)."""

    exact = True

    def fit(self, X, y, weights=None):
        w = np.ones(len(y)) if weights is None else weights
        return self.posterior(float(w @ y), float(w @ (1 - y)), y)

    def posterior(self, ones, zeros, y):
        return CoinPosterior(ones, zeros)

    def simulate(self, rng, X):
        return (rng.random(len(X)) < rng.beta(0.8, 0.8)).astype(float)


def test_a_model_with_fit_alone_is_certified():
    certificate = check_model(Coin(), repeats=100)
    assert certificate.ok, str(certificate)
    assert all(outcome.passed for outcome in certificate)  # nothing was left out


def changed(posterior, **attributes):
    for name, value in attributes.items():
        setattr(posterior, name, value)
    return posterior


class Halved(Coin):
    """A posterior twice as sure as its evidence."""

    def posterior(self, ones, zeros, y):
        return changed(
            CoinPosterior(2 * ones, 2 * zeros), log_evidence=CoinPosterior(ones, zeros).log_evidence
        )


class OffByOne(Coin):
    """Another concentration when there are many rows."""

    def posterior(self, ones, zeros, y):
        return CoinPosterior(ones, zeros, 1.8 if len(y) > 6 else 0.8)


class Unnormalised(Coin):
    def posterior(self, ones, zeros, y):
        good = CoinPosterior(ones, zeros)
        return changed(good, log_evidence=good.log_evidence + 0.3 * (ones + zeros))


class FromSomething(Coin):
    def posterior(self, ones, zeros, y):
        good = CoinPosterior(ones, zeros)
        return changed(good, log_evidence=good.log_evidence - 1.0)


class Ordered(Coin):
    def fit(self, X, y, weights=None):
        good = super().fit(X, y, weights)
        return changed(good, log_evidence=good.log_evidence + (1e-3 * X[0, 0] if len(y) else 0.0))


class Weightless(Coin):
    def fit(self, X, y, weights=None):
        return super().fit(X, y)


class NotANumber(Coin):
    def posterior(self, ones, zeros, y):
        return changed(CoinPosterior(ones, zeros), log_evidence=float("nan"))


class Raises(Coin):
    def posterior(self, ones, zeros, y):
        if len(y) == 0:
            raise ValueError("no rows")
        return CoinPosterior(ones, zeros)


class OtherDraws(Coin):
    def posterior(self, ones, zeros, y):
        good = CoinPosterior(ones, zeros)
        wide = CoinPosterior(0.5 * ones, 0.5 * zeros)
        return changed(good, sample=wide.sample)


class OtherScale(Coin):
    """A density that forgets its normaliser: everywhere too large by a half."""

    exact = False

    def posterior(self, ones, zeros, y):
        good = CoinPosterior(ones, zeros)
        true = good.log_density
        return changed(good, log_density=lambda theta: true(theta) + 0.4)


class Surplus(Coin):
    def posterior(self, ones, zeros, y):
        good = CoinPosterior(ones, zeros)
        return changed(good, predict_proba=lambda X: 1.1 * np.full((len(X), 2), 0.5))


class Bound(Coin):
    """Its fitter is another model's."""

    def bind(self, X, y):
        return SliceFitter(Categorical(1.5), X, y)


class StartFitter(SliceFitter):
    def __call__(self, rows, start=(), **more):
        fit = super().__call__(rows, start, **more)
        return fit._replace(log_z=fit.log_z + 1e-3 * len(start))


class Started(Coin):
    def bind(self, X, y):
        return StartFitter(self, X, y)


class Contrary(Coin):
    """Approximate by its own account, and worse than that: U has the wrong sign."""

    exact = False

    def posterior(self, ones, zeros, y):
        good = CoinPosterior(ones, zeros)
        return changed(good, log_evidence=-2 * (ones + zeros) * np.log(2) - good.log_evidence)


@dataclass(frozen=True)
class Undetermined:
    """Laplace's evidence without its determinant: the joint's best fit against two fits of their own."""

    def fit(self, X, y, weights=None):
        posterior = Logistic(10.0).fit(X, y, weights)
        return changed(posterior, log_evidence=posterior.log_evidence + 0.5 * posterior.log_det)

    def simulate(self, rng, X):
        return Logistic(10.0).simulate(rng, X)


BROKEN = {
    Halved(): "Bayes' identity",
    OffByOne(): "Bayes' identity",
    Unnormalised(): "one more row",
    FromSomething(): "no rows",
    Ordered(): "row order",
    Weightless(): "weights",
    NotANumber(): "protocol",
    Raises(): "no rows",
    OtherDraws(): "density",
    OtherScale(): "density",
    Surplus(): "predictive",
    Bound(): "bind",
    Started(): "warm starts",
    Contrary(): "information",
    Undetermined(): "balance",
}


@pytest.mark.parametrize(
    ("model", "name"), BROKEN.items(), ids=lambda x: x if isinstance(x, str) else type(x).__name__
)
def test_a_broken_model_fails_where_it_is_broken(model, name):
    certificate = check_model(model, repeats=200)
    assert not certificate.ok
    assert certificate[name].passed is False, str(certificate)


class Sure(Coin):
    """Counts each row three times: fails statistically, where nothing claims to be exact."""

    exact = False

    def fit(self, X, y, weights=None):
        return super().fit(X, y, 3.0 * (np.ones(len(y)) if weights is None else weights))


def test_what_no_identity_shows_expectations_do():
    certificate = check_model(Sure(), repeats=1000)
    failed = {outcome.name for outcome in certificate if outcome.passed is False}
    assert "rows halved" in failed
    assert failed <= {"rows halved", "half the rows", "noisy labels", "information", "balance"}


# --- the certificate ---------------------------------------------------------------------------------------


def test_a_certificate_says_what_was_tried():
    certificate = check_model(OffByOne(), repeats=20)
    told = json.loads(json.dumps(certificate.to_dict()))
    assert told["ok"] is False
    assert [outcome["name"] for outcome in told["outcomes"]] == ["protocol", *CHECKS]
    assert [outcome.name for outcome in certificate] == ["protocol", *CHECKS]
    page = str(certificate)
    assert "NOT OK" in page
    assert "FAILED Bayes' identity" in page
    assert len(page.splitlines()) == 1 + len(told["outcomes"])
    assert all(len(outcome.meaning) > 10 and "\n" not in outcome.meaning for outcome in certificate)
    assert dw.check_model is check_model


class Bare:
    """As little as a model can be: an evidence."""

    def fit(self, X, y, weights=None):
        if weights is not None:
            raise NotImplementedError

        @dataclass
        class Posterior:
            log_evidence: float

        return Posterior(CoinPosterior(y.sum(), (1 - y).sum()).log_evidence)


def test_what_a_model_does_not_offer_is_not_held_against_it():
    certificate = check_model(Bare(), repeats=20)
    assert certificate.ok, str(certificate)
    assert "takes no weights" in certificate["weights"].meaning
    assert "no log_density" in certificate["density"].meaning
    assert "no simulate" in certificate["balance"].meaning
    given = check_model(Bare(), simulate=Coin().simulate, repeats=20)
    assert given["information"].passed
    assert given["rows halved"].passed is None


def test_where_the_protocol_is_not_kept_nothing_else_is_tried():
    certificate = check_model(NotANumber(), repeats=20)
    assert "finite number" in certificate["protocol"].meaning
    assert {outcome.passed for outcome in certificate} == {False, None}


def test_rows_of_the_users_own():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(30, 4))
    certificate = check_model(Linear(), X=rows, y=rows[:, 0], repeats=20)
    assert certificate.ok, str(certificate)
    alone = np.column_stack([rows, np.zeros((30, 30))])
    assert "34 parameters" in check_model(Linear(intercept=False), X=alone, repeats=2)["density"].meaning


def test_what_is_refused():
    assert "give a model" in refusal(check_model, 3)
    assert "without X" in refusal(check_model, Coin(), y=np.zeros(20))
    assert "at least 12 rows" in refusal(check_model, Coin(), rows=5)
    assert "one target a row" in refusal(check_model, Coin(), X=np.zeros((20, 1)), y=np.zeros(19))
