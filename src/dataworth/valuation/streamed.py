"""Scores of data that are read in passes: the design *whole* in memory that does not grow with the file.

The data are one Gaussian posterior on the yardstick, found by passes over the file (`measure.passes`), which
is the prior of each block of the test set: what the design *whole* makes of rows in memory, too.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib.metadata import version
from typing import Any, ClassVar

import numpy as np

from ..checks import check_codes
from ..checks.inference import CHECK as INFERENCE
from ..checks.inference import decided
from ..checks.material import shift_of
from ..data.dataset import Dataset
from ..data.io.streamed import Stream
from ..data.keys import keyed_hash, new_key
from ..data.labels import Classes
from ..errors import DataworthError
from ..evidence.tempering import Place
from ..measure.case import Case, measure
from ..measure.designs import DATA, Sample
from ..measure.options import Options
from ..measure.passes import Passes
from ..measure.plans import whole_plan
from ..measure.prepare import Pool, one_class_note, prepare
from ..measure.table import PairTable
from ..models import Fitter, Linear, Logistic
from ..parallel import Local
from ..wording import option
from ..yardstick.yardstick import Yardstick
from .sealed import Sealed

TEST = "the test set"
MANY = 100
"""Rows for each coefficient from which EP's posterior is Laplace's for all that a score can tell: blocks of
ten test rows then differ by 0.01 nats on average, a thirtieth of the standard error; by 0.04 at 20 rows."""


def measure_streamed(stream: Stream, test: Dataset, options: Options, name: str, **own: Any) -> Case:
    """A stream on the blocks of the design *whole*."""
    wrong = {"model": options.own_model is not None, "form": options.form != "evidence"}
    for asked, given in wrong.items():
        if given:
            raise DataworthError(
                f"data that are read in passes have the yardstick's own model and the form evidence: drop "
                f"{asked}, or read some rows, with {option('sample', 100000)}."
            )
    prepared = prepare("score", {}, test, options)
    yardstick, test = prepared.yardstick, prepared.test
    identity = {name: stream.content_hash()} if options.run_dir else {}
    # passes are what takes long
    here = replace(prepared, options=replace(options, engine=Local(1)))

    def measured(passes: Passes, model: Logistic | Linear, **asked: Any) -> PairTable:
        pool = Pool.build(yardstick, {TEST: test}, model)
        plan = whole_plan(prepared, {DATA: Sample(np.arange(0))}, pool.samples[TEST])
        base = replace(here, options=replace(here.options, **asked))
        table = measure(base, pool, plan, {DATA: InPasses(passes, pool, model)}, identity)
        gain = passes.fitted(yardstick.tempering).information_gain()
        return table.with_column("information_gain", [gain]).with_column("data_rows", [passes.rows])

    with Passes(stream, yardstick, options, test, name) as passes:
        table, model = measured(passes, passes.model), passes.model
        better, by_ep = model, None
        if isinstance(model, Logistic) and model.inference == "laplace" and unless_ignored(options):
            better = replace(model, inference="ep")
            by_ep = measured(passes, better, run_dir=None, progress=None)
    # what checks look at
    seen = Pool.build(yardstick, {name: passes.sample, TEST: test})
    plan = whole_plan(prepared, {DATA: seen.samples[name]}, seen.samples[TEST])
    told = replace(prepared, data={name: passes.sample}, leaked=passes.leaked, passes=passes.made)
    notes = (note for note in (passes.note, absent_classes(passes, name), streamed_note(passes)) if note)
    case = Case.of(told, seen, plan, tuple(notes), table=table, arms=(DATA,), **own)
    if by_ep is None or not isinstance(better, Logistic):
        return case
    other = by_ep
    return decided(case, better, shift_of(case, other).seen("Laplace", "EP"), lambda: other)


def unless_ignored(options: Options) -> bool:
    """Whether Laplace's method is compared with EP on the blocks of the test set."""
    return INFERENCE.code not in check_codes(options.ignore)


def seal_stream(stream: Stream, yardstick: Yardstick) -> Sealed:
    """The posterior of a stream on a yardstick, by Laplace's method, to be sent instead of its rows."""
    with Passes(stream, yardstick, Options(), None, "the data") as passes:
        fitted = passes.fitted(yardstick.tempering)
    counts = None
    if isinstance(yardstick.labels, Classes) and passes.classes is not None:
        counts = dict(zip(yardstick.labels.names, map(int, passes.classes), strict=True))
    key = new_key()
    return Sealed(
        fitted.mean,
        0.5 * (fitted.precision + fitted.precision.T),
        yardstick.digest,
        passes.rows,
        yardstick.tempering * passes.weight,
        counts,
        version("dataworth"),
        keyed_hash(stream.content_hash(), key),
        key,
    )


@dataclass(frozen=True)
class InPasses:
    """The posterior of a stream as the prior of a pool, with rows counted 2^k times as often."""

    passes: Passes
    pool: Pool
    model: Logistic | Linear
    directions: ClassVar[int] = 1

    @property
    def repeated(self) -> int:
        """By how many doublings rows count more than once."""
        return self.passes.repeated

    def __call__(self, place: Place) -> Fitter:
        """The fitter at one tempering."""
        fitted = self.passes.fitted(self.pool.tempering * 2.0 ** place[0])
        return self.model.bind(self.pool.X, self.pool.y, fitted.prior)


def streamed_note(passes: Passes) -> str:
    """How the data were read, and what their posterior rests on."""
    d = passes.yardstick.recipe.width + int(passes.model.intercept)
    told = f"{passes.rows:,} rows were read in {passes.made} passes over the file, never all at once"
    if not isinstance(passes.yardstick.labels, Classes):
        return f"{told}; their posterior is exact"
    each = f"{passes.rows / d:,.0f} for each of {d} coefficients"
    if passes.rows >= MANY * d:
        return f"{told}; their posterior is Laplace's, with which EP's agrees for so many ({each})"
    return f"{told}; their posterior is Laplace's, which may differ from EP's for so few ({each})"


def absent_classes(passes: Passes, name: str) -> str | None:
    """A note if the data have no rows of some class."""
    labels = passes.yardstick.labels
    if passes.classes is None or not isinstance(labels, Classes):
        return None
    present = [label for label, count in zip(labels.names, passes.classes, strict=True) if count]
    return one_class_note(passes.yardstick, Dataset(np.zeros((len(present), 1)), present), name)
