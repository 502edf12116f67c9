"""Engines: where the work runs. Each evaluates a function over chunks and returns the same bits."""

from __future__ import annotations

from dataworth.errors import DataworthError
from dataworth.measure.engines.base import Engine
from dataworth.measure.engines.local import Local

__all__ = ["Engine", "Local", "get_engine"]

_ENGINES = {"local": Local}


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
