"""Blind baselines: what anybody could have done to `before` without knowing more than `before` does.

A strategy is given `before`, a budget (how many rows the curation removed, relabelled, added, reweighted and
edited) and out-of-fold predictions, and proposes versions of `before`. The strategies of `BASELINES` answer
every kind of change, and a change of several kinds by all of them at once:

    removal      the rows with the lowest self-confidence are removed
    relabelling  of those rows, the ones with a likelier label get it, or all go; rows at random get another
                 label, for wrong labels can make over-confident data right; numeric labels all move on the
                 line through old and new ones
    new rows     the same rows get pseudo-labels
    weights      the same weights and copies go to the most or least confident rows, to those with the
                 smallest margin, or at random
    edits        the same cells, as a blind editor could have made them (`edits`); or as many rows go
    grid         fixed proportions of rows are removed (numeric labels: relabelled), so that irrelevant
                 changes cannot choose the budget

Another strategy is added by `dw.audit(…, baselines=[…])` or by the entry point group "dataworth.baselines".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib.metadata import entry_points
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np

from ...arrays import Array, Flags, Rows
from ...data.changes import compare
from ...data.dataset import Dataset
from ...data.labels import Classes
from ...errors import DataworthError
from ...measure.designs import weights_of
from ...yardstick.yardstick import Yardstick
from .arms import Curated, reassign_weights
from .edits import EDITORS, Cells
from .methods import apply, wants_test
from .out_of_fold import OutOfFold, lowest_k

GROUP = "dataworth.baselines"
RELABELLINGS = 3
"""Versions with labels changed at random: one alone would be one draw."""
GRID = (0.05, 0.1, 0.15, 0.2, 0.3)
"""Proportions of all rows that a grid removes or relabels, where the curation changed more."""
LEARNERS = {
    "yardstick": "the yardstick's model",
    "boosting": "gradient boosting",
    "linear": "a linear model",
    "label_spreading": "label spreading",
    "gaussian_process": "a Gaussian process",
    "ensemble": "the ensemble",
    "pruned_ensemble": "the pruned ensemble",
}
"""Learners whose predictions baselines follow, and their labels."""
FOR_NEW_ROWS = ("linear", "label_spreading")
"""Learners that label new rows only; the ensemble chooses among the old ones."""


class Budget(NamedTuple):
    """How much a curation changed, and what of it anybody can see; no label is among it.

    removed, relabelled: rows of `before`; n_changed: those and the edited ones. added_weights: one a new row.
    reassigned: the weights that kept rows have after curation, copies added up; None if they count as before.
    edited: which rows of `before` have other cells now, `cells` which. label_line: intercept and slope of
    numeric labels after curation on those before.
    """

    rows: int
    removed: int
    relabelled: int
    n_changed: int
    weights: Array
    added_weights: Array
    reassigned: Array | None
    edited: Rows
    cells: Array
    label_line: tuple[float, float]

    @property
    def added(self) -> int:
        """New rows."""
        return len(self.added_weights)


def budget_of(curated: Curated, yardstick: Yardstick) -> Budget:
    """How much a curation changed."""
    before, after, arms = curated
    change, edited, line = arms.change, np.flatnonzero(arms.change.edited), (0.0, 1.0)
    if change.relabelled.any() and not isinstance(yardstick.labels, Classes):
        kept = np.flatnonzero(~arms.new)
        old = yardstick.targets(before)[change.origin[kept]]
        A = np.column_stack([np.ones(len(old)), old])
        intercept, slope = np.linalg.lstsq(A, yardstick.targets(after)[kept], rcond=None)[0]
        line = float(intercept), float(slope)

    def distinct(rows: Flags) -> int:
        return len(np.unique(change.origin[rows]))

    return Budget(
        rows=len(before),
        removed=change.removed,
        relabelled=distinct(change.relabelled),
        n_changed=change.removed + distinct(change.relabelled | change.edited),
        weights=weights_of(arms.before),
        added_weights=weights_of(arms.after)[arms.new],
        reassigned=arms.reassigned,
        edited=change.origin[edited],
        cells=after.X[edited],
        label_line=line,
    )


class Proposal(NamedTuple):
    """A version of `before`: which rows, their targets and weights.

    rows: places in `before`; beyond these, new rows (place − rows of `before`). cells: those of the edited
    rows, in the order of `Budget.edited`, where the proposal edits them too.
    """

    rows: Rows
    targets: Array
    weights: Array | None = None
    cells: Array | None = None


class BlindStrategy(Protocol):
    """What could have been done blindly; `name` is unique, `label` is for people."""

    @property
    def name(self) -> str:
        """In tables."""
        ...

    @property
    def label(self) -> str:
        """In reports."""
        ...

    def applies(self, budget: Budget) -> bool:
        """Whether it answers such a change."""
        ...

    def propose(
        self, before: Dataset, budget: Budget, out_of_fold: OutOfFold, rng: np.random.Generator
    ) -> Iterable[Proposal]:
        """Versions of `before`, at most; none where it cannot make any."""
        ...


class Known(NamedTuple):
    """All that a strategy is given."""

    before: Dataset
    budget: Budget
    out_of_fold: OutOfFold
    rng: np.random.Generator


@dataclass(frozen=True)
class SameChange:
    """As many rows dropped, relabelled, pseudo-labelled and reweighted as the curation did, by one learner.

    weights: which rows get the largest ones.
    """

    learner: str
    weights: str = "most confident"

    @property
    def name(self) -> str:
        """The learner, and where weights go."""
        return self._named(self.learner)

    @property
    def label(self) -> str:
        """The same in words."""
        return self._named(LEARNERS[self.learner])

    def _named(self, learner: str) -> str:
        return learner + ("" if self.weights == "most confident" else f", weights to {self.weights}")

    def applies(self, budget: Budget) -> bool:
        """Learners for new rows where there are some, other orders of weights where these changed."""
        wanted = self.learner not in FOR_NEW_ROWS or budget.added > 0
        return wanted and (self.weights == "most confident" or budget.reassigned is not None)

    def propose(
        self, before: Dataset, budget: Budget, out_of_fold: OutOfFold, rng: np.random.Generator
    ) -> Iterable[Proposal]:
        """One version, if the learner is there and the order of weights makes sense."""
        there = out_of_fold.added if self.learner in FOR_NEW_ROWS else out_of_fold.predictions
        if self.learner in there and (self.weights != "smallest margin" or out_of_fold.classes):
            yield self._version(Known(before, budget, out_of_fold, rng))

    def _version(self, known: Known) -> Proposal:
        _, budget, out_of_fold, _ = known
        doubted = lowest_k(out_of_fold.self_confidence(self._judge), budget.rows)[self._drops(budget) :]
        kept, weights = np.sort(doubted), budget.weights
        if budget.reassigned is not None:
            score = self._order(known)
            weights = weights.copy()
            weights[kept] = reassign_weights(weights[kept], budget.reassigned, score[kept])
        return Proposal(
            np.concatenate([kept, budget.rows + np.arange(budget.added)]),
            np.concatenate([self._labels(known, doubted)[kept], out_of_fold.added_labels(self.learner)]),
            np.concatenate([weights[kept], budget.added_weights]),
            self._cells(known),
        )

    @property
    def _judge(self) -> str:
        """The learner that says which of the old rows look wrong."""
        return "ensemble" if self.learner in FOR_NEW_ROWS else self.learner

    def _order(self, known: Known) -> Array:
        """Rows with the largest numbers get the largest weights."""
        if self.weights == "random rows":
            return known.rng.random(known.budget.rows)
        if self.weights == "smallest margin":
            return -known.out_of_fold.margin_score(self._judge)
        confidence = known.out_of_fold.self_confidence(self._judge)
        return confidence if self.weights == "most confident" else -confidence

    def _drops(self, budget: Budget) -> int:
        """How many of the most doubted rows go."""
        return budget.removed

    def _labels(self, known: Known, doubted: Rows) -> Array:
        """Targets of all rows; `doubted` are those that stay, the most doubted first."""
        targets, changed = known.out_of_fold.targets.copy(), doubted[: known.budget.relabelled]
        targets[changed] = known.out_of_fold.labels(self._judge)[changed]
        return targets

    def _cells(self, known: Known) -> Array | None:
        """Cells of the edited rows."""
        return None


@dataclass(frozen=True)
class DropChanged(SameChange):
    """Rows dropped, those with the lowest self-confidence, where the curation relabelled or edited."""

    def _named(self, learner: str) -> str:
        return f"drop, {learner}" if learner in LEARNERS else f"rows dropped by {learner}"

    def applies(self, budget: Budget) -> bool:
        """By every learner where cells were edited, else by one: edits can leave rows that say nothing."""
        pruned = self.learner == "pruned_ensemble"
        return len(budget.edited) > 0 or (budget.relabelled > 0 and pruned)

    def _drops(self, budget: Budget) -> int:
        return budget.n_changed

    def _labels(self, known: Known, doubted: Rows) -> Array:
        return known.out_of_fold.targets


@dataclass(frozen=True)
class RandomRelabel(SameChange):
    """Another label for as many rows, whichever."""

    learner: str = "ensemble"
    name: ClassVar[str] = "random_relabel"
    label: ClassVar[str] = "labels changed at random"

    def applies(self, budget: Budget) -> bool:
        """Where labels changed."""
        return budget.relabelled > 0

    def propose(
        self, before: Dataset, budget: Budget, out_of_fold: OutOfFold, rng: np.random.Generator
    ) -> Iterable[Proposal]:
        """Several draws."""
        known = Known(before, budget, out_of_fold, rng)
        return (self._version(known) for _ in range(RELABELLINGS))

    def _labels(self, known: Known, doubted: Rows) -> Array:
        targets = known.out_of_fold.targets.copy()
        changed = known.rng.permutation(np.sort(doubted))[: known.budget.relabelled]
        targets[changed] = other_labels(targets[changed], known.out_of_fold.classes, known.rng)
        return targets


@dataclass(frozen=True)
class Edit(SameChange):
    """The same cells edited blindly, by an editor of `edits`, and everything else by the ensemble."""

    learner: str = "ensemble"
    editor: str = "affine_edit"

    def _named(self, learner: str) -> str:
        return self.editor if learner in LEARNERS else EDITORS[self.editor][1]

    def applies(self, budget: Budget) -> bool:
        """Where cells were edited."""
        return len(budget.edited) > 0

    def _cells(self, known: Known) -> Array:
        before, budget, out_of_fold, rng = known
        targets = out_of_fold.targets
        classes = np.eye(out_of_fold.classes)
        label = classes[targets.astype(np.intp)] if out_of_fold.classes else targets[:, None]
        return EDITORS[self.editor][0](Cells.of(before, budget.edited, budget.cells, label), rng)


@dataclass(frozen=True)
class AffineLabels:
    """All numeric labels moved by the least-squares line from old to new ones: not told which moved."""

    name: ClassVar[str] = "affine_labels"
    label: ClassVar[str] = "all labels rescaled and shifted"

    def applies(self, budget: Budget) -> bool:
        """Where labels changed."""
        return budget.relabelled > 0

    def propose(
        self, before: Dataset, budget: Budget, out_of_fold: OutOfFold, rng: np.random.Generator
    ) -> Iterable[Proposal]:
        """One version of numeric labels."""
        if not out_of_fold.classes:
            intercept, slope = budget.label_line
            moved = intercept + slope * out_of_fold.targets
            yield Proposal(np.arange(budget.rows), moved, budget.weights)


@dataclass(frozen=True)
class DropGrid:
    """A fixed proportion of the rows removed, those with the lowest self-confidence; or, of numeric labels
    and with `relabel`, relabelled.
    """

    learner: str
    part: float
    relabel: bool = False

    @property
    def name(self) -> str:
        """Learner and proportion."""
        return f"{'relabel' if self.relabel else 'drop'}_grid, {self.learner}, {self.part:.0%}"

    @property
    def label(self) -> str:
        """The same in words."""
        done = "relabelled" if self.relabel else "dropped"
        return f"{self.part:.0%} of the rows {done} by {LEARNERS[self.learner]}"

    def applies(self, budget: Budget) -> bool:
        """Where the curation changed more rows."""
        changed = budget.relabelled if self.relabel else budget.n_changed
        return 0 < round(self.part * budget.rows) < changed

    def propose(
        self, before: Dataset, budget: Budget, out_of_fold: OutOfFold, rng: np.random.Generator
    ) -> Iterable[Proposal]:
        """One version; classes are not relabelled."""
        doubted = lowest_k(out_of_fold.self_confidence(self.learner), round(self.part * budget.rows))
        if not self.relabel:
            kept = np.setdiff1d(np.arange(budget.rows), doubted)
            yield Proposal(kept, out_of_fold.targets[kept], budget.weights[kept])
        elif not out_of_fold.classes:
            targets = out_of_fold.targets.copy()
            targets[doubted] = out_of_fold.labels(self.learner)[doubted]
            yield Proposal(np.arange(budget.rows), targets, budget.weights)


@dataclass(frozen=True)
class CurationBaseline:
    """A curation f(D), such as those of `dataworth.curation`, as an opponent: it looks at `before` alone.

    Rows that it makes or edits are left out.
    """

    curate: Callable[..., Dataset]

    @property
    def name(self) -> str:
        """The curation's own."""
        return str(getattr(self.curate, "name", None) or getattr(self.curate, "__name__", "a curation"))

    label = name

    def applies(self, budget: Budget) -> bool:
        """Always."""
        return True

    def propose(
        self, before: Dataset, budget: Budget, out_of_fold: OutOfFold, rng: np.random.Generator
    ) -> Iterable[Proposal]:
        """What the curation makes of `before`."""
        made = apply(self.curate, before, before.take([]), rng)
        change = compare(before, made)
        old = np.flatnonzero((change.origin >= 0) & ~change.edited)
        weights = None if made.weights is None else made.weights[old]
        yield Proposal(change.origin[old], out_of_fold.encode(made.take(old)), weights)


def other_labels(targets: Array, classes: int, rng: np.random.Generator) -> Array:
    """Another class for each, any of the others; numeric labels change places.

    >>> other_labels(np.array([0.0, 1.0, 1.0]), 2, np.random.default_rng(0)).tolist()
    [1.0, 0.0, 0.0]
    """
    if not classes:
        return np.asarray(rng.permutation(targets))
    return np.asarray((targets + rng.integers(1, classes, size=len(targets))) % classes)


ALWAYS = ("yardstick", "boosting", "ensemble", "pruned_ensemble", "gaussian_process")
BASELINES: tuple[BlindStrategy, ...] = (
    *(SameChange(learner) for learner in (*ALWAYS, *FOR_NEW_ROWS)),
    *(SameChange(learner, "least confident") for learner in ("yardstick", "boosting")),
    *(SameChange(learner, "smallest margin") for learner in ("yardstick", "boosting")),
    SameChange("ensemble", "random rows"),
    *(DropChanged(learner) for learner in ALWAYS),
    RandomRelabel(),
    AffineLabels(),
    *(Edit(editor=editor) for editor in EDITORS),
    *(DropGrid(learner, part) for learner in ("ensemble", "pruned_ensemble") for part in GRID),
    *(DropGrid(learner, part, relabel=True) for learner in ("ensemble", "pruned_ensemble") for part in GRID),
)
"""The strategies that every rise is compared with."""


def all_baselines(more: Sequence[Any] = ()) -> tuple[BlindStrategy, ...]:
    """`BASELINES`, those of installed packages, and `more`: strategies, or curations f(D)."""
    found = [*BASELINES]
    for one in (*(point.load() for point in entry_points(group=GROUP)), *more):
        made = one() if isinstance(one, type) else one
        if not all(hasattr(made, needed) for needed in ("name", "label", "applies", "propose")):
            if not callable(made) or wants_test(made):
                raise DataworthError(
                    f"a baseline is {made!r}; give an object with name, label, applies and propose, or a "
                    "curation f(D) that does not see the test set."
                )
            made = CurationBaseline(made)
        if made.name in {other.name for other in found}:
            raise DataworthError(f"there are two baselines {made.name!r}: give each another name.")
        found.append(made)
    return tuple(found)
