"""What a yardstick's search tries: maps on every scale, and temperings (or noises) by the kind of model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from .basis import Basis
from .recipe import Recipe
from .scales import SCALES

NOISES = (0.03, 0.1, 0.3, 0.6, 1.0)
EXPONENTS, WHITENED = (0.5, 1.0), 10
"""Of variances along axes; up to ten axes are whitened too (exponent 0)."""
BANDWIDTHS, BESIDE_AXES = (0.35, 0.7, 1.4), 0.7
"""In root median squared distances; the one of a kernel that stands beside axes."""


@dataclass(frozen=True)
class Effort:
    """What is tried for a kind of model: temperings (or noises), halvings, maps compared, sizes.

    Halvings: for test sets of up to 600 rows, and of more. `both`: axes and landmarks of a map of both.
    """

    levels: tuple[float, ...]
    splits: tuple[int, int] = (4, 2)
    short: int = 7
    axes: tuple[int, ...] = (3, 10, 40, 160)
    landmarks: int = 150
    both: tuple[int, int] = (160, 100)


SEVERAL = Effort((1.0, 4.0, 16.0, 64.0, 256.0), (1, 1), 3, (10, 40), 60, (40, 60))
"""A fit of ten classes costs ten to a hundred times that of two, and wants more tempering."""
EFFORTS = {
    "logistic": Effort((1.0, 2.0, 4.0, 8.0)),
    "linear": Effort(NOISES),
    "softmax": replace(SEVERAL, short=1),
    "one-vs-rest": SEVERAL,
}


@dataclass(frozen=True)
class Map:
    """What features are made of: see `Trial`. `size`: axes; `landmarks`: of the kernel."""

    kind: str
    scale: str
    size: int = 0
    exponent: float | None = None
    bandwidth: float | None = None
    landmarks: int = 0

    def cut(self, basis: Basis) -> Recipe:
        """Its recipe."""
        if self.exponent is not None:
            if self.bandwidth is None:
                return basis.recipe(self.size, self.exponent, self.scale)
            return basis.both(self.size, self.bandwidth, self.landmarks, self.scale)
        return basis.kernel(self.bandwidth or 0.0, self.landmarks, self.scale)


def maps(basis: Basis, effort: Effort) -> Iterator[Map]:
    """All that are tried: on every scale, axes and kernels of every size that half of the rows allow.

    Of differences, those that change their sign with them: axes, on scales that are one factor a column.
    """
    half = len(basis.standard) // 2
    landmarks, (axes, beside) = min(effort.landmarks, half), effort.both
    for scale in (scale for scale in SCALES if not (basis.odd and scale == "rank")):
        rank = basis.on(scale).rank
        if not rank:
            continue
        for size in sorted({min(k, rank, half) for k in effort.axes}):
            for exponent in exponents(size):
                yield Map("axes", scale, size, exponent)
        if basis.odd:
            continue
        for bandwidth in BANDWIDTHS:
            yield Map("kernel", scale, bandwidth=bandwidth, landmarks=landmarks)
        yield Map("both", scale, min(axes, rank, half), 1.0, BESIDE_AXES, min(beside, half))


def exponents(size: int) -> tuple[float, ...]:
    """Those that differ: one axis has one variance.

    >>> exponents(1), exponents(10), exponents(11)
    ((1.0,), (0.0, 0.5, 1.0), (0.5, 1.0))
    """
    if size == 1:
        return (1.0,)
    return (0.0, *EXPONENTS) if size <= WHITENED else EXPONENTS
