"""Centred PMI: true pairs less shifted pairings.

    C = mean_i U(Dᵢ, Tᵢ) − mean_{i,s} U(Dᵢ, Tᵢ₊ₛ),   s = 1 … S

log Z(D) and log Z(T) cancel, so only joint fits are needed. What a dataset has in common with *every* other
one cancels too, and with it most of the variance. For an exact model C estimates I + KL(p_D p_T ‖ p_DT), not
I: it is zero exactly if D and T are independent, and it ranks; it does not say how much.

Its error: with Uᵢⱼ = αᵢ + βⱼ + εᵢⱼ only ε is left, so that Var C = Var(ε_ii)/k + Var(ε_ij)/(kS), both from
residuals after the effects of rows and columns are taken out.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np

from dataworth import DataworthError, Logistic
from dataworth.arrays import Array
from dataworth.evidence.pair import fit_joint

from ..known_mi import KnownPairs
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
        guess = summarise(table)
        return guess._replace(
            details=guess.details | {"explained_by_proportions": self.explained(pairs, table)}
        )

    def explained(self, pairs: KnownPairs, table: Array) -> float:
        """The part of ε's variance that (proportion of ones in D) × (that in T) explains.

        These pairs have their information in that product, so what it explains is no noise but what one
        looks for: whatever sees proportions has this part of the variance, and centring cannot remove it.
        """
        data, test = pairs.y[pairs.data].mean(axis=1) - 0.5, pairs.y[pairs.test].mean(axis=1) - 0.5
        product = np.array([data * np.roll(test, -s) for s in range(1, self.shifts + 1)]).T
        known, left = without_effects(product).ravel(), without_effects(table[:, 1:]).ravel()
        return float((known @ left) ** 2) / max(float((known @ known) * (left @ left)), 1e-300)

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
    shifts = width - 1
    shifted = table[:, 1:]
    effects, leverage = additive(shifted)
    noise = float((without_effects(shifted) ** 2).sum()) / max(k * shifts - 2 * k + 1, 1)
    # what the fitted effects leave of a true pair carries their own error beside the pair's
    true = table[:, 0] - effects[0] - effects[1]
    own = max(float(true.var(ddof=1)) - leverage * noise, 0.0)
    variance = own / k + noise / (k * shifts)
    plain = float(table[:, 0].var(ddof=1)) / k
    value = float(table[:, 0].mean() - shifted.mean())
    return Guess(value, float(np.sqrt(variance)), {"variance_ratio": plain / variance, "pairs": k})


def without_effects(shifted: Array) -> Array:
    """What rows and columns leave of Uᵢ,ᵢ₊ₛ, s = 1 … S."""
    (rows, columns), _ = additive(shifted)
    return shifted - np.array([rows + np.roll(columns, -s) for s in range(1, shifted.shape[1] + 1)]).T


def additive(shifted: Array) -> tuple[tuple[Array, Array], float]:
    """Least squares of Uᵢ,ᵢ₊ₛ = αᵢ + βᵢ₊ₛ over s = 1 … S, indices modulo k; and Var(α̂ᵢ + β̂ᵢ) in units of ε's.

    Every row and column has S entries at the same shifts, so Fourier's transform splits the normal equations
    S α̂ + w β̂ = R, w* α̂ + S β̂ = C into k of two unknowns, w = Σ exp(iωs). Only α + β is determined at ω = 0.
    """
    k, shifts = shifted.shape
    rows = np.fft.fft(shifted.sum(axis=1))
    columns = np.fft.fft(np.sum([np.roll(shifted[:, s - 1], s) for s in range(1, shifts + 1)], axis=0))
    angles = 2.0 * np.pi * np.arange(k) / k
    w = np.exp(1j * np.outer(angles, np.arange(1, shifts + 1))).sum(axis=1)
    determinant = shifts**2 - np.abs(w) ** 2
    determinant[0] = 1.0
    alpha, beta = (
        (shifts * rows - w * columns) / determinant,
        (shifts * columns - w.conj() * rows) / determinant,
    )
    alpha[0], beta[0] = rows[0] / shifts, 0.0
    spread = (2.0 * shifts - 2.0 * w.real) / determinant
    spread[0] = 1.0 / shifts
    return (np.fft.ifft(alpha).real, np.fft.ifft(beta).real), float(spread.mean())
