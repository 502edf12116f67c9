"""The fitter of somebody's Gaussian, on which the numerics may fail."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...models import Fit, Fitter
from .limits import impossible


@dataclass(frozen=True)
class Guarded:
    """A fitter that refuses its data, by name, where it cannot compute with them."""

    fitter: Fitter
    name: str

    def __call__(self, *args: Any, **settings: Any) -> Fit:
        """Fit, or refuse."""
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)
            try:
                fit = self.fitter(*args, **settings)
            except (RuntimeWarning, ArithmeticError, np.linalg.LinAlgError):
                raise impossible(self.name, "its score cannot be computed") from None
        if not np.isfinite(fit.log_z):
            raise impossible(self.name, "its score is not a number")
        return fit

    def __getattr__(self, name: str) -> Any:
        """Everything else as the fitter does it."""
        if name.startswith("__") or name == "fitter":  # what pickle asks before there is one
            raise AttributeError(name)
        return getattr(self.fitter, name)
