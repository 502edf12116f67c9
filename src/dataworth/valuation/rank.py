"""Which of these datasets is worth most? All on the same blocks of the same test set."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ..checks import Finding, check_codes, run_checks
from ..checks.base import fired
from ..data.dataset import Dataset
from ..data.leaks import drop_leaks
from ..errors import DataworthError
from ..evidence.pair import NATS_PER_BIT
from ..measure.case import Case
from ..measure.designs import Whole
from ..measure.evaluate import PairTable
from ..measure.intervals import LEVEL, Estimate, over_blocks, two_sided_p
from ..measure.options import Options, block_count, clip_table, measure, use_yardstick
from ..measure.parts import MeanParts, has_case, rank_parts
from ..measure.prepare import Pool, check_datasets, one_class_note
from ..wording import in_nats
from ..yardstick.yardstick import Yardstick
from .audit.verdict import NEGLIGIBLE
from .sealed import Sealed, refuse_unsealable, score_sealed

SCHEMA = "dataworth/rank/1"
QUESTION = "Which of these datasets, as they are, is worth most to someone facing this test set?"


@dataclass(frozen=True)
class Ranked:
    """One candidate: value with a simultaneous interval, and its distance to the best."""

    name: str
    value: float
    stderr: float | None
    interval: tuple[float, float] | None
    to_best: Estimate
    p_value: float
    tied: bool
    accuracy: float
    rows: int

    def to_dict(self, unit: float = 1.0) -> dict[str, Any]:
        """Plain data for JSON."""
        gap = self.to_best.to_dict(unit)
        return {
            "name": self.name,
            **Estimate(self.value, self.stderr, self.interval).to_dict(unit),
            "difference_to_best": gap["value"],
            "difference_interval": gap["interval"],
            "p_value": self.p_value,
            "tied_with_best": self.tied,
            "accuracy": self.accuracy,
            "rows": self.rows,
        }


@dataclass(frozen=True)
class Ranking:
    """Candidates, best first."""

    ranking: tuple[Ranked, ...]
    details: dict[str, Any]
    yardstick: Yardstick
    notes: tuple[str, ...]
    table: PairTable = field(repr=False)
    question: str = QUESTION
    checks: tuple[Finding, ...] = field(default=(), repr=False)
    case: Case | None = field(default=None, repr=False)

    def __repr__(self) -> str:
        best = self.ranking[0]
        tied = [other.name for other in self.ranking[1:] if other.tied]
        also = f", tied with it {', '.join(tied)}" if tied else ""
        first = f"best of {len(self)}: {best.name}, {in_nats(best.value, best.interval)}"
        return f"Ranking({first}{also}, {fired(self.checks)})"

    def __iter__(self) -> Any:
        return iter(self.ranking)

    def __len__(self) -> int:
        return len(self.ranking)

    def __getitem__(self, place: int) -> Ranked:
        return self.ranking[place]

    @cached_property
    def parts(self) -> dict[str, MeanParts]:
        """What the values are made of (`measure.parts`), by name; computed when first asked for."""
        return rank_parts(has_case(self.case))

    def to_dict(self, bits: bool = False, parts: bool = False) -> dict[str, Any]:
        """Plain data for JSON, in nats or in bits; with `parts` also what the values are made of."""
        unit = NATS_PER_BIT if bits else 1.0
        return {
            "schema": SCHEMA,
            "unit": "bits" if bits else "nats",
            "ranking": [r.to_dict(unit) for r in self.ranking],
            "question": self.question,
            **self.details,
            "yardstick": self.yardstick.summary(),
            "notes": list(self.notes),
            "checks": [finding.to_dict() for finding in self.checks],
            **({"parts": {n: p.to_dict(unit) for n, p in self.parts.items()}} if parts else {}),
        }


def rank(
    candidates: Mapping[str, Dataset | Sealed],
    test: Dataset,
    *,
    yardstick: Yardstick | None = None,
    **options: Any,
) -> Ranking:
    """Rank datasets by their value; intervals hold for all of them at once (Bonferroni; Holm for the ties).

    If any of them is sealed (`dataworth.seal`), all are scored by their posteriors on the yardstick.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(400, 2))
    >>> data = Dataset(X, (X[:, 0] + 0.5 * rng.normal(size=400) > 0).astype(int))
    >>> few, many = data.take(range(10)), data.take(range(10, 250))
    >>> [r.name for r in rank({"few": few, "many": many}, data.take(range(250, 400)))]
    ['many', 'few']
    """
    opts = Options.parse(options)
    check_codes(opts.ignore)
    if (
        not isinstance(candidates, Mapping)
        or not candidates
        or not all(isinstance(n, str) for n in candidates)
    ):
        raise DataworthError("rank takes a dict of names and Datasets, with at least one: {'a': A, 'b': B}.")
    opened = {n: d for n, d in candidates.items() if not isinstance(d, Sealed)}
    check_datasets(opened)
    check_datasets({"test": test})
    if len(opened) < len(candidates):
        refuse_unsealable(opts.form)
        return without_rows(candidates, test, use_yardstick(yardstick, test, opts), opts)
    yard = use_yardstick(yardstick, test, opts)
    leaks = drop_leaks(test, opened)
    test = test.take(leaks.kept)
    names = list(opened)
    # the test set stands under a name that no candidate can have
    pool = Pool.build(yard, {**{f"{n!r}": d for n, d in opened.items()}, "test": test})
    arms = {n: pool.samples[f"{n!r}"] for n in names}
    blocks = block_count(len(test))
    config = {"what": "rank", "data": {n: d.content_hash() for n, d in opened.items()}}
    config |= {"test": test.content_hash(), "yardstick": yard.digest, **opts.to_dict()}
    plan = Whole(arms, pool.samples["test"], blocks, opts.seed)
    table = measure(plan, pool.fitter, blocks, opts, config)
    details = {"blocks": blocks, "test_rows": len(test), "rows_per_test": float(table.test_rows.mean())}
    details |= opts.how()
    told = (leaks.note, *(one_class_note(yard, d, n) for n, d in opened.items()))
    notes = opts.notes(yard) + [n for n in told if n]
    ranking = order_clipped(table, {n: len(d) for n, d in opened.items()}, opts, details, notes)
    # what a ranking is about: how far the best stands above the next
    leaders = tuple(one.name for one in reversed(ranking[:2]))
    case = Case(
        "rank",
        opened,
        test,
        leaks.dropped,
        yard,
        pool,
        plan,
        table,
        leaders,
        opts,
        over_blocks,
        best_of,
    )
    return Ranking(tuple(ranking), details, yard, tuple(notes), table, checks=run_checks(case), case=case)


def without_rows(
    candidates: Mapping[str, Dataset | Sealed], test: Dataset, yard: Yardstick, opts: Options
) -> Ranking:
    """The ranking where some data are sealed: all by the form *sealed*."""
    table, test, told, checks = score_sealed(candidates, test, yard, opts, "rank")
    details: dict[str, Any] = {"blocks": len(table), "test_rows": len(test), "form": "sealed"}
    details["rows_per_test"] = float(table.test_rows.mean())
    notes = opts.notes(yard) + told
    ranking = order_clipped(table, {n: len(d) for n, d in candidates.items()}, opts, details, notes)
    return Ranking(tuple(ranking), details, yard, tuple(notes), table, checks=checks)


def order_clipped(
    table: PairTable, rows: Mapping[str, int], opts: Options, details: dict[str, Any], notes: list[str]
) -> list[Ranked]:
    """Best first after clipping, if that is asked for; a note says if clipping decides the order."""
    ranking = order(clip_table(table, opts, details, notes, "blocks"), rows)
    unclipped = [r.name for r in order(table, rows)]
    if unclipped != [r.name for r in ranking]:
        notes.append(f"clipping decides the order: without it, it would be {', '.join(unclipped)}")
    return ranking


def best_of(table: PairTable) -> str:
    """The arm with the highest mean."""
    return table.arms[int(table.pmi.mean(axis=0).argmax())]


def order(table: PairTable, rows: Mapping[str, int]) -> list[Ranked]:
    """Best first; differences to the best are taken block by block."""
    names = sorted(table.arms, key=lambda n: -float(table.column("pmi", n).mean()))
    best, m = names[0], len(names)
    gaps = {n: table.change("pmi", n, best) for n in names[1:]}
    # a gap that solvers may have left is no gap
    adjusted = holm({n: two_sided_p(g) if abs(g.mean()) > NEGLIGIBLE else 1.0 for n, g in gaps.items()})
    simultaneous = 1 - (1 - LEVEL) / m
    between = 1 - (1 - LEVEL) / max(m - 1, 1)
    ranked = []
    for name in names:
        value = over_blocks(table.column("pmi", name), simultaneous)
        gap = over_blocks(gaps[name], between) if name in gaps else Estimate(0.0, 0.0, (0.0, 0.0))
        p = adjusted.get(name, 1.0)
        accuracy = float(table.column("accuracy", name).mean())
        tied = p > 1 - LEVEL
        ranked.append(
            Ranked(name, value.value, value.stderr, value.interval, gap, p, tied, accuracy, rows[name])
        )
    return ranked


def holm(p_values: Mapping[str, float]) -> dict[str, float]:
    """Holm's step-down adjustment.

    >>> holm({"a": 0.01, "b": 0.04, "c": 0.03})
    {'a': 0.03, 'c': 0.06, 'b': 0.06}
    """
    adjusted: dict[str, float] = {}
    running = 0.0
    for i, name in enumerate(sorted(p_values, key=lambda n: p_values[n])):
        running = max(running, (len(p_values) - i) * p_values[name])
        adjusted[name] = min(1.0, running)
    return adjusted
