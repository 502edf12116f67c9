"""Several datasets on one yardstick, one below the other: the rows that designs draw from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from ..data.dataset import Dataset, label_keys
from ..data.labels import Classes
from ..errors import DataworthError
from ..models import Fitter
from ..yardstick.yardstick import Yardstick
from .designs import Sample


@dataclass(frozen=True)
class Pool:
    """Several datasets on one yardstick, one below the other, with the yardstick's model bound to them."""

    X: Array
    y: Array
    fitter: Fitter
    samples: dict[str, Sample]

    @classmethod
    def build(cls, yardstick: Yardstick, parts: Mapping[str, Dataset]) -> Pool:
        """Measure all parts with the yardstick."""
        from threadpoolctl import threadpool_limits

        y = np.concatenate([yardstick.targets(part, name) for name, part in parts.items()])
        X = np.empty((len(y), yardstick.recipe.projection.shape[1]))
        samples: dict[str, Sample] = {}
        start = 0
        for name, part in parts.items():
            end = start + len(part)
            with threadpool_limits(1):  # a resumed run must find the same bits
                X[start:end] = yardstick.features(part)
            samples[name] = Sample(np.arange(start, end), part.weights)
            start = end
        return cls(X, y, yardstick.model.bind(X, y), samples)


def strata(yardstick: Yardstick, data: Dataset) -> NDArray[np.intp]:
    """Class of each row, for stratified draws; numeric labels are one stratum."""
    if isinstance(yardstick.labels, Classes):
        return yardstick.targets(data).astype(np.intp)
    return np.zeros(len(data), dtype=np.intp)


def one_class_note(yardstick: Yardstick, data: Dataset, what: str) -> str | None:
    """A note if a dataset has no rows of some class."""
    if not isinstance(yardstick.labels, Classes):
        return None
    present = set(label_keys(data.y).tolist())
    absent = [name for name in yardstick.labels.names if name not in present]
    if not absent:
        return None
    if len(present) == 1:
        others = "the other class is" if len(absent) == 1 else "the other classes are"
        return f"{what}: all rows have the label {str(present.pop())!r}; {others} absent"
    shown = ", ".join(map(repr, absent[:3])) + (", …" if len(absent) > 3 else "")
    return f"{what}: no rows of {'class' if len(absent) == 1 else f'{len(absent)} classes:'} {shown}"


def check_datasets(parts: Mapping[str, Any]) -> None:
    """Each a Dataset with rows, or a sentence."""
    for name, part in parts.items():
        if not isinstance(part, Dataset):
            if not getattr(part, "has_rows", True):
                raise DataworthError(f"{name} is sealed, and has no rows: only score and rank take it.")
            raise DataworthError(
                f"{name} is a {type(part).__name__}; give a Dataset: dw.Dataset(X, y) or dw.read(path)."
            )
        if len(part) == 0:
            raise DataworthError(f"{name} has no rows; there is nothing to measure.")
