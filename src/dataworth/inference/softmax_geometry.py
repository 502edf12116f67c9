"""Multiclass logistic regression: its likelihood, and the two sides on which Newton steps are made.

`Blocks` is n×n: coefficients of rows, one factor a class and one of their sum. `Stacked` is d×d: coefficients
of features, in K−1 contrasts of classes. `choose_geometry` takes the cheaper that keeps its digits.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.linalg.lapack import dpotri

from ..arrays import Array
from ..errors import DataworthError
from .geometry import GRAM_LIMIT, Factor, cholesky_factor, graded_features, largest_square, root_factor


class Terms(NamedTuple):
    """Log-likelihood, its gradient m − n·p, and n·p, each n×K but the first."""

    value: float
    gradient: Array
    mass: Array

    @property
    def totals(self) -> Array:
        """n of each row."""
        return np.asarray(self.mass.sum(axis=1))


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


class Step(NamedTuple):
    """A Newton step of coefficients and predictor, and the slope of Ψ along it."""

    coef: Array
    f: Array
    decrement: float


class BlockFactor(NamedTuple):
    """Factors of B_c = I + D_c^½ K D_c^½, D_c = n p_c, and of M = Σ_c √p_c B_c⁻¹ √p_c."""

    blocks: tuple[Factor, ...]
    total: Factor

    def log_det(self) -> float:
        """Log det(I + KW) = Σ_c log det B_c + log det M."""
        return sum(block.log_det() for block in (*self.blocks, self.total))


class Blocks:
    """Coefficients A (n×K) with F = K A, K = C·XXᵀ: K + 1 matrices of n×n. O(K n³)."""

    def __init__(self, gram: Array, classes: int) -> None:
        self.gram, self.classes = gram, classes
        self.shape = len(gram), classes  # of coefficients
        self.degrees = len(gram) * (classes - 1)  # at most one parameter a row and contrast

    def predictor(self, coef: Array) -> Array:
        """F = K A."""
        return np.asarray(self.gram @ coef)

    def penalty(self, coef: Array, other_coef: Array, other_f: Array) -> float:
        """⟨A, F′⟩."""
        return float((coef * other_f).sum())

    def factorise(self, at: Terms) -> BlockFactor:
        """Each class's factor, and that of their sum."""
        totals, n = at.totals, len(self.gram)
        total, factors = np.zeros((n, n)), []
        for mass in at.mass.T:
            root, share = np.sqrt(mass), np.sqrt(mass / totals)
            b = self.gram * root  # I + D^½ K D^½
            b *= root[:, None]
            b.flat[:: n + 1] += 1.0
            factors.append(cholesky_factor(b))
            # its upper triangle, which is what `cholesky_factor` reads
            inverse = np.asarray(dpotri(factors[-1].matrix, lower=1)[0].T)
            inverse *= share
            inverse *= share[:, None]
            total += inverse
        return BlockFactor(tuple(factors), cholesky_factor(total))

    def step(self, factor: Any, at: Terms, coef: Array, gradient: Array) -> Step:
        """R = A − ∇, ΔA_c = E_c (K R_c − s) − R_c, s = (Σ E_c)⁻¹ Σ E_c K R_c, E_c = D_c^½ B_c⁻¹ D_c^½."""
        residual = coef - gradient
        pull = self.gram @ residual
        root, total = np.sqrt(at.mass), np.sqrt(at.totals)
        seen = sum(self._respond(factor, root, c, pull[:, c]) for c in range(self.classes))
        common = factor.total.solve(seen / total) / total
        step = np.column_stack(
            [self._respond(factor, root, c, pull[:, c] - common) for c in range(self.classes)]
        )
        step -= residual
        step_f = self.gram @ step
        return Step(step, step_f, -float((residual * step_f).sum()))

    @staticmethod
    def _respond(factor: BlockFactor, root: Array, c: int, target: Array) -> Array:
        """E_c times a vector."""
        return np.asarray(root[:, c] * factor.blocks[c].solve(root[:, c] * target))


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


class Stacked:
    """Coefficients Θ (d×K) with F = XΘ: one matrix of (K−1)·d. Built in O(K² n d²), factored in O(K³ d³)."""

    def __init__(self, X: Array, prior_variance: float, classes: int, *, root: bool = False) -> None:
        self.X, self.prior_variance, self.root = X, prior_variance, root
        self.Q = contrasts(classes)
        self.shape = X.shape[1], classes  # of coefficients
        self.degrees = X.shape[1] * (classes - 1)  # one parameter a feature and contrast

    def predictor(self, coef: Array) -> Array:
        """F = XΘ."""
        return np.asarray(self.X @ coef)

    def penalty(self, coef: Array, other_coef: Array, other_f: Array) -> float:
        """⟨Θ, Θ′⟩ / C."""
        return float((coef * other_coef).sum()) / self.prior_variance

    def factorise(self, at: Terms) -> Factor:
        """The factor of I + C Σᵢ QᵀWᵢQ ⊗ xᵢxᵢᵀ; by QR, without forming it, where C‖x‖² is enormous."""
        d, k = self.X.shape[1], self.Q.shape[1]
        if self.root:
            weights, vectors = conditional(at.mass)
            rows = np.einsum("ijk,kq,id->ijqd", vectors, self.Q, self.X).reshape(-1, k * d)
            return root_factor(rows, self.prior_variance * weights.ravel())
        normal = np.zeros((k * d, k * d))
        space = np.empty((min(len(self.X), SCALED), k * d))
        for i in range(0, len(self.X), SCALED):
            X = self.X[i : i + SCALED]
            W = self.prior_variance * contrast_curvature(self.Q, at.mass[i : i + SCALED])
            for j in range(k):  # one triangle of blocks, a row of them at a time
                scaled = space[: len(X), j * d :]
                np.multiply(W[:, j, j:, None], X[:, None, :], out=scaled.reshape(len(X), k - j, d))
                normal[j * d : (j + 1) * d, j * d :] += X.T @ scaled
        normal.flat[:: len(normal) + 1] += 1.0
        return cholesky_factor(normal)

    def step(self, factor: Any, at: Terms, coef: Array, gradient: Array) -> Step:
        """ΔΘ = (I + C XᵀWX)⁻¹ (C Xᵀ∇ − Θ)."""
        ascent = self.prior_variance * (self.X.T @ gradient) - coef
        reduced = np.ascontiguousarray((ascent @ self.Q).T)
        step = factor.solve(reduced.ravel()).reshape(reduced.shape).T @ self.Q.T
        return Step(step, self.X @ step, float((ascent * step).sum()) / self.prior_variance)


MEMORY_LIMIT = 4e9
"""Bytes that the matrices of one fit may take."""


def bytes_needed(n: int, d: int, classes: int) -> dict[str, int]:
    """Memory of a fit: K + 4 matrices of n×n, or 2 of (K−1)d × (K−1)d and a slab of rows; by QR, all rows.

    >>> {kind: round(size / 1e9, 1) for kind, size in bytes_needed(20_000, 500, 10).items()}  # GB
    {'dual': 44.8, 'primal': 0.3, 'root': 19.9}
    """
    k = classes - 1
    narrow = k * min(n, d)
    return {
        "dual": 8 * (classes + 4) * n * n,
        "primal": 8 * (2 * (k * d) ** 2 + min(n, SCALED) * k * (d + k)),
        "root": 8 * 3 * (n * k + narrow) * narrow,
    }


def side(n: int, d: int, classes: int) -> str:
    """The side with fewer operations a Newton step (measured: about as many a second on both); the smaller
    one if the other exceeds the limit of memory.

    >>> [side(n, 65, 10) for n in (50, 1000)], side(1000, 5000, 10)
    (['dual', 'primal'], 'dual')
    """
    k, needed = classes - 1, bytes_needed(n, d, classes)
    if max(needed["dual"], needed["primal"]) > MEMORY_LIMIT:
        return "dual" if needed["dual"] < needed["primal"] else "primal"
    products = n * d * d * k * classes + (k * d) ** 3 / 3.0
    return "dual" if (classes + 1) * float(n) ** 3 < products else "primal"


def choose_geometry(X: Array, counts: Array, prior_variance: float) -> tuple[Stacked | Blocks, str]:
    """The cheapest geometry that keeps its digits, and what its coefficients are: primal (Θ), dual (A), or
    other; a sentence before anything is allocated if it would not fit into memory."""
    (n, d), classes = X.shape, counts.shape[1]
    heaviest = max(1.0, float(counts.sum(axis=1).max(initial=0.0)))
    root = n > 0 and prior_variance * heaviest * largest_square(X) > GRAM_LIMIT
    kind = "primal" if n == 0 else "root" if root else side(n, d, classes)
    needed = bytes_needed(n, d, classes)[kind]
    if n and needed > MEMORY_LIMIT:
        raise DataworthError(
            f"Softmax on {n} distinct rows with {d} coefficients for each of {classes} classes needs "
            f"{needed / 1e9:.1f} GB, more than {MEMORY_LIMIT / 1e9:.0f} GB: take fewer rows or features."
        )
    if root:
        # columns as given are columns kept apart; only more columns than rows need other coordinates
        own = X if n >= d else graded_features(X)
        return Stacked(own, prior_variance, classes, root=True), "primal" if n >= d else "other"
    if kind == "primal":
        return Stacked(X, prior_variance, classes), kind
    gram = X @ X.T
    gram *= prior_variance
    return Blocks(gram, classes), kind
