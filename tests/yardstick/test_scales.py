"""Scales of columns: each, common and rank, against what they are called."""

import numpy as np
import pytest
from scipy.stats import norm, rankdata

from dataworth.data.dataset import Dataset
from dataworth.yardstick import maps as scales
from dataworth.yardstick.maps import KNOTS, SCORES, Scale, normal_scores
from dataworth.yardstick.recipe import Basis


def scaled(X, scale):
    """Rows on a scale that was learned from themselves."""
    data = Dataset(X, np.arange(len(X)) % 2)
    return Basis.learn(data).recipe(1, 1.0, scale).scaled(data.X)


def heavy(n, d, seed):
    rng = np.random.default_rng(seed)
    return rng.standard_t(3, size=(n, d)) * 10.0 ** rng.uniform(-3, 3, d) + rng.normal(size=d)


def test_the_common_scale_is_one_factor_for_all_columns():
    X = heavy(50, 4, 0)
    ours = scaled(X, "common")
    factors = (X - X.mean(axis=0)) / ours
    assert factors == pytest.approx(np.full(factors.shape, np.sqrt(X.var(axis=0).mean())))


def test_ranks_are_normal_scores():
    """Blom-like scores Φ⁻¹((rank − ½)/n) of scipy's ranks, centred: 40 knots keep them to 0.01 inside, and
    the outermost eightieths on either side are the last knot's."""
    X = heavy(1000, 3, 1)
    expected = norm.ppf((rankdata(X, axis=0) - 0.5) / len(X))
    ours = scaled(X, "rank")
    ours = ours + normal_scores(X, np.quantile(X, (np.arange(40) + 0.5) / 40, axis=0).T).mean(axis=0)
    inside = np.abs(expected) < SCORES[-1]
    # linear within a gap of quantiles, whose tails bend most: a tenth of a standard deviation there
    assert np.abs(ours - expected)[inside].max() < 0.12
    assert np.abs(ours - expected)[np.abs(expected) < 1.2].max() < 0.06
    assert np.abs(ours).max() == pytest.approx(SCORES[-1])
    assert ours[~inside] == pytest.approx(np.sign(expected[~inside]) * SCORES[-1])
    assert (KNOTS, SCORES[-1]) == (40, pytest.approx(norm.ppf(1 - 1 / 80)))


def test_spreads_beyond_squares_have_a_common_scale():
    """1e170 squared is infinite, 1e-170 squared is nothing."""
    for size in (1e170, 1e-140):
        made = Scale.learn("common", np.zeros((1, 2)), np.array([3.0, 4.0]) * size)
        assert made.stretch == pytest.approx(np.array([3.0, 4.0]) / np.sqrt(12.5))


def test_compiled_scores_have_the_same_bits(monkeypatch):
    """Columns with and without equal knots; values on knots, between them and beyond."""
    pytest.importorskip("numba")
    rng = np.random.default_rng(3)
    X = rng.normal(size=(400, 5))
    X[:, 1] = X[:, 1].round()
    X[:40, 0] = np.quantile(X[:, 0], scales.LEVELS)
    knots = np.ascontiguousarray(np.quantile(X[:, :], scales.LEVELS, axis=0).T)
    cells = np.vstack([X, 9.0 * X[:50], knots.T])
    plain = scales.normal_scores(cells, knots)
    monkeypatch.setattr(scales, "MANY", 10)
    called = []
    real = scales.compiled("interpolate")
    monkeypatch.setattr(scales, "compiled", lambda *name: lambda *of: called.append(name) or real(*of))
    assert np.array_equal(scales.normal_scores(cells, knots), plain)
    assert called
