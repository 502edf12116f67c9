"""Multiclass Bayesian logistic regression: p(y=c|x, Θ) = exp(θ_cᵀx) / Σ_k exp(θ_kᵀx), every θ_c ~ N(0, C·I).

Evidence by Laplace's method (inference/softmax.py). A Newton step costs O(K² n d² + K³ d³) with O(K² d²)
memory; of more features than rows, n takes the place of d. Two classes under prior variance v/2 are
`Logistic(v)`: the score between them, (θ_1 − θ_0)ᵀx, has the variance of both.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import ClassVar

import numpy as np

from ..arrays import Array, Rows
from ..inference.geometry import Factor
from ..inference.newton import find_mode
from ..inference.softmax import (
    POLISHED,
    ClassCounts,
    Stacked,
    Terms,
    chances,
    choose_geometry,
    contrast_roots,
    curvature_root,
    log_chances,
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
KEPT = 2**26
"""Bytes of a factor that is kept with its posterior."""


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
        last = start[-1].state if start else None
        known = last.kept if last is not None and np.array_equal(ids, last.ids) else None
        mode = find_mode(geometry, ClassCounts(counts), begin, polished=POLISHED, known=known)
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
            geometry=geometry,
            basis=basis,
            kept=mode.factor if mode.factor.matrix.nbytes <= KEPT else None,
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

    def row_predictives(self, fit: Fit, rows: Rows, weights: Array) -> Array:
        """log p(yᵢ | xᵢ, D) of every row: E softmax(f)_y over the contrasts' Gaussian, by fixed draws.

        512 points of Sobol' sequence are within 0.002 nats a row of 2¹⁶ on ten classes.
        """
        own, given = self.y[rows].astype(np.intp), None if (weights == 1.0).all() else weights
        mean, root, points = fit.state.predictors(self.X[self.ids[rows]])
        return log_chances(mean, root, points, own, given)

    def predict(self, fit: Fit, rows: Rows) -> Array:
        """The class with the largest linear predictor."""
        return self.probabilities(fit, rows).argmax(axis=1).astype(float)

    def probabilities(self, fit: Fit, rows: Rows) -> Array:
        """Probabilities of the classes at the mean linear predictors."""
        return probabilities(self.X[self.ids[rows]] @ fit.state.coefficients)


@dataclass(kw_only=True, eq=False, repr=False)
class SoftmaxPosterior:
    """Laplace's N(μ, Σ) over θ = (θ_0, …, θ_{K−1}), held as rows, counts and a factor.

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
    geometry: Stacked
    basis: Array | None
    kept: Factor | None

    @property
    def factor(self) -> Factor:
        """Of the precision at the mode; large ones are not kept beside other fits'."""
        return self.kept or self.geometry.factorise(self.at.curvature)

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
            mass, geometry, basis, factor = self.at.curvature, self.geometry, self.basis, self.factor
            for theta, z in zip(drawn, noise, strict=True):
                pull = curvature_root(mass, z) - row_curvature(mass, self.rows @ theta.T)
                step = geometry.step(factor, mass, np.zeros(geometry.shape), pull).coef
                theta += step.T if basis is None else (basis @ step).T
        return np.asarray(drawn.reshape(m, -1) + self.mean)

    def predict_proba(self, X: Array) -> Array:
        """Predictive probabilities of each class: the mean over 512 points of Sobol' sequence."""
        found = chances(*self.predictors(with_intercept(np.asarray(X, dtype=float), self.intercept)))
        return found / found.sum(axis=1, keepdims=True)

    def predictors(self, X: Array) -> tuple[Array, Array, Array]:
        """Means of rows' linear predictors, Cholesky factors of their contrasts, and points of these."""
        seen = X if self.basis is None else X @ self.basis
        beyond = np.maximum((X**2).sum(axis=1) - (seen**2).sum(axis=1), 0.0)
        root = contrast_roots(self.geometry, self.factor, seen, beyond)
        return X @ self.coefficients, root, normal_points(self.coefficients.shape[1] - 1)

    def information_gain(self) -> float:
        """KL(posterior ‖ prior) in nats."""
        defect = self.factor.trace_defect()
        return 0.5 * (defect + self.penalty + self.log_det)
