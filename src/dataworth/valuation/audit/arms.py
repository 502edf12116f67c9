"""The arms of a comparison: before, after, and controls that make the same change blindly."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...arrays import Array, Flags, Rows
from ...data.changes import Change
from ...measure.designs import AFTER, BEFORE, CONTROL, Arm, Pile, Sample, select, weights_of


@dataclass(frozen=True)
class Arms:
    """The arms of a comparison as rows of one pool: before, after, and blind controls."""

    change: Change
    before: Sample
    after: Sample

    @property
    def fewer(self) -> int:
        """By how many distinct rows `after` is the smaller one."""
        return max(0, self.change.removed - self.change.new)

    @property
    def taught(self) -> Flags:
        """Rows of `after` whose labels are new or changed."""
        return (self.change.origin < 0) | self.change.relabelled

    @property
    def reweighted(self) -> bool:
        """Whether kept rows have other weights than before."""
        kept = self.change.origin >= 0
        return not np.array_equal(
            weights_of(self.after)[kept], weights_of(self.before)[self.change.origin[kept]]
        )

    @property
    def dealt(self) -> bool:
        """Whether kept rows count otherwise than before: by weights, or as copies."""
        return self.reweighted or self.change.repeated > 0

    @property
    def totals(self) -> Array:
        """The weights that kept rows have after curation, copies added up."""
        old = self.change.origin >= 0
        rows, place = np.unique(self.change.origin[old], return_inverse=True)
        total: Array = np.bincount(place, weights_of(self.after)[old], minlength=len(rows)).astype(float)
        return total

    @property
    def random(self) -> bool:
        """Whether the same change of size or of weights can be made at random."""
        return self.fewer > 0 or (self.dealt and bool(np.ptp(self.totals) > 0))

    def deal(self, kept: Rows, by: Array) -> Array:
        """Those weights for some rows of `before`, the largest to the largest `by`; others keep their own."""
        given = np.sort(self.totals)[::-1][: len(kept)]
        found = np.array(weights_of(self.before)[kept])
        found[np.argsort(-by[kept], kind="stable")[: len(given)]] = given
        return found

    def at_random(self, rng: np.random.Generator) -> Sample:
        """`before` with as many rows as `after` and its weights, whichever: what a fall is compared with."""
        kept = np.sort(rng.permutation(len(self.before.rows))[self.fewer :])
        part = select(self.before, kept)
        return (
            part._replace(weights=self.deal(kept, rng.random(self.change.before_rows)))
            if self.dealt
            else part
        )

    def control(self, rng: np.random.Generator) -> Sample:
        """The one control of a pair: the same change of size without selection or new knowledge.

        As many rows removed at random, as many copies of random rows, the same weights dealt out at random,
        and the rows whose labels are new or changed labelled by the model of `before`.
        """
        change, taught = self.change, self.taught
        same = np.flatnonzero(~taught)
        distinct = np.unique(change.origin[same])
        # a row that stands in the control with a label of its own stands there with the old one only if the
        # curation kept both
        replaced = np.setdiff1d(change.origin[change.relabelled], distinct)
        pool = np.setdiff1d(np.arange(change.before_rows), replaced)
        drawn = pool if len(distinct) == len(pool) else rng.choice(pool, len(distinct), replace=False)
        copies = len(same) - len(drawn)
        if copies and len(drawn):
            rounds = -(-copies // len(drawn))
            extra = np.concatenate([rng.permutation(drawn) for _ in range(rounds)])[:copies]
            drawn = np.concatenate([drawn, extra])
        rows = np.concatenate([self.before.rows[drawn], self.after.rows[taught]])
        labelled = np.zeros(len(rows), dtype=bool)
        labelled[len(drawn) :] = True
        weights = None
        if self.before.weights is not None or self.after.weights is not None:
            own = weights_of(self.before)[drawn]
            if self.reweighted and len(same) == len(drawn):
                own = rng.permutation(weights_of(self.after)[same])
            weights = np.concatenate([own, weights_of(self.after)[taught]])
        if not labelled.any():
            return Sample(rows, weights)
        return Sample(rows, weights, labelled)


def row_arms(arms: Arms, pile: Pile, drawn: Rows, rng: np.random.Generator) -> dict[Arm, Sample]:
    """What the curation made of the rows drawn, plus new rows at the same rate."""
    change = arms.change
    new = np.flatnonzero(change.origin < 0)
    place = np.full(change.before_rows, -1, dtype=np.intp)
    place[drawn] = np.arange(len(drawn))
    stays = np.flatnonzero((change.origin >= 0) & (place[change.origin] >= 0))
    added = rng.choice(new, round(len(new) * len(drawn) / change.before_rows), replace=False)
    rows = np.concatenate([stays, added])
    origin = np.where(change.origin[rows] >= 0, place[change.origin[rows]], -1)
    part = Arms(
        Change(origin, change.relabelled[rows], change.edited[rows], len(drawn), change.by),
        select(arms.before, drawn),
        select(arms.after, rows),
    )
    return {BEFORE: part.before, AFTER: part.after, CONTROL: part.control(rng)}


def rate_arms(arms: Arms, pile: Pile, drawn: Rows, rng: np.random.Generator) -> dict[Arm, Sample]:
    """Unmatched: an independent draw from `after`, sized in proportion; the control changes size blindly."""
    ratio = len(arms.after.rows) / len(arms.before.rows)
    n = max(1, min(len(pile.strata), round(len(drawn) * ratio)))
    own = rng.permutation(drawn)
    blind = np.concatenate([own, rng.choice(drawn, max(0, n - len(own)))])
    after = pile.some(n, rng)
    # whole groups may be more rows than were asked for, and the control has as many
    blind = np.concatenate([blind, rng.choice(drawn, max(0, len(after) - len(blind)))])[: len(after)]
    return {
        BEFORE: select(arms.before, drawn),
        AFTER: select(arms.after, after),
        CONTROL: select(arms.before, blind),
    }


def size_arms(arms: Arms, pile: Pile, drawn: Rows, rng: np.random.Generator) -> dict[Arm, Sample]:
    """Equal sizes, the paper's mode for curated datasets; there is no control, hence no verdict."""
    after = pile.some(min(len(drawn), len(pile.strata)), rng)
    return {BEFORE: select(arms.before, drawn), AFTER: select(arms.after, after)}


DRAWN_ARMS = {"row": row_arms, "rate": rate_arms, "size": size_arms}
"""By design, the arms of one pair: from all rows, the pile of `after`, and the rows drawn from `before`."""
