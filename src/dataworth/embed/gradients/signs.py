"""Random signs that are computed where they are needed, never stored.

They come from Philox, a counter-based generator: any row of any matrix is made without those before it, and
is the same on every machine, in every block and order.
"""

from __future__ import annotations

import hashlib

import numpy as np

from dataworth.arrays import Array

WORD = 64
COUNTER = 4
"""Words that Philox makes of one value of its counter."""


def signs(seed: int, name: str, start: int, stop: int, columns: int) -> Array:
    """Rows start … stop of the matrix of ±1 that belongs to a seed and a name.

    >>> whole = signs(0, "layer", 0, 5, 100)
    >>> whole.shape, np.unique(whole).tolist(), np.array_equal(signs(0, "layer", 3, 5, 100), whole[3:])
    ((5, 100), [-1.0, 1.0], True)
    """
    counters = -(-columns // (WORD * COUNTER))  # of a row, which begins with a counter of its own
    key = np.array([seed, _number(name)], dtype=np.uint64)
    generator = np.random.Philox(key=key, counter=start * counters)
    words = generator.random_raw((stop - start) * counters * COUNTER).astype("<u8", copy=False)
    bits = np.unpackbits(words.view(np.uint8).reshape(stop - start, -1), axis=1, count=columns)
    made = bits.astype(np.float64)
    made *= 2.0
    made -= 1.0
    return made


def _number(name: str) -> int:
    return int.from_bytes(hashlib.blake2b(name.encode(), digest_size=8).digest(), "little")
