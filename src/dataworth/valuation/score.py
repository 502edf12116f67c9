"""How much is this dataset worth? Score = mean PMI with the test set, in nats."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, ClassVar, Unpack

from ..data.dataset import Dataset
from ..data.io.streamed import Stream
from ..data.labels import Classes
from ..measure import (
    DATA,
    DESIGNS,
    Case,
    Drawing,
    Estimate,
    MeanDecomposition,
    Options,
    PairTable,
    Plan,
    Sample,
    answered,
    count,
    kept,
    pair_notes,
    pairs_plan,
    score_parts,
    select,
    values,
)
from ..measure.ladder import Ladder, ladder
from ..wording import in_nats
from .blocks import DATA as NAME
from .blocks import Blocks
from .entry import measurement
from .result import Replay, Result, nats, rests_on
from .sealed import Sealed, measure_sealed, refuse_unsealable
from .streamed import measure_streamed

QUESTIONS = {
    "whole": "Is this dataset, as it is, worth anything to someone facing this test set?",
    "pairs": "Are datasets of this size, made this way, worth anything to someone facing this test set?",
}


@dataclass(frozen=True, kw_only=True, repr=False)
class Score(Result):
    """Value of a dataset in nats: per test block (design *whole*) or per pair (design *pairs*)."""

    schema: ClassVar[str] = "dataworth/score/1"
    value: float = nats()
    stderr: float | None = nats()
    interval: tuple[float, float] | None = nats()
    per_row: float = nats()
    accuracy: Estimate
    metrics: dict[str, dict[str, Any]]
    information_gain: float = nats()
    ladder: Ladder | None
    design: str

    @property
    def of_ceiling(self) -> Estimate | None:
        """The share of what the test set's own rows tell of each other; None where that is not shown."""
        return None if self.ladder is None else self.ladder.of_ceiling

    @property
    def beyond_proportions(self) -> Estimate:
        """The value: what the data tell beyond the test set's class proportions, or mean and spread."""
        return Estimate(self.value, self.stderr, self.interval)

    @property
    def headline(self) -> str:
        """The value with its interval, and the design."""
        return f"{in_nats(self.value, self.interval)}, design {self.design}"

    @property
    def answer(self) -> str:
        """Whether the dataset is worth anything here: yes, no, or cannot tell, in a sentence."""
        guesses = any(one.code == "DW012" and one.failed for one in self.checks)
        return answer(self.beyond_proportions, guesses, self.zero)

    @property
    def zero(self) -> str:
        """What the value is counted from, as words that follow "predicted better than"."""
        if not len(self.table.reference):
            return "without any data"
        classes = isinstance(self.yardstick.labels, Classes)
        return f"by {'class proportions' if classes else 'mean and spread'} alone"

    @cached_property
    def parts(self) -> MeanDecomposition:
        """What the value is made of (`measure.parts`); needs `keep_data=True`."""
        return score_parts(kept(self.case))

    def to_dict(self, bits: bool = False, parts: bool = False) -> dict[str, Any]:
        """Plain data for JSON; with `parts` also what the value is made of."""
        return super().to_dict(bits, parts) | {"answer": self.answer}


def answer(value: Estimate, guesses: bool = False, zero: str = "without any data") -> str:
    """What an interval says of a dataset's worth, in a sentence; `guesses`: as much as by permuted labels."""
    if value.positive and not guesses:
        return f"yes: with it the test labels are predicted better than {zero}"
    if value.positive:
        return "cannot tell: with its labels permuted it predicts as well"
    if value.negative:
        return f"no: with it the test labels are predicted worse than {zero}"
    return "cannot tell: the interval contains zero"


@measurement("score", "D", test="T", streams=True)
def score(D: Dataset | Sealed | Stream, T: Dataset, **options: Unpack[Drawing]) -> Score:
    """Value of a dataset to someone facing test data like T.

    The value is what D tells of test labels beyond their class proportions (of numbers: mean and spread),

        Σ_i log p(y_i | x_i, D) − log p(y_i | labels of the other test rows),

    summed over rows of a block, as a mean over blocks of the test set. If `pairs` or `size` are given, it is
    the PMI log p(T_j | D_j) − log p(T_j) over pairs of draws of both sets.

    Args:
        D: the data, or sealed data (`dw.seal`): a posterior on the yardstick, without rows. In place of a
            Dataset here and in T: a frame, a file or another table that `dw.read` takes, with its options,
            such as `label=`. A file larger than memory is read in passes, in the design *whole*;
            `stream=True` does so with any.
        T: the test set; at least 20 rows, unless a yardstick is given.
        **options: see below.

    Returns:
        A `Score`: value, standard error and 95 % interval in nats, accuracy, notes and checks.

    Raises:
        DataworthError: if data, test set and options do not fit together; the sentence says how.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 2))
    >>> data = Dataset(X, (X[:, 0] + rng.normal(size=300) > 0).astype(int))
    >>> s = score(data.take(range(200)), data.take(range(200, 300)))
    >>> s.design, s.interval[0] < s.value < s.interval[1]
    ('whole', True)
    """
    opts = Options.parse("score", options)
    design = opts.choose_design(DESIGNS["score"])
    if isinstance(D, Sealed):
        refuse_unsealable(opts.form, design)
        case = measure_sealed("score", {NAME: D}, T, opts)
    elif isinstance(D, Stream):
        case = measure_streamed(D, T, opts, NAME, conclude=conclusion)
    else:
        blocks = Blocks.of("score", {NAME: D}, T, opts)
        prepared, pool, data = blocks.prepared, blocks.pool, blocks.samples[NAME]
        plan = blocks.plan({DATA: data})
        if design != "whole":
            own = prepared.data[NAME]
            plan = pairs_plan(prepared, pool, own, (data, blocks.test), partial(alone, data))
        case = Case.of(prepared, pool, plan, arms=(DATA,), conclude=conclusion)
    rows = len(case.data[NAME]) if isinstance(D, Dataset) else int(case.table.data_rows[0, 0])
    return summarise(answered(case, T), design, rows, Replay.of("score", {"data": D}, T, opts))


def alone(data: Sample, drawn: Any, rng: Any) -> dict[Any, Sample]:
    """The one arm of a pair: the rows drawn."""
    return {DATA: select(data, drawn)}


def summarise(case: Case, design: str, rows: int, replay: Replay) -> Score:
    """From the table to the value, its interval and what the checks say."""
    counted = count(case.table, case.options, case.plan.unit)
    (arm,) = case.arms
    value = case.estimate(counted.table.column("pmi", arm))
    accuracy = case.estimate(case.table.column("accuracy", arm))
    if isinstance(case.yardstick.labels, Classes):  # R² of numeric labels has no floor
        accuracy = accuracy.within(0.0, 1.0)
    drawn = {} if case.plan.blocks is None else {"monte_carlo_stderr": value.monte_carlo}
    return Score(
        value=value.value,
        stderr=value.stderr,
        interval=value.interval,
        per_row=value.value / float(case.table.test_rows.mean()),
        accuracy=accuracy,
        metrics=values(case.estimate, case.table, case.table.arms[0]),
        information_gain=float(case.table.information_gain[:, 0].mean()),
        ladder=ladder(case, case.table.arms[0]),
        design=design,
        question=QUESTIONS[design],
        replay=replay,
        notes=case.notes + counted.notes + pair_notes(value, case),
        **rests_on(case, counted, data_rows=rows, **drawn),
    )


def conclusion(plan: Plan, table: PairTable) -> str:
    """Yes, no or cannot tell."""
    return answer(plan.estimate(table.column("pmi", table.arms[0]))).partition(":")[0]
