"""A density and its draws: that it integrates to 1, and that they are drawn from it."""

from __future__ import annotations

import numpy as np

from ..arrays import Array
from .subject import Check, NotApplicable, Result, Subject

DRAWS = 1000
WIDEST = 30
LEAST_OVERLAP = 0.1


def _density(s: Subject) -> Result:
    """E_p[q/(p+q)] = E_q[p/(p+q)] for any Gaussian q if p is a density and the draws are its own (Bennett).

    Both sides lie between 0 and 1 whatever the tails and the support of p.
    """
    from scipy.special import expit

    posterior = s.asked(s.all, "log_density", "sample")
    rng = s.rng(0xB377)
    draws = np.asarray(posterior.sample(rng, 2 * DRAWS), dtype=float)
    width = draws.shape[1]
    if width > WIDEST:
        raise NotApplicable(f"the posterior has {width} parameters; a density is tried up to {WIDEST}")
    mean, covariance = draws[:DRAWS].mean(axis=0), np.atleast_2d(np.cov(draws[:DRAWS].T))
    try:
        root = np.linalg.cholesky(covariance)
    except np.linalg.LinAlgError:
        raise NotApplicable("the draws lie in a plane, where they have no density") from None
    z = rng.standard_normal((DRAWS, width))
    gaussian = mean + z @ root.T
    log_norm = float(np.log(np.diagonal(root)).sum()) + 0.5 * width * float(np.log(2.0 * np.pi))

    def log_ratio(points: Array) -> Array:
        log_p = np.array([posterior.log_density(t) for t in points], dtype=float)
        square = (np.linalg.solve(root, (points - mean).T) ** 2).sum(axis=0)
        return -0.5 * square - log_norm - np.where(np.isnan(log_p), -np.inf, log_p)

    with np.errstate(all="ignore"):
        ours, theirs = expit(log_ratio(draws[DRAWS:])), expit(-log_ratio(gaussian))
    if ours.mean() + theirs.mean() < LEAST_OVERLAP:
        raise NotApplicable("the posterior is too far from any Gaussian to be compared with one")
    return s.agree(ours, theirs, "the density integrates to 1, and the draws are drawn from it")


CHECKS: dict[str, Check] = {"density": _density}
