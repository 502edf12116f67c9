"""What a change of the data does to the PMI with the same test set.

    U(D′, T) − U(D, T) = log p(T|D′) − log p(T|D),   log p(T|D) = log Z(D∪T) − log Z(D)

Z(T) cancels, and with it a constant factor by which all evidences are wrong. Models of whole networks count
one of many symmetric modes: for them this is the number to report, and `pmi` refuses (`changes_only`).
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ..data.dataset import Dataset
from ..data.labels import targets_for
from ..errors import DataworthError
from ..models import Model
from ..models.base import bind, require_model
from .pair import check_rows


@dataclass(frozen=True)
class PMIChange:
    """U(after, T) − U(before, T) in nats, and the two log p(T|D) of which it is the difference."""

    value: float
    model: str
    log_predictive_before: float
    log_predictive_after: float

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return asdict(self)


def pmi_change(before: Dataset, after: Dataset, T: Dataset, model: Model) -> PMIChange:
    """The change of PMI from `before` to `after`, with the model that is given, whatever model it is.

    >>> from dataworth.models import Logistic
    >>> from dataworth.pmi import pmi
    >>> D, T = Dataset([[-1.0], [1.0], [2.0]], [0, 1, 0]), Dataset([[-2.0], [2.0]], [0, 1])
    >>> change = pmi_change(D, D.take([0, 1]), T, Logistic())
    >>> abs(change.value - (pmi(D.take([0, 1]), T).value - pmi(D, T).value)) < 1e-6
    True
    """
    require_model(model)
    parts = {"before": before, "after": after, "T": T}
    check_rows(parts)
    for name, part in parts.items():
        if getattr(model, "changes_only", False) and not len(part):
            raise DataworthError(
                f"{name} has no rows; symmetric modes cancel only between sets that have some: give rows."
            )
    pool = Dataset.concat(list(parts.values()))
    fitter = bind(model, pool.X, targets_for(model, [part.y for part in parts.values()]).encode(pool.y))
    ends = np.cumsum([len(part) for part in parts.values()])
    rows = dict(zip(parts, np.split(np.arange(len(pool)), ends[:-1]), strict=True))

    def log_predictive(name: str) -> float:
        fit = fitter(rows[name], weights=parts[name].weights)
        both = np.concatenate([rows[name], rows["T"]])
        weights = None if pool.weights is None else pool.weights[both]
        start = (fit,) if len(rows[name]) else ()
        return fitter(both, start, weights=weights).log_z - fit.log_z

    first, second = log_predictive("before"), log_predictive("after")
    return PMIChange(second - first, repr(model), first, second)
