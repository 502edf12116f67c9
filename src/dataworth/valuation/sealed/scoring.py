"""Scores of sealed data: candidates that may be sealed or open, on the blocks of one test set."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ...data.dataset import Dataset
from ...errors import DataworthError
from ...inference.gaussian import divergence_from_prior
from ...measure import (
    DATA,
    Arm,
    ArmPosterior,
    Case,
    Options,
    PairTable,
    Plan,
    Pool,
    Sample,
    check_datasets,
    measure,
    whole_plan,
)
from ...measure.prepare import prepare
from ...models import GaussianPrior, Linear, Logistic
from .limits import check_sealed, doubts, impossible, refusing
from .posterior import Sealed, seal_with, sealing_model


def refuse_unsealable(form: str, design: str = "whole") -> None:
    """Sealed data have no rows to draw from, and one form of the score."""
    if form not in ("evidence", "sealed"):
        raise DataworthError(f"form is {form!r}, but sealed data have only the form sealed: drop the option.")
    if design != "whole":
        raise DataworthError(
            f"the design {design} draws rows, which sealed data do not have: use the design whole."
        )


def measure_sealed(
    what: str,
    candidates: Mapping[str, Dataset | Sealed],
    test: Dataset,
    options: Options,
    conclude: Callable[[Plan, PairTable], str | None] = lambda plan, table: None,
) -> Case:
    """All candidates on the blocks of the design *whole*, open ones sealed first: like with like."""
    if options.own_model is not None:
        raise DataworthError("sealed data are posteriors of the yardstick's model: drop model=.")
    opened = {name: c for name, c in candidates.items() if not isinstance(c, Sealed)}
    check_datasets(opened)
    prepared = prepare(what, opened, test, options)
    yardstick, digest = prepared.yardstick, prepared.yardstick.digest
    pool = Pool.build(yardstick, {"test": prepared.test}, sealing_model(yardstick))
    own, doubted = {}, []
    for name, candidate in candidates.items():
        given = prepared.data.get(name, candidate)
        one = given if isinstance(given, Sealed) else seal_with(given, yardstick, digest)
        spectrum = check_sealed(one, yardstick, name, digest)
        gain = divergence_from_prior(spectrum, one.mean, yardstick.model.prior_variance)
        arm = DATA if what == "score" else Arm("candidate", name)
        own[arm] = partial(sealed_arm, pool, sealing_model(yardstick), one, name, gain)
        if isinstance(given, Sealed):
            doubted += doubts(one, yardstick, spectrum, pool.X, name)
    nothing = Sample(np.arange(0))
    plan = whole_plan(prepared, dict.fromkeys(own, nothing), pool.samples["test"])
    evidence = replace(prepared, options=replace(options, form="evidence"))
    identity = {name: c.content_hash() for name, c in candidates.items()} if options.run_dir else {}
    table = measure(evidence, pool, plan, own, identity)
    closed = tuple(name for name in candidates if name not in opened)
    # what checks look at: rows of the test set and of open data
    seen = Pool.build(yardstick, {**{f"{n!r}": d for n, d in prepared.data.items()}, "test": prepared.test})
    arms = {Arm("candidate", name): seen.samples[f"{name!r}"] for name in opened}
    plan = whole_plan(prepared, arms, seen.samples["test"])
    told = replace(prepared, options=replace(options, form="sealed"), sealed=closed)
    notes = (*doubted, *sealed_notes(closed, bool(opened)))
    return Case.of(told, seen, plan, notes, table=table, arms=tuple(own), conclude=conclude)


def sealed_arm(pool: Pool, model: Logistic | Linear, one: Sealed, name: str, gain: float) -> ArmPosterior:
    """A sealed posterior as it stands in the file, or a refusal of the file.

    Its rows were counted as those of open data are, so that sealing them changes nothing.
    """
    with refusing(name):
        own = GaussianPrior(one.mean, one.precision)
        fitter: Any = model.bind(pool.X, pool.y, own)
        fit = fitter(np.zeros(0, dtype=np.intp))
        if not np.isfinite(fitter.offset).all():
            raise impossible(name, "its score is not a number")
    return ArmPosterior(fitter, fit, one.rows, gain, (own,))


def sealed_notes(closed: tuple[str, ...], some_open: bool) -> list[str]:
    """What readers of sealed scores must know."""
    also = "; open data were sealed first, to compare like with like" if some_open else ""
    return [
        f"scored by Gaussian posteriors, not by rows{also}; intervals cover the sampling of the test set",
        f"whether test rows stand in the sealed data ({', '.join(closed)}) cannot be checked",
    ]
