"""Kernel features: against the kernel itself, and what of the test set they publish."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist, pdist

from dataworth.data.dataset import Dataset
from dataworth.yardstick import maps
from dataworth.yardstick.maps import SCALES, Kernel, choose_landmarks, median_square, nystroem
from dataworth.yardstick.recipe import Basis

quick = settings(max_examples=25, deadline=None)


def rows(n=60, d=3, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def data(X):
    return Dataset(X, np.arange(len(X)) % 2)


def test_inner_products_at_landmarks_are_the_kernel():
    """φ(a)·φ(b) = exp(−γ|a − b|²) where both are landmarks, before centring."""
    A = rows(25)
    mix = nystroem(A, 0.3)
    raw = Kernel(landmarks=A, gamma=0.3, mix=mix, shift=np.zeros(mix.shape[1]))
    assert raw(A) @ raw(A).T == pytest.approx(np.exp(-0.3 * cdist(A, A, "sqeuclidean")), abs=1e-4)


def test_only_eigenvalues_of_rounding_are_dropped():
    """Landmarks that are equal are one: their kernel matrix has rank 10, and its features are 10."""
    A = np.vstack([rows(10), rows(10)])
    assert nystroem(A, 0.3).shape == (20, 10)
    assert nystroem(np.array([[0.0], [1e-2]]), 0.5).shape == (2, 2)  # eigenvalue 2.5e-5 of the largest
    assert nystroem(np.array([[0.0], [1e-4]]), 0.5).shape == (2, 1)  # 2.5e-9


@quick
@given(st.integers(8, 60), st.integers(1, 5), st.integers(0, 99), st.sampled_from(SCALES))
def test_every_map_has_mean_zero_and_mean_square_one(n, d, seed, scale):
    T = data(rows(n, d, seed))
    basis = Basis.learn(T)
    for recipe in (basis.kernel(0.7, n // 2, scale), basis.both(min(2, d), 0.7, n // 2, scale)):
        features = recipe.features(T)
        assert features.shape == (n, recipe.width)
        assert features.mean(axis=0) == pytest.approx(np.zeros(recipe.width), abs=1e-7)
        assert (features**2).sum(axis=1).mean() == pytest.approx(1.0, rel=1e-7)
        assert basis.features(recipe) == pytest.approx(features, abs=1e-9)


def test_bandwidths_are_in_root_median_squared_distances():
    X = rows(50)
    kernel = Kernel.learn(X, 0.7, 20, np.arange(50))
    assert kernel.gamma == pytest.approx(0.5 / (0.49 * np.median(pdist(X, "sqeuclidean"))))
    mostly_equal = np.repeat([[0.0], [1.0]], [9, 1], axis=0)
    assert median_square(mostly_equal) == pytest.approx(pdist(mostly_equal, "sqeuclidean").mean())
    assert median_square(np.zeros((5, 1))) == 1.0


def test_no_landmark_is_a_row_of_the_test_set():
    """Each is the mean of five rows next to each other."""
    X = rows(200, 4)
    found = choose_landmarks(X, np.arange(100))
    assert cdist(found, X).min() > 1e-3
    nearest = np.argsort(cdist(X[:100], X), axis=1)[:, :5]
    assert found == pytest.approx(X[nearest].mean(axis=1))
    assert maps.TOGETHER == 5
