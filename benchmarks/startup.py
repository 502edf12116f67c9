"""Seconds of `import dataworth` and of `dataworth --help`: python benchmarks/startup.py

Medians of nine runs, beside an empty Python.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time


def seconds(times, *command):
    taken = []
    for _ in range(times):
        started = time.perf_counter()
        subprocess.run([sys.executable, *command], stdout=subprocess.DEVNULL, check=True)
        taken.append(time.perf_counter() - started)
    return statistics.median(taken)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a smoke test of seconds")
    times = 1 if parser.parse_args().quick else 9
    print(f"python -c pass     {seconds(times, '-c', 'pass'):.3f} s")
    print(f"import dataworth   {seconds(times, '-c', 'import dataworth'):.3f} s")
    print(f"dataworth --help   {seconds(times, '-m', 'dataworth', '--help'):.3f} s")


if __name__ == "__main__":
    main()
