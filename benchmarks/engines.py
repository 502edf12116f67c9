"""2,000 pairs on two processes of this machine, on Ray and on Dask: the same bits, and how fast.

    python benchmarks/engines.py [--clusters ray,dask] [--pairs 2000] [--rounds 3] [--seed 0]
        [--out results/engines.json]

Ray: two nodes of one CPU each (Ray's own cluster utility); Dask: two processes of one thread. Local (two
jobs), Ray and Dask take turns, after some pairs that start processes and load packages. Given are pairs a
second and their ratio to local, by the wall clock and by the CPU time of all processes, which other users of
the machine disturb less. Then, on each cluster, a worker is killed (SIGKILL) in the middle.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import signal
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from statistics import median

import dask
import distributed
import joblib
import numpy as np
import psutil
import ray
from ray.cluster_utils import Cluster

import dataworth as dw
from dataworth.parallel import Dask, Local, Ray

ROWS, FEATURES, SIZE = 4000, 30, 100
BAR = 0.70


def world(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(2 * ROWS, FEATURES))
    y = rng.random(2 * ROWS) < 1 / (1 + np.exp(-X @ rng.normal(size=FEATURES)))
    return dw.Dataset(X[:ROWS], y[:ROWS].astype(int)), dw.Dataset(X[ROWS:], y[ROWS:].astype(int))


def cpu():
    """CPU seconds of this process and all that it started."""
    total = 0.0
    for process in (own := psutil.Process(), *own.children(recursive=True)):
        try:
            used = process.cpu_times()
        except psutil.Error:
            continue
        total += used.user + used.system
    return total


def on_ray(stack):
    nodes = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    stack.callback(nodes.shutdown)
    nodes.add_node(num_cpus=1)
    ray.init(nodes.address, log_to_driver=False, logging_level="ERROR")
    stack.callback(ray.shutdown)
    return Ray()


def on_dask(stack):
    here = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    stack.enter_context(distributed.Client(stack.enter_context(distributed.LocalCluster(**here))))
    return Dask()


START = {"ray": on_ray, "dask": on_dask}


class Killer:
    """Told of progress; kills the busiest worker when a quarter of the work is done."""

    def __init__(self, name):
        self.workers = set() if name == "ray" else set(Dask().client.run(os.getpid).values())
        self.killed = None

    def expect(self, seconds):
        pass

    def update(self, done, total):
        if self.killed is None and done >= total / 4:
            started = psutil.Process().children(recursive=True)
            ours = [p for p in started if p.pid in self.workers or p.name().startswith("ray::")]
            self.killed = max(ours, key=lambda process: process.cpu_times().user).pid
            os.kill(self.killed, signal.SIGKILL)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clusters", default="ray,dask")
    parser.add_argument("--pairs", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    D, T = world(args.seed)
    yardstick = dw.Yardstick.fit(T)

    def score(engine, pairs=args.pairs, progress=None):
        asked = {"pairs": pairs, "size": SIZE, "seed": args.seed, "ignore": "all"}
        found = dw.score(D, T, yardstick=yardstick, engine=engine, progress=progress, **asked)
        return found.table.values.tobytes()

    with ExitStack() as stack:
        engines = {"local": Local(2)} | {name: START[name](stack) for name in args.clusters.split(",")}
        for engine in engines.values():
            score(engine, 64)
        seconds, bits = {name: [] for name in engines}, {}
        for _ in range(args.rounds):
            for name, engine in engines.items():
                begun, used = time.perf_counter(), cpu()
                bits[name] = score(engine)
                seconds[name].append((time.perf_counter() - begun, cpu() - used))
                print(f"{name}: {seconds[name][-1][0]:.1f} s", file=sys.stderr, flush=True)
        records = {}
        for name, taken in seconds.items():
            wall, work = (median(one) for one in zip(*taken, strict=True))
            records[name] = {"wall": wall, "cpu": work, "identical": bits[name] == bits["local"]}
            records[name]["throughput"] = records["local"]["wall"] / wall
            records[name]["throughput_cpu"] = records["local"]["cpu"] / work
            if name != "local":
                killer = Killer(name)
                same = score(engines[name], progress=killer) == bits["local"]
                records[name] |= {"killed": killer.killed is not None, "identical_after_kill": same}
    for name, record in records.items():
        told = f"{args.pairs / record['wall']:.0f} pairs/s, {record['throughput']:.2f} of local"
        told += f" ({record['throughput_cpu']:.2f} by CPU), identical: {record['identical']}"
        print(f"{name:6} {told}, worker killed: {record.get('identical_after_kill', '-')}")
    if "ray" in records:
        print(f"bar: Ray ≥ {BAR:.2f} of local: {records['ray']['throughput'] >= BAR}")
    if args.out is not None:
        about = {"python": platform.python_version(), "cores": os.cpu_count(), "load": os.getloadavg()[0]}
        packages = {p.__name__: p.__version__ for p in (ray, dask, distributed, joblib, np)}
        size = {"rows": ROWS, "features": FEATURES, "size": SIZE, "pairs": args.pairs, "rounds": args.rounds}
        body = {"seed": args.seed, **size, "about": about | packages, "bar": BAR, "engines": records}
        args.out.write_text(json.dumps(body, indent=1) + "\n")


if __name__ == "__main__":
    main()
