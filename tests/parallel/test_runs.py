"""Run directories: nothing that was finished is lost or mistaken, whatever happens in between."""

import errno
import json
import os
import re
import shutil
import struct
from pathlib import Path

import pytest
from tests.chunks import script

from dataworth.parallel import Local
from dataworth.parallel.own_key import own_key
from dataworth.parallel.runs import Run, map_resumable, signer
from worlds import refusal

SOURCE = Path(__file__).parents[2] / "src"
CONFIG = {"seed": 0, "model": {"prior": 1.0, "name": "logistic"}, "about": {"dataworth": "0.1.0"}}


def work(calls, chunk):
    """Numbers of all kinds; calls are counted."""
    calls.append(chunk)
    return {"z": [chunk / 7, 1 / 3], "a": (float("nan"), float("-inf"), -0.0, 5e-324, None, True, "é")}


def bits(value):
    """A form in which two payloads are equal only if their bits, types and key order are."""
    if isinstance(value, dict):
        return ("dict", [(key, bits(inner)) for key, inner in value.items()])
    if isinstance(value, list):
        return ("list", [bits(inner) for inner in value])
    if isinstance(value, float):
        return ("float", struct.pack("<d", value))
    return (type(value).__name__, value)


@pytest.fixture
def directory(tmp_path):
    return tmp_path / "deep" / "run"


def filled(directory, n=3):
    """A closed run with n finished chunks; return the path of its log."""
    with Run.open(directory, CONFIG) as run:
        for i in range(n):
            run.append(i, {"value": i / 7})
    return directory / "chunks.jsonl"


def test_new_versions_are_noted_and_results_must_be_json(directory):
    filled(directory)
    with Run.open(directory, {**CONFIG, "about": {"dataworth": "9.0"}}) as run:
        (note,) = run.notes
        assert "dataworth 0.1.0 and is continued with 9.0" in note
    with Run.open(directory, {key: CONFIG[key] for key in ("seed", "model")}) as run:
        assert run.notes == []
    other = directory.with_name("other")
    with Run.open(other, CONFIG) as run, pytest.raises(TypeError, match="set"):
        map_resumable(Local(), lambda shared, chunk: {1}, [0], shared=None, run=run)
    assert not (other / "chunks.jsonl").exists()


def test_flipped_bytes_are_never_trusted(directory):
    """Flip each byte in turn: what is still read is what was written, under the right number."""
    log = filled(directory)
    whole = log.read_bytes()
    with Run.load(directory) as run:
        truth = run.completed()
        for i in range(len(whole)):
            for flip in (1, 8, 0xFF):
                damaged = bytearray(whole)
                damaged[i] ^= flip
                log.write_bytes(damaged)
                read = run.completed()
                assert read.items() <= truth.items()
                assert len(read) >= len(truth) - 2  # a damaged newline costs two lines


def test_damaged_chunk_is_computed_again(directory):
    calls = []
    with Run.open(directory, CONFIG) as run:
        first = map_resumable(Local(), work, range(4), shared=calls, run=run)
    log = directory / "chunks.jsonl"
    lines = log.read_bytes().splitlines(keepends=True)
    lines[1] = lines[1].replace(b"0.", b"0.1", 1)
    log.write_bytes(b"".join(lines))
    for _ in range(2):  # the second time nothing is left to do
        with Run.open(directory, CONFIG) as run:
            again = map_resumable(Local(), work, range(4), shared=calls, run=run)
        assert bits(again) == bits(first)
    assert calls == [0, 1, 2, 3, 1]


def forge(log, config, key, monkeypatch, rows):
    """Every chunk of a log anew, signed with a key."""
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    with monkeypatch.context() as patch:
        patch.setattr("dataworth.parallel.runs.own_key", lambda: key)
        sign = signer(config)
    told = [{"chunk": one["chunk"], "mac": sign(one["chunk"], rows), "rows": rows} for one in lines]
    log.write_text("".join(json.dumps(one) + "\n" for one in told))


def test_chunks_that_somebody_else_wrote_are_computed_again(directory, monkeypatch):
    """By whatever key, and of whatever run of one's own: what they say is never a result."""
    forged = {"z": [1e9, 1e9], "a": []}
    other = {**CONFIG, "seed": 1}
    for config, key, again in ((CONFIG, b"theirs", 4), (other, own_key(), 4), (CONFIG, own_key(), 0)):
        shutil.rmtree(directory, ignore_errors=True)
        calls = []
        with Run.open(directory, CONFIG) as run:
            first = map_resumable(Local(), work, range(4), shared=[], run=run)
        forge(directory / "chunks.jsonl", config, key, monkeypatch, forged)
        with Run.open(directory, CONFIG) as run:
            notes = run.notes
            found = map_resumable(Local(), work, range(4), shared=calls, run=run)
        assert len(calls) == again
        if again:
            assert bits(found) == bits(first)
            assert "4 chunks in" in notes[0]
            assert "or not written with the key in" in notes[0]


def test_the_key_is_made_once_and_is_nobody_elses_to_read(tmp_path, monkeypatch):
    place = tmp_path / "deep" / "key"
    monkeypatch.setenv("DATAWORTH_KEY", str(place))
    key = own_key()
    assert len(key) == 32
    assert key == own_key() == place.read_bytes()
    assert place.stat().st_mode & 0o077 == 0
    place.write_bytes(key[:31])
    assert "is no key of 32 bytes: delete it" in refusal(own_key)
    monkeypatch.setenv("DATAWORTH_KEY", str(place / "no"))
    assert "DATAWORTH_KEY" in refusal(own_key)


NAMES = [
    name + end for name in ("config.json", "chunks.jsonl", "result.json", "lock") for end in ("", ".tmp")
]


@pytest.mark.parametrize("name", NAMES)
def test_links_in_a_run_directory_are_refused(directory, tmp_path, name):
    """Through one, chunks or a result would be written into any file of whoever resumes the run."""
    filled(directory)
    for victim in (tmp_path / "victim", tmp_path / "none"):
        (tmp_path / "victim").write_text("mine")
        (directory / name).unlink(missing_ok=True)
        (directory / name).symlink_to(victim)
        for attempt in (lambda: Run.open(directory, CONFIG), lambda: Run.load(directory)):
            assert f"{name} is a link or no plain file" in refusal(attempt)
    assert (tmp_path / "victim").read_text() == "mine"
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"options": {"data": "/x/b.csv", "seed": 0}}, "data: a.csv → b.csv"),
        ({"inputs": {"/x/a.csv": "d" * 64}}, "a.csv: other content"),
        ({"options": {"data": "/x/a.csv", "seed": None}}, "seed: 0 → null"),
        ({"test": "e" * 64}, "test: other content"),
    ],
)
def test_differences_name_options_and_files_but_no_hashes(directory, change, words):
    config = {"options": {"data": "/x/a.csv", "seed": 0}, "inputs": {"/x/a.csv": "c" * 64}, "test": "c" * 64}
    Run.open(directory, config).close()
    told = refusal(Run.open, directory, config | change)
    assert f"has another configuration ({words}" in told
    assert not re.search("[0-9a-f]{64}", told)


def test_a_directory_that_is_no_run_is_refused_and_untouched(directory, tmp_path):
    """Whatever lies there as config.json, a pipe without an end too."""
    place = directory / "config.json"
    for make in (
        lambda: (directory / "thesis.tex").write_text("x"),
        lambda: place.write_text('{"model_type": "bert"}'),
        lambda: place.write_text("{"),
        lambda: place.write_text("[]"),
        lambda: place.write_text("[" * 10**5),
        place.mkdir,
        lambda: os.mkfifo(place),
    ):
        directory.mkdir(parents=True)
        make()
        for attempt in (lambda: Run.open(directory, CONFIG), lambda: Run.load(directory)):
            assert "give a" in refusal(attempt)
        assert len(list(directory.iterdir())) == 1
        shutil.rmtree(directory)
    assert "does not exist" in refusal(Run.load, directory)
    assert not directory.exists()
    file = tmp_path / "file"
    file.touch()
    assert "is a file" in refusal(Run.open, file, CONFIG)
    assert "not a run directory" in refusal(Run.load, file)
    assert "cannot be written to" in refusal(Run.open, file / "run", CONFIG)


def failing(code):
    def fail(*_):
        raise OSError(code, os.strerror(code))

    return fail


HOLD = """
import sys, time
from dataworth.parallel.runs import Run
with Run.load(sys.argv[1]):
    print("locked", flush=True)
    time.sleep(100)
"""


def test_locked_by_another_process(directory):
    pytest.importorskip("fcntl")
    filled(directory)
    with script(HOLD, directory) as process:
        assert process.stdout.readline() == "locked\n"
        for attempt in (lambda: Run.open(directory, CONFIG), lambda: Run.load(directory)):
            assert "Another process is working" in refusal(attempt)
    Run.load(directory).close()  # a killed process holds no lock


@pytest.mark.parametrize("code", ["ENOLCK", "ENOTSUP", "ENOSYS"])
def test_a_file_system_without_locks_is_done_without(directory, monkeypatch, code):
    fcntl = pytest.importorskip("fcntl")
    monkeypatch.setattr(fcntl, "flock", failing(getattr(errno, code)))
    with Run.open(directory, CONFIG) as run, Run.load(directory):
        run.append(0, 1)
    with Run.load(directory) as run:
        assert run.completed() == {0: 1}


def test_a_full_or_broken_disk_is_a_sentence_that_says_how_to_go_on(directory, monkeypatch):
    log = filled(directory)
    whole = log.read_bytes()
    with Run.load(directory) as run:
        for name in ("write", "fsync"):
            with monkeypatch.context() as patch:
                patch.setattr(os, name, failing(errno.EIO))
                assert "Input/output error): make room" in refusal(run.append, 3, 1)
            assert log.read_bytes() == whole


STEPS = """
import os, shutil, signal, sys
from pathlib import Path
from dataworth.parallel import Local
from dataworth.parallel.runs import Run, map_resumable

base, calls = Path(sys.argv[1]), ("open", "write", "fsync", "ftruncate", "replace", "mkdir")
whole, broken = base / "whole", base / "broken"

def work(shared, chunk):
    return {"x": chunk / 3}

def go(directory):
    with Run.open(directory, {"seed": 0}) as run:
        found = map_resumable(Local(), work, range(4), shared=None, run=run)
        run.finish({"sum": sum(one["x"] for one in found)})

def content(directory):
    return {path.name: path.read_bytes() for path in directory.iterdir()}

def die(at):
    count = 0
    def counting(name, call):
        def counted(*given, **named):
            nonlocal count
            if count == at:
                if name == "write":
                    call(given[0], given[1][: len(given[1]) // 2])
                os.kill(os.getpid(), signal.SIGKILL)
            count += 1
            return call(*given, **named)
        return counted
    for name in calls:
        setattr(os, name, counting(name, getattr(os, name)))
    go(broken)
    os._exit(0)

go(whole)
step = 0
while True:
    pid = os.fork() or die(step)
    if not os.WIFSIGNALED(os.waitpid(pid, 0)[1]):
        break
    go(broken)
    assert content(broken) == content(whole), step
    shutil.rmtree(broken)
    step += 1
print(step)
"""


def test_death_at_any_step_loses_nothing(tmp_path):
    """Before every call that changes the disk, and half way through every write; then resumed."""
    with script(STEPS, tmp_path) as process:
        out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert int(out) > 20


def test_no_logic_asks_what_time_it_is():
    """Clocks jump. Reports, pictures and logs of reviews say when they were made, caches drop what is
    oldest; all else measures spans, by clocks that do not."""
    asks = re.compile(r"\btime\.time\(|datetime\.now|date\.today\(|st_mtime|\btime_ns\(")
    asking = [file.name for file in SOURCE.glob("dataworth/**/*.py") if asks.search(file.read_text())]
    assert sorted(asking) == ["log.py", "plot.py", "run.py", "views.py", "yardstick_cache.py"]
