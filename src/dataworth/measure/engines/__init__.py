"""Engines: where the work runs. Each evaluates a function over chunks and returns the same bits."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

from dataworth.errors import DataworthError
from dataworth.measure.engines.local import Local

__all__ = ["Engine", "Local", "get_engine"]

_ENGINES = {"local": Local}


class Engine(Protocol):
    """Anything that can evaluate ``fn(shared, chunk)`` for every chunk.

    ``fn`` must be pure: it may neither change ``shared`` (which workers see read-only) nor depend on which
    process runs it, so that every engine returns the same bits.

    An engine need not inherit from this class:

    >>> class Plain:
    ...     def map(self, fn, chunks, *, shared):
    ...         for chunk in chunks:
    ...             yield fn(shared, chunk)
    >>> engine: Engine = Plain()
    >>> list(engine.map(lambda shared, chunk: shared + chunk, [1, 2], shared=10))
    [11, 12]
    """

    def map(self, fn: Callable[[Any, Any], Any], chunks: Sequence[Any], *, shared: Any) -> Iterator[Any]:
        """Yield ``fn(shared, chunk)`` in the order of ``chunks``, each as soon as it is available."""
        ...


def get_engine(name: str = "local", jobs: int = 1) -> Engine:
    """Return the engine called ``name`` with ``jobs`` processes (-1: one for each core).

    >>> get_engine("local", jobs=2)
    Local(jobs=2)
    >>> get_engine("cloud")
    Traceback (most recent call last):
    dataworth.errors.DataworthError: There is no engine 'cloud': use one of 'local'.
    """
    if name not in _ENGINES:
        known = ", ".join(repr(known) for known in sorted(_ENGINES))
        raise DataworthError(f"There is no engine {name!r}: use one of {known}.")
    return _ENGINES[name](jobs)
