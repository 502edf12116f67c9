"""Models as users write them, whose truth is known: labels from one coin."""

from dataclasses import dataclass

import numpy as np
from scipy.special import betaln
from scipy.stats import beta


@dataclass(frozen=True)
class CoinPosterior:
    """Beta(a, b) of p itself, not of a log-ratio: a bounded parameter."""

    a: float
    b: float
    log_evidence: float

    def log_density(self, theta):
        return float(beta.logpdf(theta[0], self.a, self.b))

    def sample(self, rng, m):
        return rng.beta(self.a, self.b, (m, 1))

    def predict_proba(self, X):
        one = self.a / (self.a + self.b)
        return np.tile([1.0 - one, one], (len(X), 1))


@dataclass(frozen=True)
class Coin:
    """Labels from one coin of bias θ ~ Beta(a, b), whatever the features; exact."""

    a: float = 0.8
    b: float = 0.8
    exact = True

    def fit(self, X, y, weights=None):
        w = np.ones(len(y)) if weights is None else np.asarray(weights)
        return self.posterior(self.a + float(w @ y), self.b + float(w @ (1.0 - y)))

    def posterior(self, a, b):
        return CoinPosterior(a, b, float(betaln(a, b) - betaln(self.a, self.b)))

    def simulate(self, rng, X):
        return (rng.random(len(X)) < rng.beta(self.a, self.b)).astype(float)

    def pmi(self, D, T):
        """By Beta functions of counts alone."""

        def log_z(*sets):
            ones, rows = sum(s.y.sum() for s in sets), sum(len(s) for s in sets)
            return betaln(self.a + ones, self.b + rows - ones) - betaln(self.a, self.b)

        return log_z(D, T) - log_z(D) - log_z(T)


class Ignoring(Coin):
    """It is given weights, and counts every row once."""

    def fit(self, X, y, weights=None):
        return super().fit(X, y)
