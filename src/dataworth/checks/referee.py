"""DW006: does sampling, which approximates nothing, confirm the result on a few of its pairs?

The referee samples every log Z that the result's number is made of (Laplace's and EP's errors are what it
judges), with a standard error; the test set's own cancels in a change. It fires if the difference is shown to
matter: |shift| − 2 standard errors beyond half the width of the interval (checks/material.py).
"""

from __future__ import annotations

import numpy as np

from ..arrays import Array
from ..inference.logistic import Counts
from ..inference.referee import Refereed, RefereeRefuses, referee_log_z
from ..measure import Arm, Case, Draw, Sample, SomeArms, targets_of, weights_of
from ..models import Linear, Logistic
from ..models.logistic import LogisticFitter
from .base import Check, Seen, limit_of, not_run, quietly, shift_to

Labelled = tuple[Sample, Array]
PAIRS = 2
"""Pairs or blocks that are sampled: for two arms, eight log Z at most."""
TARGETS = 0.02, 0.1
"""Least and largest standard error asked of a log Z: an eighth of what matters, within these."""
OPERATIONS = 2e10
"""Rows · features · likelihoods that may be spent on one log Z: twenty seconds or so."""
FEWEST_LIKELIHOODS = 20_000
"""Below so many the referee's own tuning would not fit in."""


def look(case: Case) -> Seen:
    """The first two pairs, sampled."""
    model, fitter = case.yardstick.model, case.pool.fitter
    if isinstance(model, Linear):
        return not_run("posteriors of numeric labels are exact")
    if not isinstance(model, Logistic) or not isinstance(fitter, LogisticFitter):
        return not_run("the referee knows two classes only")
    target, pairs = float(np.clip(limit_of(case) / 8, *TARGETS)), min(PAIRS, len(case.table))
    try:
        with quietly():
            value, stderr = Bench(case, fitter, target).mean(pairs)
    except RefereeRefuses as refusal:
        return not_run(str(refusal))
    return shift_to(case, value, pairs).seen("the result", "the referee", stderr, "the referee's")


class Bench:
    """Samples log Z of a case's arms; those of the design *whole* once for all blocks."""

    def __init__(self, case: Case, fitter: LogisticFitter, target: float) -> None:
        self.case, self.fitter, self.target = case, fitter, target
        self.known: dict[tuple[Arm, int], Refereed] = {}

    def mean(self, pairs: int) -> tuple[float, float]:
        """The result's quantity over the first pairs, and its standard error.

        What was sampled once and used for every block errs alike in all of them: its errors add up.
        """
        design = SomeArms(self.case.weighed, self.case.arms)
        first, last = self.case.arms[0], self.case.arms[-1]
        signs = {last: 1.0} if first == last else {first: -1.0, last: 1.0}
        value, apart, together = 0.0, 0.0, dict.fromkeys(signs, 0.0)
        for i in range(pairs):
            draw = design.draw(i)
            parts, held = self.samples(draw)
            for arm, sign in signs.items():
                joint = self.log_z([parts[arm], held], i, arm, "joint")
                name = arm, 0 if design.arms_fixed else i
                if name not in self.known:
                    self.known[name] = self.log_z([parts[arm]], i, arm, "data")
                data = self.known[name]
                value += sign * (joint.log_z - data.log_z)
                apart += joint.error**2 + (0.0 if design.arms_fixed else data.error**2)
                together[arm] += data.error if design.arms_fixed else 0.0
            if len(signs) == 1:
                test = self.log_z([held], i, None, "test")
                value -= test.log_z
                apart += test.error**2
        variance = apart + sum(error**2 for error in together.values())
        return value / pairs, float(np.sqrt(variance)) / pairs

    def samples(self, draw: Draw) -> tuple[dict[Arm, Labelled], Labelled]:
        """Every arm with its labels, self-made ones included, and the test set."""
        found = {arm: (sample, targets_of(self.fitter, sample)) for arm, sample in draw.arms.items()}
        return found, (draw.test, targets_of(self.fitter, draw.test))

    def log_z(self, parts: list[Labelled], i: int, arm: Arm | None, what: str) -> Refereed:
        """Log evidence of some samples together, from a generator of its own."""
        tallies = [self.fitter.seen(s.rows, weights_of(s), targets)[0] for s, targets in parts]
        counts = Counts(*(np.sum(both, axis=0) for both in zip(*tallies, strict=True)))
        X = self.fitter.X
        rows = int(np.count_nonzero(counts.ones) + np.count_nonzero(counts.zeros))
        budget = int(OPERATIONS / (max(rows, 1) * min(max(rows, 1), X.shape[1])))
        if budget < FEWEST_LIKELIHOODS:
            raise RefereeRefuses(f"{rows} rows of {X.shape[1]} features are too many to be sampled.")
        place = [("joint", "data", "test").index(what), (*self.case.arms, None).index(arm)]
        rng = np.random.default_rng([self.case.options.seed, 0x2EF, i, *place])
        return referee_log_z(X, counts, self.fitter.prior_variance, rng, target=self.target, budget=budget)


CHECK = Check(
    "DW006",
    "referee",
    "sampling gives another number than the result, by more than the interval allows for",
    "use --inference ep if this is Laplace; else a narrower prior or fewer features",
    look,
    slow=True,
    stands=False,
    prior=True,
)
