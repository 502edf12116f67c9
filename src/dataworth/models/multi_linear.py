"""Bayesian linear regression of several outputs at once: y = Bᵀx + N(0, S), B and S unknown; exact.

B | S ~ MN(0, C·I, S) (a column of B for each output), S ~ InverseWishart(ν, s·I): matrix-normal
inverse-Wishart, and so is the posterior (inference/matrix_normal.py). Rows together are predicted by a matrix
t, one row by a multivariate Student t. Evidence is made of sums over rows, so that sets of rows add.

This is how responses are predicted from prompts: x and y are vectors of the two texts.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from scipy.linalg import cho_solve, solve_triangular
from scipy.special import multigammaln

from ..arrays import Array, Rows
from ..errors import DataworthError
from ..inference.geometry import Factor, safe_factor
from ..inference.matrix_normal import MatrixFit, fit_matrix_normal
from ..parallel.threads import one_thread
from .base import Fit, Fitter, check_outputs, check_theta, positive_number
from .gaussian import with_intercept


@dataclass(frozen=True)
class MultiLinear:
    """Linear regression of vectors: a row of y for each row of X.

    Args:
        prior_variance: C, of the coefficients (the intercept's too) in units of the noise.
        freedom: ν − q + 1 for q outputs, above 0: the noise S is known to about so many observations. From 3
            on S has a mean, which at 3 is s·I.
        scale: s, the size of the noise.
        intercept: whether to add a column of ones.
        outputs: q; None for as many as y has.

    Raises:
        DataworthError: a number is not positive, or `outputs` is no whole number of 1 or more.

    Examples:
        >>> X, Y = np.array([[0.0], [1.0]]), np.array([[0.1, 0.0], [0.9, -1.1]])
        >>> posterior = MultiLinear().fit(X, Y)
        >>> round(posterior.log_evidence, 4)
        -4.5308
        >>> posterior.predict_proba(X).shape
        (2, 2)
    """

    prior_variance: float = 1.0
    freedom: float = 3.0
    scale: float = 1.0
    intercept: bool = True
    outputs: int | None = None

    takes: ClassVar[str] = "vectors"
    exact: ClassVar[bool] = True

    def __post_init__(self) -> None:
        for name in ("prior_variance", "freedom", "scale"):
            positive_number(getattr(self, name), name)
        count = self.outputs
        if count is not None and (isinstance(count, bool) or not isinstance(count, int) or count < 1):
            raise DataworthError(f"outputs is {count!r}; it must be a whole number, 1 or more, or None.")

    @one_thread()
    def fit(self, X: Array, y: Array, weights: Array | None = None) -> MatrixPosterior:
        """The exact posterior, with its log evidence."""
        fitter = self.bind(X, y)
        fitted: MatrixPosterior = fitter(np.arange(len(fitter.y)), weights=weights).state
        return fitted

    def bind(self, X: Array, y: Array) -> MultiLinearFitter:
        """A fitter on this pool."""
        return MultiLinearFitter(self, *check_outputs(X, y, self.outputs))

    def simulate(self, rng: np.random.Generator, X: Array) -> Array:
        """Targets of rows X (two outputs unless the model says how many): S and B from the prior."""
        rows, q = with_intercept(np.asarray(X, dtype=float), self.intercept), self.outputs or 2
        root = noise_root(rng, np.sqrt(float(self.scale)) * np.eye(q), self.freedom + q - 1)
        coef = np.sqrt(self.prior_variance) * rng.standard_normal((rows.shape[1], q))
        return np.asarray((rows @ coef + rng.standard_normal((len(rows), q))) @ root.T, dtype=float)


class MultiLinearFitter(Fitter):
    """Closed form: nothing to warm-start."""

    numbers = exact = True

    def __init__(self, model: MultiLinear, X: Array, y: Array) -> None:
        self.model, self.X, self.y = model, with_intercept(X, model.intercept), y
        self.prior_variance = float(model.prior_variance)

    def fit_rows(self, rows: Rows, start: tuple[Fit, ...], weights: Array, targets: Array) -> Fit:
        """Exact evidence of the pool's `rows`."""
        seen, model = (self.X[rows], targets, weights), self.model
        degrees = float(model.freedom) + self.y.shape[1] - 1
        fit = fit_matrix_normal(*seen, self.prior_variance, degrees, float(model.scale))
        return Fit(fit.log_z, MatrixPosterior(fit, seen, model.intercept))

    def row_predictives(self, fit: Fit, rows: Rows, weights: Array) -> Array:
        """log p(yᵢ | xᵢ, D) of every row by itself."""
        told: MatrixFit = fit.state.told
        return told.log_predictives(self.X[rows], self.y[rows], np.asarray(weights, dtype=float))

    def predict(self, fit: Fit, rows: Rows) -> Array:
        """Posterior means of the targets, rows × outputs."""
        return np.asarray(self.X[rows] @ fit.state.told.coef, dtype=float)


class MatrixPosterior:
    """B | S ~ MN(M, C A⁻¹, S), S ~ InverseWishart(degrees, scatter).

    Its θ are the entries of B, row by row (the intercept's last), then of S = L Lᵀ the logarithms of the
    squared diagonal of L and what stands below it, row by row: for one output (θ, log σ²), as of `Linear`.
    """

    def __init__(self, told: MatrixFit, seen: tuple[Array, Array, Array], intercept: bool) -> None:
        self.log_evidence, self.told, self.seen, self._intercept = told.log_z, told, seen, intercept

    @property
    def mean(self) -> Array:
        """Posterior mean of B, features × outputs."""
        return self.told.coef

    @property
    def degrees(self) -> float:
        """ν + n."""
        return self.told.degrees

    @property
    def scatter(self) -> Array:
        """Of S: its posterior mean is scatter / (degrees − q − 1)."""
        return np.asarray(self.told.root @ self.told.root.T, dtype=float)

    @cached_property
    def _factor(self) -> Factor:
        """Of A, in the coordinates of the features."""
        if self.told.basis is None:
            return self.told.factor
        X, _, weights = self.seen
        counted = self.told.prior_variance * weights
        largest = counted * np.einsum("ij,ij->i", X, X)
        return safe_factor(X, counted, float(largest.max(initial=0.0)))

    def log_density(self, theta: Array) -> float:
        """Log p(B, S | data) at one θ, with respect to θ."""
        (d, q), degrees, root = self.told.coef.shape, self.told.degrees, self.told.root
        theta = check_theta(theta, d * q + q * (q + 1) // 2, "one θ of length {}: B, then the root of S")
        L = np.zeros((q, q))
        L[np.tril_indices(q, -1)] = theta[d * q + q :]
        logs = 0.5 * theta[d * q : d * q + q]
        L[np.diag_indices(q)] = np.exp(logs)
        X, _, weights = self.seen
        away, C = theta[: d * q].reshape(d, q) - self.told.coef, self.told.prior_variance
        told = np.sqrt(weights)[:, None] * (X @ away)
        far = np.trace(cho_solve((L, True), away.T @ away / C + told.T @ told + root @ root.T))
        log_det, own = 2.0 * float(logs.sum()), 2.0 * float(np.log(np.diagonal(root)).sum())
        normal = q * (self._factor.log_det() - d * np.log(2.0 * np.pi * C)) - d * log_det
        wishart = degrees * (own - q * np.log(2.0)) - (degrees + q + 1) * log_det
        jacobian = float((np.arange(q + 1, 1, -1) * logs).sum())  # of S by θ: 2^q Π L_ii^(q−i+1) dL
        constant = float(multigammaln(degrees / 2.0, q))
        return float(0.5 * (normal + wishart - far)) - constant + jacobian

    def sample(self, rng: np.random.Generator, m: int) -> Array:
        """`m` draws of θ."""
        (d, q), found = self.told.coef.shape, []
        for _ in range(m):
            root = noise_root(rng, self.told.root, self.told.degrees)
            L = np.linalg.cholesky(root @ root.T)
            z = np.sqrt(self.told.prior_variance) * rng.standard_normal((d, q))
            B = self.told.coef + self._factor.half_solve(z, transposed=True) @ L.T
            logs = 2.0 * np.log(np.diagonal(L))
            found.append(np.concatenate([B.ravel(), logs, L[np.tril_indices(q, -1)]]))
        return np.array(found)

    def predict_proba(self, X: Array) -> Array:
        """Predictive means: for regression, the point forecast, rows × outputs."""
        return np.asarray(self._rows(X) @ self.told.coef, dtype=float)

    def log_predictive(self, X: Array, y: Array) -> float:
        """Log density of rows together, given what was seen: a matrix t.

        With M its location, U = I + X C A⁻¹ Xᵀ, Ψ the scatter, ν its degrees, m rows and R = Y − XM,

            log Γ_q((ν+m)/2)/Γ_q(ν/2) − ½ mq log π − ½ q log|U| − ½ m log|Ψ| − ½ (ν+m) log|I + Ψ⁻¹RᵀU⁻¹R|.

        >>> X, Y = np.array([[0.0], [1.0]]), np.array([[0.1, 0.0], [0.9, -1.1]])
        >>> first, both = MultiLinear().fit(X[:1], Y[:1]), MultiLinear().fit(X, Y)
        >>> abs(first.log_predictive(X[1:], Y[1:]) - both.log_evidence + first.log_evidence) < 1e-12
        True
        """
        rows, Y = self._rows(X), np.asarray(y, dtype=float)
        (m, q), degrees, root = Y.shape, self.told.degrees, self.told.root
        half = self._factor.half_solve(rows.T)
        spread = np.linalg.cholesky(np.eye(m) + self.told.prior_variance * (half.T @ half))
        error = solve_triangular(spread, Y - rows @ self.told.coef, lower=True)
        error = solve_triangular(root, error.T, lower=True)
        _, grown = np.linalg.slogdet(np.eye(q) + error @ error.T)
        ends = multigammaln((degrees + m) / 2.0, q) - multigammaln(degrees / 2.0, q)
        dets = q * float(np.log(np.diagonal(spread)).sum()) + m * float(np.log(np.diagonal(root)).sum())
        return float(ends - 0.5 * (m * q * np.log(np.pi) + (degrees + m) * grown)) - dets

    def divergence(self, other: MatrixPosterior) -> float:
        """−log ∫ √(pq) (Bhattacharyya): ½ (log Z_D + log Z_T) less log Z of all rows at half weight."""
        X, Y, weights = (np.concatenate(both) for both in zip(self.seen, other.seen, strict=True))
        prior = self.told.prior_variance, self.told.prior_degrees, self.told.prior_scale
        together = fit_matrix_normal(X, Y, 0.5 * weights, *prior)
        return 0.5 * (self.log_evidence + other.log_evidence) - together.log_z

    def information_gain(self) -> float:
        """KL(posterior ‖ prior) in nats."""
        return self.told.information_gain()

    def _rows(self, X: Array) -> Array:
        return with_intercept(np.asarray(X, dtype=float), self._intercept)


def noise_root(rng: np.random.Generator, root: Array, degrees: float) -> Array:
    """R with R Rᵀ ~ InverseWishart(degrees, root rootᵀ), by Bartlett's decomposition of its inverse."""
    q = len(root)
    lower = np.tril(rng.standard_normal((q, q)), -1)
    lower[np.diag_indices(q)] = np.sqrt(2.0 * rng.gamma((degrees - np.arange(q)) / 2.0))
    # S⁻¹ = root⁻ᵀ T Tᵀ root⁻¹, so that S = (root T⁻ᵀ)(root T⁻ᵀ)ᵀ
    return np.asarray(solve_triangular(lower, root.T, lower=True).T, dtype=float)
