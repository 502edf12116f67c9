"""What fits a table on a yardstick's model: exactly, by one logistic regression, or by one a class."""

from __future__ import annotations

from collections.abc import Callable

from ...data.labels import Classes
from ...inference.removal import MOVED
from ...models import Linear
from ...yardstick.yardstick import Yardstick
from .rows import Fits, binary_fits, gaussian_fits
from .table import Table
from .trust import Trust, trust_classes, trust_numbers


def fitting(yardstick: Yardstick, moved: float = MOVED) -> Callable[[Table], list[Fits]]:
    """How a table is fitted: exactly, by one logistic regression, or by one a class."""
    model = yardstick.model
    if isinstance(model, Linear):
        noise = float(model.noise_variance)  # type: ignore[arg-type]
        return lambda table: [gaussian_fits(table, noise)]
    classes = class_count(yardstick)
    chosen = [1] if classes == 2 else range(classes)

    def fit(table: Table) -> list[Fits]:
        return [
            binary_fits(table, (table.data.y == c).astype(float), (table.test.y == c).astype(float), moved)
            for c in chosen
        ]

    return fit


def trust(yardstick: Yardstick, table: Table) -> Trust:
    """The trust in every label."""
    if isinstance(yardstick.model, Linear):
        return trust_numbers(table, float(yardstick.model.noise_variance))  # type: ignore[arg-type]
    return trust_classes(table, class_count(yardstick))


def class_count(yardstick: Yardstick) -> int:
    """How many classes a yardstick has; none of numeric labels."""
    return len(yardstick.labels.names) if isinstance(yardstick.labels, Classes) else 0
