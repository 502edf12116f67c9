"""What a yardstick's search tries, and what it found of the candidate that it chose."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from ..data.labels import Labels, Numeric
from .recipe import Basis, Recipe

IN_WORDS = {
    "each": "scaled each by its own spread",
    "common": "scaled all alike",
    "rank": "by rank (normal scores)",
}


@dataclass(frozen=True, kw_only=True)
class Trial:
    """One candidate of the search.

    kind: axes, kernel, or both. scale: of columns. size: how many features. exponent: of variances along
    axes. bandwidth: of the kernel. tempering: rows of the data count so many times. held_out: mean
    log-likelihood of a test row, nats, and its standard error (None: not searched for). sight: mean t of
    known-answer probes, where maps were compared by it.
    """

    kind: str = "axes"
    scale: str = "each"
    size: int
    exponent: float | None = None
    bandwidth: float | None = None
    prior_variance: float
    tempering: float = 1.0
    noise_variance: float | None = None
    held_out: float
    held_out_stderr: float | None = None
    sight: float | None = None

    def rounded(self) -> Trial:
        """What was found of it, to the digits that the choice needs.

        At full precision these numbers would be functions of the test labels that any guess could be tried
        against; at these they say a few bits of hundreds.
        """
        digits = {"held_out": 2, "held_out_stderr": 2, "sight": 0}
        found = {name: getattr(self, name) for name in digits}
        told = {name: round(value, digits[name]) for name, value in found.items() if value is not None}
        return replace(self, **told)

    @property
    def features(self) -> str:
        """In words."""
        axes = f"principal {'axis' if self.size == 1 else 'axes'} (variance exponent {self.exponent or 0:g})"
        kernel = f"features of an RBF kernel (bandwidth {self.bandwidth or 0:g})"
        made = {"axes": axes, "kernel": kernel, "both": f"principal axes and {kernel}"}[self.kind]
        return f"{self.size} {made} of columns {IN_WORDS[self.scale]}"


def rounded(labels: Labels) -> Labels:
    """Numeric labels' centre and scale to what measuring needs.

    At full precision they would be functions of the test labels that any guess could be tried against.
    """
    if not isinstance(labels, Numeric):
        return labels
    scale = float(f"{labels.scale:.3e}")
    step = 10.0 ** (np.floor(np.log10(scale)) - 3)
    return Numeric(float(f"{round(labels.center / step) * step:.12g}"), scale)


NOISES = (0.03, 0.1, 0.3, 0.6, 1.0)
EXPONENTS, WHITENED = (0.5, 1.0), 10
"""Of variances along axes; up to ten axes are whitened too (exponent 0)."""
BANDWIDTHS, BESIDE_AXES = (0.35, 0.7, 1.4), 0.7
"""In root median squared distances; the one of a kernel that stands beside axes."""


@dataclass(frozen=True)
class Effort:
    """What is tried for a kind of model: temperings (or noises), halvings, maps compared, sizes.

    Halvings: for test sets of up to 600 rows, and of more; `finals`: of the best maps. `both`: axes and
    landmarks of a map of both.
    """

    levels: tuple[float, ...]
    splits: tuple[int, int] = (2, 2)
    finals: int = 8
    short: int = 7
    axes: tuple[int, ...] = (3, 10, 40, 160)
    landmarks: int = 150
    both: tuple[int, int] = (160, 100)


SEVERAL = Effort((1.0, 4.0, 16.0, 64.0, 256.0), (1, 1), 0, 1, (10, 40), 60, (40, 60))
"""A fit of ten classes costs ten to a hundred times that of two, and wants more tempering."""
EFFORTS = {
    "logistic": Effort((1.0, 2.0, 4.0, 8.0)),
    "linear": Effort(NOISES),
    "softmax": SEVERAL,
    "multilinear": Effort((1.0, 2.0, 4.0, 8.0)),
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
    for scale in basis.scales:
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
    """Those that differ: one axis has one variance."""
    if size == 1:
        return (1.0,)
    return (0.0, *EXPONENTS) if size <= WHITENED else EXPONENTS
