"""What labels alone tell: the zero of every score is what class proportions (or mean and spread) predict.

    value_j = log p(T_j | D) − log p(T_j | labels of the other test rows)

The yardstick's own prediction before any data is no such zero: it moves with the prior, which the test set
settles to within a factor of ten. Class proportions are the same on every yardstick; data whose labels were
permuted are worth nothing beyond them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular
from scipy.special import multigammaln

from ..arrays import Array, Rows
from ..data.labels import Vectors
from ..models import Linear, MultiLinear
from ..yardstick.yardstick import Yardstick

SMOOTHING = 0.5
"""Rows that are added to every class (Jeffreys)."""


@dataclass(frozen=True)
class LabelsAlone:
    """Labels of a test set, of which a block is predicted by all others.

    kind: "classes", each by its proportion; "numbers", Gaussian; "vectors", by their mean and covariance;
    "even", classes as likely as each other, for pairs in arbitrary order.
    """

    kind: str
    y: Array
    weights: Array
    classes: int = 0

    @classmethod
    def of(cls, yardstick: Yardstick, y: Array, weights: Array | None) -> LabelsAlone:
        """Of a test set's targets on a yardstick."""
        classes = len(getattr(yardstick.labels, "names", ()))
        kind = "numbers" if isinstance(yardstick.model, Linear) else "classes"
        kind = "vectors" if isinstance(yardstick.labels, Vectors) else kind
        if classes and not yardstick.model.intercept:
            kind = "even"
        return cls(kind, y, np.ones(len(y)) if weights is None else weights, classes)

    def log_p(self, y: Array, weights: Array, units: Rows) -> Array:
        """Log-probability of each of some rows by all test rows but those of its unit (numbered 0, 1, …)."""
        if self.kind == "numbers":
            middle = float(self.y.mean()) if len(self.y) else 0.0  # so that squares do not cancel
            own = y - middle
            sums = ((self.weights @ (self.y - middle) ** p, weights * own**p) for p in range(3))
            left, first, second = ((total - np.bincount(units, part))[units] for total, part in sums)
            mean = first / left
            square = second / left - mean**2
            spread = np.maximum(square, np.finfo(float).tiny) * (1.0 + 1.0 / left)
            return np.asarray(-0.5 * weights * (np.log(2.0 * np.pi * spread) + (own - mean) ** 2 / spread))
        if self.kind == "vectors":
            return self._of_vectors(y, weights, units)
        if self.kind == "even":
            return np.asarray(-np.log(self.classes) * weights)
        label = y.astype(np.intp)
        taken = np.zeros((int(units.max(initial=-1)) + 1, self.classes))
        np.add.at(taken, (units, label), weights)
        every = np.bincount(self.y.astype(np.intp), weights=self.weights, minlength=self.classes)
        others = every - taken
        share = (others + SMOOTHING) / (others.sum(axis=1, keepdims=True) + SMOOTHING * self.classes)
        return np.asarray(weights * np.log(share[units, label]))

    def _of_vectors(self, y: Array, weights: Array, units: Rows) -> Array:
        """A Student t with the mean and the covariance of all rows but those of a row's unit.

        That of regression on nothing but a free intercept: of w rows with the mean m and the scatter S around
        it, and s·I from the prior, degrees ν + w − q + 1 and spread (1 + 1/w)(s·I + S).
        """
        q, prior = y.shape[1], MultiLinear()
        nu = prior.freedom + q - 1
        told = np.zeros(len(y))
        total, first = float(self.weights.sum()), self.weights @ self.y
        second = (self.y * self.weights[:, None]).T @ self.y
        order = np.argsort(units, kind="stable")
        for rows in np.split(order, np.flatnonzero(np.diff(units[order])) + 1):
            own, w = y[rows], weights[rows]
            left = max(total - float(w.sum()), np.finfo(float).tiny)
            mean = (first - w @ own) / left
            scatter = second - (own * w[:, None]).T @ own - left * np.outer(mean, mean)
            root = np.linalg.cholesky(scatter + prior.scale * np.eye(q))
            degrees = nu + left
            square = (solve_triangular(root, (own - mean).T, lower=True) ** 2).sum(axis=0) / (
                1.0 + 1.0 / left
            )
            log_det = 2.0 * np.log(np.diagonal(root)).sum() + q * np.log1p(1.0 / left)
            ends = multigammaln((degrees + 1.0) / 2.0, q) - multigammaln(degrees / 2.0, q)
            told[rows] = w * (ends - 0.5 * (q * np.log(np.pi) + log_det + (degrees + 1.0) * np.log1p(square)))
        return told
