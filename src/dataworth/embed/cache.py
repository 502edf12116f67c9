"""Vectors kept on disk under the hash of what they were computed from; and where they are computed."""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from io import BytesIO
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dataworth.atomic import cache_directory
from dataworth.errors import DataworthError
from dataworth.parallel import Engine

DIGEST = hashlib.sha256().digest_size


def open_cache(cache: bool | str | PathLike[str]) -> Cache | None:
    """The cache that was asked for: True is the user's, a path another, False none.

    One that somebody named must be writable; the user's is done without.
    """
    if isinstance(cache, bool):
        return Cache(cache_directory() / "embed") if cache else None
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


def key(what: str, item: Any) -> str:
    """SHA-256 of a description and of an item: an array with its shape, or what `repr` says of it."""
    digest = hashlib.sha256(f"{what}\0".encode())
    if isinstance(item, np.ndarray):
        digest.update(f"{item.dtype.str}{item.shape}\0".encode() + np.ascontiguousarray(item).tobytes())
    else:
        digest.update(repr(item).encode())
    return digest.hexdigest()


@dataclass(frozen=True)
class Cache:
    """A directory of arrays by key."""

    directory: Path

    def _path(self, key: str) -> Path:
        return self.directory / key[:2] / f"{key}.vectors"

    def get(self, key: str) -> NDArray[Any] | None:
        """The array, if it is there and undamaged; whatever else is there, is not."""
        try:
            content = self._path(key).read_bytes()
        except OSError:
            return None
        digest, body = content[:DIGEST], content[DIGEST:]
        if hashlib.sha256(key.encode() + body).digest() != digest:
            return None
        try:
            found: NDArray[Any] = np.load(BytesIO(body), allow_pickle=False)
        except (OSError, ValueError, EOFError, MemoryError):
            return None
        return found

    def put(self, key: str, array: NDArray[Any]) -> None:
        """Keep the array; whoever reads at the same time sees all of it or nothing."""
        body = BytesIO()
        np.save(body, array, allow_pickle=False)
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


WAITING = 4
"""Pieces for each worker that are made ready together: more would have to be in memory."""


def vectors_of(
    items: Iterable[Any],
    what: str,
    made: Callable[[Any, list[Any]], Iterable[NDArray[Any]]],
    shared: Any,
    *,
    total: int,
    together: int,
    cache: bool | str | PathLike[str] = False,
    engine: Engine | None = None,
    progress: Any = None,
) -> list[NDArray[Any]]:
    """The array of each item, in order: from the cache, or by ``made(shared, items)``, here or elsewhere."""
    store = open_cache(cache)
    tell = getattr(progress, "update", progress) or (lambda done, total: None)
    found: dict[int, NDArray[Any]] = {}
    asked: deque[tuple[int, str]] = deque()

    def missing() -> Iterator[Any]:
        for i, item in enumerate(items):
            name = key(what, item) if store else ""
            known = store.get(name) if store else None
            if known is None:
                asked.append((i, name))
                yield item
            else:
                found[i] = known
                tell(len(found), total)

    tell(0, total)
    left = missing()
    pieces = iter(lambda: list(islice(left, together)), [])
    for piece in _computed(pieces, made, shared, engine):
        for array in piece:
            i, name = asked.popleft()
            if store:
                store.put(name, array)
            found[i] = array
            tell(len(found), total)
    return [found[i] for i in range(total)]


def _computed(pieces: Iterator[Any], made: Any, shared: Any, engine: Engine | None) -> Iterator[Any]:
    if engine is None:
        yield from (made(shared, piece) for piece in pieces)
        return
    while some := list(islice(pieces, WAITING * max(1, getattr(engine, "workers", 1)))):
        yield from engine.map(made, some, shared=shared)
