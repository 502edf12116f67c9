"""Sources of the data (annotators, vendors): what each adds to the others, its Shapley share, its errors.

The first two are refitted. Intervals are over blocks of the test set, simultaneous over sources (Bonferroni).
Beside each source stand random groups of as many rows of the others (of all, if those are too few).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from ...arrays import Array
from ...measure import LEVEL, Estimate, against_controls, make_estimate, over_blocks, select
from ...wording import option
from ..blocks import DATA, Blocks, coalitions, joined, shapley_values
from ..result import nats
from .label_noise import error_rate
from .rows import Trust

REPLICATES = 8
"""Random groups of each source's size."""


@dataclass(frozen=True, kw_only=True)
class GroupValue:
    """One source, in nats per block of the test set.

    value: what it adds to all other sources. share: its Shapley share of what all are worth. against_random:
    its value less that of as many rows taken at random: what is lost here, re-labelling as well as the others
    do would add. below_random: that is shown to be below zero. error_rate: proportion of wrong labels.
    """

    name: str
    rows: int
    value: Estimate = nats()
    share: Estimate = nats()
    against_random: Estimate = nats()
    below_random: bool
    error_rate: Estimate


def why_no_sources(groups: Iterable[str]) -> str | None:
    """What is said of groups that cannot be compared as sources; None if they can.

    >>> why_no_sources(["a", "a", "b"])
    >>> why_no_sources(["p1", "p2"])[:33]
    'the 2 groups have one row each, s'
    """
    rows = Counter(groups)
    if len(rows) < 2:
        return f"all rows are of one source, {next(iter(rows))!r}: sources are compared with each other"
    if max(rows.values()) == 1:
        told = f"the {len(rows)} groups have one row each, so they are no sources"
        return f"{told}: {option('group')} names a column of sources"
    return None


def value_groups(blocks: Blocks, trusted: Trust) -> tuple[GroupValue, ...]:
    """Value and share of every source, largest share first."""
    data, whole = blocks.prepared.data[DATA], blocks.samples[DATA]
    names, code, sizes = np.unique(np.asarray(data.groups), return_inverse=True, return_counts=True)
    rng = np.random.default_rng([blocks.prepared.options.seed, 0x6209])
    parts = {str(name): select(whole, np.flatnonzero(code == k)) for k, name in enumerate(names)}
    wanted, orders = coalitions(list(parts), rng)
    samples = {str(k): joined(parts[one] for one in sorted(some)) for k, some in enumerate(wanted)}
    for name, size in zip(parts, sizes, strict=True):
        others = np.flatnonzero(data.groups != name)
        for k in range(REPLICATES):
            gone = rng.permutation(others if len(others) >= size else len(data))[:size]
            samples[f"random {name} {k}"] = select(whole, np.setdiff1d(np.arange(len(data)), gone))
    pmi = blocks.worth(samples)
    worth = {some: pmi[str(k)] for k, some in enumerate(wanted)}
    every = frozenset(parts)
    worth[frozenset()] = np.zeros_like(worth[every])
    level = 1.0 - (1.0 - LEVEL) / len(parts)
    shares = shapley_values(list(parts), worth, orders)
    found = []
    for name, size in zip(parts, sizes, strict=True):
        without = worth[every - {name}]
        controls = np.column_stack([pmi[f"random {name} {k}"] for k in range(REPLICATES)])
        own = data.groups == name
        below = against_controls(without, controls, level)
        interval = None if below.interval is None else (-below.interval[1], -below.interval[0])
        found.append(
            GroupValue(
                name=name,
                rows=int(size),
                value=over_blocks(worth[every] - without, level),
                share=over_orders(shares[name], level),
                against_random=replace(below, value=-below.value, interval=interval),
                below_random=below.positive,
                error_rate=error_rate(trusted.if_right[own], trusted.if_wrong[own], level),
            )
        )
    return tuple(sorted(found, key=lambda one: -one.share.value))


def over_orders(shares: Array, level: float) -> Estimate:
    """The mean over orders and blocks; how much orders differ is part of the error."""
    mean = over_blocks(shares.mean(axis=0), level)
    if len(shares) == 1 or mean.stderr is None:
        return mean
    pairs = shares.mean(axis=1).reshape(-1, 2).mean(axis=1)  # an order and its reverse
    luck = float(pairs.std(ddof=1)) / np.sqrt(len(pairs)) if len(pairs) > 1 else 0.0
    return make_estimate(mean.value, float(np.hypot(mean.stderr, luck)), mean.degrees, level, luck)
