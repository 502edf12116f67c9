"""The theorems that a score rests on: exact models keep them, broken ones break them."""

from itertools import product

import numpy as np
import pytest
from scipy import stats

from dataworth.models import Categorical, InverseGamma, Linear
from reference import sequential_log_p

# --- labels: every dataset there is, so no Monte Carlo error at all ----------------------------------------


def relabelled(d, classes):
    """Each label replaced with probability 0.3 by one of the classes; every outcome with its probability."""
    share = {}
    for other in product(range(classes), repeat=len(d)):
        same = [0.3 / classes + 0.7 * (x == z) for x, z in zip(d, other, strict=True)]
        share[other] = float(np.prod(same))
    return share


BLIND = {
    "without its last row": lambda d, classes: {d[:-1]: 1.0},
    "emptied": lambda d, classes: {(): 1.0},
    "class 2 called class 1": lambda d, classes: {tuple(min(c, 1) for c in d): 1.0},
    "relabelled": relabelled,
}


def label_violations(log_z, a, classes=3, n=3, m=2):
    """Names of the theorems that U made of `log_z` breaks when labels come from the Dirichlet of a."""
    every = [d for size in range(n + m + 2) for d in product(range(classes), repeat=size)]
    sets = [d for d in every if len(d) <= n + 1]
    evidence = {d: log_z(d) for d in every}
    ours = list(product(range(classes), repeat=n))
    tests = list(product(range(classes), repeat=m))
    truth = {
        d: np.exp(sequential_log_p(np.full(classes, a), d))
        for d in [*ours, *tests, *(d + t for d in ours for t in tests)]
    }

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
    for f in BLIND.values():
        if sum(truth[d] * p * expected(e, d) for d in ours for e, p in f(d, classes).items()) > whole + 1e-12:
            broken.add("data processing")
    return broken


def categorical(a, classes=3):
    def log_z(labels):
        y = np.array(labels, dtype=float)
        return Categorical(a, classes).fit(np.empty((len(y), 0)), y).log_evidence

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


@pytest.mark.parametrize(
    ("a", "classes", "n", "m"), [(0.2, 3, 3, 2), (0.7, 3, 3, 2), (3.0, 3, 3, 2), (0.5, 2, 4, 3)]
)
def test_theorems_of_labels_by_enumeration(a, classes, n, m):
    assert label_violations(categorical(a, classes), a, classes, n, m) == set()


def test_each_theorem_can_fail():
    found = [
        label_violations(broken, 0.7) for broken in (too_sure, off_by_one_when_joint, without_normaliser)
    ]
    assert all({"truthfulness", "mean of exp U"} & broken for broken in found)
    found.append(label_violations(lambda d: -categorical(0.7)(d), 0.7))
    assert set.union(*found) == {"truthfulness", "mean of exp U", "data processing"}


def bayes_risks(predict, f, a=0.7, classes=3, n=3):
    """Log loss and squared loss of predicting one more label from D by `predict`, and from f(D) by the
    truth. The truth given f(D) is by enumeration: p(next | f(D)) ∝ Σ_d p(d, next) p(f(D)|d)."""
    joint = {}
    risk = np.zeros(2)

    def losses(p, label):
        return np.array([-np.log(p[label]), ((p - np.eye(classes)[label]) ** 2).sum()])

    for d in product(range(classes), repeat=n):
        for label in range(classes):
            p = np.exp(sequential_log_p(np.full(classes, a), (*d, label)))
            risk += p * losses(predict(d), label)
            for e, share in f(d, classes).items():
                joint.setdefault(e, np.zeros(classes))[label] += p * share
    coarse = sum(p[label] * losses(p / p.sum(), label) for p in joint.values() for label in range(classes))
    return risk, coarse


@pytest.mark.parametrize("name", BLIND)
def test_blackwell_by_enumeration(name):
    """No f(D) predicts better than D, by log loss or squared loss; a posterior too sure of itself loses."""

    def predict(d):
        posterior = Categorical(0.7, 3).fit(np.empty((3, 0)), np.array(d, dtype=float))
        return posterior.predict_proba(np.empty((1, 0)))[0]

    def sure(d):
        alpha = 0.7 + 20.0 * np.bincount(d, minlength=3)
        return alpha / alpha.sum()

    with_d, with_f = bayes_risks(predict, BLIND[name])
    assert (with_d <= with_f + 1e-12).all()
    with_d, with_f = bayes_risks(sure, BLIND[name])
    assert with_d[0] > with_f[0] or name == "emptied"


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
    "nothing": (np.arange(0), np.empty(0)), "two rows": (np.arange(2), Y[:2]),
    "doubled": (np.tile(np.arange(4), 2), np.tile(Y, 2)),
    "tripled": (np.tile(np.arange(4), 3), np.tile(Y, 3)), "polished": (np.arange(4), 0.9 * Y),
    "rounded": (np.arange(4), np.round(Y)), "exaggerated": (np.arange(4), 1.2 * Y),
    "negated": (np.arange(4), -Y),
}  # fmt: skip


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
