"""Estimators by name. To add one: a file with the class, and a line here (see docs/mi-study.md)."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec

from dataworth import DataworthError, Logistic
from dataworth.wording import needs_extra

from .base import Estimator
from .centred import CentredPMI
from .lmi import Lmi
from .mine import Mine
from .mine_theta import MineTheta
from .monte_carlo import MonteCarlo
from .paper_loop import PaperLoop
from .pmi import MeanPMI
from .proportions import Proportions

EP_PAIRS = 200
"""Pairs that EP takes: enough to see how far Laplace is off, at a tenth of the cost."""


def _logistic(prior_variance: float, inference: str = "laplace") -> Logistic:
    return Logistic(prior_variance, inference, intercept=False)  # as the paper has it


WITH_PRIOR: dict[str, Callable[[float], Estimator]] = {
    "evidence": lambda c: MeanPMI(_logistic(c)),
    "ep": lambda c: MeanPMI(_logistic(c, "ep"), most=EP_PAIRS, name="ep"),
    "eta": lambda c: MeanPMI(_logistic(c), "eta", name="eta"),
    "product": lambda c: MeanPMI(_logistic(c), "product", name="product"),
    "centred": lambda c: CentredPMI(_logistic(c)),
    "monte-carlo": lambda c: MonteCarlo(_logistic(c)),
    "paper": lambda c: PaperLoop(c),
    "mine-theta": lambda c: MineTheta(c),
}
WITHOUT_PRIOR: dict[str, Callable[[], Estimator]] = {"mine": Mine, "lmi": Lmi, "proportions": Proportions}
NAMES = (*WITH_PRIOR, *WITHOUT_PRIOR)
OF_TORCH = ("mine", "mine-theta", "lmi")
FORMER = {"shares": "proportions"}
"""Names that estimators had, which commands and kept results may still use."""


def known_name(name: str) -> str:
    """What an estimator is called today.

    >>> known_name("shares"), known_name("evidence")
    ('proportions', 'evidence')
    """
    return FORMER.get(name, name)


def make_estimator(name: str, prior_variance: float) -> Estimator:
    """An estimator by name; those without a prior pass it over. What it needs is missed here, not later."""
    if name in OF_TORCH and find_spec("torch") is None:
        raise DataworthError(needs_extra(name, "neural"))
    if name in WITH_PRIOR:
        return WITH_PRIOR[name](prior_variance)
    if name in WITHOUT_PRIOR:
        return WITHOUT_PRIOR[name]()
    raise DataworthError(f"there is no estimator {name!r}; known ones: {', '.join(NAMES)}.")
