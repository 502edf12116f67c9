"""One fit of rows that no machine holds: every worker adds up its partitions, wherever the engine runs them.

The pairs of a design are shared out whole. A single fit of a file larger than memory is not: each pass of
Newton's method needs sums over all rows (`inference.partial_sums`), a few numbers from each partition.

Features φ = z·P of a recipe without a kernel are a projection of its columns z. Sums need no features then:
z·(Pθ) is one product instead of many, and what P does to a sum is done once, at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import chain
from typing import NamedTuple

import numpy as np

from ..arrays import Array, Flags
from ..data.dataset import Dataset
from ..data.io.pieces import NotNumbers, Piece
from ..data.io.streamed import Reader
from ..data.labels import Classes
from ..data.leaks_in_parts import Finder, Met
from ..data.sketch import Sketch
from ..inference.logistic import Counts
from ..inference.partial_sums import Sums, SumsAt, combined, partial_sums
from ..yardstick.yardstick import Yardstick
from .engines import Engine

WIDER = 2.4
"""Columns for each feature up to which XᵀWX of columns costs less than making features: w² against 2wd + d²."""


class Chunk(NamedTuple):
    """A partition, and packed flags of rows that are taken out of it."""

    piece: Piece
    gone: Flags | None = None


class Rows(NamedTuple):
    """Rows as a fit sees them: X, targets and weights."""

    X: Array
    y: Array
    weights: Array

    @property
    def counts(self) -> Counts:
        """Weights of each row with label 1 and with label 0."""
        return Counts(self.weights * self.y, self.weights * (1.0 - self.y))


@dataclass(frozen=True)
class Lens:
    """How partitions are looked at: read, and measured by a yardstick."""

    reader: Reader
    yardstick: Yardstick

    @property
    def intercept(self) -> bool:
        """Whether the model has one."""
        return self.yardstick.model.intercept

    def projects(self, curved: bool) -> bool:
        """Whether sums are taken over features rather than over the columns that they project."""
        recipe = self.yardstick.recipe
        wide = len(recipe.projection) > WIDER * recipe.width
        return recipe.kernel is not None or (curved and wide)

    def slabs(self, piece: Piece) -> Iterator[Dataset]:
        """Rows of a partition, with numbers in place of texts."""
        return map(self.yardstick.numbered, self.reader.slabs(piece))

    def rows(self, chunk: Chunk, features: bool) -> Iterator[Rows]:
        """Rows of a partition, without those that are taken out: features, or the columns they project."""
        first, recipe = 0, self.yardstick.recipe
        gone = None if chunk.gone is None else np.unpackbits(chunk.gone).astype(bool)
        for data in self.slabs(chunk.piece):
            first, start = first + len(data), first
            if gone is not None and gone[start:first].any():
                data = data.take(~gone[start:first])
                if not len(data):
                    continue
            X = recipe.features(data) if features else recipe.scaled(data.select(recipe.columns).X)
            weights = np.ones(len(data)) if data.weights is None else data.weights
            yield Rows(X, self.yardstick.targets(data), weights)

    def projection(self) -> Array:
        """P, with the intercept's own direction."""
        P = self.yardstick.recipe.projection
        if not self.intercept:
            return P
        made = np.zeros((P.shape[0] + 1, P.shape[1] + 1))
        made[:-1, :-1], made[-1, -1] = P, 1.0
        return made


class Looked(NamedTuple):
    """What the first pass tells of a partition.

    met: what it shares with the test set, if there is one. classes: rows of each class. texts: columns that
    hold numbers written in ways that only text keeps.
    """

    met: Met | None
    sketch: Sketch
    weight: float
    classes: Array | None
    texts: tuple[str, ...]
    has_ids: bool


def look(shared: tuple[Lens, Finder | None], piece: Piece) -> Looked:
    """The first pass over a partition: everything is checked, and what must be known of all rows counted."""
    lens, finder = shared
    texts: tuple[str, ...] = ()
    while True:
        try:
            return _look(lens, finder, piece)._replace(texts=texts)
        except NotNumbers as odd:  # a cell that only text can hold: it says what it is when all is read so
            if odd.column in texts:
                raise
            texts = (*texts, odd.column)
            lens = Lens(lens.reader.as_text(odd.column), lens.yardstick)


def _look(lens: Lens, finder: Finder | None, piece: Piece) -> Looked:
    met, sketches, weight, has_ids = [], [], 0.0, False
    labels = lens.yardstick.labels
    classes = np.zeros(len(labels.names)) if isinstance(labels, Classes) else None
    columns = lens.yardstick.recipe.columns
    for data in lens.slabs(piece):
        own = data.select(columns)
        y = lens.yardstick.targets(data)
        weight += float(len(data) if data.weights is None else data.weights.sum())
        if classes is not None:
            classes += np.bincount(y.astype(np.intp), minlength=len(classes))
        sketches.append(Sketch.of(own))
        has_ids = data.ids is not None
        if finder is not None:
            met.append(finder(data))
    joined = Met.joined(met) if met else None
    return Looked(joined, Sketch.joined(sketches), weight, classes, (), has_ids)


def sums_over(
    engine: Engine, lens: Lens, chunks: Sequence[Chunk], done: Callable[[], None] = lambda: None
) -> SumsAt:
    """What `partial_sums.find_mode` asks for: the sums at θ over all partitions.

    Rows are read where the partition is worked on, so that they never meet. Partitions are added in the
    order of `chunks`: the result does not depend on which worker was first. `done` is called after each.
    """

    def at(theta: Array, curved: bool) -> Sums:
        features = lens.projects(curved)
        to = None if features else lens.projection()
        asked = (lens, theta if to is None else to @ theta, curved, features)
        found = combined(_told(engine.map(_sums, chunks, shared=asked), done))
        return found if to is None else found.mapped(to)

    return at


def _told(parts: Iterator[Sums], done: Callable[[], None]) -> Iterator[Sums]:
    for part in parts:
        done()
        yield part


def _sums(shared: tuple[Lens, Array, bool, bool], chunk: Chunk) -> Sums:
    lens, theta, curved, features = shared
    nothing = Sums(0.0, np.zeros(len(theta)), np.zeros((len(theta),) * 2) if curved else None, 0.0, 0.0)
    each = (
        partial_sums(theta, rows.X, rows.counts, curved, ones=lens.intercept)
        for rows in lens.rows(chunk, features)
    )
    return combined(chain([nothing], each))


def moments_over(engine: Engine, lens: Lens, chunks: Sequence[Chunk]) -> tuple[Array, Array]:
    """XᵀWX and XᵀWy over all partitions: all that numeric labels need, in one pass."""
    XX, Xy = reduce(
        lambda a, b: (a[0] + b[0], a[1] + b[1]), engine.map(_moments, chunks, shared=lens)
    )
    return XX, Xy


def _moments(lens: Lens, chunk: Chunk) -> tuple[Array, Array]:
    d = lens.yardstick.recipe.width + int(lens.intercept)
    XX, Xy = np.zeros((d, d)), np.zeros(d)
    for rows in lens.rows(chunk, features=True):
        X = np.hstack([rows.X, np.ones((len(rows.X), 1))]) if lens.intercept else rows.X
        scaled = X * np.sqrt(rows.weights)[:, None]
        XX += scaled.T @ scaled
        Xy += X.T @ (rows.weights * rows.y)
    return XX, Xy
