"""Scores of sealed data: candidates that may be sealed or open, on the blocks of one test set."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from ...checks import Finding
from ...data.dataset import Dataset
from ...data.leaks import drop_leaks
from ...errors import DataworthError
from ...measure.designs import Sample, Whole
from ...measure.evaluate import PairTable
from ...measure.options import Options, block_count
from ...measure.prepare import one_class_note
from ...models import GaussianPrior
from ...yardstick.yardstick import Yardstick
from .blocks import Arm, Work, measure
from .checks import case_of, sealed_checks
from .limits import check_sealed
from .making import seal_with
from .model import sealing_model
from .posterior import Sealed
from .unlikely import doubts, gain_of


class SealedResult(NamedTuple):
    """What score and rank make their results of; `test` is without leaked rows."""

    table: PairTable
    test: Dataset
    notes: list[str]
    checks: tuple[Finding, ...]


def refuse_unsealable(form: str, design: str = "whole") -> None:
    """Sealed data have no rows to draw from, and one form of the score."""
    if form not in ("evidence", "sealed"):
        raise DataworthError(f"form is {form!r}, but sealed data have only the form sealed: drop the option.")
    if design != "whole":
        raise DataworthError(
            f"the design {design} draws rows, which sealed data do not have: use the design whole."
        )


def score_sealed(
    candidates: Mapping[str, Dataset | Sealed],
    test: Dataset,
    yardstick: Yardstick,
    opts: Options,
    what: str,
) -> SealedResult:
    """All candidates on the blocks of the design *whole*, open ones sealed first: like with like."""
    digest = yardstick.digest
    config = {"what": what, "data": {name: c.content_hash() for name, c in candidates.items()}}
    config |= {"test": test.content_hash(), "yardstick": digest, **opts.to_dict()}
    closed = {name: c for name, c in candidates.items() if isinstance(c, Sealed)}
    opened = {name: c for name, c in candidates.items() if not isinstance(c, Sealed)}
    spectra = {name: check_sealed(sealed, yardstick, name, digest) for name, sealed in closed.items()}
    leaks = drop_leaks(test, opened)
    test = test.take(leaks.kept)
    for name, data in opened.items():
        closed[name] = seal_with(data, yardstick, digest, key="")
        spectra[name] = check_sealed(closed[name], yardstick, name, digest)
    with threadpool_limits(1):
        X = yardstick.features(test)
    y = yardstick.targets(test, "the test set")
    model = sealing_model(yardstick)
    notes = [] if leaks.note is None or not opened else [leaks.note]
    arms = {}
    for name, given in candidates.items():
        one = closed[name]
        fitter = model.bind(X, y, GaussianPrior(one.mean, one.precision))
        nothing = fitter(np.arange(0))
        arms[name] = Arm(fitter, nothing, gain_of(one, spectra[name], model.prior_variance), one.rows)
        if isinstance(given, Sealed):
            notes += doubts(one, yardstick, spectra[name], X, name)
        else:
            notes += [n for n in (one_class_note(yardstick, given, name),) if n]
    blocks = block_count(len(test))
    design = Whole({}, Sample(np.arange(len(test)), test.weights), blocks, opts.seed)
    table = measure(Work(design, model.bind(X, y), arms), blocks, opts, config)
    notes += sealed_notes(list(candidates), opened)
    checks = sealed_checks(case_of(opened, test, leaks.dropped, yardstick, table, opts, what))
    return SealedResult(table, test, notes, checks)


def sealed_notes(names: list[str], opened: Mapping[str, Dataset]) -> list[str]:
    """What readers of sealed scores must know."""
    also = "; open data were sealed first, to compare like with like" if opened else ""
    which = ", ".join(name for name in names if name not in opened)
    return [
        f"scored by Gaussian posteriors, not by rows{also}; intervals cover the sampling of the test set",
        f"whether test rows stand in the sealed data ({which}) cannot be checked",
    ]
