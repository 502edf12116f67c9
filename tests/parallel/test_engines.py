"""Processes of this machine: the same bits, nothing left behind, whatever ends them."""

import os
import signal
import tempfile
import time
from pathlib import Path

import numpy as np
import pytest
import scipy.linalg
from tests.chunks import dies, picky, script
from threadpoolctl import threadpool_info, threadpool_limits

from dataworth.errors import DataworthError
from dataworth.parallel import Local


def blas_heavy(shared, seed):
    A = shared["X"] + np.random.default_rng(seed).standard_normal((300, 300))
    L = scipy.linalg.cholesky(A @ A.T + 300 * np.eye(300), lower=True)
    return (L @ A).tobytes() + np.linalg.eigvalsh(L @ L.T).tobytes()


def slow(shared, chunk):
    time.sleep(shared)
    return chunk


def threads(shared, chunk):
    return [library["num_threads"] for library in threadpool_info()]


def inspect(shared, chunk):
    """Describe each array in `shared`: mapped from a file, or writable; and which process is looking."""
    kinds = []
    for X in (shared["F"], *shared["list"]):
        base = X
        while isinstance(base, np.ndarray) and base.base is not None:
            base = base.base
        mapped = isinstance(base, memoryview) and type(base.obj).__name__ == "mmap"
        kinds.append((mapped, X.flags.writeable, X.flags.f_contiguous, float(X.sum())))
    return kinds, id(shared), os.getpid()


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def leftovers(folder):
    return list(folder.glob("dataworth-*"))


def wait_for(condition, seconds=60):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.02)


@pytest.mark.parametrize("jobs", [1, 2])
def test_order_length_threads_and_exceptions(jobs):
    for chunks in (range(7), [], [5]):
        assert list(Local(jobs).map(slow, chunks, shared=0.01)) == list(chunks)
    with threadpool_limits(2):
        before = threads(None, None)
        results = Local(jobs).map(slow, range(4), shared=0)
        next(results)
        assert threads(None, None) == before  # also between two chunks
        results.close()
        assert threads(None, None) == before
        with pytest.raises(DataworthError):
            list(Local(jobs).map(picky, range(4), shared=1))
        assert threads(None, None) == before


def test_bits_do_not_depend_on_jobs():
    shared = {"X": np.asfortranarray(np.random.default_rng(0).standard_normal((300, 300)))}
    chunks = list(range(6))
    with threadpool_limits(2):  # so that inline must really pin
        one = list(Local(1).map(blas_heavy, chunks, shared=shared))
    assert one == list(Local(2).map(blas_heavy, chunks, shared=shared))


def test_nested_arrays_are_mapped_and_loaded_once():
    F = np.asfortranarray(np.arange(200_000.0).reshape(400, 500))
    views = list(Local(2).map(inspect, range(8), shared={"F": F, "list": [F[:0]]}))
    for kinds, _, _ in views:
        assert kinds == [(True, False, True, float(F.sum())), (True, False, True, 0.0)]
    processes = {process for _, _, process in views}
    assert os.getpid() not in processes
    assert len({(process, address) for _, address, process in views}) == len(processes)


@pytest.mark.parametrize("jobs", [1, 2])
def test_exceptions_keep_their_type(jobs, temporary):
    with pytest.raises(DataworthError, match="chunk 3 is bad"):
        list(Local(jobs).map(picky, range(6), shared=3))
    assert not leftovers(temporary)
    assert list(Local(jobs).map(picky, range(3), shared=3)) == [0, 1, 2]  # and the engine works on


def test_killed_worker_is_a_sentence(temporary):
    with pytest.raises(DataworthError, match="use fewer jobs"):
        list(Local(2).map(dies, range(6), shared=2))
    assert not leftovers(temporary)


def test_closing_early_removes_the_files(temporary):
    results = Local(2).map(slow, range(50), shared=0.05)
    assert not leftovers(temporary)  # nothing happens before the first result is asked for
    assert next(results) == 0
    assert leftovers(temporary)
    results.close()
    assert not leftovers(temporary)


MAIN = """
from dataworth.parallel import Local

class Odd(Exception):
    pass

def fn(shared, chunk):
    if chunk == 3:
        raise Odd(shared)
    return chunk

print(list(Local(2).map(fn, range(3), shared=7)))
try:
    list(Local(2).map(fn, range(4), shared=7))
except Odd as error:
    print("Odd", error)
"""


def test_functions_and_classes_of_main(tmp_path):
    with script(MAIN) as process:
        out, err = process.communicate(timeout=120)
    assert out.splitlines() == ["[0, 1, 2]", "Odd 7"], err


INTERRUPTED = """
import os, sys, time
from pathlib import Path
from dataworth.parallel import Local

folder = Path(sys.argv[1])

def fn(shared, chunk):
    (folder / f"worker-{os.getpid()}").touch()
    time.sleep(100)

list(Local(2).map(fn, range(10), shared=None))
"""


def alive(process):
    try:
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for the workers in /proc")
@pytest.mark.parametrize(
    ("send", "number"), [(os.killpg, signal.SIGINT), (os.kill, signal.SIGTERM), (os.kill, signal.SIGKILL)]
)
def test_signals_end_the_workers(tmp_path, send, number):
    with script(INTERRUPTED, tmp_path, TMPDIR=str(tmp_path)) as process:
        wait_for(lambda: len(list(tmp_path.glob("worker-*"))) == 2 or process.poll() is not None)
        workers = [int(path.name.split("-")[1]) for path in tmp_path.glob("worker-*")]
        assert len(workers) == 2
        assert all(alive(worker) for worker in workers)
        send(process.pid, number)
        _, err = process.communicate(timeout=60)
    assert process.returncode == -number, err
    if number == signal.SIGINT:
        assert err.splitlines()[-1] == "KeyboardInterrupt", err
    wait_for(lambda: not any(alive(worker) for worker in workers), 10)
    assert not leftovers(tmp_path)
