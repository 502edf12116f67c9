"""Sources of the data (annotators, vendors): what each adds to the others, and its Shapley share.

Both are refitted: cavities of whole sources would be off by nats. Intervals are over blocks of the test set,
simultaneous over sources (Bonferroni). Beside each source stand random groups of as many rows of the others
(of all, if those are too few): a source whose rows are worth less than others taken at random has something
wrong with it, not only few rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...arrays import Array, Rows
from ...data.dataset import Dataset
from ...errors import DataworthError
from ...measure import (
    LEVEL,
    Estimate,
    Measurement,
    Options,
    Pool,
    Sample,
    against_controls,
    make_estimate,
    over_blocks,
    select,
)
from ...wording import option
from ..coalitions import coalitions, joined, measure_arms, shapley_values
from ..result import nats, tell

REPLICATES = 8
"""Random groups of each source's size."""
EVERY = "all sources"


@dataclass(frozen=True, kw_only=True)
class GroupValue:
    """One source, in nats per block of the test set.

    value: what it adds to all other sources. share: its Shapley share of what all are worth. against_random:
    its value less that of as many rows taken at random. worse: that is shown to be below zero.
    """

    name: str
    rows: int
    value: Estimate = nats()
    share: Estimate = nats()
    against_random: Estimate = nats()
    worse: bool

    def to_dict(self, unit: float = 1.0) -> dict[str, Any]:
        """Plain data for JSON."""
        return tell(self, unit)


def value_groups(
    prepared: Measurement, pool: Pool, data: Dataset, options: Options
) -> tuple[GroupValue, ...]:
    """Value and share of every source, largest share first."""
    whole, test = pool.samples["the data"], pool.samples["the test set"]
    names, code, sizes = np.unique(np.asarray(data.groups), return_inverse=True, return_counts=True)
    check_sources(names, sizes)
    rng = np.random.default_rng([options.seed, 0x6209])
    parts = {str(name): select(whole, np.flatnonzero(code == k)) for k, name in enumerate(names)}
    wanted, orders = coalitions(list(parts), rng)
    samples: dict[str, Sample] = {}
    called = {some: f"{k}" for k, some in enumerate(wanted)}
    for some, name in called.items():
        samples[name] = joined(parts[one] for one in sorted(some))
    for name, size in zip(parts, sizes, strict=True):
        others = np.flatnonzero(data.groups != name)
        for k in range(REPLICATES):
            gone = rng.permutation(others if len(others) >= size else len(data))[:size]
            samples[f"random {name} {k}"] = select(whole, np.setdiff1d(np.arange(len(data)), gone))
    table, pmi = measure_arms(prepared, pool, samples, test)
    worth = {some: pmi(name) for some, name in called.items()} | {frozenset(): np.zeros(len(table))}
    every = frozenset(parts)
    level = 1.0 - (1.0 - LEVEL) / len(parts)
    shares = shapley_values(list(parts), worth, orders)
    found = []
    for name, size in zip(parts, sizes, strict=True):
        without = worth[every - {name}]
        controls = np.column_stack([pmi(f"random {name} {k}") for k in range(REPLICATES)])
        worse_by = against_controls(without, controls, level)
        found.append(
            GroupValue(
                name=name,
                rows=int(size),
                value=over_blocks(worth[every] - without, level),
                share=over_orders(shares[name], level),
                against_random=negated(worse_by),
                worse=worse_by.positive,
            )
        )
    return tuple(sorted(found, key=lambda one: -one.share.value))


def check_sources(names: NDArray[np.str_], sizes: Rows) -> None:
    """Two sources or more, of more than a row each, or a sentence."""
    if len(names) < 2:
        raise DataworthError(
            f"all rows of the data are of one group, {str(names[0])!r}: sources are compared with each other."
        )
    if (sizes == 1).all():
        raise DataworthError(
            f"the data have {len(names)} groups of one row each: name a column of sources with "
            f"{option('group')}, not of rows, or none."
        )


def over_orders(shares: Array, level: float) -> Estimate:
    """The mean over orders and blocks; how much orders differ is part of the error."""
    mean = over_blocks(shares.mean(axis=0), level)
    if len(shares) == 1 or mean.stderr is None:
        return mean
    pairs = shares.mean(axis=1).reshape(-1, 2).mean(axis=1)  # an order and its reverse
    luck = float(pairs.std(ddof=1)) / np.sqrt(len(pairs)) if len(pairs) > 1 else 0.0
    return make_estimate(mean.value, float(np.hypot(mean.stderr, luck)), mean.degrees, level, luck)


def negated(one: Estimate) -> Estimate:
    """The same with the other sign."""
    interval = None if one.interval is None else (-one.interval[1], -one.interval[0])
    return Estimate(-one.value, one.stderr, interval, one.monte_carlo, one.degrees)
