"""Learners on plain arrays, as any curator has them at hand, with plain settings that nobody tuned.

Each takes labelled rows and other rows, and gives these a row of probabilities (n × classes) or, where
`classes` is 0, one number (n × 1), or of vectors one a output (n × outputs).
"""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit

from ...arrays import Array
from ...checks.rows import neighbours
from ...inference.gaussian import fit_gaussian
from ...inference.matrix_normal import fit_matrix_normal
from ...inference.rough_mode import rough_mode

NEIGHBOURS = 10
SMALL, FREE = 0.1, 30.0
"""Prior variance of the linear model's coefficients, and the size of its column of ones, which leaves the
intercept free."""
OWN_SCALES, SHAPED, SMOOTHED, STEPS = 20, 200, 1000, 10
"""Up to so many columns a Gaussian process has a scale for each; they are found in so many steps on so many
rows, and it learns from so many at most."""
MAX_SPREAD = 10_000
"""Rows up to which labels are spread along neighbours: beyond, finding them would cost more than all else."""


class Labelled(NamedTuple):
    """Rows with targets, and weights (none: all 1)."""

    X: Array
    y: Array
    weights: Array | None = None


def gaussian_process(known: Labelled, to: Array) -> Array:
    """A Gaussian process of numeric labels: σ² exp(−½ Σ (xⱼ − x′ⱼ)²/lⱼ²), and noise.

    >>> x = np.linspace(0, 6, 40)[:, None]
    >>> found = gaussian_process(Labelled(x, np.sin(x[:, 0])), x + 0.05)
    >>> bool(np.abs(found[:, 0] - np.sin(x[:, 0] + 0.05)).max() < 0.05)
    True
    """
    from scipy.optimize import minimize
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

    def found(loss: Any, start: Array, bounds: Array) -> tuple[Array, float]:
        best = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": STEPS})
        return best.x, best.fun

    used = np.arange(len(known.y)) if known.weights is None else np.flatnonzero(known.weights)
    if not len(used):
        return np.zeros((len(to), 1))
    X, y = known.X, known.y
    scales = 3.0 * np.ones(X.shape[1]) if X.shape[1] <= OWN_SCALES else float(np.sqrt(X.shape[1]))
    kernel = ConstantKernel() * RBF(scales) + WhiteKernel(0.3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scales at their bounds are scales, too
        few, rows = (
            used[np.linspace(0, len(used) - 1, min(most, len(used))).round().astype(np.intp)]
            for most in (SHAPED, SMOOTHED)
        )
        shape = GaussianProcessRegressor(kernel, normalize_y=True, optimizer=found).fit(X[few], y[few])
        made = GaussianProcessRegressor(shape.kernel_, normalize_y=True, optimizer=None).fit(X[rows], y[rows])
        return np.asarray(made.predict(to), dtype=float)[:, None]


def linear(known: Labelled, to: Array, classes: int) -> Array:
    """Logistic regressions of a class or not, or ridge regression, whose prior holds coefficients small."""
    weights = np.ones(len(known.y)) if known.weights is None else known.weights
    rows, others = (np.column_stack([X, np.full(len(X), FREE)]) for X in (known.X, to))
    if known.y.ndim > 1:  # how the noise is known moves nothing of the mean
        return np.asarray(
            others @ fit_matrix_normal(rows, known.y, weights, SMALL, known.y.shape[1], 1.0).coef
        )
    if not classes:
        return (others @ fit_gaussian(rows, known.y, weights, SMALL, 1.0).coef)[:, None]
    found = np.empty((len(to), classes))
    for c in range(1 if classes == 2 else 0, classes):
        ones = weights * (known.y == c)
        found[:, c] = expit(others @ rough_mode(rows, ones, weights - ones, SMALL)[0])
    if classes == 2:
        found[:, 0] = 1.0 - found[:, 1]
    return np.asarray(found / found.sum(axis=1, keepdims=True))


def knn(known: Labelled, to: Array, classes: int) -> Array:
    """The votes of the ten nearest rows, by their weights, and one vote shared by all classes."""
    X, y, weights = known
    near = neighbours(to, X, min(NEIGHBOURS, len(X)))[1]
    votes = np.ones(near.shape) if weights is None else weights[near]
    if not classes:
        shares = votes / (votes.sum(axis=1, keepdims=True) + 1e-12)
        found = np.einsum("ij,ij...->i...", shares, y[near])
        return np.asarray(found.reshape(len(to), -1))
    shares = [(votes * (y[near] == k)).sum(axis=1) + 1.0 / classes for k in range(classes)]
    return np.column_stack(shares) / (votes.sum(axis=1) + 1.0)[:, None]


def label_spreading(known: Labelled, to: Array, classes: int) -> Array | None:
    """Labels spread to other rows along their neighbours; None for too many rows, or numeric labels."""
    from sklearn.semi_supervised import LabelSpreading

    X, y, _ = known
    if not classes or len(X) + len(to) > MAX_SPREAD or len(np.unique(y)) < 2:
        return None
    labels = np.concatenate([y, np.full(len(to), -1.0)]).astype(int)
    made = LabelSpreading(kernel="knn", n_neighbors=min(NEIGHBOURS, len(X)), alpha=0.2, max_iter=50)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # rows that no label reaches, and rounds that were not enough
        made.fit(np.vstack([X, to]), labels)
    spread = made.label_distributions_[len(X) :]
    reached = np.isfinite(spread).all(axis=1)
    found = np.full((len(to), classes), 1.0 / classes)
    found[reached] = 0.0
    found[np.ix_(reached, made.classes_.astype(np.intp))] = spread[reached]
    return found
