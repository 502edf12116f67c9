"""DW001: does doubling the test set's own rows look informative?

Data are scored at whatever tempering suits the test set (`evidence.tempering`), so that counting rows twice
gains nothing, unless the walk over temperings ends at its edge: a model that is far too unsure, whose rows
would have to count more than a thousand times as often.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np

from ..arrays import Array, Rows
from ..evidence.tempering import climb
from ..measure import Case
from ..models import Model
from ..models.base import bind
from ..yardstick.predictive import both_ways, halves
from ..yardstick.probes import block_predictives, in_blocks, predicts
from ..yardstick.search import ROWS
from .base import CheckOutcome, quietly
from .rows import some_rows

BLOCKS = 20
"""Blocks that the test set is cut into, half of them of each half."""
NEGLIGIBLE, SURE = 0.02, 2.0
"""Nats a block, and standard errors, that a gain must exceed."""


def check_doubling(
    model: Model, X: Array, y: Array, seed: int = 0, groups: Any = None, tempering: float = 1.0
) -> CheckOutcome:
    """Score of a doubled half of the test set less that of the half itself, on blocks of the other half.

    Rows say nothing new the second time. Where that raises the score, the model is less sure than any
    tempering mends: whatever sharpens its posterior then looks informative, self-made labels included.
    """
    fitter: Any = bind(model, X, y)
    start = 0 if getattr(fitter, "takes_weights", True) else None
    gains: list[float] = []
    for own, others in both_ways(halves(len(y), np.random.default_rng([seed, 0xD0B]), 1, groups)):
        score = scorer(fitter, own, in_blocks(others, max(1, len(y) // BLOCKS)), tempering)
        once, twice = (climb(partial(score, more), start)[1] for more in (0, 1))
        gains += (twice - once).tolist()
    value, stderr = float(np.mean(gains)), float(np.std(gains, ddof=1) / np.sqrt(len(gains)))
    most = max(NEGLIGIBLE, SURE * stderr)
    told = f"{value:+.2g} ± {stderr:.2g} nats a block from doubling half the test set"
    return CheckOutcome(value > most, value, f"{told}, allowed up to {most:.2g}", stderr)


def scorer(fitter: Any, own: Rows, blocks: list[Rows], tempering: float) -> Callable[[int, int], Array]:
    """Scores of blocks given rows that are doubled so many times; each tempering is fitted once."""

    @cache
    def at(step: int) -> Array:
        weights = np.full(len(own), tempering * 2.0**step)
        fit = fitter(own, weights=weights)
        if predicts(fitter):
            return block_predictives(fitter, fit, blocks)
        both = [(np.r_[own, block], np.r_[weights, np.ones(len(block))]) for block in blocks]
        return np.array([fitter(rows, weights=counts).log_z - fit.log_z for rows, counts in both])

    return lambda more, k: at(k + more)


def doubling(case: Case) -> CheckOutcome:
    """DW001: on rows of the test set, with the user's own model; on a yardstick repeats count once."""
    if case.options.own_model is None:
        return CheckOutcome(False, 0.0, "data that are repeated as a whole count once")
    rng = np.random.default_rng([case.options.seed, 0xD0])
    some = case.test.take(some_rows(len(case.test), ROWS, rng))
    yard = case.yardstick
    with quietly():
        model, X, y = case.options.own_model, yard.features(some), yard.targets(some)
        return check_doubling(model, X, y, case.options.seed, some.groups, case.pool.tempering)
