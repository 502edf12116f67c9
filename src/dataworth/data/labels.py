"""From labels as users write them to the numbers a model takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from ..errors import DataworthError
from .dataset import Dataset, label_keys
from .vectors import binary_size

LARGEST = 1e302
"""Numeric labels are measured between one over this and this."""
MOST_CLASSES = 20
"""More distinct whole numbers than this are numeric labels, not classes; more distinct texts are refused."""


@dataclass(frozen=True)
class Classes:
    """Two or more classes in a fixed order: the first is 0, the second is 1, and so on."""

    names: tuple[str, ...]

    def encode(self, y: NDArray[Any], what: str = "the data") -> Array:
        """Labels to 0.0, 1.0 and so on."""
        keys = label_keys(y)
        known = np.isin(keys, self.names)
        if not known.all():
            strange = " and ".join(repr(str(k)) for k in np.unique(keys[~known])[:3])
            lacks = f"does not occur in the test set, whose classes are {_listed(self.names)}"
            raise DataworthError(f"{what}: label {strange} {lacks}: rename or drop those rows.")
        order = np.argsort(self.names)
        return order[np.searchsorted(self.names, keys, sorter=order)].astype(float)

    def of(self, data: Dataset, what: str = "the data") -> Array:
        """The targets of a dataset."""
        return self.encode(data.y, what)

    def decode(self, targets: Array) -> NDArray[Any]:
        """Numbers back to labels."""
        return np.array(self.names)[np.asarray(targets, dtype=int)]


@dataclass(frozen=True)
class Numeric:
    """Numbers to regress on, centred and scaled as in the test set (a constant that cancels in every PMI)."""

    center: float = 0.0
    scale: float = 1.0

    def encode(self, y: NDArray[Any], what: str = "the data") -> Array:
        """Labels to standard units."""
        if y.dtype.kind not in "iuf":
            raise DataworthError(f"{what} has text labels, but the test set's are numbers: give numbers.")
        return (y.astype(float) - self.center) / self.scale

    def of(self, data: Dataset, what: str = "the data") -> Array:
        """The targets of a dataset."""
        return self.encode(data.y, what)

    def decode(self, targets: Array) -> NDArray[Any]:
        """Standard units back to labels."""
        return np.asarray(targets) * self.scale + self.center


@dataclass(frozen=True)
class Vectors:
    """A vector a row, as it is; what stands in `Dataset.y` is its name."""

    def of(self, data: Dataset, what: str = "the data") -> Array:
        """The targets of a dataset."""
        if data.outputs is None:
            raise DataworthError(
                f"{what}: labels are no vectors, but the test set's are: give y of shape rows × outputs, or "
                "texts of responses."
            )
        return data.outputs


Labels = Classes | Numeric | Vectors


def has_vectors(data: Dataset) -> bool:
    """Whether labels are vectors, or texts of which vectors are made."""
    return data.outputs is not None or any(column.kind == "response" for column in data.columns)


def is_numeric(y: NDArray[Any]) -> bool:
    """Whether labels are numeric (regression) rather than classes."""
    if y.dtype.kind not in "iuf":
        return False
    values = np.unique(y)
    return len(values) > 2 and bool(len(values) > MOST_CLASSES or (values != np.round(values)).any())


def learn_targets(test: Dataset) -> Labels:
    """What the test set's labels are: classes, numeric labels or vectors; a sentence otherwise."""
    if has_vectors(test):
        return Vectors()
    if is_numeric(test.y):
        y = test.y.astype(float)
        unit = float(binary_size(y))
        if not 1.0 / LARGEST < unit < LARGEST:
            outside = f"up to {np.abs(y).max():g}, outside {1 / LARGEST:g} … {LARGEST:g}"
            raise DataworthError(f"the test set has labels {outside}: give them in other units.")
        return Numeric(float(np.mean(y / unit)) * unit, float(np.std(y / unit)) * unit)
    names = _names([test.y], "the test set has")
    if len(names) == 1:
        only = f"every row of the test set has the label {names[0]!r}"
        raise DataworthError(f"{only}; valuing data needs two classes in it.")
    return Classes(names)


def common_classes(labels: Sequence[NDArray[Any]]) -> Classes:
    """The classes that occur in any of the label arrays, sorted; two at least."""
    names = _names(labels, "the labels have")
    if len(names) == 1:  # "1" alone stays class 1, so that a one-class part of 0/1 data keeps its meaning
        names = ("0", "1") if names[0] in ("0", "1") else (names[0], f"not {names[0]}")
    return Classes(names)


def targets_for(model: object, sets: Sequence[Dataset]) -> Labels:
    """Labels as a model takes them (its `takes`: two classes, classes, numbers or vectors), or a sentence.

    A model that does not say takes classes. A number is a vector of one.
    """
    takes, name = getattr(model, "takes", "classes"), type(model).__name__
    labels = [data.y for data in sets]
    if any(has_vectors(data) for data in sets):
        if takes != "vectors":
            raise DataworthError(f"labels are vectors; {name} takes {takes}: use dw.MultiLinear.")
        return Vectors()
    if takes in ("numbers", "vectors"):
        for words in (y for y in labels if y.dtype.kind not in "iuf" and len(y)):
            told = f"labels are text, such as {str(words[0])!r}; {name} takes numeric labels"
            raise DataworthError(f"{told}: give numbers, or use dw.Logistic or dw.Softmax.")
        return Numeric()
    together = np.concatenate(labels)
    if is_numeric(together):
        told = f"the labels are numeric ({len(np.unique(together))} distinct numbers); {name} takes {takes}"
        raise DataworthError(f"{told}: use dw.Linear, or make classes of them.")
    classes, most = common_classes(labels), getattr(model, "classes", None)
    count = len(classes.names)
    have = f"the labels have {count} classes ({_listed(classes.names, plain=True)})"
    if takes == "two classes" and count > 2:
        raise DataworthError(f"{have}; {name} takes two: use dw.Softmax, or join them into two.")
    if isinstance(most, int) and count > most:
        fit = f"give {count}, or None for as many as there are"
        raise DataworthError(f"{have}, but the model has classes={most}: {fit}.")
    return classes


def _names(labels: Sequence[NDArray[Any]], who: str) -> tuple[str, ...]:
    """Distinct labels as text, sorted; too many are a sentence."""
    names = tuple(str(k) for k in np.unique(np.concatenate([label_keys(y) for y in labels])))
    if len(names) > MOST_CLASSES:
        told = (
            f"{who} {len(names)} classes ({_listed(names, plain=True)}); at most {MOST_CLASSES} can be valued"
        )
        raise DataworthError(f"{told}: join or drop some, or if they are numeric labels, give numbers.")
    return names


def _listed(names: Sequence[str], *, plain: bool = False) -> str:
    """A few names for a sentence."""
    shown = [n if plain else repr(n) for n in names[:5]]
    if len(shown) == 2 and not plain:
        return " and ".join(shown)
    return ", ".join([*shown, "…"] if len(names) > 5 else shown)
