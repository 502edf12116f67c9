"""The forms of the score. One number for exact posteriors; for approximate ones a choice.

    evidence   log Z(D∪T) − log Z(D) − log Z(T)
    eta        log p(η|D) p(η|T) / (p(η) p(η|D,T)) at one η: the paper's theorem as printed
    product    the same with the joint made of the two posteriors (the paper's Corollary for Gaussians)
    kl         KL(joint‖prior) − KL(joint‖D) − KL(joint‖T): `eta` averaged over η ~ p(η|D,T)
    sealed     log Z(T) under the prior p(θ|D), less log Z(T) under p(θ)
    integral   log ∫ p(θ|D) p(θ|T) / p(θ) dθ: `product` where posteriors are Gaussian

Gaussian posteriors come as sites on rows, p(θ|S) = p(θ) Πᵢ exp(νᵢgᵢ − ½τᵢgᵢ²) / exp(G_S), and every form is a
sum of sites and normalisers:

    eta: ℓ_D(η) + ℓ_T(η) − ℓ_J(η) + G_J − G_D − G_T,  ℓ_S(η) = Σ_{i∈S} νᵢgᵢ − ½τᵢgᵢ² at g = Xη;
    kl: its mean over the joint;   product: G of both sets' sites together − G_D − G_T.

Posteriors of other kinds are asked for their densities and draws (`dataworth.evidence.densities`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Array, Rows
from ..errors import DataworthError
from ..inference.sites import Conditioned, Sites, condition, marginals
from ..models import Fit, Fitter, GaussianRows, RowGaussian
from .densities import eta_by_density, integral_by_density, kl_by_density

FORMS = ("evidence", "eta", "product", "kl", "sealed", "integral")
ETAS = ("joint", "data", "test")


@dataclass(frozen=True, eq=False)
class Pair:
    """Two fits of one pool, their joint fit if it is asked for, and the test rows with their weights."""

    fitter: Fitter
    data: Fit
    test: Fit
    joint: Callable[[], Fit]
    test_rows: Rows
    test_weights: Array | None

    @cached_property
    def settled(self) -> dict[str, Fit]:
        """The fits of D, of T and of both, each with a Gaussian posterior in its last digits."""
        assert isinstance(self.fitter, GaussianRows)
        fits = {"data": self.data, "test": self.test, "joint": self.joint()}
        return {name: self.fitter.settle(fit) for name, fit in fits.items()}

    @cached_property
    def gaussians(self) -> list[RowGaussian]:
        """These posteriors, as sites on rows."""
        assert isinstance(self.fitter, GaussianRows)
        return [self.fitter.row_gaussian(fit) for fit in self.settled.values()]


class Scored(NamedTuple):
    """A value in nats, with a standard error if it was sampled."""

    value: float
    stderr: float = 0.0


@dataclass(frozen=True)
class Form:
    """A form by name; η is 0, the mean of a posterior (`joint`, `data`, `test`), or a vector."""

    name: str = "evidence"
    eta: Any = 0

    @classmethod
    def parse(cls, name: str, eta: Any = 0) -> Form:
        """A form, or a sentence."""
        if name not in FORMS:
            raise DataworthError(f"form is {name!r}; known forms: {', '.join(FORMS)}.")
        if isinstance(eta, np.generic):
            eta = eta.item()
        if not (eta in (*ETAS, "0") if isinstance(eta, str) else np.ndim(eta) or eta == 0):
            raise DataworthError(f"eta is {eta!r}; give 0, a vector, or one of: {', '.join(ETAS)}.")
        if isinstance(eta, str) and eta == "0":
            eta = 0
        if name != "eta" and (np.ndim(eta) or eta != 0):
            raise DataworthError(f"eta means nothing to the form {name}: drop it, or use the form eta.")
        return cls(name, eta)

    def of(self, pair: Pair) -> Scored:
        """The value of a pair in this form."""
        if self.name == "evidence" or (self.name == "integral" and pair.fitter.exact):
            return Scored(pair.joint().log_z - pair.data.log_z - pair.test.log_z)
        pool = pair.fitter
        if isinstance(pool, GaussianRows):
            if self.name == "sealed":
                data = pool.settle(pair.data)
                given = pool.log_predictive(data, pair.test_rows, weights=pair.test_weights)
                return Scored(given - pair.test.log_z)
            if self.name == "eta":
                return Scored(_eta(pool, pair, self.eta))
            return Scored(_kl(pool, pair) if self.name == "kl" else _product(pool, pair))
        if self.name in ("product", "sealed"):
            raise DataworthError(
                f"the form {self.name} needs Gaussian posteriors, which this model does not have: "
                "use evidence, eta, kl or integral."
            )
        if self.name == "integral":
            return Scored(*integral_by_density(pair.fitter, pair.data, pair.test))
        if self.name == "kl":
            return Scored(*kl_by_density(pair.fitter, pair.data, pair.test, pair.joint()))
        if isinstance(self.eta, str):
            raise DataworthError("this model's posteriors name no point: give eta as a vector.")
        return Scored(eta_by_density(pair.fitter, pair.data, pair.test, pair.joint(), self.eta))


def _eta(pool: GaussianRows, pair: Pair, eta: Any) -> float:
    """ℓ_D(η) + ℓ_T(η) − ℓ_J(η) + G_J − G_D − G_T."""
    data, test, joint = pair.gaussians
    total = joint.log_norm - data.log_norm - test.log_norm
    for part, sign in ((data, 1.0), (test, 1.0), (joint, -1.0)):
        if isinstance(eta, str) and eta == "joint":
            g = joint.mean[np.searchsorted(joint.ids, part.ids)]
        elif isinstance(eta, str):
            g = pool.predictor(pair.settled[eta], part.ids)
        else:
            g = pool.at(np.zeros(pool.X.shape[1]) if np.ndim(eta) == 0 else eta, part.ids)
        total += sign * part.log_sites(g)
    return total


def _kl(pool: GaussianRows, pair: Pair) -> float:
    """The mean of `eta` over the joint posterior."""
    data, test, joint = pair.gaussians
    total = joint.log_norm - data.log_norm - test.log_norm
    _, variance = conditioned(pool, joint)
    for part, sign in ((data, 1.0), (test, 1.0), (joint, -1.0)):
        place = np.searchsorted(joint.ids, part.ids)
        total += sign * part.log_sites(joint.mean[place], variance[place])
    return total


def _product(pool: GaussianRows, pair: Pair) -> float:
    """Both sets' sites under one prior: Σ̃⁻¹ = Σ_D⁻¹ + Σ_T⁻¹ − Σ_0⁻¹ without a joint fit."""
    data, test = (pool.row_gaussian(pool.settle(fit)) for fit in (pair.data, pair.test))
    return log_norm_together(pool, (data, test)) - data.log_norm - test.log_norm


def conditioned(pool: GaussianRows, part: RowGaussian) -> tuple[Conditioned, Array]:
    """The Gaussian that a set's sites make of the prior, and the variance of its g at each row."""
    geometry = pool.geometry(part.ids)
    given = condition(geometry, part.sites)
    return given, marginals(geometry, part.sites, given.factor).variance


def log_norm_together(pool: GaussianRows, parts: Sequence[RowGaussian], share: float = 1.0) -> float:
    """G of the sites of several sets under one prior, each taken to a power."""
    ids = np.unique(np.concatenate([part.ids for part in parts]))
    sites = Sites(np.zeros(len(ids)), np.zeros(len(ids)))
    for part in parts:
        place = np.searchsorted(ids, part.ids)
        sites.tau[place] += share * part.sites.tau
        sites.nu[place] += share * part.sites.nu
    return condition(pool.geometry(ids), sites).log_norm(sites)
