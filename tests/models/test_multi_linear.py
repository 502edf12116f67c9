"""Regression of vectors, against densities of other libraries, one output, sampling and invariances."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import dataworth as dw
from dataworth import InverseGamma, Linear, MultiLinear
from dataworth.models import with_intercept
from worlds import refusal

seeds = st.integers(0, 2**32 - 1)
checked = settings(max_examples=30, deadline=None, derandomize=True)


def world(seed, n, d, q):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)), rng.normal(size=(n, q))


@given(seeds, st.integers(0, 12), st.integers(1, 9), st.floats(0.1, 9), st.floats(0.3, 6), st.floats(0.2, 4))
@checked
def test_one_output_is_regression_with_unknown_noise(seed, d, n, C, freedom, scale):
    """Evidence, gain, densities and predictions of the normal-inverse-gamma model."""
    X, Y = world(seed, n, d, 1)
    several = MultiLinear(C, freedom, scale).fit(X, Y)
    one = Linear(C, InverseGamma(freedom / 2.0, scale / 2.0)).fit(X, Y[:, 0])
    assert several.log_evidence == pytest.approx(one.log_evidence, abs=1e-9)
    assert several.information_gain() == pytest.approx(one.information_gain(), abs=1e-9)
    assert several.predict_proba(X)[:, 0] == pytest.approx(one.predict_proba(X), abs=1e-10)
    for theta in one.sample(np.random.default_rng(seed), 3):
        assert several.log_density(theta) == pytest.approx(one.log_density(theta), abs=1e-8)


@given(seeds, st.integers(1, 6), st.integers(1, 4), st.floats(0.1, 9), st.floats(0.3, 6), st.floats(0.2, 4))
@checked
def test_evidence_row_by_row_is_a_chain_of_student_densities(seed, n, q, C, freedom, scale):
    """scipy's multivariate t of each row given those before it, from the prior on."""
    X, Y = world(seed, n, 2, q)
    model, total = MultiLinear(C, freedom, scale), 0.0
    rows, nu = with_intercept(X, True), freedom + q - 1
    for i in range(n):
        before = rows[:i]
        A = np.eye(3) / C + before.T @ before
        M = np.linalg.solve(A, before.T @ Y[:i])
        error = Y[:i] - before @ M
        scatter = scale * np.eye(q) + error.T @ error + M.T @ M / C
        df = nu + i - q + 1
        spread = scatter * (1.0 + rows[i] @ np.linalg.solve(A, rows[i])) / df
        told = stats.multivariate_t(rows[i] @ M, spread, df=df).logpdf(Y[i])
        fitter = model.bind(X, Y)
        fit = fitter(np.arange(i))
        assert fitter.row_predictives(fit, np.array([i]), np.ones(1))[0] == pytest.approx(told, abs=1e-8)
        total += told
    assert model.fit(X, Y).log_evidence == pytest.approx(total, abs=1e-8)


@given(seeds, st.integers(0, 6), st.integers(1, 6), st.integers(1, 3))
@checked
def test_rows_together_are_a_matrix_t(seed, n, m, q):
    """The joint predictive is the ratio of evidences: log p(T | D) = log Z(D∪T) − log Z(D)."""
    X, Y = world(seed, n + m, 8, q)
    model = MultiLinear(0.7, 2.0, 1.5)
    both, data = model.fit(X, Y), model.fit(X[:n], Y[:n])
    told = data.log_predictive(X[n:], Y[n:])
    assert told == pytest.approx(both.log_evidence - data.log_evidence, abs=1e-8)


@given(seeds, st.integers(2, 8), st.floats(0.1, 4))
@checked
def test_a_weight_is_so_many_rows(seed, n, weight):
    """In the evidence and in what is predicted of one row."""
    X, Y = world(seed, n, 2, 2)
    fitter = MultiLinear().bind(X, Y)
    data, last = np.arange(n - 1), np.array([n - 1])
    fit = fitter(data)
    both = fitter(np.arange(n), weights=np.append(np.ones(n - 1), weight))
    told = fitter.row_predictives(fit, last, np.array([weight]))[0]
    assert told == pytest.approx(both.log_z - fit.log_z, abs=1e-9)


@given(seeds)
@checked
def test_turned_outputs_are_worth_the_same(seed):
    """The prior has no favourite direction of y: an orthogonal map leaves every evidence as it is."""
    X, Y = world(seed, 7, 3, 3)
    turn = np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3)))[0]
    there, back = (MultiLinear(2.0, 1.5, 0.4).fit(X, one).log_evidence for one in (Y, Y @ turn))
    assert there == pytest.approx(back, abs=1e-9)


def test_pmi_of_vectors():
    """Symmetric, nothing for nothing, the same in every form that needs no Gaussian."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    Y = X @ rng.normal(size=(3, 4)) + rng.normal(size=(60, 4))
    D, T = dw.Dataset(X[:30], Y[:30]), dw.Dataset(X[30:], Y[30:])
    told = dw.pmi(D, T)
    assert told.model.startswith("MultiLinear")
    assert told.value > 0
    for form in ("eta", "kl", "integral"):
        assert dw.pmi(D, T, form=form).value == pytest.approx(told.value, abs=1e-8)
    assert dw.pmi(T, D).value == pytest.approx(told.value, abs=1e-9)
    assert dw.pmi(D.take([]), T).value == pytest.approx(0.0, abs=1e-9)
    shuffled = T.with_outputs(Y[30:][rng.permutation(30)])
    assert dw.pmi(D, shuffled).value < told.value
    joined = dw.Dataset.concat([D, T])
    assert joined.outputs.shape == (60, 4)
    assert joined.content_hash() != joined.with_outputs(-Y).content_hash()


@pytest.mark.parametrize("model", [MultiLinear(), MultiLinear(0.3, 1.0, 2.0, intercept=False, outputs=3)])
def test_the_model_is_certified(model):
    """All that holds of every exact model: identities, simulation from the prior, misreports gain nothing."""
    certificate = dw.check_model(model, repeats=200)
    assert certificate.ok, str(certificate)
    for name in ("Bayes' identity", "density", "noisy labels", "rows doubled", "balance"):
        assert certificate[name].passed


def test_draws_have_the_posterior_moments():
    """2,000 draws: E B, E S and the spread of B within 5 standard errors (one false alarm in 10⁵ or so)."""
    X, Y = world(3, 12, 2, 2)
    posterior = MultiLinear(0.8, 4.0, 1.0).fit(X, Y)
    theta = posterior.sample(np.random.default_rng(0), 2000)
    B, roots = theta[:, :6].reshape(-1, 3, 2), np.zeros((2000, 2, 2))
    roots[:, [0, 1], [0, 1]] = np.exp(0.5 * theta[:, 6:8])
    roots[:, 1, 0] = theta[:, 8]
    S = roots @ roots.transpose(0, 2, 1)
    for found, wanted in ((B, posterior.mean), (S, posterior.scatter / (posterior.degrees - 3))):
        error = found.std(axis=0) / np.sqrt(len(found))
        assert (np.abs(found.mean(axis=0) - wanted) < 5 * error).all()


def test_what_it_refuses():
    X, Y = world(0, 5, 2, 2)
    assert "rows × outputs" in refusal(MultiLinear().fit, X, Y[:4])
    assert "outputs=3" in refusal(MultiLinear(outputs=3).fit, X, Y)
    assert "must be a positive number" in refusal(MultiLinear, freedom=0.0)
    assert "whole number" in refusal(MultiLinear, outputs=0)
    numbers = dw.Dataset(X, Y)
    assert "use dw.MultiLinear" in refusal(dw.pmi, numbers, numbers, Linear())
    assert "not all" in refusal(dw.Dataset.concat, [numbers, dw.Dataset(X, [0, 1, 1, 0, 1])])
    assert "missing or infinite" in refusal(dw.Dataset, X, np.full((5, 2), np.nan))


def test_parts_of_the_score_are_exact():
    """Those in closed form against those by 2,000 draws, within 5 standard errors."""
    from dataworth.evidence import interpretation
    from dataworth.evidence.pair import bind_pair

    rng = np.random.default_rng(1)
    X = rng.normal(size=(24, 2))
    Y = X @ rng.normal(size=(2, 2)) + rng.normal(size=(24, 2))
    weights = rng.uniform(0.5, 2.0, 24)
    D, T = (dw.Dataset(X[s], Y[s], weights=weights[s]) for s in (slice(14), slice(14, 24)))
    told = dw.pmi(D, T, MultiLinear()).parts
    assert told.unexplained == pytest.approx(0.0, abs=1e-9)
    drawn = interpretation._sampled_parts(bind_pair(D, T, MultiLinear()), told.value, 2000, 0)
    for name, error in drawn.stderr.items():
        assert getattr(told, name) == pytest.approx(getattr(drawn, name), abs=5 * error), name
