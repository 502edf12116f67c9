"""Several datasets as one pool of rows, to which a model is bound; and what a change of the data does.

    U(D′, T) − U(D, T) = log p(T|D′) − log p(T|D),   log p(T|D) = log Z(D∪T) − log Z(D)

Z(T) cancels, and with it a constant factor by which all evidences are wrong.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Array, Rows
from ..data.convert import CODED
from ..data.dataset import Dataset
from ..data.labels import targets_for
from ..errors import DataworthError
from ..models import Fitter, Model, bind, require_model
from ..parallel.threads import one_thread


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
    targets = targets_for(model, [part.y for part in sets])
    y = np.concatenate([targets.encode(part.y) for part in sets if len(part)] or [np.zeros(0)])
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


@dataclass(frozen=True, kw_only=True)
class PMIChange:
    """U(after, T) − U(before, T) in nats, and the two log p(T|D) of which it is the difference."""

    value: float
    model: str
    log_predictive_before: float
    log_predictive_after: float

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return asdict(self)


@one_thread()
def pmi_change(before: Dataset, after: Dataset, T: Dataset, model: Model) -> PMIChange:
    """The change of PMI from `before` to `after`, with the model that is given, whatever model it is.

    Args:
        before: the data as they were.
        after: the data as they are now.
        T: the test set, the same for both.
        model: any model.

    Returns:
        The change in nats, and the two log p(T|D) that it is made of.

    Raises:
        DataworthError: a set is no Dataset of complete rows of numbers, or the labels do not suit the model.

    Examples:
        >>> import dataworth as dw
        >>> D, T = dw.Dataset([[-1.0], [1.0], [2.0]], [0, 1, 0]), dw.Dataset([[-2.0], [2.0]], [0, 1])
        >>> change = dw.pmi_change(D, D.take([0, 1]), T, dw.Logistic())
        >>> abs(change.value - (dw.pmi(D.take([0, 1]), T).value - dw.pmi(D, T).value)) < 1e-6
        True
    """
    parts = {"before": before, "after": after, "T": T}
    check_rows(parts)
    fitter, rows, all_weights = pool_of(model, parts)

    def log_predictive(name: str) -> float:
        fit = fitter(rows[name], weights=parts[name].weights)
        both = np.concatenate([rows[name], rows["T"]])
        weights = None if all_weights is None else all_weights[both]
        start = (fit,) if len(rows[name]) else ()
        return fitter(both, start, weights=weights).log_z - fit.log_z

    first, second = log_predictive("before"), log_predictive("after")
    return PMIChange(
        value=second - first,
        model=repr(model),
        log_predictive_before=first,
        log_predictive_after=second,
    )
