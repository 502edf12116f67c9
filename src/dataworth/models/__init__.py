"""Bayesian models, one a file; a reader who knows one can read them all."""

from .base import Fit, Fitter, Model, Posterior, SliceFitter, bind, positive_number, require_model
from .categorical import Categorical
from .gaussian import GaussianPrior, GaussianRows, RowGaussian, with_intercept
from .linear import InverseGamma, Linear
from .logistic import INFERENCES, Logistic, LogisticFitter
from .multi_linear import MultiLinear
from .neural import Neural
from .softmax import Softmax

__all__ = [
    "INFERENCES",
    "Categorical",
    "Fit",
    "Fitter",
    "GaussianPrior",
    "GaussianRows",
    "InverseGamma",
    "Linear",
    "Logistic",
    "LogisticFitter",
    "Model",
    "MultiLinear",
    "Neural",
    "Posterior",
    "RowGaussian",
    "SliceFitter",
    "Softmax",
    "bind",
    "positive_number",
    "require_model",
    "with_intercept",
]
