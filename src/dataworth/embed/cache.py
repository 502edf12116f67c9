"""Vectors kept on disk under the hash of what they were computed from; and where they are computed."""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from io import BytesIO
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from platformdirs import user_cache_path

from dataworth.errors import DataworthError
from dataworth.parallel import Engine

DIGEST = hashlib.sha256().digest_size


def default_directory() -> Path:
    """`DATAWORTH_CACHE`, or the place that the platform has for caches."""
    chosen = os.environ.get("DATAWORTH_CACHE")
    return Path(chosen) if chosen else user_cache_path("dataworth", appauthor=False, opinion=False)


def open_cache(cache: bool | str | PathLike[str]) -> Cache | None:
    """The cache that was asked for: True is the user's, a path another, False none.

    One that somebody named must be writable; the user's is done without.
    """
    if isinstance(cache, bool):
        return Cache(default_directory() / "embed") if cache else None
    directory = Path(cache)
    try:
        directory.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=directory).close()
    except OSError as error:
        raise DataworthError(
            f"{directory} cannot be used as a cache ({error.strerror}): choose another directory, or"
            " none with cache=False (--no-cache)."
        ) from error
    return Cache(directory)


def key(what: str, arrays: list[NDArray[Any]]) -> str:
    """SHA-256 of a description and of arrays, with their shapes."""
    digest = hashlib.sha256(what.encode())
    for array in arrays:
        digest.update(f"\0{array.dtype.str}{array.shape}\0".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


@dataclass(frozen=True)
class Cache:
    """A directory of matrices by key.

    >>> cache = Cache(Path(tempfile.mkdtemp()))
    >>> cache.put("ab12", np.ones((2, 3), dtype=np.float32))
    >>> cache.get("ab12", rows=2).shape, cache.get("cd34", rows=2)
    ((2, 3), None)
    """

    directory: Path

    def _path(self, key: str) -> Path:
        return self.directory / key[:2] / f"{key}.vectors"

    def get(self, key: str, rows: int) -> NDArray[np.float32] | None:
        """The matrix, if it is there, undamaged and of that many rows."""
        try:
            content = self._path(key).read_bytes()
        except OSError:
            return None
        digest, body = content[:DIGEST], content[DIGEST:]
        if hashlib.sha256(key.encode() + body).digest() != digest:
            return None
        matrix = np.load(BytesIO(body), allow_pickle=False)
        fits = matrix.dtype == np.float32 and matrix.ndim == 2 and len(matrix) == rows
        return matrix if fits else None

    def put(self, key: str, matrix: NDArray[np.float32]) -> None:
        """Keep the matrix; whoever reads at the same time sees all of it or nothing."""
        body = BytesIO()
        np.save(body, matrix, allow_pickle=False)
        content = hashlib.sha256(key.encode() + body.getvalue()).digest() + body.getvalue()
        path = self._path(key)
        temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
        with contextlib.suppress(OSError):  # a full or read-only disk costs time later, not the result now
            path.parent.mkdir(parents=True, exist_ok=True)
            try:
                temporary.write_bytes(content)
                os.replace(temporary, path)
            finally:
                temporary.unlink(missing_ok=True)


def listener(progress: Any) -> Callable[[int, int], Any]:
    """What hears (done, total): a function, something with such an `update`, or nobody."""
    return getattr(progress, "update", progress) or (lambda done, total: None)


WAITING = 4
"""Pieces for each worker that are made ready together: more would have to be in memory."""


def computed(
    pieces: Iterable[Any], here: Callable[[Any], Any], engine: Engine | None, far: Any, shared: Any
) -> Iterator[Any]:
    """What comes of each piece, in their order: here, or by ``far(shared, piece)`` of an engine's workers.

    >>> list(computed([1, 2], lambda piece: 10 * piece, None, None, None))
    [10, 20]
    """
    if engine is None:
        yield from map(here, pieces)
        return
    left, workers = iter(pieces), max(1, getattr(engine, "workers", 1))
    while some := list(islice(left, WAITING * workers)):
        yield from engine.map(far, some, shared=shared)
