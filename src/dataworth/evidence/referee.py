"""The PMI of one pair without approximation: what `pmi` by Laplace or EP is judged by.

    U(D, T) = log Z(D∪T) − log Z(D) − log Z(T)

Each log Z is sampled independently (inference/referee.py), with a standard error; where that cannot be had,
the referee refuses. Slower than `pmi` by orders of magnitude: for checking a few pairs, not for scoring.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from ..data.dataset import Dataset
from ..errors import DataworthError
from ..inference.logistic import Counts
from ..inference.referee import BUDGET, Refereed, RefereeRefuses, referee_log_z
from ..models import Linear, Logistic, LogisticFitter, Model, positive_number
from ..parallel.threads import one_thread
from .pair import bind_pair
from .pool import pool_of

__all__ = ["RefereeRefuses", "RefereedPMI", "referee"]


@dataclass(frozen=True, kw_only=True)
class RefereedPMI:
    """The value in nats with its standard error, and the three log evidences it is made of.

    `ess` is the smallest effective sample size of the three; it is infinite if nothing was sampled.
    """

    value: float
    stderr: float
    ess: float
    joint: Refereed
    data: Refereed
    test: Refereed

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON, where an infinite effective sample size (nothing was sampled) is null."""
        told = {f.name: getattr(self, f.name) for f in fields(self)}
        told |= {name: _finite(told[name]._asdict()) for name in ("joint", "data", "test")}
        return _finite(told)


@one_thread()
def referee(
    D: Dataset,
    T: Dataset,
    model: Model | None = None,
    *,
    seed: int = 0,
    target: float = 0.02,
    budget: int = BUDGET,
) -> RefereedPMI:
    """PMI of D and T in nats by sampling, or `RefereeRefuses`.

    Args:
        D: the data.
        T: the test set.
        model: a `Logistic`, of which only prior and intercept matter, not its inference; or a `Linear`, which
            is exact.
        seed: the same seed gives the same answer.
        target: bounds the standard error of each of the three log evidences; the value's own is their root
            sum of squares, at most √3 times as much.
        budget: bounds the likelihoods computed for each.

    Returns:
        The value with its standard error, and the three log evidences.

    Raises:
        RefereeRefuses: the target could not be reached within the budget.
        DataworthError: a model of another kind, or what `pmi` refuses too.

    Examples:
        >>> import dataworth as dw
        >>> D, T = dw.Dataset([[-1.0], [1.0]], [0, 1]), dw.Dataset([[-2.0], [2.0]], [0, 1])
        >>> judged = dw.referee(D, T)
        >>> bool(judged.value > 5 * judged.stderr > 0)
        True
    """
    model = Logistic() if model is None else model
    if not isinstance(model, (Linear, Logistic)):
        raise DataworthError(
            f"model is a {type(model).__name__}; the referee judges dw.Logistic, and dw.Linear is exact."
        )
    positive_number(target, "target")
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0:
        raise DataworthError(f"seed is {seed!r}; it must be a whole number, 0 or more.")
    if isinstance(model, Linear):
        pair = bind_pair(D, T, model)
        zs = (pair.joint().log_z, pair.data.log_z, pair.test.log_z)
        return _combine(*(Refereed(z) for z in zs))
    fitter, rows, weights = pool_of(model, {"D": D, "T": T})
    assert isinstance(fitter, LogisticFitter)
    # one generator each, so that no answer depends on what the others needed
    streams = [np.random.default_rng([seed, i]) for i in range(3)]
    parts = [fitter.seen(own, None if weights is None else weights[own])[0] for own in rows.values()]

    def log_z(counts: Counts, rng: np.random.Generator) -> Refereed:
        return referee_log_z(fitter.X, counts, fitter.prior_variance, rng, target=target, budget=budget)

    z_data, z_test = (log_z(part, rng) for part, rng in zip(parts, streams[:2], strict=True))
    for part, other in zip(parts, (z_test, z_data), strict=True):
        if not (part.ones.any() or part.zeros.any()):
            # nothing is worth nothing, exactly: D∪T is the other set, and is not sampled twice
            return RefereedPMI(value=0.0, stderr=0.0, ess=other.ess, joint=other, data=z_data, test=z_test)
    z_joint = log_z(Counts(parts[0].ones + parts[1].ones, parts[0].zeros + parts[1].zeros), streams[2])
    return _combine(z_joint, z_data, z_test)


def _combine(joint: Refereed, data: Refereed, test: Refereed) -> RefereedPMI:
    three = (joint, data, test)
    return RefereedPMI(
        value=joint.log_z - data.log_z - test.log_z,
        stderr=float(np.sqrt(sum(z.error**2 for z in three))),
        ess=min(z.ess for z in three),
        joint=joint,
        data=data,
        test=test,
    )


def _finite(told: dict[str, Any]) -> dict[str, Any]:
    return {k: None if isinstance(v, float) and np.isinf(v) else v for k, v in told.items()}
