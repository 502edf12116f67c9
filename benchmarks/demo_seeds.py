"""The demo's verdicts over ten seeds: python benchmarks/demo_seeds.py [--seeds 10] [--first 0]"""

from __future__ import annotations

import argparse
import collections
import time

from dataworth.valuation.demo import demo


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first", type=int, default=0)
    args = parser.parse_args()
    tally = collections.defaultdict(list)
    for seed in range(args.first, args.first + args.seeds):
        started = time.perf_counter()
        for chapter in demo(seed).audits:
            tally[chapter.name].append(chapter.audit)
        print(f"seed {seed}: {time.perf_counter() - started:.1f} s", flush=True)
    for name, audits in tally.items():
        counts = collections.Counter(a.verdict for a in audits)
        numbers = " ".join(f"{a.delta:+.2f} ({100 * a.accuracy_delta:+.1f})" for a in audits)
        print(f"{name:28} {', '.join(f'{v} {c}' for v, c in counts.most_common()):32} {numbers}")


if __name__ == "__main__":
    main()
