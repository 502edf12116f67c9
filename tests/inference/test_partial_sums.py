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


def streamed(X, y, weights, cuts, C, tempering=1.0):
    design = np.hstack([X, np.ones((len(X), 1))])
    passes = []

    def sums_at(theta, curved):
        passes.append(curved)
        pieces = np.split(np.arange(len(X)), cuts)
        return ps.combined(
            ps.partial_sums(theta, design[p], Counts(weights[p] * y[p], weights[p] * (1 - y[p])), curved)
            for p in pieces
        )

    zero = np.zeros(7)
    mode, _ = ps.find_mode(sums_at, C, ps.At(zero, sums_at(zero, True), zero), tempering)
    return mode, len(passes)


@pytest.mark.parametrize("tempering", [0.5, 1.0, 4.0])
def test_the_fit_is_that_of_all_rows_at_once(rows, tempering):
    X, y, weights = rows
    mode, passes = streamed(X, y, weights, [700, 701, 2500], 0.3, tempering)
    whole = Logistic(0.3).fit(X, y, tempering * weights)
    assert_allclose(mode.log_z, whole.log_evidence, rtol=1e-10)
    assert_allclose(mode.coef, whole.mean, atol=1e-7)
    assert_allclose(mode.information_gain(), whole.information_gain(), rtol=1e-7)
    assert passes < 15


def test_how_rows_are_cut_does_not_matter(rows):
    one, _ = streamed(*rows, [], 1.0)
    many, _ = streamed(*rows, list(range(100, 3000, 100)), 1.0)
    assert_allclose(many.coef, one.coef, rtol=1e-12, atol=1e-13)
    assert_allclose(many.log_z, one.log_z, rtol=1e-13)


def test_a_step_that_leads_down_is_halved():
    """Far out on the wrong side a full step overshoots: W is next to nothing there."""
    X, y = np.array([[1.0], [1.0], [-1.0]]), np.array([1.0, 1.0, 0.0])
    counts = Counts(y, 1.0 - y)
    start = np.array([-30.0])
    mode, _ = ps.find_mode(
        lambda theta, curved: ps.partial_sums(theta, X, counts, curved),
        100.0,
        ps.At(start, ps.partial_sums(start, X, counts), start),
    )
    assert mode.converged
    assert_allclose(mode.log_z, Logistic(100.0, intercept=False).fit(X, y).log_evidence, atol=1e-6)


def test_a_scale_at_which_sums_lose_their_digits_is_refused():
    X, counts = np.full((2, 1), 1e6), Counts(np.ones(2), np.zeros(2))
    with pytest.raises(np.linalg.LinAlgError, match="too large"):
        ps.find_mode(
            lambda t, curved: ps.partial_sums(t, X, counts, curved),
            1.0,
            ps.At(np.zeros(1), ps.partial_sums(np.zeros(1), X, counts), np.zeros(1)),
        )


def test_a_column_of_ones_need_not_be_written(rows):
    X, y, weights = rows
    counts, theta = Counts(weights * y, weights * (1 - y)), np.linspace(-1, 1, 7)
    written = ps.partial_sums(theta, np.hstack([X, np.ones((len(X), 1))]), counts)
    implied = ps.partial_sums(theta, X, counts, ones=True)
    for one, other in zip(written, implied, strict=True):
        assert_allclose(one, other, rtol=1e-12, atol=1e-10)


def near_the_mode(rows, asked=None):
    """A fit that begins at the mode of a tenth of the rows: the mode, and which passes had curvature."""
    X, y, weights = rows
    design, counts = np.hstack([X, np.ones((len(X), 1))]), Counts(weights * y, weights * (1 - y))
    some = slice(0, len(X), 10)
    few = Counts(10 * counts.ones[some], 10 * counts.zeros[some])
    zero, passes = np.zeros(7), []

    def of_some(theta, curved):
        return ps.partial_sums(theta, design[some], few, curved)

    def of_all(theta, curved):
        passes.append(curved)
        return ps.partial_sums(theta, design, counts, curved)

    start, point = ps.find_mode(of_some, 0.3, ps.At(zero, of_some(zero, True), zero))
    first = of_all(start.coef, False)._replace(curvature=point.sums.curvature)
    mode, point = ps.find_mode(of_all, 0.3, ps.At(start.coef, first, None), asked=asked)
    return mode, point, passes


def test_most_passes_do_without_curvature_and_the_last_has_its_own(rows):
    X, y, weights = rows
    mode, point, passes = near_the_mode(rows)
    assert passes.count(True) <= 2 < passes.count(False)
    assert passes[-1]
    assert (point.theta == point.bent).all()
    assert_allclose(mode.coef, Logistic(0.3).fit(X, y, weights).mean, atol=1e-8)


def test_other_rows_are_told_to_a_millionth_of_a_nat(rows, monkeypatch):
    """Few rows of an effect on the score that is bounded take fewer passes than all digits do."""
    X, y, weights = rows
    whole = Logistic(0.3).fit(X, y, weights)
    few = np.hstack([X[:20], np.ones((20, 1))])
    mode, point, passes = near_the_mode(rows, asked=few.T @ few)
    assert len(passes) < len(near_the_mode(rows)[2])
    precision = point.sums.curvature + np.eye(7) / 0.3
    told = [
        Logistic(0.3).fit(X[:20], y[:20], prior=GaussianPrior(mean, P)).log_evidence
        for mean, P in ((whole.mean, whole.precision), (mode.coef, precision))
    ]
    assert abs(told[0] - told[1]) < 1e-6
    monkeypatch.setattr(ps, "TOLERANCE", 1e-12)
    assert len(near_the_mode(rows, asked=few.T @ few)[2]) > len(passes)


def test_a_curvature_that_serves_badly_is_made_anew(rows):
    """One three times too large makes steps a third as long as they should be: it is not used twice."""
    X, y, weights = rows
    counts, zero, passes = Counts(weights * y, weights * (1 - y)), np.zeros(7), []

    def of_all(theta, curved):
        passes.append(curved)
        return ps.partial_sums(theta, X, counts, curved, ones=True)

    first = of_all(zero, True)
    mode, _ = ps.find_mode(of_all, 0.3, ps.At(zero, first._replace(curvature=3.0 * first.curvature), None))
    assert passes[:3] == [True, False, True]
    assert_allclose(mode.coef, Logistic(0.3).fit(X, y, weights).mean, atol=1e-6)
