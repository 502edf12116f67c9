"""The d×d side: coefficients of features, in K−1 contrasts of classes; one matrix of (K−1)·d."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...arrays import Array
from ..geometry import Factor, cholesky_factor, root_factor
from .likelihood import Terms, conditional
from .step import Step

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

    def shape(self) -> tuple[int, int]:
        """That of coefficients."""
        return self.X.shape[1], len(self.Q)

    def predictor(self, coef: Array) -> Array:
        """F = XΘ."""
        return np.asarray(self.X @ coef)

    def penalty(self, coef: Array, other_coef: Array, other_f: Array) -> float:
        """⟨Θ, Θ′⟩ / C."""
        return float((coef * other_coef).sum()) / self.prior_variance

    def degrees(self) -> int:
        """One parameter a feature and contrast."""
        return self.X.shape[1] * self.Q.shape[1]

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
