"""Datasets on the blocks of one test set: what each is worth, what sets of them are worth together.

A coalition is fitted on the rows of all its sources and scored as `dw.score` scores a dataset: at the
tempering that suits it, so that rows which are there twice are worth no more than once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from math import comb
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Array
from ..checks.rows import named
from ..data.dataset import Dataset
from ..measure import (
    Arm,
    Asked,
    Measurement,
    Options,
    PairTable,
    Plan,
    Pool,
    Sample,
    ask,
    measure,
    weights_of,
    whole_plan,
)
from ..measure.prepare import prepare

DATA, TEST = "the data", "the test set"
EXACTLY = 8
"""Sources up to which every coalition is fitted; beyond, those of random orders."""
SAMPLED = 512
"""Coalitions that random orders may take."""
Coalition = frozenset[str]


class Blocks(NamedTuple):
    """Datasets and a test set on one yardstick: rows of one pool, by the names of the datasets."""

    prepared: Measurement
    pool: Pool
    samples: dict[str, Sample]
    test: Sample

    @classmethod
    def of(cls, what: str, data: Mapping[str, Any], test: Any, options: Options) -> Blocks:
        """Checked, without leaked rows; the test set stands under a name that no dataset can have."""
        prepared = prepare(what, data, test, options)
        parts = {named(name): one for name, one in prepared.data.items()} | {TEST: prepared.test}
        pool = Pool.build(prepared.yardstick, parts, options.own_model)
        samples = {name: pool.samples[named(name)] for name in prepared.data}
        return cls(prepared, pool, samples, pool.samples[TEST])

    def plan(self, arms: dict[Arm, Sample]) -> Plan:
        """The design *whole* of some arms."""
        return whole_plan(self.prepared, arms, self.test)

    def table(self, samples: Mapping[str, Sample]) -> PairTable:
        """Each sample against every block."""
        arms = {Arm("part", name): sample for name, sample in samples.items()}
        return measure(self.prepared, self.pool, self.plan(arms))

    def worth(self, samples: Mapping[str, Sample]) -> dict[str, Array]:
        """What each sample is worth, nats a block, over units of the test set."""
        table = self.table(samples)
        return {name: table.column("pmi", name) for name in samples}

    def asked(
        self, whole: str, samples: Mapping[str, Sample], test: Dataset, judged: Dataset, more: Any
    ) -> tuple[dict[str, Array], tuple[str, ...]]:
        """The same as an answer, with a note of its number (`measure.questions`), or a sentence.

        whole: the sample whose value must be better than the best so far. more: what else was asked.
        """
        table, prepared = self.table(samples), self.prepared
        by, count = judged.content_hash(), len(prepared.data)
        arm = Arm("part", whole)
        notes = ask(Asked(prepared.what, prepared.options, test.content_hash(), by, table, arm, count, more))
        return {name: table.column("pmi", name) for name in samples}, notes


def joined(parts: Iterable[Sample]) -> Sample:
    """The rows of several samples as one."""
    parts = list(parts)
    rows = np.concatenate([part.rows for part in parts])
    if all(part.weights is None for part in parts):
        return Sample(rows)
    return Sample(rows, np.concatenate([weights_of(part) for part in parts]))


def coalitions(names: Sequence[str], rng: np.random.Generator) -> tuple[list[Coalition], list[list[str]]]:
    """Coalitions to fit, and the random orders that they come from (none where all coalitions are fitted).

    Each order comes with its reverse, which takes out much of the luck.
    """
    if len(names) <= EXACTLY:
        every = [frozenset(some) for k in range(1, len(names) + 1) for some in combinations(names, k)]
        return every, []
    orders: list[list[str]] = []
    for _ in range(max(1, SAMPLED // (2 * len(names)))):
        order = [names[i] for i in rng.permutation(len(names))]
        orders += [order, order[::-1]]
    met = {frozenset(order[:k]) for order in orders for k in range(1, len(names) + 1)}
    met |= {frozenset(names) - {name} for name in names}
    return sorted(met, key=lambda some: (len(some), sorted(some))), orders


def shapley_values(
    names: Sequence[str], worth: Mapping[Coalition, Array], orders: Sequence[Sequence[str]]
) -> dict[str, Array]:
    """Each source's mean contribution over all orders in which they could come (Shapley 1953), or over some.

    One row an order that was drawn (one row alone if all were counted), a column a block; `worth` has every
    coalition that is asked for, the empty one too.
    """
    if orders:
        met: dict[str, list[Array]] = {name: [] for name in names}
        for order in orders:
            for k, name in enumerate(order):
                met[name].append(worth[frozenset(order[: k + 1])] - worth[frozenset(order[:k])])
        return {name: np.array(found) for name, found in met.items()}
    n, shares = len(names), {}
    for name in names:
        others = [other for other in names if other != name]
        gains = [
            (worth[frozenset(some) | {name}] - worth[frozenset(some)]) / (n * comb(n - 1, k))
            for k in range(n)
            for some in combinations(others, k)
        ]
        shares[name] = np.sum(gains, axis=0)[None, :]
    return shares
