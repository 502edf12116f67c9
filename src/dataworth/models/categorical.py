"""Labels alone: y ~ Categorical(p), p ~ Dirichlet(a, …, a); features are ignored; exact.

With counts n_c of n labels, and α = Σa = K·a,

    log Z = Σ_c log Γ(a + n_c)/Γ(a) − log Γ(α + n)/Γ(α),   p | y ~ Dirichlet(a + n_c).

This is the evidence of the labels in the order in which they stand (no multinomial coefficient). Two classes
are the Beta–Bernoulli model. Costs O(n) and O(classes) of memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import digamma, gammaln

from ..arrays import Array, Rows
from ..inference.gaussian import log_rising
from .base import Fit, Fitter, check_class_number, check_classes, check_theta, class_count, positive_number


@dataclass(frozen=True)
class Categorical:
    """Labels 0 … K−1 drawn from one distribution under the prior Dirichlet(concentration, …).

    Args:
        concentration: a, the same for every class.
        classes: K; None for as many as the pool's labels tell of, and at least two.

    Raises:
        DataworthError: concentration is not positive, or classes is no whole number of 2 or more.

    Examples:
        >>> posterior = Categorical(concentration=1.0).fit(np.empty((2, 0)), np.array([1.0, 1.0]))
        >>> round(float(np.exp(posterior.log_evidence)), 6)  # P(11) = ∫ p² dp
        0.333333
        >>> posterior.predict_proba(np.empty((1, 0))).tolist()  # Laplace's rule of succession
        [[0.25, 0.75]]
    """

    concentration: float = 1.0
    classes: int | None = None

    takes: ClassVar[str] = "classes"
    exact: ClassVar[bool] = True

    def __post_init__(self) -> None:
        positive_number(self.concentration, "concentration")
        check_class_number(self.classes)

    def fit(self, X: Array, y: Array, weights: Array | None = None) -> CategoricalPosterior:
        """The exact posterior, with its log evidence."""
        posterior: CategoricalPosterior = self.bind(X, y)(np.arange(len(y)), weights=weights).state
        return posterior

    def bind(self, X: Array, y: Array) -> CategoricalFitter:
        """A fitter on this pool, whose labels say how many classes there are unless the model does."""
        return CategoricalFitter(self, *check_classes(X, y, self.classes))

    def simulate(self, rng: np.random.Generator, X: Array) -> Array:
        """Labels of rows X: p from the prior, then the labels; two classes unless the model says how many."""
        prior = CategoricalPosterior(np.zeros(self.classes or 2), float(self.concentration))
        p = np.exp(prior.log_probabilities(prior.sample(rng, 1)[0]))
        return rng.choice(len(p), len(X), p=p / p.sum()).astype(float)


class CategoricalFitter(Fitter):
    """Counting: nothing to warm-start."""

    exact = True

    def __init__(self, model: Categorical, X: Array, y: Array, classes: int) -> None:
        self.y, self.classes, self.concentration = y, classes, float(model.concentration)

    def fit_rows(self, rows: Rows, start: tuple[Fit, ...], weights: Array, targets: Array) -> Fit:
        """Exact evidence of the labels of the pool's `rows`."""
        class_count(targets, self.classes)
        counts = np.bincount(targets.astype(np.intp), weights, self.classes).astype(float)
        posterior = CategoricalPosterior(counts, self.concentration)
        return Fit(posterior.log_evidence, posterior)

    def predict(self, fit: Fit, rows: Rows) -> Array:
        """The commonest class, for every row."""
        return np.full(len(rows), float(fit.state.counts.argmax()))


class CategoricalPosterior:
    """Dirichlet(concentration + counts).

    Its θ are the K−1 log-ratios log p_c / p_{K−1}, c < K−1: any vector is a distribution and 0 is the uniform
    one. In these coordinates the density is Π p_c^{α_c} / B(α): the Jacobian takes each exponent up by one.
    """

    def __init__(self, counts: Array, concentration: float) -> None:
        self.counts, self.alpha = counts, concentration + counts
        rising = log_rising(concentration, counts).sum()
        self.log_evidence = float(rising - log_rising(concentration * len(counts), counts.sum()))

    def log_probabilities(self, theta: Array) -> Array:
        """Log p of each class at log-ratios θ."""
        ratios = np.append(theta, 0.0)
        ratios -= ratios.max()
        return np.asarray(ratios - np.log(np.exp(ratios).sum()), dtype=float)

    def log_density(self, theta: Array) -> float:
        """Log p(θ | data) at one vector of K−1 log-ratios."""
        width = len(self.counts) - 1
        theta = check_theta(theta, width, "the {} log-ratios of the classes to the last one")
        return float(self.alpha @ self.log_probabilities(theta)) - float(
            gammaln(self.alpha).sum() - gammaln(self.alpha.sum())
        )

    def sample(self, rng: np.random.Generator, m: int) -> Array:
        """Log-ratios of Gamma draws: log G(α) = log G(α + 1) + log(U)/α stays finite where G(α) is zero."""
        size = (m, len(self.counts))
        draws = np.log(rng.gamma(self.alpha + 1.0, size=size)) + np.log1p(-rng.random(size)) / self.alpha
        return np.asarray(draws[:, :-1] - draws[:, -1:], dtype=float)

    def predict_proba(self, X: Array) -> Array:
        """The same for every row: α_c / Σα."""
        return np.tile(self.alpha / self.alpha.sum(), (len(X), 1))

    def information_gain(self) -> float:
        """KL(posterior ‖ prior) = Σ_c n_c (ψ(α_c) − ψ(Σα)) − log Z, in nats."""
        alpha = self.alpha
        return float(self.counts @ (digamma(alpha) - digamma(alpha.sum()))) - self.log_evidence
