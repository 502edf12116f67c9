"""Scores of data that are read in passes: the design *whole* in memory that does not grow with the file.

The data are one Gaussian posterior on the yardstick, found by passes over the file (`measure.passes`), which
is the prior of each block of the test set: what the design *whole* makes of rows in memory, too.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ..data.dataset import Dataset
from ..data.io.streamed import Stream
from ..data.labels import Classes
from ..errors import DataworthError
from ..inference.sites import MANY
from ..measure import (
    DATA,
    ArmPosterior,
    Case,
    Options,
    Passes,
    Pool,
    Sample,
    measure,
    one_class_note,
    whole_plan,
)
from ..measure.prepare import prepare
from ..models import Logistic
from ..parallel import Local
from ..wording import option

TEST = "the test set"


def measure_streamed(stream: Stream, test: Dataset, options: Options, name: str, **own: Any) -> Case:
    """A stream on the blocks of the design *whole*."""
    for asked, given in {"model": options.own_model is not None, "form": options.form != "evidence"}.items():
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
    with Passes(stream, yardstick, options, test, name) as passes:
        width, distinct = yardstick.recipe.width + int(passes.model.intercept), passes.sketch.distinct
        exact = not isinstance(passes.model, Logistic) or passes.model.inference == "laplace"
        if not exact and distinct < MANY * width:  # passes give Laplace's posterior: EP's where rows are many
            raise DataworthError(
                f"{name}: {distinct:,.0f} different rows for {width} coefficients are too few for passes "
                f"over a file, which need {MANY} for each: load them, without {option('stream')}."
            )
        pool = Pool.build(yardstick, {TEST: test})
        plan = whole_plan(prepared, {DATA: Sample(np.arange(0))}, pool.samples[TEST])
        table = measure(here, pool, plan, {DATA: partial(streamed_arm, passes, pool)}, identity)
    # what checks look at
    seen = Pool.build(yardstick, {name: passes.sample, TEST: test})
    plan = whole_plan(prepared, {DATA: seen.samples[name]}, seen.samples[TEST])
    told = replace(prepared, data={name: passes.sample}, leaked=passes.leaked, passes=passes.made)
    absent, laplace = None, isinstance(yardstick.labels, Classes)
    if passes.classes is not None and isinstance(yardstick.labels, Classes):
        names = [one for one, count in zip(yardstick.labels.names, passes.classes, strict=True) if count]
        absent = one_class_note(yardstick, Dataset(np.zeros((len(names), 1)), names), name)
    read = (
        f"{passes.rows:,} rows were read in {passes.made} passes over the file, never all at once; their "
        f"posterior is {'that of Laplace, as EP gives it for so many' if laplace else 'exact'}"
    )
    notes = tuple(note for note in (passes.note, absent, read) if note)
    return Case.of(told, seen, plan, notes, table=table, arms=(DATA,), **own)


def streamed_arm(passes: Passes, pool: Pool) -> ArmPosterior:
    """The posterior of a stream, by passes to its mode."""
    counted = 1.0 / passes.repeats
    posterior, gain = passes.fitted(counted)
    fitter = passes.model.bind(pool.X, pool.y, posterior)
    fit = fitter(np.zeros(0, dtype=np.intp))
    return ArmPosterior(fitter, fit, passes.rows, gain, (posterior,), counted)
