"""One fit of rows that no machine holds: every worker adds up its partitions, wherever the engine runs them.

The pairs of a design are shared out whole. A single fit of a file larger than memory is not: each pass of
Newton's method needs sums over all rows (`inference.partial_sums`), a few numbers from each partition.

Making features takes longer than reading. On one machine they are therefore kept, in a temporary file of 4
bytes a feature and row, and passes read that. Elsewhere each pass makes them anew. Either way they are
rounded to single precision, so that both give the same bits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import reduce
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Array
from ..data.chance import Sketch
from ..data.dataset import Dataset
from ..data.io.streamed import Piece, Reader
from ..data.labels import Classes
from ..data.leaks import LeakScanner, Overlap, Packed
from ..errors import DataworthError
from ..inference.logistic import Counts
from ..inference.partial_sums import Sums, SumsAt, combined, partial_sums
from ..parallel import Engine
from ..yardstick.yardstick import Yardstick

SINGLE, DOUBLE = np.dtype(np.float32), np.dtype(np.float64)


class Rows(NamedTuple):
    """Rows as a fit sees them: features in single precision, targets and weights."""

    X: Any
    y: Array
    weights: Array

    def write(self, file: Any) -> None:
        """Append them to a file."""
        for part in (np.ascontiguousarray(self.X), self.y, self.weights):
            part.tofile(file)

    @classmethod
    def read(cls, file: Any, count: int, width: int) -> Rows:
        """The next so many of a file."""
        X = np.fromfile(file, SINGLE, count * width).reshape(count, width)
        return cls(X, np.fromfile(file, DOUBLE, count), np.fromfile(file, DOUBLE, count))


class Chunk(NamedTuple):
    """A partition.

    Once it was looked at: packed flags of rows that are taken out of it, and how many rows were read together
    each time.
    """

    number: int
    piece: Piece
    gone: Packed | None = None
    lengths: tuple[int, ...] = ()


@dataclass(frozen=True)
class Lens:
    """How partitions are looked at: read, and measured by a yardstick; features are kept in `folder`."""

    reader: Reader
    yardstick: Yardstick
    folder: Path | None = None

    @property
    def width(self) -> int:
        """Coefficients of the model."""
        return self.yardstick.recipe.width + int(self.intercept)

    @property
    def intercept(self) -> bool:
        """Whether the model has one."""
        return self.yardstick.model.intercept

    def kept(self, chunk: Chunk) -> Path:
        """Where the features of a partition are kept."""
        assert self.folder is not None
        return self.folder / f"{chunk.number}"

    def measured(self, data: Dataset) -> Rows:
        """Some rows of a partition on the yardstick, which have numbers in place of texts."""
        weights = np.ones(len(data)) if data.weights is None else data.weights
        X = self.yardstick.recipe.features(data).astype(np.float32)
        return Rows(X, self.yardstick.targets(data), np.ascontiguousarray(weights))

    def slabs(self, piece: Piece) -> Iterator[tuple[str, Dataset]]:
        """Rows of a partition, with numbers in place of texts; with what sentences call them."""
        return ((where, self.yardstick.numbered(data)) for where, data in self.reader.slabs(piece))

    def rows(self, chunk: Chunk) -> Iterator[Rows]:
        """Rows of a partition, some at a time, without those that are taken out; with features as float64."""
        first = 0
        gone = None if chunk.gone is None else np.unpackbits(chunk.gone).astype(bool)
        for X, y, weights in self._read(chunk):
            first, start = first + len(y), first
            found = Rows(X.astype(float), y, weights)
            if gone is not None and gone[start:first].any():
                found = Rows(*(part[~gone[start:first]] for part in found))
            if len(found.y):
                yield found

    def _read(self, chunk: Chunk) -> Iterator[Rows]:
        if self.folder is None:
            yield from (self.measured(data) for _, data in self.slabs(chunk.piece))
            return
        with self.kept(chunk).open("rb") as file:
            for count in chunk.lengths:
                yield Rows.read(file, count, self.yardstick.recipe.width)


class Looked(NamedTuple):
    """What the first pass tells of a partition.

    met: what it shares with the test set, if there is one. classes: rows of each class.
    """

    met: Overlap | None
    sketch: Sketch
    weight: float
    classes: Array | None
    has_ids: bool
    lengths: tuple[int, ...]


def look(shared: tuple[Lens, LeakScanner | None], chunk: Chunk) -> Looked:
    """The first pass over a partition: everything is checked, and what must be known of all rows counted."""
    lens, finder = shared
    try:
        with nullcontext() if lens.folder is None else lens.kept(chunk).open("wb") as file:
            return _look(lens, finder, chunk, file)
    except OSError as error:
        raise DataworthError(
            f"features cannot be kept in {lens.folder} ({error.strerror}): set TMPDIR to a directory "
            "with room."
        ) from error


def _look(lens: Lens, finder: LeakScanner | None, chunk: Chunk, file: Any) -> Looked:
    met, sketches, weight, has_ids, lengths = [], [], 0.0, False, []
    labels = lens.yardstick.labels
    classes = np.zeros(len(labels.names)) if isinstance(labels, Classes) else None
    for where, data in lens.slabs(chunk.piece):
        y = lens.yardstick.targets(data, where)
        lengths.append(len(data))
        weight += float(len(data) if data.weights is None else data.weights.sum())
        if classes is not None:
            classes += np.bincount(y.astype(np.intp), minlength=len(classes))
        sketches.append(Sketch.of(data.select(lens.yardstick.recipe.columns)))
        has_ids = data.ids is not None
        if finder is not None:
            met.append(finder(data))
        if file is not None:
            lens.measured(data).write(file)
    joined = Overlap.joined(met) if met else None
    return Looked(joined, Sketch.joined(sketches), weight, classes, has_ids, tuple(lengths))


def sums_over(
    engine: Engine, lens: Lens, chunks: Sequence[Chunk], done: Callable[[], None] = lambda: None
) -> SumsAt:
    """What `partial_sums.find_mode` asks for: the sums at θ over all partitions.

    Rows are read where the partition is worked on, so that they never meet. Partitions are added in the
    order of `chunks`: the result does not depend on which worker was first. `done` is called after each.
    """

    def at(theta: Array, curved: bool) -> Sums:
        return combined(_told(engine.map(_sums, chunks, shared=(lens, theta, curved)), done))

    return at


def _told(parts: Iterator[Sums], done: Callable[[], None]) -> Iterator[Sums]:
    for part in parts:
        done()
        yield part


def _sums(shared: tuple[Lens, Array, bool], chunk: Chunk) -> Sums:
    lens, theta, curved = shared
    d = len(theta)
    nothing = Sums(0.0, np.zeros(d), np.zeros((d, d)) if curved else None, 0.0, 0.0)
    each = (
        partial_sums(theta, X, Counts(w * y, w * (1.0 - y)), curved, ones=lens.intercept)
        for X, y, w in lens.rows(chunk)
    )
    return combined(chain([nothing], each))


class Moments(NamedTuple):
    """XᵀWX and XᵀWy: all that numeric labels need, in one pass."""

    XX: Array
    Xy: Array


def moments_over(engine: Engine, lens: Lens, chunks: Sequence[Chunk]) -> Moments:
    """The moments over all partitions, added in their order."""
    return reduce(lambda a, b: Moments(a.XX + b.XX, a.Xy + b.Xy), engine.map(_moments, chunks, shared=lens))


def _moments(lens: Lens, chunk: Chunk) -> Moments:
    XX, Xy = np.zeros((lens.width, lens.width)), np.zeros(lens.width)
    for X, y, weights in lens.rows(chunk):
        whole = np.hstack([X, np.ones((len(X), 1))]) if lens.intercept else X
        scaled = whole * np.sqrt(weights)[:, None]
        XX += scaled.T @ scaled
        Xy += whole.T @ (weights * y)
    return Moments(XX, Xy)
