"""Values of rows whose labels are vectors, and which of them are mismatched: leave-one-out in closed form.

Of a set S with the posterior (A, Ψ, ν) of `inference.matrix_normal`, let rows K (one, or a row of the data
and one of the test set) have weights that sum to w, residuals R, leverages H = √w X C A⁻¹ Xᵀ √w among them,
and G = √w R Ψ⁻¹ Rᵀ √w. With d = log det(I − H) and e = log det(I − H − G), what K says given all others is

    L(K) = log Z(S) − log Z(S∖K) = Σ_j log Γ((ν−j)/2)/Γ((ν−w−j)/2) − ½ w (q log π + log|Ψ|)
                                   + ½ (ν − w)(e − d) + ½ q d,

so that a row's value is L_{D∪T}(i) − L_D(i), and M_ij of `rows` is L(i) + L(j) − L(i, j), exactly.

A response is mismatched with probability ε; then it is any response, whatever its prompt: N(mean, covariance)
of all. Expectation–maximisation as in `label_noise`, with rows that count 1 − p_mislabeled.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import cho_solve, solve_triangular
from scipy.special import expit, gammaln

from ...arrays import Array, Rows
from ...inference.matrix_normal import MatrixFit, fit_matrix_normal
from ...models import MultiLinear
from .rows import RIGHT, ROUNDS, WRONG, Table, Trust

LEAST = 1e-12
"""What is left of a determinant when rows say all that is known."""


@dataclass(frozen=True)
class LeaveOut:
    """A set of rows, each with what it says given all others.

    half: L⁻¹ x √(w C) of every row, A = L Lᵀ. error: Ψ^-½ r √w. weights: w.
    """

    half: Array
    error: Array
    weights: Array
    fit: MatrixFit

    @classmethod
    def of(cls, X: Array, y: Array, weights: Array, model: MultiLinear) -> LeaveOut:
        """Of all rows together."""
        degrees = float(model.freedom) + y.shape[1] - 1
        fit = fit_matrix_normal(X, y, weights, float(model.prior_variance), degrees, float(model.scale))
        inside, told = (X if fit.basis is None else X @ fit.basis), np.sqrt(weights)
        half = fit.factor.half_solve(inside.T) * (np.sqrt(fit.prior_variance) * told)
        return cls(half, solve_triangular(fit.root, (y - X @ fit.coef).T * told, lower=True), weights, fit)

    @property
    def own(self) -> tuple[Array, Array]:
        """1 − h and 1 − h − g of every row."""
        free = 1.0 - np.einsum("ij,ij->j", self.half, self.half)
        return free, free - np.einsum("ij,ij->j", self.error, self.error)

    @property
    def said(self) -> Array:
        """L(i) of every row."""
        return self._said(self.weights, *self.own)

    def said_together(self, rows: Rows, others: Rows) -> Array:
        """L(i, j) of some rows and others, each with each."""
        between = self.half[:, rows].T @ self.half[:, others]
        both = between + self.error[:, rows].T @ self.error[:, others]
        free, left = self.own
        weights = self.weights[rows][:, None] + self.weights[others]
        dets = (own[rows][:, None] * own[others] - off**2 for own, off in ((free, between), (left, both)))
        return self._said(weights, *dets)

    def _said(self, w: Array, free: Array, left: Array) -> Array:
        q, nu = len(self.fit.root), self.fit.degrees
        d, e = (np.log(np.maximum(one, LEAST)) for one in (free, left))
        log_det = 2.0 * float(np.log(np.diagonal(self.fit.root)).sum())
        ends = sum(gammaln((nu - j) / 2.0) - gammaln((nu - w - j) / 2.0) for j in range(q))
        told = ends - 0.5 * w * (q * np.log(np.pi) + log_det)
        return np.asarray(told + 0.5 * (nu - w) * (e - d) + 0.5 * q * d, dtype=float)


@dataclass(frozen=True)
class VectorFits:
    """D, and D∪T, of which the first `n` rows are D's."""

    alone: LeaveOut
    joint: LeaveOut
    n: int

    @classmethod
    def of(cls, table: Table, model: MultiLinear) -> VectorFits:
        """Both, each fitted once."""
        data, test = table.data, table.test
        X = table.X[np.concatenate([data.place, test.place])]
        y, weights = np.concatenate([data.y, test.y]), np.concatenate([data.weights, test.weights])
        n = len(data.y)
        alone, joint = (LeaveOut.of(X[:k], y[:k], weights[:k], model) for k in (n, len(y)))
        return cls(alone, joint, n)

    @property
    def value(self) -> Array:
        """L(i) in D∪T less that in D."""
        return self.joint.said[: self.n] - self.alone.said

    def pointwise(self, rows: Rows, tested: Rows) -> Array:
        """M_ij of some rows of the data and of the test set."""
        said, others = self.joint.said, self.n + tested
        return said[rows][:, None] + said[others] - self.joint.said_together(rows, others)


def trust_vectors(table: Table, model: MultiLinear) -> Trust:
    """log p(response | prompt, all other rows), and the probability that they do not belong together."""
    data, test = table.data, table.test
    n, q = len(data.y), data.y.shape[1]
    X = table.X[np.concatenate([data.place, test.place])]
    y = np.concatenate([data.y, test.y])
    full = np.concatenate([data.weights, table.tempering * test.weights])
    mean, away = y.mean(axis=0), y - y.mean(axis=0)
    spread = away.T @ away / len(y) + LEAST * np.eye(q)
    root = np.linalg.cholesky(spread)
    anything = -0.5 * np.einsum("ij,ij->i", data.y - mean, cho_solve((root, True), (data.y - mean).T).T)
    anything -= float(np.log(np.diagonal(root)).sum()) + 0.5 * q * float(np.log(2.0 * np.pi))
    wrong, rate, loo_log_likelihood = np.zeros(n), WRONG / (WRONG + RIGHT), np.zeros(n)
    found = anything
    for turn in range(ROUNDS):
        weights = full * np.concatenate([1.0 - wrong, np.ones(len(test.y))])
        found = densities(X, y, weights, model)[:n]
        loo_log_likelihood = found if turn == 0 else loo_log_likelihood
        wrong = expit(anything - found + np.log(rate) - np.log1p(-rate))
        rate = (wrong.sum() + WRONG) / (n + WRONG + RIGHT)
    above = np.maximum(found, anything)
    return Trust(loo_log_likelihood, wrong, np.exp(found - above), np.exp(anything - above), None)


def densities(X: Array, y: Array, weights: Array, model: MultiLinear) -> Array:
    """log p(y_i | x_i, all other rows) of every row, counted once, whatever its weight among them."""
    seen = LeaveOut.of(X, y, weights, model)
    q, nu = y.shape[1], seen.fit.degrees - weights
    free, left = (np.maximum(one, LEAST) for one in seen.own)
    # without the row: leverage per unit of weight, residual r / (1 − h), and |Ψ| left / free
    leverage = seen.fit.leverage(X) / free
    size = np.einsum(
        "ij,ij->j", *[solve_triangular(seen.fit.root, (y - X @ seen.fit.coef).T, lower=True)] * 2
    )
    log_det = 2.0 * float(np.log(np.diagonal(seen.fit.root)).sum()) + np.log(left / free)
    # rᵀ Ψ′⁻¹ r with Ψ′ = Ψ − w r rᵀ/(1 − h), by Sherman and Morrison
    square = size / free**2 * (free / left) / (1.0 + leverage)
    ends: Any = sum(gammaln((nu + 1.0 - j) / 2.0) - gammaln((nu - j) / 2.0) for j in range(q))
    grown = q * np.log1p(leverage) + log_det + (nu + 1.0) * np.log1p(square)
    return np.asarray(ends - 0.5 * (q * np.log(np.pi) + grown), dtype=float)
