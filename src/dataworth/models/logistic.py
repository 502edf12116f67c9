"""Binary Bayesian logistic regression: p(y=1|x, θ) = σ(θᵀx), θ ~ N(0, C·I).

Evidence by Laplace's method, log Z ≈ log p(y|μ) − ½ μᵀμ/C − ½ log det(I + C XᵀWX) at the mode μ. Costs
O(n³) or O(n d²), whichever is less, per Newton step; memory O(n²) or O(d²).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.special import expit, logit, ndtr

from ..errors import DataworthError
from ..inference.geometry import GATHERED, SLAB, Dual, Primal, choose_geometry, largest_square
from ..inference.logistic import Counts, terms
from ..inference.newton import Mode, find_mode, line_search
from .base import Array, Fit, Rows, hit_rate, positive_number
from .gaussian import GaussianPosterior, with_intercept

FEW = 4
"""A joint fit starts at the conditional mode if the further rows are at most one in this many."""


@dataclass(frozen=True)
class Logistic:
    """Binary logistic regression under N(0, prior_variance · I).

    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> posterior = Logistic(prior_variance=1.0).fit(X, np.array([0.0, 0.0, 1.0, 1.0]))
    >>> round(posterior.log_evidence, 4)
    -2.981
    """

    prior_variance: float = 1.0
    inference: str = "laplace"
    intercept: bool = True

    def __post_init__(self) -> None:
        positive_number(self.prior_variance, "prior_variance")
        if self.inference != "laplace":
            raise DataworthError(f"inference is {self.inference!r}; Logistic knows: laplace.")

    def fit(self, X: Array, y: Array, weights: Array | None = None) -> LogisticPosterior:
        """The Gaussian posterior of Laplace's method, with its log evidence."""
        fitter = self.bind(X, y)
        fit = fitter(np.arange(len(y)), weights=weights)
        state: LogisticState = fit.state
        return LogisticPosterior(
            log_evidence=fit.log_z,
            mean=state.theta(fitter),
            prior_variance=self.prior_variance,
            rows=fitter.X[state.ids],
            row_precision=terms(state.mode.f, state.counts).curvature,
            log_det=state.mode.factor.log_det(),
            gain=state.mode.information_gain(),
            intercept=self.intercept,
        )

    def bind(self, X: Array, y: Array) -> LogisticFitter:
        """A fitter on this pool; rows with identical features are found once, here."""
        return LogisticFitter(self, np.asarray(X, dtype=float), np.asarray(y, dtype=float))


class LogisticState(NamedTuple):
    """A mode over the distinct rows `ids` of the pool, held in one of the geometries."""

    ids: Rows
    counts: Counts
    mode: Mode
    kind: str

    def theta(self, fitter: LogisticFitter) -> Array:
        """The mode as a vector of feature coefficients."""
        if self.kind == "primal":
            return self.mode.coef
        if self.kind == "dual":
            return fitter.prior_variance * (fitter.X[self.ids].T @ self.mode.coef)
        # square-root: the mode lies in the row space of X, so it is the least-norm solution of Xθ = f
        return np.asarray(np.linalg.lstsq(fitter.X[self.ids], self.mode.f, rcond=None)[0], dtype=float)


class LogisticFitter:
    """The hot path. Distinct rows of the pool are numbered once; a fit sees distinct rows and counts."""

    def __init__(self, model: Logistic, X: Array, y: Array) -> None:
        self.prior_variance = float(model.prior_variance)
        self.y = y
        distinct, self.ids = distinct_rows(X)
        self.X = with_intercept(distinct, model.intercept)
        self._square = largest_square(self.X)

    def __call__(
        self,
        rows: Rows,
        start: tuple[Fit, ...] = (),
        *,
        weights: Array | None = None,
        targets: Array | None = None,
    ) -> Fit:
        """Laplace evidence of the pool's `rows`, started at earlier fits of their parts."""
        tally = self._count(rows, weights, self.y[rows] if targets is None else targets)
        ids = np.flatnonzero(tally.ones + tally.zeros)
        if len(ids) > GATHERED and 2 * len(ids) > len(self.X):
            # most of a large pool: rows of weight 0 cost less than picking out the others
            ids = np.arange(len(self.X))
        counts = Counts(tally.ones[ids], tally.zeros[ids])
        heaviest = max(1.0, float((counts.ones + counts.zeros).max(initial=0.0)))
        geometry = choose_geometry(self.X, self.prior_variance, ids, heaviest * self._square)
        if isinstance(geometry, Dual):
            kind, coef = "dual", self._dual_start(geometry, ids, counts, start)
        elif geometry.root:
            kind, coef = "root", np.zeros(geometry.X.shape[1])
        else:
            kind, coef = "primal", self._primal_start(geometry, tally, start)
        mode = find_mode(geometry, counts, coef)
        return Fit(mode.log_z, LogisticState(ids, counts, mode, kind))

    def _count(self, rows: Rows, weights: Array | None, targets: Array) -> Counts:
        """How often each distinct row of the pool is seen with label 1 and with label 0."""
        weights = np.ones(len(rows)) if weights is None else np.asarray(weights, dtype=float)
        place, size = self.ids[rows], len(self.X)
        ones = np.bincount(place, weights=weights * targets, minlength=size)
        zeros = np.bincount(place, weights=weights * (1.0 - targets), minlength=size)
        return Counts(ones.astype(float, copy=False), zeros.astype(float, copy=False))

    def _dual_start(self, geometry: Dual, ids: Rows, counts: Counts, start: tuple[Fit, ...]) -> Array:
        """c·[a_D; a_T], with the best c found along the line: two solutions overshoot together."""
        coef = np.zeros(len(ids))
        for fit in start:
            if fit.state.kind == "dual":
                # a start need not be a part: an arm begins at the fit of another, with other rows
                _, here, there = np.intersect1d(ids, fit.state.ids, assume_unique=True, return_indices=True)
                coef[here] += fit.state.mode.coef[there]
        if not coef.any():
            return coef
        f = geometry.predictor(coef)
        origin = np.zeros(len(ids))
        gradient = terms(origin, counts).gradient
        slope = float(gradient @ f)
        if slope <= 0:
            return np.zeros(len(ids))
        return coef * line_search(origin, f, counts, gradient, slope, geometry.penalty(coef, coef, f))

    def _primal_start(self, geometry: Primal, tally: Counts, start: tuple[Fit, ...]) -> Array:
        """The mode of the largest part known, moved by what the few further rows say."""
        usable = [fit.state for fit in start if fit.state.kind == "primal"]
        if not usable:
            return np.zeros(geometry.X.shape[1])
        state: LogisticState = max(usable, key=lambda s: len(s.ids))
        if len(geometry) <= GATHERED:
            return state.mode.coef
        ones, zeros = tally.ones.copy(), tally.zeros.copy()
        ones[state.ids] -= state.counts.ones
        zeros[state.ids] -= state.counts.zeros
        fresh = np.flatnonzero(ones + zeros)
        if min(ones.min(), zeros.min()) < 0 or len(fresh) > len(geometry) // FEW:
            return state.mode.coef  # not a part, or too much is new
        return self._conditional_mode(state, fresh, Counts(ones[fresh], zeros[fresh]))

    def _conditional_mode(self, state: LogisticState, ids: Rows, counts: Counts) -> Array:
        """The mode given further rows, with the known posterior N(μ, Σ) as their prior.

        Exact to second order, and it costs no pass over the rows that are known. In coordinates
        θ = μ + √C L⁻ᵀ z, where Σ = C (L Lᵀ)⁻¹, the prior of z is standard normal.
        """
        L, scale = state.mode.factor.matrix, np.sqrt(self.prior_variance)
        rows = self.X[ids]
        Z = scale * solve_triangular(L, rows.T, lower=True, check_finite=False).T
        geometry = choose_geometry(Z, 1.0)
        size = len(Z) if isinstance(geometry, Dual) else Z.shape[1]
        mode = find_mode(geometry, counts, np.zeros(size), offset=rows @ state.mode.coef)
        z = Z.T @ mode.coef if isinstance(geometry, Dual) else mode.coef
        return state.mode.coef + scale * solve_triangular(L, z, lower=True, trans="T", check_finite=False)

    def predict(self, fit: Fit, rows: Rows) -> Array:
        """Class 1 where the mode's linear predictor is positive."""
        return (self.X[self.ids[rows]] @ fit.state.theta(self) > 0).astype(float)

    def accuracy(self, fit: Fit, rows: Rows, weights: Array | None = None) -> float:
        """Fraction of rows on the right side of the mode's boundary."""
        return hit_rate(self.predict(fit, rows), self.y[rows], weights)

    def information_gain(self, fit: Fit) -> float:
        """KL(N(μ, Σ) ‖ N(0, C·I))."""
        gain: float = fit.state.mode.information_gain()
        return gain


def distinct_rows(X: Array) -> tuple[Array, Rows]:
    """Distinct rows of X in order of first appearance, and the number of each row among them.

    >>> rows, ids = distinct_rows(np.array([[2.0], [1.0], [2.0]]))
    >>> rows.ravel().tolist(), ids.tolist()
    ([2.0, 1.0], [0, 1, 0])
    """
    if X.shape[1] == 0 or len(X) == 0:
        return X[: min(len(X), 1)], np.zeros(len(X), dtype=np.intp)
    # hash first, compare after: sorting 64-bit hashes is far cheaper than sorting rows
    keys = np.concatenate([_hash_rows(X[i : i + SLAB]) for i in range(0, len(X), SLAB)])
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    if len(first) == len(X):
        return X, np.arange(len(X))
    same = all(
        np.array_equal(X[first[inverse[i : i + SLAB]]], X[i : i + SLAB]) for i in range(0, len(X), SLAB)
    )
    if not same:  # a collision of hashes: sort the rows themselves
        packed = (X + 0.0).view(np.dtype((np.void, X.shape[1] * X.itemsize))).ravel()
        _, first, inverse = np.unique(packed, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return X[first[order]], rank[inverse.ravel()]


def _hash_rows(X: Array) -> NDArray[np.uint64]:
    # −0.0 and 0.0 are one value with two bit patterns; adding 0.0 makes them one
    bits = np.ascontiguousarray(X + 0.0).view(np.uint64)
    multipliers = np.random.default_rng(0).integers(0, 2**63, size=X.shape[1], dtype=np.uint64) * 2 + 1
    mixed = bits * multipliers
    mixed ^= mixed >> np.uint64(29)
    return mixed.sum(axis=1, dtype=np.uint64)


class LogisticPosterior(GaussianPosterior):
    """Laplace's Gaussian, with predictions averaged over it."""

    def predict_proba(self, X: Array) -> Array:
        """Predictive probabilities of class 0 and 1, averaged over the Gaussian posterior.

        Each row's linear predictor is Gaussian, N(m, s²), and E σ(f) is an integral over f, by Gauss–Hermite
        quadrature, or over a logistic variable u, E Φ((m + u)/s): the first is smooth if s is small, the
        second if it is large.
        """
        mean, variance = self.predictor(X)
        mean, spread = mean[:, None], np.sqrt(variance)[:, None]
        nodes, node_weights = np.polynomial.hermite_e.hermegauss(32)
        narrow = expit(mean + spread * nodes) @ node_weights / node_weights.sum()
        levels, level_weights = np.polynomial.legendre.leggauss(64)
        wide = ndtr((mean + logit(0.5 + 0.5 * levels)) / np.maximum(spread, 1.0)) @ level_weights / 2.0
        one = np.where(spread[:, 0] < 1.0, narrow, wide)
        return np.column_stack([1.0 - one, one])
