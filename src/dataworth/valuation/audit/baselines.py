"""Blind baselines: what anybody could have done to `before` without knowing more than `before` does.

A strategy is given `before`, a budget (how many rows the curation removed, relabelled, added, reweighted and
edited) and out-of-fold predictions, and proposes versions of `before`. `BASELINES` answer every kind of
change, and a change of several kinds by all of them at once:

    removal      the rows with the lowest self-confidence are removed; copies; rows least like the test set
    relabelling  of those rows, the ones with a likelier label get it, or all go; rows at random get another
    new rows     the same rows get pseudo-labels
    weights      the same weights go to the most or least confident rows, the smallest margins, or at random
    edits        the same cells, as a blind editor could have made them (`edits`); or as many rows go
    replacement  all cells with the test set's means and deviations, which new rows may merely be
    grid         fixed proportions of rows, so that irrelevant changes cannot choose the budget

Another strategy is added by `dw.audit(…, baselines=[…])` or by the entry point group "dataworth.baselines".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import entry_points
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from ...arrays import Array, Flags, Rows
from ...curation.duplicates import Deduplicate, NearDeduplicate
from ...data.changes import compare
from ...data.dataset import Dataset
from ...data.labels import Numeric
from ...data.texts import FACTS
from ...errors import DataworthError
from ...measure import Sample, weights_of
from ...yardstick.yardstick import Yardstick
from .arms import Curated, reassign_weights
from .edits import EDITORS, Cells, Editor, match_test_moments
from .methods import Curation, apply, wants_test
from .out_of_fold import OutOfFold, lowest_k

GROUP = "dataworth.baselines"
RELABELLINGS = 8
"""Versions with labels changed at random, as many as random removals."""
GRID = (0.05, 0.1, 0.15, 0.2, 0.3)
"""Proportions of all rows that a grid removes or relabels, where the curation changed more."""
LEARNERS = {
    "yardstick": "the yardstick's model",
    "boosting": "gradient boosting",
    "ensemble": "the ensemble",
    "pruned_ensemble": "the pruned ensemble",
    "gaussian_process": "a Gaussian process",
    "linear": "a linear model",
    "label_spreading": "label spreading",
}
"""Learners whose predictions baselines follow, and their labels."""
FOR_NEW_ROWS = ("linear", "label_spreading")
"""Learners that label new rows only; the ensemble chooses among the old ones."""
ORDERS = [*product(("yardstick", "boosting"), ("least confident", "smallest margin"))]
ORDERS += [("ensemble", "random rows")]
"""Learners by which weights go to other rows than the most confident, and to which."""


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
    change, line = arms.change, (0.0, 1.0)
    edited = np.flatnonzero(change.edited)
    edited = edited[np.sort(np.unique(change.origin[edited], return_index=True)[1])]  # of copies the first
    if change.relabelled.any() and isinstance(yardstick.labels, Numeric):
        old = yardstick.targets(before)[change.origin[~arms.new]]
        A = np.column_stack([np.ones(len(old)), old])
        line = tuple(np.linalg.lstsq(A, yardstick.targets(after)[~arms.new], rcond=None)[0].tolist())

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

    rows: places in `before`; beyond these, new rows (place − rows of `before`). cells: those of all rows of
    `before`, where the proposal edits some.
    """

    rows: Rows
    targets: Array
    weights: Array | None = None
    cells: Array | None = None


Propose = Callable[[Dataset, Budget, OutOfFold, np.random.Generator], Iterable[Proposal | Sample]]


class BlindStrategy(NamedTuple):
    """What could have been done blindly; any object with these four is one.

    name: unique, for tables. label: for people. applies: whether it answers such a change. propose: versions
    of `before`, none where it cannot make any; a `Sample` whose rows are places will do, and without targets
    rows keep their labels.
    """

    name: str
    label: str
    applies: Callable[[Budget], bool]
    propose: Propose


@dataclass(frozen=True)
class SameChange:
    """As many rows dropped, relabelled, pseudo-labelled, reweighted and edited as the curation did.

    learner: whose self-confidence chooses rows, and whose labels they get. order: which rows get the largest
    weights. labels: "predicted", "random", or "dropped": rows go where the curation relabelled or edited.
    editor: makes the edited cells, which stay as they were without.
    """

    learner: str = "ensemble"
    order: str = "most confident"
    labels: str = "predicted"
    editor: Editor | None = None

    def __call__(
        self, before: Dataset, budget: Budget, out_of_fold: OutOfFold, rng: np.random.Generator
    ) -> Iterator[Proposal]:
        """One version, of random labels several; none without the learner, or of margins without classes."""
        there = out_of_fold.added if self.learner in FOR_NEW_ROWS else out_of_fold.predictions
        if self.learner not in there or (self.order == "smallest margin" and not out_of_fold.classes):
            return
        for _ in range(RELABELLINGS if self.labels == "random" else 1):
            cells = None
            if self.editor is not None:
                label, test = out_of_fold.label_columns, out_of_fold.test
                edited = Cells.of(before, budget.edited, budget.cells, label, test)
                cells = self.editor(edited, rng)
            yield self._version(budget, out_of_fold, rng)._replace(cells=cells)

    def _version(self, budget: Budget, out_of_fold: OutOfFold, rng: np.random.Generator) -> Proposal:
        judge = "ensemble" if self.learner in FOR_NEW_ROWS else self.learner
        confidence = out_of_fold.self_confidence(judge)
        gone = budget.n_changed if self.labels == "dropped" else budget.removed
        doubted = lowest_k(confidence, budget.rows)[gone:]
        kept, targets, k = np.sort(doubted), out_of_fold.targets.copy(), budget.relabelled
        if self.labels == "predicted":
            targets[doubted[:k]] = out_of_fold.labels(judge)[doubted[:k]]
        elif self.labels == "random":
            changed = rng.permutation(kept)[:k]
            targets[changed] = other_labels(targets[changed], out_of_fold.classes, rng)
        weights = budget.weights[kept]
        if budget.reassigned is not None:
            scores: dict[str, Callable[[], Array]] = {
                "most confident": lambda: confidence,
                "least confident": lambda: -confidence,
                "smallest margin": lambda: -out_of_fold.margin_score(judge),
                "random rows": lambda: rng.random(budget.rows),
            }
            weights = reassign_weights(weights, budget.reassigned, scores[self.order]()[kept])
        return Proposal(
            np.concatenate([kept, budget.rows + np.arange(budget.added)]),
            np.concatenate([targets[kept], out_of_fold.added_labels(self.learner)[: budget.added]]),
            np.concatenate([weights, budget.added_weights]),
        )


def least_alike(_: Dataset, budget: Budget, out_of_fold: OutOfFold, *rng: object) -> Iterator[Proposal]:
    """As many rows dropped by resemblance to the test set alone, blind to labels."""
    if out_of_fold.resemblance is not None:
        kept = np.sort(lowest_k(out_of_fold.resemblance, budget.rows)[budget.removed :])
        yield Proposal(kept, out_of_fold.targets[kept], budget.weights[kept])


def moved_to_test(
    before: Dataset, budget: Budget, out_of_fold: OutOfFold, rng: np.random.Generator
) -> Iterable[Proposal]:
    """The columns moved to the test set's moments; rows that new ones stand for stay."""
    if out_of_fold.test is None:
        return ()
    fewer = max(0, budget.removed - budget.added)
    return SameChange(editor=match_test_moments)(
        before, budget._replace(removed=fewer, added_weights=np.zeros(0)), out_of_fold, rng
    )


def without_copies(curate: Curation) -> Propose:
    """At most as many copies dropped as the curation changed rows; none where there are no copies."""

    def propose(
        before: Dataset, budget: Budget, out_of_fold: OutOfFold, rng: np.random.Generator
    ) -> Iterator[Proposal]:
        kept = compare(before, apply(curate, before, before.take([]), rng)).origin
        gone = np.setdiff1d(np.arange(budget.rows), kept)[: budget.n_changed]
        if len(gone):
            rows = np.setdiff1d(np.arange(budget.rows), gone)
            yield Proposal(rows, out_of_fold.targets[rows], budget.weights[rows])

    return propose


def affine_labels(_: Dataset, budget: Budget, out_of_fold: OutOfFold, *rng: object) -> Iterator[Proposal]:
    """All numeric labels moved by the least-squares line from old to new ones: not told which moved."""
    if not out_of_fold.classes and out_of_fold.targets.ndim == 1:
        intercept, slope = budget.label_line
        yield Proposal(np.arange(budget.rows), intercept + slope * out_of_fold.targets, budget.weights)


def by_fact(place: int, sign: float) -> Propose:
    """As many rows dropped as the curation changed, by what is known of a response beside its vector.

    The first in order of the fact (`texts.FACTS`) times the sign; none where rows are no texts.
    """

    def propose(
        before: Dataset, budget: Budget, out_of_fold: OutOfFold, rng: np.random.Generator
    ) -> Iterator[Proposal]:
        if before.facts is not None:
            kept = np.sort(lowest_k(sign * before.facts[:, place], budget.rows)[budget.n_changed :])
            yield Proposal(kept, out_of_fold.targets[kept], budget.weights[kept])

    return propose


def nearest_responses(*given: Any) -> Iterable[Proposal]:
    """New prompts answered as their neighbours among the data's own prompts are."""
    before, budget, out_of_fold, rng = given
    vectors = out_of_fold.targets.ndim > 1 and "knn" in out_of_fold.added
    return SameChange("knn")(before, budget, out_of_fold, rng) if vectors else ()


def grid(learner: str, part: float, relabel: bool) -> BlindStrategy:
    """A fixed proportion of the rows dropped or, of numeric labels, relabelled; answers larger changes."""
    done, same = "relabelled" if relabel else "dropped", SameChange(learner)

    def applies(budget: Budget) -> bool:
        return 0 < round(part * budget.rows) < (budget.relabelled if relabel else budget.n_changed)

    def propose(
        before: Dataset, budget: Budget, out_of_fold: OutOfFold, rng: np.random.Generator
    ) -> Iterable[Proposal]:
        k = round(part * budget.rows)
        budget = budget._replace(reassigned=None, added_weights=np.zeros(0))
        budget = budget._replace(removed=0 if relabel else k, relabelled=k if relabel else 0)
        return () if relabel and out_of_fold.classes else same(before, budget, out_of_fold, rng)

    words = f"{part:.0%} of all rows {done} by {LEARNERS[learner]}"
    name = f"{'relabel' if relabel else 'drop'}_grid, {learner}, {part:.0%}"
    return BlindStrategy(name, words, applies, propose)


def curated(curate: Curation) -> Propose:
    """A curation f(D) as a proposal; rows that it makes or edits are left out."""

    def propose(
        before: Dataset, budget: Budget, out_of_fold: OutOfFold, rng: np.random.Generator
    ) -> Iterator[Proposal]:
        made = apply(curate, before, before.take([]), rng)
        change = compare(before, made)
        old = np.flatnonzero((change.origin >= 0) & ~change.edited)
        weights = None if made.weights is None else made.weights[old]
        yield Proposal(change.origin[old], out_of_fold.encode(made.take(old)), weights)

    return propose


def other_labels(targets: Array, classes: int, rng: np.random.Generator) -> Array:
    """Another class for each, any of the others; numeric labels change places.

    >>> other_labels(np.array([0.0, 1.0, 1.0]), 2, np.random.default_rng(0)).tolist()
    [1.0, 0.0, 0.0]
    """
    if not classes:
        return np.asarray(rng.permutation(targets))
    return np.asarray((targets + rng.integers(1, classes, size=len(targets))) % classes)


def _built_in() -> Iterator[BlindStrategy]:
    """Each kind of change, by every learner that is worth asking."""

    def edits(budget: Budget) -> bool:
        return len(budget.edited) > 0

    def removes(budget: Budget) -> bool:
        return budget.removed > 0

    def relabels(budget: Budget) -> bool:
        return budget.relabelled > 0

    def replaces(budget: Budget) -> bool:
        return edits(budget) or (removes(budget) and budget.added > 0)

    def edits_or_relabels(budget: Budget) -> bool:
        return edits(budget) or relabels(budget)

    for learner, words in LEARNERS.items():
        if learner in FOR_NEW_ROWS:
            yield BlindStrategy(learner, words, lambda b: b.added > 0, SameChange(learner))
            continue
        yield BlindStrategy(learner, words, lambda b: True, SameChange(learner))
        when = edits_or_relabels if learner == "pruned_ensemble" else edits
        drop = SameChange(learner, labels="dropped")
        yield BlindStrategy(f"drop, {learner}", f"rows dropped by {words}", when, drop)
    for learner, order in ORDERS:
        name, words = (f"{one}, weights to {order}" for one in (learner, LEARNERS[learner]))
        yield BlindStrategy(name, words, lambda b: b.reassigned is not None, SameChange(learner, order))
    yield BlindStrategy("resemblance", "rows least like the test set dropped", removes, least_alike)
    for curate in (Deduplicate(), NearDeduplicate()):
        yield BlindStrategy(f"drop, {curate.name}", curate.what, removes, without_copies(curate))
    for k, fact in enumerate(FACTS):
        for word, sign in (("least", 1.0), ("most", -1.0)):
            words = f"rows of the {word} {fact} dropped"
            yield BlindStrategy(f"drop, {word} {fact}", words, removes, by_fact(k, sign))
    words = "new prompts answered as the most similar ones"
    yield BlindStrategy("nearest_responses", words, lambda b: b.added > 0, nearest_responses)
    yield BlindStrategy("random_relabel", "labels changed at random", relabels, SameChange(labels="random"))
    yield BlindStrategy("affine_labels", "all labels rescaled and shifted", relabels, affine_labels)
    for name, (editor, words) in EDITORS.items():
        yield BlindStrategy(name, words, edits, SameChange(editor=editor))
    words = "columns moved to the test set's moments"
    yield BlindStrategy("test_moments", words, replaces, moved_to_test)
    yield from (grid(*one) for one in product(("ensemble", "pruned_ensemble"), GRID, (False, True)))


BASELINES: tuple[BlindStrategy, ...] = tuple(_built_in())
"""The strategies that every rise is compared with."""


def all_baselines(more: Sequence[Any] = ()) -> tuple[BlindStrategy, ...]:
    """`BASELINES`, those of installed packages, and `more`: strategies, or curations f(D)."""
    if not isinstance(more, list | tuple):
        raise DataworthError(f"baselines is {more!r}; give a list of them.")
    found = [*BASELINES]
    for one in (*(point.load() for point in entry_points(group=GROUP)), *more):
        made = one() if isinstance(one, type) else one
        if not all(hasattr(made, needed) for needed in ("name", "label", "applies", "propose")):
            if not callable(made) or wants_test(made):
                raise DataworthError(
                    f"a baseline is {made!r}; give an object with name, label, applies and propose, or a "
                    "curation f(D) that does not see the test set."
                )
            name = str(getattr(made, "name", None) or getattr(made, "__name__", "curation"))
            made = BlindStrategy(name, name, lambda budget: True, curated(made))
        if made.name in {other.name for other in found}:
            raise DataworthError(f"there are two baselines {made.name!r}: give each another name.")
        found.append(made)
    return tuple(found)
