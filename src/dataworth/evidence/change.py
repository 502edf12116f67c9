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
from ..errors import DataworthError
from ..models import Model
from ..parallel.threads import one_thread
from .pool import check_rows, pool_of


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
        model: any model, also one that `pmi` refuses because it counts one of many symmetric modes.

    Returns:
        The change in nats, and the two log p(T|D) that it is made of.

    Raises:
        DataworthError: a set is no Dataset of complete rows of numbers, the labels do not suit the model, or
            a set has no rows and the model needs some.

    Examples:
        >>> import dataworth as dw
        >>> D, T = dw.Dataset([[-1.0], [1.0], [2.0]], [0, 1, 0]), dw.Dataset([[-2.0], [2.0]], [0, 1])
        >>> change = dw.pmi_change(D, D.take([0, 1]), T, dw.Logistic())
        >>> abs(change.value - (dw.pmi(D.take([0, 1]), T).value - dw.pmi(D, T).value)) < 1e-6
        True
    """
    parts = {"before": before, "after": after, "T": T}
    check_rows(parts)
    for name, part in parts.items():
        if getattr(model, "changes_only", False) and not len(part):
            raise DataworthError(
                f"{name} has no rows; symmetric modes cancel only between sets that have some: give rows."
            )
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
