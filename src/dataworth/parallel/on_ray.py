"""A Ray cluster: each chunk is a task, and what they share goes to the object store once.

Plain tasks, not the actors of Ray's own joblib backend: Ray runs a task again if its worker or its node dies,
where the loss of an actor ends the work, and nothing but a reference travels with each chunk.
"""

from __future__ import annotations

import logging
import os
import socket
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Any

from dataworth.errors import DataworthError
from dataworth.extras import needed, short
from dataworth.parallel.local import Chunked, check_jobs, keep_memory, pinned
from dataworth.version import __version__
from dataworth.wording import option

RETRIES = 3
"""How often a chunk is computed again because its worker died."""
GRACE = 0.5
"""Seconds in which a chunk may still end before it is cancelled."""
PATIENCE = 10.0
"""Seconds in which a cluster must answer; Ray itself would wait for minutes."""


@dataclass(frozen=True)
class Ray:
    """Run chunks on a Ray cluster, at most ``jobs`` at once (-1: as many as it has CPUs).

    A process has one connection to Ray. If there is none yet, one is made: to ``address``, else to what
    RAY_ADDRESS names or ``ray start`` began on this machine, else to a Ray of ``jobs`` processes that ends
    with this process.
    """

    address: str | None = None
    jobs: int = -1

    def __post_init__(self) -> None:
        check_jobs(self.jobs)
        ray = needed("ray", "the engine 'ray'", "ray")
        if not ray.is_initialized():
            _connect(ray, self.address, self.jobs)

    @property
    def workers(self) -> int:
        """How many chunks run at once."""
        import ray

        cpus = max(1, int(ray.cluster_resources().get("CPU", 1)))
        return cpus if self.jobs < 0 else min(self.jobs, cpus)

    def map(self, fn: Chunked, chunks: Sequence[Any], *, shared: Any) -> Iterator[Any]:
        """Yield ``fn(shared, chunk)`` in the order of ``chunks``, each as soon as it is available.

        A single chunk is computed here. Closing the iterator early, Ctrl-C and an exception in ``fn`` end the
        tasks that are under way.
        """
        if len(chunks) < 2:
            return (pinned(fn, shared, chunk) for chunk in chunks)
        return self._on_cluster(fn, chunks, shared)

    def _on_cluster(self, fn: Chunked, chunks: Sequence[Any], shared: Any) -> Iterator[Any]:
        import ray
        from ray.exceptions import RayError

        # In a list, so that Ray leaves it to us to load it: once a worker, not with each chunk.
        held = [ray.put((fn, shared))]
        task = ray.remote(num_cpus=1, max_retries=RETRIES)(in_worker)
        tasks = (task.remote(held, __version__, chunk) for chunk in chunks)
        started = list(islice(tasks, len(chunks) if self.jobs < 0 else self.jobs))
        try:
            for i in range(len(chunks)):
                result, error = ray.get(started[i])
                if error is not None:
                    raise error
                started += islice(tasks, 1)
                yield result
        except RayError as error:
            raise DataworthError(
                f"A chunk was lost on Ray ({type(error).__name__}), though it was tried {RETRIES + 1} times: "
                "most often its workers are killed for lack of memory; use larger ones, or fewer jobs."
            ) from error
        finally:
            # Ray aborts this process if a task ends in the moment in which it is cancelled (ray-project/ray
            # 54798), so those that end soon are left alone. Last ones first: they have not begun.
            # One that does not hear of it is ended with its worker, or it would keep a CPU of the cluster.
            left = started
            for force in (False, True):
                left = ray.wait(left, num_returns=len(left), timeout=GRACE)[1] if left else []
                for one in reversed(left):
                    ray.cancel(one, force=force)


def in_worker(held: list[Any], version: str, chunk: Any) -> tuple[Any, Exception | None]:
    """A chunk's result, or the exception, which travels as a result, lest Ray retry it."""
    try:
        if version != __version__:
            raise DataworthError(
                f"The workers have dataworth {__version__}, and this process has {version}: install the "
                "same version everywhere."
            )
        try:
            fn, shared = receive(held[0])
        except Exception as error:
            raise DataworthError(
                f"A worker cannot load its work ({short(error)}): install there what is installed here."
            ) from error
        return pinned(fn, shared, chunk), None
    except Exception as error:
        error.add_note(f"On a worker:\n{traceback.format_exc()}")
        return None, error


@lru_cache(maxsize=1)  # once for each worker and map; the next map replaces it
def receive(held: Any) -> Any:
    """The function and the shared data."""
    import ray

    keep_memory()
    return ray.get(held)


def _connect(ray: Any, address: str | None, jobs: int) -> None:
    address = address or os.environ.get("RAY_ADDRESS") or None
    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
    try:
        host, _, port = (address or "").rpartition("://")[2].rpartition(":")
        if port.isdecimal():
            socket.create_connection((host, int(port)), PATIENCE).close()
        try:
            ray.init(address or "auto", **quiet)  # auto: what `ray start` began on this machine
        except ConnectionError:
            if address is not None:
                raise
            os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # ours tells nobody
            ray.init("local", num_cpus=None if jobs < 0 else jobs, include_dashboard=False, **quiet)
    except Exception as error:  # Ray raises what comes to hand, plain exceptions too
        where = "Ray does not start on this machine" if address is None else f"There is no Ray at {address}"
        raise DataworthError(
            f"{where} ({short(error)}): give {option('address')}, a cluster's head, such as 10.0.0.1:6379."
        ) from error
