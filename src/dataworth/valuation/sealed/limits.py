"""What no dataset's posterior can be, and is refused; and what is possible but told to the buyer."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ...arrays import Array
from ...data.labels import Classes
from ...errors import DataworthError
from ...inference.gaussian import divergence_from_prior
from ...models import Linear, Logistic
from ...parallel.threads import one_thread
from ...wording import counted, option
from ...yardstick.yardstick import Yardstick
from .posterior import Sealed, sealing_model

SLACK = 1e-11
"""Share of the largest eigenvalue by which rounding may move the others."""
LARGEST = 1e13
"""Precision in units of the prior's, and squared mean in units of its variance, that can be computed with."""
UNLIKELY = 1e-3
"""Probability under the yardstick's model from which a claim is doubted."""


def check_sealed(sealed: Sealed, yardstick: Yardstick, name: str, digest: str | None = None) -> Array:
    """Refuse what no dataset's posterior can be; return the eigenvalues of C·P, ascending.

    `digest` is the yardstick's, if it is known already: of a large one it takes a while.
    """
    model = sealing_model(yardstick)
    digest = yardstick.digest if digest is None else digest
    if sealed.yardstick != digest:
        raise DataworthError(
            f"{name} was sealed on the yardstick {sealed.yardstick[:12]}, this is {digest[:12]}: "
            f"give the one that was sent to its vendor, with {option('yardstick')}."
        )
    d = yardstick.recipe.width + int(model.intercept)
    if sealed.mean.shape != (d,) or sealed.precision.shape != (d, d):
        raise DataworthError(
            f"{name} has {len(sealed.mean)} coefficients, but its yardstick has {d}: ask for a file made by "
            "'dataworth seal'."
        )
    names = yardstick.labels.names if isinstance(yardstick.labels, Classes) else None
    if (sealed.counts is None) != (names is None) or set(sealed.counts or ()) != set(names or ()):
        raise impossible(name, "its classes are not those of its yardstick")
    C = model.prior_variance
    with np.errstate(all="ignore"):
        square = float(sealed.mean @ sealed.mean) / C
        size = C * float(np.abs(sealed.precision).max())
    if not (square <= LARGEST and size <= LARGEST):
        raise impossible(name, "its numbers are larger than can be computed with")
    with one_thread():
        spectrum = np.asarray(np.linalg.eigvalsh(C * sealed.precision), dtype=float)
    slack = SLACK * max(1.0, float(spectrum[-1]))
    if spectrum[0] < 1.0 - slack or spectrum[0] <= 0.0:
        raise impossible(name, "it knows less than the prior, and data can only add")
    if sealed.rows < d and spectrum[d - sealed.rows - 1] > 1.0 + slack:
        raise impossible(name, f"its precision has more directions than its {counted(sealed.rows, 'row')}")
    if model.intercept:
        _check_intercept(sealed, model, slack, name)
    most = np.sqrt(2.0 * sealed.weight * np.log(2.0)) + np.sqrt(min(sealed.rows, d))
    if isinstance(model, Logistic) and square > most**2:
        raise impossible(name, f"its mean is farther from 0 than {counted(sealed.rows, 'row')} can move it")
    return spectrum


def _check_intercept(sealed: Sealed, model: Logistic | Linear, slack: float, name: str) -> None:
    """The intercept's feature is known to be 1, so that its precision follows from the rows' weight."""
    added = model.prior_variance * float(sealed.precision[-1, -1]) - 1.0
    heaviest = model.prior_variance * sealed.weight * most_precision(model)
    rounding = slack + 1e-6 * heaviest
    if added > heaviest + rounding or (isinstance(model, Linear) and added < heaviest - rounding):
        raise impossible(name, f"its intercept is not as precise as {counted(sealed.rows, 'row')} make it")


def impossible(name: str, why: str) -> DataworthError:
    """The sentence that refuses such a file."""
    return DataworthError(
        f"{name} cannot be the posterior of a dataset ({why}): ask for a file made by 'dataworth seal'."
    )


def doubts(sealed: Sealed, yardstick: Yardstick, spectrum: Array, test: Array, name: str) -> list[str]:
    """What is possible but not to be expected, as notes.

    n labels of two classes hold n log 2 nats: under the yardstick's own model a posterior gains more than
    that plus log 1/δ with probability δ at most. Rows like the test set's add at most ¼ max‖x‖² each.
    """
    model = sealing_model(yardstick)
    notes = []
    labels = sealed.weight * np.log(2.0)
    gain = divergence_from_prior(spectrum, sealed.mean, model.prior_variance)
    if isinstance(model, Logistic) and gain > labels - np.log(UNLIKELY):
        notes.append(
            f"{name} claims {gain:.0f} nats of information, its {counted(sealed.rows, 'label')} hold "
            f"{labels:.0f}: doubt it"
        )
    largest = float((test * test).sum(axis=1).max()) + float(model.intercept)
    added = float(spectrum.sum() - len(spectrum)) / model.prior_variance
    if added > most_precision(model) * largest * sealed.weight * (1.0 + 1e-6) + SLACK * float(spectrum[-1]):
        notes.append(
            f"{name} claims more precision than {counted(sealed.rows, 'row')} like the test set's give: "
            "its rows lie far out, or it is forged"
        )
    return notes


def most_precision(model: Logistic | Linear) -> float:
    """What a row adds to the precision along itself: classes at most a quarter, numeric labels 1/s²."""
    if isinstance(model, Logistic):
        return 0.25
    noise: Any = model.noise_variance
    return 1.0 / float(noise)


@contextmanager
def refusing(name: str) -> Iterator[None]:
    """Within, what cannot be computed with is refused by its name."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        try:
            yield
        except (RuntimeWarning, ArithmeticError, np.linalg.LinAlgError):
            raise impossible(name, "its score cannot be computed") from None
