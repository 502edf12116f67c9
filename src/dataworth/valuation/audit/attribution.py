"""What a rise is made of: blind baselines try the same, and `after` must beat them all.

They are asked only where a rise is shown; `verdict.attributed` adds up the parts. Learners are cross-fitted
once, on all of `before`. In *whole* and *matched* a baseline is a version of `before`, as `after` is, and
a draw takes what it made of the draw's rows; in *method* the strategies are applied to every draw, with
the budget of what was done to it.

Where the data have groups, learners are cross-fitted by groups and also row by row: groups that somebody
chose (all rows one, or one a class) would leave models by groups nothing to learn from.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import accumulate
from zlib import crc32

import numpy as np

from ...arrays import Array, Rows
from ...data.dataset import Dataset
from ...errors import DataworthError
from ...measure import (
    AFTER,
    BEFORE,
    Arm,
    Case,
    Design,
    Draw,
    Pairs,
    PairTable,
    Pool,
    Prepared,
    Sample,
    SomeArms,
    Whole,
    count,
    measure,
)
from ...measure.slices import label_codes
from ...wording import in_nats
from .arms import Curated, Versions, row_arms
from .baselines import BlindStrategy, Budget, Proposal, budget_of
from .out_of_fold import CrossFit, OutOfFold

Z_SELECTED = 2.33
"""Standard errors from which kept rows are said to look more like the test set: 99 %, one-sided."""


def attribute(
    case: Case, curations: Sequence[Curated], before: Dataset, strategies: Sequence[BlindStrategy]
) -> Case:
    """The case with blind baselines beside its arms, if a rise is shown.

    curations: what became of all rows of `before`, or of every draw's.
    """
    tables = case.table, count(case.table, case.options, case.plan.unit).table
    if not any(case.estimate(table.change("pmi", AFTER, BEFORE)).positive for table in tables):
        return case
    alike = None
    if any(one.arms.change.removed for one in curations):
        learners = CrossFit(before, case.pool.X[: len(before)], case.yardstick)
        alike = learners.resemblance(case.test)
    proposed = propose_all(case, curations, before, strategies, alike)
    arms = tuple(dict.fromkeys(arm for one in proposed for arm in one))
    if not arms:
        return case
    pool, versions = placed(case, curations, proposed)
    plan = replace(case.plan, design=with_versions(case.design, curations, versions, arms))
    alone = replace(case, options=replace(case.options, run_dir=None))
    table = case.table.beside(measure(alone, pool, replace(plan, design=SomeArms(plan.design, arms))))
    notes = case.notes
    if alike is not None and len(curations) == 1:
        notes += selected_by_resemblance(case, curations[0], alike, table)
    return replace(case, pool=pool, plan=plan, table=table, notes=notes)


def selected_by_resemblance(case: Case, curated: Curated, alike: Array, table: PairTable) -> tuple[str, ...]:
    """Do kept rows look more like the test set than removed ones of the same label? What that alone explains.

    By Mann and Whitney's U within labels: z = Σ (U − mn/2) / √(Σ mn(m + n + 1)/12).
    """
    from scipy.stats import rankdata

    kept = np.isin(np.arange(len(curated.before)), curated.arms.change.origin)
    labels = label_codes(case.yardstick, case.test, case.yardstick.targets(curated.before))
    above = pairs = variance = 0.0
    for rows in (labels == label for label in np.unique(labels)):
        m, n = float((rows & kept).sum()), float((rows & ~kept).sum())
        above += float(rankdata(alike[rows])[kept[rows]].sum()) - m * (m + 1) / 2
        pairs, variance = pairs + m * n, variance + m * n * (m + n + 1) / 12
    if not pairs or (above - pairs / 2) / np.sqrt(variance) < Z_SELECTED:
        return ()
    change = case.estimate(table.change("pmi", "resemblance", BEFORE))
    return (
        f"kept rows look more like the test set than removed rows of the same label (in "
        f"{above / pairs:.0%} of pairs); dropping as many rows by resemblance alone changes the value by "
        f"{in_nats(change.value, change.interval, sign='+')}",
    )


def propose_all(
    case: Case,
    curations: Sequence[Curated],
    before: Dataset,
    strategies: Sequence[BlindStrategy],
    alike: Array | None,
) -> list[dict[Arm, Proposal]]:
    """What strategies propose for every curation, by arm; cross-fitted by groups and row by row, if any."""
    budgets = [budget_of(one, case.yardstick) for one in curations]
    found: list[dict[Arm, Proposal]] = [{} for _ in curations]
    test = case.test.select(before.columns).X
    for by_group in (True, False) if before.groups is not None else (True,):
        how, learnt = "" if by_group else ", ignoring groups", cross_fitted(case, curations, before, by_group)
        for i, (curation, budget, known) in enumerate(zip(curations, budgets, learnt, strict=True)):
            rows = curation.arms.before.rows
            alike_here = None if alike is None or not by_group else alike[rows]
            known = replace(known, resemblance=alike_here, test=test)
            for strategy in (one for one in strategies if one.applies(budget)):
                rng = np.random.default_rng([case.options.seed, crc32(strategy.name.encode()), i])
                made = [*strategy.propose(curation.before, budget, known, rng)]
                for k, proposal in enumerate(check(strategy.name, one, budget, known) for one in made):
                    if len(proposal.rows):  # of no rows nothing can be measured
                        name = f"{strategy.name} {k + 1}" if len(made) > 1 else strategy.name
                        found[i][Arm("own", f"{name}{how}", f"{strategy.label}{how}")] = proposal
    return found


def cross_fitted(
    case: Case, curations: Sequence[Curated], before: Dataset, by_group: bool
) -> Iterator[OutOfFold]:
    """Of the rows of every curation: learners see all of `before`, and all new rows at once."""
    options, pool = case.options, case.pool
    if options.progress is not None:
        options.progress.expect(0.0)
    new = [one.after.take(one.arms.new) for one in curations]
    places = np.concatenate([one.arms.after.rows[one.arms.new] for one in curations])
    learners = CrossFit(before, pool.X[: len(before)], case.yardstick, by_group)
    heard = None if options.progress is None else options.progress.update
    added = (Dataset.concat([one for one in new if len(one)]), pool.X[places]) if len(places) else None
    known = learners(added, heard)
    ends = [0, *accumulate(map(len, new))]
    for one, start, end in zip(curations, ends, ends[1:], strict=False):
        yield known.at(one.arms.before.rows, slice(start, end))


def check(name: str, proposed: Proposal | Sample, budget: Budget, known: OutOfFold) -> Proposal:
    """The proposal as arrays.

    Raises:
        DataworthError: if it has other rows, labels or weights than a version of `before` can have.
    """
    rows, own = np.asarray(proposed.rows, dtype=np.intp), known.targets
    fine = bool(((rows >= 0) & (rows < budget.rows + budget.added)).all())
    targets = proposed.targets
    if targets is None and fine:
        targets = np.concatenate([own, known.added_labels("ensemble")])[rows]
    targets = np.asarray(targets, dtype=float)
    weights = np.ones(len(rows)) if proposed.weights is None else np.asarray(proposed.weights, dtype=float)
    fine = fine and targets.shape == weights.shape == rows.shape and bool((weights >= 0).all())
    fine = fine and bool(np.isfinite(targets * weights).all())
    if not fine or (known.classes and not np.isin(targets, np.arange(known.classes)).all()):
        raise DataworthError(
            f"the baseline {name!r} proposes no version of before: give places of its {budget.rows} rows and "
            f"of {budget.added} new ones, and of each a target (of classes their number) and a weight."
        )
    cells = proposed.cells if isinstance(proposed, Proposal) else None
    return Proposal(rows, targets, None if (weights == 1.0).all() else weights, cells)


def placed(
    case: Case, curations: Sequence[Curated], proposed: Sequence[dict[Arm, Proposal]]
) -> tuple[Pool, list[Versions]]:
    """Every proposal as rows of the pool, below whose others edited rows stand."""
    yardstick, pool = case.yardstick, case.pool
    start, features, targets = len(pool.y), [np.zeros((0, pool.X.shape[1]))], [np.zeros(0)]
    found: list[Versions] = []
    for (before, _, arms), proposals in zip(curations, proposed, strict=True):
        rows = np.concatenate([arms.before.rows, arms.after.rows[arms.new]])
        versions: dict[Arm, tuple[Rows, Sample]] = {}
        for arm, one in proposals.items():
            own = rows.copy()
            if one.cells is not None:
                own[: len(before)] = np.arange(start, start + len(before))
                start += len(before)
                features.append(yardstick.features(before.with_features(one.cells)))
                targets.append(yardstick.targets(before))
            versions[arm] = one.rows, Sample(own[one.rows], one.weights, targets=one.targets)
        found.append(versions)
    if start > len(pool.y):
        model = case.options.own_model or yardstick.model
        pool = pool.extended(np.vstack(features), np.concatenate(targets), model)
    return pool, found


def with_versions(
    design: Design, curations: Sequence[Curated], versions: Sequence[Versions], arms: Sequence[Arm]
) -> Design:
    """The design with baselines among its arms; where a draw has no such version, doing nothing stands in."""
    if isinstance(design, Whole):
        return replace(design, arms={**design.arms, **{arm: one for arm, (_, one) in versions[0].items()}})
    if isinstance(design, Pairs):
        return replace(design, arms=partial(row_arms, curations[0].arms, versions[0]))
    assert isinstance(design, Prepared)
    draws = []
    for draw, own in zip(design.draws, versions, strict=True):
        more = {arm: own[arm][1] if arm in own else draw.arms[BEFORE] for arm in arms}
        draws.append(Draw({**draw.arms, **more}, draw.test))
    return Prepared(tuple(draws))
