"""Features of a study by a short text: `pixels`, `efficientnet-lite0:8`, `…@96` (resized), `… pca 40`."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from dataworth import DataworthError
from dataworth.arrays import Array

from .sets import ImageSet

SPEC = re.compile(r"^(?P<model>[^@ ]+)(@(?P<size>\d+))?( pca (?P<axes>\d+))?$")


def features(pictures: ImageSet, spec: str) -> tuple[Array, Array]:
    """Train and test images as vectors; principal axes come from the train images, which have no labels here.

    >>> from .sets import load_set
    >>> train, test = features(load_set("digits", None, 0), "pixels pca 5")
    >>> train.shape, test.shape
    ((898, 5), (899, 5))
    """
    found = SPEC.match(spec)
    if found is None:
        raise DataworthError(
            f"features are {spec!r}; give MODEL, MODEL@SIDE or MODEL pca AXES, such as 'pixels pca 40'."
        )
    size = None if found["size"] is None else int(found["size"])
    train, test = (_vectors(part.images, found["model"], size) for part in (pictures.train, pictures.test))
    if found["axes"] is None:
        return train, test
    from dataworth.embed import pca

    axes = int(found["axes"])
    return pca(train, axes), pca(test, axes, fit_on=train)


def _vectors(images: NDArray[np.uint8], model: str, size: int | None) -> Array:
    from dataworth.embed import embed

    return np.asarray(embed(images, model, size=size), dtype=float)
