"""Columns of texts as numbers: weights and axes from the test set alone, frozen with its yardstick.

A text is its n-grams, each weighed by how rare it is among the texts of the test set,

    w = (1 + log times) · (1 + log (1 + n) / (1 + texts with it)),

scaled to length 1, on the axes that the test set's own texts span: the largest of w wᵀ. N-grams that occur in
fewer than two of them have no weight. A pair of texts is the difference of the two.

N-grams are words, pairs of neighbouring words, and runs of characters; all of a text are hashed at once. With
H(i) = Σ_{j<i} c_j pʲ mod 2⁶⁴ the run of characters from a to b has the hash (H(b) − H(a)) p⁻ᵃ; a word is such
a run, and two words make one number of two. No list of words is kept, so any text of any language has its
place, and no text can make the table grow.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from ..data.convert import Column, Kind
from ..data.dataset import Dataset
from ..data.texts import parts_of, text_columns, with_vectors
from ..errors import DataworthError
from .file import record, text

Hashes = NDArray[np.uint64]

BUCKETS = 1 << 14
CHARACTERS = (3, 4, 5)
BASE = 0x9E3779B97F4A7C15 | 1  # odd, so that it has an inverse modulo 2⁶⁴
INVERSE = pow(BASE, -1, 1 << 64)
PIECE = 1 << 16
"""Characters whose powers of the base are at hand; longer texts are cut there, between two n-grams."""


def counts(texts: Sequence[str]) -> Any:
    """Texts × BUCKETS, a sparse matrix of 1 + log(times) for every n-gram that occurs."""
    from scipy.sparse import csr_array

    places, values, ends = [], [], [0]
    for one in texts:
        found, times = np.unique(buckets(one), return_counts=True)
        places.append(found.astype(np.int32))
        values.append((1.0 + np.log(times)).astype(np.float32))
        ends.append(ends[-1] + len(found))
    joined = np.concatenate([np.zeros(0, dtype=np.int32), *places])
    data = np.concatenate([np.zeros(0, dtype=np.float32), *values])
    return csr_array((data, joined, np.array(ends, dtype=np.int64)), shape=(len(texts), BUCKETS))


def buckets(text: str) -> NDArray[np.uint32]:
    """The bucket of every n-gram of a text, in lower case; all white space is one space."""
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


AXES = 128
"""Axes that are kept at most."""
TEXTS = 2000
"""Texts of the test set that weights and axes are learned from at most."""
MET = 50_000
"""Texts whose numbers are kept."""
SLAB = 512
"""Texts that are made numbers at a time."""


@dataclass(frozen=True)
class TextAxes:
    """How texts become numbers.

    weights: of every bucket, 0 where none. axes: buckets with a weight × axes.
    """

    weights: NDArray[np.float32]
    axes: NDArray[np.float32]
    met: dict[str, Array] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def learn(cls, texts: Sequence[str]) -> TextAxes:
        """Weights and axes of texts."""
        from scipy.linalg import eigh

        some = [texts[i] for i in np.unique(np.linspace(0, len(texts) - 1, TEXTS).astype(int))]
        found = counts(some)
        times = np.bincount(found.indices, minlength=BUCKETS)
        rare = 1.0 + np.log((1.0 + len(some)) / (1.0 + times))
        weights = np.where(times >= 2, rare, 0.0).astype(np.float32)
        known = np.flatnonzero(weights)
        rows = _weighed(found, weights, known)
        gram = (rows @ rows.T).toarray().astype(np.float64)
        size = min(AXES, len(gram))
        values, vectors = eigh(gram, subset_by_index=(len(gram) - size, len(gram) - 1))
        kept = np.flatnonzero(values > 1e-6 * values[-1])[::-1] if values[-1] > 0 else np.zeros(0, dtype=int)
        axes = (rows.T @ vectors[:, kept]) / np.sqrt(values[kept])
        # an axis and its negative are the same axis; fix the sign so that it is unique
        signs = np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(len(kept))]) if len(axes) else 1.0
        return cls(weights, (axes * signs).astype(np.float16).astype(np.float32))

    def vectors(self, texts: Sequence[str]) -> Array:
        """Texts × axes; data before and after a curation share most of their texts, which are met once."""
        known = np.flatnonzero(self.weights)
        new = [one for one in dict.fromkeys(texts) if one not in self.met]
        if len(self.met) + len(new) > MET:
            self.met.clear()
            new = list(dict.fromkeys(texts))
        for start in range(0, len(new), SLAB):
            some = new[start : start + SLAB]
            rows = np.asarray(_weighed(counts(some), self.weights, known) @ self.axes, dtype=np.float64)
            self.met.update(zip(some, rows, strict=True))
        found = np.empty((len(texts), self.axes.shape[1]))
        for i, one in enumerate(texts):
            found[i] = self.met[one]
        return found

    def __reduce__(self) -> Any:
        """Without the texts that were met: they are no part of it."""
        return TextAxes, (self.weights, self.axes)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON: arrays in base64, as lists they would be ten times as long."""
        known = np.flatnonzero(self.weights)
        parts = {"buckets": known.astype("<u4"), "weights": self.weights[known].astype("<f4")}
        packed = {name: _packed(part) for name, part in parts.items()}
        return {**packed, "axes": _packed(self.axes.astype("<f2")), "size": self.axes.shape[1]}

    @classmethod
    def from_dict(cls, d: dict[str, Any]) -> TextAxes:
        """What `to_dict` wrote; a reason if it cannot have."""
        record(d, "", {"buckets", "weights", "axes", "size"})
        known, given, flat = (
            _unpacked(d, name, kind)
            for name, kind in (("buckets", "<u4"), ("weights", "<f4"), ("axes", "<f2"))
        )
        size = d["size"]
        if type(size) is not int or not 0 <= size <= AXES or len(flat) != len(known) * size:
            raise DataworthError("its axes of texts have another size than they say")
        fits = len(given) == len(known) and (np.diff(known.astype(np.int64)) > 0).all()
        if not fits or (len(known) and known[-1] >= BUCKETS) or not (np.isfinite(given) & (given > 0)).all():
            raise DataworthError("its weights of texts are not those of rising buckets")
        if not np.isfinite(flat.astype(np.float32)).all():
            raise DataworthError("its axes of texts are not finite")
        weights = np.zeros(BUCKETS, dtype=np.float32)
        weights[known] = given
        return cls(weights, flat.astype(np.float32).reshape(len(known), size))


@dataclass(frozen=True)
class TextColumns:
    """The axes of every column of texts of a test set, by its name."""

    axes: Mapping[str, TextAxes]

    @classmethod
    def learn(cls, test: Dataset) -> TextColumns | None:
        """From a test set; none if it has no texts."""
        found = {}
        for name in text_columns(test):
            j = test.names.index(name)
            used = np.unique(test.X[test.X[:, j] >= 0, j]).astype(int)  # neither missing nor unknown
            said = parts_of(test.columns[j])
            found[name] = TextAxes.learn([part[i] for i in used for part in said])
        return cls(found) if found else None

    def __call__(self, data: Dataset) -> Dataset:
        """The same rows with numbers in place of texts; a missing text has no n-gram.

        Columns of a dataset whose texts are numbers already stay.
        """
        return with_vectors(data, self.axes.keys(), lambda name, texts: self.axes[name].vectors(texts))

    def read(self, columns: tuple[Column, ...]) -> tuple[Column, ...]:
        """The columns that these were made of."""
        found: dict[str, Column] = {}
        for column in columns:
            name = column.name.partition("[")[0]
            kind: Kind = "pair" if column.kind == "difference" else "text"
            made = Column(name, kind) if name in self.axes else column
            found.setdefault(made.name, made)
        responses = [Column(name, "response") for name in self.axes if name not in found]
        return (*found.values(), *responses)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {name: axes.to_dict() for name, axes in self.axes.items()}

    @classmethod
    def from_dict(cls, d: Any) -> TextColumns | None:
        """What `to_dict` wrote."""
        if d is None:
            return None
        if not isinstance(d, dict) or not d:
            raise DataworthError("its texts are no map")
        return cls({str(name): TextAxes.from_dict(record(d, name, set(d[name]))) for name in d})


def _weighed(found: Any, weights: NDArray[np.float32], known: NDArray[Any]) -> Any:
    """Rows × known buckets, weighed, each row of length 1 (or 0)."""
    from scipy.sparse import diags_array
    from scipy.sparse.linalg import norm

    rows = found[:, known] @ diags_array(weights[known])
    sizes = norm(rows, axis=1) if len(known) else np.zeros(found.shape[0])
    inverse = np.divide(1.0, sizes, out=np.zeros_like(sizes), where=sizes > 0)
    return (diags_array(inverse.astype(np.float32)) @ rows).tocsr()


def _packed(array: NDArray[Any]) -> str:
    return base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()


def _unpacked(d: dict[str, Any], name: str, kind: str) -> NDArray[Any]:
    try:
        return np.frombuffer(base64.b64decode(text(d, name), validate=True), dtype=kind)
    except ValueError as error:
        raise DataworthError(f"its {name} of texts cannot be read") from error
