"""From labels as users write them to the numbers a model takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .data import Dataset, label_keys
from .errors import DataworthError

Array = NDArray[np.float64]
MOST_CLASSES = 20
"""Whole numbers with more distinct values than this are amounts, not classes."""


@dataclass(frozen=True)
class Classes:
    """Two classes in a fixed order: the first is 0, the second is 1."""

    names: tuple[str, ...]

    def encode(self, y: NDArray[Any], what: str = "the data") -> Array:
        """Labels to 0.0 and 1.0.

        >>> Classes(("cat", "dog")).encode(np.array(["dog", "cat"])).tolist()
        [1.0, 0.0]
        """
        keys = label_keys(y)
        known = np.isin(keys, self.names)
        if not known.all():
            strange = " and ".join(repr(str(k)) for k in np.unique(keys[~known])[:3])
            raise DataworthError(
                f"{what}: label {strange} does not occur in the test set, whose classes are "
                f"{' and '.join(repr(n) for n in self.names)}: rename or drop those rows."
            )
        return (keys == self.names[-1]).astype(float) if len(self.names) > 1 else np.zeros(len(keys))

    def decode(self, targets: Array) -> NDArray[Any]:
        """0.0 and 1.0 back to labels."""
        return np.array(self.names)[np.asarray(targets, dtype=int)]


@dataclass(frozen=True)
class Amounts:
    """Numbers to regress on, centred and scaled as in the test set (a constant that cancels in every PMI)."""

    center: float = 0.0
    scale: float = 1.0

    def encode(self, y: NDArray[Any], what: str = "the data") -> Array:
        """Labels to standard units."""
        if y.dtype.kind not in "iuf":
            raise DataworthError(f"{what} has text labels, but the test set's are numbers: give numbers.")
        return (y.astype(float) - self.center) / self.scale

    def decode(self, targets: Array) -> NDArray[Any]:
        """Standard units back to labels."""
        return np.asarray(targets) * self.scale + self.center


def is_amount(y: NDArray[Any]) -> bool:
    """Whether labels are amounts (regression) rather than classes."""
    if y.dtype.kind not in "iuf":
        return False
    values = np.unique(y)
    return len(values) > 2 and bool(len(values) > MOST_CLASSES or (values != np.round(values)).any())


def learn_targets(test: Dataset) -> Classes | Amounts:
    """What the test set's labels are: two classes, or amounts; a sentence otherwise."""
    if is_amount(test.y):
        return Amounts(float(np.mean(test.y)), float(np.std(test.y)))
    names = tuple(str(k) for k in np.unique(label_keys(test.y)))
    if len(names) == 1:
        raise DataworthError(
            f"every row of the test set has the label {names[0]!r}; valuing data needs both classes in it."
        )
    if len(names) > 2:
        shown = ", ".join(names[:5]) + (", …" if len(names) > 5 else "")
        raise DataworthError(
            f"the test set has {len(names)} classes ({shown}); "
            "this version values two classes, or amounts: keep two classes, or join them into two."
        )
    return Classes(names)


def common_classes(labels: Sequence[NDArray[Any]]) -> Classes:
    """The two (or one) classes that occur in any of the label arrays, sorted."""
    names = tuple(str(k) for k in np.unique(np.concatenate([label_keys(y) for y in labels])))
    if len(names) > 2:
        raise DataworthError(
            f"the labels have {len(names)} classes ({', '.join(names[:5])}); Logistic takes two."
        )
    if len(names) == 1:
        # one class alone: "1" stays class 1, so that a one-class part of 0/1 data keeps its meaning
        return Classes(("0", "1")) if names[0] in ("0", "1") else Classes((names[0], f"not {names[0]}"))
    return Classes(names)
