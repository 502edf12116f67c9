"""Scores of sealed data: candidates that may be sealed or open, on the blocks of one test set."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ...data.dataset import Dataset
from ...errors import DataworthError
from ...evidence.tempering import Place, repeats
from ...inference.gaussian import divergence_from_prior
from ...measure import (
    DATA,
    Arm,
    Case,
    Options,
    PairTable,
    Plan,
    Pool,
    Sample,
    Scored,
    check_datasets,
    measure,
    scored_by,
    whole_plan,
)
from ...measure.prepare import prepare
from ...models import GaussianPrior, Linear, Logistic
from .limits import check_sealed, doubts, impossible, refusing
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
    own, doubted = {}, []
    for name, candidate in candidates.items():
        given = prepared.data.get(name, candidate)
        one = given if isinstance(given, Sealed) else seal_with(given, yardstick, digest)
        spectrum = check_sealed(one, yardstick, name, digest)
        gain = divergence_from_prior(spectrum, one.mean, yardstick.model.prior_variance)
        arm = DATA if what == "score" else Arm("candidate", name)
        own[arm] = SealedArm(pool, sealing_model(yardstick), one, name, gain)
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


@dataclass(frozen=True)
class SealedArm:
    """A sealed posterior N(μ, P⁻¹) as the prior of a pool, as sure of itself and as far from 0 as need be.

    Counting its rows r times would make its sites r times as strong, P_r = I/C + r (P − I/C) and
    P_r μ_r = r P μ; and its mean is scaled by s. Who exaggerates is scored as if they had not. Here r = 2^k
    and s = 2^{l/4}.
    """

    pool: Pool
    model: Logistic | Linear
    sealed: Sealed
    name: str
    gain: float
    directions: ClassVar[int] = 2

    @property
    def n_rows(self) -> int:
        """What the file says."""
        return self.sealed.rows

    @property
    def n_repeats(self) -> int:
        """Doublings, by the weight that the file says."""
        return repeats(np.arange(self.sealed.rows), np.array([self.sealed.weight]))

    def scored(self, place: Place, tests: Sequence[Sample]) -> Scored:
        """Blocks under the posterior at one tempering and scale, or a refusal of the file."""
        mean, precision = self.sealed.mean, self.sealed.precision
        r, scale = 2.0 ** place[0], 2.0 ** (place[1] / SCALES)
        tempered = r * precision
        tempered.flat[:: len(mean) + 1] += (1.0 - r) / self.model.prior_variance
        with refusing(self.name):
            if r != 1.0:
                mean = np.asarray(np.linalg.solve(tempered, r * (precision @ mean)), dtype=float)
            fitter = self.model.bind(self.pool.X, self.pool.y, GaussianPrior(scale * mean, tempered))
            found = scored_by(fitter, fitter(np.zeros(0, dtype=np.intp)), tests)
            if not np.isfinite(found.log_predictives).all():
                raise impossible(self.name, "its score is not a number")
        return found

    def information_gain(self, plain: Scored) -> float:
        """KL(N(μ, P⁻¹) ‖ N(0, C·I))."""
        return self.gain


def sealed_notes(closed: tuple[str, ...], some_open: bool) -> list[str]:
    """What readers of sealed scores must know."""
    also = "; open data were sealed first, to compare like with like" if some_open else ""
    return [
        f"scored by Gaussian posteriors, not by rows{also}; intervals cover the sampling of the test set",
        f"whether test rows stand in the sealed data ({', '.join(closed)}) cannot be checked",
    ]
