"""What the data take from the prior's variance, on either side."""

from __future__ import annotations

import numpy as np
from scipy.linalg import solve_triangular

from ..geometry import Factor
from .blocks import Blocks
from .likelihood import Terms
from .stacked import Stacked


def trace_defect(geometry: Stacked | Blocks, at: Terms) -> float:
    """tr((I + C XᵀWX)⁻¹) − K·d, ≤ 0: what the data take from the prior's variance.

    n×n: Σ_c tr B_c⁻¹ + n − Σ_c tr(M⁻¹ √p_c B_c⁻² √p_c) − nK.
    """
    if not len(at.mass):
        return 0.0
    factor = geometry.factorise(at)
    if isinstance(factor, Factor):
        return factor.trace_defect()
    assert isinstance(geometry, Blocks)
    defect, totals = float(len(at.mass)), at.totals
    for block, mass in zip(factor.blocks, at.mass.T, strict=True):
        defect += block.trace_defect()
        scaled = solve_triangular(factor.total.matrix, np.diag(np.sqrt(mass / totals)), lower=True)
        defect -= float(np.square(block.solve(np.asfortranarray(scaled.T))).sum())
    return defect
