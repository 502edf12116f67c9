"""What a user waits for, beside what people do today, in one run: CPU seconds, memory, ratios, bars.

    python benchmarks/waiting.py [--lines score,rank] [--repeats 3] [--quick] [--out results/waiting.json]

Every line is a program of its own, imports included, as users run it, with one thread of linear algebra,
compiled as pip leaves a package; ours and its alternative take turns. Seconds are CPU seconds (user and
system, children too), the least of the repeats; memory is the largest of the process. *First* is with an
empty cache; *again* is the same call a second time. Ratios are of the first call to the alternative of the
same run.

*Tuned models*: what people do today to compare two datasets: logistic regression (10 priors × 5 folds) and
boosting, fitted to data before and after, and a paired t-test of the test rows' log loss. *Self-confidence*:
cleanlab's ranking of labels by out-of-fold logistic regression. Pairs: `benchmarks/speed.py`, whose loops run
in one process, and whose figures are milliseconds a pair.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace

# Nothing else is imported up here: the lines' programs start in this file, and pay for what they import.

BEFORE, AFTER, TEST = "before.csv", "after.csv", "test.csv"
WRONG = 0.12
"""Share of labels that are wrong before."""


# --- data: each writes its files to the working directory ------------------------------------------------


def breast_cancer(small):
    """340 rows, an eighth of whose labels are corrected; 229 test rows; as CSV."""
    from sklearn.datasets import load_breast_cancer

    write_three(load_breast_cancer(), 80 if small else 340, 60 if small else 229)


def digits(small):
    """Ten classes, 64 columns: 900 rows, an eighth of whose labels are corrected; 897 test rows."""
    from sklearn.datasets import load_digits

    write_three(load_digits(n_class=3 if small else 10), 100 if small else 900, 60 if small else 897)


def write_three(bunch, rows, test_rows):
    import numpy as np

    rng = np.random.default_rng(0)
    order = rng.permutation(len(bunch.target))
    data, test = order[:rows], order[rows : rows + test_rows]
    X, y, classes = bunch.data, bunch.target, int(bunch.target.max()) + 1
    told = y[data] + np.where(rng.random(rows) < WRONG, rng.integers(1, classes, rows), 0)
    for name, place, labels in (
        (BEFORE, data, told % classes),
        (AFTER, data, y[data]),
        (TEST, test, y[test]),
    ):
        head = ",".join([*(f"x{j}" for j in range(X.shape[1])), "label"])
        np.savetxt(
            name, np.column_stack([X[place], labels]), fmt="%.10g", delimiter=",", header=head, comments=""
        )


def large(small):
    """100,000 rows × 100 columns, a twentieth of them wrong, and without those; 20,000 test rows."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows, test_rows, columns = (300, 200, 3) if small else (100_000, 20_000, 100)
    rng = np.random.default_rng(0)
    n = rows + test_rows
    X = rng.standard_normal((n, columns)) @ (rng.standard_normal((columns, columns)) / np.sqrt(columns))
    y = (X @ rng.standard_normal(columns) / np.sqrt(columns) + 0.5 * rng.logistic(size=n) > 0).astype(int)
    bad = np.append(rng.random(rows) < 0.05, np.zeros(test_rows, dtype=bool))
    data = np.arange(n) < rows
    parts = ((BEFORE, data, bad), (AFTER, data & ~bad, bad), (TEST, ~data, bad))
    for name, kept, wrong in parts:
        table = {f"x{j}": X[kept, j] for j in range(columns)} | {"label": np.where(wrong, 1 - y, y)[kept]}
        pq.write_table(pa.table(table), parquet(name))


def wide(small):
    """60 rows of 100,000 columns: data and test set, as text of 34 MB each."""
    import numpy as np

    columns, rng = 300 if small else 100_000, np.random.default_rng(0)
    for path in (BEFORE, TEST):
        with open(path, "w") as file:
            file.write(",".join(f"x{j}" for j in range(columns)) + ",label\n")
            for i in range(60):
                cells = rng.standard_normal(columns) + 0.05 * (i % 2)
                file.write(",".join(f"{v:.2f}" for v in cells) + f",{i % 2}\n")


def nothing(small):
    """No files."""


def parquet(name):
    return name.replace(".csv", ".parquet")


# --- what people do today --------------------------------------------------------------------------------


def table(path):
    import pandas as pd

    frame = pd.read_parquet(path) if path.endswith(".parquet") else pd.read_csv(path)
    return frame.drop(columns="label").to_numpy(float), frame["label"].to_numpy()


def losses(X, y, test_X, test_y):
    """Log loss of every test row by tuned logistic regression, and by boosting."""
    import numpy as np
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    scaled = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    priors = {"logisticregression__C": np.logspace(-4, 4, 10)}
    logistic = GridSearchCV(scaled, priors, scoring="neg_log_loss", cv=5)
    found = []
    for model in (logistic, HistGradientBoostingClassifier(random_state=0)):
        chances = model.fit(X, y).predict_proba(test_X)
        own = chances[np.arange(len(test_y)), np.searchsorted(model.classes_, test_y)]
        found.append(-np.log(np.maximum(own, 1e-12)))
    return found


def compare(before, after, test):
    from scipy.stats import ttest_rel

    for first, second in zip(losses(*before, *test), losses(*after, *test), strict=True):
        print(first.mean(), second.mean(), ttest_rel(first, second))


def tuned(*paths):
    """Tuned models, of two files and a test set."""

    def run():
        compare(*map(table, paths))

    return run


def tuned_once():
    print([loss.mean() for loss in losses(*table(BEFORE), *table(TEST))])


def self_confidence(path):
    def run():
        from sklearn.linear_model import LogisticRegression
        from sklearn.model_selection import cross_val_predict
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        X, y = table(path)
        model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
        chances = cross_val_predict(model, X, y, cv=5, method="predict_proba")
        print((1.0 - chances[range(len(y)), y]).argsort()[-20:])

    return run


def tuned_digits():
    """What the demo's seven audits would be: odd or even, 100 digits and 897, 900 to test on."""
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    for _ in range(7):
        compare(*((X[part], y[part] % 2) for part in (slice(900, 1000), slice(900, None), slice(900))))


def pandas_info():
    import pandas as pd

    frame = pd.read_csv(BEFORE)
    print(frame.dtypes.value_counts(), frame.isna().sum().sum(), frame.nunique().min())


def ridge():
    """100,000 columns are too many for tuning by folds: one logistic regression."""
    from sklearn.linear_model import LogisticRegression

    print(LogisticRegression().fit(*table(BEFORE)).score(*table(TEST)))


# --- ours ------------------------------------------------------------------------------------------------


def command(*words):
    """`dataworth` with these words."""

    def run():
        from dataworth.cli import main

        sys.argv = ["dataworth", *words]
        try:
            main()
        except SystemExit as end:
            if end.code:  # what was refused took no time
                raise

    return run


def pairs(part, cells, ours, theirs):
    """CPU milliseconds of ours and of another way, by the loops of `speed.py`."""

    def run(small):
        import warnings

        from threadpoolctl import threadpool_limits

        import speed

        warnings.simplefilter("ignore")
        speed.CONSOLE.quiet = True
        if small:
            speed.POOL, cells[:] = 200, speed.QUICK
        speed.CELLS = speed.EP_CELLS = cells
        few = SimpleNamespace(
            pairs=2 if small else 40, settle=1 if small else 8, seed=0, embeddings=None, quick=small
        )
        with threadpool_limits(1), contextlib.redirect_stdout(io.StringIO()):
            (found,) = speed.PARTS[part](few)
        return {name: 1e3 * found[key] for name, key in (("first", ours), ("alternative", theirs))}

    return run


@dataclass(frozen=True)
class Line:
    """One line of the table.

    ratio, seconds, megabytes: bars; seconds are of the machine on which the bars were set. within: of a line
    whose two sides share a process. slow: once is enough.
    """

    name: str
    data: Callable
    ours: Callable | None
    alternative: str
    theirs: Callable | None
    ratio: float | None = None
    seconds: float | None = None
    megabytes: float | None = None
    within: Callable | None = None
    slow: bool = False


TABLES = ("--test", TEST)
LARGE = (parquet(BEFORE), parquet(AFTER), "--test", parquet(TEST))
MODELS = "tuned models"
LINES = {
    "audit": Line(
        "audit, breast cancer, 340 + 229 rows",
        breast_cancer,
        command("audit", BEFORE, AFTER, *TABLES),
        MODELS,
        tuned(BEFORE, AFTER, TEST),
        ratio=1.0,
    ),
    "score": Line(
        "score, breast cancer",
        breast_cancer,
        command("score", BEFORE, *TABLES),
        f"{MODELS}, one file",
        tuned_once,
        seconds=1.2,
    ),
    "rank": Line(
        "rank, breast cancer",
        breast_cancer,
        command("rank", BEFORE, AFTER, *TABLES),
        MODELS,
        tuned(BEFORE, AFTER, TEST),
        seconds=1.5,
    ),
    "values": Line(
        "values, breast cancer",
        breast_cancer,
        command("values", BEFORE, *TABLES),
        "self-confidence",
        self_confidence(BEFORE),
        seconds=1.2,
    ),
    "demo": Line("demo", nothing, command("demo"), f"{MODELS}, seven times", tuned_digits, seconds=6.0),
    "wide-describe": Line(
        "describe, 60 rows × 100,000 columns",
        wide,
        command("describe", BEFORE),
        "pandas, types and gaps",
        pandas_info,
        seconds=4.0,
    ),
    "wide-score": Line(
        "score, 60 rows × 100,000 columns",
        wide,
        command("score", BEFORE, *TABLES),
        "one logistic regression",
        ridge,
        seconds=10.0,
    ),
    "classes": Line(
        "audit, digits, ten classes, 900 + 897 rows",
        digits,
        command("audit", BEFORE, AFTER, *TABLES),
        MODELS,
        tuned(BEFORE, AFTER, TEST),
        ratio=2.0,
        slow=True,
    ),
    "large": Line(
        "audit, 100,000 rows × 100 columns, a rise",
        large,
        command("audit", *LARGE),
        MODELS,
        tuned(*map(parquet, (BEFORE, AFTER, TEST))),
        ratio=1.0,
        megabytes=700.0,
        slow=True,
    ),
    "large-values": Line(
        "values, 100,000 rows × 100 columns",
        large,
        command("values", parquet(BEFORE), *LARGE[2:]),
        "self-confidence",
        self_confidence(parquet(BEFORE)),
        ratio=2.0,
        slow=True,
    ),
    "ep": Line(
        "EP, a pair of 120 + 160 rows, d = 1,281",
        nothing,
        None,
        "Laplace",
        None,
        ratio=2.5,
        within=pairs("ep", [(120, 160, 1281, 0.01)], "ep_seconds", "laplace_seconds"),
    ),
    "pair": Line(
        "a pair of 100 + 100 rows, d = 100",
        nothing,
        None,
        "the paper's loop",
        None,
        ratio=1 / 8,
        within=pairs("cells", [(100, 100, 100, 100.0)], "ours_cpu_seconds", "paper_cpu_seconds"),
    ),
    "wide-pair": Line(
        "a pair of 120 + 160 rows, d = 1,281",
        nothing,
        None,
        "the paper's loop",
        None,
        ratio=1 / 30,
        within=pairs("cells", [(120, 160, 1281, 0.01)], "ours_cpu_seconds", "paper_cpu_seconds"),
    ),
}


# --- measuring -------------------------------------------------------------------------------------------

ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


def program(name, side, folder, cache):
    """CPU seconds and megabytes of one side of a line, in a process of its own."""
    words = [sys.executable, os.path.abspath(__file__), "--line", name, "--side", side]
    environment = os.environ | ONE_THREAD | {"DATAWORTH_CACHE": str(cache)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    with tempfile.TemporaryFile() as said:
        running = subprocess.Popen(words, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=said)
        _, status, used = os.wait4(running.pid, 0)
        running.returncode = os.waitstatus_to_exitcode(status)
        if running.returncode:
            said.seek(0)
            raise SystemExit(f"{name}, {side}: {said.read().decode()[-800:]}")
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def measured(name, folder, repeats):
    """Both sides of a line in turns."""
    line = LINES[name]
    if line.within:
        words = [sys.executable, os.path.abspath(__file__), "--line", name, "--side", "ours"]
        told = subprocess.run(words, env=os.environ | ONE_THREAD, capture_output=True, text=True, check=True)
        return json.loads(told.stdout) | {"unit": "ms"}
    runs = {"first": [], "again": [], "alternative": []}
    for _ in range(repeats):
        cache = Path(folder, ".cache")
        shutil.rmtree(cache, ignore_errors=True)
        for side, one in (("first", "ours"), ("again", "ours"), ("alternative", "theirs")):
            runs[side].append(program(name, one, folder, cache))
    found = {side: min(one[0] for one in taken) for side, taken in runs.items()}
    memory = {f"{side}_megabytes": max(one[1] for one in runs[side]) for side in ("first", "alternative")}
    return found | memory | {"unit": "s"}


def at_once(name):
    """A smoke test in this process, on small data."""
    line, taken = LINES[name], {}
    if line.within:
        return line.within(True) | {"unit": "ms"}
    line.data(True)
    for side, one in (("first", line.ours), ("alternative", line.theirs)):
        begun = time.process_time()
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            one()
        taken[side] = time.process_time() - begun
    return taken | {"unit": "s"}


def judged(line, found):
    """The line with its ratio, its bars, and whether it keeps them."""
    ratio = found["first"] / found["alternative"]
    kept = [
        line.ratio is None or ratio <= line.ratio,
        line.seconds is None or found["first"] <= line.seconds,
        line.megabytes is None or found.get("first_megabytes", 0.0) <= line.megabytes,
    ]
    bars = {key: getattr(line, key) for key in ("ratio", "seconds", "megabytes") if getattr(line, key)}
    told = {key: round(one, 3) if isinstance(one, float) else one for key, one in found.items()}
    return {
        "line": line.name,
        "beside": line.alternative,
        **told,
        "ratio": round(ratio, 3),
        "bars": bars,
        "kept": all(kept),
    }


def shown(one):
    again = f"{one['again']:8.2f}" if "again" in one else " " * 8
    memory = f"{one['first_megabytes']:6.0f}" if "first_megabytes" in one else " " * 6
    units = {"ratio": "×", "seconds": "s", "megabytes": "MB"}
    bars = ", ".join(f"{bar:.3g} {units[key]}" for key, bar in one["bars"].items())
    numbers = (
        f"{one['first']:8.2f}{again}{one['alternative']:9.2f} {one['unit']:2}{memory} {one['ratio']:7.2f}"
    )
    return f"{one['line']:44}{numbers}  {'ok  ' if one['kept'] else 'OVER'} {bars:14} {one['beside']}"


HEAD = f"{'':44}{'first':>8}{'again':>8}{'alternat.':>9}   {'MB':>6} {'ratio':>7}       bar"


def markdown(lines):
    """The lines as a table of a page."""
    rows = ["| | ours, s | again, s | beside, s | ratio | bar | |", "|---|---|---|---|---|---|---|"]
    units = {"ratio": "×", "seconds": "s", "megabytes": "MB"}
    for one in lines:
        part = 1e-3 if one["unit"] == "ms" else 1.0
        ours, again, beside = (one.get(key) for key in ("first", "again", "alternative"))
        numbers = " | ".join("" if x is None else f"{part * x:.3g}" for x in (ours, again, beside))
        bars = ", ".join(f"{bar:.3g} {units[key]}" for key, bar in one["bars"].items())
        kept = "kept" if one["kept"] else "over"
        rows.append(f"| {one['line']} | {numbers} ({one['beside']}) | {one['ratio']:.2g} | {bars} | {kept} |")
    return "\n".join(rows)


def plot(lines, path):
    """First, again and the alternative of every line, with its bar."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context({"svg.hashsalt": "dataworth", "svg.fonttype": "none", "font.size": 9}):
        figure = Figure(figsize=(8, 0.42 * len(lines) + 1), layout="constrained")
        axes = figure.subplots()
        for i, one in enumerate(reversed(lines)):
            bar = one["bars"].get("ratio") or one["bars"]["seconds"] / one["alternative"]
            axes.plot([bar, bar], [i - 0.35, i + 0.35], color="0.5", lw=1.5, label="bar" if not i else None)
            axes.plot(one["ratio"], i, "o", color="C0", label="first call" if not i else None)
            if "again" in one:
                label = "again" if not any("again" in later for later in lines[len(lines) - i :]) else None
                axes.plot(one["again"] / one["alternative"], i, "o", mfc="none", color="C0", label=label)
        axes.axvline(1.0, color="0.85", zorder=0)
        axes.set(xscale="log", xlabel="CPU seconds, alternative of the line = 1")
        names = [f"{one['line']}\n(beside {one['beside']})" for one in reversed(lines)]
        axes.set_yticks(range(len(lines)), names, fontsize=7)
        axes.legend(frameon=False, loc="lower left", fontsize=8)
        figure.savefig(path, metadata={"Date": None})


def main():
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("--lines", default=",".join(LINES), help="which of them; default: %(default)s")
    parser.add_argument("--repeats", type=int, default=3, help="of lines of seconds; slow lines run once")
    parser.add_argument("--out", type=Path, help="write the lines to this JSON file, beside what it has")
    parser.add_argument("--table", type=Path, help="print this file as a table, measuring nothing")
    parser.add_argument("--quick", action="store_true", help="a smoke test of seconds, in this process")
    parser.add_argument("--line", choices=LINES, help=argparse.SUPPRESS)
    parser.add_argument("--side", choices=("ours", "theirs"), help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.line:
        line = LINES[args.line]
        if line.within:
            print(json.dumps(line.within(False)))
        else:
            getattr(line, args.side)()
        return
    if args.table:
        print(markdown(json.loads(args.table.read_text())["lines"].values()))
        return
    from compileall import compile_dir

    import dataworth

    compile_dir(Path(dataworth.__file__).parent, quiet=2)
    print(HEAD)
    here, found = Path.cwd(), {}
    for name in args.lines.split(","):
        line = LINES[name]
        if args.quick and name == "demo":
            continue  # it has one size
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            if not args.quick:
                line.data(False)
            took = at_once(name) if args.quick else measured(name, folder, 1 if line.slow else args.repeats)
            os.chdir(here)
        found[name] = judged(line, took)
        print(shown(found[name]), flush=True)
    if args.out:
        names = ("numpy", "scipy", "scikit-learn", "pandas", "dataworth")
        versions = {"python": platform.python_version(), **{name: version(name) for name in names}}
        known = json.loads(args.out.read_text())["lines"] if args.out.exists() else {}
        record = {"schema": "dataworth/benchmark/waiting/1", "repeats": args.repeats, "versions": versions}
        lines = {name: one for name, one in (known | found).items() if name in LINES}
        record |= {"cores": os.cpu_count(), "load": [round(one, 1) for one in os.getloadavg()]}
        record |= {"lines": {name: lines[name] for name in LINES if name in lines}}
        args.out.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
