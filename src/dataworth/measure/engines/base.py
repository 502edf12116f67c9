"""What an engine is: a map over chunks of work that knows nothing of what the work means."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol


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
