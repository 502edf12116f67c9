"""Small files that ask for much: how soon does a command say so, and what memory does it take until then?

    python benchmarks/bombs.py [--only NAME …] [--out results/bombs.json] [--quick]

Each file (tests/hostile_files.py) is given to the command line in a process of its own, which is ended after
a minute. Told are bytes on the disk, seconds until the first line and until the end (dataworth's own start is
in them), CPU seconds, the largest memory, the exit code and that line. The bar: a sentence, or a right
answer, within ten seconds (by the clock; of CPU time, if others use the machine) and 1 GB. It takes some two
minutes, and 200 MB of disk.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import platform
import resource
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa

import dataworth

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
import hostile_files as hostile

SECONDS, MEGABYTES = 10.0, 1000
"""The bar."""
PATIENCE = 60.0
"""Seconds after which a process is ended."""
SCORE = ["--test", "test.csv", "--prior-variance", "1", "--label", "label"]
FILES = {
    "values.parquet": (lambda p: hostile.values_file(p, 10**8), "10⁸ rows of values beside the data"),
    "labels.parquet": (
        lambda p: hostile.long_labels_parquet(p, 2 * 10**7, 40),
        "labels of 20 MB, in 40 rows",
    ),
    "lists.parquet": (lambda p: hostile.long_labels_parquet(p, 2 * 10**6, 400, 4), "2 MB of text, in lists"),
    "rows.parquet": (lambda p: hostile.constant_parquet(p, 10**8, a=0.0, b=0.0, label=1.0), "10⁸ equal rows"),
    "keys.jsonl": (lambda p: hostile.many_keys_jsonl(p, 6 * 10**5, 10), "6·10⁵ keys in ten lines"),
    "own.jsonl": (lambda p: hostile.many_keys_jsonl(p, 40_000, 40_000), "lines with keys of their own"),
    "commas.csv.gz": (lambda p: hostile.commas_gz(p, 1_500_000), "10⁸ empty cells, packed"),
    "header.csv": (lambda p: p.write_text(",".join(f"c{j}" for j in range(10**6))), "a million columns"),
    "far.xlsx": (hostile.far_cell_xlsx, "one cell in the last row and column"),
    "column.xlsx": (lambda p: hostile.far_cells_xlsx(p, 50_000), "cells in the last column alone"),
    "cells.xlsx": (lambda p: hostile.many_cells_xlsx(p, 150_000, 30), "4.5·10⁶ cells"),
    "zeros.feather": (lambda p: hostile.bomb_feather(p, 10**8), "10⁸ packed zeros"),
    "again.arrow": (lambda p: hostile.repeated_arrow(p, 10**5, 10**4), "one batch, named 10⁴ times"),
}
QUICK = {"far.xlsx"}


class Ended(NamedTuple):
    """How a command ended."""

    code: int
    first: float
    seconds: float
    cpu: float
    megabytes: float
    line: str


def peak_of(child: subprocess.Popen, found: list[float]) -> None:
    """The largest memory of a process, as long as it lives, in MB."""
    with contextlib.suppress(OSError):
        while lines := Path(f"/proc/{child.pid}/status").read_text().splitlines():
            found += [int(line.split()[1]) / 1000 for line in lines if line.startswith("VmHWM")] or [0.0]
            time.sleep(0.02)


def cpu_of_children() -> float:
    """CPU seconds of all children that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measured(words: list[str], folder: Path) -> Ended:
    """A command in a process of its own."""
    start, first, lines, peaks = time.perf_counter(), [], [], [0.0]
    before = cpu_of_children()
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    child = subprocess.Popen([sys.executable, "-m", "dataworth", *words], cwd=folder, **pipes)

    def read() -> None:
        for line in child.stdout:
            first.append(time.perf_counter() - start)
            lines.append(line.strip())

    beside = [threading.Thread(target=read), threading.Thread(target=peak_of, args=(child, peaks))]
    for one in beside:
        one.start()
    end = threading.Timer(PATIENCE, child.kill)
    end.start()
    code = child.wait()
    seconds = time.perf_counter() - start
    end.cancel()
    for one in beside:
        one.join()
    child.stdout.close()
    cpu = cpu_of_children() - before
    return Ended(code, [*first, seconds][0], seconds, cpu, max(peaks), [*lines, ""][0])


def case(name: str, folder: Path) -> dict:
    """What becomes of one file: data of a score, or values that lie beside data."""
    make, what = FILES[name]
    folder.mkdir()
    for other in ("good.csv", "test.csv", "after.csv"):
        rows = hostile.GOOD.replace(".5", ".75") if other == "test.csv" else hostile.GOOD
        (folder / other).write_text(rows[:-200].rpartition("\n")[0] + "\n" if other == "after.csv" else rows)
    make(folder / name)
    words = ["audit", "good.csv", "after.csv"] if name.startswith("values") else ["score", name]
    found = measured([*words, *SCORE], folder)
    soon = min(found.first, found.cpu) <= SECONDS  # by the clock, or on a machine that others use
    kept = soon and found.megabytes <= MEGABYTES and found.code in (0, 2, -9)
    told = {"what": what, "bytes": (folder / name).stat().st_size, **found._asdict(), "within the bar": kept}
    print(
        f"{name:15} {told['bytes']:9,} bytes, code {found.code:3}, first line {found.first:5.1f} s, "
        f"end {found.seconds:5.1f} s, CPU {found.cpu:5.1f} s, {found.megabytes:5.0f} MB: {found.line[:150]}",
        flush=True,
    )
    return told


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", nargs="*", help="these files alone")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--quick", action="store_true", help="a smoke test of seconds")
    given = parser.parse_args()
    names = [name for name in FILES if name in (QUICK if given.quick else given.only or FILES)]
    with tempfile.TemporaryDirectory() as place:
        found = {name: case(name, Path(place) / name.replace(".", "-")) for name in names}
    kept = sum(one["within the bar"] for one in found.values())
    print(f"{kept} of {len(found)} end in a sentence or an answer within {SECONDS:.0f} s and {MEGABYTES} MB")
    if given.out is not None:
        versions = {"dataworth": dataworth.__version__, "pyarrow": pa.__version__}
        told = {"files": found, "versions": {**versions, "python": platform.python_version()}}
        given.out.write_text(json.dumps(told, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
