"""Scores of sealed data: candidates that may be sealed or open, on the blocks of one test set."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ...data.dataset import Dataset
from ...errors import DataworthError
from ...evidence.tempering import Place, repeats
from ...inference.gaussian import divergence_from_prior
from ...measure.case import Case, Plan, measure
from ...measure.designs import DATA, Arm, Sample
from ...measure.options import Options
from ...measure.plans import whole_plan
from ...measure.prepare import Pool, check_datasets, prepare
from ...measure.table import PairTable
from ...models import Fitter, GaussianPrior
from ...yardstick.yardstick import Yardstick
from .limits import Guarded, check_sealed, doubts
from .posterior import Sealed, seal_with, sealing_model

SCALES = 4
"""Steps by which the scale of a mean doubles."""


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
    own, gains, doubted = {}, [], []
    for name, candidate in candidates.items():
        given = prepared.data.get(name, candidate)
        one = given if isinstance(given, Sealed) else seal_with(given, yardstick, digest)
        spectrum = check_sealed(one, yardstick, name, digest)
        own[DATA if what == "score" else Arm("candidate", name)] = Tempered(pool, yardstick, one, name)
        gains.append(divergence_from_prior(spectrum, one.mean, yardstick.model.prior_variance))
        if isinstance(given, Sealed):
            doubted += doubts(one, yardstick, spectrum, pool.X, name)
    nothing = Sample(np.arange(0))
    plan = whole_plan(prepared, dict.fromkeys(own, nothing), pool.samples["test"])
    evidence = replace(prepared, options=replace(options, form="evidence"))
    identity = {name: c.content_hash() for name, c in candidates.items()} if options.run_dir else {}
    table = measure(evidence, pool, plan, own, identity)
    rows = [len(prepared.data.get(name, one)) for name, one in candidates.items()]
    table = table.with_column("information_gain", gains).with_column("data_rows", rows)
    closed = tuple(name for name in candidates if name not in opened)
    # what checks look at: rows of the test set and of open data
    seen = Pool.build(yardstick, {**{f"{n!r}": d for n, d in prepared.data.items()}, "test": prepared.test})
    arms = {Arm("candidate", name): seen.samples[f"{name!r}"] for name in opened}
    plan = whole_plan(prepared, arms, seen.samples["test"])
    told = replace(prepared, options=replace(options, form="sealed"), sealed=closed)
    notes = (*doubted, *sealed_notes(closed, bool(opened)))
    return Case.of(told, seen, plan, notes, table=table, arms=tuple(own), conclude=conclude)


@dataclass(frozen=True)
class Tempered:
    """A sealed posterior N(μ, P⁻¹) as the prior of a pool, as sure of itself and as far from 0 as need be.

    Counting its rows r times would make its sites r times as strong, P_r = I/C + r (P − I/C) and
    P_r μ_r = r P μ; and its mean is scaled by s. Who exaggerates is scored as if they had not. Here r = 2^k
    and s = 2^{l/4}.
    """

    pool: Pool
    yardstick: Yardstick
    sealed: Sealed
    name: str
    directions: ClassVar[int] = 2

    @property
    def repeated(self) -> int:
        """By how many doublings rows count more than once, by the weight that the file says."""
        return repeats(np.arange(self.sealed.rows), np.array([self.sealed.weight]))

    def __call__(self, place: Place) -> Fitter:
        """The fitter at one tempering and scale."""
        model = sealing_model(self.yardstick)
        mean, precision = self.sealed.mean, self.sealed.precision
        r, scale = 2.0 ** place[0], 2.0 ** (place[1] / SCALES)
        tempered = r * precision
        tempered.flat[:: len(mean) + 1] += (1.0 - r) / model.prior_variance
        if r != 1.0:
            mean = np.asarray(np.linalg.solve(tempered, r * (precision @ mean)), dtype=float)
        return Guarded(model.bind(self.pool.X, self.pool.y, GaussianPrior(scale * mean, tempered)), self.name)


def sealed_notes(closed: tuple[str, ...], some_open: bool) -> list[str]:
    """What readers of sealed scores must know."""
    also = "; open data were sealed first, to compare like with like" if some_open else ""
    return [
        f"scored by Gaussian posteriors, not by rows{also}; intervals cover the sampling of the test set",
        f"whether test rows stand in the sealed data ({', '.join(closed)}) cannot be checked",
    ]
