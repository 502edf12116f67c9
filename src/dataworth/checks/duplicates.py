"""DW002: are rows repeated inside the data, exactly or nearly?

A model takes every row for a new one. A row that stands there twice is counted twice, and the posterior is
sharper than what was seen allows: the score of such data is that of a larger dataset, or of an over-confident
one. Labels are not compared: the same object labelled twice is still one object.

In an audit only the data before curation are looked at: what curation repeats is reported as its change.
"""

from __future__ import annotations

import numpy as np

from ..data.dataset import Dataset
from ..data.leaks import DIGITS
from ..data.rows import same_rows
from ..measure.case import Case
from . import rows
from .base import Check, Seen, not_run

MOST_REPEATED = 0.01
"""Share of repeated rows from which it fires: a hundredth more rows change a score by less than its error."""
LEAST_REPEATED = 2
"""One repeated row is no pattern, however small the data."""
POISSON = 3.0
"""Upper 95 % bound on the mean of a count that was 0: repeats by chance where the test set shows none."""


def look(case: Case) -> Seen:
    """The worst of the datasets that were given."""
    if rows.told_apart(case) is None:
        return not_run(rows.REPEATING)
    found = {name: repeated(case, data) for name, data in looked_at(case).items() if len(data) > 1}
    if not found:
        return not_run("there are no rows to look at")
    worst = max(found, key=lambda name: (found[name][0], found[name][1]))
    fires, share, told = found[worst]
    return Seen(fires, share, f"{rows.named(worst)}: {told}")


def looked_at(case: Case) -> dict[str, Dataset]:
    """All datasets; in an audit, the data before curation."""
    every = rows.datasets(case)
    return dict(list(every.items())[:1]) if case.what == "audit" else every


def repeated(case: Case, data: Dataset) -> tuple[bool, float, str]:
    """Whether too many rows repeat an earlier one, their share, and a sentence."""
    codes, tested = same_rows(data, case.test.select(data.columns), digits=DIGITS)
    n, m = len(data), len(tested)
    distinct, first = np.unique(codes, return_index=True)
    exact = n - len(first)
    # rows that agree by chance do so across the two sets as well: how many may that be inside the data?
    across = int(np.isin(tested, distinct).sum()) + case.leaked + m - len(np.unique(tested))
    chance = n * n / 2 * (across + POISSON) / (n * m + m * m / 2)
    near, asked = near_repeats(case, data.take(np.sort(first)))
    share = exact / n + near * len(first) / n
    too_many = exact >= LEAST_REPEATED and exact - chance > MOST_REPEATED * n
    too_many |= near * asked >= LEAST_REPEATED and near > MOST_REPEATED
    told = f"{exact} of {n} rows ({exact / n:.1%}) repeat an earlier one"
    return bool(too_many), share, f"{told}, and {near:.1%} of {asked} looked at nearly do"


def near_repeats(case: Case, data: Dataset) -> tuple[float, int]:
    """Share of (distinct) rows with an earlier one very close, and how many rows were asked."""
    rng = np.random.default_rng([case.options.seed, 0xD02])
    among = rows.some_rows(len(data), rows.AMONG, rng)
    k = min(rows.NEIGHBOURS, len(among) - 1)
    if k < 4:
        return 0.0, len(among)
    X = case.yardstick.recipe.standard(data.X[among])
    asked = rows.some_rows(len(among), rows.ASKED, rng)
    distances, places = rows.others(X, asked, k)
    near = distances <= rows.near_radius(distances, 1.0)[:, None]
    earlier = (near & (places < asked[:, None])).any(axis=1)
    # a copy is among the rows looked through as often as any row is
    return min(1.0, float(earlier.mean()) * len(data) / len(among)), len(asked)


CHECK = Check(
    "DW002",
    "duplicates",
    "rows are repeated inside the data: the model counts them as new ones and is surer than it may be",
    "keep one of each (deduplicate, near-deduplicate), unless repeats are independent observations",
    look,
    needs="rows",
)
