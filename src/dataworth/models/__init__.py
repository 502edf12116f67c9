"""Bayesian models, one a file; a reader who knows one can read them all."""

from .base import Fit, Fitter, Model, Posterior, SliceFitter
from .categorical import Categorical
from .gaussian import GaussianPrior
from .laplace_torch import LaplaceTorch
from .linear import InverseGamma, Linear
from .logistic import Logistic
from .neural import Neural
from .one_vs_rest import OneVsRest
from .softmax import Softmax

__all__ = [
    "Categorical",
    "Fit",
    "Fitter",
    "GaussianPrior",
    "InverseGamma",
    "LaplaceTorch",
    "Linear",
    "Logistic",
    "Model",
    "Neural",
    "OneVsRest",
    "Posterior",
    "SliceFitter",
    "Softmax",
]
