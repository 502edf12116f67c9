"""What a model obeys: to rounding on one dataset, and on average over datasets that it simulates itself."""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from ..arrays import Array
from ..models.base import fit_with
from .subject import POINTS, ROUGH, Check, NotApplicable, Result, Subject

DRAWS = 1000
WIDEST = 30
LEAST_OVERLAP = 0.1


def protocol(s: Subject) -> Result:
    """Whether fits, draws and densities are what the protocol says."""
    meaning = "fit gives a finite log_evidence, and the same again; draws and densities are numbers"
    posterior = s.model.fit(s.X, s.y)
    evidence = posterior.log_evidence
    if not (isinstance(evidence, (int, float, np.floating)) and np.isfinite(evidence)):
        return False, None, None, f"log_evidence is {evidence!r}; it must be a finite number"
    if not np.isfinite(s.log_z(s.all)):
        return False, None, None, "a bound model's log_z is not finite"
    if hasattr(posterior, "sample"):
        draws = [np.asarray(posterior.sample(np.random.default_rng(0), 3)) for _ in range(2)]
        if draws[0].ndim != 2 or len(draws[0]) != 3 or not np.array_equal(draws[0], draws[1]):
            return False, None, None, "sample(rng, 3) must give 3 rows of parameters, the same for one seed"
        if hasattr(posterior, "log_density") and not all(
            np.isfinite(posterior.log_density(t)) for t in draws[0]
        ):
            return False, None, None, "log_density is not finite at a draw of the posterior itself"
    return s.near(s.model.fit(s.X, s.y).log_evidence - evidence, meaning)


def _no_rows(s: Subject) -> Result:
    return s.near(s.log_z(s.none), "the log evidence of no rows is 0")


def _symmetry(s: Subject) -> Result:
    data, test = s.fitter(s.data), s.fitter(s.test)
    there = s.log_z(np.concatenate([s.data, s.test]), (data, test))
    back = s.log_z(np.concatenate([s.test, s.data]), (test, data))
    return s.near(there - back, "either way around the same: U(D,T) = U(T,D)", 2.0)


def _no_data(s: Subject) -> Result:
    nothing, test = s.fitter(s.none), s.fitter(s.test)
    joint = s.log_z(np.concatenate([s.none, s.test]), (nothing, test))
    return s.near(joint - nothing.log_z - test.log_z, "nothing is worth nothing: U(∅,T) = 0", 2.0)


def _order(s: Subject) -> Result:
    rng, there = s.rng(0x0DE5), s.log_z(s.all)
    orders = [s.all[::-1], *(rng.permutation(s.all) for _ in range(POINTS))]
    gaps = [s.log_z(rows) - there for rows in orders]
    return s.near(float(np.abs(gaps).max()), "the order of rows does not matter", 2.0)


def _weights(s: Subject) -> Result:
    if not s.takes(2.0):
        raise NotApplicable("the model takes no weights")
    counts = np.resize([1, 3, 0, 2], len(s.all))
    repeated = s.log_z(np.repeat(s.all, counts))
    bound = float(s.fitter(s.all, weights=counts.astype(float)).log_z)
    alone = fit_with(s.model, s.X[s.all], s.y[s.all], counts.astype(float)).log_evidence
    worst = max(abs(bound - repeated), abs(alone - repeated))
    return s.near(worst, "a row of weight 2 counts as two rows, one of weight 0 as none", 3.0)


def _bind(s: Subject) -> Result:
    # a part that has every target: models may count the classes of what they are given
    part = np.unique(np.concatenate([np.unique(s.y, axis=0, return_index=True)[1], s.data]))
    gaps = [s.model.fit(s.X[r], s.y[r]).log_evidence - s.log_z(r) for r in (s.all, part)]
    return s.near(float(np.abs(gaps).max()), "a bound model's evidence of rows is that of fitting them", 2.0)


def _warm(s: Subject) -> Result:
    cold, parts = s.fitter(s.all), (s.fitter(s.data), s.fitter(s.test))
    gaps = [s.log_z(s.all, start) - cold.log_z for start in (parts, parts[::-1], (cold,))]
    return s.near(float(np.abs(gaps).max()), "where a fit starts does not matter", 2.0)


def _predictive(s: Subject) -> Result:
    posterior = s.forecaster(s.data)
    forecast = np.asarray(posterior.predict_proba(s.X[s.test]), dtype=float)
    if s.numbers:
        fine = forecast.shape == s.y[s.test].shape and bool(np.isfinite(forecast).all())
        return fine, None, None, "predictions are one finite mean a row, of vectors one an output"
    if forecast.ndim != 2 or len(forecast) != len(s.test) or not (forecast >= -1e-12).all():
        return False, None, None, "predict_proba must give a row of probabilities for each row"
    gap = float(np.abs(forecast.sum(axis=1) - 1.0).max())
    return bool(gap <= 1e-6), gap, 1e-6, "predicted probabilities add up to 1"


def _identity(s: Subject) -> Result:
    joint = s.asked(s.all, "log_density", "sample")
    data, test, prior = (s.posterior(rows) for rows in (s.data, s.test, s.none))
    points = joint.sample(s.rng(0xE7A), POINTS)
    parts = np.array([[p.log_density(t) for t in points] for p in (data, test, prior, joint)])
    gap = float(np.abs(parts[0] + parts[1] - parts[2] - parts[3] - s.pmi).max())
    meaning = f"log p(η|D)p(η|T)/(p(η)p(η|D,T)) = U(D,T) at {POINTS} η"
    scale = 1.0 + 1e-2 * float(np.abs(parts).max())
    return s.of_exact(s.near(gap, meaning, scale))


def _density(s: Subject) -> Result:
    """E_p[q/(p+q)] = E_q[p/(p+q)] for any Gaussian q if p is a density and the draws are its own (Bennett).

    Both sides lie between 0 and 1 whatever the tails and the support of p.
    """
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


# --- expectations, over datasets that the model itself simulates -------------------------------------------

TAIL = 3.0


def _no_gain(name: str, meaning: str) -> Check:
    """E[U(f(D),T)] ≤ E[U(D,T)]."""

    def check(s: Subject) -> Result:
        if name not in s.trials.gains:
            raise NotApplicable("the model takes no weights")
        gain = s.trials.gains[name]
        bound = s.quantile * float(gain.std(ddof=1)) / np.sqrt(len(gain)) + 1e-9
        return bool(gain.mean() <= bound), float(gain.mean()), float(bound), meaning

    return check


def _balance(s: Subject) -> Result:
    """E_apart[σ(U)] = E_joint[σ(−U)]: exp U is the ratio of the two densities of (D,T); bounded at any U."""
    meaning = "exp U is how much likelier a pair is of one θ than of two: E σ(U) apart = E σ(−U) together"
    if not s.exact:
        meaning = f"{meaning} ({ROUGH:g} allowed: not said to be exact)"
    return s.agree(expit(s.trials.apart), expit(-s.trials.joint), meaning, 0.0 if s.exact else ROUGH)


def _mean_exp(s: Subject) -> Result:
    """E[exp U] = 1 with its tail bounded: E[exp U; U ≤ M] over independent pairs + P(U > M) of one θ is 1."""
    information = float(s.trials.joint.mean())
    if information >= 1.0:
        raise NotApplicable(f"I(D;T) is {information:.1f} nats; the mean of exp U settles only below 1")
    ours = np.where(s.trials.apart <= TAIL, np.exp(np.minimum(s.trials.apart, TAIL)), 0.0)
    theirs = (s.trials.joint > TAIL).astype(float)
    # E ours + E theirs = 1, that is E ours = E (1 − theirs)
    return s.of_exact(s.agree(ours, 1.0 - theirs, "E exp U = 1 over independent pairs"))


ON_ONE: dict[str, Check] = {
    "no rows": _no_rows,
    "symmetry": _symmetry,
    "no data": _no_data,
    "row order": _order,
    "weights": _weights,
    "bind": _bind,
    "warm starts": _warm,
    "predictive": _predictive,
    "Bayes' identity": _identity,
    "density": _density,
}
ON_AVERAGE: dict[str, Check] = {
    "information": _no_gain("no rows", "data processing: no rows are worth no more than D, so E U(D,T) ≥ 0"),
    "half the rows": _no_gain("half the rows", "data processing: half of D is worth no more than D"),
    "noisy labels": _no_gain("noisy labels", "data processing: D with noisy labels is worth no more than D"),
    "shuffled labels": _no_gain("shuffled labels", "truthfulness: D with its labels shuffled scores no more"),
    "rows doubled": _no_gain("rows doubled", "truthfulness: D reported twice scores no more than D"),
    "rows halved": _no_gain("rows halved", "truthfulness: D reported at half weight scores no more than D"),
    "balance": _balance,
    "mean of exp U": _mean_exp,
}
