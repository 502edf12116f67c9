"""A Dask cluster: each chunk is a task, and what they share is one more, whose result they all depend on.

Shared data are the result of a task, not scattered: Dask makes a lost result again, a scattered object it
cannot.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from dataworth.errors import DataworthError
from dataworth.extras import needed, short
from dataworth.parallel.chunks import Chunked, Cluster, Far, check_jobs, in_order, keep_memory
from dataworth.version import __version__
from dataworth.wording import option

PATIENCE = 10.0
"""Seconds in which a cluster must answer."""


@dataclass(frozen=True)
class Dask(Cluster):
    """Run chunks on a Dask cluster, at most ``jobs`` at once (-1: as many as it has threads).

    ``client`` is the connection; by default one to ``address``, else that of this process, else one to a
    cluster of ``jobs`` processes on this machine that ends with this process.
    """

    address: str | None = None
    jobs: int = -1
    client: Any = None

    def __post_init__(self) -> None:
        check_jobs(self.jobs)
        needed("distributed", "the engine 'dask'", "dask")
        if self.client is None:
            object.__setattr__(self, "client", _connect(self.address, self.jobs))

    @property
    def workers(self) -> int:
        """How many chunks run at once."""
        threads = max(1, sum(self.client.nthreads().values()))
        return threads if self.jobs < 0 else min(self.jobs, threads)

    def _on_cluster(self, fn: Chunked, chunks: Sequence[Any], shared: Any) -> Iterator[Any]:
        import dask
        from distributed import CancelledError, KilledWorker, wait
        from joblib.externals.loky.cloudpickle_wrapper import dumps

        started: list[Any] = []

        def send(function: Any, *arguments: Any) -> Any:
            # A name of its own each time: Dask takes tasks of one name for the same.
            started.append(self.client.submit(function, *arguments, key=f"dataworth-{uuid4().hex}"))
            return started[-1]

        try:
            with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 PB"}):  # it is meant
                held = send(_receive, dumps((fn, shared), protocol=5))
            tasks = in_order(
                chunks,
                self.jobs,
                lambda chunk: send(_in_worker, held, __version__, chunk),
                lambda running: list(wait(running, return_when="FIRST_COMPLETED").not_done),
            )
            for one in tasks:
                yield one.result().get()
        except (KilledWorker, CancelledError) as error:
            raise DataworthError(
                f"A chunk was lost on Dask ({type(error).__name__}): most often its workers are killed for "
                "lack of memory; use larger ones, or fewer jobs."
            ) from error
        finally:
            self.client.cancel(started, force=True)


def _receive(payload: bytes) -> Far:
    keep_memory()
    try:
        return Far(pickle.loads(payload))
    except Exception as error:
        return Far(None, error)


def _in_worker(held: Far, version: str, chunk: Any) -> Far:
    return Far.of(version, held.get, chunk)


def _connect(address: str | None, jobs: int) -> Any:
    from distributed import Client, default_client

    if address is None:
        with suppress(ValueError):
            return default_client()
        workers = os.cpu_count() if jobs < 0 else jobs
        return Client(n_workers=workers, threads_per_worker=1, dashboard_address=None)
    try:
        return Client(address, timeout=PATIENCE)
    except (OSError, ValueError) as error:
        raise DataworthError(
            f"There is no Dask at {address} ({short(error)}): give {option('address')}, its scheduler's, "
            "such as 10.0.0.1:8786."
        ) from error
