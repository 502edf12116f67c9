"""One thread for linear algebra: small things are done before threads have met, and sums keep their bits."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any


@contextmanager
def one_thread() -> Iterator[None]:
    """Within, the linear algebra of numpy, scipy and scikit-learn runs on one thread; a decorator as well."""
    # Only libraries that are already loaded can be limited, and scipy brings one of its own.
    import scipy.linalg  # noqa: F401

    with _pools(frozenset({"sklearn", "torch"} & sys.modules.keys())).limit(limits=1):
        yield


@contextmanager
def one_torch_thread(torch: Any) -> Iterator[None]:
    """The same for torch, for inference: sums in one order, however many cores there are."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with torch.inference_mode():
            yield
    finally:
        torch.set_num_threads(threads)


@cache
def _pools(loaded: frozenset[str]) -> Any:
    """The pools of this process, looked for once (it takes milliseconds) per set of packages with some."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
