"""What all engines do with a chunk: one thread, wherever it runs; results in the order of the chunks."""

from __future__ import annotations

import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple, TypeVar

from dataworth.errors import DataworthError
from dataworth.parallel.threads import one_thread
from dataworth.version import __version__

Task = TypeVar("Task")
Chunked = Callable[[Any, Any], Any]
"""``fn(shared, chunk)``"""

_KEPT = 30 << 20  # bytes; glibc's rule ends at 32 MB
_ALONE = threading.Lock()


def pinned(fn: Chunked, shared: Any, chunk: Any) -> Any:
    """Return ``fn(shared, chunk)``, computed with one thread."""
    with one_thread():
        return fn(shared, chunk)


class Cluster:
    """What engines on clusters share: a single chunk is computed here."""

    def map(self, fn: Chunked, chunks: Sequence[Any], *, shared: Any) -> Iterator[Any]:
        """Yield ``fn(shared, chunk)`` in the order of ``chunks``, each as soon as it is available.

        Closing the iterator early, Ctrl-C and an exception in ``fn`` end the tasks that are under way.
        """
        if len(chunks) < 2:
            return (pinned(fn, shared, chunk) for chunk in chunks)
        return self._on_cluster(fn, chunks, shared)

    def _on_cluster(self, fn: Chunked, chunks: Sequence[Any], shared: Any) -> Iterator[Any]:
        raise NotImplementedError


class Far(NamedTuple):
    """What came of a chunk on another machine: exceptions travel as results, lest clusters retry them."""

    result: Any
    error: Exception | None = None

    @classmethod
    def of(cls, version: str, receive: Callable[[], tuple[Chunked, Any]], chunk: Any) -> Far:
        """Compute a chunk with the function and the shared data that `receive` returns.

        Threads of a worker take turns: those of linear algebra are counted for the whole process.
        """
        try:
            if version != __version__:
                raise DataworthError(
                    f"The workers have dataworth {__version__}, and this process has {version}: install the "
                    "same version everywhere."
                )
            with _ALONE:
                try:
                    fn, shared = receive()
                except Exception as error:
                    raise DataworthError(
                        f"A worker cannot load its work ({str(error).splitlines()[0][:100]}): install there "
                        "what is installed here."
                    ) from error
                return cls(pinned(fn, shared, chunk))
        except Exception as error:
            error.add_note(f"On a worker:\n{traceback.format_exc()}")
            return cls(None, error)

    def get(self) -> Any:
        """The result; an exception is raised here."""
        if self.error is not None:
            raise self.error
        return self.result


def keep_memory() -> None:
    """Let this process keep the memory that it frees: a quarter of our time would go to page faults.

    glibc returns what is freed beyond a limit, which grows to the largest block that was ever freed.
    """
    bytearray(_KEPT)


def in_order(
    chunks: Sequence[Any],
    jobs: int,
    submit: Callable[[Any], Task],
    still: Callable[[list[Task]], list[Task]],
) -> Iterator[Task]:
    """Yield the task of each chunk, in order, when it is done; at most `jobs` are under way (-1: all).

    `submit` starts one; `still` waits until one of those under way is done, and returns the others.
    """
    tasks: list[Task] = []
    running: list[Task] = []
    ahead = iter(chunks)
    for i in range(len(chunks)):
        while i >= len(tasks) or tasks[i] in running:
            free = len(chunks) if jobs < 0 else jobs - len(running)
            started = [submit(chunk) for chunk in islice(ahead, free)]
            tasks += started
            running = still(running + started)
        yield tasks[i]


def check_jobs(jobs: int) -> None:
    """Refuse a number of jobs that is none."""
    if not isinstance(jobs, int) or (jobs < 1 and jobs != -1):
        raise DataworthError(f"jobs is {jobs!r}: give a number of processes from 1 up, or -1 for all cores.")
