"""Which side a fit is made on: the cheapest that keeps its digits and fits into memory."""

from __future__ import annotations

from ...arrays import Array
from ...errors import DataworthError
from ..geometry import GRAM_LIMIT, graded_features, largest_square
from .blocks import Blocks
from .stacked import SCALED, Stacked

MEMORY_LIMIT = 4e9
"""Bytes that the matrices of one fit may take."""


def bytes_needed(n: int, d: int, classes: int) -> dict[str, int]:
    """Memory of a fit: K + 4 matrices of n×n, or 2 of (K−1)d × (K−1)d and a slab of rows; by QR, all rows.

    >>> {kind: round(size / 1e9, 1) for kind, size in bytes_needed(20_000, 500, 10).items()}  # GB
    {'dual': 44.8, 'primal': 0.3, 'root': 19.9}
    """
    k = classes - 1
    narrow = k * min(n, d)
    return {
        "dual": 8 * (classes + 4) * n * n,
        "primal": 8 * (2 * (k * d) ** 2 + min(n, SCALED) * k * (d + k)),
        "root": 8 * 3 * (n * k + narrow) * narrow,
    }


def side(n: int, d: int, classes: int) -> str:
    """The side with fewer operations a Newton step (measured: about as many a second on both); the smaller
    one if the other exceeds the limit of memory.

    >>> [side(n, 65, 10) for n in (50, 1000)], side(1000, 5000, 10)
    (['dual', 'primal'], 'dual')
    """
    k, needed = classes - 1, bytes_needed(n, d, classes)
    if max(needed["dual"], needed["primal"]) > MEMORY_LIMIT:
        return "dual" if needed["dual"] < needed["primal"] else "primal"
    products = n * d * d * k * classes + (k * d) ** 3 / 3.0
    return "dual" if (classes + 1) * float(n) ** 3 < products else "primal"


def choose_geometry(X: Array, counts: Array, prior_variance: float) -> tuple[Stacked | Blocks, str]:
    """The cheapest geometry that keeps its digits, and what its coefficients are: primal (Θ), dual (A), or
    other; a sentence before anything is allocated if it would not fit into memory."""
    (n, d), classes = X.shape, counts.shape[1]
    heaviest = max(1.0, float(counts.sum(axis=1).max(initial=0.0)))
    root = n > 0 and prior_variance * heaviest * largest_square(X) > GRAM_LIMIT
    kind = "primal" if n == 0 else "root" if root else side(n, d, classes)
    needed = bytes_needed(n, d, classes)[kind]
    if n and needed > MEMORY_LIMIT:
        raise DataworthError(
            f"Softmax on {n} distinct rows with {d} coefficients for each of {classes} classes needs "
            f"{needed / 1e9:.1f} GB, more than {MEMORY_LIMIT / 1e9:.0f} GB: take fewer rows or features, or "
            "dw.OneVsRest, which is cheaper."
        )
    if root:
        # columns as given are columns kept apart; only more columns than rows need other coordinates
        own = X if n >= d else graded_features(X)
        return Stacked(own, prior_variance, classes, root=True), "primal" if n >= d else "other"
    if kind == "primal":
        return Stacked(X, prior_variance, classes), kind
    gram = X @ X.T
    gram *= prior_variance
    return Blocks(gram, classes), kind
