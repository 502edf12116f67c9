"""Multiclass Bayesian logistic regression: p(y=c|x, Θ) = exp(θ_cᵀx) / Σ_k exp(θ_kᵀx), every θ_c ~ N(0, C·I).

Evidence by Laplace's method (inference/softmax.py). A Newton step costs O(K² n d² + K³ d³) with O(K² d²)
memory; of more features than rows, n takes the place of d. Two classes under prior variance v/2 are
`Logistic(v)`: the score between them, (θ_1 − θ_0)ᵀx, has the variance of both.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import ClassVar

import numpy as np
from scipy.linalg import solve_triangular

from ..arrays import Array, Rows
from ..inference.geometry import graded_features
from ..inference.newton import find_mode
from ..inference.softmax import (
    POLISHED,
    ClassCounts,
    Stacked,
    Terms,
    choose_geometry,
    contrast_roots,
    curvature_root,
    log_evidence,
    log_sum,
    predictor_points,
    probabilities,
    row_curvature,
    terms,
)
from ..parallel.threads import one_thread
from .base import Fit, Fitter, check_class_number, check_classes, check_theta, positive_number
from .gaussian import distinct_rows, with_intercept

MOST = 0.75
SEED = 0x50F7


@dataclass(frozen=True)
class Softmax:
    """Multiclass logistic regression, every class's coefficients under N(0, prior_variance · I).

    Args:
        prior_variance: C, of every coefficient of every class.
        intercept: whether a column of ones is added.
        classes: how many; targets are 0 … classes − 1. None: the pool's largest target says.

    Raises:
        DataworthError: prior_variance is not positive, or classes is no whole number of 2 or more.

    Examples:
        >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
        >>> y = np.array([0.0, 0.0, 1.0, 1.0])
        >>> round(Softmax(0.5).fit(X, y).log_evidence, 4)  # two classes: as Logistic(1.0)
        -2.981
        >>> Softmax(100.0).fit(X, np.array([0.0, 1.0, 2.0, 2.0])).predict_proba(X[-1:]).argmax()
        np.int64(2)
    """

    prior_variance: float = 1.0
    intercept: bool = True
    classes: int | None = None

    takes: ClassVar[str] = "classes"

    def __post_init__(self) -> None:
        positive_number(self.prior_variance, "prior_variance")
        check_class_number(self.classes)

    @one_thread()
    def fit(self, X: Array, y: Array, weights: Array | None = None) -> SoftmaxPosterior:
        """Laplace's Gaussian, with its log evidence."""
        posterior: SoftmaxPosterior = self.bind(X, y)(np.arange(len(y)), weights=weights).state
        return posterior

    def bind(self, X: Array, y: Array) -> SoftmaxFitter:
        """A fitter on this pool; rows with identical features are found once, here."""
        return SoftmaxFitter(self, *check_classes(X, y, self.classes))

    def simulate(self, rng: np.random.Generator, X: Array) -> Array:
        """Targets of rows X: Θ from the prior, then the classes; two unless the model says how many."""
        rows = with_intercept(np.asarray(X, dtype=float), self.intercept)
        theta = np.sqrt(self.prior_variance) * rng.standard_normal((rows.shape[1], self.classes or 2))
        # the largest of predictor plus Gumbel noise has the softmax probabilities
        return np.argmax(rows @ theta + rng.gumbel(size=(len(rows), theta.shape[1])), axis=1).astype(float)


POINTS = 512
"""Of a row's integral."""


@cache
def normal_points(k: int) -> Array:
    """Standard normal points, spread evenly: Sobol' sequence, scrambled by a fixed seed."""
    from scipy.special import ndtri
    from scipy.stats.qmc import Sobol

    return np.asarray(ndtri(Sobol(k, rng=np.random.default_rng(SEED)).random(POINTS)))


class SoftmaxFitter(Fitter):
    """The hot path. Distinct rows of the pool are numbered once; a fit sees them with class counts."""

    def __init__(self, model: Softmax, X: Array, y: Array, classes: int) -> None:
        self.model, self.classes, self.y = model, classes, y
        distinct, self.ids = distinct_rows(X)
        self.X = with_intercept(distinct, model.intercept)

    def fit_rows(self, rows: Rows, start: tuple[Fit, ...], weights: Array, targets: Array) -> Fit:
        """Log evidence of the pool's `rows`, started at earlier fits of their parts."""
        ids, counts = self.seen(rows, weights, targets)
        X = self.X if len(ids) == len(self.X) else self.X[ids]
        prior_variance = float(self.model.prior_variance)
        geometry, basis = choose_geometry(X, counts, prior_variance)
        begin = self._start(len(ids), [fit.state for fit in start])
        if begin is not None and basis is not None:
            begin = basis.T @ begin
        mode = find_mode(geometry, ClassCounts(counts), begin, polished=POLISHED)
        posterior = SoftmaxPosterior(
            log_evidence=mode.log_z,
            converged=mode.converged,
            ids=ids,
            prior_variance=prior_variance,
            intercept=self.model.intercept,
            rows=X,
            counts=counts,
            coefficients=mode.coef if basis is None else basis @ mode.coef,
            at=terms(mode.f, counts),
            penalty=mode.penalty,
            log_det=mode.factor.log_det(),
        )
        return Fit(mode.log_z, posterior)

    def seen(
        self, rows: Rows, weights: Array | None = None, targets: Array | None = None
    ) -> tuple[Rows, Array]:
        """Which distinct rows of the pool are seen, and how often each with each class."""
        weights, targets = self.told(rows, weights, targets)
        place = self.ids[rows] * self.classes + targets.astype(np.intp)
        tally = np.bincount(place, weights=weights, minlength=len(self.X) * self.classes)
        counts: Array = tally.astype(float, copy=False).reshape(-1, self.classes)
        ids = np.flatnonzero(counts.any(axis=1))
        return ids, counts[ids]

    def _start(self, rows: int, parts: list[SoftmaxPosterior]) -> Array | None:
        """Coefficients of the last fit if it saw most of the rows, else the mean of all by their rows."""
        if not parts:
            return None
        if len(parts[-1].ids) > MOST * rows:
            return parts[-1].coefficients
        share = [max(len(part.ids), 1) for part in parts]
        return np.asarray(np.average([part.coefficients for part in parts], axis=0, weights=share))

    def log_predictives(self, fit: Fit, sets: Sequence[tuple[Rows, Array | None]]) -> list[float]:
        """Log evidence of each set of rows with the fit's Gaussian as its prior: log p(T | D)."""
        state: SoftmaxPosterior = fit.state
        geometry, d = Stacked(state.rows, state.prior_variance, self.classes), self.X.shape[1]
        factor = geometry.factorise(state.at.curvature) if len(state.rows) else None
        k, found = self.classes - 1, []
        for rows, weights in sets:
            ids, counts = self.seen(rows, weights)
            X = np.sqrt(state.prior_variance) * self.X[ids]
            design = np.zeros((k, d, len(ids), k))  # each row's features in each contrast's coefficients
            for q in range(k):
                design[q, :, :, q] = X.T
            half = design.reshape(k * d, len(ids) * k)
            if factor is not None:
                half = solve_triangular(factor.matrix, half, lower=factor.lower, check_finite=False)
            mean = (self.X[ids] @ state.coefficients) @ geometry.Q
            found.append(log_evidence(mean, half.T @ half, counts))
        return found

    def row_predictives(self, fit: Fit, rows: Rows, weights: Array) -> Array:
        """log p(yᵢ | xᵢ, D) of every row: E softmax(f)_y over the contrasts' Gaussian, by fixed draws.

        512 points of Sobol' sequence are within 0.002 nats a row of 2¹⁶ on ten classes.
        """
        own, found = self.y[rows].astype(np.intp), np.empty(len(rows))
        for part, f in fit.state.predictors(self.X[self.ids[rows]]):
            log_p = weights[part, None] * (f[own[part], np.arange(f.shape[1])] - log_sum(f))
            found[part] = log_sum(log_p.T) - np.log(POINTS)
        return found

    def predict(self, fit: Fit, rows: Rows) -> Array:
        """The class with the largest linear predictor."""
        return self.probabilities(fit, rows).argmax(axis=1).astype(float)

    def probabilities(self, fit: Fit, rows: Rows) -> Array:
        """Probabilities of the classes at the mean linear predictors."""
        return probabilities(self.X[self.ids[rows]] @ fit.state.coefficients)


@dataclass(kw_only=True, eq=False, repr=False)
class SoftmaxPosterior:
    """Laplace's N(μ, Σ) over θ = (θ_0, …, θ_{K−1}), held as rows and counts; factored when asked for.

    coefficients: the mode as a table, a column a class, the intercept's row last. at: the likelihood there.
    """

    log_evidence: float
    converged: bool
    ids: Rows
    prior_variance: float
    intercept: bool
    rows: Array
    counts: Array
    coefficients: Array
    at: Terms
    penalty: float
    log_det: float

    @property
    def mean(self) -> Array:
        """The mode, class after class."""
        return self.coefficients.T.ravel()

    def log_density(self, theta: Array) -> float:
        """Log N(θ; μ, Σ), without forming Σ."""
        offset = (check_theta(theta, len(self.mean)) - self.mean).reshape(self.coefficients.T.shape)
        moved = self.rows @ offset.T
        square = float((offset * offset).sum()) / self.prior_variance
        square += float((moved * row_curvature(self.at.curvature, moved)).sum())
        log_norm = self.log_det - offset.size * np.log(2.0 * np.pi * self.prior_variance)
        return float(0.5 * (log_norm - square))

    def sample(self, rng: np.random.Generator, m: int) -> Array:
        """`m` draws of θ: μ + θ₀ + Σ Xᵀ(S z − W X θ₀), θ₀ from the prior, S Sᵀ = W, z standard normal."""
        d, classes = self.coefficients.shape
        drawn = np.sqrt(self.prior_variance) * rng.standard_normal((m, classes, d))
        noise = rng.standard_normal((m, len(self.rows), classes - 1))
        if len(self.rows):
            geometry, basis = choose_geometry(self.rows, self.counts, self.prior_variance)
            mass = self.at.curvature
            factor = geometry.factorise(mass)
            for theta, z in zip(drawn, noise, strict=True):
                pull = curvature_root(mass, z) - row_curvature(mass, self.rows @ theta.T)
                step = geometry.step(factor, mass, np.zeros(geometry.shape), pull).coef
                theta += step.T if basis is None else (basis @ step).T
        return np.asarray(drawn.reshape(m, -1) + self.mean)

    def predict_proba(self, X: Array) -> Array:
        """Predictive probabilities of each class: the mean over 512 points of Sobol' sequence."""
        rows = with_intercept(np.asarray(X, dtype=float), self.intercept)
        found = np.empty((len(rows), self.coefficients.shape[1]))
        for part, f in self.predictors(rows):
            found[part] = np.exp(f - log_sum(f)).mean(axis=2).T
        return found / found.sum(axis=1, keepdims=True)

    def predictors(self, X: Array) -> Iterator[tuple[slice, Array]]:
        """Rows, a slab at a time, and the points of their linear predictors (classes × rows × points)."""
        rows, classes = self.rows, self.coefficients.shape[1]
        own, basis = graded_features(rows) if 0 < len(rows) < X.shape[1] else (rows, None)
        seen = X if basis is None else X @ basis
        beyond = np.maximum((X**2).sum(axis=1) - (seen**2).sum(axis=1), 0.0)
        geometry = Stacked(own, self.prior_variance, classes)
        root = contrast_roots(geometry, self.at.curvature, seen, beyond)
        return predictor_points(X @ self.coefficients, root, normal_points(classes - 1))

    def information_gain(self) -> float:
        """KL(posterior ‖ prior) in nats."""
        geometry, _ = choose_geometry(self.rows, self.counts, self.prior_variance)
        defect = geometry.factorise(self.at.curvature).trace_defect()
        return 0.5 * (defect + self.penalty + self.log_det)
