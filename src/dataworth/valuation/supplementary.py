"""What a report asks beyond a result: its parts, other priors and sizes; all of it measured again.

Each is left out, with a sentence that says why, where the rows were not kept or it would take too long.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..checks.base import quietly
from ..checks.prior import classes_factor
from ..checks.size import affordable, size_curve
from ..errors import DataworthError
from ..measure import Case
from .result import Result
from .sensitivity import Sensitivity, around, sensitivity

WORK, FITS = 2e9, 2500
"""Multiplications, by one step of each fit, and fits of arms to blocks or pairs, that measuring again for a
report may take: about as long as the audit itself."""
MOST_ARMS = 8
"""Datasets with a curve that are shown."""


@dataclass(frozen=True, kw_only=True)
class Further:
    """What was measured again; `left_out` says what was not, and why."""

    parts: Any = None
    priors: Sensitivity | None = None
    sizes: Mapping[str, tuple[tuple[int, float, float], ...]] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()

    def to_dict(self, unit: float = 1.0) -> dict[str, Any]:
        """Plain data for JSON: what there is."""
        told: dict[str, Any] = {}
        if self.priors is not None:
            told["priors"] = [point.to_dict(unit) for point in self.priors.points]
        if self.sizes:
            told["sizes"] = {
                name: [{"rows": n, "value": u / unit, "stderr": error / unit} for n, u, error in curve]
                for name, curve in self.sizes.items()
            }
        return told | {"left_out": list(self.left_out)}


def further(result: Result) -> Further:
    """Measure again whatever the result allows."""
    case = result.case
    if case is None:
        why = "sealed data have no rows" if result.details.form == "sealed" else "measure with keep=True"
        why = "data that are read in passes are not measured again" if result.details.passes else why
        return Further(left_out=(f"parts, other priors and sizes: {why}",))
    left: list[str] = []

    def asked(what: str, measured: Callable[[], Any], nothing: Any = None) -> Any:
        try:
            with quietly():  # what a solver says of an extreme prior is no news here
                return measured()
        except DataworthError as error:
            left.append(f"{what}: {error}")
            return nothing

    return Further(
        parts=asked("parts", lambda: result.parts),  # type: ignore[attr-defined]
        priors=asked("other priors", lambda: over_priors(result, case)),
        sizes=asked("sizes", lambda: over_sizes(case), {}),
        left_out=tuple(left),
    )


def over_priors(result: Result, case: Case) -> Sensitivity:
    """The result a decade, and two if there is time, to either side of its own prior."""
    if case.options.own_model is not None:
        raise DataworthError("the model is your own")
    decades = around(float(case.yardstick.model.prior_variance))[::2]
    fits = len(case.table) * len(case.table.arms)
    once = max(case.work() * classes_factor(case) / WORK, fits / FITS)  # of what may be spent
    for priors in (decades, decades[1:-1]):
        if (len(priors) - 1) * once <= 1:
            return sensitivity(result, priors)
    raise DataworthError("measuring again would take long: 'dataworth sensitivity' does")


def over_sizes(case: Case) -> dict[str, tuple[tuple[int, float, float], ...]]:
    """Random parts of every dataset, on a few blocks: rows, mean and standard error."""
    arms = (case.table.arms if case.what == "rank" else case.arms)[:MOST_ARMS]
    if not all(affordable(case, arm) for arm in arms):
        raise DataworthError("measuring again would take long")
    return {str(arm): tuple(size_curve(case, arm)[0]) for arm in arms}
