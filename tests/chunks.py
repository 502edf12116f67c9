"""Chunks of work for tests of engines; workers import this file, so it imports little."""

import contextlib
import os
import pickle
import signal
import subprocess
import sys
import time
from pathlib import Path

from threadpoolctl import threadpool_info

from dataworth.errors import DataworthError


def seen(shared, chunk):
    """Which process looked at which object, and the threads of its linear algebra."""
    time.sleep(0.05)
    return chunk, os.getpid(), id(shared), {library["num_threads"] for library in threadpool_info()}


def sums(shared, chunk):
    """Bits that depend on the order of a sum; the first who comes to chunk 3 is killed in it."""
    matrix, killed = shared
    if chunk == 3 and not killed.exists():
        killed.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(0.02)
    return (matrix @ matrix[:, chunk]).tobytes()


def dies(shared, chunk):
    if chunk == shared:
        os.kill(os.getpid(), signal.SIGKILL)
    return chunk


def picky(shared, chunk):
    if chunk == shared:
        raise DataworthError(f"chunk {chunk} is bad")
    return chunk


def endless(shared, chunk):
    started = time.monotonic()
    while chunk and time.monotonic() - started < 600:
        time.sleep(0.01)
    return chunk


@contextlib.contextmanager
def script(text, *arguments, **environment):
    """A process of its own, in a session of its own, which is gone in the end."""
    path = os.pathsep.join(map(str, (Path(__file__).parents[1] / "src", Path(__file__).parent)))
    process = subprocess.Popen(
        [sys.executable, "-W", "error", "-c", text, *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": path, **environment},
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


class Elsewhere:
    """An engine of one worker that sees only what can be sent to it, and keeps what it was asked."""

    workers = 1

    def __init__(self):
        self.asked = []

    def map(self, fn, chunks, *, shared):
        for chunk in chunks:
            far, own, piece = pickle.loads(pickle.dumps((fn, shared, chunk)))
            self.asked.append(piece)
            yield far(own, piece)
