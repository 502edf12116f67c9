"""K independent logistic regressions, "class c or not": the cheaper alternative to `Softmax`.

    log Z = Σ_c log Z_logistic(1[y = c])

This is the evidence of a composite model, of K binary labels a row: its nats compare only with each other,
not with those of `Softmax`. Costs K times what `Logistic` does, and as much memory as one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from scipy.special import expit

from ..arrays import Array, Rows
from ..parallel.threads import one_thread
from .base import Fit, Fitter, check_class_number, check_classes
from .gaussian import GaussianPrior
from .logistic import Logistic, LogisticFitter, LogisticPosterior


@dataclass(frozen=True)
class OneVsRest:
    """A `Logistic` a class; evidences are added, predicted probabilities normalised.

    Args:
        prior_variance: as in `Logistic`, the same for every class.
        inference: as in `Logistic`.
        intercept: as in `Logistic`.
        classes: how many; None: the pool's largest target says.

    Raises:
        DataworthError: what `Logistic` refuses, or classes is no whole number of 2 or more.

    Examples:
        >>> X, y = np.array([[-1.0], [0.0], [1.0]]), np.array([0.0, 1.0, 2.0])
        >>> parts = [Logistic().fit(X, (y == c).astype(float)).log_evidence for c in range(3)]
        >>> OneVsRest().fit(X, y).log_evidence == sum(parts)
        True
    """

    prior_variance: float = 1.0
    inference: str = "laplace"
    intercept: bool = True
    classes: int | None = None

    takes: ClassVar[str] = "classes"
    composite: ClassVar[bool] = True
    """Its evidence is of K labels a row, and does not add up to 1 over one label."""

    def __post_init__(self) -> None:
        self.binary()
        check_class_number(self.classes)

    def binary(self) -> Logistic:
        """The model of each class."""
        return Logistic(self.prior_variance, self.inference, self.intercept)

    @one_thread()
    def fit(self, X: Array, y: Array, weights: Array | None = None) -> OneVsRestPosterior:
        """A Gaussian posterior a class, with the sum of their log evidences."""
        posterior: OneVsRestPosterior = self.bind(X, y)(np.arange(len(y)), weights=weights).state
        return posterior

    def bind(self, X: Array, y: Array) -> OneVsRestFitter:
        """A fitter on this pool."""
        return OneVsRestFitter(self, *check_classes(X, y, self.classes))


class OneVsRestFitter(Fitter):
    """One logistic pool, fitted once a class with that class's labels."""

    def __init__(self, model: OneVsRest, X: Array, y: Array, classes: int) -> None:
        self.y, self.classes, self.model = y, classes, model.binary()
        self.pool = LogisticFitter(self.model, X, np.zeros(len(y)))
        self.prior_variance = self.pool.prior_variance

    def fit_rows(self, rows: Rows, start: tuple[Fit, ...], weights: Array, targets: Array) -> Fit:
        """The sum of log evidences, each class's fit started at earlier ones of that class."""
        fits = tuple(
            self.pool.fit_rows(
                rows, tuple(part.state.fits[c] for part in start), weights, (targets == c).astype(float)
            )
            for c in range(self.classes)
        )
        posterior = OneVsRestPosterior(self.model, self.pool, fits)
        return Fit(posterior.log_evidence, posterior)

    def log_predictives(self, fit: Fit, sets: Sequence[tuple[Rows, Array | None]]) -> list[float]:
        """Log evidence of each set of rows with the fit's Gaussians as its prior, the sum over classes."""
        found = np.zeros(len(sets))
        for c, part in enumerate(fit.state.fits):
            own = [(rows, weights, (self.y[rows] == c).astype(float)) for rows, weights in sets]
            found += self.pool.log_evidences_under(self.pool.as_prior(part), own)
        return found.tolist()

    def gaussians(self, fit: Fit) -> list[GaussianPrior]:
        """N(μ, Σ) of every class."""
        return [one for part in fit.state.fits for one in self.pool.gaussians(part)]

    def features(self, rows: Rows) -> Array:
        """Features of rows of the pool, with their column of ones."""
        return self.pool.features(rows)

    def row_scores(self, at: Sequence[tuple[Array, Array]], rows: Rows, weights: Array) -> Array:
        """The sum over classes of whether a row is of that class."""
        own = [
            self.pool.label_integral(mean, variance, weights, (self.y[rows] == c).astype(float))
            for c, (mean, variance) in enumerate(at)
        ]
        return np.asarray(np.sum(own, axis=0))

    def predicted(self, means: Sequence[Array]) -> Array:
        """Each class's own probability, divided by their sum."""
        own = expit(np.column_stack(means))
        return np.asarray(own / own.sum(axis=1, keepdims=True))

    def predict(self, fit: Fit, rows: Rows) -> Array:
        """The class with the largest linear predictor."""
        ids = self.pool.ids[rows]
        scores = [self.pool.predictor(part, ids) for part in fit.state.fits]
        return np.argmax(scores, axis=0).astype(float)

    def probabilities(self, fit: Fit, rows: Rows) -> Array:
        """Each class's own probability at its mean linear predictor, divided by their sum."""
        ids = self.pool.ids[rows]
        return self.predicted([self.pool.predictor(part, ids) for part in fit.state.fits])

    def information_gain(self, fit: Fit) -> float:
        """KL(posterior ‖ prior), the sum over classes."""
        return sum(self.pool.information_gain(part) for part in fit.state.fits)


class OneVsRestPosterior:
    """A Gaussian over θ = (θ_0, …, θ_{K−1}), independent between classes."""

    def __init__(self, model: Logistic, pool: LogisticFitter, fits: tuple[Fit, ...]) -> None:
        self.model, self.pool, self.fits = model, pool, fits
        self.log_evidence = sum(fit.log_z for fit in fits)
        self.converged = all(fit.state.solution.converged for fit in fits)

    @cached_property
    def parts(self) -> tuple[LogisticPosterior, ...]:
        """The posterior of each class."""
        return tuple(self.model.posterior(self.pool, fit) for fit in self.fits)

    def log_density(self, theta: Array) -> float:
        """Log p(θ | data), class after class."""
        own = np.reshape(theta, (len(self.parts), -1))
        return sum(part.log_density(t) for part, t in zip(self.parts, own, strict=True))

    def sample(self, rng: np.random.Generator, m: int) -> Array:
        """`m` draws of θ, one a row."""
        return np.hstack([part.sample(rng, m) for part in self.parts])

    def predict_proba(self, X: Array) -> Array:
        """Each class's own predictive probability, divided by their sum."""
        own = np.column_stack([part.predict_proba(X)[:, 1] for part in self.parts])
        return np.asarray(own / own.sum(axis=1, keepdims=True))

    def information_gain(self) -> float:
        """KL(posterior ‖ prior) in nats."""
        return sum(part.information_gain() for part in self.parts)
