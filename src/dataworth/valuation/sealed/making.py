"""How rows are sealed: their posterior on a yardstick, their counts, and a commitment under a key."""

from __future__ import annotations

import secrets
from importlib.metadata import version
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from ...data.dataset import Dataset, label_keys
from ...data.labels import Classes
from ...errors import DataworthError
from ...measure.prepare import check_datasets
from ...yardstick.yardstick import Yardstick
from .model import sealing_model
from .posterior import Sealed, commit


def seal(data: Dataset, yardstick: Yardstick, *, key: str | None = None) -> Sealed:
    """The posterior of a dataset on a yardstick, to be sent instead of its rows.

    `key` (none: a random one) hides the commitment to the rows from who would guess them.

    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> data = Dataset(X, (X[:, 0] > 0).astype(int))
    >>> yard = Yardstick.fit(data.take(range(30)))
    >>> sealed = seal(data.take(range(30, 60)), yard)
    >>> sealed.rows, sealed.counts, len(sealed.mean) == yard.recipe.projection.shape[1] + 1
    (30, {'0': 13, '1': 17}, True)
    """
    if not isinstance(yardstick, Yardstick):
        raise DataworthError(
            f"yardstick is a {type(yardstick).__name__}; give a Yardstick: dw.Yardstick.load(path) reads one."
        )
    return seal_with(data, yardstick, yardstick.digest, secrets.token_hex(16) if key is None else key)


def seal_with(data: Dataset, yardstick: Yardstick, digest: str, key: str) -> Sealed:
    """The same, for who has the digest already and chooses the key."""
    check_datasets({"the data": data})
    model = sealing_model(yardstick)
    X, y = yardstick.features(data), yardstick.targets(data)
    with threadpool_limits(1):  # the last bits depend on the number of threads
        posterior: Any = model.fit(X, y, data.weights)
        mean, precision = posterior.mean, posterior.precision
    return Sealed(
        np.asarray(mean, dtype=float),
        0.5 * (precision + precision.T),
        digest,
        len(data),
        float(len(data) if data.weights is None else data.weights.sum()),
        class_counts(yardstick, data),
        version("dataworth"),
        commit(data, key),
        key,
    )


def class_counts(yardstick: Yardstick, data: Dataset) -> dict[str, int] | None:
    """Rows of each of the yardstick's classes; numeric labels have none."""
    if not isinstance(yardstick.labels, Classes):
        return None
    keys = label_keys(data.y)
    return {name: int((keys == name).sum()) for name in yardstick.labels.names}
