"""Pointwise mutual information of one pair of datasets.

    U(D, T) = log Z(D∪T) − log Z(D) − log Z(T),   Z(S) = ∫ p(S|θ) p(θ) dθ

Features are taken exactly as given and the prior is a number: for data from files, see `yardstick`.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from .data import Dataset
from .errors import DataworthError
from .models import Fit, Fitter, Linear, Logistic, Model
from .models.base import Array, Rows, bind
from .targets import Amounts, common_classes

FORMS = ("evidence",)
NATS_PER_BIT = float(np.log(2.0))


@dataclass(frozen=True)
class PMI:
    """The value in nats, and the three log evidences it is made of."""

    value: float
    form: str
    model: str
    log_z_joint: float
    log_z_data: float
    log_z_test: float

    @property
    def bits(self) -> float:
        """The value in bits."""
        return self.value / NATS_PER_BIT

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return asdict(self) | {"bits": self.bits}


def pmi(D: Dataset, T: Dataset, model: Model | None = None, form: str = "evidence") -> PMI:
    """PMI of D and T in nats.

    >>> D = Dataset([[-1.0], [1.0]], [0, 1])
    >>> T = Dataset([[-2.0], [2.0]], [0, 1])
    >>> bool(pmi(D, T).value > 0 > pmi(D, T.with_labels([1, 0])).value)
    True
    """
    model = Logistic() if model is None else model
    check_form(form)
    for name, part in (("D", D), ("T", T)):
        if not isinstance(part, Dataset):
            raise DataworthError(
                f"{name} is a {type(part).__name__}; pmi takes two Datasets: dw.Dataset(X, y)."
            )
        categorical = [c.name for c in part.columns if c.kind == "categorical"]
        if categorical:
            raise DataworthError(
                f"{name} has text columns ({', '.join(categorical[:3])}); pmi takes numbers: "
                "encode them, or use score, whose yardstick does."
            )
        if np.isnan(part.X).any():
            raise DataworthError(
                f"{name} has missing feature values; pmi takes complete rows: fill or drop them."
            )
    pool = Dataset.concat([D, T])
    targets = Amounts() if isinstance(model, Linear) else common_classes([D.y, T.y])
    fitter = bind(model, pool.X, targets.encode(pool.y))
    data, test = np.arange(len(D)), np.arange(len(D), len(pool))
    data_fit, test_fit = fitter(data, weights=D.weights), fitter(test, weights=T.weights)
    joint = fit_joint(fitter, data, test, data_fit, test_fit, weights=pool.weights)
    return PMI(
        joint.log_z - data_fit.log_z - test_fit.log_z,
        form,
        repr(model),
        joint.log_z,
        data_fit.log_z,
        test_fit.log_z,
    )


def check_form(form: str) -> str:
    """`form`, or a sentence."""
    if form not in FORMS:
        raise DataworthError(f"form is {form!r}; known forms: {', '.join(FORMS)}.")
    return form


def fit_joint(
    fitter: Fitter,
    data: Rows,
    test: Rows,
    data_fit: Fit,
    test_fit: Fit,
    *,
    weights: Array | None = None,
    targets: Array | None = None,
) -> Fit:
    """The fit of D∪T, started from its parts; an empty part leaves the other unchanged."""
    if len(data) == 0:
        return test_fit
    if len(test) == 0:
        return data_fit
    return fitter(np.concatenate([data, test]), (data_fit, test_fit), weights=weights, targets=targets)
