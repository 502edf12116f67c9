"""Where vectors are computed: in this process, or by the workers of one of `measure.engines`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple, Protocol

WAITING = 4
"""Pieces for each worker that are made ready together: more would have to be in memory."""


class Engine(Protocol):
    """Anything that evaluates ``fn(shared, piece)`` for every piece, and returns results in their order."""

    def map(self, fn: Callable[[Any, Any], Any], chunks: Sequence[Any], *, shared: Any) -> Iterator[Any]:
        """Yield ``fn(shared, chunk)`` in the order of ``chunks``."""
        ...


class Far(NamedTuple):
    """How a worker of an engine computes a piece: it loads the model that `shared` names once."""

    engine: Engine
    fn: Callable[[Any, Any], Any]
    shared: Any


def computed(pieces: Iterable[Any], here: Callable[[Any], Any], far: Far | None = None) -> Iterator[Any]:
    """What comes of each piece, in their order.

    >>> list(computed([1, 2], lambda piece: 10 * piece))
    [10, 20]
    """
    if far is None:
        yield from map(here, pieces)
        return
    left, workers = iter(pieces), max(1, getattr(far.engine, "workers", 1))
    while some := list(islice(left, WAITING * workers)):
        yield from far.engine.map(far.fn, some, shared=far.shared)
