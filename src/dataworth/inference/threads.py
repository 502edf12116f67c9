"""One thread for sums whose last bits must not depend on how many there are."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController


@cache
def _libraries() -> ThreadpoolController:
    """The libraries of linear algebra, looked for once: that takes milliseconds, and limiting them none."""
    return ThreadpoolController().select(user_api="blas")


def one_blas_thread() -> AbstractContextManager[Any]:
    """Within, numpy's and scipy's linear algebra runs on one thread.

    >>> with one_blas_thread():
    ...     {library["num_threads"] for library in _libraries().info()}
    {1}
    """
    return _libraries().limit(limits=1)
