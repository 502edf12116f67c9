"""Fits from sums over chunks are those of all rows at once, and do not depend on how rows are cut."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from dataworth.inference import partial_sums as ps
from dataworth.inference.logistic import Counts
from dataworth.models import Logistic


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((3000, 6))
    y = (X @ rng.standard_normal(6) + rng.logistic(size=3000) > 0).astype(float)
    return X, y, rng.uniform(0.5, 2.0, 3000)


def streamed(X, y, weights, cuts, C, tempering=1.0):
    design, passes = np.hstack([X, np.ones((len(X), 1))]), []

    def sums_at(theta):
        passes.append(theta)
        pieces = np.split(np.arange(len(X)), cuts)
        return ps.combined(
            ps.partial_sums(theta, design[p], Counts(weights[p] * y[p], weights[p] * (1 - y[p])))
            for p in pieces
        )

    return *ps.find_mode(sums_at, C, np.zeros(7), tempering), len(passes)


@pytest.mark.parametrize("tempering", [0.5, 1.0, 4.0])
def test_the_fit_is_that_of_all_rows_at_once(rows, tempering, monkeypatch):
    X, y, weights = rows
    mode, curvature, passes = streamed(X, y, weights, [700, 701, 2500], 0.3, tempering)
    whole = Logistic(0.3).fit(X, y, tempering * weights)
    assert_allclose(mode.log_z, whole.log_evidence, rtol=1e-10)
    assert_allclose(mode.coef, whole.mean, atol=1e-7)
    assert_allclose(mode.information_gain(), whole.information_gain(), rtol=1e-7)
    assert_allclose(tempering * curvature + np.eye(7) / 0.3, whole.precision, rtol=1e-5, atol=1e-3)
    assert passes < 15
    monkeypatch.setattr(ps, "TOLERANCE", 1e-9)
    assert streamed(X, y, weights, [], 0.3, tempering)[2] > passes


def test_how_rows_are_cut_does_not_matter(rows):
    one, *_ = streamed(*rows, [], 1.0)
    many, *_ = streamed(*rows, list(range(100, 3000, 100)), 1.0)
    assert_allclose(many.coef, one.coef, rtol=1e-12, atol=1e-13)
    assert_allclose(many.log_z, one.log_z, rtol=1e-13)


def test_a_step_that_leads_down_is_halved():
    """Far out on the wrong side a full step overshoots: W is next to nothing there."""
    X, y = np.array([[1.0], [1.0], [-1.0]]), np.array([1.0, 1.0, 0.0])
    counts = Counts(y, 1.0 - y)
    mode, _ = ps.find_mode(lambda theta: ps.partial_sums(theta, X, counts), 100.0, np.array([-30.0]))
    assert mode.converged
    assert_allclose(mode.log_z, Logistic(100.0, intercept=False).fit(X, y).log_evidence, atol=1e-6)
    X, counts = np.full((2, 1), 1e6), Counts(np.ones(2), np.zeros(2))
    with pytest.raises(np.linalg.LinAlgError, match="too large"):
        ps.find_mode(lambda theta: ps.partial_sums(theta, X, counts), 1.0, np.zeros(1))
