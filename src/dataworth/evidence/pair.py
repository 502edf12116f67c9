"""Pointwise mutual information of one pair of datasets.

    U(D, T) = log Z(D∪T) − log Z(D) − log Z(T),   Z(S) = ∫ p(S|θ) p(θ) dθ

Features are taken exactly as given and the prior is a number: for data from files, see `yardstick`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from functools import cache, cached_property, partial
from typing import Any

import numpy as np

from ..arrays import Array, Rows
from ..data.dataset import Dataset
from ..data.labels import common_classes, has_vectors, is_numeric
from ..errors import DataworthError
from ..models import Fit, Fitter, Linear, Logistic, Model, MultiLinear, Softmax
from ..parallel.threads import one_thread
from .forms import Form, Pair
from .interpretation import Parts, parts_of
from .pool import check_rows, pool_of

NEED_JOINT = ("evidence", "eta", "kl")
NATS_PER_BIT = float(np.log(2.0))


@dataclass(frozen=True, kw_only=True)
class PMI:
    """The value in nats, and the log evidences of its parts (of D∪T where the form asks for it).

    `stderr` is above zero where the form draws samples. With several η, `value` is the mean over `at_eta` and
    `spread` their range, which is zero for exact posteriors. Vectors are named by six digits of each entry;
    η of equal names are numbered.

    It holds its two datasets and the model for `parts`.
    """

    value: float
    form: str
    model: str
    log_z_joint: float | None
    log_z_data: float
    log_z_test: float
    stderr: float = 0.0
    at_eta: dict[str, float] | None = None
    pair: tuple[Dataset, Dataset, Model] | None = field(default=None, repr=False, compare=False)

    @cached_property
    def parts(self) -> Parts:
        """What the value is made of (`evidence.interpretation`); computed when first asked for."""
        if self.pair is None:
            raise DataworthError(
                "this PMI was made without its datasets: ask the one that dw.pmi returned for its parts."
            )
        with one_thread():
            return parts_of(bind_pair(*self.pair), self.value)

    @property
    def spread(self) -> float:
        """Largest less smallest value over the η given."""
        values = [self.value] if self.at_eta is None else list(self.at_eta.values())
        return max(values) - min(values)

    @property
    def bits(self) -> float:
        """The value in bits."""
        return self.value / NATS_PER_BIT

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        told = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "pair"}
        return told | {"bits": self.bits, "spread": self.spread}


@one_thread()
def pmi(D: Dataset, T: Dataset, model: Model | None = None, form: str = "evidence", eta: Any = 0) -> PMI:
    """PMI of D and T in nats: how much the one tells of the other, under one model.

    Features are taken exactly as given, and the prior is a number. Numeric labels are taken as they are too,
    and Linear's default noise has variance 1: standardise them, or use `score`, which does.

    Args:
        D: the data.
        T: the test set.
        model: by default the one that the labels suit (`suited_model`), under its default prior.
        form: evidence, eta, product, kl, sealed or integral; see `dataworth.evidence.forms`.
        eta: for the form of that name: 0, "joint", "data" or "test" (that posterior's mean, for Laplace's
            method its mode), a vector of coefficients with the intercept's last, or a list of these.

    Returns:
        The value, the log evidences that it is made of and, computed when asked for, its `parts`.

    Raises:
        DataworthError: D or T is no Dataset of complete rows of numbers, the labels do not suit the model,
            the form or eta is unknown, or the model's evidence means something in changes only.

    Examples:
        >>> import dataworth as dw
        >>> D = dw.Dataset([[-1.0], [1.0]], [0, 1])
        >>> T = dw.Dataset([[-2.0], [2.0]], [0, 1])
        >>> bool(dw.pmi(D, T).value > 0 > dw.pmi(D, T.with_labels([1, 0])).value)
        True
        >>> dw.pmi(D, T, form="eta", eta=[0, "joint", "data"]).spread > 0.1  # Laplace's are not exact
        True
        >>> parts = dw.pmi(D, T).parts
        >>> parts.confidence > parts.against_data > parts.against_test  # T, farther out, says more than D
        True
    """
    several = isinstance(eta, (list, tuple)) and any(isinstance(e, str) or np.ndim(e) for e in eta)
    forms = [Form.parse(form, one) for one in (eta if several else [np.asarray(eta)[()]])]
    model = suited_model(D, T) if model is None else model
    pair = bind_pair(D, T, model)
    found = [one.of(pair) for one in forms]
    at_eta = dict(zip(_names([one.eta for one in forms]), (one.value for one in found), strict=True))
    return PMI(
        value=float(np.mean([one.value for one in found])),
        form=form,
        model=repr(model),
        log_z_joint=pair.joint().log_z if form in NEED_JOINT else None,
        log_z_data=pair.data.log_z,
        log_z_test=pair.test.log_z,
        stderr=max(one.stderr for one in found),
        at_eta=at_eta if form == "eta" else None,
        pair=(D, T, model),
    )


def _names(etas: list[Any]) -> list[str]:
    """A name for each η; equal ones are numbered from the second on, or their values would be lost.

    >>> _names([0, "joint", 0, np.array([1.0]), np.array([1.0 + 1e-9]), 0])
    ['0', 'joint', '0 (2)', '[1.0]', '[1.0] (2)', '0 (3)']
    """
    names = [_name(eta) for eta in etas]
    times = [names[: i + 1].count(name) for i, name in enumerate(names)]
    return [name if n == 1 else f"{name} ({n})" for name, n in zip(names, times, strict=True)]


def _name(eta: Any) -> str:
    return str(eta) if np.ndim(eta) == 0 else str([float(f"{v:.6g}") for v in np.asarray(eta).ravel()])


def bind_pair(D: Dataset, T: Dataset, model: Model | None) -> Pair:
    """Both datasets fitted as one pool; the joint is fitted when it is asked for, once."""
    model = suited_model(D, T) if model is None else model
    fitter, rows, weights = pool_of(model, {"D": D, "T": T})
    data, test = rows["D"], rows["T"]
    fits = fitter(data, weights=D.weights), fitter(test, weights=T.weights)
    joint = cache(partial(fit_joint, fitter, data, test, *fits, weights=weights))
    return Pair(fitter, *fits, joint, test, T.weights)


def suited_model(D: Dataset, T: Dataset) -> Model:
    """The model that labels suit: Logistic for two classes, Softmax for more, Linear for numeric labels,
    MultiLinear for vectors."""
    check_rows({"D": D, "T": T})
    if has_vectors(D) or has_vectors(T):
        return MultiLinear()
    if is_numeric(np.concatenate([D.y, T.y])):
        return Linear()
    return Logistic() if len(common_classes([D.y, T.y]).names) == 2 else Softmax()


def fit_joint(
    fitter: Fitter,
    data: Rows,
    test: Rows,
    data_fit: Fit,
    test_fit: Fit,
    *,
    near: tuple[Fit, ...] = (),
    weights: Array | None = None,
    targets: Array | None = None,
) -> Fit:
    """The fit of D∪T, started from its parts and from fits known to be near."""
    if len(data) == 0:  # an empty part leaves the other as it is
        return test_fit
    if len(test) == 0:
        return data_fit
    return fitter(np.concatenate([data, test]), (data_fit, test_fit, *near), weights=weights, targets=targets)
