"""From gradients to short vectors that keep their norms and inner products on average.

For a linear layer the gradient is Σ_t δ_t x_tᵀ, and v = Σ_t (P_in x_t)(P_out δ_t)ᵀ / √d needs no gradient of
the weights at all, where the paper's Πᵀg / √d does. v is made of d / 16 such products of 4 × 4, each with
signs of its own: gradients share directions of their inputs, and in one product of 32 × 32 every entry would
meet the same few signs (correlation with true cosines on 48 responses 0.89; so 0.92; the paper's formula
0.93). It adds up over modules, each with signs of its own.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from dataworth.arrays import Array

WORD = 64
COUNTER = 4
"""Words that Philox makes of one value of its counter."""


def signs(seed: int, name: str, rows: int, columns: int) -> Array:
    """The matrix of ±1 that belongs to a seed and a name: from Philox, the same on every machine."""
    counters = -(-columns // (WORD * COUNTER))  # of a row, which begins with a counter of its own
    number = int.from_bytes(hashlib.blake2b(name.encode(), digest_size=8).digest(), "little")
    generator = np.random.Philox(key=np.array([seed, number], dtype=np.uint64))
    words = generator.random_raw(rows * counters * COUNTER).astype("<u8", copy=False)
    bits = np.unpackbits(words.view(np.uint8).reshape(rows, -1), axis=1, count=columns)
    return 2.0 * bits.astype(np.float64) - 1.0


def side(size: int) -> int:
    """Rows and columns of the small products that a vector of a size is made of."""
    return next(k for k in (4, 2, 1) if size % (k * k) == 0)


class Tensorised:
    """Projects the gradients of linear layers from what goes in and what comes back."""

    def __init__(self, torch: Any, layers: Mapping[str, Any], size: int, seed: int) -> None:
        self._side, self._scale = side(size), 1.0 / math.sqrt(size)
        width = size // self._side

        def matrix(name: str, rows: int, like: Any) -> Any:
            made = torch.from_numpy(signs(seed, name, rows, width).astype(np.float32))
            return made.to(device=like.device, dtype=like.dtype)

        self._pairs = {
            name: (
                matrix(f"{name}/in", layer.in_features, layer.weight),
                matrix(f"{name}/out", layer.out_features, layer.weight),
            )
            for name, layer in layers.items()
        }

    def __call__(self, name: str, x: Any, delta: Any) -> Any:
        """One layer's part of the vectors: samples × size from samples × tokens × features."""
        inner, outer = (
            self._split(part @ signs) for part, signs in zip((x, delta), self._pairs[name], strict=True)
        )
        return (inner.transpose(2, 3) @ outer).flatten(1).float() * self._scale

    def _split(self, projected: Any) -> Any:
        """Samples × products × tokens × side."""
        return projected.unflatten(2, (-1, self._side)).transpose(1, 2)
