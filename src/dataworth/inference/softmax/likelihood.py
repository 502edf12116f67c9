"""The likelihood of several classes: its value, its gradient, and its curvature W, row by row."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...arrays import Array


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
    """Likelihood terms at f, exact in the tails: 1 − p is summed, never subtracted, where p is near 1.

    >>> t = terms(np.array([[0.0, 800.0]]), np.array([[1.0, 2.0]]))
    >>> t.value, t.gradient.tolist()
    (-800.0, [[1.0, -1.0]])
    """
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

    >>> W = [curvature_root(np.array([[1.0, 2.0, 3.0]]), z[None])[0] for z in np.eye(2)]
    >>> (np.transpose(W) @ np.array(W)).round(4).tolist()  # 6 (diag p − ppᵀ)
    [[0.8333, -0.3333, -0.5], [-0.3333, 1.3333, -1.0], [-0.5, -1.0, 1.5]]
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
