"""DW001: does doubling the test set's own rows look informative?"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from ..measure.case import Case
from ..yardstick.kinds import YardstickModel
from ..yardstick.probes import doubling_probe, halves
from ..yardstick.search import ROWS
from .base import Check, Finding, Seen
from .rows import some_rows


def check_doubling(
    model: YardstickModel, X: Array, y: Array, seed: int = 0, groups: NDArray[np.str_] | None = None
) -> Finding:
    """U(2×T_a, T_b) − U(T_a, T_b) on random halves of the test set; fires if it is above its standard error.

    Rows say nothing new the second time. Where that raises the score, the model is under-confident: whatever
    sharpens its posterior then looks informative, self-made labels included.

    >>> from dataworth.models import Logistic
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 3))
    >>> y = (X[:, 0] > 0).astype(float)
    >>> check_doubling(Logistic(1e-3), X, y).fires, check_doubling(Logistic(1e4), X, y).fires
    (True, False)
    """
    splits = halves(len(y), np.random.default_rng([seed, 0xD0B]), groups=groups)
    value, stderr = doubling_probe(model.bind(X, y), splits)
    return CHECK.finding(seen(value > stderr, value, stderr))


def seen(fires: bool, value: float, stderr: float) -> Seen:
    """The probe in words too."""
    return Seen(fires, value, f"{value:+.2g} ± {stderr:.2g} nats from doubling half the test set", stderr)


def look(case: Case) -> Seen:
    """The yardstick's own probe, from when it was fitted; a yardstick made by hand is probed now."""
    chosen = case.yardstick.chosen
    if chosen.probe is not None and chosen.probe_stderr is not None:
        return seen(not chosen.calibrated, chosen.probe, chosen.probe_stderr)
    rng = np.random.default_rng([case.options.seed, 0xD0])
    some = case.test.take(some_rows(len(case.test), ROWS, rng))
    X, y = case.yardstick.features(some), case.yardstick.targets(some)
    found = check_doubling(case.yardstick.model, X, y, case.options.seed, some.groups)
    return Seen(found.fires, found.value, found.detail, found.stderr)


CHECK = Check(
    "DW001",
    "doubling",
    "repeating rows raises the score: the model is less sure than its data allow",
    "let a yardstick be fitted (features and prior from the test set), or widen the prior",
    look,
    needs="test",
    prior=True,
)
