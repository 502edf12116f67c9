"""Fits from sums over chunks are those of all rows at once, and do not depend on how rows are cut."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from dataworth.inference import partial_sums as ps
from dataworth.inference.logistic import Counts
from dataworth.models import GaussianPrior, Logistic


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((3000, 6))
    y = (X @ rng.standard_normal(6) + rng.logistic(size=3000) > 0).astype(float)
    return X, y, rng.uniform(0.5, 2.0, 3000)


def streamed(X, y, weights, cuts, C, tempering=1.0, start=None, asked=None):
    """The fit of all rows, with a column of ones, and how many passes it took."""
    design = np.hstack([X, np.ones((len(X), 1))])
    passes = []

    def sums_at(theta):
        passes.append(theta)
        pieces = np.split(np.arange(len(X)), cuts)
        return ps.combined(
            ps.partial_sums(theta, design[p], Counts(weights[p] * y[p], weights[p] * (1 - y[p])))
            for p in pieces
        )

    start = np.zeros(7) if start is None else start
    mode, point = ps.find_mode(sums_at, C, ps.At(start, sums_at(start)), tempering, asked)
    return mode, point, len(passes)


@pytest.mark.parametrize("tempering", [0.5, 1.0, 4.0])
def test_the_fit_is_that_of_all_rows_at_once(rows, tempering):
    X, y, weights = rows
    mode, _, passes = streamed(X, y, weights, [700, 701, 2500], 0.3, tempering)
    whole = Logistic(0.3).fit(X, y, tempering * weights)
    assert_allclose(mode.log_z, whole.log_evidence, rtol=1e-10)
    assert_allclose(mode.coef, whole.mean, atol=1e-7)
    assert_allclose(mode.information_gain(), whole.information_gain(), rtol=1e-7)
    assert passes < 10


def test_how_rows_are_cut_does_not_matter(rows):
    one, _, _ = streamed(*rows, [], 1.0)
    many, _, _ = streamed(*rows, list(range(100, 3000, 100)), 1.0)
    assert_allclose(many.coef, one.coef, rtol=1e-12, atol=1e-13)
    assert_allclose(many.log_z, one.log_z, rtol=1e-13)


def test_a_step_that_leads_down_is_halved():
    """Far out on the wrong side a full step overshoots: W is next to nothing there."""
    X, y = np.array([[1.0], [1.0], [-1.0]]), np.array([1.0, 1.0, 0.0])
    counts = Counts(y, 1.0 - y)
    start = np.array([-30.0])
    mode, _ = ps.find_mode(
        lambda theta: ps.partial_sums(theta, X, counts),
        100.0,
        ps.At(start, ps.partial_sums(start, X, counts)),
    )
    assert mode.converged
    assert_allclose(mode.log_z, Logistic(100.0, intercept=False).fit(X, y).log_evidence, atol=1e-6)


def test_a_scale_at_which_sums_lose_their_digits_is_refused():
    X, counts = np.full((2, 1), 1e6), Counts(np.ones(2), np.zeros(2))
    with pytest.raises(np.linalg.LinAlgError, match="too large"):
        ps.find_mode(
            lambda t: ps.partial_sums(t, X, counts),
            1.0,
            ps.At(np.zeros(1), ps.partial_sums(np.zeros(1), X, counts)),
        )


def test_a_column_of_ones_need_not_be_written(rows):
    X, y, weights = rows
    counts, theta = Counts(weights * y, weights * (1 - y)), np.linspace(-1, 1, 7)
    written = ps.partial_sums(theta, np.hstack([X, np.ones((len(X), 1))]), counts)
    implied = ps.partial_sums(theta, X, counts, ones=True)
    for one, other in zip(written, implied, strict=True):
        assert_allclose(one, other, rtol=1e-12, atol=1e-10)


def test_other_rows_are_told_to_a_millionth_of_a_nat(rows, monkeypatch):
    """Few rows of an effect on the score that is bounded, from near the mode; all digits take more passes."""
    X, y, weights = rows
    whole = Logistic(0.3).fit(X, y, weights)
    few, near = np.hstack([X[:20], np.ones((20, 1))]), whole.mean + 0.01
    mode, point, passes = streamed(*rows, [], 0.3, start=near, asked=few.T @ few)
    precision = point.sums.curvature + np.eye(7) / 0.3
    told = [
        Logistic(0.3).fit(X[:20], y[:20], prior=GaussianPrior(mean, P)).log_evidence
        for mean, P in ((whole.mean, whole.precision), (mode.coef, precision))
    ]
    assert abs(told[0] - told[1]) < 1e-6
    monkeypatch.setattr(ps, "TOLERANCE", 1e-12)
    assert streamed(*rows, [], 0.3, start=near, asked=few.T @ few)[2] > passes
