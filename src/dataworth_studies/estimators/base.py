"""What an estimator of the mutual information between datasets is."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np

from dataworth.arrays import Array

from ..known_mi import KnownPairs


class Guess(NamedTuple):
    """An estimate of I(D; T) in nats, its standard error if it has one, and what else is worth keeping."""

    value: float
    stderr: float | None = None
    details: dict[str, Any] = {}  # noqa: RUF012 (never changed)


class Estimator(Protocol):
    """From k pairs of datasets to one number. All randomness comes from the seed."""

    @property
    def name(self) -> str:
        """What tables call it."""
        ...

    def __call__(self, pairs: KnownPairs, seed: int) -> Guess:
        """Estimate I(D; T) from pairs drawn from p(D, T)."""
        ...


def as_vectors(pairs: KnownPairs) -> tuple[Array, Array]:
    """Each dataset as one long vector, features and labels row by row: what networks are given."""
    table = np.column_stack([pairs.X, pairs.y])
    return table[pairs.data].reshape(len(pairs), -1), table[pairs.test].reshape(len(pairs), -1)


def mean_guess(values: Array) -> Guess:
    """Mean of independent values, with its standard error."""
    variance = float(values.var(ddof=1) / len(values))
    return Guess(float(values.mean()), float(np.sqrt(variance)), {"pairs": len(values)})
