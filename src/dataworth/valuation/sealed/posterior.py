"""What is sent in place of rows: the posterior, what is said of it, and a commitment to the rows."""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from ...arrays import Array
from ...data.dataset import Dataset
from ...data.io.sealed import SUFFIX, Contents, is_sealed, read_sealed, write_sealed
from ...errors import DataworthError


@dataclass(frozen=True, eq=False)
class Sealed:
    """A dataset as its posterior on a yardstick; `seal` makes one, `load` reads one.

    `key` opens the commitment to the rows; it stays with who sealed them and is never written.
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

    def is_of(self, data: Dataset, key: str) -> bool:
        """Whether these are the rows that were sealed, in this order; the key is the vendor's."""
        return secrets.compare_digest(self.commitment, commit(data, key))


def commit(data: Dataset, key: str) -> str:
    """A hash of the rows that says nothing without the key.

    >>> data = Dataset([[1.0]], [1])
    >>> commit(data, "a") == commit(data, "a"), commit(data, "a") == commit(data, "b")
    (True, False)
    """
    return hashlib.sha256(f"{key} {data.content_hash()}".encode()).hexdigest()
