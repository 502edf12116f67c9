"""Bayesian models, one a file; a reader who knows one can read them all."""

from .base import Fit, Fitter, Model, Posterior, SliceFitter
from .gaussian import GaussianPrior
from .linear import Linear
from .logistic import Logistic

__all__ = ["Fit", "Fitter", "GaussianPrior", "Linear", "Logistic", "Model", "Posterior", "SliceFitter"]
