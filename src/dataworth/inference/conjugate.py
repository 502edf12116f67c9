"""PMI of conjugate models by their log-normalisers alone: the route of Chen et al. (2020).

Where prior and posteriors are of one family p(θ|λ) = exp(λ·t(θ) − A(λ)) h(θ), data add to the natural
parameters: λ_S = λ_0 + (sufficient statistics of S). So λ_{D∪T} = λ_D + λ_T − λ_0, and since
log Z(S) = A(λ_S) − A(λ_0) + (what cancels),

    PMI(D, T) = A(λ_D + λ_T − λ_0) − A(λ_D) − A(λ_T) + A(λ_0).

The two posteriors and the prior are all it takes: no rows, no joint fit. (Y. Chen, Y. Shen, S. Zheng,
Truthful Data Acquisition via Peer Prediction, NeurIPS 2020, where g = exp(−A).)

Natural parameters are tuples of arrays that add entry by entry. Sufficient statistics forget the rows, and
with them digits: where labels of 1e6 fit to 1e-3, use the model's evidence (`inference.gaussian`), whose
residuals do not cancel.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg import solve_triangular
from scipy.special import gammaln

from ..arrays import Array
from ..errors import DataworthError

Natural = tuple[Array, ...]
LARGE = 1000.0
"""From here on two terms of Stirling's series give all digits."""


def normaliser_pmi(
    log_normaliser: Callable[[Natural], float], prior: Natural, data: Natural, test: Natural
) -> float:
    """A(λ_D + λ_T − λ_0) − A(λ_D) − A(λ_T) + A(λ_0), in nats.

    One coin, two tosses: under a uniform prior P(11) = 1/3 and P(1) = 1/2, so PMI = log(4/3).

    >>> prior, heads = (np.array([1.0, 1.0]),), (np.array([1.0, 2.0]),)
    >>> round(float(np.exp(normaliser_pmi(dirichlet_log_normaliser, prior, heads, heads))), 6)
    1.333333
    """
    shapes = [[np.shape(part) for part in natural] for natural in (prior, data, test)]
    if not shapes[0] == shapes[1] == shapes[2]:
        raise DataworthError(
            f"prior, data and test have natural parameters of shapes {shapes[0]}, {shapes[1]} and "
            f"{shapes[2]}; they must be of one family and size: make both posteriors from the same prior."
        )
    joint = tuple(d + t - p for d, t, p in zip(data, test, prior, strict=True))
    return log_normaliser(joint) - log_normaliser(data) - log_normaliser(test) + log_normaliser(prior)


# --- classes: Dirichlet prior, categorical labels (two classes: Beta and Bernoulli) ------------------------


def dirichlet_log_normaliser(natural: Natural) -> float:
    """A(α) = Σ log Γ(αᵢ) − log Γ(Σ αᵢ), the log of the multivariate Beta function."""
    (alpha,) = natural
    if not (alpha > 0).all():
        raise DataworthError(f"concentrations are {alpha.tolist()}; a Dirichlet needs positive ones.")
    return float(gammaln(alpha).sum() - gammaln(alpha.sum()))


def log_rising(start: float, steps: Array | float) -> Array:
    """Log Γ(a + n)/Γ(a), a = start and n = steps, with the digits that subtracting would lose at large a."""
    steps = np.asarray(steps, dtype=float)
    if start < LARGE:
        return np.asarray(gammaln(start + steps) - gammaln(start), dtype=float)
    # Stirling's series, term by term: (a − ½) log(1 + n/a) + n log(a + n) − n, and 1/12a − 1/360a³
    end = start + steps
    series = [1.0 / (12.0 * a) - 1.0 / (360.0 * a**3) for a in (end, start)]
    return (start - 0.5) * np.log1p(steps / start) + steps * (np.log(end) - 1.0) + (series[0] - series[1])


# --- numeric labels with unknown noise: normal-inverse-gamma prior on coefficients and noise variance ------


def nig_prior(features: int, prior_variance: float, shape: float, scale: float) -> Natural:
    """θ|σ² ~ N(0, σ² C·I), σ² ~ InverseGamma(shape a, scale b), as (Pμ, P, 2b + μᵀPμ, 2a)."""
    return np.zeros(features), np.eye(features) / prior_variance, np.array(2.0 * scale), np.array(2.0 * shape)


def nig_posterior(prior: Natural, X: Array, y: Array, weights: Array | None = None) -> Natural:
    """(h + XᵀWy, P + XᵀWX, total + yᵀWy, count + Σw); σ² is the common unit, so it does not appear."""
    h, P, total, count = prior
    w = np.ones(len(y)) if weights is None else np.asarray(weights, dtype=float)
    weighted = X * w[:, None]
    return h + weighted.T @ y, P + weighted.T @ X, total + float(w @ y**2), count + float(w.sum())


def nig_log_normaliser(natural: Natural) -> float:
    """A = log Γ(a) − a log b − ½ log det P + (d/2) log 2π, with 2a = count and 2b = total − hᵀP⁻¹h."""
    h, P, total, count = natural
    try:
        L = np.linalg.cholesky(P)
    except np.linalg.LinAlgError as error:
        raise DataworthError(
            "the precision is not positive definite: both posteriors must be made from the same proper prior."
        ) from error
    z = solve_triangular(L, h, lower=True) if len(h) else h
    log_det = 2.0 * float(np.log(np.diag(L)).sum())
    a, b = float(count) / 2.0, (float(total) - float(z @ z)) / 2.0
    if not (a > 0 and b > 0):
        raise DataworthError(
            f"shape {a:g} and scale {b:g} of the noise must be positive: give a proper prior (a scale that "
            "rounding cannot swallow)."
        )
    return float(gammaln(a)) - a * float(np.log(b)) + 0.5 * (len(h) * float(np.log(2.0 * np.pi)) - log_det)
