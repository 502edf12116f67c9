"""What the data's own models could have done with as many rows: blind controls, by kind of change.

    removal      the rows that they trust least are removed
    relabelling  of the rows that they trust least, those with a likelier label get it (or all go); and
                 rows at random get another label, for wrong labels can make data that are too sure right;
                 numeric labels all move on the line through old and new ones: stretched, shifted
    new rows     the same rows, labelled by them
    weights      the same weights and repeats, dealt out to sure, unsure or borderline rows, and at random
    edits        the same cells, as a blind editor could have made them (`edits`); or as many rows go, those
                 that they trust least: cells can be emptied, or made to say nothing
    ladder       fewer rows than that removed (of numeric labels also relabelled): who touches rows that do
                 not matter must not thereby choose how many the control takes

A change of several kinds has controls that do all of them. Nothing here knows more than `before` does, except
which rows are new or edited and what they look like. Doing nothing is a blind control too: `before` itself.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...arrays import Array, Flags, Rows
from ...data.changes import Change
from ...data.dataset import Dataset
from ...measure.designs import Arm, Sample, weights_of
from .arms import Arms
from .blind import SMOOTH, BlindModels, least

ALWAYS = ("yardstick", "boosting", "mean", "clean")
FOR_NEW_ROWS = ("linear", "spreading")
RELABELLINGS = 3
"""Controls that change labels at random: one alone would be one draw."""
LADDER = (0.05, 0.1, 0.15, 0.2, 0.3)
"""Proportions of all rows that controls of the ladder take, where the curation touched more."""
DEALERS = ("yardstick", "boosting")
"""Learners by which weights are dealt out in every order; by the others to sure rows alone."""


def own_controls(
    arms: Arms, models: BlindModels, after: Dataset, edits: Mapping[str, Rows]
) -> dict[Arm, Sample]:
    """All of them as rows of the pool; `edits` are the edited rows' places there, by the kind of control."""
    new = np.flatnonzero(arms.change.origin < 0)
    predicted = models.others(after.take(new)) if len(new) else {}
    labels = {name: models.labels(prediction) for name, prediction in predicted.items()}
    none = np.zeros(0)
    made = {}
    always = ALWAYS if models.classes else (*ALWAYS, SMOOTH)
    for name in (*always, *(name for name in FOR_NEW_ROWS if name in predicted)):
        told = name if name in always else "mean"  # what learners for new rows alone say of the old ones
        for how, order in orders(arms, models, told).items():
            made[f"by {name}{how}"] = control(arms, models, told, labels.get(name, none), order)
    edited, relabelled = arms.change.edited.any(), arms.change.relabelled.any()
    for name in always if edited else ("clean",) if relabelled else ():
        made[f"dropped by {name}"] = control(arms, models, name, labels.get(name, none), drop=True)
    if relabelled:
        for k in range(RELABELLINGS):
            rng = np.random.default_rng([models.seed, 0xF11F, k])
            made[f"labels at random {k + 1}"] = control(
                arms, models, "mean", labels.get("mean", none), chance=rng
            )
        if not models.classes:
            made["labels on a line"] = on_a_line(arms, models, after)
    for name, places in edits.items():
        made[name] = control(arms, models, "mean", labels.get("mean", none), edited=places)
    made |= ladder(arms, models)
    how = ", row by row" if models.row_by_row else ""
    return {Arm("own", f"{name}{how}"): sample for name, sample in made.items()}


def ladder(arms: Arms, models: BlindModels) -> dict[str, Sample]:
    """`before` without the rows that are trusted least, fewer than were touched; or these relabelled."""
    change, own = arms.change, arms.before
    relabelled, touched = distinct(change, change.relabelled), touched_rows(change)
    made = {}
    for name in ("mean", "clean"):
        doubted = least(models.trust(name), change.before_rows)
        for part in LADDER:
            k = round(part * change.before_rows)
            if 0 < k < touched:
                kept = np.sort(doubted[k:])
                weights = None if own.weights is None else own.weights[kept]
                made[f"dropped by {name}, {part:.0%} of all rows"] = Sample(
                    own.rows[kept], weights, targets=models.targets[kept]
                )
            if 0 < k < relabelled and not models.classes:
                targets = np.array(models.targets)
                targets[doubted[:k]] = models.labels(models.own[name])[doubted[:k]]
                made[f"by {name}, {part:.0%} of all rows"] = Sample(own.rows, own.weights, targets=targets)
    return made


def on_a_line(arms: Arms, models: BlindModels, after: Dataset) -> Sample:
    """All numeric labels moved by the least-squares line from old to new ones: not told which moved."""
    kept = arms.change.origin >= 0
    old, new = models.targets[arms.change.origin[kept]], models.yardstick.targets(after)[kept]
    A = np.column_stack([np.ones(len(old)), old])
    (start, slope), *_ = np.linalg.lstsq(A, new, rcond=None)
    return Sample(arms.before.rows, arms.before.weights, targets=start + slope * models.targets)


def orders(arms: Arms, models: BlindModels, name: str) -> dict[str, Array]:
    """By what weights are dealt out, the largest to the largest; if there is nothing to deal, by trust."""
    trust = models.trust(name)
    if not arms.dealt:
        return {"": trust}
    found = {", to the sure": trust}
    if name in DEALERS:
        found[", to the unsure"] = -trust
        if models.classes:
            found[", to the borderline"] = -models.margin(name)
    if name == "mean":
        found[", at random"] = np.random.default_rng([models.seed, 0xDEA1]).random(len(trust))
    return found


def control(
    arms: Arms,
    models: BlindModels,
    name: str,
    labels: Array,
    order: Array | None = None,
    *,
    edited: Rows | None = None,
    drop: bool = False,
    chance: np.random.Generator | None = None,
) -> Sample:
    """As many rows removed, relabelled, added, reweighted and edited as the curation did, by one learner.

    `labels` are those of the new rows; weights are dealt out by `order`, else by trust. With `drop` rows are
    removed where the curation relabelled or edited them; with `chance` rows at random get another label.
    """
    change, trust = arms.change, models.trust(name)
    relabelled, touched = distinct(change, change.relabelled), touched_rows(change)
    doubted = least(trust, change.before_rows)
    gone = touched if drop else change.removed
    kept = np.sort(doubted[gone:])
    targets = np.array(models.targets)
    if chance is not None:
        changed = chance.permutation(kept)[:relabelled]
        targets[changed] = other_labels(targets[changed], models.classes, chance)
    elif not drop:
        changed = doubted[gone : gone + relabelled]
        targets[changed] = models.labels(models.own[name])[changed]
    rows = np.array(arms.before.rows)
    if edited is not None:
        rows[change.origin[change.edited]] = edited
    new = change.origin < 0
    weights = None
    if arms.dealt or arms.before.weights is not None or arms.after.weights is not None:
        own = weights_of(arms.before)[kept]
        if arms.dealt:
            own = arms.deal(kept, trust if order is None else order)
        weights = np.concatenate([own, weights_of(arms.after)[new]])
    together = np.concatenate([rows[kept], arms.after.rows[new]])
    return Sample(together, weights, targets=np.concatenate([targets[kept], labels]))


def distinct(change: Change, rows: Flags) -> int:
    """How many rows of `before` some rows of `after` were."""
    return len(np.unique(change.origin[rows]))


def touched_rows(change: Change) -> int:
    """How many rows of `before` were removed, relabelled or edited."""
    return change.removed + distinct(change, change.relabelled | change.edited)


def other_labels(targets: Array, classes: int, rng: np.random.Generator) -> Array:
    """Another class for each, any of the others; numeric labels change places.

    >>> other_labels(np.array([0.0, 1.0, 1.0]), 2, np.random.default_rng(0)).tolist()
    [1.0, 0.0, 0.0]
    """
    if not classes:
        return np.asarray(rng.permutation(targets))
    return np.asarray((targets + rng.integers(1, classes, size=len(targets))) % classes)
