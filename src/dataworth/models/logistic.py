"""Binary Bayesian logistic regression: p(y=1|x, θ) = σ(θᵀx), θ ~ N(0, C·I) or any Gaussian.

Evidence by Laplace's method, log Z ≈ log p(y|μ) − ½ μᵀμ/C − ½ log det(I + C XᵀWX) at the mode μ, or by EP
(inference/sites.py), which costs several times as much and is far closer to the truth where features are
many or the prior is wide. Either costs O(n³) or O(n d²) per round, whichever is less. The inference "auto" is
EP, except for sets of `MANY` distinct rows per coefficient or more.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from scipy.special import expit, logit, ndtr

from ..arrays import Array, Rows
from ..errors import DataworthError
from ..inference.geometry import GATHERED, Dual, Primal, choose_geometry, largest_square
from ..inference.logistic import Counts
from ..inference.newton import Mode, find_mode
from ..inference.sites import AIM, MANY, SETTLED, Moments, Sites, condition, expand, find_moments
from ..inference.tilted import tilted_moments
from ..parallel.threads import one_thread
from .base import Fit, check_pool, positive_number
from .gaussian import (
    GaussianPosterior,
    GaussianPrior,
    GaussianRows,
    RowGaussian,
    Whitening,
    distinct_rows,
    precision_matrix,
    with_intercept,
)

INFERENCES = ("auto", "laplace", "ep")
BLOCK = 64
"""Rows of a block up to which n×n is cheaper whatever d is."""
MOST = 0.75
POLISH = 4
"""Newton steps that bring a converged mode to the last digits, for forms that depend on it to first order."""


@dataclass(frozen=True)
class Logistic:
    """Binary logistic regression under N(0, prior_variance · I).

    Args:
        prior_variance: C, of every coefficient, the intercept's too.
        inference: how the evidence is found: "laplace"; "ep", slower and closer to the truth; or "auto", EP
            unless there are so many rows that both give the same posterior.
        intercept: whether a column of ones is added.

    Raises:
        DataworthError: prior_variance is not positive, or inference is none of the three.

    Examples:
        >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
        >>> y = np.array([0.0, 0.0, 1.0, 1.0])
        >>> [round(Logistic(1.0, inference).fit(X, y).log_evidence, 4) for inference in ("laplace", "ep")]
        [-2.981, -2.9294]
    """

    prior_variance: float = 1.0
    inference: str = "laplace"
    intercept: bool = True

    takes: ClassVar[str] = "two classes"

    def __post_init__(self) -> None:
        positive_number(self.prior_variance, "prior_variance")
        if self.inference not in INFERENCES:
            raise DataworthError(f"inference is {self.inference!r}; Logistic knows: {', '.join(INFERENCES)}.")

    @one_thread()
    def fit(
        self, X: Array, y: Array, weights: Array | None = None, prior: GaussianPrior | None = None
    ) -> LogisticPosterior:
        """The Gaussian posterior, with its log evidence; a `prior` stands in for N(0, prior_variance · I)."""
        fitter = self.bind(X, y, prior)
        return self.posterior(fitter, fitter(np.arange(len(y)), weights=weights))

    def posterior(self, fitter: LogisticFitter, fit: Fit) -> LogisticPosterior:
        """A fit's Gaussian, with the rows that it rests on."""
        fit = fitter.settle(fit)
        state: LogisticState = fit.state
        rows, precision = fitter.X[state.ids], state.sites(fitter.offset[state.ids]).tau
        return LogisticPosterior(**fitter.told_of(state.solution, state.coordinates(fitter), rows, precision))

    def bind(self, X: Array, y: Array, prior: GaussianPrior | None = None) -> LogisticFitter:
        """A fitter on this pool; rows with identical features are found once, here."""
        return LogisticFitter(self, *check_pool(X, y, classes=True), prior)

    def simulate(self, rng: np.random.Generator, X: Array) -> Array:
        """Targets of rows X: coefficients from the prior, then the classes."""
        rows = with_intercept(np.asarray(X, dtype=float), self.intercept)
        theta = np.sqrt(self.prior_variance) * rng.standard_normal(rows.shape[1])
        return (rng.random(len(rows)) < expit(rows @ theta)).astype(float)


class LogisticState(NamedTuple):
    """A mode, or EP's moments, over the distinct rows `ids` of the pool, held in one of the geometries."""

    ids: Rows
    counts: Counts
    solution: Mode | Moments
    kind: str

    def coordinates(self, fitter: LogisticFitter) -> Array:
        """The mode or mean as a vector of coefficients of the fitter's (whitened) features."""
        if self.kind == "primal":
            return self.solution.coef
        rows = fitter.X[self.ids]
        if self.kind == "dual":
            return fitter.prior_variance * (rows.T @ self.solution.coef)
        # square-root: it lies in the row space of X, so it is the least-norm solution of Xθ = g
        g = self.solution.f - fitter.offset[self.ids]
        return np.asarray(np.linalg.lstsq(rows, g, rcond=None)[0], dtype=float)

    def sites(self, offset: Array | float) -> Sites:
        """What each row adds to the prior: EP's sites, or the likelihood's second-order expansion."""
        if isinstance(self.solution, Moments):
            return self.solution.sites
        return expand(self.solution.f, offset, self.counts)

    def information_gain(self) -> float:
        """KL(N(μ, Σ) ‖ prior)."""
        return self.solution.information_gain()


class LogisticFitter(GaussianRows):
    """The hot path. Distinct rows of the pool are numbered once; a fit sees distinct rows and counts."""

    def __init__(self, model: Logistic, X: Array, y: Array, prior: GaussianPrior | None = None) -> None:
        distinct, self.ids = distinct_rows(X)
        super().__init__(model, distinct, y, prior)
        self.inference = model.inference
        self._square = largest_square(self.X)

    def fit_rows(self, rows: Rows, start: tuple[Fit, ...], weights: Array, targets: Array) -> Fit:
        """Log evidence of the pool's `rows`, started at earlier fits of their parts."""
        tally, ids = self.seen(rows, weights, targets)
        by_ep = self.by_ep(len(ids))
        if len(ids) > GATHERED and 2 * len(ids) > len(self.X):
            # most of a large pool: rows of weight 0 cost less than picking out the others
            ids = np.arange(len(self.X))
        counts = tally.at(ids)
        geometry, offset = self._geometry(ids, counts), self.offset[ids]
        solution: Mode | Moments
        if by_ep:
            solution = self._moments(geometry, counts, self._start_sites(ids, counts, start), offset)
        else:
            begin = self._start(geometry.kind, ids, [fit.state for fit in start])
            solution = find_mode(geometry, counts, begin, offset)
        return Fit(solution.log_z, LogisticState(ids, counts, solution, geometry.kind))

    def _moments(
        self, geometry: Dual | Primal, counts: Counts, start: Sites | None, offset: Array
    ) -> Mode | Moments:
        """EP's; Laplace's if EP does not converge (counts of 1e15, say) and was not asked for by name."""
        if self.inference == "ep":
            return find_moments(geometry, counts, start, offset)
        with warnings.catch_warnings(action="ignore", category=RuntimeWarning):
            found = find_moments(geometry, counts, start, offset)
        return found if found.converged else find_mode(geometry, counts, None, offset)

    def by_ep(self, rows: int) -> bool:
        """Whether so many distinct rows are fitted by EP."""
        few = self.inference == "auto" and rows < MANY * self.X.shape[1]
        return few or self.inference == "ep"

    def seen(
        self, rows: Rows, weights: Array | None = None, targets: Array | None = None
    ) -> tuple[Counts, Rows]:
        """How often each distinct row of the pool is seen with label 1 and with label 0; which are at all."""
        weights, targets = self.told(rows, weights, targets)
        place, size = self.ids[rows], len(self.X)
        ones = np.bincount(place, weights=weights * targets, minlength=size)
        zeros = np.bincount(place, weights=weights * (1.0 - targets), minlength=size)
        tally = Counts(ones.astype(float, copy=False), zeros.astype(float, copy=False))
        return tally, np.flatnonzero(tally.ones + tally.zeros)

    def _geometry(self, ids: Rows, counts: Counts) -> Dual | Primal:
        heaviest = max(1.0, float((counts.ones + counts.zeros).max(initial=0.0)))
        return choose_geometry(self.X, self.prior_variance, ids, heaviest * self._square)

    def _start_sites(self, ids: Rows, counts: Counts, start: tuple[Fit, ...]) -> Sites | None:
        """Each row's site as the last fit that saw it has it; none if most rows were not seen so labelled.

        A start need not be a part: an arm begins at the fit of another, with other rows or other labels.
        """
        tau, nu, known = np.zeros(len(ids)), np.zeros(len(ids)), np.zeros(len(ids), dtype=bool)
        for fit in start:
            state: LogisticState = fit.state
            _, here, there = np.intersect1d(ids, state.ids, assume_unique=True, return_indices=True)
            ones, zeros = counts.ones[here], counts.zeros[here]
            seen_ones, seen_zeros = state.counts.ones[there], state.counts.zeros[there]
            same = (ones * seen_zeros == zeros * seen_ones) & (seen_ones + seen_zeros > 0)
            here, there = here[same], there[same]
            share = (ones + zeros)[same] / (seen_ones + seen_zeros)[same]
            sites = state.sites(self.offset[state.ids])
            tau[here], nu[here], known[here] = share * sites.tau[there], share * sites.nu[there], True
        return Sites(tau, nu) if known.sum() > MOST * len(ids) else None

    def _start(self, kind: str, ids: Rows, states: list[LogisticState]) -> Array | None:
        """Coefficients to start Newton's method at, of rows or features.

        More rows than features: those of the last fit if it has most of the rows, else the mean of all.
        Otherwise each row's as the last fit that saw it has it: the gradient there.
        """
        if not states or kind == "root":
            return None  # where C‖x‖² is enormous, a step from elsewhere can lead anywhere
        if kind == "primal":
            if len(states[-1].ids) > MOST * len(ids):
                return states[-1].coordinates(self)
            share = [max(len(state.ids), 1) for state in states]
            return np.asarray(np.average([s.coordinates(self) for s in states], axis=0, weights=share))
        coef = np.zeros(len(ids))
        for state in states:
            # a start need not be a part: an arm begins at the fit of another, with other rows
            _, here, there = np.intersect1d(ids, state.ids, assume_unique=True, return_indices=True)
            coef[here] = state.counts.terms(state.solution.f).gradient[there]
        return coef

    def as_prior(self, fit: Fit) -> GaussianPrior:
        """Laplace's or EP's Gaussian, whose sites then stand still."""
        state: LogisticState = self.settle(fit, AIM).state
        if state.kind == "primal":
            root = state.solution.factor.matrix / np.sqrt(self.prior_variance)
            return GaussianPrior(state.solution.coef, root @ root.T)
        tau = state.sites(self.offset[state.ids]).tau
        precision = precision_matrix(self.X[state.ids], tau, self.prior_variance)
        return GaussianPrior(state.coordinates(self), precision)

    def log_evidence_under(self, prior: Whitening, rows: Rows, weights: Array | None) -> float:
        """By the inference that suits so many rows."""
        tally, ids = self.seen(rows, weights)
        geometry = choose_geometry(prior.rows(self.X[ids]), 1.0, few=BLOCK)
        offset = prior.offset(self.X[ids]) + self.offset[ids]
        find = find_moments if self.by_ep(len(ids)) else find_mode
        return find(geometry, tally.at(ids), None, offset).log_z

    def features(self, rows: Rows) -> Array:
        """Distinct rows stand in X once."""
        return self.X[self.ids[rows]]

    def predicted(self, means: Sequence[Array]) -> Array:
        """Probabilities of class 0 and 1."""
        return np.column_stack([expit(-means[0]), expit(means[0])])

    def label_integral(self, mean: Array, variance: Array, weights: Array, targets: Array) -> Array:
        """One integral over the logistic function a row, right to 1e-5 (`inference.tilted`)."""
        counts = Counts(weights * targets, weights * (1.0 - targets))
        return tilted_moments(mean, variance, counts).log_z

    def row_gaussian(self, fit: Fit) -> RowGaussian:
        """The fit as sites on rows, a mode brought to its last digits."""
        state: LogisticState = fit.state
        geometry, offset = self._geometry(state.ids, state.counts), self.offset[state.ids]
        sites = state.sites(offset)
        if isinstance(state.solution, Mode):
            for _ in range(POLISH):
                sites = expand(condition(geometry, sites).mean + offset, offset, state.counts)
        return RowGaussian.of(geometry, state.ids, sites)

    def settle(self, fit: Fit, tolerance: float = SETTLED) -> Fit:
        """EP stops when log Z stands still, which its sites do only later; a mode needs no more."""
        state: LogisticState = fit.state
        if isinstance(state.solution, Mode):
            return fit
        geometry, offset = self._geometry(state.ids, state.counts), self.offset[state.ids]
        solution = find_moments(geometry, state.counts, state.solution.sites, offset, tolerance)
        return Fit(solution.log_z, state._replace(solution=solution))

    def predictor(self, fit: Fit, ids: Rows) -> Array:
        """The fit's g = Xθ at distinct rows, without the prior's mean."""
        return np.asarray(self.X[ids] @ fit.state.coordinates(self), dtype=float)

    def predict(self, fit: Fit, rows: Rows) -> Array:
        """Class 1 where the linear predictor is positive."""
        ids = self.ids[rows]
        return (self.predictor(fit, ids) + self.offset[ids] > 0).astype(float)

    def probabilities(self, fit: Fit, rows: Rows) -> Array:
        """Probabilities of class 0 and 1 at the mean linear predictor."""
        ids = self.ids[rows]
        return self.predicted([self.predictor(fit, ids) + self.offset[ids]])


class LogisticPosterior(GaussianPosterior):
    """Laplace's or EP's Gaussian, with predictions averaged over it."""

    def predict_proba(self, X: Array) -> Array:
        """Predictive probabilities of class 0 and 1: E σ(f) over f ~ N(m, s²), by Gauss–Hermite quadrature.

        Where s is large, over a logistic variable u instead: E Φ((m + u)/s).
        """
        mean, variance = self.predictor(X)
        mean, spread = mean[:, None], np.sqrt(variance)[:, None]
        nodes, node_weights = np.polynomial.hermite_e.hermegauss(32)
        narrow = expit(mean + spread * nodes) @ node_weights / node_weights.sum()
        levels, level_weights = np.polynomial.legendre.leggauss(64)
        wide = ndtr((mean + logit(0.5 + 0.5 * levels)) / np.maximum(spread, 1.0)) @ level_weights / 2.0
        one = np.where(spread[:, 0] < 1.0, narrow, wide)
        return np.column_stack([1.0 - one, one])
