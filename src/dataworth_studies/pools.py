"""Pools of images with the labels 0 and 1, from which datasets of known mutual information are drawn.

As in the paper's appendix: MNIST 0 and 1 on 100 principal components, CIFAR airplane and automobile and
photographs of cats and dogs as embeddings of a network that saw ImageNet (EfficientNet-Lite0 in place of
ResNet; CIFAR at 64 pixels a side).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dataworth import DataworthError
from dataworth.arrays import Array

from .sets import find_file, read_arrays, read_photographs

AXES = 100


@dataclass(frozen=True)
class ImagePool:
    """Features and labels of one pool, and the prior variances the paper tried on it."""

    name: str
    X: Array
    y: Array
    priors: tuple[float, ...]


def digits_pool(folder: Path | None, axes: int | None) -> ImagePool:
    """Even or odd: scikit-learn's digits, which need no file."""
    from sklearn.datasets import load_digits

    X, digits = load_digits(return_X_y=True)
    return ImagePool(
        "digits",
        _reduced(X / 16.0, 20 if axes is None else axes),
        (digits % 2).astype(float),
        (1.0, 100.0, 1000.0),
    )


def mnist_pool(folder: Path | None, axes: int | None) -> ImagePool:
    """Zero or one."""
    file = read_arrays(folder, "mnist01.npz")
    X = file["x_train"].reshape(len(file["x_train"]), -1) / 255.0
    return ImagePool(
        "mnist",
        _reduced(X, AXES if axes is None else axes),
        file["y_train"].astype(float),
        (1.0, 100.0, 1000.0),
    )


def cifar_pool(folder: Path | None, axes: int | None) -> ImagePool:
    """Airplane or automobile."""
    from dataworth.embed import embed

    file = read_arrays(folder, "cifar_airplane_automobile.npz")
    X = np.asarray(embed(file["x_train"], "efficientnet-lite0", size=64), dtype=float)
    return ImagePool("cifar", _reduced(X, axes), file["y_train"].ravel().astype(float), (1e4, 2e4, 5e4))


def catsdogs_pool(folder: Path | None, axes: int | None) -> ImagePool:
    """Cat or dog."""
    from dataworth.embed import embed

    images, label = read_photographs(find_file(folder, "cats_dogs_128.zip"), "train")
    X = np.asarray(embed(images, "efficientnet-lite0"), dtype=float)
    return ImagePool("catsdogs", _reduced(X, axes), label.astype(float), (1e4, 2e4, 5e4))


POOLS: dict[str, Callable[[Path | None, int | None], ImagePool]] = {
    "digits": digits_pool,
    "mnist": mnist_pool,
    "cifar": cifar_pool,
    "catsdogs": catsdogs_pool,
}


def load_pool(name: str, folder: Path | None, axes: int | None = None) -> ImagePool:
    """A pool by name; all but digits are read from `folder`. `axes`: so many principal components."""
    if name not in POOLS:
        raise DataworthError(f"pool is {name!r}; known pools: {', '.join(POOLS)}.")
    return POOLS[name](folder, axes)


def _reduced(X: Array, axes: int | None) -> Array:
    if axes is None:
        return X
    from dataworth.embed import pca

    if not 0 < axes <= X.shape[1]:
        raise DataworthError(f"axes is {axes}; the images have {X.shape[1]} features: give 1 to that many.")
    return np.asarray(pca(X, axes), dtype=float)
