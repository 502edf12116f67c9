"""DW005: do Laplace's method and EP give the same number?

Both approximate the same posterior, one at its mode and one by its moments. Where they agree the posterior is
near Gaussian, and either will do; where they do not, at least one of them is wrong.
"""

from __future__ import annotations

from dataclasses import replace

from ..case import Case
from ..models import Logistic, OneVsRest
from ..models.logistic import INFERENCES
from .base import Check, Seen, not_run
from .material import again_by, shift_of

NAMES = {"laplace": "Laplace", "ep": "EP"}


def look(case: Case) -> Seen:
    """The first few pairs by the other inference."""
    model = case.yardstick.model
    if not isinstance(model, (Logistic, OneVsRest)):
        exact = case.yardstick.inference is None
        return not_run("posteriors of amounts are exact" if exact else "this model has one inference only")
    other = next(name for name in INFERENCES if name != model.inference)
    table = again_by(case, replace(model, inference=other))
    if table is None:
        return not_run("too many rows and features to do again by EP: --thorough (thorough=True) does")
    return shift_of(case, table).seen(NAMES[model.inference], NAMES[other])


CHECK = Check(
    "DW005",
    "inference",
    "Laplace and EP differ by more than the interval allows for: the number is that of an approximation",
    "prefer EP (--inference ep), mostly the closer one; --thorough samples a few pairs to tell which is",
    look,
)
