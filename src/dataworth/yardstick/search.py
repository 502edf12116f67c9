"""The search of a yardstick: features, exponents and priors, on halves of the test set.

The candidate with the best held-out likelihood wins among those near the best on which doubling data does not
look informative (`probes`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from ..arrays import Array, Rows
from ..data.dataset import Dataset
from ..errors import DataworthError
from .kinds import YardstickModel
from .probes import SPLITS, doubling_probe, half_given_half, halves
from .recipe import Basis

SIZES = (1, 2, 3, 5, 10, 20, 40, 80, 160)
ALWAYS_TRIED = 40
EXPONENTS = (0.0, 0.5, 1.0)
PRIORS = tuple(float(f"{c:.3g}") for c in 10.0 ** np.arange(-4.0, 3.01, 0.5))
NOISES = (0.03, 0.1, 0.3, 0.6, 1.0)
ROWS = 1000
"""Rows of the test set that the search uses at most; the recipe's axes come from the same rows."""
MOST_PROBED = 60
SPLITS_OF_SOFTMAX, PROBED_OF_SOFTMAX = 3, 10
"""A fit of ten classes has 45 times the operations of one of two (K² − K), so its search takes fewer."""
LEAST_ALLOWANCE, ALLOWANCE = 3.0, 0.1
"""Held-out nats, and part of the best held-out likelihood, within which a candidate is near the best."""


@dataclass(frozen=True, kw_only=True)
class Trial:
    """One candidate of the search: mean held-out log-likelihood of a half, and the doubling probe (nats).

    >>> tried = Trial(size=2, exponent=0.5, prior_variance=1.0, held_out=-30.0)
    >>> [replace(tried, probe=probe, probe_stderr=0.2).calibrated for probe in (-0.5, 0.1, 0.3)]
    [True, True, False]
    """

    size: int
    exponent: float
    prior_variance: float
    noise_variance: float | None = None
    held_out: float
    probe: float | None = None
    probe_stderr: float | None = None

    @property
    def calibrated(self) -> bool:
        """Whether the doubling probe is not shown positive: not above one standard error."""
        return self.probe is not None and self.probe_stderr is not None and self.probe <= self.probe_stderr


def searched(test: Dataset, seed: int, kind: str) -> tuple[Dataset, list[tuple[Rows, Rows]]]:
    """The rows of a test set that a search uses, and their halves; groups are whole in both."""
    rng = np.random.default_rng([seed, 0x7E57])
    sample = test.take(np.sort(_some(test, rng)))
    return sample, halves(len(sample), rng, splits_of(kind), sample.groups)


def _some(test: Dataset, rng: np.random.Generator) -> Rows:
    """At most ROWS rows: whole groups in random order, each that still fits.

    Where groups are so large that half of the room stays empty, rows at random: what is left of a group still
    lies in one half.
    """
    if test.groups is not None and len(test) > ROWS:
        _, member, sizes = np.unique(test.groups, return_inverse=True, return_counts=True)
        room, kept = ROWS, []
        for group in rng.permutation(len(sizes)):
            if sizes[group] <= room:
                room -= sizes[group]
                kept.append(group)
        if 2 * room <= ROWS:
            return np.flatnonzero(np.isin(member, kept))
    return rng.permutation(len(test))[:ROWS]


def splits_of(kind: str) -> int:
    """How often the test set is halved for a model of this kind.

    >>> splits_of("logistic"), splits_of("softmax")
    (6, 3)
    """
    return SPLITS_OF_SOFTMAX if kind == "softmax" else SPLITS


@dataclass(frozen=True)
class Search:
    """Held-out likelihood and doubling probe of candidates, on fixed halves of the test set."""

    sample: Dataset
    basis: Basis
    targets: Array
    make: Callable[[float, float | None], YardstickModel]
    splits: list[tuple[Rows, Rows]]
    most_probed: int = MOST_PROBED

    def run(self, noises: tuple[float | None, ...], prior_variance: float | None) -> Trial:
        """The candidate with the best held-out likelihood among those near the best that are calibrated.

        If none is, the one with the least positive probe, and `calibrated` says so.
        """
        trials = sorted(self.candidates(noises, prior_variance), key=lambda t: -t.held_out)
        if not trials:
            raise DataworthError("every feature of the test set is constant; there is nothing to learn from.")
        near = [t for t in trials if t.held_out >= trials[0].held_out - self.allowance(trials[0])]
        probed: list[Trial] = []
        for trial in near[: self.most_probed]:
            probe, stderr = self.probe(trial)
            probed.append(replace(trial, probe=probe, probe_stderr=stderr))
            if probed[-1].calibrated:
                return probed[-1]
        return min(probed, key=lambda t: t.probe if t.probe is not None else np.inf)

    @staticmethod
    def allowance(best: Trial) -> float:
        """Held-out nats that calibration may cost: a model that sees less is the worse evil."""
        return max(LEAST_ALLOWANCE, ALLOWANCE * abs(best.held_out))

    def candidates(self, noises: tuple[float | None, ...], prior_variance: float | None) -> Iterator[Trial]:
        """Every size and exponent, each with priors around its best one.

        Every size up to 40 is tried, since what matters may lie behind axes that do not; larger ones, which
        cost more, only until one brings nothing.
        """
        most = max(1, len(self.sample) // 6)
        sizes = sorted({min(k, self.basis.rank) for k in SIZES if k <= most} - {0})
        best, center = -np.inf, PRIORS.index(1.0)
        for size in sizes:
            top = -np.inf
            for exponent in EXPONENTS if size > 1 else (1.0,):
                features = self.basis.recipe(size, exponent).features(self.sample)
                for noise in noises:
                    found = self.climb(features, (size, exponent, noise), center, prior_variance)
                    yield from found.values()
                    index = max(found, key=lambda i: found[i].held_out)
                    if found[index].held_out > top:
                        top, center = found[index].held_out, index
            if size >= ALWAYS_TRIED and top <= best:
                return
            best = max(best, top)

    def climb(
        self, features: Array, tried: tuple[int, float, float | None], center: int, fixed: float | None
    ) -> dict[int, Trial]:
        """Held-out likelihood on the grid of priors, uphill from `center`, and one step past the top.

        `tried` is what the features are, and the noise: size, exponent, noise variance.

        Wider priors than the best are kept as candidates too: they are more confident, so they may pass the
        probe where the best does not.
        """
        size, exponent, noise = tried
        priors = PRIORS if fixed is None else (fixed,)
        center = min(center, len(priors) - 1)
        found: dict[int, Trial] = {}

        def at(i: int) -> float:
            if not 0 <= i < len(priors):
                return -np.inf
            if i not in found:
                held_out = self.held_out(features, priors[i], noise)
                found[i] = Trial(
                    size=size,
                    exponent=exponent,
                    prior_variance=priors[i],
                    noise_variance=noise,
                    held_out=held_out,
                )
            return found[i].held_out

        while max(at(center - 1), at(center + 1)) > at(center):
            center += 1 if at(center + 1) > at(center - 1) else -1
        for i in range(center + 1, center + 4):
            at(i)
        return found

    def held_out(self, features: Array, prior_variance: float, noise: float | None) -> float:
        """Mean of log p(T_b | T_a) = log Z(T) − log Z(T_a) over halves, both ways round."""
        fitter = self.make(prior_variance, noise).bind(features, self.targets)
        return half_given_half(fitter, self.splits, self.sample.weights)

    def probe(self, trial: Trial) -> tuple[float, float]:
        """The doubling probe of a candidate."""
        features = self.basis.recipe(trial.size, trial.exponent).features(self.sample)
        model = self.make(trial.prior_variance, trial.noise_variance)
        return doubling_probe(model.bind(features, self.targets), self.splits, self.sample.weights)
