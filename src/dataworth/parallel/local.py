"""This machine: inline, or processes of joblib's loky that map the shared data read-only from one file.

The sum of a matrix product depends on how many threads share it. Every chunk therefore runs with BLAS pinned
to one thread, inline as in a worker, and the number of jobs does not change a bit of the results.
"""

from __future__ import annotations

import gc
import mmap
import os
import pickle
import shutil
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from dataworth.errors import DataworthError
from dataworth.parallel.threads import one_thread

Chunked = Callable[[Any, Any], Any]
"""``fn(shared, chunk)``"""

_KEPT = 30 << 20  # bytes; glibc's rule ends at 32 MB
_ALIGN = 64  # a cache line, so that no mapped array is misaligned


def pinned(fn: Chunked, shared: Any, chunk: Any) -> Any:
    """Return ``fn(shared, chunk)``, computed with one thread."""
    with one_thread():
        return fn(shared, chunk)


def keep_memory() -> None:
    """Let this process keep the memory that it frees: a quarter of our time would go to page faults.

    glibc returns what is freed beyond a limit, which grows to the largest block that was ever freed.
    """
    bytearray(_KEPT)


def check_jobs(jobs: int) -> None:
    """Refuse a number of jobs that is none."""
    if not isinstance(jobs, int) or (jobs < 1 and jobs != -1):
        raise DataworthError(f"jobs is {jobs!r}: give a number of processes from 1 up, or -1 for all cores.")


@dataclass(frozen=True)
class Local:
    """Run chunks in this process (``jobs=1``) or in ``jobs`` processes (-1: one for each core).

    Arrays inside ``shared`` reach the workers through one memory-mapped file. Keep them contiguous: pickle
    copies any other layout into a contiguous one, and BLAS may sum the copy in another order.

    >>> engine = Local()
    >>> list(engine.map(lambda shared, chunk: shared * chunk, [1, 2, 3], shared=10))
    [10, 20, 30]
    >>> Local(jobs=0)
    Traceback (most recent call last):
    dataworth.errors.DataworthError: jobs is 0: give a number of processes from 1 up, or -1 for all cores.
    """

    jobs: int = 1

    def __post_init__(self) -> None:
        check_jobs(self.jobs)

    @property
    def workers(self) -> int:
        """How many chunks run at once."""
        return self.jobs if self.jobs > 0 else os.cpu_count() or 1

    def map(self, fn: Chunked, chunks: Sequence[Any], *, shared: Any) -> Iterator[Any]:
        """Yield ``fn(shared, chunk)`` in the order of ``chunks``, each as soon as it is available.

        Closing the iterator early, Ctrl-C, ``kill -9`` of this process and an exception in ``fn`` all end the
        workers and remove the temporary file.
        """
        # One chunk cannot be shared out, and inline gives the same bits without starting a process.
        if self.jobs == 1 or len(chunks) < 2:
            return (pinned(fn, shared, chunk) for chunk in chunks)
        return _in_processes(fn, chunks, shared, self.jobs)


def _in_processes(fn: Chunked, chunks: Sequence[Any], shared: Any, jobs: int) -> Iterator[Any]:
    from joblib import Parallel, delayed, parallel_config
    from joblib.externals.loky.process_executor import TerminatedWorkerError

    with TemporaryDirectory(prefix="dataworth-", ignore_cleanup_errors=True) as folder:
        _dump((os.getpid(), fn, shared), Path(folder))
        # The configuration is entered only to build `parallel`, which keeps it: held open across a yield it
        # would leak into the caller's own joblib calls. One chunk a batch, so each arrives when it is ready.
        with parallel_config("loky", n_jobs=jobs, inner_max_num_threads=1):
            parallel = Parallel(return_as="generator", batch_size=1)
        results = parallel(delayed(_in_worker)(folder, chunk) for chunk in chunks)
        try:
            # Not `yield from`, which would close `results` outside of our `finally`.
            for result in results:  # noqa: UP028
                yield result
        except TerminatedWorkerError as error:
            raise DataworthError(
                f"One of the worker processes of {Local(jobs)!r} was killed, most often for lack of memory: "
                "use fewer jobs."
            ) from error
        finally:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # joblib warns of results that nobody read: we know
                results.close()


def _in_worker(folder: str, chunk: Any) -> Any:
    fn, shared = _receive(folder)
    return pinned(fn, shared, chunk)


@lru_cache(maxsize=1)  # once for each worker and map; the next map replaces it
def _receive(folder: str) -> tuple[Chunked, Any]:
    parent, fn, shared = _load(Path(folder))
    keep_memory()
    gc.freeze()  # loky collects garbage every second: a tenth of a worker's time, if modules are searched too
    if os.getppid() == parent:
        # Ctrl-C reaches the whole process group; the parent ends us, and has something to say about it.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        threading.Thread(target=_end_with, args=(parent, folder), daemon=True).start()
    return fn, shared


def _end_with(parent: int, folder: str) -> None:
    """End this worker if ``parent`` is killed during the map: loky's would go on for minutes."""
    while os.getppid() == parent and Path(folder).exists():
        time.sleep(0.5)
    if os.getppid() != parent:  # asked again: another worker may have removed the folder for this very reason
        shutil.rmtree(folder, ignore_errors=True)
        os._exit(1)


def _dump(value: Any, folder: Path) -> None:
    """Write ``value`` as a small pickle and one file with the buffers of its arrays, ready to be mapped.

    Pickle's out-of-band buffers (PEP 574) find arrays wherever they are nested; joblib's own memory maps
    would leave small ones, and all that is not an array, to be pickled again with every chunk.
    """
    # The cloudpickle that loky uses for results, wherever this joblib has it (older ones vendor it).
    from joblib.externals.loky.cloudpickle_wrapper import dumps

    spans: list[tuple[int, int]] = []
    with (folder / "buffers").open("wb") as out:
        out.write(bytes(_ALIGN))  # an empty file cannot be mapped

        def keep(buffer: pickle.PickleBuffer) -> None:
            raw = buffer.raw()
            out.write(bytes(-out.tell() % _ALIGN))
            spans.append((out.tell(), raw.nbytes))
            out.write(raw)

        body = dumps(value, protocol=5, buffer_callback=keep)
    (folder / "value").write_bytes(pickle.dumps((body, spans)))


def _load(folder: Path) -> Any:
    """Return what `_dump` wrote, its arrays mapped read-only."""
    body, spans = pickle.loads((folder / "value").read_bytes())
    with (folder / "buffers").open("rb") as file:
        mapped = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    return pickle.loads(body, buffers=[mapped[start : start + size] for start, size in spans])
