"""How a score, and the conclusion from it, depend on the prior variance C.

The same pairs are measured again with other prior variances. Beside each stands what the test set alone says
of it, so that nobody's data can move it: held out, the mean of Σ log p(row | T_a) over rows of T_b, for
halves of the test set, nats a half.

Plausible is a prior that the test set does not exclude (held out within 1.92 nats of the chosen one): what
check DW009 asks of its range, here of every prior given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

from ..checks.base import quietly
from ..checks.prior import HALF_DECADE, PLAUSIBLE, STEPS, Halves, conclusion, on_grid
from ..errors import DataworthError
from ..evidence.pair import NATS_PER_BIT
from ..measure import Asked, Estimate, ask, count, kept
from ..models.base import positive_number
from ..parallel.threads import one_thread
from .result import Result, Shown

SCHEMA = "dataworth/sensitivity/1"
QUANTITIES = {"score": "value", "audit": "change", "rank": "lead of the first"}


@dataclass(frozen=True)
class AtPrior:
    """What is measured with one prior variance, and how the test set likes it."""

    prior_variance: float
    value: Estimate
    conclusion: str | None
    held_out: float
    plausible: bool

    def to_dict(self, unit: float = 1.0) -> dict[str, Any]:
        """Plain data for JSON."""
        told = {"prior_variance": self.prior_variance, **self.value.to_dict(unit)}
        told |= {"conclusion": self.conclusion, "held_out": self.held_out / unit}
        return told | {"plausible": self.plausible}


@dataclass(frozen=True)
class Sensitivity(Shown):
    """A result over prior variances, in ascending order; `chosen` is the yardstick's own."""

    what: str
    points: tuple[AtPrior, ...]
    chosen: float

    def at(self, prior_variance: float) -> AtPrior:
        """The point of one prior variance."""
        return next(point for point in self.points if point.prior_variance == prior_variance)

    @property
    def by_held_out(self) -> float:
        """The prior variance with the best held-out likelihood."""
        return max(self.points, key=lambda point: point.held_out).prior_variance

    @property
    def conclusion(self) -> str | None:
        """The conclusion at the chosen prior."""
        return self.at(self.chosen).conclusion

    @property
    def robust(self) -> dict[str, bool]:
        """What all plausible priors agree on, each by itself: sign, conclusion, and size (a value within the
        interval at the chosen prior)."""
        plausible, own = [point for point in self.points if point.plausible], self.at(self.chosen).value
        low, high = own.interval or (own.value, own.value)
        return {
            "sign": len({point.value.value > 0 for point in plausible}) == 1,
            "conclusion": len({point.conclusion for point in plausible}) == 1,
            "size": all(low <= point.value.value <= high for point in plausible),
        }

    @property
    def summary(self) -> str:
        """In a sentence."""
        plausible = [point for point in self.points if point.plausible]
        ends = f"C = {plausible[0].prior_variance:g} to {plausible[-1].prior_variance:g}"
        others = sorted({str(point.conclusion) for point in plausible} - {str(self.conclusion)})
        where = f"at every plausible prior ({ends})"
        if len(plausible) == 1 < len(self.points):
            where = "at the chosen prior; no other given prior is plausible"
        elif others:
            where = f"at the chosen prior, but also {', '.join(others)} within {ends}"
        held = [name for name, holds in self.robust.items() if holds]
        moved = [name for name, holds in self.robust.items() if not holds]
        told = f"the same over plausible priors: {', '.join(held) or 'nothing'}"
        told += f" (not the {', nor the '.join(moved)})" if moved else ""
        return f"{self.conclusion} {where}; {told}"

    def rows(self) -> list[dict[str, Any]]:
        """One record a prior, for CSV."""
        records = []
        for point in self.points:
            told = point.to_dict()
            lower, upper = told.pop("interval") or (None, None)
            first = {"prior_variance": told.pop("prior_variance"), "value": told.pop("value")}
            del told["stderr"]
            records.append({**first, "lower": lower, "upper": upper, **told})
        return records

    def to_dict(self, bits: bool = False) -> dict[str, Any]:
        """Plain data for JSON, in nats or in bits."""
        unit, name = (NATS_PER_BIT, "bits") if bits else (1.0, "nats")
        told: dict[str, Any] = {"schema": SCHEMA, "unit": name}
        told |= {"of": self.what, "quantity": QUANTITIES[self.what]}
        names = ("chosen", "by_held_out", "conclusion", "robust", "summary")
        told |= {name: getattr(self, name) for name in names}
        return told | {"priors": [point.to_dict(unit) for point in self.points]}


@one_thread()
def sensitivity(
    result: Result,
    priors: Iterable[float] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Sensitivity:
    """A score, audit or ranking over prior variances: two decades to either side of its own, or `priors`.

    >>> import dataworth as dw
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 2))
    >>> data = dw.Dataset(X, (X[:, 0] + rng.normal(size=300) > 0).astype(int))
    >>> s = dw.score(data.take(range(200)), data.take(range(200, 300)), keep_data=True)
    >>> found = sensitivity(s, priors=[0.01, 100.0])
    >>> [point.conclusion for point in found.points]  # at 0.01, at its own, at 100
    ['yes', 'yes', 'yes']
    """
    if not isinstance(result, Result):
        raise DataworthError(f"result is a {type(result).__name__}; give what score, audit or rank returned.")
    case = kept(result.case)
    chosen = float(case.yardstick.model.prior_variance)
    priors = None if priors is None else list(priors)
    if priors == []:
        raise DataworthError("priors is empty; give prior variances, or none for two decades around its own.")
    given = around(chosen) if priors is None else [positive_number(c, "a prior variance") for c in priors]
    grid = sorted({chosen, *given})
    test = str(result.replay.test["sha256"])
    judged = test if len(case.test) == result.replay.test["rows"] else case.test.content_hash()
    ask(Asked("sensitivity", case.options, test, judged, case.table, case.arms[-1], more=grid))
    halves = Halves.of(case)
    least = halves.held_out(case.yardstick.model) - PLAUSIBLE
    points = []
    for done, variance in enumerate(grid):
        model = replace(case.yardstick.model, prior_variance=variance)
        with quietly():  # that a solver has not converged at an extreme prior is no news here
            again = case.table if variance == chosen else case.again(model=model)
            table = count(again, case.options, case.plan.unit).table
            held_out = halves.held_out(model)
        value = case.estimate(case.quantity(table))
        plausible = variance == chosen or held_out >= least
        points.append(AtPrior(variance, value, conclusion(case, table), held_out, plausible))
        if progress is not None:
            progress(done + 1, len(grid))
    return Sensitivity(case.what, tuple(points), chosen)


def around(chosen: float) -> list[float]:
    """Half-decades to either side, round where the yardstick's own grid is: 0.0316 to 316 around 3.16."""
    steps = [chosen * HALF_DECADE**step for step in range(-STEPS, STEPS + 1) if step]
    return sorted([chosen, *map(on_grid, steps)])
