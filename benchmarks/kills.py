"""Runs that are killed: resumed, do they give the same result, byte for byte?

    python benchmarks/kills.py [--kills 200] [--seed 0] [--out results/kills.json]

Random moments: a score in a run directory is ended by `kill -9` at a moment uniform over the time that it
takes, and resumed; half of the resumes are killed too. Every run that comes to its end must have the
result.json and the chunks of one that nobody killed, and lose no chunk that was written.

Every step: the same run, killed before each of its calls that change the disk, and in the middle of each
write (half of the bytes are there).

Full disk: the same run on a file system of 16 kB (where one may be mounted) and under a limit on the size of
files, refused in a sentence, then resumed with room; and on a read-only disk.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
from typer.testing import CliRunner

import dataworth
from dataworth.cli.app import app

STEPS = ("open", "write", "fsync", "ftruncate", "replace", "mkdir", "unlink")
"""Calls of `os` that change the disk."""
PAIRS = 60


def make_files(folder: Path) -> None:
    rng = np.random.default_rng(0)
    for name in ("data", "test"):
        X = rng.normal(size=(150, 12))
        table = {f"x{j}": X[:, j] for j in range(12)} | {"label": (X[:, 0] + rng.normal(size=150) > 0) * 1}
        pa.csv.write_csv(pa.table(table), folder / f"{name}.csv")
    dataworth.Yardstick.fit(dataworth.read(folder / "test.csv"), prior_variance=1.0).save(folder / "y.json")


def score(run: Path) -> tuple[int, str]:
    """The command, in this process: its exit code, and what it said."""
    words = ["score", "data.csv", "--test", "test.csv", "--yardstick", "y.json", "--ignore", "all", "-q"]
    words += ["--pairs", str(PAIRS), "--size", "20", "--jobs", "1", "--run-dir", str(run)]
    found = CliRunner().invoke(app, words)
    return found.exit_code, found.stderr


def child(body: Callable[[], object], seconds: float | None = None) -> int:
    """Run a body in a process of its own, killed after so many seconds; its status."""
    pid = os.fork()
    if pid == 0:
        code = 70
        try:
            code = int(body() or 0)
        finally:
            os._exit(code)
    if seconds is not None:
        time.sleep(seconds)
        os.kill(pid, signal.SIGKILL)
    return os.waitpid(pid, 0)[1]


def done(run: Path) -> set[int]:
    try:
        lines = (run / "chunks.jsonl").read_bytes().splitlines(keepends=True)
    except OSError:
        return set()
    return {json.loads(line)["chunk"] for line in lines if line.endswith(b"\n")}


def same(run: Path, whole: Path) -> bool:
    """Whether both runs have the same result and the same chunks, and nothing lies about."""
    read = [[(one / name).read_bytes() for name in ("result.json", "chunks.jsonl")] for one in (run, whole)]
    left = {path.name for path in run.iterdir()} - {"config.json", "chunks.jsonl", "result.json", "lock"}
    return read[0] == read[1] and not left


def random_kills(kills: int, seed: int, folder: Path, whole: Path, seconds: float) -> dict:
    rng, killed, runs, wrong, lost, early = np.random.default_rng(seed), 0, 0, 0, 0, 0
    while killed < kills:
        run, kept = folder / "run", set()
        shutil.rmtree(run, ignore_errors=True)
        again = True
        while again and killed < kills:
            status = child(lambda run=run: score(run)[0], rng.uniform(0, 1.1 * seconds))
            dead = os.WIFSIGNALED(status)
            killed += dead
            early += not (run / "chunks.jsonl").exists()
            now = done(run)
            lost += bool(kept - now)
            kept, again = now, dead and rng.random() < 0.5
        code = os.waitstatus_to_exitcode(child(lambda run=run: score(run)[0]))
        lost += bool(kept - done(run))
        wrong += code != 0 or not same(run, whole)
        runs += 1
    return {
        "kills": killed,
        "of them before the first chunk": early,
        "runs": runs,
        "other results": wrong,
        "lost chunks": lost,
    }


def steps(folder: Path, whole: Path) -> dict:
    """Death before every call that changes the disk, and half way through every write."""
    at, wrong = 0, []
    while True:
        run = folder / "steps"
        shutil.rmtree(run, ignore_errors=True)
        status = child(lambda run=run, at=at: dying(at, run))
        if not os.WIFSIGNALED(status):
            return {"steps": at, "other results": len(wrong), "which": wrong[:10]}
        kept = done(run)
        code = os.waitstatus_to_exitcode(child(lambda run=run: score(run)[0]))
        if code != 0 or not same(run, whole) or kept - done(run):
            wrong.append(at)
        at += 1


def dying(at: int, run: Path) -> int:
    """The command, killed at that call in its directory."""
    count = 0

    def wrap(name: str) -> None:
        call = getattr(os, name)

        def counted(*given, **named):
            nonlocal count
            ours = name in ("write", "fsync", "ftruncate") or str(run) in str(given[0])
            if ours:
                if count == at:
                    if name == "write":
                        call(given[0], given[1][: len(given[1]) // 2])
                    os.kill(os.getpid(), signal.SIGKILL)
                count += 1
            return call(*given, **named)

        setattr(os, name, counted)

    for name in STEPS:
        wrap(name)
    return score(run)[0]


def full_disk(folder: Path, whole: Path) -> dict:
    """On a file system that is too small, then on one with room; the same where files may not grow."""
    told: dict = {}
    place = folder / "small"
    place.mkdir()
    size = sum(path.stat().st_size for path in whole.iterdir())
    mounted = (
        subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=16k", "none", place], capture_output=True
        ).returncode
        == 0
    )
    if mounted:
        try:
            code, said = score(place / "run")
            kept = done(place / "run")
            subprocess.run(["mount", "-o", "remount,size=10m", place], check=True)
            again, _ = score(place / "run")
            told["a tmpfs of 16 kB"] = {
                "exit code": code, "said": said.replace(str(folder), ""), "chunks kept": len(kept),
                "lost": len(kept - done(place / "run")), "resumed": again == 0 and same(place / "run", whole),
            }  # fmt: skip
            shutil.rmtree(place / "run")
            subprocess.run(["mount", "-o", "remount,ro", place], check=True)
            code, said = score(place / "run")
            told["a read-only disk"] = {"exit code": code, "said": said.replace(str(folder), "")}
        finally:
            subprocess.run(["umount", place], check=True)

    def limited() -> int:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size // 2, size // 2))
        code, said = score(folder / "half")
        return 0 if code == 2 and "cannot be written" in said else 1

    refused = os.waitstatus_to_exitcode(child(limited)) == 0
    kept = done(folder / "half")
    again, _ = score(folder / "half")
    told["files of half the size"] = {
        "refused in a sentence": refused, "chunks kept": len(kept),
        "resumed": again == 0 and same(folder / "half", whole),
    }  # fmt: skip
    return told


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--quick", action="store_true", help="a smoke test of seconds")
    given = parser.parse_args()
    if given.quick:
        given.kills = 1
    folder = Path(tempfile.mkdtemp(prefix="kills-"))
    try:
        make_files(folder)
        os.chdir(folder)
        score(folder / "first")  # imports
        begun = time.perf_counter()
        code, said = score(folder / "whole")
        assert code == 0, said
        seconds = time.perf_counter() - begun
        whole = folder / "whole"
        told = {
            "random moments": random_kills(given.kills, given.seed, folder, whole, seconds),
            "every step": {} if given.quick else steps(folder, whole),
            "full disk": {} if given.quick else full_disk(folder, whole),
            "chunks of a run": len(done(whole)),
            "seconds of a run": round(seconds, 2),
            "seed": given.seed,
            "versions": {
                "dataworth": dataworth.__version__,
                "python": platform.python_version(),
                "system": platform.system(),
            },
        }
    finally:
        os.chdir("/")
        shutil.rmtree(folder)
    print(json.dumps(told, indent=1))
    if given.out is not None:
        given.out.write_text(json.dumps(told, indent=1) + "\n")


if __name__ == "__main__":
    sys.exit(main())
