"""The n×n side: coefficients of rows; one factor a class, and one of their sum."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.linalg.lapack import dpotri

from ...arrays import Array
from ..geometry import Factor, cholesky_factor
from .likelihood import Terms
from .step import Step


class BlockFactor(NamedTuple):
    """Factors of B_c = I + D_c^½ K D_c^½, D_c = n p_c, and of M = Σ_c √p_c B_c⁻¹ √p_c."""

    blocks: tuple[Factor, ...]
    total: Factor

    def log_det(self) -> float:
        """Log det(I + KW) = Σ_c log det B_c + log det M."""
        return sum(block.log_det() for block in (*self.blocks, self.total))


class Blocks:
    """Coefficients A (n×K) with F = K A, K = C·XXᵀ: K + 1 matrices of n×n. O(K n³)."""

    def __init__(self, gram: Array, classes: int) -> None:
        self.gram, self.classes = gram, classes

    def shape(self) -> tuple[int, int]:
        """That of coefficients."""
        return len(self.gram), self.classes

    def predictor(self, coef: Array) -> Array:
        """F = K A."""
        return np.asarray(self.gram @ coef)

    def penalty(self, coef: Array, other_coef: Array, other_f: Array) -> float:
        """⟨A, F′⟩."""
        return float((coef * other_f).sum())

    def degrees(self) -> int:
        """At most one parameter a row and contrast."""
        return len(self.gram) * (self.classes - 1)

    def factorise(self, at: Terms) -> BlockFactor:
        """Each class's factor, and that of their sum."""
        totals, n = at.totals, len(self.gram)
        total, factors = np.zeros((n, n)), []
        for mass in at.mass.T:
            factors.append(cholesky_factor(_scaled(self.gram, np.sqrt(mass))))
            inverse = _inverse(factors[-1])
            share = np.sqrt(mass / totals)
            inverse *= share
            inverse *= share[:, None]
            total += inverse
        return BlockFactor(tuple(factors), cholesky_factor(total))

    def step(self, factor: Any, at: Terms, coef: Array, gradient: Array) -> Step:
        """R = A − ∇, ΔA_c = E_c (K R_c − s) − R_c, s = (Σ E_c)⁻¹ Σ E_c K R_c, E_c = D_c^½ B_c⁻¹ D_c^½."""
        residual = coef - gradient
        pull = self.gram @ residual
        root, total = np.sqrt(at.mass), np.sqrt(at.totals)
        seen = sum(self._respond(factor, root, c, pull[:, c]) for c in range(self.classes))
        common = factor.total.solve(seen / total) / total
        step = np.column_stack(
            [self._respond(factor, root, c, pull[:, c] - common) for c in range(self.classes)]
        )
        step -= residual
        step_f = self.gram @ step
        return Step(step, step_f, -float((residual * step_f).sum()))

    @staticmethod
    def _respond(factor: BlockFactor, root: Array, c: int, target: Array) -> Array:
        """E_c times a vector."""
        return np.asarray(root[:, c] * factor.blocks[c].solve(root[:, c] * target))


def _scaled(gram: Array, root: Array) -> Array:
    """I + D^½ K D^½."""
    b = gram * root
    b *= root[:, None]
    b.flat[:: len(b) + 1] += 1.0
    return b


def _inverse(factor: Factor) -> Array:
    """Of the factored matrix: its upper triangle, which is what `cholesky_factor` reads."""
    inverse, _ = dpotri(factor.matrix, lower=1)
    return np.asarray(inverse.T)
