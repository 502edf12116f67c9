"""Linear regression with unknown noise, against Student densities, fifty digits, quadrature and sampling."""

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

import dataworth as dw
from cases import CASES
from golden.sentences import all_refused
from reference import tolerance, with_ones

seeds = st.integers(0, 2**32 - 1)
checked = settings(max_examples=40, deadline=None, derandomize=True)
NOISE = dw.InverseGamma(shape=2.0, scale=0.7)


def world(seed, n, d):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)), rng.normal(size=n)


def student(X, y, C, noise):
    """y ~ t with 2a degrees of freedom and shape (b/a)(I + C XXᵀ)."""
    a, b = noise
    return stats.multivariate_t(np.zeros(len(y)), b / a * (np.eye(len(y)) + C * X @ X.T), df=2 * a).logpdf(y)


def in_many_digits(X, y, weights, C, a, b):
    """log Z by sufficient statistics in 120 digits, where their cancelling costs nothing."""
    with mp.workdps(120):
        w, d = [mp.mpf(v) for v in weights], range(X.shape[1])
        columns, target = [[mp.mpf(v) for v in X[:, i]] for i in d], [mp.mpf(v) for v in y]

        def inner(left, right):
            return mp.fdot([k * a for k, a in zip(w, left, strict=True)], right)

        P = mp.matrix([[inner(columns[i], columns[j]) for j in d] for i in d]) + mp.eye(len(d)) / mp.mpf(C)
        h = mp.matrix([inner(columns[i], target) for i in d])
        n = mp.fsum(w)
        total = inner(target, target) - (h.T * mp.lu_solve(P, h))[0]
        shape, scale = a + n / 2, b + total / 2
        log_det = mp.log(mp.det(P)) + X.shape[1] * mp.log(C)
        value = a * mp.log(b) - shape * mp.log(scale) + mp.loggamma(shape) - mp.loggamma(a)
        return float(value - (n * mp.log(2 * mp.pi) + log_det) / 2)


@given(
    seeds,
    st.integers(0, 5),
    st.integers(1, 9),
    st.integers(1, 8),
    st.floats(0.1, 5),
    st.floats(0.5, 5),
    st.floats(0.2, 4),
)
@checked
def test_evidence_is_a_student_density(seed, d, n, m, C, a, b):
    """PMI is a ratio of three, in the form integral too."""
    X, y = world(seed, n + m, d)
    noise, rows, D, T = dw.InverseGamma(a, b), with_ones(X), np.arange(n), np.arange(n, n + m)
    both, data, test = (student(rows[S], y[S], C, noise) for S in (np.arange(n + m), D, T))
    assert dw.Linear(C, noise).fit(X[D], y[D]).log_evidence == pytest.approx(data, abs=1e-9)
    sets = dw.Dataset(X[D], y[D]), dw.Dataset(X[T], y[T])
    for form in ("evidence", "integral"):
        assert dw.pmi(*sets, dw.Linear(C, noise), form).value == pytest.approx(both - data - test, abs=1e-8)


@pytest.mark.parametrize("C", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("case", [c for c in CASES if c.X.size and c.X.shape[1] < 30], ids=lambda c: c.name)
def test_evidence_in_many_digits(case, C):
    """Cases of all scales, with weights."""
    found = dw.Linear(C, NOISE, intercept=False).fit(case.X, case.numeric_labels, case.weights).log_evidence
    exact = in_many_digits(case.X, case.numeric_labels, case.weights, C, *NOISE)
    assert found == pytest.approx(exact, abs=tolerance(exact))


def test_labels_of_a_million_and_more_features_than_rows():
    """Sufficient statistics would keep no digit: yᵀy is 1e13 and what is left of it 1e-5."""
    rng = np.random.default_rng(8)
    X = rng.normal(size=(20, 3))
    y = X @ np.array([1e6, -2e6, 5e5]) + 1e-3 * rng.normal(size=20)
    noise = dw.InverseGamma(1.5, 1e-6)
    exact = in_many_digits(with_ones(X), y, np.ones(20), 1e20, *noise)
    assert dw.Linear(1e20, noise).fit(X, y).log_evidence == pytest.approx(exact, abs=tolerance(exact))
    X, y = world(9, 5, 40)
    posterior = dw.Linear(0.2, NOISE).fit(X, y)
    assert posterior.log_evidence == pytest.approx(student(with_ones(X), y, 0.2, NOISE), abs=1e-9)
    rows = with_ones(X)
    mean = 0.2 * rows.T @ np.linalg.solve(np.eye(5) + 0.2 * rows @ rows.T, y)
    assert np.allclose(posterior.mean, mean, atol=1e-10)
    assert np.allclose(posterior.predict_proba(X), rows @ mean, atol=1e-10)


@pytest.mark.parametrize("noise", [NOISE, dw.InverseGamma(2.5, 1.2)])
def test_by_quadrature_over_the_noise(noise):
    """Z = ∫ Z_known(σ²) InverseGamma(σ²; a, b) dσ², where the prior variance is in units of σ²."""
    X, y = world(3, 9, 2)

    def log_z(S):
        def integrand(log_noise):
            known = dw.Linear(0.8 * np.exp(log_noise), np.exp(log_noise)).fit(X[S], y[S]).log_evidence
            prior = stats.invgamma(noise.shape, scale=noise.scale).logpdf(np.exp(log_noise))
            return np.exp(known + prior + log_noise)

        return np.log(integrate.quad(integrand, -12, 12, epsabs=1e-16, epsrel=1e-11, limit=400)[0])

    D, T = np.arange(5), np.arange(5, 9)
    both, data, test = (log_z(S) for S in (np.arange(9), D, T))
    assert dw.Linear(0.8, noise).fit(X, y).log_evidence == pytest.approx(both, abs=1e-8)
    found = dw.pmi(dw.Dataset(X[D], y[D]), dw.Dataset(X[T], y[T]), dw.Linear(0.8, noise)).value
    assert found == pytest.approx(both - data - test, abs=1e-8)


def test_a_certain_noise_is_a_known_one():
    """a → ∞ with b = a s²: the evidence of known noise, and its information gain."""
    X, y = world(4, 12, 2)
    known = dw.Linear(0.5 * 0.3, 0.3).fit(X, y)
    learnt = dw.Linear(0.5, dw.InverseGamma(1e10, 0.3e10)).fit(X, y)
    assert learnt.log_evidence == pytest.approx(known.log_evidence, abs=1e-7)
    assert learnt.information_gain() == pytest.approx(known.information_gain(), abs=1e-5)
    assert np.allclose(learnt.mean, known.mean, atol=1e-12)


def test_density_is_likelihood_times_prior_over_evidence():
    """Bayes' rule at any (θ, log σ²), by scipy's densities."""
    X, y = world(5, 7, 2)
    w = np.array([1.0, 2.0, 0.5, 1.0, 1.0, 3.0, 0.0])
    C = 0.6
    posterior = dw.Linear(C, NOISE).fit(X, y, w)
    rng = np.random.default_rng(1)
    for _ in range(20):
        theta, log_noise = rng.normal(size=3), rng.normal()
        s = np.exp(log_noise / 2)
        log_joint = w @ stats.norm(with_ones(X) @ theta, s).logpdf(y)
        log_joint += stats.norm(0, s * np.sqrt(C)).logpdf(theta).sum()
        log_joint += stats.invgamma(NOISE.shape, scale=NOISE.scale).logpdf(s**2) + log_noise
        found = posterior.log_density(np.append(theta, log_noise))
        assert found == pytest.approx(log_joint - posterior.log_evidence, abs=1e-9)


def test_draws_are_of_that_density():
    """Kolmogorov–Smirnov: σ² against its inverse gamma, each θ against its Student t; false alarm 1e-4."""
    X, y = world(6, 15, 2)
    posterior = dw.Linear(1.0, NOISE).fit(X, y)
    draws = posterior.sample(np.random.default_rng(9), 4000)
    a, b = posterior.noise
    assert (a, b) == (NOISE.shape + 7.5, pytest.approx(b))
    assert stats.kstest(np.exp(draws[:, -1]), stats.invgamma(a, scale=b).cdf).pvalue > 1e-4
    rows = with_ones(X)
    covariance = np.linalg.inv(rows.T @ rows + np.eye(3))
    for i in range(3):
        t = stats.t(2 * a, posterior.mean[i], np.sqrt(b / a * covariance[i, i]))
        assert stats.kstest(draws[:, i], t.cdf).pvalue > 1e-4


def test_simulated_numeric_labels_follow_the_prior():
    """One row is a Student t with 2a degrees of freedom; Kolmogorov–Smirnov at 1e-4."""
    rng, X = np.random.default_rng(12), np.array([[2.0]])
    drawn = [dw.Linear(0.5, NOISE).simulate(rng, X)[0] for _ in range(3000)]
    t = stats.t(2 * NOISE.shape, 0, np.sqrt(NOISE.scale / NOISE.shape * (1 + 0.5 * 5)))
    assert stats.kstest(drawn, t.cdf).pvalue > 1e-4
    known = [dw.Linear(0.5, 0.3).simulate(rng, X)[0] for _ in range(3000)]
    assert stats.kstest(known, stats.norm(0, np.sqrt(0.3 + 0.5 * 5)).cdf).pvalue > 1e-4


def test_sentences():
    X, y = world(0, 4, 2)
    prior = dw.GaussianPrior(np.zeros(3), np.eye(3))
    cases = [(dw.Linear, 1.0, noise) for noise in (dw.InverseGamma(0, 1.0), dw.InverseGamma(1.0, -1), "auto")]
    cases += [(dw.Linear(1.0, NOISE).fit(X, y).log_density, np.zeros(3))]
    all_refused("noise", [*cases, lambda: dw.Linear(1.0, NOISE).fit(X, y, prior=prior)])
