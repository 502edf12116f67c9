"""How much is this dataset worth? Score = mean PMI with the test set, in nats."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

from ..arrays import Array
from ..checks import Finding, check_codes, run_checks
from ..checks.base import fired
from ..data.dataset import Dataset
from ..data.labels import Classes
from ..data.leaks import drop_leaks
from ..evidence.pair import NATS_PER_BIT
from ..measure.case import Case
from ..measure.designs import Design, Pairs, Whole, select
from ..measure.evaluate import PairTable
from ..measure.intervals import Estimate, over_blocks, over_pairs
from ..measure.options import (
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
from ..measure.parts import MeanParts, has_case, score_parts
from ..measure.prepare import Pool, check_datasets, one_class_note, strata
from ..wording import in_nats
from ..yardstick.yardstick import Yardstick
from .sealed import Sealed, refuse_unsealable, score_sealed

SCHEMA = "dataworth/score/1"
QUESTIONS = {
    "whole": "Is this dataset, as it is, worth anything to someone facing this test set?",
    "pairs": "What are datasets of this size, made this way, worth?",
}


@dataclass(frozen=True)
class Score:
    """Value of a dataset in nats: per test block (design *whole*) or per pair (design *pairs*)."""

    value: float
    stderr: float | None
    interval: tuple[float, float] | None
    per_row: float
    accuracy: Estimate
    information_gain: float
    design: str
    question: str
    details: dict[str, Any]
    yardstick: Yardstick
    notes: tuple[str, ...]
    table: PairTable = field(repr=False)
    checks: tuple[Finding, ...] = field(default=(), repr=False)
    case: Case | None = field(default=None, repr=False)

    def __repr__(self) -> str:
        return f"Score({in_nats(self.value, self.interval)}, design {self.design}, {fired(self.checks)})"

    @property
    def answer(self) -> str:
        """Whether the dataset is worth anything here: yes, no, or cannot tell, in a sentence."""
        return answer(Estimate(self.value, self.stderr, self.interval))

    @cached_property
    def parts(self) -> MeanParts:
        """What the value is made of (`measure.parts`); computed when it is first asked for."""
        return score_parts(has_case(self.case))

    def to_dict(self, bits: bool = False, parts: bool = False) -> dict[str, Any]:
        """Plain data for JSON, in nats or in bits; with `parts` also what the value is made of."""
        unit = NATS_PER_BIT if bits else 1.0
        details = dict(self.details)
        if "monte_carlo_stderr" in details:
            details["monte_carlo_stderr"] /= unit
        return {
            "schema": SCHEMA,
            "unit": "bits" if bits else "nats",
            **Estimate(self.value, self.stderr, self.interval).to_dict(unit),
            "per_row": self.per_row / unit,
            "accuracy": self.accuracy.value,
            "accuracy_interval": self.accuracy.interval,
            "information_gain": self.information_gain / unit,
            "design": self.design,
            "question": self.question,
            "answer": self.answer,
            **details,
            "yardstick": self.yardstick.summary(),
            "notes": list(self.notes),
            "checks": [finding.to_dict() for finding in self.checks],
            **({"parts": self.parts.to_dict(unit)} if parts else {}),
        }


def answer(value: Estimate) -> str:
    """What an interval says of a dataset's worth, in a sentence."""
    if value.positive:
        return "yes: with it the test labels are predicted better than without any data"
    if value.negative:
        return "no: with it the test labels are predicted worse than without any data"
    return "cannot tell: the interval contains zero"


def score(
    D: Dataset | Sealed,
    T: Dataset,
    *,
    yardstick: Yardstick | None = None,
    design: str | None = None,
    pairs: int | None = None,
    size: int | tuple[int, int] | None = None,
    **options: Any,
) -> Score:
    """Value of dataset D to someone facing test data like T (further options: `measure.options`).

    D may be sealed (`dataworth.seal`): its posterior on the yardstick, without rows.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 2))
    >>> data = Dataset(X, (X[:, 0] + rng.normal(size=300) > 0).astype(int))
    >>> s = score(data.take(range(200)), data.take(range(200, 300)))
    >>> s.design, s.interval[0] < s.value < s.interval[1]
    ('whole', True)
    """
    opts = Options.parse(options)
    check_codes(opts.ignore)
    design = choose_design(design, pairs, size, DESIGNS["score"])
    if isinstance(D, Sealed):
        refuse_unsealable(opts.form, design)
        check_datasets({"T": T})
        return without_rows(D, T, use_yardstick(yardstick, T, opts), opts)
    check_datasets({"D": D, "T": T})
    yard = use_yardstick(yardstick, T, opts)
    leaks = drop_leaks(T, {"the data": D})
    T = T.take(leaks.kept)
    pool = Pool.build(yard, {"the data": D, "the test set": T})
    data, test = pool.samples["the data"], pool.samples["the test set"]
    fitter = pool.fitter
    config = {"what": "score", "design": design, "pairs": pairs, "size": size, "data": D.content_hash()}
    config |= {"test": T.content_hash(), "yardstick": yard.digest, **opts.to_dict()}
    notes = opts.notes(yard) + [n for n in (leaks.note, one_class_note(yard, D, "the data")) if n]
    plan: Design
    estimate: Callable[[Array], Estimate] = over_blocks
    disjoint: float | None = None
    if design == "whole":
        blocks = block_count(len(T))
        plan = Whole({"data": data}, test, blocks, opts.seed)
        table = measure(plan, fitter, blocks, opts, config)
        details: dict[str, Any] = {"blocks": blocks}
        value = estimate(clip_table(table, opts, details, notes, "blocks").pmi[:, 0])
    else:
        sizes = pair_sizes(len(D), len(T), pairs, size)
        plan = Pairs(
            data,
            test,
            strata(yard, D),
            strata(yard, T),
            sizes.data,
            sizes.test,
            opts.seed,
            lambda drawn, rng: {"data": select(data, drawn)},
        )
        sizes = replace(sizes, pairs=pairs_for_precision(plan, fitter, sizes.pairs, opts, notes))
        table = measure(plan, fitter, sizes.pairs, opts, config)
        details = {"pairs": sizes.pairs, "size": [sizes.data, sizes.test]}
        disjoint = sizes.blocks
        estimate = partial(over_pairs, blocks=disjoint)
        value = estimate(clip_table(table, opts, details, notes).pmi[:, 0])
        details["monte_carlo_stderr"] = value.monte_carlo
        notes += pair_notes(value, sizes.blocks, opts)
    rows = float(table.test_rows.mean())
    case = Case(
        "score",
        {"the data": D},
        T,
        leaks.dropped,
        yard,
        pool,
        plan,
        table,
        ("data",),
        opts,
        estimate,
        partial(conclusion, estimate),
        disjoint,
    )
    return Score(
        value.value,
        value.stderr,
        value.interval,
        value.value / rows,
        accuracy(estimate, table, yard),
        float(table.information_gain[:, 0].mean()),
        design,
        QUESTIONS[design],
        {"data_rows": len(D), "test_rows": len(T), "rows_per_test": rows, **details, **opts.how()},
        yard,
        tuple(notes),
        table,
        run_checks(case),
        case,
    )


def without_rows(D: Sealed, T: Dataset, yard: Yardstick, opts: Options) -> Score:
    """The score of sealed data: the design *whole*, by the form *sealed*."""
    found = score_sealed({"the data": D}, T, yard, opts, "score")
    table, notes = replace(found.table, arms=("data",)), opts.notes(yard) + found.notes
    rows = float(table.test_rows.mean())
    details: dict[str, Any] = {"data_rows": len(D), "test_rows": len(found.test), "rows_per_test": rows}
    details |= {"blocks": len(table), "form": "sealed"}
    value = over_blocks(clip_table(table, opts, details, notes, "blocks").pmi[:, 0])
    return Score(
        value.value,
        value.stderr,
        value.interval,
        value.value / rows,
        accuracy(over_blocks, table, yard),
        float(table.information_gain[:, 0].mean()),
        "whole",
        QUESTIONS["whole"],
        details,
        yard,
        tuple(notes),
        table,
        found.checks,
    )


def accuracy(estimate: Callable[[Array], Estimate], table: PairTable, yard: Yardstick) -> Estimate:
    """Mean accuracy on the test set, between 0 and 1; of numeric labels R², which has no floor."""
    found = estimate(table.accuracy[:, 0])
    return found.within(0.0, 1.0) if isinstance(yard.labels, Classes) else found


def conclusion(estimate: Callable[[Array], Estimate], table: PairTable) -> str:
    """Yes, no or cannot tell."""
    return answer(estimate(table.pmi[:, 0])).partition(":")[0]
