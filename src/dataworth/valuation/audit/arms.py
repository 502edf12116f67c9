"""The arms of a comparison: before, after, and the same change of size and weights at random."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...arrays import Array, Flags, Rows
from ...data.changes import Change
from ...data.dataset import Dataset
from ...measure import AFTER, BEFORE, CONTROL, Arm, Pile, Sample, select, weights_of


@dataclass(frozen=True)
class Arms:
    """Before and after as rows of one pool, and how one came from the other."""

    change: Change
    before: Sample
    after: Sample

    @classmethod
    def of(cls, change: Change, before: Sample, start: int, weights: Array | None) -> Arms:
        """Rows of `after` that differ from those of `before` stand in the pool from `start` on."""
        rows = np.where(change.origin >= 0, before.rows[change.origin], 0)
        rows[change.own] = start + np.arange(len(change.own))
        return cls(change, before, Sample(rows, weights))

    @property
    def new(self) -> Flags:
        """Rows of `after` that `before` does not have."""
        return self.change.origin < 0

    @property
    def fewer(self) -> int:
        """By how many distinct rows `after` is the smaller one."""
        return max(0, self.change.removed - self.change.new)

    @property
    def reassigned(self) -> Array | None:
        """The weights that kept rows have after curation, copies added up; None if they count as before."""
        origin, weights = self.change.origin[~self.new], weights_of(self.after)[~self.new]
        if not self.change.repeated and np.array_equal(weights, weights_of(self.before)[origin]):
            return None
        rows, place = np.unique(origin, return_inverse=True)
        return np.bincount(place, weights, minlength=len(rows)).astype(float)

    @property
    def random(self) -> bool:
        """Whether the same change of size or of weights can be made at random."""
        given = self.reassigned
        return self.fewer > 0 or (given is not None and bool(np.ptp(given) > 0))

    def at_random(self, rng: np.random.Generator) -> Sample:
        """`before` with as many rows as `after` and its weights, whichever: what a fall is compared with."""
        kept = np.sort(rng.permutation(len(self.before.rows))[self.fewer :])
        part, given = select(self.before, kept), self.reassigned
        if given is None:
            return part
        score = rng.random(self.change.before_rows)
        return part._replace(weights=reassign_weights(weights_of(part), given, score[kept]))

    def with_control(self, rng: np.random.Generator) -> dict[Arm, Sample]:
        """The arms of one draw."""
        return {BEFORE: self.before, AFTER: self.after, CONTROL: self.at_random(rng)}


class Curated(NamedTuple):
    """What became of some rows: of all of `before`, or of a draw of them."""

    before: Dataset
    after: Dataset
    arms: Arms


def reassign_weights(own: Array, given: Array, score: Array) -> Array:
    """The `given` weights, the largest to the rows with the largest score; other rows keep their `own`."""
    found, given = own.copy(), np.sort(given)[::-1][: len(own)]
    found[np.argsort(-score, kind="stable")[: len(given)]] = given
    return found


Versions = Mapping[Arm, tuple[Rows, Sample]]
"""Blind versions of `before`: the places of their rows (those of `before`, then new ones), and their rows."""


def row_arms(arms: Arms, versions: Versions, drawn: Rows, rng: np.random.Generator) -> dict[Arm, Sample]:
    """What the curation and the `versions` made of the rows drawn, plus new rows at the same rate."""
    change, new = arms.change, np.flatnonzero(arms.new)
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
    there = np.concatenate([place >= 0, np.isin(new, added)])
    blind = {arm: select(one, np.flatnonzero(there[places])) for arm, (places, one) in versions.items()}
    return part.with_control(rng) | blind


def rate_arms(arms: Arms, pile: Pile, drawn: Rows, rng: np.random.Generator) -> dict[Arm, Sample]:
    """Unmatched: an independent draw from `after`, sized in proportion; the control changes size blindly."""
    n = round(len(drawn) * len(arms.after.rows) / len(arms.before.rows))
    n = max(1, min(len(pile.strata), n))
    own = rng.permutation(drawn)
    blind = np.concatenate([own, rng.choice(drawn, max(0, n - len(own)))])
    after = pile.some(n, rng)
    # whole groups may be more rows than were asked for, and the control has as many
    blind = np.concatenate([blind, rng.choice(drawn, max(0, len(after) - len(blind)))])[: len(after)]
    before, control = select(arms.before, drawn), select(arms.before, blind)
    return {BEFORE: before, AFTER: select(arms.after, after), CONTROL: control}


def size_arms(arms: Arms, pile: Pile, drawn: Rows, rng: np.random.Generator) -> dict[Arm, Sample]:
    """Equal sizes, the paper's mode for curated datasets; there is no control, hence no verdict."""
    after = pile.some(min(len(drawn), len(pile.strata)), rng)
    return {BEFORE: select(arms.before, drawn), AFTER: select(arms.after, after)}
