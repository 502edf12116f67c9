"""DW003: do test rows stand in the data, exactly or nearly?

What was learned from cannot test: a copy of a test row in the data tells its label, not the world. Exact
copies were dropped from the test set before anything was measured (and more than 5 % are refused), so they do
no harm and are told as a number. Near ones (the next frame of a film, a rescaled image, a corrected typing
error) stay, and it is they that make the check fire.
"""

from __future__ import annotations

import numpy as np

from ..data.dataset import Dataset
from ..measure.case import Case
from ..wording import counted
from . import rows
from .base import Check, Seen, not_run

MOST_LEAKED = 0.01
"""Proportion of the test rows with a near copy in the data from which it fires. A leaked row can be worth
log 2 nats and more where a fair one is worth a tenth of that: one in a hundred moves a score by a tenth."""
LEAST_LEAKED = 2
"""One near row may be chance."""


def look(case: Case) -> Seen:
    """The dataset with most near copies of test rows."""
    exact = f"{counted(case.leaked, 'exact copy').replace('copys', 'copies')} left out"
    test = rows.told_apart(case)
    if test is None:
        return not_run(rows.REPEATING)
    rng = np.random.default_rng([case.options.seed, 0xD03])
    T = case.yardstick.recipe.standard(test.X[rows.some_rows(len(test), rows.AMONG, rng)])
    k = min(rows.NEIGHBOURS, len(T) - 1)
    data = rows.datasets(case)
    if k < 4 or not data:
        return not_run(f"too few rows to tell what is near; {exact}")
    asked = rows.some_rows(len(T), rows.ASKED, rng)
    distances, _ = rows.others(T, asked, k)
    found = {name: near_leaks(case, part, T[asked], distances, len(T), rng) for name, part in data.items()}
    worst = max(found, key=lambda name: found[name])
    share = found[worst]
    fires = share > MOST_LEAKED and share * len(asked) >= LEAST_LEAKED
    told = f"{share:.1%} of {len(asked)} test rows looked at have a near copy in {rows.named(worst)}; {exact}"
    return Seen(fires, share, told)


def near_leaks(
    case: Case, data: Dataset, T: np.ndarray, distances: np.ndarray, among: int, rng: np.random.Generator
) -> float:
    """Proportion of test rows with a row of the data very close, as test rows lie from one another."""
    kept = rows.some_rows(len(data), rows.AMONG, rng)
    closest = rows.neighbours(T, case.yardstick.recipe.standard(data.X[kept]), 1)[0][:, 0]
    near = closest <= rows.near_radius(distances, max(1.0, len(kept) / among))
    return min(1.0, float(near.mean()) * len(data) / len(kept))


CHECK = Check(
    "DW003",
    "leaks",
    "test rows stand in the data, nearly: part of the score is what the data tell of those very rows",
    "split by source (patient, document, film) instead of by row, or remove near copies of test rows",
    look,
    needs="rows",
)
