"""The demo's verdicts over ten seeds: python benchmarks/demo_seeds.py [--seeds 10] [--first 0] [--quick]"""

from __future__ import annotations

import argparse
import collections
import time
from contextlib import nullcontext
from functools import partial
from unittest.mock import patch

import dataworth as dw
from dataworth.valuation.demo import demo

QUICK = {
    "TEST_ROWS": 60,
    "TIDIED_ROWS": 60,
    "DRAWS": None,
    "audit": partial(dw.audit, ignore="all", design="whole"),
}
"""What is smaller with `--quick`: fewer rows, and no checks."""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--quick", action="store_true", help="a smoke test of seconds")
    args = parser.parse_args()
    if args.quick:
        args.seeds = 1
    tally = collections.defaultdict(list)
    for seed in range(args.first, args.first + args.seeds):
        started = time.perf_counter()
        with patch.multiple("dataworth.valuation.demo", **QUICK) if args.quick else nullcontext():
            chapters = demo(seed).audits
        for chapter in chapters:
            tally[chapter.name].append(chapter.audit)
        print(f"seed {seed}: {time.perf_counter() - started:.1f} s", flush=True)
    for name, audits in tally.items():
        counts = collections.Counter(a.verdict for a in audits)
        numbers = " ".join(f"{a.delta:+.2f} ({100 * a.accuracy_delta:+.1f})" for a in audits)
        print(f"{name:28} {', '.join(f'{v} {c}' for v, c in counts.most_common()):32} {numbers}")


if __name__ == "__main__":
    main()
