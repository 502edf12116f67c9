"""DW003: do test rows stand in the data, nearly?

What was learned from cannot test: a copy of a test row in the data tells its label, not the world. Exact
copies were taken out of the data before anything was measured (and more than 5 % are refused), so they do no
harm and are told as a number. Near ones (the next frame of a film, a rescaled image, rows shaken to look new)
stay, and it is they that make the check fire, if there are more than independent rows would show (`rows`):

- more test rows have a row of the data close by than rows of the data and test rows have among their own
  (than test rows alone, if the data repeat their own rows);
- labels agree with those of the nearest row of the data beyond those of the next ones, more than they do
  within the data and within the test set: a copy brings the very label, a neighbour only its likelihood.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..arrays import Array, Rows
from ..data.labels import Classes
from ..measure import Case
from ..wording import counted
from . import rows
from .base import Check, Seen, not_run

NEXT = 5
"""Neighbours after the nearest whose labels say what a label there is like."""
SURE = 3.5
"""Standard errors by which labels of nearest rows must agree more than chance makes them."""


class Around(NamedTuple):
    """Of each row asked: how near its nearest neighbour is, and how much better that one knows its label."""

    near: Array
    known: Array

    @classmethod
    def of(cls, found: tuple[Array, Rows], y: Array, labels: Array, classes: bool) -> Around:
        """From distances and places of neighbours, with own labels and those of the neighbours' set.

        Labels are as like as 1 for one class and 0 for two; standardised numbers as −(y − y′)²/2.
        """
        distances, places = found
        own, other = y[:, None], labels[places[:, : NEXT + 1]]
        alike = (own == other).astype(float) if classes else -((own - other) ** 2) / 2
        return cls(rows.nearness(distances), alike[:, 0] - alike[:, 1:].mean(axis=1))


def look(case: Case) -> Seen:
    """The dataset and the space with most near copies of test rows."""
    exact = f"{counted(case.leaked, 'test row')} in the data taken out of them"
    rng = np.random.default_rng([case.options.seed, 0xD03])
    columns = case.yardstick.recipe.columns
    test = case.test.select(columns)
    test = test.take(rows.some_rows(len(test), rows.AMONG, rng))
    asked = rows.some_rows(len(test), rows.ASKED, rng)
    classes = isinstance(case.yardstick.labels, Classes)
    found = {}
    for name, data in rows.datasets(case).items():
        data = data.take(rows.some_rows(len(data), rows.AMONG, rng))
        own = rows.some_rows(len(data), rows.ASKED, rng)
        k = min(rows.NEIGHBOURS, len(data) - 1, len(test) - 1)
        if k < rows.LEAST_NEIGHBOURS:
            continue
        y, labels = case.yardstick.targets(test), case.yardstick.targets(data)
        for space, features in rows.spaces(case).items():
            T, D = features(test), features(data)
            within = Around.of(rows.like(T, len(data), asked, k, rng), y[asked], y, classes)
            among = Around.of(rows.others(D, own, k), labels[own], labels, classes)
            across = Around.of(rows.neighbours(T[asked], D, k), y[asked], labels, classes)
            larger = max(1.0, len(data) / len(test))
            null = (np.concatenate([among.near, within.near]), 1.0)
            if rows.excess(among.near, [(within.near, larger)]).fires:
                null = (within.near, larger)  # rows that are repeated in the data excuse no copies
            near = rows.excess(across.near, [null])
            surplus = min(stands_out(across.known, among.known), stands_out(across.known, within.known))
            found[name, space] = (near.fires or surplus > SURE, near, surplus)
    if not found:
        return not_run(f"too few rows to tell what is near; {exact}")
    worst = max(found, key=lambda one: (found[one][0], found[one][1].fires, -found[one][1].p))
    fires, near, surplus = found[worst]
    name, space = worst
    told = (
        f"{near.share:.1%} of {len(asked)} test rows looked at have a near copy in {rows.named(name)} "
        f"{space}; {near.allowed}"
    )
    if surplus > SURE:
        told += f"; labels of nearest rows agree more than chance makes them ({surplus:.1f} standard errors, "
        told += f"allowed up to {SURE})"
    return Seen(fires, near.share, f"{told}; {exact}")


def stands_out(known: Array, null: Array) -> float:
    """By how many standard errors nearest rows know more here than under chance."""
    error = np.sqrt(known.var() / len(known) + null.var() / len(null))
    return float((known.mean() - null.mean()) / error) if error > 0 else 0.0


CHECK = Check(
    "DW003",
    "leaks",
    "test rows stand in the data, nearly: part of the score is what the data tell of those very rows",
    "split by source (patient, document, film) instead of by row, or remove near copies of test rows",
    look,
    needs="rows",
    stands=False,
)
