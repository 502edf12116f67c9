"""A Newton step, as both sides give it."""

from __future__ import annotations

from typing import NamedTuple

from ...arrays import Array


class Step(NamedTuple):
    """A Newton step of coefficients and predictor, and the slope of Ψ along it."""

    coef: Array
    f: Array
    decrement: float
