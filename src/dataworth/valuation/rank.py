"""Which of these datasets is worth most? All on the same blocks of the same test set."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar, Unpack

from ..data.dataset import Dataset
from ..errors import DataworthError
from ..measure import (
    DESIGNS,
    LEVEL,
    Arm,
    Case,
    Estimate,
    MeanDecomposition,
    Measuring,
    Options,
    PairTable,
    Plan,
    answered,
    count,
    kept,
    measure,
    negligible,
    over_blocks,
    rank_parts,
    two_sided_p,
)
from ..wording import in_nats
from .blocks import Blocks
from .entry import measurement
from .result import Replay, Result, nats, rests_on
from .sealed import Sealed, measure_sealed, refuse_unsealable


@dataclass(frozen=True, kw_only=True)
class Ranked:
    """One candidate: value with a simultaneous interval, and its distance to the best."""

    name: str
    value: float = nats()
    stderr: float | None = nats()
    interval: tuple[float, float] | None = nats()
    per_row: float = nats()
    to_best: Estimate = nats(name="difference_to_best")
    p_value: float
    tied: bool = field(metadata={"name": "tied_with_best"})
    accuracy: float
    rows: int


@dataclass(frozen=True, kw_only=True, repr=False)
class Ranking(Result):
    """Candidates, best first."""

    schema: ClassVar[str] = "dataworth/rank/1"
    ranking: tuple[Ranked, ...]

    @property
    def headline(self) -> str:
        """The best, and which others are tied with it."""
        best = self.ranking[0]
        tied = [other.name for other in self.ranking[1:] if other.tied]
        also = f", tied with it {', '.join(tied)}" if tied else ""
        return f"best of {len(self)}: {best.name}, {in_nats(best.value, best.interval)}{also}"

    def __iter__(self) -> Iterator[Ranked]:
        return iter(self.ranking)

    def __len__(self) -> int:
        return len(self.ranking)

    def __getitem__(self, place: int) -> Ranked:
        return self.ranking[place]

    @cached_property
    def parts(self) -> dict[str, MeanDecomposition]:
        """What the values are made of (`measure.parts`), by name; needs `keep_data=True`."""
        return rank_parts(kept(self.case))


@measurement("rank", "candidates", test="test")
def rank(candidates: Mapping[str, Dataset | Sealed], test: Dataset, **options: Unpack[Measuring]) -> Ranking:
    """Rank datasets by their value; intervals hold for all of them at once (Bonferroni; Holm for the ties).

    Args:
        candidates: datasets (or tables that `dw.read` takes) by name. If any is sealed (`dw.seal`), all are
            scored by their posteriors on the yardstick.
        test: the test set that all are measured on.
        **options: see below.

    Returns:
        A `Ranking`: the candidates, best first, each with its value, interval and distance to the best.

    Raises:
        DataworthError: if there is no candidate, or if candidates, test set and options do not fit together.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(400, 2))
    >>> data = Dataset(X, (X[:, 0] + 0.5 * rng.normal(size=400) > 0).astype(int))
    >>> few, many = data.take(range(10)), data.take(range(10, 250))
    >>> [r.name for r in rank({"few": few, "many": many}, data.take(range(250, 400)))]
    ['many', 'few']
    """
    opts = Options.parse("rank", options)
    opts.choose_design(DESIGNS["rank"])
    names = list(candidates) if isinstance(candidates, Mapping) else []
    if not names or not all(isinstance(name, str) for name in names):
        raise DataworthError("rank takes a dict of names and Datasets, with at least one: {'a': A, 'b': B}.")
    if any(isinstance(one, Sealed) for one in candidates.values()):
        refuse_unsealable(opts.form)
        case = measure_sealed("rank", candidates, test, opts, best_of)
    else:
        blocks = Blocks.of("rank", candidates, test, opts)
        plan = blocks.plan({Arm("candidate", name): sample for name, sample in blocks.samples.items()})
        table = measure(blocks.prepared, blocks.pool, plan)
        first = by_value(count(table, opts, "blocks").table)[1::-1]  # how far the best stands above the next
        case = Case.of(blocks.prepared, blocks.pool, plan, table=table, arms=tuple(first), conclude=best_of)
    replay = Replay.of("rank", candidates, test, opts)
    return summarise(answered(case, test), {**candidates, **case.data}, replay)


def summarise(case: Case, candidates: Mapping[str, Dataset | Sealed], replay: Replay) -> Ranking:
    """Best first after clipping, if that is asked for; a note says if clipping decides the order."""
    counted = count(case.table, case.options, case.plan.unit)
    ranking = order(counted.table, {name: len(one) for name, one in candidates.items()})
    notes = case.notes + counted.notes
    unclipped = [str(arm) for arm in by_value(case.table)]
    if unclipped != [one.name for one in ranking]:
        notes += (f"clipping decides the order: without it, it would be {', '.join(unclipped)}",)
    return Ranking(
        ranking=tuple(ranking),
        question="Which of these datasets, as they are, is worth most to someone facing this test set?",
        replay=replay,
        notes=notes,
        **rests_on(case, counted),
    )


def by_value(table: PairTable) -> list[Arm]:
    """The arms, best first."""
    return sorted(table.arms, key=lambda arm: -float(table.column("pmi", arm).mean()))


def best_of(plan: Plan, table: PairTable) -> str:
    """The arm with the highest mean."""
    return str(by_value(table)[0])


def order(table: PairTable, rows: Mapping[str, int]) -> list[Ranked]:
    """Best first; differences to the best are taken block by block."""
    best, *others = by_value(table)
    gaps = {arm: table.change("pmi", arm, best) for arm in others}
    rows_a_block = float(table.test_rows.mean())
    none = negligible(rows_a_block)  # a gap that solvers may have left is no gap
    ps = {str(arm): two_sided_p(g) if abs(g.mean()) >= none else 1.0 for arm, g in gaps.items()}
    adjusted = holm(ps)
    simultaneous = 1 - (1 - LEVEL) / (1 + len(others))
    between = 1 - (1 - LEVEL) / max(len(others), 1)

    def ranked(arm: Arm) -> Ranked:
        value = over_blocks(table.column("pmi", arm), simultaneous)
        p = adjusted.get(str(arm), 1.0)
        return Ranked(
            name=str(arm),
            value=value.value,
            stderr=value.stderr,
            interval=value.interval,
            per_row=value.value / rows_a_block,
            to_best=over_blocks(gaps[arm], between) if arm in gaps else Estimate(0.0, 0.0, (0.0, 0.0)),
            p_value=p,
            tied=p > 1 - LEVEL,
            accuracy=float(table.column("accuracy", arm).mean()),
            rows=rows[str(arm)],
        )

    return [ranked(arm) for arm in (best, *others)]


def holm(p_values: Mapping[str, float]) -> dict[str, float]:
    """Holm's step-down adjustment."""
    adjusted: dict[str, float] = {}
    running = 0.0
    for i, name in enumerate(sorted(p_values, key=lambda n: p_values[n])):
        running = max(running, (len(p_values) - i) * p_values[name])
        adjusted[name] = min(1.0, running)
    return adjusted
