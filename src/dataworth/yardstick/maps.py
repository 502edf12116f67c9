"""Features of a kernel: k(x, a) = exp(−γ |x − a|²) at landmarks a, turned so that inner products are k.

With K = k(A, A) = V Λ Vᵀ over the landmarks, φ(x) = k(x, A) V Λ^-½ has φ(a)·φ(b) = k(a, b) for landmarks a, b
(Nyström). Features are then centred and given a mean square of 1 over the test set.

**What is published.** A landmark is the mean of five test rows that lie next to each other, not a row: a
yardstick's file shows no row of the test set (unless five are equal), and never a label.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import Array, Rows
from .reading import items, number, numbers

TOGETHER = 5
"""Test rows whose mean is a landmark."""
KEPT = 1e-6
"""Eigenvalues of K, by the largest, from which they are kept: smaller ones are rounding."""
MEASURED = 300
"""Rows between which distances are taken for the bandwidth."""


@dataclass(frozen=True, kw_only=True)
class Kernel:
    """x ↦ exp(−gamma |x − landmarks|²) @ mix − shift, for rows x on a recipe's scale."""

    landmarks: Array
    gamma: float
    mix: Array
    shift: Array

    @classmethod
    def learn(cls, X: Array, bandwidth: float, count: int, order: Rows) -> Kernel:
        """From test rows in random `order`: gamma = 1 / (2 b² · median squared distance), E|φ|² = 1."""
        landmarks = choose_landmarks(X, order[:count])
        gamma = 0.5 / (bandwidth**2 * median_square(X[order[:MEASURED]]))
        mix = nystroem(landmarks, gamma)
        raw = cls(landmarks=landmarks, gamma=gamma, mix=mix, shift=np.zeros(mix.shape[1]))
        features = raw(X)
        shift = features.mean(axis=0)
        size = float(np.sqrt(((features - shift) ** 2).sum(axis=1).mean()))
        return cls(landmarks=landmarks, gamma=gamma, mix=mix / size, shift=shift / size)

    def __call__(self, X: Array) -> Array:
        """Features of rows."""
        return np.asarray(np.exp(-self.gamma * squares(X, self.landmarks)) @ self.mix - self.shift)

    def scaled(self, factor: float) -> Kernel:
        """The same features, all by a factor."""
        return Kernel(
            landmarks=self.landmarks, gamma=self.gamma, mix=self.mix * factor, shift=self.shift * factor
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        arrays = {name: getattr(self, name).tolist() for name in ("landmarks", "mix", "shift")}
        return {"gamma": self.gamma, **arrays}

    @classmethod
    def from_dict(cls, d: dict[str, Any], width: int) -> Kernel:
        """The kernel that `to_dict` wrote; a reason if none can have."""
        rows, size = len(items(d, "landmarks")), len(items(d, "shift"))
        return cls(
            landmarks=numbers(d, "landmarks", (rows, width)),
            gamma=number(d, "gamma"),
            mix=numbers(d, "mix", (rows, size)),
            shift=numbers(d, "shift", (size,)),
        )


def squares(X: Array, A: Array) -> Array:
    """|x − a|² of every row x and every a.

    >>> squares(np.array([[0.0, 0.0], [3.0, 4.0]]), np.array([[0.0, 0.0]])).ravel()
    array([ 0., 25.])
    """
    own, other = (np.einsum("ij,ij->i", rows, rows) for rows in (X, A))
    return np.maximum(own[:, None] + other - 2.0 * X @ A.T, 0.0)


def median_square(X: Array) -> float:
    """The median squared distance between rows; their mean if most rows are equal."""
    found = squares(X, X)[np.triu_indices(len(X), 1)]
    return float(np.median(found)) or float(found.mean()) or 1.0


def nystroem(landmarks: Array, gamma: float) -> Array:
    """V Λ^-½ of the landmarks' kernel matrix, the largest eigenvalue first."""
    values, vectors = np.linalg.eigh(np.exp(-gamma * squares(landmarks, landmarks)))
    kept = np.flatnonzero(values > KEPT * values[-1])[::-1]
    return np.asarray(vectors[:, kept] / np.sqrt(values[kept]))


def choose_landmarks(X: Array, chosen: Rows) -> Array:
    """Means of each chosen row and its nearest ones, five in all: where the data lie, but no row of them."""
    near = np.argpartition(squares(X[chosen], X), TOGETHER - 1, axis=1)[:, :TOGETHER]
    return np.asarray(X[near].mean(axis=1))
