"""Mean PMI over the pairs: the paper's estimator, in any form of the score."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from dataworth import Logistic
from dataworth.arrays import Array
from dataworth.evidence.forms import Form, Pair
from dataworth.evidence.pair import fit_joint

from ..known_mi import KnownPairs
from .base import Guess, mean_guess


@dataclass(frozen=True)
class MeanPMI:
    """U(Dᵢ, Tᵢ) averaged; `most` takes so many pairs only, for inferences that are slow."""

    model: Logistic
    form: str = "evidence"
    most: int | None = None
    name: str = "evidence"

    def __call__(self, pairs: KnownPairs, seed: int) -> Guess:
        """Mean and standard error over independent pairs."""
        return mean_guess(self.values(pairs if self.most is None else pairs.take(self.most)))

    def values(self, pairs: KnownPairs) -> Array:
        """PMI of each pair."""
        fitter, form = self.model.bind(pairs.X, pairs.y), Form(self.form)
        found = np.empty(len(pairs))
        for i, (data, test) in enumerate(zip(pairs.data, pairs.test, strict=True)):
            data_fit, test_fit = fitter(data), fitter(test)
            joint = partial(fit_joint, fitter, data, test, data_fit, test_fit)
            found[i] = form.of(Pair(fitter, data_fit, test_fit, joint, test, None)).value
        return found
