"""The paper's own loop: scikit-learn's modes, Laplace's Gaussians, the theorem at η = 0.

    log p(0|D) p(0|T) / (p(0) p(0|D∪T)),   p(θ|S) = N(μ_S, (I/C + XᵀWX)⁻¹)

`LogisticRegression(fit_intercept=False, max_iter=5000)`, all else by default: what the paper's appendix says.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from dataworth import Logistic
from dataworth.arrays import Array

from ..known_mi import KnownPairs
from .base import Guess, mean_guess


@dataclass(frozen=True)
class PaperLoop:
    """η = 0 with the solver's default tolerance, d×d."""

    prior_variance: float
    most: int | None = 500
    name: str = "paper"

    def __call__(self, pairs: KnownPairs, seed: int) -> Guess:
        """Mean and standard error over pairs."""
        return mean_guess(self.values(pairs if self.most is None else pairs.take(self.most)))

    def values(self, pairs: KnownPairs) -> Array:
        """PMI of each pair."""
        found = np.empty(len(pairs))
        d = pairs.X.shape[1]
        prior = -0.5 * d * np.log(2.0 * np.pi * self.prior_variance)
        for i, (data, test) in enumerate(zip(pairs.data, pairs.test, strict=True)):
            both = np.concatenate([data, test])
            parts = [self.at_zero(pairs.X[rows], pairs.y[rows]) for rows in (data, test, both)]
            found[i] = parts[0] + parts[1] - prior - parts[2]
        return found

    def at_zero(self, X: Array, y: Array) -> float:
        """Log p(0 | S)."""
        from sklearn.linear_model import LogisticRegression

        if len(np.unique(y)) == 1:  # which scikit-learn refuses; the paper does not say what then
            mode = Logistic(self.prior_variance, intercept=False).fit(X, y).mean
        else:
            solver = LogisticRegression(C=self.prior_variance, fit_intercept=False, max_iter=5000)
            mode = solver.fit(X, y).coef_[0]
        p = expit(X @ mode)
        precision = (X.T * (p * (1.0 - p))) @ X
        precision.flat[:: len(mode) + 1] += 1.0 / self.prior_variance
        log_det = np.linalg.slogdet(precision)[1]
        return float(0.5 * (log_det - len(mode) * np.log(2.0 * np.pi) - mode @ precision @ mode))
