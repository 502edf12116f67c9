"""The log-normaliser route against other roads to the same number: sequential prediction, dense densities,
quadrature, and the model's own evidence."""

from __future__ import annotations

import numpy as np
import pytest
from dataworth.inference.conjugate import (
    dirichlet_log_normaliser,
    nig_log_normaliser,
    nig_posterior,
    nig_prior,
    normaliser_pmi,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats
from scipy.special import betaln, gammaln

import dataworth as dw
from cases import CASES
from reference import (
    dirichlet_posterior,
    dirichlet_prior,
    gaussian_log_normaliser,
    gaussian_natural,
    gaussian_prior,
    sequential_log_p,
)
from worlds import refusal

seeds = st.integers(0, 2**32 - 1)
checked = settings(max_examples=40, deadline=None, derandomize=True)


# Classes


def dirichlet_pmi(alpha, D, T):
    prior = (np.asarray(alpha, dtype=float),)
    posteriors = [dirichlet_posterior(prior, np.asarray(S, dtype=int)) for S in (D, T)]
    return normaliser_pmi(dirichlet_log_normaliser, prior, *posteriors)


def test_beta_bernoulli_by_gamma_functions_and_by_quadrature():
    """log Z = log B(a + ones, b + zeros) − log B(a, b), and ∫ p^ones (1−p)^zeros Beta(p; 0.7, 2) dp."""

    def log_z(ones, zeros):
        value, _ = integrate.quad(
            lambda p: p**ones * (1 - p) ** zeros * stats.beta(0.7, 2.0).pdf(p), 0, 1, epsabs=1e-13, limit=200
        )
        return np.log(value)

    found = dirichlet_pmi([2.0, 0.7], [1, 1, 0, 1, 0], [0, 0, 1, 0])
    assert found == pytest.approx(log_z(4, 5) - log_z(3, 2) - log_z(1, 3), abs=1e-6)
    by_hand = betaln(0.7 + 4, 2 + 5) - betaln(0.7 + 3, 2 + 2) - betaln(0.7 + 1, 2 + 3) + betaln(0.7, 2.0)
    assert found == pytest.approx(by_hand, abs=1e-12)


@given(seeds, st.integers(1, 5), st.integers(0, 12), st.integers(0, 12))
@checked
def test_dirichlet_categorical_is_sequential_prediction_and_a_ratio_of_gamma_functions(seed, classes, n, m):
    """A(λ_D) − A(λ_0) is the evidence of the sequence: Γ(Σα)/Γ(Σα+n) Π Γ(α_c+n_c)/Γ(α_c)."""
    rng = np.random.default_rng(seed)
    alpha = rng.uniform(0.1, 3.0, classes)
    D, T = rng.integers(0, classes, n), rng.integers(0, classes, m)
    expected = sequential_log_p(alpha, [*D, *T]) - sequential_log_p(alpha, D) - sequential_log_p(alpha, T)
    assert dirichlet_pmi(alpha, D, T) == pytest.approx(expected, abs=1e-10)
    counts = np.bincount(D, minlength=classes)
    posterior = dirichlet_posterior((alpha,), D)
    found = dirichlet_log_normaliser(posterior) - dirichlet_log_normaliser((alpha,))
    by_hand = (
        gammaln(alpha.sum()) - gammaln(alpha.sum() + n) + (gammaln(alpha + counts) - gammaln(alpha)).sum()
    )
    assert found == pytest.approx(by_hand, abs=1e-10)
    assert found == pytest.approx(sequential_log_p(alpha, D), abs=1e-10)
    labels, repeats = np.flatnonzero(counts), counts[counts > 0].astype(float)
    assert dirichlet_posterior((alpha,), labels, repeats)[0] == pytest.approx(posterior[0], abs=1e-12)


# Numeric labels, known noise


def gaussian_pmi(X, y, w, D, T, C, s2):
    prior = gaussian_prior(X.shape[1], C)
    return normaliser_pmi(
        gaussian_log_normaliser, prior, *(gaussian_natural(prior, X[S], y[S], s2, w[S]) for S in (D, T))
    )


MILD = [case for case in CASES if case.X.size and 1e-3 < np.abs(case.X).max() < 1e3 and case.X.shape[1] < 60]


@pytest.mark.parametrize("C", [1e-2, 1.0, 1e2])
@pytest.mark.parametrize("case", MILD, ids=lambda case: case.name)
def test_gaussian_is_the_evidence_of_linear(case, C):
    D, T = case.halves()
    fitter = dw.Linear(C, 0.5, intercept=False).bind(case.X, case.numeric_labels)
    fits = [fitter(S, weights=case.weights[S]).log_z for S in (np.r_[D, T], D, T)]
    found = gaussian_pmi(case.X, case.numeric_labels, case.weights, D, T, C, 0.5)
    assert found == pytest.approx(fits[0] - fits[1] - fits[2], abs=1e-9 * (1 + abs(fits[0])))


@given(seeds, st.integers(1, 6), st.integers(1, 8), st.integers(1, 8), st.floats(0.1, 10), st.floats(0.1, 3))
@checked
def test_gaussian_is_a_ratio_of_dense_densities(seed, d, n, m, C, s2):
    """y ~ N(0, C XXᵀ + s² I) with θ integrated out."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n + m, d)), rng.normal(size=n + m)
    D, T = np.arange(n), np.arange(n, n + m)

    def log_density(S):
        return stats.multivariate_normal(cov=C * X[S] @ X[S].T + s2 * np.eye(len(S))).logpdf(y[S])

    expected = log_density(np.r_[D, T]) - log_density(D) - log_density(T)
    assert gaussian_pmi(X, y, np.ones(n + m), D, T, C, s2) == pytest.approx(expected, abs=1e-8)


# All families: identities


def coins(rng, n):
    prior = dirichlet_prior(3, 0.6)
    rows = rng.integers(0, 3, n)
    return dirichlet_log_normaliser, prior, lambda S: dirichlet_posterior(prior, rows[S])


def numeric_labels(rng, n):
    prior = gaussian_prior(3, 2.0)
    X, y = rng.normal(size=(n, 3)), rng.normal(size=n)
    return gaussian_log_normaliser, prior, lambda S: gaussian_natural(prior, X[S], y[S], 0.5)


def noisy_labels(rng, n):
    prior = nig_prior(3, 2.0, 1.5, 0.7)
    X, y = rng.normal(size=(n, 3)), rng.normal(size=n)
    return nig_log_normaliser, prior, lambda S: nig_posterior(prior, X[S], y[S])


@pytest.mark.parametrize("family", [coins, numeric_labels, noisy_labels])
@given(seeds, st.integers(0, 8), st.integers(1, 8))
@checked
def test_identities(family, seed, n, m):
    """U(D,T) = U(T,D); U(∅,T) = 0; order does not matter; U(D, T₁∪T₂) = U(D,T₁) + U(D∪T₁,T₂) − U(T₁,T₂)."""
    rng = np.random.default_rng(seed)
    A, prior, posterior = family(rng, n + m)

    def pmi(one, other):
        return normaliser_pmi(A, prior, posterior(one), posterior(other))

    order = rng.permutation(n + m)
    D, T, nothing = order[:n], order[n:], order[:0]
    value = pmi(D, T)
    assert pmi(T, D) == pytest.approx(value, abs=1e-10)
    assert pmi(nothing, T) == pytest.approx(0.0, abs=1e-10)
    assert pmi(rng.permutation(D), rng.permutation(T)) == pytest.approx(value, abs=1e-10)
    first, second = T[: m // 2], T[m // 2 :]
    chained = pmi(D, first) + pmi(np.r_[D, first], second) - pmi(first, second)
    assert chained == pytest.approx(value, abs=1e-9)
    if n:
        assert abs(value) > 0  # the identities would hold for a function that is always 0


# Refusals


def test_what_is_refused():
    one, two = gaussian_prior(1, 1.0), gaussian_prior(2, 1.0)
    assert "must be of one family and size" in refusal(normaliser_pmi, gaussian_log_normaliser, one, one, two)
    bent = (np.zeros(1), -np.eye(1), np.array(1.0), np.array(1.0))
    assert "not positive definite" in refusal(nig_log_normaliser, bent)
    assert "needs positive ones" in refusal(dirichlet_log_normaliser, (np.array([1.0, 0.0]),))
    assert "must be positive" in refusal(nig_log_normaliser, nig_prior(1, 1.0, shape=1.0, scale=0.0))
