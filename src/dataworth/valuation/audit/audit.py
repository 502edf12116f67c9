"""Did this curation add information, or only make the data look like the test set?

Arms: `before`, `after`, and a control that changes the size alike, blindly. Selection = after − control.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np

from ...arrays import Array, Rows
from ...checks import Finding, check_codes, run_checks
from ...checks.base import fired
from ...data.changes import Change, compare
from ...data.dataset import Dataset
from ...data.leaks import MOST_LEAKED, drop_leaks, leaked
from ...errors import DataworthError
from ...evidence.pair import NATS_PER_BIT
from ...measure.case import Case
from ...measure.designs import Design, Draw, Pairs, Prepared, Sample, Whole, fingerprint, select, stratified
from ...measure.evaluate import PairTable
from ...measure.intervals import Estimate, against_controls, over_blocks, over_pairs
from ...measure.options import (
    DESIGNS,
    Options,
    block_count,
    choose_design,
    clip_table,
    measure,
    pair_notes,
    pair_sizes,
    pairs_for_precision,
    use_yardstick,
)
from ...measure.parts import AuditParts, audit_parts, has_case
from ...measure.prepare import Pool, check_datasets, one_class_note, strata
from ...wording import in_nats
from ...yardstick.yardstick import Yardstick
from .arms import Arms, rate_arms, row_arms, size_arms
from .methods import Curation, apply, bound, default_first, described, sense, wants_test
from .verdict import decide

SCHEMA = "dataworth/audit/1"
REPLICATES, LARGE_REPLICATES, LARGE = 20, 8, 20_000
"""Blind controls in the design *whole*, where chance decides what they are; fewer for more rows than LARGE,
which leave less to chance and cost more."""
METHOD_PAIRS = 100
BEFORE, AFTER = "the data before curation", "the data after curation"
QUESTIONS = {
    "whole": "Is the data after curation worth more than before, to someone facing this test set?",
    "row": "Does this curation, applied to datasets of this size, raise their worth (matched rows)?",
    "rate": "Does this curation, applied to datasets of this size, raise their worth (unmatched rows)?",
    "size": "Row for row, is the curated data worth more (equal sizes; no verdict)?",
    "method": "Does this method, applied to datasets of this size, raise their worth?",
}


@dataclass(frozen=True)
class Control:
    """The blind control's value, and how far `after` stands above it."""

    value: float
    selection: float
    selection_interval: tuple[float, float] | None
    replicates: int


@dataclass(frozen=True)
class Audit:
    """A verdict on a curation, with the numbers it rests on (nats)."""

    verdict: str | None
    reason: str
    delta: float
    stderr: float | None
    interval: tuple[float, float] | None
    accuracy_delta: float
    accuracy_interval: tuple[float, float] | None
    information_gain_delta: float
    before: float
    after: float
    control: Control | None
    change: dict[str, Any]
    design: str
    question: str
    details: dict[str, Any]
    yardstick: Yardstick
    notes: tuple[str, ...]
    table: PairTable = field(repr=False)
    checks: tuple[Finding, ...] = field(default=(), repr=False)
    case: Case | None = field(default=None, repr=False)

    def __repr__(self) -> str:
        change = in_nats(self.delta, self.interval, sign="+")
        word = self.verdict or "no verdict"
        return f"Audit({word}: ΔPMI {change}, design {self.design}, {fired(self.checks)})"

    @cached_property
    def parts(self) -> AuditParts:
        """What the values and their change are made of (`measure.parts`); computed when first asked for."""
        return audit_parts(has_case(self.case))

    def to_dict(self, bits: bool = False, parts: bool = False) -> dict[str, Any]:
        """Plain data for JSON, in nats or in bits; with `parts` also what the change is made of."""
        unit = NATS_PER_BIT if bits else 1.0
        change = Estimate(self.delta, self.stderr, self.interval).to_dict(unit)
        control = None
        if self.control is not None:
            selection = Estimate(self.control.selection, None, self.control.selection_interval).to_dict(unit)
            control = {
                "value": self.control.value / unit,
                "selection": selection["value"],
                "selection_interval": selection["interval"],
                "replicates": self.control.replicates,
            }
        return {
            "schema": SCHEMA,
            "unit": "bits" if bits else "nats",
            "verdict": self.verdict,
            "reason": self.reason,
            "delta": change["value"],
            "stderr": change["stderr"],
            "interval": change["interval"],
            "accuracy_delta": self.accuracy_delta,
            "accuracy_interval": self.accuracy_interval,
            "information_gain_delta": self.information_gain_delta / unit,
            "before": self.before / unit,
            "after": self.after / unit,
            "control": control,
            "change": self.change,
            "design": self.design,
            "question": self.question,
            **self.details,
            "yardstick": self.yardstick.summary(),
            "notes": list(self.notes),
            "checks": [finding.to_dict() for finding in self.checks],
            **({"parts": self.parts.to_dict(unit)} if parts else {}),
        }


def audit(
    before: Dataset,
    after: Dataset | None = None,
    test: Dataset | None = None,
    *,
    curate: Curation | None = None,
    yardstick: Yardstick | None = None,
    design: str | None = None,
    pairs: int | None = None,
    size: int | tuple[int, int] | None = None,
    **options: Any,
) -> Audit:
    """Compare a dataset before and after curation (further options: `measure.options`).

    Give `after`, or a callable `curate`: f(D), f(D, T), either with a keyword `rng`. A callable that takes T
    sees one half of the test rows and is scored on the other. It is applied to draws of the data (the design
    *method*), unless it adds rows of a file (`add-rows`, `self-label`): then once to all rows (*whole*).

    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(400, 2))
    >>> clean = (X[:, 0] > 0).astype(int)
    >>> noisy = np.where(rng.random(400) < 0.25, 1 - clean, clean)
    >>> raw = Dataset(X[:250], noisy[:250])
    >>> a = audit(raw, raw.take(noisy[:250] == clean[:250]), Dataset(X[250:], clean[250:]))
    >>> a.verdict
    'informative'
    """
    opts = Options.parse(options)
    check_codes(opts.ignore)
    if (after is None) == (curate is None):
        raise DataworthError(
            "give either after= (the curated dataset) or curate= (a callable), not both or none."
        )
    check_datasets({"before": before, "test": test} | ({} if after is None else {"after": after}))
    assert test is not None
    designs = DESIGNS["audit"] if curate is None else default_first(curate, DESIGNS["curate"])
    design = choose_design(design, pairs, size, designs)
    if curate is not None:
        curate = bound(curate, before)
    yard = use_yardstick(yardstick, test, opts)
    before = before.select(yard.recipe.columns)
    if curate is not None and design != "whole":
        return _audit_method(before, test, curate, yard, pairs, size, opts)
    if curate is not None:
        after, test = curated_whole(before, test, curate, opts.seed)
    assert after is not None
    after = after.select(yard.recipe.columns)
    change = compare(before, after)
    if design == "pairs":
        design = "row" if change.kept else "rate"
    leaks = drop_leaks(test, {"before": before, "after": after})
    test = test.take(leaks.kept)
    pool, arms = pool_arms(yard, before, after, test, change)
    fitter, data, held = pool.fitter, pool.samples["before"], pool.samples["test"]
    config = {
        "what": "audit",
        "design": design,
        "pairs": pairs,
        "size": size,
        "before": before.content_hash(),
    }
    config |= {
        "after": after.content_hash(),
        "test": test.content_hash(),
        "yardstick": yard.digest,
        **opts.to_dict(),
    }
    single = [one_class_note(yard, part, what) for part, what in ((before, BEFORE), (after, AFTER))]
    notes = opts.notes(yard) + [n for n in (leaks.note, *single) if n]
    details: dict[str, Any] = {"before_rows": len(before), "after_rows": len(after), "test_rows": len(test)}
    case = partial(case_of, {BEFORE: before, AFTER: after}, test, leaks.dropped, yard, pool, opts)
    if curate is not None:
        notes += sense(curate, before)
        details["curation"] = described(curate, before)
    if design == "whole":
        rng = np.random.default_rng([opts.seed, 0xC017])
        replicates = REPLICATES if len(before) <= LARGE else LARGE_REPLICATES
        count = replicates if arms.random else 1
        samples = {"before": arms.before, "after": arms.after}
        samples |= {f"control {r + 1}": arms.control(rng, replicate=True) for r in range(count)}
        blocks = block_count(len(test))
        whole = Whole(samples, held, blocks, opts.seed)
        table = measure(whole, fitter, blocks, opts, config)
        details |= {"blocks": blocks, "rows_per_test": float(table.test_rows.mean())}
        return summarise(case(whole, table, None), change, design, details, notes)
    sizes = pair_sizes(len(before), len(test), pairs, size)
    cells = strata(yard, after)
    maker = {"row": row_arms(arms), "rate": rate_arms(arms, cells), "size": size_arms(arms, cells)}[design]
    plan = Pairs(
        data, held, strata(yard, before), strata(yard, test), sizes.data, sizes.test, opts.seed, maker
    )
    sizes = replace(sizes, pairs=pairs_for_precision(plan, fitter, sizes.pairs, opts, notes))
    table = measure(plan, fitter, sizes.pairs, opts, config)
    details |= {"pairs": sizes.pairs, "size": [sizes.data, sizes.test]}
    return summarise(case(plan, table, sizes.blocks), change, design, details, notes)


def pool_arms(
    yard: Yardstick, before: Dataset, after: Dataset, test: Dataset, change: Change
) -> tuple[Pool, Arms]:
    """Pool and arms; rows that curation left alone stand in the pool once."""
    own = change.own
    pool = Pool.build(yard, {"before": before, "after": after.take(own), "test": test})
    rows = change.origin.copy()
    rows[own] = pool.samples["after"].rows
    return pool, Arms(change, pool.samples["before"], Sample(rows, after.weights))


def curated_whole(before: Dataset, test: Dataset, curate: Curation, seed: int) -> tuple[Dataset, Dataset]:
    """What a callable makes of all rows, and the test rows that it did not see."""
    rng = np.random.default_rng([seed, 0xC0DE])
    order = rng.permutation(len(test))
    seen: Rows = np.zeros(0, dtype=np.intp)
    if wants_test(curate):
        seen, order = order[: len(test) // 2], order[len(test) // 2 :]
    after = apply(curate, before, test.take(np.sort(seen)), rng)
    return after, test.take(np.sort(order))


def _audit_method(
    before: Dataset,
    test: Dataset,
    curate: Curation,
    yard: Yardstick,
    pairs: int | None,
    size: int | tuple[int, int] | None,
    opts: Options,
) -> Audit:
    """Design *method*: f applied to each Dᵢ. The callable runs here, once a pair, before any model does."""
    leaks = drop_leaks(test, {"before": before})
    test = test.take(leaks.kept)
    looks = wants_test(curate)
    # a method that looks at T gets one half of Tᵢ and is scored on the other: twice the rows are drawn
    sizes = pair_sizes(
        len(before), len(test) // (2 if looks else 1), METHOD_PAIRS if pairs is None else pairs, size
    )
    data = Sample(np.arange(len(before)), before.weights)
    held = Sample(np.arange(len(before), len(before) + len(test)), test.weights)
    data_strata, test_strata = strata(yard, before), strata(yard, test)
    if looks:
        # what it may match in both are attributes: a small draw without one of them could not be matched
        data_strata, test_strata = by_attribute(data_strata, before), by_attribute(test_strata, test)
    start, fresh = len(before) + len(test), []
    draws, changes = [], []
    leaks_made = 0
    for i in range(sizes.pairs):
        rng = np.random.default_rng([opts.seed, 0xF00D, i])
        drawn = stratified(data_strata, sizes.data, rng)
        shown = stratified(test_strata, sizes.test * (2 if looks else 1), rng)
        if looks:
            shown = rng.permutation(shown)
        seen, scored = shown[: len(shown) - sizes.test], shown[len(shown) - sizes.test :]
        part = before.take(drawn)
        try:
            made = apply(curate, part, test.take(seen), rng).select(yard.recipe.columns)
        except DataworthError as error:
            # what the whole data have, a draw of a few of their rows may lack; else this raises by itself
            curated_whole(before, test, curate, opts.seed)
            hint = f"in a draw of {len(part)} of {len(before)} rows; --size or --design whole makes it larger"
            raise DataworthError(f"{str(error).removesuffix('.')} ({hint}).") from error
        change = compare(part, made)
        own = change.own
        rows = np.where(change.origin >= 0, drawn[change.origin], 0)
        rows[own] = np.arange(start, start + len(own))
        if len(own):
            fresh.append(made.take(own))
            start += len(own)
            # what the method made must not hold the very rows it is scored on
            found = leaked(test.take(scored), fresh[-1])
            leaks_made += int(found.sum())
            scored = scored[~found]
        arms = Arms(change, select(data, drawn), Sample(rows, made.weights))
        draws.append(
            Draw(
                {"before": arms.before, "after": arms.after, "control": arms.control(rng)},
                select(held, scored),
            )
        )
        changes.append(change)
        if opts.progress is not None:
            opts.progress.update(i + 1, sizes.pairs)
    if leaks_made > MOST_LEAKED * sizes.pairs * sizes.test:
        raise DataworthError(
            f"the method's output holds {leaks_made / (sizes.pairs * sizes.test):.0%} of the test rows it is "
            "scored on: a method must not see those."
        )
    parts = {"before": before, "test": test}
    if fresh:
        parts["the curated data"] = Dataset.concat(fresh)
    config = {"what": "audit", "design": "method", "draws": fingerprint(draws), **opts.to_dict()}
    config |= {"pool": [part.content_hash() for part in parts.values()], "yardstick": yard.digest}
    plan, pool = Prepared(tuple(draws)), Pool.build(yard, parts)
    table = measure(plan, pool.fitter, sizes.pairs, opts, config)
    single = one_class_note(yard, before, BEFORE)
    notes = opts.notes(yard) + [n for n in (leaks.note, single) if n] + sense(curate, before)
    rows_after = float(np.mean([len(c.origin) for c in changes]))
    if getattr(curate, "design", "method") == "whole":
        notes.append(
            f"{rows_after - sizes.data:.0f} rows were added to each draw of {sizes.data}: "
            f"{rows_after / sizes.data - 1:.1f} for each row, where all data have "
            f"{(rows_after - sizes.data) / len(before):.1f}; the design whole adds them once, to all rows"
        )
    details: dict[str, Any] = {"before_rows": len(before), "test_rows": len(test), "pairs": sizes.pairs}
    details["curation"] = described(curate, before)
    details |= {"size": [sizes.data, sizes.test], "rows_after": rows_after}
    case = case_of({BEFORE: before}, test, leaks.dropped, yard, pool, opts, plan, table, sizes.blocks)
    return summarise(case, changes[0], "method", details, notes)


def case_of(
    data: dict[str, Dataset],
    test: Dataset,
    leaked: int,
    yard: Yardstick,
    pool: Pool,
    opts: Options,
    plan: Design,
    table: PairTable,
    blocks: float | None,
) -> Case:
    """The audit as a case: how far `after` stands above `before`, and the verdict."""
    estimate = partial(estimate_of, blocks=blocks)
    arms, conclude = ("before", "after"), partial(verdict_of, blocks=blocks)
    return Case("audit", data, test, leaked, yard, pool, plan, table, arms, opts, estimate, conclude, blocks)


def by_attribute(cells: Rows, data: Dataset) -> Rows:
    """Strata split by attribute, where rows have attributes."""
    if data.attributes is None:
        return cells
    _, values = np.unique(data.attributes, return_inverse=True)
    _, split = np.unique(cells * len(data) + values, return_inverse=True)
    return split


class Judged(NamedTuple):
    """What a table says."""

    delta: Estimate
    accuracy: Estimate
    control: Control | None
    verdict: str | None
    reason: str


def estimate_of(values: Array, blocks: float | None) -> Estimate:
    """Mean and interval over blocks of one test set, or over pairs that overlap."""
    return over_blocks(values) if blocks is None else over_pairs(values, blocks)


def verdict_of(table: PairTable, blocks: float | None) -> str | None:
    """The verdict alone."""
    return judge(table, blocks).verdict


def judge(table: PairTable, blocks: float | None) -> Judged:
    """Estimates and a verdict."""
    estimate = partial(estimate_of, blocks=blocks)
    delta = estimate(table.change("pmi", "after", "before"))
    accuracy = estimate(table.change("accuracy", "after", "before"))
    controls = [a for a in table.arms if a.startswith("control")]
    if not controls:
        reason = "equal sizes compare rows, not datasets: there is no verdict"
        return Judged(delta, accuracy, None, None, reason)
    after = table.column("pmi", "after")
    blind = np.column_stack([table.column("pmi", c) for c in controls])
    selection = against_controls(after, blind) if blocks is None else estimate(after - blind[:, 0])
    control = Control(float(blind.mean()), selection.value, selection.interval, len(controls))
    return Judged(delta, accuracy, control, *decide(delta, selection, accuracy, blocks is not None))


def summarise(case: Case, change: Change, design: str, details: dict[str, Any], notes: list[str]) -> Audit:
    """From the table to estimates, a verdict and what the checks say."""
    table, opts, blocks = case.table, case.options, case.blocks
    details |= opts.how()
    units = "blocks" if blocks is None else "pairs"
    raw, table = table, clip_table(table, opts, details, notes, units, delta=True)
    found = judge(table, blocks)
    delta, accuracy, control, verdict, reason = found
    unclipped = found if table is raw else judge(raw, blocks)
    if unclipped.verdict != verdict:
        notes.append(
            f"clipping decides the verdict: without it, it would be {unclipped.verdict} ({unclipped.reason})"
        )
    if blocks is not None:
        notes = notes + pair_notes(delta, blocks, opts)
    return Audit(
        verdict,
        reason,
        delta.value,
        delta.stderr,
        delta.interval,
        accuracy.value,
        accuracy.interval,
        float(table.change("information_gain", "after", "before").mean()),
        float(table.column("pmi", "before").mean()),
        float(table.column("pmi", "after").mean()),
        control,
        change.to_dict(),
        design,
        QUESTIONS[design],
        details,
        case.yardstick,
        tuple(notes),
        raw,
        run_checks(case),
        case,
    )
