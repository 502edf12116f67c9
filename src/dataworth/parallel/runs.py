"""Run directories: work that survives Ctrl-C, ``kill -9`` and power cuts, and continues where it stopped.

A run directory holds

- ``config.json``: everything needed to replay the run, written first;
- ``chunks.jsonl``: one line for each finished chunk, ``{"chunk": 3, "mac": "…", "rows": …}``;
- ``result.json``: written when the run is done;
- ``lock``: held while a process works there.

All of it is JSON, whose floats come back bit for bit. A chunk counts if it was written with this user's key
(`own_key`) for this very configuration: those that somebody else put there are computed again.
"""

from __future__ import annotations

import errno
import hashlib
import hmac
import io
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from dataworth.atomic import parse_json, read_whole
from dataworth.errors import DataworthError
from dataworth.parallel import Engine
from dataworth.parallel.own_key import key_path, own_key
from dataworth.wording import and_more, counted

if TYPE_CHECKING:
    from filelock import BaseFileLock

_CONFIG, _CHUNKS, _RESULT, _LOCK = "config.json", "chunks.jsonl", "result.json", "lock"
_TEMPORARY = ".tmp"
_MARK = "dataworth_run"  # tells our config.json from the many others
_FORMAT = 1
_STAGE = 10**9  # more chunks than a stage has
_NO_LOCKS = (errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS)


class Run:
    """One run directory, locked while open: use it in a ``with`` statement.

    ``config`` is the configuration as stored, ``notes`` are sentences that a user should see.
    """

    def __init__(self, directory: Path, config: dict[str, Any], lock: BaseFileLock) -> None:
        self.directory = directory
        self.config = config
        self.notes: list[str] = []
        self._sign = signer(config)
        self._lock = lock
        self._log: int | None = None  # opened by the first append
        self._stages = 0

    @classmethod
    def open(cls, directory: str | Path, config: Mapping[str, Any]) -> Run:
        """Start a run in a new or empty directory, or continue the one there if ``config`` is the same.

        Whatever is under the top-level key ``"about"`` (versions, machine, time) may differ.
        """
        directory = Path(directory)
        given: dict[str, Any] = _plain(dict(config))
        if directory.exists() and _read_config(directory) is None:
            if not directory.is_dir():
                raise DataworthError(f"{directory} is a file: give a directory for the run.")
            # what a run that was killed before its first write leaves behind is no obstacle
            others = sorted({path.name for path in directory.iterdir()} - {_LOCK, _CONFIG + _TEMPORARY})
            if others:
                raise DataworthError(
                    f"{directory} is not a run directory, and it is not empty (it holds {others[0]!r}): give "
                    "a new or empty directory."
                )
        lock = _acquire(directory)
        try:
            stored = _read_config(directory)  # again: another process may have been first to the lock
            if stored is None:
                with _writing(directory):
                    _write(directory / _CONFIG, {_MARK: _FORMAT, **given})
                return cls(directory, given, lock)
            _refuse_other(directory, stored, given)
        except BaseException:
            lock.release()
            raise
        run = cls(directory, stored, lock)
        before, now = (dict(c.get("about") or {}).get("dataworth") for c in (stored, given))
        if before != now and now is not None:
            run.notes.append(
                f"The run in {directory} was started with dataworth {before} and is continued with {now}."
            )
        if strange := run._scan().strange:
            run.notes.append(
                f"{counted(strange, 'chunk')} in {directory} will be computed again: damaged, or not written "
                f"with the key in {key_path()} (DATAWORTH_KEY names another) for this run."
            )
        return run

    @classmethod
    def load(cls, directory: str | Path) -> Run:
        """Open the run in ``directory`` with the configuration that is stored there."""
        directory = Path(directory)
        config = _read_config(directory)
        if config is None:
            what = "is not a run directory" if directory.exists() else "does not exist"
            raise DataworthError(
                f"{directory} {what}: give a directory in which a run was started (it holds {_CONFIG})."
            )
        return cls(directory, config, _acquire(directory))

    def completed(self) -> dict[int, Any]:
        """Return the finished chunks: number → rows.

        A line that is torn or not signed for this run is left out, so its chunk is computed again.
        """
        return self._scan().done

    def _scan(self) -> _Log:
        return _scan(self.directory / _CHUNKS, self._sign)

    def next_stage(self) -> int:
        """The number of the first chunk of the next stage: stages of one run have numbers of their own."""
        self._stages += 1
        return (self._stages - 1) * _STAGE

    def append(self, chunk: int, rows: Any) -> None:
        """Record one finished chunk; when this returns it is on the disk."""
        line = (_dumps({"chunk": chunk, "mac": self._sign(chunk, rows), "rows": rows}) + "\n").encode()
        with _writing(self.directory):
            path = self.directory / _CHUNKS
            if self._log is None:
                size = self._scan().size
                self._log = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
                os.ftruncate(self._log, size)  # a torn last line would swallow the line appended to it
                _sync_directory(self.directory)
            size = os.fstat(self._log).st_size
            try:
                # One write, so a kill leaves no line, the line, or a torn last one, which _scan recognises.
                if os.write(self._log, line) != len(line):
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                os.fsync(self._log)
            except OSError:
                os.ftruncate(self._log, size)
                raise

    def finish(self, result: Mapping[str, Any]) -> None:
        """Write the result of the whole run."""
        _write(self.directory / _RESULT, dict(result))

    def abandon(self) -> None:
        """Forget the run if nothing was done in it: what was asked for turned out to be impossible."""
        if not (self.directory / _CHUNKS).exists():
            (self.directory / _CONFIG).unlink(missing_ok=True)

    def close(self) -> None:
        """Release the lock; the directory can then be continued by anyone."""
        if self._log is not None:
            os.close(self._log)
        self._log = None
        self._lock.release()  # the file stays, for removing it would race with the next process

    def __enter__(self) -> Run:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def map_resumable(
    engine: Engine,
    fn: Callable[[Any, Any], Any],
    chunks: Sequence[Any],
    *,
    shared: Any,
    run: Run | None,
    on_chunk: Callable[[int, int], None] | None = None,
) -> list[Any]:
    """Return ``fn(shared, chunk)`` for all chunks, in order, without repeating those that ``run`` holds.

    Results must be JSON; fresh ones go through JSON too, so that it does not show which were resumed. The
    configuration of ``run`` must determine ``chunks`` and, where it is mapped over several times, their
    order. ``on_chunk(done, total)`` is called once at the start and after each chunk.
    """
    total = len(chunks)
    start = 0 if run is None else run.next_stage()
    kept = {} if run is None else {i - start: rows for i, rows in run.completed().items()}
    done = {i: rows for i, rows in kept.items() if 0 <= i < total}
    todo = [i for i in range(total) if i not in done]
    told = on_chunk or (lambda done, total: None)
    told(len(done), total)
    results = engine.map(fn, [chunks[i] for i in todo], shared=shared)
    try:
        for i, rows in zip(todo, results, strict=True):
            done[i] = _plain(rows)
            if run is not None:
                run.append(start + i, done[i])
            told(len(done), total)
    finally:
        # At once, not when the garbage collector comes by: Ctrl-C must end the workers.
        if hasattr(results, "close"):
            results.close()
    return [done[i] for i in range(total)]


@contextmanager
def _writing(directory: Path) -> Iterator[None]:
    """A disk that is full or went away is a sentence: what was appended before is there."""
    try:
        yield
    except OSError as error:
        raise DataworthError(
            f"{directory} cannot be written to ({error.strerror}): make room; what is done is kept, and the "
            f"same command or 'dataworth resume {directory}' continues."
        ) from error


@contextmanager
def refusing_foreign(run: Run | None) -> Iterator[None]:
    """Chunks that are not what a run of this kind leaves are a sentence, not a puzzle."""
    try:
        yield
    except (ValueError, TypeError, KeyError, IndexError) as error:
        if run is None or isinstance(error, DataworthError):
            raise
        raise DataworthError(
            f"The chunks in {run.directory} are not those of this run: give another directory to start anew."
        ) from error


def _dumps(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


def _plain(value: Any) -> Any:
    return json.loads(_dumps(value))


def signer(config: Mapping[str, Any]) -> Callable[[int, Any], str]:
    """What signs the chunks of a configuration with this user's key.

    Configuration and number are part of it: good rows elsewhere, or under a damaged number, are other rows.
    """
    of = hashlib.sha256(json.dumps({**config, "about": 0}, sort_keys=True).encode()).hexdigest()
    key = own_key()

    def sign(chunk: int, rows: Any) -> str:
        return hmac.new(key, _dumps([of, chunk, rows]).encode(), "sha256").hexdigest()[:32]

    return sign


class _Log(NamedTuple):
    """The valid chunks of a log, its size without a damaged last line, and how many others it has."""

    done: dict[int, Any]
    size: int
    strange: int


def _scan(path: Path, sign: Callable[[int, Any], str]) -> _Log:
    done: dict[int, Any] = {}
    size = end = strange = 0
    for line in io.BytesIO(path.read_bytes() if path.exists() else b""):
        size, end = end, end + len(line)
        try:
            entry = parse_json(line)
            chunk, mac, rows = entry["chunk"], entry["mac"], entry["rows"]
            good = type(chunk) is int and hmac.compare_digest(mac.encode(), sign(chunk, rows).encode())
        except (ValueError, KeyError, TypeError, AttributeError):
            good = False
        if line.endswith(b"\n") and good:
            size = end
            done.setdefault(chunk, rows)
        elif line.endswith(b"\n"):
            strange += 1
    return _Log(done, size, strange)


def _read_config(directory: Path) -> dict[str, Any] | None:
    """Return the configuration of a run, None if there is none; refuse a config.json that is not ours."""
    path = directory / _CONFIG
    for name in (_CONFIG, _CHUNKS, _RESULT, _LOCK):
        for own in (directory / name, directory / (name + _TEMPORARY)):
            if own.is_symlink() or (own.exists() and not own.is_file()):  # what is written would go elsewhere
                raise DataworthError(f"{own} is a link or no plain file: give another directory.")
    try:
        config = parse_json(read_whole(path))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except ValueError:
        config = None
    except OSError as error:
        raise DataworthError(
            f"{path} cannot be read ({error.strerror}): give another directory, or see to the file."
        ) from error
    if not isinstance(config, dict) or config.pop(_MARK, None) != _FORMAT:
        raise DataworthError(
            f"{directory} is not a run directory (its {_CONFIG} is damaged, or not one that this version of "
            "dataworth writes): give another directory, or restore the file."
        )
    return config


def _refuse_other(directory: Path, stored: dict[str, Any], given: dict[str, Any]) -> None:
    differences = list(_differences({**stored, "about": 0}, {**given, "about": 0}))
    if differences:
        told = "; ".join(differences[:3]) + and_more(len(differences) - 3)
        raise DataworthError(
            f"The run in {directory} has another configuration ({told}): give "
            "that one to continue, or another directory to start a new run."
        )


def _differences(old: Any, new: Any, name: str = "") -> Iterator[str]:
    """Yield ``name: old → new`` for each leaf that differs, ``name: other content`` for each file."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in {**old, **new}:
            yield from _differences(old.get(key), new.get(key), os.path.basename(key))
    elif _dumps(old) != _dumps(new):  # as texts: nan is the same as nan
        hashed = any(re.fullmatch("[0-9a-f]{64}", str(value)) for value in (old, new))
        yield f"{name}: other content" if hashed else f"{name}: {_short(old)} → {_short(new)}"


def _short(value: Any) -> str:
    """A value for a sentence: a file by its name."""
    text = os.path.basename(value) if isinstance(value, str) and os.path.isabs(value) else _dumps(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _acquire(directory: Path) -> BaseFileLock:
    """Return the lock on ``directory``, which is created if need be."""
    from filelock import FileLock, Timeout

    # Not a lock of this thread alone: whoever closes the run releases it.
    lock = FileLock(directory / _LOCK, timeout=0, thread_local=False, fallback_to_soft=False)
    try:
        directory.mkdir(parents=True, exist_ok=True)
        lock.acquire()
    except Timeout:
        raise DataworthError(
            f"Another process is working in {directory}: wait for it to end, or give another directory."
        ) from None
    except OSError as error:
        # Some network file systems have no locks: go on without. Two processes in one directory repeat work
        # but do not corrupt it.
        if error.errno not in _NO_LOCKS:
            raise DataworthError(
                f"{directory} cannot be written to ({error.strerror}): give another directory."
            ) from error
    return lock


def _write(path: Path, value: Mapping[str, Any]) -> None:
    """Write JSON so that a reader, or a restart after a crash, sees all of it or none."""
    temporary = path.with_name(path.name + _TEMPORARY)  # a fixed name: the lock admits one writer
    with temporary.open("w", encoding="ascii") as file:
        file.write(json.dumps(value, indent=2) + "\n")
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)
    _sync_directory(path.parent)


def _sync_directory(directory: Path) -> None:
    if hasattr(os, "O_DIRECTORY"):  # Windows cannot open a directory
        handle = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
