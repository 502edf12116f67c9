"""A measurement as a whole: what was measured, what came out, and the means to measure it again otherwise.

Checks, parts of a score and its sensitivity all ask "and if …?": another inference, form or prior, on some of
the same pairs and arms. `again` answers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from ..arrays import Array
from ..data.dataset import Dataset
from ..models import Model
from ..models.base import bind
from ..yardstick.yardstick import Yardstick
from .designs import Design, SomeArms
from .engines import Local
from .evaluate import PairTable
from .intervals import Estimate
from .options import Options, measure
from .prepare import Pool


@dataclass(frozen=True)
class Case:
    """One score, audit or ranking.

    data: the datasets by the names users know them by. test: the test set without leaked rows; leaked: how
    many those were. arms: the arms whose difference (or whose value, if there is one) is the result.
    estimate: from one number a pair to a mean with its interval. conclude: what a table says, in a word.
    blocks: disjoint blocks in the data, for designs that draw pairs.
    """

    what: str
    data: Mapping[str, Dataset]
    test: Dataset
    leaked: int
    yardstick: Yardstick
    pool: Pool
    design: Design
    table: PairTable
    arms: tuple[str, ...]
    options: Options
    estimate: Callable[[Array], Estimate]
    conclude: Callable[[PairTable], str | None]
    blocks: float | None = None

    def quantity(self, table: PairTable) -> Array:
        """The number that the result is about, pair by pair: a value, or the last arm less the first."""
        if len(self.arms) == 1:
            return table.column("pmi", self.arms[0])
        return table.change("pmi", self.arms[-1], self.arms[0])

    @property
    def found(self) -> Estimate:
        """The result's own estimate of it."""
        return self.estimate(self.quantity(self.table))

    def again(
        self,
        *,
        model: Model | None = None,
        form: str | None = None,
        eta: object = 0,
        pairs: int | None = None,
        arms: tuple[str, ...] | None = None,
    ) -> PairTable:
        """The first `pairs` pairs with some arms (all, if none are named), by another model or form."""
        design = self.design if arms is None else SomeArms(self.design, arms)
        fitter = self.pool.fitter if model is None else bind(model, self.pool.X, self.pool.y)
        options = replace(self.options, run_dir=None, progress=None)
        count = len(self.table)
        if pairs is not None:  # a few, which need no processes and no estimate of their time
            count, options = min(pairs, count), replace(options, engine=Local(1))
        if form is not None:
            options = replace(options, form=form, eta=eta)
        return measure(design, fitter, count, options, {})

    def work(self) -> float:
        """Rough number of multiplications that all pairs and arms take: Σ rows · features²."""
        features = self.pool.X.shape[1] + 1
        rows = self.table.data_rows + self.table.test_rows[:, None]
        return float(rows.sum()) * features**2
