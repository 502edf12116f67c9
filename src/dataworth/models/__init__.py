"""Bayesian models, one a file; a reader who knows one can read them all."""

from .base import Fit, Fitter, Model, Posterior, SliceFitter
from .categorical import Categorical
from .gaussian import GaussianPrior
from .linear import Linear
from .logistic import Logistic
from .noise import InverseGamma
from .one_vs_rest import OneVsRest
from .softmax import Softmax

__all__ = [
    "Categorical",
    "Fit",
    "Fitter",
    "GaussianPrior",
    "InverseGamma",
    "Linear",
    "Logistic",
    "Model",
    "OneVsRest",
    "Posterior",
    "SliceFitter",
    "Softmax",
]
