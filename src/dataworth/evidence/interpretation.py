"""Why a score is what it is: its parts.

With J = p(θ|D,T), the belief that both datasets lead to,

    U(D, T) = KL(J ‖ prior) − KL(J ‖ p(θ|D)) − KL(J ‖ p(θ|T))
              confidence      disagreement with the data, and with the test set

Each is made of means over J, E_J log p(θ|S)/p(θ) = E_J log p(S|θ) − log Z(S); where an approximate density
stands in place of p(S|θ), or the score is of another form or a mean over temperings, what is left of it is
`unexplained`. As information about θ, PI(S) = KL(J ‖ prior) − KL(J ‖ p(θ|S)), and

    U(D, T) = PI(D) + PI(T) − PI(D∪T) = PI(D) − PI(D|T) = PI(T) − PI(T|D).

How much the two posteriors differ is the dual skew G-Jensen–Shannon divergence at α = ½ (Nielsen 2019),

    JS = −log ∫ √(p(θ|D) p(θ|T)) dθ,

and for k Gaussian coefficients under N(0, C·I), U(D, T) → ½ log |Σ_0|/|Σ_J| − 2 JS − k log 2 as C grows.

Gaussians are sites on rows (`forms`), ℓ_S in place of log p(S|θ) and G_S of log Z(S); logistic
likelihoods are taken as they are, for the Gaussians that stand for few rows are far off where J is. JS is
½(G_D + G_T) − G of both sets' halved sites. Other posteriors are asked for draws and densities.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np

from ..arrays import Array
from ..inference.logistic import Counts, mean_log_likelihood
from ..models import GaussianPrior, GaussianRows, Linear, Logistic, LogisticFitter
from ..models.gaussian import GaussianPosterior
from ..models.multi_linear import MatrixPosterior
from .densities import DRAWS, SEED, log_densities, mean_and_error, prior_of
from .forms import Pair, conditioned, log_norm_together

LOG_2 = float(np.log(2.0))
SHOWN = (
    *("value", "confidence", "against_data", "against_test", "unexplained"),
    *("information_data", "information_test", "divergence"),
)
"""The parts that have a mean over pairs."""


@dataclass(frozen=True, kw_only=True)
class Parts:
    """The parts of one pair's score, in nats: value = confidence − against_data − against_test + unexplained.

    confidence: KL(J ‖ prior). against_data, against_test: KL(J ‖ p(θ|D)) and KL(J ‖ p(θ|T)). divergence: JS.
    variance_reduction: ½ log |Σ_0|/|Σ_J|, and coefficients: k, where posteriors are Gaussian. stderr: of
    those that were sampled.
    """

    value: float
    confidence: float
    against_data: float
    against_test: float
    divergence: float
    variance_reduction: float | None = None
    coefficients: int | None = None
    stderr: dict[str, float] = field(default_factory=dict)

    @property
    def unexplained(self) -> float:
        """What approximate densities, or another form of the score, leave of the value."""
        return self.value - (self.confidence - self.against_data - self.against_test)

    @property
    def information_data(self) -> float:
        """PI(D): how much nearer to J the data bring the prior."""
        return self.confidence - self.against_data

    @property
    def information_test(self) -> float:
        """PI(T): how much nearer to J the test set brings the prior."""
        return self.confidence - self.against_test

    @property
    def uninformative(self) -> float | None:
        """What the value tends to as a Gaussian prior widens: ½ log |Σ_0|/|Σ_J| − 2 JS − k log 2."""
        if self.variance_reduction is None or self.coefficients is None:
            return None
        return self.variance_reduction - 2.0 * self.divergence - self.coefficients * LOG_2

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        told = {name: getattr(self, name) for name in SHOWN}
        told |= {"variance_reduction": self.variance_reduction, "uninformative": self.uninformative}
        return told | {"stderr": dict(self.stderr)}


def parts_of(pair: Pair, value: float | None = None, draws: int = DRAWS, seed: int = SEED) -> Parts:
    """The parts of a pair's score, which is its log evidence unless another `value` is given."""
    if value is None:
        value = pair.joint().log_z - pair.data.log_z - pair.test.log_z
    if isinstance(pair.fitter, GaussianRows):
        return _gaussian_parts(pair.fitter, pair, value)
    if isinstance(pair.data.state, MatrixPosterior):
        return _matrix_parts(pair, value)
    return _sampled_parts(pair, value, draws, seed)


def parts_given(
    model: Logistic | Linear, prior: GaussianPrior, test: tuple[Array, Array, Array | None]
) -> Parts:
    """The parts of log Z_T[N_D] − log Z_T[prior]: a posterior N_D of the data is the prior of the test rows.

    J is the posterior of the test rows under N_D, and log N_D(θ)/p(θ) stands for log p(D|θ) − log Z(D):

        value = E_J log N_D/p + (E_J log p(T|θ) − log Z_T[p]) − KL(J ‖ p).

    `test` are its features, targets and weights.
    """
    both, alone = (cast(GaussianPosterior, model.fit(*test, prior=one)) for one in (prior, None))
    d, log_c = len(prior.mean), np.log(model.prior_variance)
    covariance = np.linalg.inv(both.precision)
    off = both.mean - prior.mean
    square_data = float(off @ prior.precision @ off) + float(np.trace(prior.precision @ covariance))
    square_prior = (float(both.mean @ both.mean) + float(np.trace(covariance))) / model.prior_variance
    log_det = float(np.linalg.slogdet(prior.precision)[1])
    by_data = 0.5 * (log_det + d * log_c - square_data + square_prior)
    heard = _mean_log_likelihood(model, both, test)
    confidence, by_test = by_data + heard - both.log_evidence, heard - alone.log_evidence
    own, other = np.linalg.inv(prior.precision), np.linalg.inv(alone.precision)
    apart = prior.mean - alone.mean
    middle = 0.5 * (own + other)
    shapes = [float(np.linalg.slogdet(one)[1]) for one in (middle, own, other)]
    return Parts(
        value=by_data + by_test - confidence,
        confidence=confidence,
        against_data=confidence - by_data,
        against_test=confidence - by_test,
        # Bhattacharyya's distance of two Gaussians
        divergence=float(apart @ np.linalg.solve(middle, apart)) / 8.0
        + 0.5 * (shapes[0] - 0.5 * (shapes[1] + shapes[2])),
        variance_reduction=0.5 * (d * log_c - float(np.linalg.slogdet(covariance)[1])),
        coefficients=d,
    )


def _mean_log_likelihood(
    model: Logistic | Linear, belief: Any, test: tuple[Array, Array, Array | None]
) -> float:
    """E log p(T|θ) under a Gaussian posterior."""
    X, y, weights = test
    w = np.ones(len(y)) if weights is None else weights
    mean, variance = belief.predictor(X)
    if isinstance(model, Logistic):
        return mean_log_likelihood(mean, variance, Counts(w * y, w * (1.0 - y)))
    noise: Any = model.noise_variance
    return float(-0.5 * (w @ (np.log(2.0 * np.pi * noise) + ((y - mean) ** 2 + variance) / noise)))


def _gaussian_parts(pool: GaussianRows, pair: Pair, value: float) -> Parts:
    """In closed form, by sites, or by mean log-likelihoods where sites are an approximation of these."""
    fits, parts = list(pair.settled.values()), pair.gaussians
    data, test, joint = parts
    given, variance = conditioned(pool, joint)
    places = [np.searchsorted(joint.ids, part.ids) for part in parts]
    if isinstance(pool, LogisticFitter):
        heard = [
            mean_log_likelihood(joint.mean[place] + pool.offset[part.ids], variance[place], fit.state.counts)
            for part, place, fit in zip(parts[:2], places[:2], fits[:2], strict=True)
        ]
        gains = [one - fit.log_z for one, fit in zip([*heard, sum(heard)], fits, strict=True)]
    else:
        gains = [
            part.log_sites(joint.mean[place], variance[place]) - part.log_norm
            for part, place in zip(parts, places, strict=True)
        ]
    return Parts(
        value=value,
        confidence=gains[2],
        against_data=gains[2] - gains[0],
        against_test=gains[2] - gains[1],
        # ½(G_D + G_T) − G of the halved sites of both
        divergence=0.5 * (data.log_norm + test.log_norm) - log_norm_together(pool, (data, test), 0.5),
        variance_reduction=0.5 * given.factor.log_det(),
        coefficients=pool.X.shape[1],
    )


def _matrix_parts(pair: Pair, value: float) -> Parts:
    """In closed form: KL(J ‖ D) = E_J log p(T | θ) − log p(T | D), and so on."""
    data, test, joint = pair.data.state, pair.test.state, pair.joint().state
    heard = [joint.told.mean_log_likelihood(*part.seen) for part in (data, test)]
    return Parts(
        value=value,
        confidence=sum(heard) - joint.log_evidence,
        against_data=heard[1] - (joint.log_evidence - data.log_evidence),
        against_test=heard[0] - (joint.log_evidence - test.log_evidence),
        divergence=data.divergence(test),
    )


def _sampled_parts(pair: Pair, value: float, draws: int, seed: int) -> Parts:
    """From draws of the joint posterior, the same for all three: their errors cancel in the sum."""
    prior, joint = prior_of(pair.fitter), pair.joint().state
    data, test = pair.data.state, pair.test.state
    rng = np.random.default_rng(seed)
    theta = joint.sample(rng, draws)
    own = log_densities(joint, theta)
    compared = {"confidence": prior, "against_data": data, "against_test": test}
    found = {name: mean_and_error(own - log_densities(part, theta)) for name, part in compared.items()}
    found["divergence"] = _divergence(data, test, rng, draws)
    means: dict[str, Any] = {name: mean for name, (mean, _) in found.items()}
    return Parts(value=value, **means, stderr={name: error for name, (_, error) in found.items()})


def _divergence(data: Any, test: Any, rng: np.random.Generator, draws: int) -> tuple[float, float]:
    """−log ∫ √(pq), by draws from ½p + ½q.

    The weights √(pq) / (½p + ½q) lie between 0 and 1, so that the error is one that can be trusted.
    """
    theta = np.concatenate([part.sample(rng, draws // 2) for part in (data, test)])
    gap = np.abs(log_densities(data, theta) - log_densities(test, theta))
    weights = 1.0 / np.cosh(np.minimum(0.5 * gap, 350.0))
    mean, error = mean_and_error(weights)
    return float(-np.log(mean)), float(error / mean)
