"""DW002: are rows repeated inside the data, exactly or nearly?

A model takes every row for a new one. A row that stands there twice is counted twice, and the posterior is
sharper than what was seen allows: the score of such data is that of a larger dataset, or of an over-confident
one. Labels are not compared: the same object labelled twice is still one object.

Rows of real tables agree by chance, or because they are siblings. So rows near another are counted inside the
data, inside the test set, and of test rows in the data (`rows`). The check fires if the data have more than
both others: siblings that were dealt out at random stand across as well, groups that were kept together stand
inside the test set as well.

In an audit only the data before curation are looked at: what curation repeats is reported as its change.
"""

from __future__ import annotations

import numpy as np

from ..data.dataset import Dataset
from ..measure import Case
from . import rows
from .base import Check, Seen, not_run


def look(case: Case) -> Seen:
    """The worst of the datasets that were given."""
    found = {name: repeated(case, data) for name, data in looked_at(case).items()}
    seen = {name: one for name, one in found.items() if one is not None}
    if not seen:
        return not_run("too few rows to tell what is near")
    worst = max(seen, key=lambda name: (seen[name].fires, -seen[name].p))
    one = seen[worst]
    told = f"{one.share:.1%} of the rows looked at are near another; {one.allowed}"
    return Seen(one.fires, one.share, f"{rows.named(worst)}: {told}")


def looked_at(case: Case) -> dict[str, Dataset]:
    """All datasets; in an audit, the data before curation."""
    every = rows.datasets(case)
    return dict(list(every.items())[:1]) if case.what == "audit" else every


def repeated(case: Case, data: Dataset) -> rows.Excess | None:
    """Rows of the data near another, against chance; None if there are too few to tell."""
    rng = np.random.default_rng([case.options.seed, 0xD02])
    standard = case.yardstick.recipe.standard
    test = case.test.select(data.columns)
    D, T = (standard(part.X[rows.some_rows(len(part), rows.AMONG, rng)]) for part in (data, test))
    k = min(rows.NEIGHBOURS, len(D) - 1, len(T) - 1)
    if k < rows.LEAST_NEIGHBOURS:
        return None
    own, asked = (rows.some_rows(len(X), rows.ASKED, rng) for X in (D, T))
    among = rows.nearness(rows.others(D, own, k)[0])
    within = rows.nearness(rows.like(T, len(D), asked, k, rng)[0])
    across = rows.nearness(rows.neighbours(T[asked], D, k)[0])
    return rows.excess(among, [(across, 1.0), (within, 1.0)])


CHECK = Check(
    "DW002",
    "duplicates",
    "rows are repeated inside the data: the model counts them as new ones and is surer than it may be",
    "keep one of each (deduplicate, near-deduplicate), unless repeats are independent observations",
    look,
    needs="rows",
)
