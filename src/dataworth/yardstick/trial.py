"""What a yardstick's search found of the candidate that it chose."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..data.labels import Classes, Numeric

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

        >>> told = Trial(size=1, prior_variance=0.4, held_out=-0.50885, held_out_stderr=0.022, sight=3.76)
        >>> told.rounded().held_out, told.rounded().held_out_stderr, told.rounded().sight
        (-0.51, 0.02, 4.0)
        """
        digits = {"held_out": 2, "held_out_stderr": 2, "sight": 0}
        found = {name: getattr(self, name) for name in digits}
        told = {name: round(value, digits[name]) for name, value in found.items() if value is not None}
        return replace(self, **told)

    @property
    def features(self) -> str:
        """In words.

        >>> Trial(size=1, exponent=0.5, prior_variance=1.0, held_out=-0.5).features
        '1 principal axis (variance exponent 0.5) of columns scaled each by its own spread'
        """
        axes = f"principal {'axis' if self.size == 1 else 'axes'} (variance exponent {self.exponent or 0:g})"
        kernel = f"features of an RBF kernel (bandwidth {self.bandwidth or 0:g})"
        made = {"axes": axes, "kernel": kernel, "both": f"principal axes and {kernel}"}[self.kind]
        return f"{self.size} {made} of columns {IN_WORDS[self.scale]}"


def rounded(labels: Classes | Numeric) -> Classes | Numeric:
    """Numeric labels' centre and scale to what measuring needs.

    At full precision they would be functions of the test labels that any guess could be tried against.

    >>> rounded(Numeric(22.403571, 7.489035))
    Numeric(center=22.404, scale=7.489)
    """
    if isinstance(labels, Classes):
        return labels
    scale = float(f"{labels.scale:.3e}")
    step = 10.0 ** (np.floor(np.log10(scale)) - 3)
    return Numeric(float(f"{round(labels.center / step) * step:.12g}"), scale)
