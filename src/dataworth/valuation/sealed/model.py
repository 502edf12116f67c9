"""The yardstick's model as far as its posterior can be sealed, and what a row can add to that."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ...errors import DataworthError
from ...models import Linear, Logistic
from ...yardstick.yardstick import Yardstick


def sealing_model(yardstick: Yardstick) -> Logistic | Linear:
    """The yardstick's model, with the posterior that is sealed: EP's of classes, exact of numeric labels."""
    model = yardstick.model
    if isinstance(model, Logistic):
        return replace(model, inference="ep")
    if isinstance(model, Linear) and isinstance(model.noise_variance, int | float):
        return model
    raise DataworthError(
        f"the yardstick's model is {model!r}, whose posterior cannot be sealed: "
        "use two classes, or numeric labels with a known noise_variance."
    )


def most_precision(model: Logistic | Linear) -> float:
    """What a row adds to the precision along itself: classes at most a quarter, numeric labels 1/s²."""
    if isinstance(model, Logistic):
        return 0.25
    noise: Any = model.noise_variance
    return 1.0 / float(noise)
