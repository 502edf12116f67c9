"""Texts as counts of hashed n-grams: words, pairs of neighbouring words, and runs of characters.

All n-grams of a text are hashed at once. With H(i) = Σ_{j<i} c_j pʲ mod 2⁶⁴ the run of characters from a to b
has the hash (H(b) − H(a)) p⁻ᵃ; a word is such a run, and two words make one number of two. No list of words
is kept, so any text of any language has its place, and no text can make the table grow.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Hashes = NDArray[np.uint64]

BUCKETS = 1 << 14
CHARACTERS = (3, 4, 5)
BASE = 0x9E3779B97F4A7C15 | 1  # odd, so that it has an inverse modulo 2⁶⁴
INVERSE = pow(BASE, -1, 1 << 64)
PIECE = 1 << 16
"""Characters whose powers of the base are at hand; longer texts are cut there, between two n-grams."""


def counts(texts: Sequence[str]) -> Any:
    """Texts × BUCKETS, a sparse matrix of 1 + log(times) for every n-gram that occurs.

    >>> found = counts(["to be or not to be", "To be, or not to be!"])
    >>> found.shape == (2, BUCKETS), bool(found.max() > 1), int(found[0].nnz) < int(found[1].nnz)
    (True, True, True)
    """
    from scipy.sparse import csr_array

    places, values, ends = [], [], [0]
    for text in texts:
        found, times = np.unique(buckets(text), return_counts=True)
        places.append(found.astype(np.int32))
        values.append((1.0 + np.log(times)).astype(np.float32))
        ends.append(ends[-1] + len(found))
    joined = np.concatenate([np.zeros(0, dtype=np.int32), *places])
    data = np.concatenate([np.zeros(0, dtype=np.float32), *values])
    return csr_array((data, joined, np.array(ends, dtype=np.int64)), shape=(len(texts), BUCKETS))


def buckets(text: str) -> NDArray[np.uint32]:
    """The bucket of every n-gram of a text, in lower case; all white space is one space.

    >>> len(buckets("a b")), len(buckets(""))  # a, b, a b; " a ", "a b", …
    (9, 0)
    """
    tidy = f" {' '.join(text.lower().split())} "
    parts = [_hashes(tidy[i : i + PIECE]) for i in range(0, len(tidy), PIECE)] if tidy.strip() else []
    mixed = np.concatenate([np.zeros(0, dtype=np.uint64), *parts])
    # the upper bits of a product depend on all bits below
    return ((mixed ^ (mixed >> np.uint64(29))) * np.uint64(BASE) >> np.uint64(50)).astype(np.uint32)


def _hashes(text: str) -> Hashes:
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4").astype(np.uint64)
    n = len(codes)
    sums = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum((codes + np.uint64(1)) * POWERS[:n])])

    def runs(start: Any, stop: Any) -> Hashes:
        return np.asarray((sums[stop] - sums[start]) * INVERSES[start])

    found = []
    for k in (k for k in CHARACTERS if k <= n):
        start = np.arange(n - k + 1)
        found.append(runs(start, start + k) + np.uint64(k))
    word = _letters(text, codes)
    edges = np.diff(np.concatenate([[False], word, [False]]).astype(np.int8))
    words = runs(np.flatnonzero(edges == 1), np.flatnonzero(edges == -1)) * np.uint64(3)
    pairs = words[:-1] * np.uint64(5) + words[1:]
    return np.concatenate([*found, words, pairs])


def _letters(text: str, codes: Hashes) -> NDArray[np.bool_]:
    """Which characters belong to words: letters and digits of any script, and the apostrophe inside."""
    table = np.zeros(int(codes.max()) + 1, dtype=bool)
    for character in set(text):
        table[ord(character)] = character.isalnum() or character in "'’_"
    return np.asarray(table[codes.astype(np.intp)])


def _powers(base: int) -> Hashes:
    made = np.full(PIECE + 1, base, dtype=np.uint64)
    made[0] = 1
    return np.multiply.accumulate(made)


POWERS, INVERSES = _powers(BASE), _powers(INVERSE)
