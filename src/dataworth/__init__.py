"""dataworth: how much is this data worth, in information rather than in benchmark points?

Names are imported when they are first used, so that `import dataworth` costs next to nothing.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .audit import Audit, audit
    from .certify import Certificate, check_model
    from .data import Dataset
    from .errors import DataworthError
    from .io import read
    from .models import (
        Categorical,
        GaussianPrior,
        InverseGamma,
        LaplaceTorch,
        Linear,
        Logistic,
        Neural,
        OneVsRest,
        Softmax,
    )
    from .planner import pairs_needed
    from .pmi import PMI, pmi
    from .pmi_change import PMIChange, pmi_change
    from .rank import Ranking, rank
    from .referee import RefereedPMI, RefereeRefuses, referee
    from .score import Score, score
    from .sealed import Sealed, seal
    from .sensitivity import Sensitivity, sensitivity
    from .yardstick import Yardstick

__all__ = [
    "PMI",
    "Audit",
    "Categorical",
    "Certificate",
    "Dataset",
    "DataworthError",
    "GaussianPrior",
    "InverseGamma",
    "LaplaceTorch",
    "Linear",
    "Logistic",
    "Neural",
    "OneVsRest",
    "PMIChange",
    "Ranking",
    "RefereeRefuses",
    "RefereedPMI",
    "Score",
    "Sealed",
    "Sensitivity",
    "Softmax",
    "Yardstick",
    "__version__",
    "audit",
    "check_model",
    "pairs_needed",
    "pmi",
    "pmi_change",
    "rank",
    "read",
    "referee",
    "score",
    "seal",
    "sensitivity",
]

_HOMES = {
    "PMI": "pmi",
    "Audit": "audit",
    "Categorical": "models",
    "Certificate": "certify",
    "Dataset": "data",
    "DataworthError": "errors",
    "GaussianPrior": "models",
    "InverseGamma": "models",
    "LaplaceTorch": "models",
    "Linear": "models",
    "Logistic": "models",
    "Neural": "models",
    "OneVsRest": "models",
    "PMIChange": "pmi_change",
    "Ranking": "rank",
    "RefereeRefuses": "referee",
    "RefereedPMI": "referee",
    "Score": "score",
    "Sealed": "sealed",
    "Sensitivity": "sensitivity",
    "Softmax": "models",
    "Yardstick": "yardstick",
    "audit": "audit",
    "check_model": "certify",
    "pairs_needed": "planner",
    "pmi": "pmi",
    "pmi_change": "pmi_change",
    "rank": "rank",
    "read": "io",
    "referee": "referee",
    "score": "score",
    "seal": "sealed",
    "sensitivity": "sensitivity",
}


class _Package(ModuleType):
    """This package: `dataworth.score` is the function, also after something imported the module score.py.

    Python binds every submodule on its package; where a function has the module's name, it is bound instead.
    """

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _HOMES and isinstance(value, ModuleType):
            value = getattr(value, name)
        super().__setattr__(name, value)

    def __reduce__(self) -> tuple[Any, ...]:
        # a function that mentions this package must still travel to a worker process
        return import_module, (self.__name__,)


sys.modules[__name__].__class__ = _Package


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("dataworth")
    if name not in _HOMES:
        raise AttributeError(f"module 'dataworth' has no attribute {name!r}")
    value = getattr(import_module(f".{_HOMES[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
