"""The blocks of the test set, each under every candidate's Gaussian and under the prior."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np

from ...arrays import Array
from ...measure.designs import Whole
from ...measure.engines import get_engine
from ...measure.evaluate import PairTable
from ...measure.options import Options
from ...measure.runs import Run, map_resumable
from ...models import Fit, Fitter
from .limits import impossible


class Arm(NamedTuple):
    """A candidate as the prior of test rows."""

    fitter: Fitter
    nothing: Fit
    gain: float
    rows: int


class Work(NamedTuple):
    """What every block is measured with."""

    design: Whole
    prior: Fitter
    arms: dict[str, Arm]


def measure(work: Work, blocks: int, opts: Options, config: dict[str, Any]) -> PairTable:
    """All blocks, in processes and resumed where the options say so."""
    engine = opts.engine
    if isinstance(engine, str):
        engine = get_engine(engine, 1 if opts.jobs is None else opts.jobs)
    report = None if opts.progress is None else opts.progress.update
    chunks = [[i] for i in range(blocks)]
    if opts.run_dir is None or isinstance(opts.run_dir, Run):
        rows = map_resumable(engine, _blocks, chunks, shared=work, run=opts.run_dir, on_chunk=report)
    else:
        with Run.open(opts.run_dir, config) as run:
            rows = map_resumable(engine, _blocks, chunks, shared=work, run=run, on_chunk=report)
    names = tuple(work.arms)
    found = [row for payload in rows for row in payload]
    values = np.array([[row["arms"][name] for name in names] for row in found], dtype=float)
    for name, column in zip(names, values[:, :, 0].T, strict=True):
        if not np.isfinite(column).all():
            raise impossible(name, "its score is not a number")
    return PairTable(
        names,
        values[:, :, 0],
        values[:, :, 1],
        values[:, :, 2],
        values[:, :, 3],
        np.array([row["log_z_test"] for row in found], dtype=float),
        np.array([row["test_rows"] for row in found], dtype=float),
    )


def _blocks(work: Work, chunk: list[int]) -> list[dict[str, Any]]:
    return [_block(work, i) for i in chunk]


def _block(work: Work, i: int) -> dict[str, Any]:
    """One block of the test set under each candidate's Gaussian, and under the prior."""
    rows, weights = work.design.draw(i).test[:2]
    alone = work.prior(rows, weights=weights).log_z
    arms = {}
    for name, arm in work.arms.items():
        accuracy = arm.fitter.accuracy(arm.nothing, rows, weights)
        arms[name] = [_log_z(arm, rows, weights, name) - alone, accuracy, arm.gain, arm.rows]
    return {"arms": arms, "log_z_test": alone, "test_rows": len(rows)}


def _log_z(arm: Arm, rows: Any, weights: Array | None, name: str) -> float:
    """Log evidence under somebody's Gaussian, on which the numerics may fail."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        try:
            return arm.fitter(rows, weights=weights).log_z
        except (RuntimeWarning, ArithmeticError, np.linalg.LinAlgError):
            raise impossible(name, "its score cannot be computed") from None
