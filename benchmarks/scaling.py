"""What a measurement costs, and how that grows: rows, columns, classes, test rows, pairs; files of gigabytes.

    python benchmarks/scaling.py [--most-rows 100000] [--laws rows,classes] [--big] [--quick]
        [--out results/scaling.json]

Each measurement is a command of its own (`dataworth audit`, `dataworth score`), as users run it, on synthetic
tables in a temporary folder, with one process and one BLAS thread. Times are CPU seconds (user and system),
which other work on the machine disturbs least; the wall clock stands beside them. Memory is the largest that
the process had. A slope is that of log cost against log size over the largest three sizes, less what a
command costs on next to nothing: 1 is proportional, 0 does not grow. What theory says stands beside it.

`--big` makes files of 2 GB (2 million rows × 256 numbers in single precision) and 1 GB (text), and compares
them with the bars of memory and time that are documented; it needs 4 GB of disk.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq

import dataworth

PAIRS = ("--pairs", "200", "--size", "200")


def write(path, rows, columns, rng, theta, group=100_000):
    """Rows × columns of float32 with labels of a logistic model; written a row group at a time.

    theta: columns, or columns × classes.
    """
    names = [f"x{j}" for j in range(columns)]
    schema = pa.schema([(name, pa.float32()) for name in names] + [("label", pa.int8())])
    with pq.ParquetWriter(path, schema, compression="none", use_dictionary=False) as file:
        for i in range(0, rows, group):
            X = rng.standard_normal((min(group, rows - i), columns), dtype=np.float32)
            f = X @ theta
            y = f + rng.logistic(size=len(X)) > 0 if f.ndim == 1 else (f + rng.gumbel(size=f.shape)).argmax(1)
            y = y.astype(np.int8)
            file.write_table(pa.table([*map(pa.array, X.T), pa.array(y)], schema=schema))
    return path


def write_audit(folder, rows, columns, test_rows, seed, classes=2):
    """A table with one label in twenty wrong, the same without those rows, and a test set."""
    rng = np.random.default_rng([seed, rows, columns])
    shape = columns if classes == 2 else (columns, classes)
    theta = (2.0 * rng.standard_normal(shape) / np.sqrt(columns)).astype(np.float32)
    clean, test = folder / "clean.parquet", folder / "test.parquet"
    write(clean, rows, columns, rng, theta)
    write(test, test_rows, columns, rng, theta)
    table = pq.read_table(clean)
    labels = table["label"].to_numpy()
    bad = rng.random(rows) < 0.05
    raw = table.set_column(columns, "label", pa.array(np.where(bad, (labels + 1) % classes, labels)))
    pq.write_table(raw, folder / "raw.parquet")
    pq.write_table(raw.filter(pa.array(~bad)), clean)
    return folder / "raw.parquet", clean, test


def run(*words, first=""):
    """CPU seconds, seconds and megabytes of one command; with --json also what it told."""
    command = [sys.executable, "-c", first + CHILD, *map(str, words)]
    started = time.perf_counter()
    found = subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT, check=False)
    wall = time.perf_counter() - started
    if found.returncode:
        raise SystemExit(f"{' '.join(map(str, words))}: {found.stderr.strip()[-400:]}")
    cpu, memory = map(float, found.stderr.strip().splitlines()[-1].split())
    told = {"told": found.stdout} if "--json" in words else {}
    return {"cpu_seconds": cpu, "seconds": wall, "megabytes": memory, **told}


CHILD = """
import resource, sys
from dataworth.cli import main
sys.argv[0] = "dataworth"
code = 0
try:
    main()
except SystemExit as end:
    code = end.code
used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
print(sum(u.ru_utime + u.ru_stime for u in used), used[0].ru_maxrss / 1024, file=sys.stderr)
sys.exit(code)
"""
ENVIRONMENT = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


def slope(sizes, costs, least):
    """Of log cost above the least against log size, over the largest three; none if nothing grows."""
    above = np.array(costs[-3:]) - least
    if len(above) < 2 or (above <= 0.05 * least).any():
        return 0.0
    return float(np.polyfit(np.log(sizes[-3:]), np.log(above), 1)[0])


LAWS = {
    "rows": ("audit", "1: every fit passes over all rows"),
    "columns": ("audit", "1 to 2: rows are read and projected; the yardstick has 160 axes at most"),
    "classes": ("audit", "1: a factor a class"),
    "test rows": ("audit", "0 to 1: the yardstick looks at 1,000 rows, blocks have all"),
    "pairs": ("score", "1: each pair is a fit of its own"),
}


EXPONENTS = {"rows": 1.1, "columns": 2.1, "classes": 1.2, "test rows": 1.1}
"""How fast the cost of an audit may grow with each."""


def measure_laws(args, folder):
    """Each size changed alone, the others at (10,000 rows, 50 columns, 2,000 test rows, 200 pairs).

    Several classes are measured at 2,000 rows and 20 columns.
    """
    rows = [n for n in (1000, 3000, 10_000, 30_000, 100_000, 300_000, 1_000_000) if n <= args.most_rows]
    sizes = {
        "rows": rows,
        "columns": (10, 30, 100, 300),
        "classes": (2, 4, 8, 20),
        "test rows": (500, 2000, 8000, 20_000),
        "pairs": (50, 200, 800),
    }
    base = {"rows": 10_000, "columns": 50, "test rows": 2000}
    if args.quick:  # one command of each kind
        sizes, base = {"pairs": (4,)}, {"rows": 600, "columns": 5, "test rows": 400}
    sizes = {name: sizes[name] for name in args.laws.split(",") if name in sizes}
    least = run("describe", write_audit(folder, 100, 5, 100, args.seed)[0])
    laws = {}
    for name, grid in sizes.items():
        what, theory = LAWS[name]
        found = []
        for size in grid:
            own = base | ({"rows": 2000, "columns": 20} if name == "classes" else {}) | {name: size}
            shape = own["rows"], own["columns"], own["test rows"]
            raw, clean, test = write_audit(folder, *shape, args.seed, own.get("classes", 2))
            words = (what, raw, *((clean,) if what == "audit" else ()), "--test", test, "--jobs", 1, "-q")
            words += ("--pairs", size, "--size", 100) if name == "pairs" else ()
            found.append({"size": size, **run(*words)})
            show(name, found[-1])
        costs = {key: [one[key] for one in found] for key in ("cpu_seconds", "megabytes")}
        laws[name] = {
            "measured": found,
            "slope_of_time": slope(grid, costs["cpu_seconds"], least["cpu_seconds"]),
            "slope_of_memory": slope(grid, costs["megabytes"], least["megabytes"]),
            "theory_of_time": theory,
        }
        told = laws[name]
        grows = f"time ^{told['slope_of_time']:.2f}, memory ^{told['slope_of_memory']:.2f}"
        print(f"{name}: {grows}; theory of time {theory}")
    return {"least": least, "laws": laws}


def plot(results, path):
    """CPU seconds of an audit over each size, with the exponent that was found and the one that may be."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    shown = [name for name in EXPONENTS if name in results["laws"]]
    with mpl.rc_context({"svg.hashsalt": "dataworth", "svg.fonttype": "none", "font.size": 9}):
        figure = Figure(figsize=(2.4 * len(shown), 2.6), layout="constrained")
        for axes, name in zip(np.atleast_1d(figure.subplots(1, len(shown), sharey=True)), shown, strict=True):
            law = results["laws"][name]
            sizes = [one["size"] for one in law["measured"]]
            axes.loglog(sizes, [one["cpu_seconds"] for one in law["measured"]], "o-")
            found = f"{law['slope_of_time']:.2f} (at most {EXPONENTS[name]})"
            axes.set(xlabel=name, title=f"exponent {found}")
            axes.title.set_fontsize(8)
        figure.axes[0].set_ylabel("CPU seconds of an audit")
        figure.savefig(path, metadata={"Date": None})


def show(name, one):
    size = f"{one['size']:>9,}" if "size" in one else ""
    took = f"{one['cpu_seconds']:7.1f} CPU s {one['seconds']:7.1f} s"
    print(f"{name:>10} {size} {took} {one['megabytes']:6.0f} MB", flush=True)


# --- bars ------------------------------------------------------------------------------------------------


def bar_pairs(args, folder):
    """200 pairs of size 200 from 2 GB and from 20 MB of the same kind."""
    rng = np.random.default_rng(args.seed)
    theta = (2.0 * rng.standard_normal(256) / 16).astype(np.float32)
    test = write(folder / "test.parquet", 2000, 256, rng, theta)
    small = write(folder / "small.parquet", 20_000, 256, rng, theta)
    big = write(folder / "big.parquet", 2_000_000, 256, rng, theta)
    few, many = (run("score", file, "--test", test, *PAIRS, "--jobs", 1, "-q") for file in (small, big))
    started = time.process_time()
    with pq.ParquetFile(big) as file:
        for group in range(file.num_row_groups):
            file.read_row_group(group)
    reading = time.process_time() - started
    show("20 MB", few)
    show("2 GB", many)
    ratio = many["cpu_seconds"] / few["cpu_seconds"]
    gigabytes = big.stat().st_size / 1e9
    print(f"2 GB takes {ratio:.2f} times as long as 20 MB; reading it once takes {reading:.1f} CPU s")
    big.unlink()
    return {"small": few, "big": many, "ratio": ratio, "gigabytes": gigabytes, "reading_cpu_seconds": reading}


def bar_whole(args, folder):
    """All of 2 GB, in passes, on a yardstick made before; beside reading the file as many times."""
    rng = np.random.default_rng(args.seed)
    theta = (2.0 * rng.standard_normal(256) / 16).astype(np.float32)
    test = write(folder / "test.parquet", 2000, 256, rng, theta)
    big, yard = write(folder / "big.parquet", 2_000_000, 256, rng, theta), folder / "yardstick.json"
    run("yardstick", test, "-o", yard, "-q")
    found = run("score", big, "--test", test, "--yardstick", yard, "--stream", "--jobs", 1, "--json")
    passes = json.loads(found.pop("told"))["passes"]
    show("whole", found)
    # as on a cluster, where features are not kept: of a tenth of the rows
    some = write(folder / "some.parquet", 200_000, 256, rng, theta)
    words = ("score", some, "--test", test, "--yardstick", yard, "--stream", "--jobs", 1, "--json")
    anew = run(*words, first="import dataworth.measure.streaming_posterior as passes; passes.ROOM = 0.0\n")
    anew["passes"] = json.loads(anew.pop("told"))["passes"]
    anew["rows"] = 200_000
    show("anew", anew)
    started = time.process_time()
    with pq.ParquetFile(big) as file:
        for group in range(file.num_row_groups):
            table = file.read_row_group(group, use_threads=False)
            X = np.empty((table.num_rows, table.num_columns), order="F")
            for j, column in enumerate(table.columns):
                X[:, j] = column.to_numpy()
    reading = time.process_time() - started
    ratio = found["cpu_seconds"] / (passes * reading)
    print(
        f"{passes} passes; reading it once, as numbers, takes {reading:.1f} CPU s: {ratio:.2f} times as long"
    )
    big.unlink()
    costs = {"passes": passes, "reading_cpu_seconds": reading, "ratio": ratio}
    return {"whole": found, **costs, "features made anew": anew}


def bar_long(args, folder):
    """A CSV of 1 GB, described."""
    rng, path, size = np.random.default_rng(args.seed), folder / "long.csv", 0
    with path.open("wb") as file:
        while size < 1e9:
            X, m = rng.standard_normal((50_000, 18)).round(4), 50_000
            columns = {f"x{j}": X[:, j] for j in range(18)}
            columns |= {"city": rng.choice(["Ulm", "Bonn", "Kiel"], m), "label": rng.integers(0, 2, m)}
            sink = pa.BufferOutputStream()
            pc.write_csv(pa.table(columns), sink, pc.WriteOptions(include_header=size == 0))
            size += file.write(sink.getvalue())
    found = run("describe", path, "-q")
    show("1 GB CSV", found)
    path.unlink()
    return found


def bar_wide(args, folder):
    """100,000 columns × 60 rows, 34 MB of text: described, and scored."""
    rng = np.random.default_rng(args.seed)
    files = [folder / "wide.csv", folder / "wide-test.csv"]
    for path in files:
        with path.open("w") as file:
            file.write(",".join(f"x{j}" for j in range(100_000)) + ",label\n")
            for i in range(60):
                cells = rng.standard_normal(100_000) + 0.05 * (i % 2)
                file.write(",".join(f"{v:.2f}" for v in cells) + f",{i % 2}\n")
    found = {"describe": run("describe", files[0], "-q")}
    show("described", found["describe"])
    found["score"] = run("score", files[0], "--test", files[1], "--jobs", 1, "-q")
    show("scored", found["score"])
    return found


BARS = {"wide": bar_wide, "long": bar_long, "pairs": bar_pairs, "whole": bar_whole}


def main():
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("--most-rows", type=int, default=100_000, help="largest table of the law of rows")
    parser.add_argument("--laws", default=",".join(LAWS), help="which of them; default: %(default)s")
    parser.add_argument("--big", action="store_true", help="also files of gigabytes")
    parser.add_argument("--bars", default=",".join(BARS), help="which of them; default: %(default)s")
    parser.add_argument("--no-laws", action="store_true", help="the files of gigabytes alone")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, help="write the results to this JSON file, beside what it has")
    parser.add_argument("--quick", action="store_true", help="a smoke test of seconds")
    args = parser.parse_args()
    results = {}
    with tempfile.TemporaryDirectory() as name:
        if not args.no_laws:
            results |= measure_laws(args, Path(name))
            kept = json.loads(args.out.read_text()) if args.out and args.out.exists() else {}
            results["laws"] = kept.get("laws", {}) | results["laws"]
        for bar in args.bars.split(",") if args.big else ():
            results[bar] = BARS[bar](args, Path(name))
    if args.out:
        versions = {"python": platform.python_version(), "dataworth": dataworth.__version__}
        versions |= {module.__name__: module.__version__ for module in (np, pa)}
        known = json.loads(args.out.read_text()) if args.out.exists() else {}
        record = known | {"seed": args.seed, "versions": versions, "cores": os.cpu_count()} | results
        args.out.parent.mkdir(parents=True, exist_ok=True)
        args.out.write_text(json.dumps(record, indent=2) + "\n")


if __name__ == "__main__":
    main()
