"""Scales of columns: each, common and rank, against what they are called."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm, rankdata

from dataworth.data.dataset import Dataset
from dataworth.yardstick import maps as scales
from dataworth.yardstick.maps import KNOTS, SCALES, SCORES, Scale, normal_scores
from dataworth.yardstick.recipe import Basis

seeds = st.integers(0, 2**32 - 1)
quick = settings(max_examples=25, deadline=None)


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


def test_ties_stand_in_the_middle_of_their_ranks():
    """Half zeros, half ones: Φ⁻¹ of a quarter and of three quarters, by 20 knots each."""
    X = np.repeat([0.0, 1.0], 50)[:, None]
    low, high = SCORES[[0, 19]].mean(), SCORES[[20, 39]].mean()
    assert scaled(X, "rank")[[0, 50], 0] == pytest.approx([low, high])


def test_far_values_have_the_last_rank():
    """An outlier, and a column that is rescaled, count for no more than their rank."""
    X = heavy(60, 2, 2)
    recipe = Basis.learn(Dataset(X, np.arange(60) % 2)).recipe(2, 1.0, "rank")
    far = recipe.scaled(np.array([[1e9, -1e9], [X[:, 0].max() * 2, X[:, 1].min() * 2]]))
    assert far[0] == pytest.approx(far[1])


@quick
@given(seeds, st.lists(st.integers(-6, 6), min_size=3, max_size=3), st.sampled_from(["each", "rank"]))
def test_units_of_columns_do_not_matter_to_each_and_rank(seed, powers, scale):
    X = heavy(40, 3, seed)
    other = X * 10.0 ** np.array(powers) + [3.0, -2.0, 0.5]
    assert scaled(other, scale) == pytest.approx(scaled(X, scale), abs=1e-5)


@quick
@given(seeds, st.sampled_from(SCALES))
def test_the_order_of_columns_does_not_matter(seed, scale):
    X, order = heavy(40, 4, seed), np.random.default_rng(seed).permutation(4)
    assert scaled(X[:, order], scale) == pytest.approx(scaled(X, scale)[:, order], abs=1e-9)


@quick
@given(seeds, st.sampled_from([np.exp, np.cbrt, lambda x: x**3 + x]))
def test_a_monotone_map_moves_ranks_by_less_than_a_knot(seed, bend):
    """Between two knots scores are linear, so that a row stays between the same two."""
    X = np.random.default_rng(seed).normal(size=(80, 1))
    gaps = np.diff(SCORES).max()
    plain, bent = scaled(X, "rank"), scaled(bend(X), "rank")
    assert np.abs(plain - bent).max() <= 2 * gaps  # one of its own, one of the mean that is taken off
    assert (np.argsort(plain[:, 0], kind="stable") == np.argsort(bent[:, 0], kind="stable")).mean() > 0.9


@pytest.mark.parametrize("scale", SCALES)
def test_a_constant_column_is_zero_on_every_scale(scale):
    X = np.column_stack([heavy(30, 1, 0), np.full(30, 7.3)])
    recipe = Basis.learn(Dataset(X, np.arange(30) % 2)).recipe(1, 1.0, scale)
    wild = np.column_stack([X[:, 0], np.arange(30.0)])
    assert not recipe.scaled(wild)[:, 1].any()


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
