"""DW001: does doubling the test set's own rows look informative?"""

from __future__ import annotations

import numpy as np

from ..models import Linear, Logistic
from ..models.base import Array
from ..yardstick import doubling_probe, halves
from .base import Finding


def check_doubling(model: Logistic | Linear, X: Array, y: Array, seed: int = 0) -> Finding:
    """U(2×T_a, T_b) − U(T_a, T_b) on random halves of the test set; fires if it is above its standard error.

    Rows say nothing new the second time. Where that raises the score, the model is under-confident: whatever
    sharpens its posterior then looks informative, self-made labels included.

    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 3))
    >>> y = (X[:, 0] > 0).astype(float)
    >>> check_doubling(Logistic(1e-3), X, y).fires, check_doubling(Logistic(1e4), X, y).fires
    (True, False)
    """
    splits = halves(len(y), np.random.default_rng([seed, 0xD0B]))
    value, stderr = doubling_probe(model.bind(X, y), splits)
    return Finding(
        "DW001",
        "doubling",
        value > stderr,
        value,
        stderr,
        "repeating rows raises the score: the model is less sure than its data allow",
        "let a yardstick be fitted (features and prior from the test set), or widen the prior",
    )
