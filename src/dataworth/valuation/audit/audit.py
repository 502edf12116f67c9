"""Did this curation add information, or only make the data look like the test set?

Arms: `before`, `after`, and blind controls. A fall is compared with as many rows removed at random, a rise
with what the data's own models could have done (`attribution`).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, ClassVar, Self, Unpack

import numpy as np

from ...data.changes import compare
from ...data.dataset import Dataset
from ...data.keys import check_commitment
from ...data.moved import Example, examples, moved
from ...errors import DataworthError
from ...measure import (
    AFTER,
    BEFORE,
    DESIGNS,
    Arm,
    Auditing,
    AuditParts,
    Case,
    Options,
    Pool,
    Sample,
    answered,
    audit_parts,
    changes,
    check_datasets,
    count,
    find_yardstick,
    kept,
    pair_notes,
    pairs_plan,
    pile,
    whole_plan,
)
from ...measure.prepare import change_notes, prepare
from ...measure.slices import Balanced, Slice, as_shown, check_slices, shown_slices
from ...wording import in_nats
from ..entry import measurement
from ..result import Replay, Result, nats, rests_on
from ..values.guard import judges
from .arms import Arms, Curated, rate_arms, row_arms, size_arms
from .attribution import attribute
from .baselines import all_baselines
from .methods import Curation, apply_to_draws, curated_whole, default_first, described
from .sighted import judged_by_both, sighted, sighted_notes
from .verdict import Attribution, Calibration, Control, Judged, Power, judge, power, verdict_of

REPLICATES = 8
"""Random removals in the design *whole*, with which a fall is compared; their spread is part of its error."""
MATCHED = ("whole", "matched", "method")
"""Designs that know what became of each row, and so can compare a rise with blind baselines."""
NAMES = {"before": "the data before curation", "after": "the data after curation"}
QUESTIONS = {
    "whole": "Is the data after curation worth more than before, to someone facing this test set?",
    "matched": "Does this curation, applied to datasets of this size, raise their worth (matched rows)?",
    "proportional": "Does this curation, applied to datasets of this size, raise their worth (other rows)?",
    "equal-size": "Row for row, is the curated data worth more (equal sizes; no verdict)?",
    "method": "Does this method, applied to datasets of this size, raise their worth?",
}


@dataclass(frozen=True, kw_only=True, repr=False)
class Audit(Result):
    """A verdict on a curation, with the numbers it rests on (nats)."""

    schema: ClassVar[str] = "dataworth/audit/1"
    verdict: str | None
    reason: str
    delta: float = nats()
    stderr: float | None = nats()
    interval: tuple[float, float] | None = nats()
    per_row: float = nats()
    accuracy_delta: float
    accuracy_interval: tuple[float, float] | None
    benchmark: str
    benchmark_delta: float
    benchmark_interval: tuple[float, float] | None
    metrics: dict[str, dict[str, Any]]
    information_gain_delta: float = nats()
    before: float = nats()
    after: float = nats()
    control: Control | None
    attribution: Attribution | None
    power: Power | None
    calibration: Calibration | None
    balanced: Balanced | None = nats()
    slices: tuple[Slice, ...] = nats()
    change: dict[str, Any]
    design: str
    examples: tuple[Example, ...] = field(default=(), metadata={"told": False})

    @property
    def word(self) -> str:
        """The verdict, and what it may be strategic for (DW015): a column, or rows like those before."""
        found = [one.subject for one in self.checks if one.code == "DW015" and one.failed]
        where = [repr(one) if one else "rows like those before" for one in found]
        but = f", but strategic for {where[0]}" if where and self.verdict != "strategic" else ""
        return f"{self.verdict or 'no verdict'}{but}"

    @property
    def words(self) -> set[str]:
        """All that a gate may stop at: the verdict, and *strategic* where a column was found to be."""
        return {self.verdict or "no verdict"} | ({"strategic"} if "but strategic" in self.word else set())

    def to_dict(self, bits: bool = False, parts: bool = False) -> dict[str, Any]:
        """Plain data for JSON; `word` is the verdict, and the column for which it may be strategic."""
        return super().to_dict(bits, parts) | {"word": self.word}

    def without_rows(self) -> Self:
        """The same without examples of rows that changed."""
        return replace(self, examples=())

    @property
    def headline(self) -> str:
        """The verdict and the change, with its interval."""
        change = in_nats(self.delta, self.interval, sign="+")
        return f"{self.word}: ΔPMI {change}, design {self.design}"

    @cached_property
    def parts(self) -> AuditParts:
        """What the values and their change are made of (`measure.parts`); needs `keep_data=True`."""
        return audit_parts(kept(self.case))


@measurement("audit", "before", "after", test="test")
def audit(
    before: Dataset,
    after: Dataset | None = None,
    test: Dataset | None = None,
    *,
    curate: Curation | None = None,
    **options: Unpack[Auditing],
) -> Audit:
    """Compare a dataset before and after curation: did it add information?

    Args:
        before: the data before curation; here and below a Dataset, or a frame, a file or another table that
            `dw.read` takes, with its options, such as `label=`.
        after: the data after curation; or give `curate`.
        test: the test set that both are measured on.
        curate: a callable f(D) or f(D, T), either with a keyword `rng`. One that takes T sees one half of the
            test rows and is scored on the other. It is applied to draws of the data (the design *method*),
            unless it adds rows of a file (`add-rows`, `self-label`): then once to all rows (*whole*).
        **options: see below.

    Returns:
        An `Audit`: verdict, change and its 95 % interval in nats, change of accuracy, control, checks.

    Raises:
        DataworthError: if data, test set and options do not fit together; the sentence says how.

    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(700, 2))
    >>> clean = (X[:, 0] + rng.normal(size=700) > 0).astype(int)
    >>> noisy = np.where(rng.random(700) < 0.25, 1 - clean, clean)
    >>> raw = Dataset(X[:250], noisy[:250])
    >>> a = audit(raw, raw.take(noisy[:250] == clean[:250]), Dataset(X[250:], clean[250:]))
    >>> a.verdict  # more test rows would tell whether the data's own models could have done as much
    'improved'
    """
    opts = Options.parse("audit", options)
    baselines = all_baselines(opts.baselines)
    if (after is None) == (curate is None):
        raise DataworthError(
            "give either after= (the curated dataset) or curate= (a callable), not both or none."
        )
    check_datasets({"before": before, "test": test} | ({} if after is None else {"after": after}))
    assert test is not None
    given, scored = {"before": before} | ({} if after is None else {"after": after}), test
    notes: tuple[str, ...] = ()
    parts: dict[str, Dataset] = {}
    rows: tuple[Example, ...] = ()
    if opts.committed is not None:
        check_commitment(before, opts.committed, opts.key)
    if after is not None:
        scored, notes = judges(before, after, test, opts.values)
    judged = scored  # questions are counted of the whole test set, whichever part of it judges
    designs = DESIGNS["audit"] if curate is None else default_first(curate, DESIGNS["curate"])
    design = opts.choose_design(designs)
    check_slices(scored, opts.slices or ())
    yardstick = find_yardstick(test, opts)
    fixed, columns = replace(opts, yardstick=yardstick), yardstick.recipe.columns
    before, scored = yardstick.numbered(before).select(columns), yardstick.numbered(scored, own=True)
    about: dict[str, Any] = {}
    about_change: dict[str, Any] = {}
    if curate is not None:
        if hasattr(curate, "bound") and hasattr(curate, "why"):
            curate = curate.bound(before)  # as it is meant for these data, or a sentence
        about["curation"], notes = described(curate, before)
    if curate is not None and design != "whole":
        design = "method"
        prepared = prepare("audit", {NAMES["before"]: before}, scored, fixed)
        (before,) = prepared.data.values()
        pool, plan, curated = apply_to_draws(prepared, before, curate)
        about["rows_after"] = float(np.mean([len(one.after) for one in curated]))
    else:
        if curate is not None:
            after, scored = curated_whole(before, scored, curate, opts.seed)
        assert after is not None
        read = given["before"], after
        after = yardstick.numbered(after).select(columns)
        prepared = prepare("audit", {NAMES["before"]: before, NAMES["after"]: after}, scored, fixed)
        before, after = prepared.data.values()
        about["after_rows"] = len(after)
        notes += change_notes(yardstick, before, after, prepared.test)
        made = compare(before, after)
        about_change = moved(*read, made, [*prepared.gone.values()])
        first = tuple(one["column"] for one in about_change["columns"])
        rows = examples(*read, made, [*prepared.gone.values()], first)
        # rows that curation left alone stand in the pool once
        parts = {"before": before, "after": after.take(made.own), "test": prepared.test}
        pool = Pool.build(yardstick, parts, opts.own_model)
        arms = Arms.of(made, pool.samples["before"], len(before), after.weights)
        curated = [Curated(before, after, arms)]
        if design == "whole":
            plan = whole_plan(prepared, with_controls(arms, opts.seed), pool.samples["test"])
        else:
            if design == "pairs":
                design = "matched" if made.kept else "proportional"
            others = pile(prepared, after, arms.after)
            make = {
                "matched": partial(row_arms, arms, {}),
                "proportional": partial(rate_arms, arms, others),
                "equal-size": partial(size_arms, arms, others),
            }[design]
            plan = pairs_plan(prepared, pool, before, (arms.before, pool.samples["test"]), make)
    if design != "whole" and (opts.slices or scored.attributes is not None):
        notes += ("slices, and the word strategic for a declared attribute, need the design whole",)
    case = Case.of(prepared, pool, plan, notes, arms=(BEFORE, AFTER), conclude=verdict_of)
    if design in MATCHED:
        case = attribute(case, curated, before, baselines)
    seen = sighted(case, parts) if design == "whole" else None
    name = None if curate is None else str(about["curation"]["name"])
    replay, change = Replay.of("audit", given, test, opts, curate=name), curated[0].arms.change.to_dict()
    change |= about_change
    about = {"before_rows": len(before), **about}
    found = summarise(answered(case, test, judged), change, design, replay, about, seen)
    return replace(found, examples=rows)


def with_controls(arms: Arms, seed: int) -> dict[Arm, Sample]:
    """Before, after, and the same change of size and weights at random; none, if nothing of that changed."""
    rng = np.random.default_rng([seed, 0xC017])
    controls = {
        Arm("control", f"control {r + 1}"): arms.at_random(rng)
        for r in range(REPLICATES if arms.random else 0)
    }
    return {BEFORE: arms.before, AFTER: arms.after, **controls}


def summarise(
    case: Case,
    change: dict[str, Any],
    design: str,
    replay: Replay,
    about: dict[str, Any],
    seen: Judged | None = None,
) -> Audit:
    """From the table to estimates, a verdict and what the checks say.

    seen: the same by models that see the declared attribute, where somebody may have chosen by it.
    """
    counted = count(case.table, case.options, case.plan.unit)
    found, unclipped = (judged_by_both(judge(case.plan, one), seen) for one in (counted.table, case.table))
    notes = case.notes + counted.notes
    if seen is not None:
        notes += sighted_notes(case, seen)
    if unclipped.verdict != found.verdict:
        notes += (
            f"clipping decides the verdict: without it, it would be {unclipped.verdict} ({unclipped.reason})",
        )
    table = counted.table
    slices = shown_slices(case, table.by_row)
    return Audit(
        verdict=found.verdict,
        reason=found.reason,
        delta=found.delta.value,
        stderr=found.delta.stderr,
        interval=found.delta.interval,
        per_row=found.delta.value / float(table.test_rows.mean()),
        accuracy_delta=found.accuracy.value,
        accuracy_interval=found.accuracy.interval,
        benchmark=case.plan.metric,
        benchmark_delta=found.benchmark.value,
        benchmark_interval=found.benchmark.interval,
        metrics=changes(case.estimate, table, AFTER, BEFORE),
        information_gain_delta=float(table.change("information_gain", AFTER, BEFORE).mean()),
        before=float(table.column("pmi", BEFORE).mean()),
        after=float(table.column("pmi", AFTER).mean()),
        control=found.control,
        attribution=found.attribution,
        power=power(case),
        calibration=Calibration.of(case),
        balanced=as_shown(found.balanced, slices),
        slices=slices,
        change=change,
        design=design,
        question=QUESTIONS[design],
        replay=replay,
        notes=notes + pair_notes(found.delta, case),
        **rests_on(case, counted, **about),
    )
