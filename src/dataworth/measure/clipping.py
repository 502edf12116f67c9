"""Values beyond ±M, truncated or winsorised, and what that did to the means.

    truncate:   U·1(|U| ≤ M)          beyond ±M a value becomes 0 (the paper, proof of its corollary)
    winsorise:  max(−M, min(U, M))    beyond ±M a value becomes ±M

Either makes the values bounded, so that Hoeffding's inequality gives a number of pairs (`planner`), and
either biases the mean. Truncation biases more: a value just above M counts as nothing, so M has to stand well
above the values that are to count.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..arrays import Array
from ..errors import DataworthError
from ..models.base import positive_number


@dataclass(frozen=True)
class Clipped:
    """Values after clipping; of each column how many changed, and how far the mean moved."""

    rule: str
    bound: float
    values: Array = field(repr=False)
    changed: tuple[int, ...]
    moved: tuple[float, ...]

    @property
    def share(self) -> float:
        """Changed values, as a share of all."""
        return sum(self.changed) / max(self.values.size, 1)


def check_clipping(truncate: float | None, winsorise: float | None) -> tuple[str, float] | None:
    """The rule asked for and its M; none if none is; a sentence if it makes no sense."""
    given = {"truncate": truncate, "winsorise": winsorise}
    asked = [(rule, positive_number(M, f"{rule} (in nats)")) for rule, M in given.items() if M is not None]
    if len(asked) > 1:
        raise DataworthError(
            f"truncate is {truncate!r} and winsorise is {winsorise!r}; values are either set to 0 or to ±M "
            "beyond it: give one of them."
        )
    return asked[0] if asked else None


def clip(values: Array, truncate: float | None = None, winsorise: float | None = None) -> Clipped:
    """Clip values (k, or k × arms) at ±M by one of the two rules.

    >>> values = np.array([1.0, -30.0, 25.0])
    >>> clip(values, truncate=20).values.tolist(), clip(values, winsorise=20).values.tolist()
    ([1.0, 0.0, 0.0], [1.0, -20.0, 20.0])
    """
    asked = check_clipping(truncate, winsorise)
    if asked is None:
        raise DataworthError("clip was given neither truncate nor winsorise: give one of them, in nats.")
    rule, M = asked
    values = np.asarray(values, dtype=float)
    beyond = np.abs(values) > M
    clipped = np.where(beyond, 0.0 if rule == "truncate" else np.copysign(M, values), values)
    # summed over what changed alone: without a change it is exactly 0
    moved = np.atleast_1d((clipped - values).sum(axis=0)) / max(len(values), 1)
    changed = np.atleast_1d(beyond.sum(axis=0))
    return Clipped(rule, M, clipped, tuple(changed.tolist()), tuple(moved.tolist()))


def signed(nats: float) -> str:
    """Three digits and a sign."""
    return f"{nats:+.3g}".replace("-", "−")
