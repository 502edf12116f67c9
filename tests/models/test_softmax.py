"""Softmax against the truth, and labels of more than two classes from end to end."""

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import log_softmax, logsumexp, softmax
from scipy.stats import multivariate_normal, multivariate_t

import dataworth as dw
from cases import CASES
from dataworth.inference.geometry import graded_features
from dataworth.inference.newton import find_mode
from dataworth.inference.softmax import POLISHED, ClassCounts, Stacked
from reference import laplace_log_z, with_ones
from worlds import classes, refusal

BAR = 1e-8


def problem(n, d, K, seed, *, sharpness=1.5):
    """Rows with an intercept's column, classes from the model itself, and weights with a zero among them."""
    rng = np.random.default_rng([seed, n, d, K])
    X = rng.normal(size=(n, d))
    theta = sharpness * rng.normal(size=(d, K))
    y = np.argmax(X @ theta + rng.gumbel(size=(n, K)), axis=1).astype(float)
    weights = rng.choice([0.0, 0.5, 1.0, 3.0], n)
    return X, y, weights


def log_likelihood(theta, X, y, weights):
    """Of Θ (… × d × K)."""
    each = log_softmax(X @ theta, axis=-1)
    return each[..., np.arange(len(y)), y.astype(int)] @ weights


def dense_laplace(X, y, weights, C, K):
    """Mode (d×K), precision of vec(Θᵀ) in class-major order, log Z: damped Newton on all K·d coefficients."""
    d = X.shape[1]
    Y = np.eye(K)[y.astype(int)] * weights[:, None]
    theta = np.zeros((d, K))

    def psi(t):
        return log_likelihood(t, X, y, weights) - 0.5 * (t**2).sum() / C

    for _ in range(300):
        P = softmax(X @ theta, axis=1)
        gradient = (X.T @ (Y - weights[:, None] * P) - theta / C).T.ravel()
        W = weights[:, None, None] * (P[:, :, None] * np.eye(K) - P[:, :, None] * P[:, None, :])
        precision = np.einsum("ick,ij,il->cjkl", W, X, X).reshape(K * d, K * d) + np.eye(K * d) / C
        step = np.linalg.solve(precision, gradient).reshape(K, d).T
        size = 1.0
        while psi(theta + size * step) < psi(theta) and size > 1e-9:
            size /= 2
        theta = theta + size * step
        if np.abs(X @ step).max() < 1e-9:  # its square is what is left
            break
    log_det = np.linalg.slogdet(C * precision)[1]
    return theta, precision, psi(theta) - 0.5 * log_det


def many_digits(X, y, weights, C, K):
    """The same in 40-digit arithmetic."""
    d = X.shape[1]
    with mp.workdps(40):
        rows = [[mp.mpf(float(v)) for v in x] for x in X]
        w = [mp.mpf(float(v)) for v in weights]
        theta = mp.zeros(K * d, 1)
        prior = 1 / mp.mpf(C)

        def scores(t):
            return [[mp.fsum(x[j] * t[c * d + j] for j in range(d)) for c in range(K)] for x in rows]

        def psi(t):
            total = -prior / 2 * mp.fsum(v * v for v in t)
            for f, label, weight in zip(scores(t), y.astype(int), w, strict=True):
                total += weight * (f[label] - mp.log(mp.fsum(mp.exp(v) for v in f)))
            return total

        for _ in range(300):
            H, g = mp.eye(K * d) * prior, -prior * theta
            for x, f, label, weight in zip(rows, scores(theta), y.astype(int), w, strict=True):
                e = [mp.exp(v - max(f)) for v in f]
                p = [v / mp.fsum(e) for v in e]
                for c in range(K):
                    for j in range(d):
                        g[c * d + j] += weight * ((c == label) - p[c]) * x[j]
                        for k in range(K):
                            curved = weight * p[c] * ((c == k) - p[k])
                            for i in range(d):
                                H[c * d + j, k * d + i] += curved * x[j] * x[i]
            step = mp.lu_solve(H, g)
            size = mp.mpf(1)
            while psi(theta + size * step) < psi(theta) and size > mp.mpf("1e-25"):
                size /= 2
            theta += size * step
            if max(abs(v) for v in step) < mp.mpf("1e-18") * (1 + max(abs(v) for v in theta)):
                return float(psi(theta) - mp.log(mp.det(H * C)) / 2)
    raise AssertionError("the reference did not converge")


def sampled_log_z(X, y, weights, C, K, draws, seed):
    """Log Z and its standard error by importance sampling from a Student t around the dense mode."""
    theta, precision, _ = dense_laplace(X, y, weights, C, K)
    proposal = multivariate_t(theta.T.ravel(), np.linalg.inv(precision), df=8, seed=seed)
    drawn = proposal.rvs(draws)
    tables = drawn.reshape(draws, K, -1).transpose(0, 2, 1)
    log_w = log_likelihood(tables, X, y, weights) - proposal.logpdf(drawn)
    log_w += -0.5 * (drawn**2).sum(axis=1) / C - 0.5 * drawn.shape[1] * np.log(2 * np.pi * C)
    w = np.exp(log_w - log_w.max())
    return logsumexp(log_w) - np.log(draws), w.std(ddof=1) / w.mean() / np.sqrt(draws)


@pytest.mark.parametrize("C", [1e-2, 1.0, 1e4])
@pytest.mark.parametrize(("n", "d", "K"), [(12, 2, 3), (40, 3, 4), (5, 9, 3), (30, 1, 6)])
def test_the_evidence_is_laplaces(n, d, K, C):
    X, y, weights = problem(n, d, K, seed=1)
    found = dw.Softmax(C, intercept=False, classes=K).fit(X, y, weights)
    theta, _, log_z = dense_laplace(X, y, weights, C, K)
    assert found.log_evidence == pytest.approx(log_z, abs=BAR)
    assert np.allclose(found.coefficients, theta, atol=1e-5 * (1 + np.abs(theta).max()))


@pytest.mark.parametrize("C", [1.0, 1e4])
def test_separable_classes_to_many_digits(C):
    """Three classes, each in a corner of its own: coefficients run away with the prior, log Z does not."""
    X = np.array([[1.0, 0.1], [0.9, -0.2], [-0.6, 0.9], [-0.4, 1.1], [-0.5, -0.8], [-0.7, -1.0]])
    y, weights = np.array([0.0, 0, 1, 1, 2, 2]), np.array([1.0, 2, 1, 1, 0.5, 1])
    found = dw.Softmax(C, intercept=False).fit(X, y, weights)
    assert found.converged
    assert found.log_evidence == pytest.approx(many_digits(X, y, weights, C, 3), abs=BAR)


def test_importance_sampling_agrees_within_laplaces_own_error():
    """Laplace's error falls as 1/n: at 6 coefficients it is below 6/n nats (measured: half of that), and
    the sampler's own four standard errors come on top (false alarms: 1e-4)."""
    for n in (50, 200, 800):
        X, y, _ = problem(n, 2, 3, seed=5, sharpness=1.0)
        log_z, error = sampled_log_z(X, y, np.ones(n), 1.0, 3, draws=20_000, seed=n)
        assert error < 0.02
        found = dw.Softmax(1.0, intercept=False).fit(X, y).log_evidence
        assert abs(found - log_z) < 6.0 / n + 4 * error


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_two_classes_are_logistic_regression_to_many_digits(case):
    """Prior variance C/2: 60-digit Laplace of Logistic(C)."""
    if case.X.shape[1] > 1000:
        pytest.skip("slow in 60 digits")
    for C in (1e-2, 1.0, 1e4):
        found = dw.Softmax(C / 2).fit(case.X, case.y, case.weights).log_evidence
        reference = laplace_log_z(with_ones(case.X), case.y, case.weights, C)
        assert found == pytest.approx(reference, abs=BAR)


seeds = st.integers(0, 10_000)
priors = st.floats(-2.0, 4.0).map(lambda e: 10.0**e)


@settings(max_examples=60, deadline=None)
@given(n=st.integers(1, 40), d=st.integers(1, 8), C=priors, seed=seeds)
def test_two_classes_are_logistic(n, d, C, seed):
    """Logistic's factor lags its mode by one step; a fit started at the mode has it in its last digits."""
    X, y, weights = problem(n, d, 2, seed)
    binary, rows = dw.Logistic(C).bind(X, y), np.arange(n)
    logistic = binary(rows, (binary(rows, weights=weights),), weights=weights).log_z
    assert dw.Softmax(C / 2).fit(X, y, weights).log_evidence == pytest.approx(logistic, abs=BAR)


@settings(max_examples=40, deadline=None)
@given(n=st.integers(1, 30), d=st.integers(1, 12), K=st.integers(2, 6), C=priors, seed=seeds)
def test_all_geometries_give_one_evidence(n, d, K, C, seed):
    X, y, weights = problem(n, d, K, seed)
    weights[0] = 1.0
    X, counts = X[weights > 0], ClassCounts((np.eye(K)[y.astype(int)] * weights[:, None])[weights > 0])
    sides = [Stacked(rows, C, K, root=root) for rows in (X, graded_features(X)[0]) for root in (False, True)]
    modes = [find_mode(one, counts, polished=POLISHED) for one in sides]
    for mode in modes:
        assert mode.converged
        assert mode.log_z == pytest.approx(modes[0].log_z, abs=BAR)
        assert mode.information_gain() == pytest.approx(modes[0].information_gain(), abs=1e-6)


@settings(max_examples=30, deadline=None)
@given(K=st.integers(2, 5), C=priors, seed=seeds)
def test_invariances_of_the_evidence(K, C, seed):
    """Row order, names of classes, weights for repeats, rows of weight 0, and where Newton starts."""
    X, y, weights = problem(24, 3, K, seed)
    model = dw.Softmax(C, classes=K)
    fitter, rows = model.bind(X, y), np.arange(24)
    plain = fitter(rows, weights=weights)
    rng = np.random.default_rng(seed)
    order, names = rng.permutation(24), rng.permutation(K)
    doubled = np.repeat(rows, (2 * weights).astype(int))
    others = [
        fitter(order, weights=weights[order]),
        fitter(rows, weights=weights, targets=names[y.astype(int)].astype(float)),
        fitter(rows[weights > 0], weights=weights[weights > 0]),
        fitter(rows, (fitter(rows[:12]), fitter(rows[12:])), weights=weights),
    ]
    assert [o.log_z for o in others] == pytest.approx([plain.log_z] * 4, abs=BAR)
    assert fitter(doubled).log_z == pytest.approx(fitter(rows, weights=2 * weights).log_z, abs=BAR)


def test_a_class_that_never_occurs_takes_its_share():
    """A third class without rows: the evidence falls, since it could have occurred."""
    X, y, weights = problem(30, 2, 2, seed=3)
    two, three = (dw.Softmax(1.0, classes=K).fit(X, y, weights).log_evidence for K in (2, 3))
    assert three < two
    assert three == pytest.approx(dense_laplace(with_ones(X), y, weights, 1.0, 3)[2], abs=BAR)


def three(n, seed):
    X, y, _ = problem(n, 3, 3, seed, sharpness=2.0)
    return dw.Dataset(X, np.array(["ant", "bee", "cat"])[y.astype(int)])


def test_two_classes_score_as_logistic_in_every_form():
    """What the two classes have in common cancels; sampled forms within four standard errors."""
    D, T = classes(40, seed=1), classes(30, seed=2)
    several, two = dw.Softmax(0.5), dw.Logistic(1.0)
    for form in ("evidence", "eta"):
        expected = dw.pmi(D, T, two, form).value
        assert dw.pmi(D, T, several, form).value == pytest.approx(expected, abs=1e-6)
    for form, same in (("kl", "kl"), ("integral", "product")):
        found = dw.pmi(D, T, several, form)
        assert found.stderr > 0
        assert abs(found.value - dw.pmi(D, T, two, same).value) < 4 * found.stderr
    assert "needs Gaussian posteriors" in refusal(dw.pmi, D, T, several, "sealed")


@pytest.mark.parametrize(("n", "d"), [(40, 2), (4, 9)], ids=["more rows", "more features"])
def test_the_posterior_is_the_dense_gaussian(n, d):
    """Densities and information gain; 4000 draws by their mean and covariance (false alarms: 1e-4)."""
    X, y, weights = problem(n, d, 3, seed=11)
    posterior = dw.Softmax(0.7, intercept=False, classes=3).fit(X, y, weights)
    theta, precision, _ = dense_laplace(X, y, weights, 0.7, 3)
    mean, covariance = theta.T.ravel(), np.linalg.inv(precision)
    at = mean + 0.3 * np.sin(np.arange(len(mean)))
    dense = multivariate_normal(mean, covariance)
    assert posterior.log_density(at) == pytest.approx(dense.logpdf(at), abs=1e-6)
    gain = 0.5 * (
        np.trace(covariance) / 0.7 + mean @ mean / 0.7 - len(mean) + np.linalg.slogdet(precision * 0.7)[1]
    )
    assert posterior.information_gain() == pytest.approx(gain, abs=1e-6)
    draws = posterior.sample(np.random.default_rng(3), 4000)
    white = (draws - mean) @ np.linalg.cholesky(precision)
    assert np.abs(white.mean(axis=0)).max() < 5.0 / np.sqrt(4000)
    assert np.abs(np.cov(white.T) - np.eye(len(mean))).max() < 6.5 / np.sqrt(4000)
    assert "length" in refusal(posterior.log_density, at[1:])


def test_predictions_are_averaged_over_the_posterior():
    """A row of zeros and no intercept: all classes alike; counts of 3000 within five s.d."""
    X, y, weights = problem(30, 2, 3, seed=12)
    posterior = dw.Softmax(5.0).fit(X, y, weights)
    fresh = np.random.default_rng(0).normal(size=(6, 2))
    theta, precision, _ = dense_laplace(with_ones(X), y, weights, 5.0, 3)
    draws = np.random.default_rng(1).multivariate_normal(theta.T.ravel(), np.linalg.inv(precision), 20_000)
    p = softmax(with_ones(fresh) @ draws.reshape(-1, 3, 3).transpose(0, 2, 1), axis=-1)
    forecast = posterior.predict_proba(fresh)
    assert np.allclose(forecast.sum(axis=1), 1.0)
    assert (np.abs(forecast - p.mean(axis=0)) < 4.5 * p.std(axis=0) / np.sqrt(1000)).all()
    X = np.array([[-3.0], [-2.5], [0.0], [0.2], [3.0], [2.5]])
    y = np.array([0.0, 0.0, 1.0, 1.0, 2.0, 2.0])
    fitter = dw.Softmax(100.0).bind(np.hstack([X, X**2]), y)
    fit = fitter(np.arange(6))
    assert fitter.predict(fit, np.arange(6)).tolist() == y.tolist()
    assert fitter.accuracy(fit, np.arange(6)) == 1.0
    assert fitter.information_gain(fit) == pytest.approx(fit.state.information_gain())
    assert fit.state.converged
    y = dw.Softmax(2.0, intercept=False, classes=3).simulate(np.random.default_rng(0), np.zeros((3000, 2)))
    assert np.abs(np.bincount(y.astype(int)) - 1000).max() < 5 * np.sqrt(3000 * 2 / 9)


def test_what_does_not_fit_into_memory_is_said_before(monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.random((4700, 850)), rng.integers(0, 20, 4700).astype(float)
    fitter = dw.Softmax(classes=20).bind(X, y)
    monkeypatch.setattr(np, "zeros", None)  # nothing is allocated on the way
    sentence = refusal(fitter, np.arange(4700))
    assert "4.3 GB" in sentence
    monkeypatch.undo()
    assert "4700 distinct rows" in sentence


def test_labels_choose_the_model_and_models_refuse_labels():
    X = np.arange(8.0)[:, None]
    two, many = dw.Dataset(X, [0, 1] * 4), dw.Dataset(X, ["a", "b", "c", "d"] * 2)
    numbers, crowd = dw.Dataset(X, X[:, 0] + 0.5), dw.Dataset(np.zeros((30, 1)), [f"n{i}" for i in range(30)])
    for data, model in ((two, dw.Logistic()), (many, dw.Softmax()), (numbers, dw.Linear())):
        assert dw.pmi(data, data).model == repr(model)
    for words, data, model in (
        ("Logistic takes two", many, dw.Logistic()),
        ("Softmax takes classes", numbers, dw.Softmax()),
        ("labels are text", many, dw.Linear()),
        ("30 classes", crowd, None),
    ):
        assert words in refusal(dw.pmi, data, data, model)


@pytest.fixture(scope="module")
def data():
    """A third of the labels of `raw` are of the next class; `clean` is without those rows."""
    rng = np.random.default_rng(7)
    X = rng.normal(size=(300, 2))
    y = np.argmax(X @ np.array([[3.0, -3.0, 0.0], [0.0, 0.0, 3.0]]) + 0.5 * rng.gumbel(size=(300, 3)), axis=1)
    wrong = np.arange(180) % 3 == 0
    names = np.array(["low", "mid", "top"])
    raw = dw.Dataset(X[:180], names[np.where(wrong, (y[:180] + 1) % 3, y[:180])])
    return raw, raw.take(np.flatnonzero(~wrong)), dw.Dataset(X[180:], names[y[180:]])


@pytest.fixture(scope="module")
def yard(data):
    return dw.Yardstick.fit(data[2], prior_variance=1.0)


def test_cleaning_three_classes_is_informative(data, yard):
    raw, clean, test = data
    audit = dw.audit(raw, clean, test, yardstick=yard)
    assert audit.verdict == "informative"
    assert audit.accuracy_delta > 0
    assert dw.rank({"raw": raw, "clean": clean}, test, yardstick=yard).ranking[0].name == "clean"
