"""A Newton step, as both sides give it."""

from __future__ import annotations

from typing import NamedTuple

from ..logistic import Array


class Step(NamedTuple):
    """A Newton step of coefficients and predictor, and the slope of Ψ along it."""

    coef: Array
    f: Array
    decrement: float
