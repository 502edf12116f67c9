"""What a report asks beyond a result: its parts, other priors, sizes and groups; all of it measured again.

Each is left out, with a sentence that says why, where the rows were not kept or it would take too long.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..checks.base import quietly
from ..checks.prior import classes_factor
from ..checks.size import affordable, size_curve
from ..data.dataset import Dataset
from ..errors import DataworthError
from ..measure import Arm, Case, Estimate, Sample, Whole, count, measure, over_blocks, select
from .result import Result
from .sensitivity import Sensitivity, around, sensitivity

WORK, FITS = 2e9, 2500
"""Multiplications, by one step of each fit, and fits of arms to blocks or pairs, that measuring again for a
report may take: about as long as the audit itself."""
LEAST_ROWS, MOST_GROUPS, MOST_ARMS = 10, 12, 8
"""Rows of a group that is scored alone; groups, and datasets with a curve, that are shown."""


@dataclass(frozen=True)
class Group:
    """The rows of one group of one dataset, scored as if there were no others."""

    dataset: str
    group: str
    rows: int
    value: Estimate

    def to_dict(self, unit: float = 1.0) -> dict[str, Any]:
        """Plain data for JSON."""
        return {"dataset": self.dataset, "group": self.group, "rows": self.rows, **self.value.to_dict(unit)}


@dataclass(frozen=True, kw_only=True)
class Further:
    """What was measured again; `left_out` says what was not, and why."""

    parts: Any = None
    priors: Sensitivity | None = None
    sizes: Mapping[str, tuple[tuple[int, float, float], ...]] = field(default_factory=dict)
    groups: tuple[Group, ...] = ()
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
        if self.groups:
            told["groups"] = [one.to_dict(unit) for one in self.groups]
        return told | {"left_out": list(self.left_out)}


def further(result: Result) -> Further:
    """Measure again whatever the result allows.

    >>> import dataworth as dw
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 2))
    >>> data = dw.Dataset(X, (X[:, 0] + rng.normal(size=300) > 0).astype(int))
    >>> s = dw.score(data.take(range(200)), data.take(range(200, 300)), keep=True)
    >>> [rows for rows, _, _ in further(s).sizes["data"]]
    [25, 50, 100, 200]
    """
    case = result.case
    if case is None:
        why = "sealed data have no rows" if result.details.form == "sealed" else "measure with keep=True"
        why = "data that are read in passes are not measured again" if result.details.passes else why
        return Further(left_out=(f"parts, other priors, sizes and groups: {why}",))
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
        groups=asked("groups", lambda: by_group(case), ()),
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
    return {str(arm): tuple(size_curve(case, arm)) for arm in arms}


def by_group(case: Case) -> tuple[Group, ...]:
    """Every dataset's rows group by group, where a column says which: each alone, on the same blocks."""
    design = case.design
    if not isinstance(design, Whole):
        return ()
    arms: dict[Arm, Sample] = {}
    told: dict[Arm, tuple[str, str]] = {}
    for arm, data in zip(design.arms, case.data.values(), strict=False):  # controls stand behind the datasets
        for name, rows in groups_of(data).items():
            part = Arm("part", f"{len(arms)}")
            arms[part], told[part] = select(design.arms[arm], rows), (str(arm), name)
    if not arms:
        return ()
    rows = sum(len(sample.rows) for sample in arms.values())
    if len(case.table) * rows * (case.pool.X.shape[1] + 1) ** 2 * classes_factor(case) > WORK:
        raise DataworthError("measuring again would take long")
    alone = replace(case, options=replace(case.options, run_dir=None, progress=None))
    plan = replace(case.plan, design=replace(design, arms=arms))
    table = count(measure(alone, case.pool, plan), case.options, case.plan.unit).table
    return tuple(
        Group(*told[arm], len(sample.rows), over_blocks(table.column("pmi", arm)))
        for arm, sample in arms.items()
    )


def groups_of(data: Dataset) -> dict[str, Any]:
    """Rows by attribute, or else by group: the largest few, of enough rows; none if there is only one.

    >>> data = Dataset(np.zeros((30, 1)), [0, 1] * 15, attributes=["a"] * 12 + ["b"] * 15 + ["c"] * 3)
    >>> {name: len(rows) for name, rows in groups_of(data).items()}
    {'b': 15, 'a': 12}
    """
    names = data.groups if data.attributes is None else data.attributes
    if names is None:
        return {}
    found, place, counts = np.unique(names, return_inverse=True, return_counts=True)
    largest = [g for g in np.argsort(-counts, kind="stable")[:MOST_GROUPS] if counts[g] >= LEAST_ROWS]
    return {str(found[g]): np.flatnonzero(place == g) for g in largest} if len(largest) > 1 else {}
