"""Several datasets on one yardstick, one below the other: the rows that designs draw from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .data import Dataset
from .errors import DataworthError
from .models import Fitter
from .pairs import Array, Sample
from .targets import Classes
from .yardstick import Yardstick


@dataclass(frozen=True)
class Pool:
    """Features and targets of several datasets on one yardstick, one below the other."""

    yardstick: Yardstick
    X: Array
    y: Array
    samples: dict[str, Sample]

    @classmethod
    def build(cls, yardstick: Yardstick, parts: Mapping[str, Dataset]) -> Pool:
        """Measure all parts with the yardstick."""
        from threadpoolctl import threadpool_limits

        X, y, samples, start = [], [], {}, 0
        for name, part in parts.items():
            with threadpool_limits(1):  # a resumed run must find the same bits
                X.append(yardstick.features(part))
            y.append(yardstick.targets(part, name))
            samples[name] = Sample(np.arange(start, start + len(part)), part.weights)
            start += len(part)
        return cls(yardstick, np.concatenate(X), np.concatenate(y), samples)

    def fitter(self) -> Fitter:
        """The yardstick's model on these rows."""
        return self.yardstick.model.bind(self.X, self.y)

    def strata(self, sample: Sample) -> NDArray[np.intp]:
        """Class of each row, for stratified draws; amounts are one stratum."""
        if isinstance(self.yardstick.labels, Classes):
            return self.y[sample.rows].astype(np.intp)
        return np.zeros(len(sample.rows), dtype=np.intp)


def check_datasets(parts: Mapping[str, Any]) -> None:
    """Each a Dataset with rows, or a sentence."""
    for name, part in parts.items():
        if not isinstance(part, Dataset):
            raise DataworthError(
                f"{name} is a {type(part).__name__}; give a Dataset: dw.Dataset(X, y) or dw.read(path)."
            )
        if len(part) == 0:
            raise DataworthError(f"{name} has no rows; there is nothing to measure.")
