"""Where vectors are computed: in this process, or by the workers of an engine (`parallel`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, NamedTuple

from dataworth.parallel import Engine

WAITING = 4
"""Pieces for each worker that are made ready together: more would have to be in memory."""


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
