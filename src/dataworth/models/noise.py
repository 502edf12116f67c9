"""Linear regression whose noise is unknown too: θ|σ² ~ N(0, σ² C·I), σ² ~ InverseGamma(a, b); exact.

Evidence in closed form (inference/gaussian.py); the posterior is normal-inverse-gamma, a coefficient's a
Student t.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln

from ..arrays import Array, Rows
from ..inference.conjugate import Natural, nig_log_normaliser, nig_posterior, nig_prior
from ..inference.gaussian import NoiseFit, fit_noise
from .base import Fit, PoolFitter, check_theta, positive_number
from .gaussian import GaussianPosterior, with_intercept


class _Parameters(NamedTuple):
    shape: float
    scale: float


class InverseGamma(_Parameters):
    """σ² ~ InverseGamma(shape a, scale b): 1/σ² has mean a/b; the noise is known to about 2a observations.

    Args:
        shape: a, half the number of observations that the knowledge is worth.
        scale: b.

    Raises:
        DataworthError: one of them is not positive.

    Examples:
        >>> InverseGamma(shape=2.0, scale=1.0)
        InverseGamma(shape=2.0, scale=1.0)
    """

    __slots__ = ()

    def __new__(cls, shape: float, scale: float) -> InverseGamma:
        """Proper, or a sentence."""
        return super().__new__(cls, shape, scale).checked()

    def checked(self) -> InverseGamma:
        """Itself if it is proper, or a sentence."""
        positive_number(self.shape, "the noise's shape")
        positive_number(self.scale, "the noise's scale")
        return self

    def draw(self, rng: np.random.Generator) -> float:
        """One σ²."""
        return float(self.scale / rng.gamma(self.shape))


class NoiseFitter(PoolFitter):
    """Closed form: nothing to warm-start."""

    numbers = True

    def __init__(
        self, X: Array, y: Array, prior_variance: float, noise: InverseGamma, *, intercept: bool
    ) -> None:
        self.X, self.y, self.intercept = with_intercept(X, intercept), y, intercept
        self.prior_variance, self.noise = float(prior_variance), noise

    def fit_rows(self, rows: Rows, start: tuple[Fit, ...], weights: Array, targets: Array) -> Fit:
        """Exact evidence of the pool's `rows`."""
        seen = self.X[rows], targets, weights
        fit = fit_noise(*seen, self.prior_variance, *self.noise)
        return Fit(fit.log_z, NoisePosterior(fit, seen, self.prior_variance, self.intercept))

    def predict(self, fit: Fit, rows: Rows) -> Array:
        """Posterior mean of the target."""
        return np.asarray(self.X[rows] @ fit.state.mean, dtype=float)


class NoisePosterior:
    """θ|σ² ~ N(μ, σ² C A⁻¹), σ² ~ InverseGamma(shape, scale).

    Draws and densities are of the vector (θ, log σ²): the coefficients, the intercept's, and last the log
    of the noise variance, so that every vector is a parameter.
    """

    log_normaliser = staticmethod(nig_log_normaliser)

    def __init__(
        self, fit: NoiseFit, seen: tuple[Array, Array, Array], prior_variance: float, intercept: bool
    ) -> None:
        self.log_evidence, self.mean = fit.log_z, fit.coef
        self.noise = InverseGamma._make((fit.shape, fit.scale))
        self._fit, self._seen = fit, seen
        self._prior_variance, self._intercept = prior_variance, intercept

    @cached_property
    def _around(self) -> GaussianPosterior:
        """θ − μ in units of σ: N(0, C A⁻¹)."""
        X, _, weights = self._seen
        return GaussianPosterior(
            log_evidence=0.0,
            centre=np.zeros(len(self.mean)),
            prior_variance=self._prior_variance,
            rows=X,
            row_precision=weights,
            log_det=self._fit.factor.log_det(),
            gain=0.0,
            intercept=False,
        )

    @cached_property
    def natural(self) -> Natural:
        """Natural parameters, which data add to; d×d."""
        noise = self._fit.prior_shape, self._fit.prior_scale
        prior = nig_prior(len(self.mean), self._prior_variance, *noise)
        return nig_posterior(prior, *self._seen)

    def log_density(self, theta: Array) -> float:
        """Log p(θ, log σ² | data) at one vector (θ, log σ²)."""
        what = f"the {len(self.mean)} coefficients and then the log of the noise variance"
        theta = check_theta(theta, len(self.mean) + 1, what)
        coefficients, log_noise = theta[:-1], float(theta[-1])
        a, b = self.noise
        around = self._around.log_density((coefficients - self.mean) * np.exp(-0.5 * log_noise))
        noise = a * np.log(b) - gammaln(a) - a * log_noise - b * np.exp(-log_noise)
        return float(around - 0.5 * len(self.mean) * log_noise + noise)

    def sample(self, rng: np.random.Generator, m: int) -> Array:
        """σ² from its inverse gamma, then θ = μ + σ · N(0, C A⁻¹)."""
        variance = self.noise.scale / rng.gamma(self.noise.shape, size=m)
        theta = self.mean + np.sqrt(variance)[:, None] * self._around.sample(rng, m)
        return np.column_stack([theta, np.log(variance)])

    def predict_proba(self, X: Array) -> Array:
        """Predictive means: for regression, the point forecast."""
        rows = with_intercept(np.asarray(X, dtype=float), self._intercept)
        return np.asarray(rows @ self.mean, dtype=float)

    def information_gain(self) -> float:
        """KL(posterior ‖ prior) in nats."""
        return self._fit.information_gain()
