"""Do the tests notice? Wrong policies and wrong formulas, applied one by one.

    python tests/mutants.py [--only TEXT] [--jobs 2]

Each mutant replaces one text of one source file, in a copy, and runs the tests that should fail. A mutant
survives if they pass. Exit code 1 if more than a tenth survive, or if a text is not found exactly once.
The list stands in `mutants.txt`: file | old text | new text | tests.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
LIST = Path(__file__).with_suffix(".txt")
MOST_SURVIVING = 0.1
PATIENCE = 300.0
"""Seconds after which tests count as failed: what is refused in time can take for ever otherwise."""


class Mutant(NamedTuple):
    """A wrong text in place of a right one, and the tests that should notice."""

    file: str
    old: str
    new: str
    tests: str

    def __str__(self) -> str:
        return f"{self.file}: {self.old} → {self.new}"


def read(text):
    """The list; ⏎ stands for a line break inside a text."""
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return [Mutant(*(part.strip().replace("⏎", "\n") for part in line.split(" | "))) for line in lines]


def result_of(mutant):
    """Whether the tests notice: "killed", "survived", or what is wrong with the mutant itself."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "src"
        shutil.copytree(ROOT / "src", source, ignore=shutil.ignore_patterns("__pycache__"))
        file = source / "dataworth" / mutant.file
        text = file.read_text()
        if text.count(mutant.old) != 1:
            return f"its text stands {text.count(mutant.old)} times in the file"
        file.write_text(text.replace(mutant.old, mutant.new))
        environment = {**os.environ, "PYTHONPATH": str(source), "PYTHONDONTWRITEBYTECODE": "1"}
        command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider"]
        command += mutant.tests.split()
        try:
            done = subprocess.run(
                command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=PATIENCE
            )
        except subprocess.TimeoutExpired:
            return "killed"  # tests that no longer end have noticed
    if done.returncode == 1:
        return "killed"
    return (
        "survived" if done.returncode == 0 else f"pytest ended with {done.returncode}: {done.stdout[-300:]}"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="mutants whose file or text contains this")
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args()
    mutants = [mutant for mutant in read(LIST.read_text()) if args.only in str(mutant)]
    with ThreadPoolExecutor(args.jobs) as pool:
        results = []
        for mutant, result in zip(mutants, pool.map(result_of, mutants), strict=True):
            results.append(result)
            print(f"{result:10} {mutant}", flush=True)
    killed = results.count("killed")
    print(f"{killed} of {len(results)} killed")
    broken = [result for result in results if result not in ("killed", "survived")]
    return int(bool(broken) or killed < (1 - MOST_SURVIVING) * len(results))


if __name__ == "__main__":
    sys.exit(main())
