"""Seconds of `import dataworth` and of `dataworth --help`: python benchmarks/startup.py

Medians of nine runs, beside an empty Python.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time


def seconds(*command):
    taken = []
    for _ in range(9):
        started = time.perf_counter()
        subprocess.run([sys.executable, *command], stdout=subprocess.DEVNULL, check=True)
        taken.append(time.perf_counter() - started)
    return statistics.median(taken)


print(f"python -c pass     {seconds('-c', 'pass'):.3f} s")
print(f"import dataworth   {seconds('-c', 'import dataworth'):.3f} s")
print(f"dataworth --help   {seconds('-m', 'dataworth', '--help'):.3f} s")
