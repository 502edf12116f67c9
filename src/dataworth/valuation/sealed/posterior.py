"""What is sent in place of rows: their posterior on a yardstick, and a commitment to them under a key."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from ...arrays import Array
from ...data.dataset import Dataset, label_keys
from ...data.io.streamed import Stream
from ...data.keys import commit, opens
from ...data.labels import Classes
from ...data.sealed import SUFFIX, Contents, is_sealed, read_sealed, write_sealed
from ...errors import DataworthError
from ...evidence.tempering import repeats
from ...measure import check_datasets
from ...models import Linear, Logistic
from ...models.gaussian import distinct_rows
from ...parallel.threads import one_thread
from ...yardstick.yardstick import Yardstick


@dataclass(frozen=True, eq=False)
class Sealed:
    """A dataset as its posterior on a yardstick; `seal` makes one, `load` reads one.

    `key` opens the commitment to the rows; it stays with who sealed them and is never written. `weight` is
    that of all rows, each counted as often as the yardstick counts rows of data.
    """

    has_rows: ClassVar[bool] = False
    mean: Array = field(repr=False)
    precision: Array = field(repr=False)
    yardstick: str
    rows: int
    weight: float
    counts: dict[str, int] | None
    version: str
    commitment: str
    key: str | None = field(default=None, repr=False)

    def __len__(self) -> int:
        return self.rows

    @classmethod
    def load(cls, path: str | Path) -> Sealed:
        """Read a file, which may be hostile: it is checked before anything is done with it."""
        mean, precision, facts = read_sealed(path)
        return cls(mean, precision, **facts)

    def save(self, path: str | Path) -> None:
        """Write as safetensors, without the key."""
        if not is_sealed(Path(path)):
            raise DataworthError(f"{path}: sealed data are written as {SUFFIX}: give such a name.")
        write_sealed(path, self.contents())

    def contents(self) -> Contents:
        """What is written: all but the key."""
        return Contents(self.mean, self.precision, self.facts())

    def facts(self) -> dict[str, Any]:
        """What a file says beside its arrays."""
        names = ("yardstick", "rows", "weight", "counts", "version", "commitment")
        return {name: getattr(self, name) for name in names}

    def content_hash(self) -> str:
        """SHA-256 of all content but the key."""
        digest = hashlib.sha256(repr(self.facts()).encode())
        digest.update(self.mean.astype("<f8").tobytes() + self.precision.astype("<f8").tobytes())
        return digest.hexdigest()

    def is_of(self, data: Dataset | Stream, key: str) -> bool:
        """Whether these are the rows that were sealed, in this order; the key is the vendor's."""
        return opens(data.content_hash(), self.commitment, key)


def seal(data: Dataset, yardstick: Yardstick, *, key: str | None = None) -> Sealed:
    """The posterior of a dataset on a yardstick, to be sent instead of its rows.

    `key` (16 characters or more; by default random) hides the commitment to the rows (`data.keys.commit`)
    from a reader who would guess them.

    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> data = Dataset(X, (X[:, 0] > 0).astype(int))
    >>> yard = Yardstick.fit(data.take(range(30)))
    >>> sealed = seal(data.take(range(30, 60)), yard)
    >>> sealed.rows, sealed.counts, len(sealed.mean) == yard.recipe.width + 1
    (30, {'0': 13, '1': 17}, True)
    """
    if not isinstance(yardstick, Yardstick):
        raise DataworthError(
            f"yardstick is a {type(yardstick).__name__}; give a Yardstick: dw.Yardstick.load(path) reads one."
        )
    made = commit(data, key)
    return replace(seal_with(data, yardstick, yardstick.digest), commitment=made.hash, key=made.key)


def seal_with(data: Dataset, yardstick: Yardstick, digest: str) -> Sealed:
    """The posterior alone, without a commitment, for a caller that knows the yardstick's digest."""
    check_datasets({"the data": data})
    model = sealing_model(yardstick)
    X, y = yardstick.features(data), yardstick.targets(data)
    counted = np.ones(len(data)) if data.weights is None else data.weights
    counted = counted / repeats(distinct_rows(X)[1], counted)
    with one_thread():  # the last bits depend on the number of threads
        posterior: Any = model.fit(X, y, counted)
        mean, precision = posterior.mean, posterior.precision
    return Sealed(
        np.asarray(mean, dtype=float),
        0.5 * (precision + precision.T),
        digest,
        len(data),
        float(counted.sum()),
        class_counts(yardstick, data),
        version("dataworth"),
        commitment="",
    )


def class_counts(yardstick: Yardstick, data: Dataset) -> dict[str, int] | None:
    """Rows of each of the yardstick's classes; numeric labels have none."""
    if not isinstance(yardstick.labels, Classes):
        return None
    keys = label_keys(data.y)
    return {name: int((keys == name).sum()) for name in yardstick.labels.names}


def sealing_model(yardstick: Yardstick) -> Logistic | Linear:
    """The yardstick's model, if its posterior is one Gaussian, which can be sealed."""
    model = yardstick.model
    if isinstance(model, Logistic):
        return model
    if isinstance(model, Linear) and isinstance(model.noise_variance, int | float):
        return model
    raise DataworthError(
        f"the yardstick's model is {model!r}, whose posterior cannot be sealed: "
        "use two classes, or numeric labels with a known noise_variance."
    )
