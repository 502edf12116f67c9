"""What the data's own models could have done with as many rows: blind controls, by kind of change.

    removal      the rows that they trust least are removed
    relabelling  of the rows that they trust least, those with a likelier label get it (or all go)
    new rows     the same rows, labelled by them
    weights      the same weights and repeats, dealt out by trust: to sure, unsure or borderline rows
    edits        the same distance along each edited column: what a line through old and new values, with the
                 label or without, would have done; towards the row's own class; edited cells permuted

A change of several kinds has controls that do all of them. Nothing here knows more than `before` does, except
which rows are new and what they look like. Doing nothing is a blind control too: `before` itself.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...arrays import Array, Rows
from ...data.dataset import Dataset
from ...measure.designs import Arm, Sample, weights_of
from .arms import Arms
from .blind import BlindModels, least

ALWAYS = ("yardstick", "boosting", "mean", "clean")
FOR_NEW_ROWS = ("linear", "spreading")


def own_controls(
    arms: Arms, models: BlindModels, after: Dataset, edits: Mapping[str, Rows]
) -> dict[Arm, Sample]:
    """All of them as rows of the pool; `edits` are the edited rows' places there, by the kind of control."""
    change = arms.change
    new = np.flatnonzero(change.origin < 0)
    predicted = models.others(after.take(new)) if len(new) else {}
    names = [*ALWAYS, *(name for name in FOR_NEW_ROWS if name in predicted)]
    made = {}
    for name in names:
        told = name if name in ALWAYS else "mean"  # what learners for new rows alone say of the old ones
        labels = models.labels(predicted[name]) if len(new) else np.zeros(0)
        for how, trust in orders(arms, models, told).items():
            made[f"by {name}{how}"] = control(arms, models, told, trust, labels, new)
    if change.relabelled.any():
        labels = models.labels(predicted["clean"]) if len(new) else np.zeros(0)
        trust = models.trust("clean")
        made["dropped by clean"] = control(arms, models, "clean", trust, labels, new, drop=True)
    for name, places in edits.items():
        labels = models.labels(predicted["mean"]) if len(new) else np.zeros(0)
        made[name] = control(arms, models, "mean", models.trust("mean"), labels, new, places)
    return {Arm("own", name): sample for name, sample in made.items()}


def orders(arms: Arms, models: BlindModels, name: str) -> dict[str, Array]:
    """By what weights are dealt out: to sure, unsure or borderline rows first; nothing to deal, one order."""
    trust = models.trust(name)
    if not (arms.reweighted or arms.change.repeated):
        return {"": trust}
    if name not in ("yardstick", "boosting"):
        return {", to the sure": trust}
    middle = np.abs(trust - (0.5 if models.classes else np.median(trust)))
    return {", to the sure": trust, ", to the unsure": -trust, ", to the borderline": -middle}


def control(
    arms: Arms,
    models: BlindModels,
    name: str,
    dealt_by: Array,
    labels: Array,
    new: Rows,
    edited: Rows | None = None,
    drop: bool = False,
) -> Sample:
    """As many rows removed, relabelled, added, reweighted and edited as the curation did, by one learner.

    With `drop` rows are removed where the curation relabelled them.
    """
    change, trust = arms.change, models.trust(name)
    relabelled = len(np.unique(change.origin[change.relabelled]))
    order = least(trust, change.before_rows)
    gone = change.removed + (relabelled if drop else 0)
    kept = np.sort(order[gone:])
    targets = np.array(models.targets)
    if relabelled and not drop:
        doubted = order[gone : gone + relabelled]
        targets[doubted] = models.labels(models.own[name])[doubted]
    rows = np.array(arms.before.rows)
    if edited is not None:
        places = np.flatnonzero(change.edited)
        rows[change.origin[places]] = edited
    weights = weights_of(arms.before)[kept]
    if arms.reweighted or change.repeated:
        weights = dealt(arms, kept, dealt_by)
    together = np.concatenate([rows[kept], arms.after.rows[new]])
    weights = np.concatenate([weights, weights_of(arms.after)[new]])
    plain = arms.before.weights is None and arms.after.weights is None and not change.repeated
    return Sample(together, None if plain else weights, targets=np.concatenate([targets[kept], labels]))


def dealt(arms: Arms, kept: Rows, by: Array) -> Array:
    """The weights that kept rows have after curation, copies added up: the largest to the largest `by`."""
    change = arms.change
    old = change.origin >= 0
    total = np.zeros(change.before_rows)
    np.add.at(total, change.origin[old], weights_of(arms.after)[old])
    here = np.unique(change.origin[old])
    given = np.sort(total[here])
    spread = np.full(len(kept), given.mean() if len(given) else 1.0)
    spread[np.argsort(by[kept], kind="stable")[-len(given) :]] = given[-len(kept) :]
    return spread


def edited_rows(arms: Arms, before: Dataset, after: Dataset, targets: Array, seed: int) -> dict[str, Dataset]:
    """The edited rows as a blind editor could have made them, by the kind of control."""
    change = arms.change
    rows = np.flatnonzero(change.edited)
    if not len(rows):
        return {}
    origin = change.origin[rows]
    old, new, y = before.X[origin], after.X[rows], targets[origin]
    numeric = np.array([column.kind != "categorical" for column in before.columns])
    usable = numeric & np.isfinite(old) & np.isfinite(new)
    moved = usable & (old != new)
    plain, labelled, permuted = old.copy(), old.copy(), old.copy()
    rng = np.random.default_rng([seed, 0xED17])
    for j in np.flatnonzero((old != new).any(axis=0)):
        cells = np.flatnonzero(old[:, j] != new[:, j])
        permuted[cells, j] = new[rng.permutation(cells), j]
        cells = np.flatnonzero(moved[:, j])
        if len(cells):
            with_label = np.column_stack([np.ones(len(cells)), old[cells, j], y[cells]])
            plain[cells, j] = on_a_line(with_label[:, :2], new[cells, j])
            labelled[cells, j] = on_a_line(with_label, new[cells, j])
    made = {"edited on a line": plain, "edited on a line by label": labelled}
    made |= {"edited towards the own class": towards_own_class(before, targets, origin, new, moved)}
    made |= {"edited cells permuted": permuted}
    part = before.take(origin)
    return {name: part.with_features(X) for name, X in made.items()}


def on_a_line(A: Array, b: Array) -> Array:
    """The least-squares fit of b."""
    fitted: Array = A @ np.linalg.lstsq(A, b, rcond=None)[0]
    return fitted


def towards_own_class(before: Dataset, targets: Array, origin: Rows, new: Array, moved: Array) -> Array:
    """Each edited row moved as far as it was, in units of columns' spreads, towards the mean of its class.

    Of numeric labels the class is the half above or below the median.
    """
    X = np.nan_to_num(before.X)
    spread = X.std(axis=0) + 1e-12
    own = targets if len(np.unique(targets)) <= 20 else (targets > np.median(targets)).astype(float)
    _, codes = np.unique(own, return_inverse=True)
    means = np.array([X[codes == k].mean(axis=0) for k in range(int(codes.max()) + 1)])
    way = np.where(moved, (means[codes[origin]] - X[origin]) / spread, 0.0)
    far = np.sqrt((np.where(moved, (new - X[origin]) / spread, 0.0) ** 2).sum(axis=1))
    step = np.minimum(far / (np.sqrt((way**2).sum(axis=1)) + 1e-12), 1.0)
    return np.where(moved, X[origin] + way * spread * step[:, None], before.X[origin])
