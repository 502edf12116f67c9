"""Forms of the score for posteriors that are known by their densities and draws alone.

A model's prior is its posterior given no rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays import Array
from ..errors import DataworthError
from ..models import Fit, Fitter, Posterior

DRAWS = 4000
SEED = 0x5EED
LEAST_EFFECTIVE = 100.0


def prior_of(fitter: Fitter) -> Any:
    """The posterior given nothing."""
    return fitter(np.zeros(0, dtype=np.intp)).state


def eta_by_density(fitter: Fitter, data: Fit, test: Fit, joint: Fit, eta: Array | float) -> float:
    """Log p(η|D) p(η|T) / (p(η) p(η|D,T)); η = 0 stands for a vector of zeros."""
    width = prior_of(fitter).sample(np.random.default_rng(SEED), 1).shape[1]
    point = np.zeros(width) if np.ndim(eta) == 0 else np.asarray(eta, dtype=float)
    if point.shape != (width,):
        raise DataworthError(f"eta has shape {point.shape}; the model has {width} parameters.")
    with np.errstate(invalid="ignore"):  # ∞ − ∞ is said in a sentence
        (value,) = _log_ratios(fitter, data, test, joint, point[None])
    if not np.isfinite(value):
        raise DataworthError("at this eta a density is zero or infinite: give an eta inside the posteriors.")
    return float(value)


def kl_by_density(fitter: Fitter, data: Fit, test: Fit, joint: Fit) -> tuple[float, float]:
    """`eta` averaged over draws from the joint, with its standard error."""
    draws = joint.state.sample(np.random.default_rng(SEED), DRAWS)
    return mean_and_error(_log_ratios(fitter, data, test, joint, draws))


def _log_ratios(fitter: Fitter, data: Fit, test: Fit, joint: Fit, points: Array) -> Array:
    """Log p(η|D) p(η|T) / (p(η) p(η|D,T)) at each η."""
    of_data, of_test, of_joint = (log_densities(fit.state, points) for fit in (data, test, joint))
    return of_data + of_test - log_densities(prior_of(fitter), points) - of_joint


def mean_and_error(values: Array) -> tuple[float, float]:
    """The mean of independent values, and its standard error."""
    return float(values.mean()), float(values.std(ddof=1) / np.sqrt(len(values)))


def integral_by_density(fitter: Fitter, data: Fit, test: Fit) -> tuple[float, float]:
    """Log ∫ p(θ|D) p(θ|T) / p(θ) dθ, with its standard error.

    By importance sampling from ½ p(θ|D) + ½ p(θ|T); refuses if too few draws matter.
    """
    prior = prior_of(fitter)
    parts = (data.state, test.state)
    rng = np.random.default_rng(SEED)
    draws = np.concatenate([p.sample(rng, DRAWS // 2) for p in parts])
    densities = np.array([log_densities(p, draws) for p in parts])
    log_weights = densities.sum(axis=0) - log_densities(prior, draws)
    log_weights -= np.logaddexp(*densities) - np.log(2.0)
    top = max(float(log_weights.max()), float(np.finfo(float).min))
    weights = np.exp(log_weights - top)
    effective = weights.sum() ** 2 / max((weights**2).sum(), 1.0)
    if not effective >= LEAST_EFFECTIVE:
        raise DataworthError(
            f"the integral rests on {effective:.0f} of {len(draws)} draws, {LEAST_EFFECTIVE:.0f} are needed: "
            "the two posteriors hardly overlap; use the form evidence."
        )
    error = weights.std(ddof=1) / weights.mean() / np.sqrt(len(weights))
    return float(top + np.log(weights.mean())), float(error)


def log_densities(posterior: Posterior, draws: Array) -> Array:
    """Log density at each draw."""
    return np.array([posterior.log_density(theta) for theta in draws])
