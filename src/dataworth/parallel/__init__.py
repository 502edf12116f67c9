"""Where the work runs: engines (processes, Ray), run directories, one thread for linear algebra."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

from dataworth.errors import DataworthError
from dataworth.parallel.local import Local
from dataworth.parallel.on_ray import Ray

__all__ = ["Engine", "Local", "Ray", "get_engine"]

_HERE = ("loky", "multiprocessing", "threading", "sequential")  # joblib's ways of using this machine


class Engine(Protocol):
    """Anything that can evaluate ``fn(shared, chunk)`` for every chunk; it need not inherit from this class.

    ``fn`` must be pure: it may neither change ``shared`` (which workers see read-only) nor depend on which
    process runs it, so that every engine returns the same bits.

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


def get_engine(
    name: str | None = None, jobs: int | None = None, address: str | None = None, *, enough: int = 1
) -> Local | Ray:
    """The engine ``name``: local or ray; without a name, the backend of ``joblib.parallel_config``.

    ``jobs`` chunks run at once (-1: one for each core); by default as many as ``parallel_config`` says, else
    ``enough`` on this machine and all of a cluster. ``address`` is that of a cluster.

    >>> get_engine("local", jobs=2)
    Local(jobs=2)
    >>> get_engine("cloud")
    Traceback (most recent call last):
    dataworth.errors.DataworthError: There is no engine 'cloud': use 'local' or 'ray'.
    """
    if name is None:
        name, said = _configured()
        jobs = said if jobs is None else jobs
    if name == "ray":
        return Ray(address, -1 if jobs is None else jobs)
    if name != "local":
        raise DataworthError(f"There is no engine {name!r}: use 'local' or 'ray'.")
    if address is not None:
        raise DataworthError(
            f"address is {address!r}, but this machine needs none: name the engine too, ray."
        )
    return Local(enough if jobs is None else jobs)


def _configured() -> tuple[str, int | None]:
    """The engine and the number of jobs that ``joblib.parallel_config`` asks for."""
    if "joblib" not in sys.modules:  # then nobody can have asked
        return "local", None
    from joblib.parallel import BACKENDS, get_active_backend

    backend, jobs = get_active_backend()
    name = next((name for name, kind in BACKENDS.items() if kind is type(backend)), type(backend).__name__)
    return ("local" if name in _HERE else name), jobs
