"""The sets of the zoo: rows, clean and with a tenth of wrong labels; further rows; a test set; groups.

In the test set attribute and label go together in three rows of four; in the data they do not. Tabular sets
have an attribute that their features do not show at all.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dataworth import Dataset
from dataworth.arrays import Array, Rows

from .features import features
from .sets import Part, load_set

NOISE = 0.1
IMAGES = {
    "colored-mnist": "pixels",
    "corrupted-cifar": "efficientnet-lite0@64",
    "stylized-catsdogs": "efficientnet-lite0",
}
TABLES = ("breast cancer", "digits", "diabetes")
SIZES = {"breast cancer": (200, 100), "digits": (240, 240), "diabetes": (180, 80)}
IMAGE_GROUP, IMAGE_TEST = 60, (100, 300, 300, 100)
"""Rows of each group of the data (and as many further rows), and of each group of the test set."""


@dataclass(frozen=True)
class Exhibit:
    """A set to try curations on: clean rows, and the same with wrong labels where `bad` marks them."""

    name: str
    clean: Dataset
    noisy: Dataset
    bad: NDArray[np.bool_]
    more: Dataset
    test: Dataset


def load_exhibit(name: str, folder: Path | None, seed: int) -> Exhibit:
    """A set of the zoo by name."""
    rng = np.random.default_rng([seed, 0x200])
    data, more, test = _images(name, folder, rng, seed) if name in IMAGES else _table(name, rng)
    bad = np.isin(np.arange(len(data)), rng.permutation(len(data))[: round(NOISE * len(data))])
    noisy = data.with_labels(np.where(bad, 1 - data.y, data.y))
    return Exhibit(name, data, noisy, bad, more, test)


def _images(
    name: str, folder: Path | None, rng: np.random.Generator, seed: int
) -> tuple[Dataset, Dataset, Dataset]:
    pictures = load_set(name, folder, 0)  # the same attributes whatever the seed: embeddings are kept
    train, test = features(pictures, IMAGES[name])
    data, more, held = [], [], []
    for g in range(4):
        own = rng.permutation(np.flatnonzero(pictures.train.group == g))
        data.append(own[:IMAGE_GROUP])
        more.append(own[IMAGE_GROUP : 2 * IMAGE_GROUP])
        available = rng.permutation(np.flatnonzero(pictures.test.group == g))
        held.append(available[: IMAGE_TEST[g]])
    values = np.array(pictures.values)

    def rows(X: Array, part: Part, chosen: list[Rows]) -> Dataset:
        places = np.concatenate(chosen)
        label, attribute = part.label[places], part.attribute[places]
        return Dataset(X[places], label, attributes=values[attribute])

    return (
        rows(train, pictures.train, data),
        rows(train, pictures.train, more),
        rows(test, pictures.test, held),
    )


def _table(name: str, rng: np.random.Generator) -> tuple[Dataset, Dataset, Dataset]:
    from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits

    load = {"breast cancer": load_breast_cancer, "digits": load_digits, "diabetes": load_diabetes}[name]
    X, y = load(return_X_y=True)
    label = {"breast cancer": y, "digits": y % 2, "diabetes": y > np.median(y)}[name].astype(int)
    order = rng.permutation(len(X))
    X, label = X[order], label[order]
    n, extra = SIZES[name]
    rows = np.arange(len(X))
    together = rng.random(len(X)) < np.where(rows < n + extra, 0.5, 0.75)
    attributes = np.where(together, label, 1 - label).astype(str)
    whole = Dataset(X, label, attributes=attributes)
    return whole.take(rows[:n]), whole.take(rows[n : n + extra]), whole.take(rows[n + extra :])
