"""The posterior of data that are read in passes, at any tempering: sums over rows that no machine holds.

The first pass checks every row and counts what must be known of all: copies of test rows, classes, repeats.
A sample of the rows gives the coefficients and the curvature to begin with; each pass of Newton's method then
adds a few numbers from each partition (`inference.partial_sums`), wherever the engine runs it, in the order
of the partitions: the result does not depend on which worker was first. Another tempering begins where the
last one ended.

Making features takes longer than reading. On one machine they are therefore kept, in a temporary file of 4
bytes a feature and row, and passes read that. Elsewhere each pass makes them anew. Either way they are
rounded to single precision, so that both give the same bits.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Array
from ..data.chance import Sketch
from ..data.dataset import Dataset
from ..data.io.streamed import Piece, Reader, Stream
from ..data.labels import Classes
from ..data.leaks import LeakScanner, Overlap, Packed, refuse_all_gone
from ..errors import DataworthError
from ..inference.gaussian import divergence_from_prior
from ..inference.logistic import Counts
from ..inference.partial_sums import At, Sums, combined, find_mode, partial_sums
from ..models import GaussianPrior, Linear, Logistic
from ..parallel import Engine, Local, get_engine
from ..parallel.threads import one_thread
from ..wording import option
from ..yardstick.yardstick import Yardstick
from .options import Options

PARALLEL_CELLS = 1 << 28
"""Cells of a file from which processes pay: a pass over fewer takes a second."""
PASSES = 8
"""Passes that are expected, for a bar of progress."""
ROOM = 0.5
"""The proportion of a disk's free room that features may take."""
ESTIMATED = 0.01
"""Doublings by which an estimated number of different rows may be wrong."""
SINGLE, DOUBLE = np.dtype(np.float32), np.dtype(np.float64)


class Rows(NamedTuple):
    """Rows as a fit sees them: features in single precision, targets and weights."""

    X: Any
    y: Array
    weights: Array


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
        return self.yardstick.recipe.width + int(self.yardstick.model.intercept)

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
            for n in chunk.lengths:
                X = np.fromfile(file, SINGLE, n * self.yardstick.recipe.width).reshape(n, -1)
                yield Rows(X, np.fromfile(file, DOUBLE, n), np.fromfile(file, DOUBLE, n))


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
            for part in lens.measured(data):
                np.ascontiguousarray(part).tofile(file)
    joined = Overlap.joined(met) if met else None
    return Looked(joined, Sketch.joined(sketches), weight, classes, has_ids, tuple(lengths))


def _sums(shared: tuple[Lens, Array], chunk: Chunk) -> Sums:
    """What `partial_sums.find_mode` asks for, over the rows of a partition."""
    lens, theta = shared
    d = len(theta)
    nothing = Sums(0.0, np.zeros(d), np.zeros((d, d)), 0.0, 0.0)
    each = (
        partial_sums(theta, X, Counts(w * y, w * (1.0 - y)), ones=lens.yardstick.model.intercept)
        for X, y, w in lens.rows(chunk)
    )
    return combined(chain([nothing], each))


def _moments(lens: Lens, chunk: Chunk) -> tuple[Array, Array]:
    """XᵀWX and XᵀWy of a partition: all that numeric labels need, in one pass."""
    XX, Xy = np.zeros((lens.width, lens.width)), np.zeros(lens.width)
    for X, y, weights in lens.rows(chunk):
        whole = np.hstack([X, np.ones((len(X), 1))]) if lens.yardstick.model.intercept else X
        scaled = whole * np.sqrt(weights)[:, None]
        XX += scaled.T @ scaled
        Xy += whole.T @ (weights * y)
    return XX, Xy


class Fitted(NamedTuple):
    """N(mean, precision⁻¹) of the coefficients, the intercept's last, under N(0, C·I)."""

    mean: Array
    precision: Array
    prior_variance: float

    @property
    def prior(self) -> GaussianPrior:
        """The same as a prior of other rows."""
        return GaussianPrior(self.mean, self.precision)

    def information_gain(self) -> float:
        """KL(posterior ‖ prior)."""
        spectrum = np.asarray(np.linalg.eigvalsh(self.prior_variance * self.precision), dtype=float)
        return divergence_from_prior(spectrum, self.mean, self.prior_variance)


def model_in_passes(yardstick: Yardstick) -> Logistic | Linear:
    """The yardstick's model, if its posterior is made of sums; or a sentence."""
    model = yardstick.model
    if isinstance(model, Logistic) or (isinstance(model, Linear) and np.isscalar(model.noise_variance)):
        return model
    raise DataworthError(
        f"the yardstick's model is {yardstick.kind}, which is not fitted in passes over a file "
        f"(two classes and numeric labels are): read some rows, with {option('sample', 100000)}."
    )


class Passes(AbstractContextManager["Passes"]):
    """Data that are read in passes, on a yardstick, without the rows of a test set, if there is one.

    `made`: how often the file was read, or the features that were kept of it. Files are removed on leaving.
    """

    def __init__(
        self, stream: Stream, yardstick: Yardstick, options: Options, test: Dataset | None, name: str
    ) -> None:
        self.model = model_in_passes(yardstick)
        self.yardstick, self.stream, self.progress = yardstick, stream, options.progress
        self.engine: Engine = _engine(stream, options)
        self.made, self._told = 1, 0  # one pass drew the sample
        self._known: dict[float, Fitted] = {}
        self._last: At | None = None
        self._folder = _folder(stream, yardstick, self.engine)
        folder = None if self._folder is None else Path(self._folder.name)
        self.lens = Lens(stream.reader, yardstick, folder)
        self.sample = yardstick.numbered(stream.sample)
        try:
            self._begin(test, name)
        except BaseException:
            self.__exit__()
            raise

    def __exit__(self, *error: object) -> None:
        if self._folder is not None:
            self._folder.cleanup()

    def _begin(self, test: Dataset | None, name: str) -> None:
        """The first pass: everything is checked, and rows of the test set are found."""
        finder = None if test is None else LeakScanner(test, self.sample)
        every = [Chunk(i, piece) for i, piece in enumerate(self.stream.pieces)]
        self.made += 1
        looked = zip(every, self._map(look, every, (self.lens, finder)), strict=True)
        some = [(chunk, one) for chunk, one in looked if one.sketch.rows]
        chunks, found = [chunk for chunk, _ in some], [one for _, one in some]
        self.sketch = Sketch.joined(one.sketch for one in found)
        self.leaked, self.note = 0, None
        gone: list[Packed | None] = [None] * len(found)
        if finder is not None:
            met = [one.met for one in found if one.met is not None]
            verdict = finder.decide(met, self.sketch, any(one.has_ids for one in found), name)
            self.leaked, self.note, gone = verdict.found, verdict.note, verdict.gone
            if verdict.rule is not None:
                self.sample = self.sample.take(~getattr(finder(self.sample), verdict.rule).data)
        self.chunks = [
            chunk._replace(gone=out, lengths=one.lengths)
            for chunk, out, one in zip(chunks, gone, found, strict=True)
        ]
        self.rows = self.sketch.rows - sum(int(np.unpackbits(own).sum()) for own in gone if own is not None)
        refuse_all_gone(self.rows, self.sketch.rows, name)
        self.weight = sum(one.weight for one in found) * self.rows / max(self.sketch.rows, 1)
        each = [one.classes for one in found if one.classes is not None]
        self.classes: Array | None = np.sum(each, axis=0) if each else None
        self.asked: Array | None = None
        if test is not None:
            X = self._design(test)
            self.asked = X.T @ X

    @property
    def repeats(self) -> float:
        """How often the data as a whole are repeated (`evidence.tempering.repeats`), by distinct rows."""
        distinct = self.sketch.distinct - (self.sketch.rows - self.rows)  # test rows were taken out
        often = float(self.weight / max(distinct, 1.0))
        near = abs(often - round(often)) < (ESTIMATED if self.sketch.full else 1e-9) * often
        return max(1.0, float(round(often))) if near else 1.0

    def fitted(self, tempering: float) -> Fitted:
        """The posterior with every row counted so many times."""
        if tempering not in self._known:
            self._known[tempering] = self._fit(tempering)
        return self._known[tempering]

    def _fit(self, tempering: float) -> Fitted:
        C = self.model.prior_variance
        eye = np.eye(self.lens.width) / C
        with one_thread():  # the last bits depend on the number of threads
            if isinstance(self.model, Linear):
                XX, Xy = self._moments
                scale = tempering / float(self.model.noise_variance)  # type: ignore[arg-type]
                precision = scale * XX + eye
                mean = np.asarray(np.linalg.solve(precision, scale * Xy), dtype=float)
                return Fitted(mean, precision, C)
            try:
                mode, point = find_mode(self._sums_at, C, self._start(tempering), tempering, self.asked)
            except np.linalg.LinAlgError as error:
                raise DataworthError(
                    "some rows lie so far out that sums over all of them would lose their digits: correct "
                    f"them, or read some rows, with {option('sample', 100000)}."
                ) from error
            self._last = point
            return Fitted(mode.coef, tempering * point.sums.curvature + eye, C)

    @cached_property
    def _moments(self) -> tuple[Array, Array]:
        self.made += 1
        parts = self._map(_moments, self.chunks, self.lens)
        return reduce(lambda a, b: (a[0] + b[0], a[1] + b[1]), parts)

    def _sums_at(self, theta: Array) -> Sums:
        """The sums at θ over all partitions, added in their order."""
        self.made += 1
        return combined(self._map(_sums, self.chunks, (self.lens, theta)))

    def _map(self, work: Any, chunks: list[Chunk], shared: Any) -> Iterator[Any]:
        """What the engine makes of partitions; whoever listens is told of each."""
        for found in self.engine.map(work, chunks, shared=shared):
            self._told += 1
            if self.progress is not None:
                total = len(self.stream.pieces) * max(PASSES, self.made + 1)
                self.progress.update(self._told, total)
            yield found

    def _start(self, tempering: float) -> At:
        """Where the last fit ended; at first the mode of the sample."""
        if self._last is not None:
            return self._last
        X, y = self._design(self.sample), self.yardstick.targets(self.sample)
        weights = np.ones(len(y)) if self.sample.weights is None else self.sample.weights
        weights = weights * (self.weight / max(float(weights.sum()), 1e-300))
        counts = Counts(weights * y, weights * (1.0 - y))
        zero = np.zeros(X.shape[1])
        first = At(zero, partial_sums(zero, X, counts))
        mode, _ = find_mode(
            lambda theta: partial_sums(theta, X, counts), self.model.prior_variance, first, tempering
        )
        return At(mode.coef, self._sums_at(mode.coef))

    def _design(self, data: Dataset) -> Array:
        """Features of rows in memory, with a column of ones for the intercept."""
        X = self.yardstick.recipe.features(data)
        return np.hstack([X, np.ones((len(X), 1))]) if self.model.intercept else X


def _folder(stream: Stream, yardstick: Yardstick, engine: Engine) -> TemporaryDirectory[str] | None:
    """Where features are kept between passes; nowhere if workers are elsewhere, or there is no room."""
    if not isinstance(engine, Local):
        return None
    # where a temporary directory is in memory, this one is not
    place = "/var/tmp" if "TMPDIR" not in os.environ and Path("/var/tmp").is_dir() else gettempdir()
    needed = stream.rows * (4 * yardstick.recipe.width + 16)
    try:
        if needed > ROOM * shutil.disk_usage(place).free:
            return None
        return TemporaryDirectory(prefix="dataworth-", dir=place, ignore_cleanup_errors=True)
    except OSError:
        return None


def _engine(stream: Stream, options: Options) -> Engine:
    if options.engine is not None and not isinstance(options.engine, str):
        return options.engine
    enough = -1 if stream.cells > PARALLEL_CELLS and len(stream.pieces) > 1 else 1
    return get_engine(options.engine, options.jobs, options.address, enough=enough)
