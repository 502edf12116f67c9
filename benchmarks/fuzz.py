"""Ten thousand hostile inputs: for every reader, for sealed files, yardsticks, runs, and the command line.

    python benchmarks/fuzz.py [--cases 10000] [--seed 0] [--jobs 1] [--out results/fuzz.json]
    python benchmarks/fuzz.py --readers suite --cases 2000 --out results/fuzz-suites.json
    python benchmarks/fuzz.py --edits --cases 2000 --out results/fuzz-edits.json

With `--edits`, edits of every kind in small tables, and their audits (tests/fuzz_edits.py).

Each is made from a small good file (tests/fuzz.py), pure in (seed, number), and given to the command line
in a process that may take 2 GB more than it has when the case begins. Counted is how it ends: done or
refused in a sentence, or what must never be: a traceback, "this is a bug", more than ten seconds of CPU time,
a file half-written, a line of garbage (2,000 characters, or bytes a terminal obeys), a process that dies.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import shutil
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from types import ModuleType

import numpy as np
import pyarrow as pa

import dataworth

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
import fuzz as hostile
import fuzz_edits
from fuzz_outcome import make_seeds, outcome

MEMORY = 2 << 30
"""Bytes of address space beyond those the process has: pools (Arrow's) keep what a case before reserved."""
BATCH = 250


def work(numbers: list[int], seed: int, seeds: Path, log: Path, made: ModuleType) -> None:
    """Some cases, one after another, each told before and after."""
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    sys.stderr = open(os.devnull, "w")  # noqa: SIM115  # of libraries
    with log.open("a") as out:
        for i in numbers:
            folder = Path(tempfile.mkdtemp(prefix="fuzz-"))
            reader = made.MAKERS[i % len(made.MAKERS)][1]
            out.write(json.dumps({"start": i, "reader": reader}) + "\n")
            out.flush()
            try:
                one = made.case(seed, i, seeds, folder)
                size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
                resource.setrlimit(resource.RLIMIT_AS, (size + MEMORY, most))
                ended, told, seconds = outcome(one, folder)
            finally:
                resource.setrlimit(resource.RLIMIT_AS, (most, most))
                shutil.rmtree(folder, ignore_errors=True)
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            found = {"case": i, "reader": reader, "outcome": ended, "seconds": seconds, "peak": peak}
            if ended not in ("done", "refused"):
                found |= {"told": told, "words": one.words}
            out.write(json.dumps(found) + "\n")
            out.flush()


def run(cases: list[int], seed: int, seeds: Path, log: Path, made: ModuleType) -> None:
    """All cases; a process that dies in a case is how that ended, and a new one goes on."""
    todo = list(cases)
    while todo:
        child = os.fork()
        if child == 0:
            try:
                work(todo[:BATCH], seed, seeds, log, made)
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        lines = [json.loads(line) for line in log.read_text().splitlines()]
        ended, last = {one["case"] for one in lines if "case" in one}, lines[-1]
        if "start" in last:
            dead = {
                "case": last["start"],
                "reader": last["reader"],
                "outcome": "dead",
                "seconds": 0,
                "peak": 0,
            }
            with log.open("a") as out:
                out.write(json.dumps(dead) + "\n")
            ended.add(last["start"])
        todo = [i for i in todo if i not in ended]


def run_all(cases: list[int], seed: int, seeds: Path, logs: list[Path], made: ModuleType) -> None:
    """The cases dealt out to as many processes as there are logs."""
    children = []
    for k, log in enumerate(logs):
        log.touch()
        child = os.fork()
        if child == 0:
            try:
                run(cases[k :: len(logs)], seed, seeds, log, made)
            finally:
                os._exit(0)
        children.append(child)
    for child in children:
        os.waitpid(child, 0)


def summary(logs: list[Path], seed: int) -> dict:
    lines = [line for log in logs for line in log.read_text().splitlines()]
    found = list({one["case"]: one for one in map(json.loads, reversed(lines)) if "case" in one}.values())
    readers = {one["reader"]: Counter() for one in found}
    for one in found:
        readers[one["reader"]][one["outcome"]] += 1
    bad = [one for one in found if one["outcome"] not in ("done", "refused")]
    return {
        "cases": len(found),
        "seed": seed,
        "outcomes": dict(Counter(one["outcome"] for one in found)),
        "readers": {name: dict(counts) for name, counts in readers.items()},
        "slowest, CPU seconds": max(one["seconds"] for one in found),
        "peak memory of a process, MB": round(max(one["peak"] for one in found)),
        "not as they should be": bad[:50],
        "versions": {
            "dataworth": dataworth.__version__, "numpy": np.__version__, "pyarrow": pa.__version__,
            "python": platform.python_version(),
        },
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--only", type=int, nargs="*", help="these numbers alone")
    parser.add_argument("--readers", nargs="*", help="of these readers alone, such as suite")
    parser.add_argument("--edits", action="store_true", help="edits of tables in place of hostile files")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--quick", action="store_true", help="a smoke test of seconds")
    given = parser.parse_args()
    if given.quick:
        given.cases = 20
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as place:
        seeds, logs = Path(place) / "seeds", [Path(place) / f"log{k}" for k in range(given.jobs)]
        seeds.mkdir()
        make_seeds(seeds)
        made = fuzz_edits if given.edits else hostile
        wanted = [k for k, (_, name) in enumerate(made.MAKERS) if name in (given.readers or (name,))]
        turns = range(-(-given.cases // len(wanted)))
        cases = [turn * len(made.MAKERS) + k for turn in turns for k in wanted][: given.cases]
        run_all(given.only or cases, given.seed, seeds, logs, made)
        told = summary(logs, given.seed)
    for one in told["not as they should be"]:
        print(
            one["case"],
            one["reader"],
            one["outcome"],
            f"{one['seconds']:.1f} s",
            one.get("words"),
            one.get("told", "")[-300:],
        )
    for name, counts in told["readers"].items():
        print(f"{name:15}", *(f"{outcome} {count}" for outcome, count in counts.items()))
    print(
        told["outcomes"], f"{told['slowest, CPU seconds']:.1f} s, {told['peak memory of a process, MB']} MB"
    )
    print(f"{time.perf_counter() - start:.0f} s by the clock")
    if given.out is not None:
        given.out.write_text(json.dumps(told, indent=1) + "\n")


if __name__ == "__main__":
    main()
