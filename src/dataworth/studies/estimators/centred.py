"""Centred PMI: true pairs less shifted pairings.

    C = mean_i U(Dᵢ, Tᵢ) − mean_{i,s} U(Dᵢ, Tᵢ₊ₛ),   s = 1 … S

log Z(D) and log Z(T) cancel, so only joint fits are needed. What a dataset has in common with *every* other
one cancels too, and with it most of the variance. For an exact model C estimates I + KL(p_D p_T ‖ p_DT), not
I: it is zero exactly if D and T are independent, and it ranks; it does not say how much.

Its error: with Uᵢⱼ = m + αᵢ + βⱼ + εᵢⱼ only ε is left, so that Var C = Var(ε_ii)/k + Var(ε_ij)/(kS), both
from residuals after rows' and columns' means are taken out.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np

from ...errors import DataworthError
from ...models import Logistic
from ...pmi import fit_joint
from ..known_mi import Array, KnownPairs
from .base import Guess


@dataclass(frozen=True)
class CentredPMI:
    """Evidence of true pairs less that of shifted ones."""

    model: Logistic
    shifts: int = 8
    name: str = "centred"

    def __call__(self, pairs: KnownPairs, seed: int) -> Guess:
        """C with its standard error."""
        if len(pairs) <= self.shifts:
            raise DataworthError(
                f"{len(pairs)} pairs cannot be shifted {self.shifts} times: give more pairs."
            )
        joint, data, test = self.log_evidences(pairs)
        table = joint - data[:, None] - np.array([np.roll(test, -s) for s in range(self.shifts + 1)]).T
        return summarise(table)

    def log_evidences(self, pairs: KnownPairs) -> tuple[Array, Array, Array]:
        """Log Z of Dᵢ∪Tᵢ₊ₛ (k × S+1), of Dᵢ and of Tᵢ; a window of test fits goes along with i."""
        fitter, k = self.model.bind(pairs.X, pairs.y), len(pairs)
        joint, data, test = np.empty((k, self.shifts + 1)), np.empty(k), np.empty(k)
        window = deque(fitter(pairs.test[j]) for j in range(self.shifts))
        for i in range(k):
            window.append(fitter(pairs.test[(i + self.shifts) % k]))
            fit = fitter(pairs.data[i])
            data[i], test[i] = fit.log_z, window[0].log_z
            for s, other in enumerate(window):
                rows = pairs.test[(i + s) % k]
                joint[i, s] = fit_joint(fitter, pairs.data[i], rows, fit, other).log_z
            window.popleft()
        return joint, data, test


def summarise(table: Array) -> Guess:
    """From U(Dᵢ, Tᵢ₊ₛ), s = 0 … S, to C, its error, and the variance of the plain mean beside it.

    >>> rng = np.random.default_rng(0)
    >>> alpha, beta = 5 * rng.normal(size=500), 5 * rng.normal(size=500)
    >>> U = np.array([[alpha[i] + beta[(i + s) % 500] + rng.normal() for s in range(9)] for i in range(500)])
    >>> guess = summarise(U)
    >>> bool(abs(guess.value) < 3 * guess.stderr), bool(guess.details["variance_ratio"] > 10)
    (True, True)
    """
    k, width = table.shape
    shifted = table[:, 1:]
    rows = shifted.mean(axis=1)
    # Tⱼ stands in column s of row j − s
    columns = np.mean([np.roll(shifted[:, s - 1], s) for s in range(1, width)], axis=0)
    grand = float(shifted.mean())
    true = table[:, 0] - rows - columns + grand
    apart = shifted - rows[:, None] - np.array([np.roll(columns, -s) for s in range(1, width)]).T + grand
    # each mean takes one of S residuals' worth of freedom with it
    spare = (width - 1) / max(width - 3, 1)
    noise = float(apart.var(ddof=1)) * spare
    # a true residual carries the errors of a row's and a column's mean beside its own; in C they make 1/S
    own = max(float(true.var(ddof=1)) - 2.0 * noise / (width - 1), 0.0)
    variance = own / k + noise / (k * (width - 1))
    plain = float(table[:, 0].var(ddof=1)) / k
    value = float(table[:, 0].mean()) - grand
    return Guess(value, float(np.sqrt(variance)), {"variance_ratio": plain / variance, "variance": variance})
