"""The log-normaliser route against sequential prediction and dense densities."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from dataworth.inference.conjugate import (
    dirichlet_log_normaliser,
    nig_log_normaliser,
    nig_posterior,
    nig_prior,
    normaliser_pmi,
)
from worlds import refusal

seeds = st.integers(0, 2**32 - 1)
checked = settings(max_examples=40, deadline=None, derandomize=True)


def predicted(alpha, labels):
    """Log probability of the labels, one after the other: P(next = c) = (α_c + n_c)/(Σα + n)."""
    counts, total = np.array(alpha, dtype=float), 0.0
    for label in labels:
        total += np.log(counts[label] / counts.sum())
        counts[label] += 1
    return total


@given(seeds, st.integers(1, 5), st.integers(0, 12), st.integers(0, 12))
@checked
def test_dirichlet_categorical_is_sequential_prediction(seed, classes, n, m):
    """A(λ_D) − A(λ_0) is the log evidence of the sequence."""
    rng = np.random.default_rng(seed)
    alpha = rng.uniform(0.1, 3.0, classes)
    D, T = rng.integers(0, classes, n), rng.integers(0, classes, m)
    posteriors = [(alpha + np.bincount(S, minlength=classes),) for S in (D, T)]
    found = dirichlet_log_normaliser(posteriors[0]) - dirichlet_log_normaliser((alpha,))
    assert found == pytest.approx(predicted(alpha, D), abs=1e-10)
    expected = predicted(alpha, [*D, *T]) - predicted(alpha, D) - predicted(alpha, T)
    assert normaliser_pmi(dirichlet_log_normaliser, (alpha,), *posteriors) == pytest.approx(
        expected, abs=1e-10
    )


def nig_evidence(X, y, w, prior):
    """Log evidence by normalisers; (2π)^(−n/2) is what cancels in a PMI."""
    posterior = nig_posterior(prior, X, y, w)
    return nig_log_normaliser(posterior) - nig_log_normaliser(prior) - 0.5 * w.sum() * np.log(2 * np.pi)


@given(seeds, st.integers(1, 5), st.integers(1, 8), st.integers(1, 8), st.floats(0.5, 5), st.floats(0.2, 4))
@checked
def test_nig_is_a_ratio_of_student_densities(seed, d, n, m, a, b):
    """y ~ t with 2a degrees of freedom and shape (b/a)(I + C XXᵀ)."""
    rng = np.random.default_rng(seed)
    C = 0.7
    X, y = rng.normal(size=(n + m, d)), rng.normal(size=n + m)
    D, T = np.arange(n), np.arange(n, n + m)

    def log_density(S):
        shape = b / a * (np.eye(len(S)) + C * X[S] @ X[S].T)
        return stats.multivariate_t(np.zeros(len(S)), shape, df=2 * a).logpdf(y[S])

    prior = nig_prior(d, C, a, b)
    assert nig_evidence(X[D], y[D], np.ones(n), prior) == pytest.approx(log_density(D), abs=1e-9)
    found = normaliser_pmi(nig_log_normaliser, prior, *(nig_posterior(prior, X[S], y[S]) for S in (D, T)))
    expected = log_density(np.r_[D, T]) - log_density(D) - log_density(T)
    assert found == pytest.approx(expected, abs=1e-8)


def test_what_is_refused():
    one, two = (nig_prior(d, 1.0, 1.0, 1.0) for d in (1, 2))
    assert "must be of one family and size" in refusal(normaliser_pmi, nig_log_normaliser, one, one, two)
    bent = (np.zeros(1), -np.eye(1), np.array(1.0), np.array(1.0))
    assert "not positive definite" in refusal(nig_log_normaliser, bent)
    assert "needs positive ones" in refusal(dirichlet_log_normaliser, (np.array([1.0, 0.0]),))
    assert "must be positive" in refusal(nig_log_normaliser, nig_prior(1, 1.0, shape=1.0, scale=0.0))
