"""Several datasets as one pool of rows, to which a model is bound."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..arrays import Array, Rows
from ..data.convert import CODED
from ..data.dataset import Dataset
from ..data.labels import targets_for
from ..errors import DataworthError
from ..models import Fitter, Model, bind, require_model


class Pool(NamedTuple):
    """A fitter on all rows, the rows of each dataset by its name, and the weights of all if any has some."""

    fitter: Fitter
    rows: dict[str, Rows]
    weights: Array | None


def pool_of(model: Model, parts: dict[str, Dataset]) -> Pool:
    """Bind a model to the rows of all datasets, in order; columns are matched by name."""
    require_model(model)
    check_rows(parts)
    sets = list(parts.values())
    if all(part.names == sets[0].names for part in sets):
        X = np.concatenate([part.X for part in sets])  # all numbers and in order: nothing to match
    else:
        X = Dataset.concat(sets).X
    targets = targets_for(model, sets)
    y = np.concatenate([targets.of(part) for part in sets if len(part)] or [np.zeros(0)])
    weights = None
    if any(part.weights is not None for part in sets):
        weights = np.concatenate([np.ones(len(p)) if p.weights is None else p.weights for p in sets])
    ends = np.cumsum([len(part) for part in sets])
    rows = dict(zip(parts, np.split(np.arange(len(X)), ends[:-1]), strict=True))
    return Pool(bind(model, X, y), rows, weights)


def check_rows(parts: dict[str, Dataset]) -> None:
    """Complete rows of numbers, or a sentence."""
    for name, part in parts.items():
        if not isinstance(part, Dataset):
            raise DataworthError(
                f"{name} is a {type(part).__name__}; pmi takes two Datasets: dw.Dataset(X, y)."
            )
        categorical = [c.name for c in part.columns if c.kind in CODED]
        if categorical:
            raise DataworthError(
                f"{name} has text columns ({', '.join(categorical[:3])}); pmi takes numbers: "
                "encode them, or use score, whose yardstick does."
            )
        if np.isnan(part.X).any():
            raise DataworthError(
                f"{name} has missing feature values; pmi takes complete rows: fill or drop them."
            )
