"""Scales of columns and kernel features: against what they are called, and what they publish."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist, pdist
from scipy.stats import norm, rankdata

from dataworth.data.dataset import Dataset
from dataworth.yardstick.maps import (
    SCALES,
    SCORES,
    Kernel,
    choose_landmarks,
    common_stretch,
    median_square,
    normal_scores,
    nystroem,
)
from dataworth.yardstick.recipe import Basis


def rows(n=60, d=3, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def test_only_eigenvalues_of_rounding_are_dropped():
    """φ(a)·φ(b) = exp(−γ|a − b|²) where both are landmarks, before centring. Landmarks that are equal are
    one: their kernel matrix has rank 10, and its features are 10."""
    A = rows(25)
    mix = nystroem(A, 0.3)
    raw = Kernel(landmarks=A, gamma=0.3, mix=mix, shift=np.zeros(mix.shape[1]))
    assert raw(A) @ raw(A).T == pytest.approx(np.exp(-0.3 * cdist(A, A, "sqeuclidean")), abs=1e-4)
    A = np.vstack([rows(10), rows(10)])
    assert nystroem(A, 0.3).shape == (20, 10)
    assert nystroem(np.array([[0.0], [1e-2]]), 0.5).shape == (2, 2)  # eigenvalue 2.5e-5 of the largest
    assert nystroem(np.array([[0.0], [1e-4]]), 0.5).shape == (2, 1)  # 2.5e-9


@settings(max_examples=25, deadline=None)
@given(st.integers(8, 60), st.integers(1, 5), st.integers(0, 99), st.sampled_from(SCALES))
def test_every_map_has_mean_zero_and_mean_square_one(n, d, seed, scale):
    T = Dataset(rows(n, d, seed), np.arange(n) % 2)
    basis = Basis.learn(T)
    for recipe in (basis.kernel(0.7, n // 2, scale), basis.both(min(2, d), 0.7, n // 2, scale)):
        features = recipe.features(T)
        assert features.shape == (n, recipe.width)
        assert features.mean(axis=0) == pytest.approx(np.zeros(recipe.width), abs=1e-7)
        assert (features**2).sum(axis=1).mean() == pytest.approx(1.0, rel=1e-7)
        assert basis.features(recipe) == pytest.approx(features, abs=1e-9)


def test_bandwidths_are_in_root_median_squared_distances():
    X, mostly_equal = rows(50), np.repeat([[0.0], [1.0]], [9, 1], axis=0)
    kernel = Kernel.learn(X, 0.7, 20, np.arange(50))
    assert kernel.gamma == pytest.approx(0.5 / (0.49 * np.median(pdist(X, "sqeuclidean"))))
    assert median_square(mostly_equal) == pytest.approx(pdist(mostly_equal, "sqeuclidean").mean())
    assert median_square(np.zeros((5, 1))) == 1.0


def test_no_landmark_is_a_row_of_the_test_set():
    """Each is the mean of five rows next to each other."""
    X = rows(200, 4)
    found = choose_landmarks(X, np.arange(100))
    assert cdist(found, X).min() > 1e-3
    nearest = np.argsort(cdist(X[:100], X), axis=1)[:, :5]
    assert found == pytest.approx(X[nearest].mean(axis=1))


def test_the_common_scale_is_one_factor_for_columns_of_one_kind():
    """Eight pixels share a factor; a column of its own, and seven of another name, keep standard units."""
    spread = np.r_[1.0 + np.arange(8.0), 50.0, 1.0 + np.arange(7.0)]
    names = [f"px{j}" for j in range(8)] + ["age"] + [f"q{j}" for j in range(7)]
    made = common_stretch(names, spread)
    assert made[:8] == pytest.approx(spread[:8] / np.sqrt((spread[:8] ** 2).mean()))
    assert made[8:].tolist() == [1.0] * 8
    for factor, kind in ((29.0, True), (31.0, False)):  # another unit is another kind
        stretch = common_stretch([f"px{j}" for j in range(9)], np.r_[factor, np.ones(8)])
        assert bool((stretch != 1.0).all()) == kind


def test_ranks_are_normal_scores():
    """Blom-like scores Φ⁻¹((rank − ½)/n) of scipy's ranks, centred: 40 knots keep them to 0.01 inside, and
    the outermost eightieths on either side are the last knot's."""
    rng = np.random.default_rng(1)
    X = rng.standard_t(3, size=(1000, 3)) * 10.0 ** rng.uniform(-3, 3, 3) + rng.normal(size=3)
    expected = norm.ppf((rankdata(X, axis=0) - 0.5) / len(X))
    data = Dataset(X, np.arange(len(X)) % 2)
    ours = Basis.learn(data).recipe(1, 1.0, "rank").scaled(data.X)
    ours = ours + normal_scores(X, np.quantile(X, (np.arange(40) + 0.5) / 40, axis=0).T).mean(axis=0)
    inside = np.abs(expected) < SCORES[-1]
    # linear within a gap of quantiles, whose tails bend most: a tenth of a standard deviation there
    assert np.abs(ours - expected)[inside].max() < 0.12
    assert np.abs(ours - expected)[np.abs(expected) < 1.2].max() < 0.06
    assert np.abs(ours).max() == pytest.approx(SCORES[-1]) == norm.ppf(1 - 1 / 80)
    assert ours[~inside] == pytest.approx(np.sign(expected[~inside]) * SCORES[-1])
