"""Multiclass logistic regression: its likelihood, the geometry of Newton's steps, and predictions.

Rows with repeats are one row with a count mᵢc of each class, nᵢ in all. With F = XΘ, θ_c ~ N(0, C·I) and
pᵢ = softmax(fᵢ),

    Ψ(Θ) = Σᵢ (Σ_c mᵢc fᵢc − nᵢ log Σ_c exp fᵢc) − ½ Σ_c θ_cᵀθ_c/C,   Wᵢ = nᵢ (diag pᵢ − pᵢpᵢᵀ),
    log Z = max Ψ − ½ log det(I + C XᵀWX),

the maximum by `newton.find_mode`. What all classes have in common, Σ_c θ_c, no likelihood sees: `Stacked`
works in K−1 contrasts of classes, which are N(0, C·I) too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from ..arrays import Array, Rows
from ..errors import DataworthError
from .geometry import (
    DEAR,
    FRUGAL,
    GRAM_LIMIT,
    Factor,
    Primal,
    Step,
    cholesky_factor,
    graded_features,
    gram_factor,
    largest_square,
    root_factor,
)


class Terms(NamedTuple):
    """Log-likelihood, its gradient m − n·p, and n·p, of which W is made; each n×K but the first."""

    value: float
    gradient: Array
    curvature: Array

    @property
    def ranks(self) -> int:
        """K − 1, of each row's W."""
        return self.curvature.shape[1] - 1

    def square(self, f: Array) -> float:
        """⟨f, W f⟩."""
        return float((f * row_curvature(self.curvature, f)).sum())

    def log_det_moves(self, f: Array) -> Array:
        """A bound on each row's share in d log det along f: max_c |f_c − Σ p f| at leverages below 1."""
        mass = self.curvature
        mean = (mass * f).sum(axis=1, keepdims=True) / mass.sum(axis=1, keepdims=True)
        # a class that a row cannot have takes no part in its curvature, however far it moves
        return np.asarray(np.where(mass > 0, np.abs(f - mean), 0.0).max(axis=1))


class ClassCounts(NamedTuple):
    """How often each row is seen with each class, n×K."""

    counts: Array

    def terms(self, f: Array) -> Terms:
        """The likelihood at f."""
        return terms(f, self.counts)

    def along(self, f: Array, step_f: Array, gradient: Array) -> Callable[[float], tuple[float, float]]:
        """Slope of log p(y|f + s·Δf) in s less that at 0, and its bend."""
        n = self.counts.sum(axis=1, keepdims=True)
        pull = n * step_f
        here = float((pull * probabilities(f)).sum())

        def slope_and_bend(s: float) -> tuple[float, float]:
            p = probabilities(f + s * step_f)
            mean = (p * step_f).sum(axis=1, keepdims=True)
            return here - float((pull * p).sum()), -float((n * p * (step_f - mean) ** 2).sum())

        return slope_and_bend


def terms(f: Array, counts: Array) -> Terms:
    """Likelihood terms at f, exact in the tails: 1 − p is summed, never subtracted, where p is near 1."""
    n = counts.sum(axis=1, keepdims=True)
    rows, top = np.arange(len(f)), f.argmax(axis=1)
    below = f - f[rows, top][:, None]
    e = np.exp(below)
    e[rows, top] = 0.0
    others = e.sum(axis=1)
    value = float((counts * below).sum() - n[:, 0] @ np.log1p(others))
    p = e / (1.0 + others)[:, None]
    rest = 1.0 - p
    p[rows, top] = 1.0 / (1.0 + others)
    rest[rows, top] = others / (1.0 + others)
    return Terms(value, counts * rest - (n - counts) * p, n * p)


def probabilities(f: Array) -> Array:
    """Softmax of each row."""
    e = np.exp(f - f.max(axis=-1, keepdims=True))
    e /= e.sum(axis=-1, keepdims=True)
    return np.asarray(e)


def row_curvature(mass: Array, f: Array) -> Array:
    """W f of each row: n p (f − Σ p f), by differences within the row."""
    mean = (mass * f).sum(axis=1, keepdims=True) / mass.sum(axis=1, keepdims=True)
    return np.asarray(mass * (f - mean))


def curvature_root(mass: Array, noise: Array) -> Array:
    """S z of each row with S Sᵀ = W, z of K−1 numbers: the multinomial, class after class.

    W = Σ_j w_j v_j v_jᵀ with v_j = e_j − Σ_{k>j} e_k p_k/s_j, w_j = n p_j s_j/(p_j + s_j), s_j = Σ_{k>j} p_k.
    """
    weights, vectors = conditional(mass)
    return np.asarray(np.einsum("ij,ijk->ik", np.sqrt(weights) * noise, vectors))


def conditional(mass: Array) -> tuple[Array, Array]:
    """The weights w_j (n×K−1) and vectors v_j (n×K−1×K) of `curvature_root`; no term cancels."""
    classes = mass.shape[1]
    after = np.cumsum(mass[:, ::-1], axis=1)[:, ::-1]  # Σ_{k≥j}
    left, both = after[:, 1:], after[:, :-1]
    share = np.divide(mass[:, :-1], both, out=np.zeros_like(left), where=both > 0)
    vectors = np.zeros((len(mass), classes - 1, classes))
    for j in range(classes - 1):
        vectors[:, j, j] = 1.0
        later = vectors[:, j, j + 1 :]
        np.divide(-mass[:, j + 1 :], left[:, j, None], out=later, where=left[:, j, None] > 0)
    return share * left, vectors


SCALED = 512
"""Rows that are weighted at a time."""


def contrasts(classes: int) -> Array:
    """K×(K−1): orthonormal columns, each of sum zero.

    >>> contrasts(2).round(3).tolist()
    [[-0.707], [0.707]]
    """
    Q = np.zeros((classes, classes - 1))
    for j in range(1, classes):
        Q[:j, j - 1] = -1.0 / np.sqrt(j * (j + 1))
        Q[j, j - 1] = j / np.sqrt(j * (j + 1))
    return Q


def contrast_curvature(Q: Array, mass: Array) -> Array:
    """QᵀWᵢQ: the covariance of contrasts, taken about the row's likeliest class, so that where that one is
    nearly certain nothing cancels."""
    totals, top = mass.sum(axis=1), mass.argmax(axis=1)
    k = Q.shape[1]
    W = np.empty((len(mass), k, k))
    for c in range(len(Q)):
        rows = np.flatnonzero(top == c)
        away = Q - Q[c]
        squares = (away[:, :, None] * away[:, None, :]).reshape(len(away), -1)
        mean = mass[rows] @ away
        W[rows] = (mass[rows] @ squares).reshape(-1, k, k)
        W[rows] -= mean[:, :, None] * (mean / totals[rows, None])[:, None, :]
    return W


class Shared(NamedTuple):
    """A factor of I + C XᵀwX that stands for every contrast's."""

    factor: Factor

    def solve(self, target: Array) -> Array:
        """As `Factor.solve`, contrast after contrast."""
        return self.factor.solve(target.reshape(-1, len(self.factor.matrix)).T).T.ravel()


class Stacked:
    """Coefficients Θ (d×K) with F = XΘ: one matrix of (K−1)·d. Built in O(K² n d²), factored in O(K³ d³)."""

    def __init__(self, X: Array, prior_variance: float, classes: int, *, root: bool = False) -> None:
        self.X, self.prior_variance, self.root = X, prior_variance, root
        self.reuse = FRUGAL if root else DEAR  # far from a factor, steps lose their digits at enormous priors
        self.Q = contrasts(classes)
        self.shape = X.shape[1], classes  # of coefficients
        self.degrees = X.shape[1] * (classes - 1)  # one parameter a feature and contrast

    def predictor(self, coef: Array) -> Array:
        """F = XΘ."""
        return np.asarray(self.X @ coef)

    def penalty(self, coef: Array, other_coef: Array, other_f: Array) -> float:
        """⟨Θ, Θ′⟩ / C."""
        return float((coef * other_coef).sum()) / self.prior_variance

    def factorise(self, mass: Array) -> Factor:
        """The factor of I + C Σᵢ QᵀWᵢQ ⊗ xᵢxᵢᵀ; by QR, without forming it, where C‖x‖² is enormous."""
        d, k = self.X.shape[1], self.Q.shape[1]
        if self.root:
            weights, vectors = conditional(mass)
            rows = np.einsum("ijk,kq,id->ijqd", vectors, self.Q, self.X).reshape(-1, k * d)
            return root_factor(rows, self.prior_variance * weights.ravel())
        normal = np.zeros((k * d, k * d))
        space = np.empty((min(len(self.X), SCALED), k * d))
        for i in range(0, len(self.X), SCALED):
            X = self.X[i : i + SCALED]
            W = self.prior_variance * contrast_curvature(self.Q, mass[i : i + SCALED])
            for j in range(k):  # one triangle of blocks, a row of them at a time
                scaled = space[: len(X), j * d :]
                np.multiply(W[:, j, j:, None], X[:, None, :], out=scaled.reshape(len(X), k - j, d))
                normal[j * d : (j + 1) * d, j * d :] += X.T @ scaled
        normal.flat[:: len(normal) + 1] += 1.0
        return cholesky_factor(normal)

    def rough(self, mass: Array) -> Shared:
        """A factor whose curvature is every row's mean over its contrasts: it costs one contrast's."""
        total = mass.sum(axis=1)
        squares = np.divide((mass**2).sum(axis=1), total, out=np.zeros_like(total), where=total > 0)
        weights = self.prior_variance * np.maximum(total - squares, 0.0) / self.Q.shape[1]
        return Shared(gram_factor(self.X, weights))

    def step(self, factor: Factor | Shared, mass: Array, coef: Array, gradient: Array) -> Step:
        """ΔΘ = (I + C XᵀWX)⁻¹ (C Xᵀ∇ − Θ)."""
        ascent = self.prior_variance * (self.X.T @ gradient) - coef
        reduced = np.ascontiguousarray((ascent @ self.Q).T)
        step = factor.solve(reduced.ravel()).reshape(reduced.shape).T @ self.Q.T
        return Step(step, self.X @ step, float((ascent * step).sum()) / self.prior_variance, ascent)

    slope = Primal.slope


def contrast_roots(geometry: Stacked, factor: Factor, X: Array, beyond: Array | float = 0.0) -> Array:
    """Cholesky factors of the posterior covariance of every row's contrasts, from the factor at the mode.

    beyond: the square of each row that lies outside of the features, where only the prior speaks.
    """
    C, k, d = geometry.prior_variance, geometry.Q.shape[1], geometry.shape[0]
    found = np.zeros((len(X), k, k))
    if d:
        inverse = factor.inverse()
        for a in range(k):  # the lower triangle of blocks
            part = inverse[a * d : (a + 1) * d, : (a + 1) * d].copy()
            part[:, a * d :] = np.tril(part[:, a * d :]) + np.tril(part[:, a * d :], -1).T
            moved = (X @ part).reshape(len(X), a + 1, d)
            found[:, a, : a + 1] = C * np.matmul(moved, X[:, :, None])[:, :, 0]
            found[:, :a, a] = found[:, a, :a]
    found[:, range(k), range(k)] += C * np.reshape(beyond, (-1, 1))
    jitter = np.trace(found, axis1=1, axis2=2).max(initial=0.0)
    return np.linalg.cholesky(found + 1e-12 * jitter * np.eye(k))


def log_chances(mean: Array, root: Array, points: Array, own: Rows, weights: Array | None = None) -> Array:
    """log E p_own^w of every row, of predictors (rows × K) whose contrasts have these Cholesky factors.

    The mean over standard normal points (points × K−1) of p_own = 1 / Σ_c exp(f_c − f_own).
    """
    found = np.empty(len(mean))
    for part, ratios in _ratios(mean, root, points, own):
        p = 1.0 / ratios.sum(axis=1)
        found[part] = (p if weights is None else p ** weights[part, None]).mean(axis=1)
    return np.log(found)


def chances(mean: Array, root: Array, points: Array) -> Array:
    """E p of every class, of every row."""
    found = np.empty(mean.shape)
    for part, ratios in _ratios(mean, root, points, mean.argmax(axis=1)):
        found[part] = (ratios / ratios.sum(axis=1, keepdims=True)).mean(axis=2)
    return found


def _ratios(mean: Array, root: Array, points: Array, own: Rows) -> Iterator[tuple[slice, Array]]:
    """p_c/p_own at every point (rows × K × points), a slab of rows at a time."""
    (n, classes), m = mean.shape, len(points)
    Q, padded = contrasts(classes), np.column_stack([points, np.ones(m)]).T
    slab = max(1, SLAB // (classes * m))
    for i in range(0, n, slab):
        part = slice(i, i + slab)
        against, rows = own[part], np.arange(len(mean[part]))
        away = np.empty((len(rows), classes, classes))  # how f_c − f_own moves with points, and its mean
        away[:, :, :-1] = np.matmul(Q - Q[against][:, None, :], root[part])
        away[:, :, -1] = mean[part] - mean[part][rows, against][:, None]
        f = away.reshape(-1, classes) @ padded
        yield part, np.exp(np.minimum(f, LARGEST, out=f), out=f).reshape(len(rows), classes, m)


SLAB = 2**17
"""Numbers that are taken together: 1 MB."""
LARGEST = 600.0
"""Nats by which one class may be likelier than another: more of them are no number any more."""


POLISHED = 1e-9
"""Nats that ½ log det may still move at the last step of `find_mode`; else one further factor is made."""
MEMORY_LIMIT = 4e9
"""Bytes that the matrices of one fit may take."""


def bytes_needed(n: int, d: int, classes: int, root: bool) -> int:
    """Memory of a fit: 2 matrices of (K−1)d × (K−1)d and a slab of rows; by QR, all rows."""
    k, wide = classes - 1, (classes - 1) * min(n, d)
    return 8 * (3 * (n * k + wide) * wide if root else 2 * wide**2 + min(n, SCALED) * k * (d + k))


def choose_geometry(X: Array, counts: Array, prior_variance: float) -> tuple[Stacked, Array | None]:
    """The geometry that keeps its digits, and for more features than rows, the basis that its coordinates are
    taken in; a sentence before anything is allocated if it would not fit into memory."""
    (n, d), classes = X.shape, counts.shape[1]
    heaviest = max(1.0, float(counts.sum(axis=1).max(initial=0.0)))
    root = n > 0 and prior_variance * heaviest * largest_square(X) > GRAM_LIMIT
    needed = bytes_needed(n, d, classes, root)
    if needed > MEMORY_LIMIT:
        raise DataworthError(
            f"Softmax on {n} distinct rows with {d} coefficients for each of {classes} classes needs "
            f"{needed / 1e9:.1f} GB, more than {MEMORY_LIMIT / 1e9:.0f} GB: take fewer rows or features."
        )
    own, basis = graded_features(X) if 0 < n < d else (X, None)
    return Stacked(own, prior_variance, classes, root=root), basis
