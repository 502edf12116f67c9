"""Which test rows chose a change: who made a list of rows, and whether rows were changed by it.

Values know the rows that they are of, and the test rows that made them, by hashes of their features. A test
set chooses with its first half in the order of those hashes (`choosing_half`), whatever the data are: lists
that are made again and again are made by the same rows, and the others judge.

Whether changed rows have to do with a list is told by their ranks u_i in it, from 1/n (the first) to 1.
Where row i lost the part c_i of its weight (removed: 1) whatever its rank, by Fisher's combination

    S = −Σ c_i log u_i  ~  Gamma with the mean m and variance v of S over all orders of the rows,
    m = Σ c_i · mean(−log u),   v = Σ (c_i − mean(c))² · Σ (log u_i − mean(log u))² / (n − 1),

exactly for few equal c_i and n → ∞. Rows are drawn without putting them back, so that v is smaller, and S is
less skew, the more of them changed: a list is seen among many other rows, and chance no more often.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaincc

from ...arrays import Array, Flags, Rows
from ...data.changes import Change
from ...data.dataset import Dataset
from ...data.keys import MIN_KEY_LENGTH
from ...data.order import average_ranks
from ...data.rows import first_of, pair_up

Hashes = NDArray[np.uint64]
LEVEL = 0.001
"""Probability that a change which has nothing to do with a list is said to come from it."""
MAX_KEY_LENGTH = 64
"""Bytes of a key of BLAKE2b."""
RELABELLED, EDITED = 0.5, 0.25
"""Parts of its weight that a row loses with its label, and with its features, beside those that it keeps."""


@dataclass(frozen=True)
class Lineage:
    """Hashes of the rows that were valued, of their ids, and of the test rows that valued them.

    columns: what was hashed, by name. sample_splitting: whether a half of the test set was left to judge.
    """

    columns: tuple[str, ...]
    data: Hashes
    ids: Hashes | None
    test: Hashes
    sample_splitting: bool

    @classmethod
    def of(cls, data: Dataset, test: Dataset, key: str, sample_splitting: bool) -> Lineage:
        """Of values made with these test rows; labels are not hashed, which a key beside them would tell."""
        ids = None if data.ids is None else hashes(map(str.encode, data.ids), key)
        own, other = (row_hashes(part, test.names, key) for part in (data, test))
        return cls(test.names, own, ids, other, sample_splitting)

    def to_dict(self, key: str) -> dict[str, Any]:
        """Plain data for files: hashes, which say nothing to who has not the rows, and no label."""
        own = vars(self).items()
        told = {name: one.tobytes().hex() if isinstance(one, np.ndarray) else one for name, one in own}
        return {"key": key, **told, "columns": list(self.columns)}

    @classmethod
    def parse(cls, told: dict[str, Any]) -> Lineage:
        """What `to_dict` told; anything else raises a ValueError, KeyError, TypeError or AttributeError."""
        columns, split, length = told["columns"], told["sample_splitting"], len(told["key"].encode())
        if not (isinstance(split, bool) and all(isinstance(name, str) for name in columns)):
            raise ValueError
        if not MIN_KEY_LENGTH <= length <= MAX_KEY_LENGTH:
            raise ValueError

        def hashes(name: str) -> Hashes:
            return np.frombuffer(bytes.fromhex(told[name]), dtype="<u8")

        ids = None if told["ids"] is None else hashes("ids")
        return cls(tuple(columns), hashes("data"), ids, hashes("test"), split)

    def chose(self, test: Dataset, key: str) -> Flags:
        """Which rows of a test set made the values."""
        if not set(self.columns) <= set(test.names):
            return np.zeros(len(test), dtype=bool)
        return np.isin(row_hashes(test, self.columns, key), self.test)

    def places(self, data: Dataset, key: str) -> Rows:
        """For each row of some data its place among those that were valued, by content, else id; or −1."""
        place = np.full(len(data), -1, dtype=np.intp)
        if set(self.columns) <= set(data.names):
            place = pair_up(self.data, row_hashes(data, self.columns, key))  # type: ignore[arg-type]
        if self.ids is not None and data.ids is not None:
            left = np.flatnonzero(place < 0)
            place[left] = first_of(self.ids, hashes(map(str.encode, data.ids[left]), key))  # type: ignore[arg-type]
        return place


def row_hashes(data: Dataset, columns: Iterable[str], key: str) -> Hashes:
    """Keyed hashes of rows, in these columns."""
    place = {name: j for j, name in enumerate(data.names)}
    return hashes(data.pick([place[name] for name in columns]).row_keys(), key)


def hashes(contents: Iterable[bytes], key: str) -> Hashes:
    """Keyed hashes of 64 bits."""
    digests = (hashlib.blake2b(one, digest_size=8, key=key.encode()).digest() for one in contents)
    return np.frombuffer(b"".join(digests), dtype="<u8")


def choosing_half(test: Dataset) -> Flags:
    """The rows of a test set that choose: the same ones whatever they choose from, and whole groups.

    >>> test = Dataset(np.arange(10.0)[:, None], np.arange(10))
    >>> half = choosing_half(test)
    >>> int(half.sum()), np.array_equal(choosing_half(test.take(range(9, -1, -1))), half[::-1])
    (5, True)
    """
    names = test.row_keys() if test.groups is None else np.char.encode(test.groups, "utf-8")
    unit, place, rows = np.unique(names, return_inverse=True, return_counts=True)
    order = np.argsort(hashes(unit.tolist(), ""))
    before = np.empty(len(unit))
    before[order] = np.cumsum(rows[order]) - rows[order] / 2
    return np.asarray(before[place] < len(test) / 2)


def kept_parts(before: Dataset, after: Dataset, change: Change) -> Array:
    """How much of each row of `before` is left: its weight, less for another label or other features."""
    own, kept = (np.ones(len(part)) if part.weights is None else part.weights for part in (before, after))
    rows = np.flatnonzero(change.origin >= 0)
    part = kept[rows] * (1.0 - RELABELLED * change.relabelled[rows] - EDITED * change.edited[rows])
    left = np.bincount(change.origin[rows], part, minlength=len(before))
    return np.divide(left, own, out=np.ones(len(before)), where=own > 0)


def p_by_chance(kept: Array, order: Array) -> float:
    """Probability that rows which lost weight stand so far in front, or those that gained it so far behind.

    Most rows lost and gained nothing.

    >>> order, kept = np.arange(300.0), np.ones(300)
    >>> kept[[0, 1, 2]] = 0.0
    >>> p_by_chance(kept, order) < 1e-4 < p_by_chance(kept[::-1], order)
    True
    """
    if not len(kept):
        return 1.0
    usual, rank = float(np.median(kept)), average_ranks(order) / len(order)
    lost = np.clip(1.0 - kept / usual, 0.0, 1.0) if usual > 0 else np.zeros(len(kept))
    gained = np.clip(kept / usual - 1.0, 0.0, 1.0) if usual > 0 else (kept > 0).astype(float)
    found = [_tail(lost, rank), _tail(gained, 1.0 + 1.0 / len(rank) - rank)]
    return min(1.0, 2.0 * min(found))


def p_of_list(kept: Array, listed: Flags) -> float:
    """Probability that so many of the rows which lost weight stand on a list: hypergeometric.

    >>> listed, kept = np.arange(300) < 2, np.ones(300)
    >>> kept[:2] = 0.0
    >>> round(1 / p_of_list(kept, listed))
    44850
    """
    lost = kept < np.median(kept) if len(kept) else np.zeros(0, dtype=bool)
    found = int((lost & listed).sum())
    if not found:
        return 1.0
    from scipy.stats import hypergeom

    return float(hypergeom.sf(found - 1, len(kept), int(listed.sum()), int(lost.sum())))


def _tail(changed: Array, rank: Array) -> float:
    score = -np.log(rank)
    mean = float(changed.sum() * score.mean())
    variance = float(changed.var(ddof=1) * ((score - score.mean()) ** 2).sum()) if len(rank) > 1 else 0.0
    if variance <= 1e-12 * mean**2:  # nothing changed, or all rows alike
        return 1.0
    return float(gammaincc(mean**2 / variance, (changed @ score) * mean / variance))
