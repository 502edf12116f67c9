"""Verdicts on real data against what fresh rows and other learners say.

Every change of real_changes.py, on every set of real_sets.py: audited on 400 test rows, and judged by the
same arms on up to 3,000 fresh rows (the same yardstick), by logistic regression and by boosting.

python benchmarks/judgement.py [--sets reporting] [--splits 0 1] [--jobs 2] [--out results/judgement.json]
python benchmarks/judgement.py --read results/judgement.json      # what was kept, told again
python benchmarks/judgement.py --audits                           # nobody judges: words, and what DW015 sees
"""

from __future__ import annotations

import argparse
import itertools
import json
import platform
import time
from collections import Counter
from functools import partial
from importlib.metadata import version
from pathlib import Path
from unittest.mock import patch

import numpy as np
from joblib import Parallel, delayed
from sklearn.decomposition import PCA
from sklearn.model_selection import GridSearchCV
from threadpoolctl import threadpool_limits

import dataworth as dw
from dataworth.checks import CHECKS
from dataworth.measure import plans
from real_changes import WIDE, all_changes, boosting, regression
from real_sets import REPORTING, SETTLING, draw

RISES = ("informative", "improved", "recycled")
LEARNERS = ("regression", "boosting")
ORDER = ("informative", "improved", "recycled", "inconclusive", "costly", "harmful", "strategic")
OTHERS = ",".join(one.code for one in CHECKS if one.code != "DW015")
"""All checks but the one that looks for what rows were chosen by; on these tables nothing was."""
UNLIKE = "rows like those before"
T_95 = 1.966
"""Two-sided, for a paired t-test on 400 rows."""


def losses(learner, data, places):
    """Log-likelihood of the rows of each place by a learner of the data."""
    rows, labels = data.X, data.y.astype(int)
    X, y = (np.concatenate(parts) for parts in zip(*places, strict=True))
    ends = np.cumsum([len(labels_there) for _, labels_there in places])[:-1]
    if len(np.unique(labels)) < 2:
        return np.split(np.full(len(y), np.log(0.5)), ends)
    weights = {} if data.weights is None else {"sample_weight": data.weights}
    if rows.shape[1] > WIDE:
        axes = PCA(40, random_state=0).fit(rows)
        rows, X = axes.transform(rows), axes.transform(X)
    if not isinstance(learner, type(boosting())):
        weights = {f"logisticregression__{k}": v for k, v in weights.items()}
        name = "logisticregression__C"
        learner = GridSearchCV(learner, {name: [0.003, 0.03, 0.3, 3.0]}, scoring="neg_log_loss", cv=4)
    p = np.clip(learner.fit(rows, labels, **weights).predict_proba(X)[:, 1], 1e-3, 1 - 1e-3)
    return np.split(np.where(y == 1, np.log(p), np.log(1 - p)), ends)


def paired(change):
    """Mean and standard error."""
    return float(change.mean()), float(change.std(ddof=1) / np.sqrt(len(change)))


def told(audit, rows):
    """What an audit says, in nats a row; nothing came from outside where no rise is shown."""
    made = audit.attribution
    return {
        "verdict": audit.verdict,
        "rise": audit.delta / rows,
        "rise_stderr": (audit.stderr or 0.0) / rows,
        "outside": min(audit.delta, 0.0) / rows if made is None else made.external_gain.value / rows,
    }


def judge(name, split, alone=False):
    """All changes of one split; `alone`: nobody judges the audits."""
    with threadpool_limits(1):
        drawn = draw(name, split)
        test, fresh = dw.Dataset(*drawn.test), dw.Dataset(*drawn.fresh)
        started = time.process_time()
        yard = dw.Yardstick.fit(test, seed=split)
        search, records, known = time.process_time() - started, [], {}
        for truth, change, before, after in all_changes(drawn, split):
            started = time.process_time()
            options = {"yardstick": yard, "seed": split, "ignore": OTHERS, "design": "whole", "jobs": 1}
            audit = dw.audit(before, after, test, **options)
            seconds = time.process_time() - started
            column = next((one.subject or UNLIKE for one in audit.checks if one.failed), None)
            record = {"set": name, "split": split, "truth": truth, "change": change, "seconds": seconds}
            record |= told(audit, audit.details.rows_per_test) | {"column": column}
            if alone:
                records.append(record)
                continue
            # blocks of as many rows as the test set's: rows of a block teach one another
            with patch.object(plans, "MOST_BLOCKS", len(fresh) // round(audit.details.rows_per_test)):
                again = dw.audit(before, after, fresh, **options)
            record |= {f"fresh_{k}": v for k, v in told(again, again.details.rows_per_test).items()}
            learners = {"regression": regression(), "boosting": boosting(0)}
            for judge_name, learner in learners.items():
                key = judge_name, before.content_hash()
                if key not in known:
                    known[key] = losses(learner, before, (drawn.test, drawn.fresh))
                later = losses(learner, after, (drawn.test, drawn.fresh))
                for place, now, then in zip(("test", "fresh"), later, known[key], strict=True):
                    record[f"{judge_name}_{place}"] = paired(now - then)
            records.append(record)
        print(f"{name} {split}: {yard}, search {search:.1f} s, {len(records)} audits", flush=True)
        return records


def share(records, wanted):
    """How many of the records are as wanted, as text."""
    hits = sum(map(wanted, records))
    return f"{hits} of {len(records)}" + (f" = {hits / len(records):.1%}" if records else "")


def shown(record):
    """Whether a rise was."""
    return record["verdict"] in RISES


def informative(record):
    """Whether that was the verdict."""
    return record["verdict"] == "informative"


def noticed(record):
    """Whether DW015 fired."""
    return record.get("column") is not None


def t_test(record):
    """Whether a paired t-test of regression's log loss on the test rows shows a rise."""
    return record["regression_test"][0] > T_95 * record["regression_test"][1]


def from_outside(records):
    """The share of rises that lies beyond blind baselines, on test rows and on fresh ones."""
    return [
        sum(r[k + "outside"] for r in records) / max(1e-9, sum(r[k + "rise"] for r in records))
        for k in ("", "fresh_")
    ]


def apart(records, draws=500):
    """The standard error of their difference: test sets (set × split) are drawn again (bootstrap)."""
    rng, own = np.random.default_rng(0), {}
    for r in records:
        own.setdefault((r["set"], r["split"]), []).append(r)
    tests, found = list(own.values()), []
    for _ in range(draws if tests else 0):
        some = [tests[i] for i in rng.integers(0, len(tests), len(tests))]
        found.append(from_outside([r for one in some for r in one]))
    return float(np.std(np.subtract(*np.transpose(found)))) if found else 0.0


def bars(records):
    """The numbers by which verdicts are judged, by name."""

    def of(*truth):
        return [r for r in records if r["truth"] in truth]

    def changed(*names):
        return [r for r in of("true") if r["change"] in names]

    gained = [r for r in changed("repair cells") if r["boosting_fresh"][0] > 2 * r["boosting_fresh"][1]]
    sure = [r for r in records if informative(r)]
    recycled = [r for r in records if r["verdict"] == "recycled"]
    z = [
        (r["rise"] - r["fresh_rise"]) / np.hypot(r["rise_stderr"], r["fresh_rise_stderr"])
        for r in records
        if r["rise_stderr"] > 1e-7
    ]
    both_up = [
        r for r in of("true") if all(r[f"{one}_fresh"][0] > 2 * r[f"{one}_fresh"][1] for one in LEARNERS)
    ]
    lost = [r for r in both_up if r["verdict"] == "recycled"]
    words = [
        (r["verdict"], r["fresh_verdict"])
        for r in records
        if {r["verdict"], r["fresh_verdict"]} <= set(RISES)
    ]
    risen = [r for r in of("true") if r["verdict"] in RISES and r["fresh_verdict"] in RISES]
    shares = from_outside(risen)
    found = {
        "blind changes of clean data informative": share(of("blind"), informative),
        "their rise shown": share(of("blind"), shown),
        "blind cleaning of noisy data informative": share(of("blind noisy"), informative),
        "their rise shown (noisy)": share(of("blind noisy"), shown),
        "10 % labels removed or corrected: rise shown": share(changed("remove 10%", "correct 10%"), shown),
        "5 %": share(changed("remove 5%", "correct 5%"), shown),
        "20 %": share(changed("remove 20%", "correct 20%"), shown),
        "cells repaired where boosting gains: rise shown": share(gained, shown),
        "true repairs harmful": share(of("true"), lambda r: r["verdict"] == "harmful"),
        "true repairs with both learners up: recycled": share(both_up, lambda r: r["verdict"] == "recycled"),
        "of these, on fresh rows too; beyond blind baselines there, of the rise": (
            share(lost, lambda r: r["fresh_verdict"] == "recycled")
            + f"; {sum(r['fresh_outside'] for r in lost) / max(1e-9, sum(r['fresh_rise'] for r in lost)):.1%}"
        ),
        "recycled and informative change places on fresh rows": share(
            words, lambda pair: set(pair) == {"recycled", "informative"}
        ),
        "share from outside, test and fresh rows": (
            f"{shares[0]:.1%} and {shares[1]:.1%}, {shares[0] - shares[1]:+.1%} ± {apart(risen):.1%} (s.e.)"
        ),
        "outside part not positive on fresh rows: informative": share(
            [r for r in records if r["fresh_outside"] <= 0], informative
        ),
        "outside part at least .02 a row: informative": share(
            [r for r in records if r["fresh_outside"] >= 0.02], informative
        ),
        "recycled where the outside part is under a quarter": share(
            recycled, lambda r: r["fresh_outside"] < 0.25 * r["fresh_rise"]
        ),
        "informative where boosting got worse beyond 2 s.e.": share(
            sure, lambda r: r["boosting_fresh"][0] < -2 * r["boosting_fresh"][1]
        ),
        "coverage of the rise's interval, fresh rows' error allowed": f"{np.mean(np.abs(z) < T_95):.1%}",
        "bias": f"mean z {np.mean(z):+.2f}",
        "DW015 names a column, or rows like those before": share(records, noticed),
        "seconds an audit (median)": f"{np.median([r['seconds'] for r in records]):.2f}",
    }
    for what in ("new", "remove", "correct"):
        for low, high in ((0.005, 0.02), (0.02, 0.05), (0.05, 0.1), (0.1, 9.0)):
            some = [r for r in of("true") if r["change"].startswith(what)]
            own = [r for r in some if low <= r["fresh_rise"] < high]
            theirs = [r for r in some if low <= r["regression_fresh"][0] < high]
            found[f"{what}, own effect {low}-{high}: shown"] = share(own, shown)
            found[f"{what}, regression's effect {low}-{high}: shown"] = share(theirs, shown)
            found[f"{what}, regression's effect {low}-{high}: its t-test"] = share(theirs, t_test)
    mended = [r for r in of("true") if r["change"].startswith(("remove", "correct"))]
    for name in dict.fromkeys(r["set"] for r in mended):
        some = [r for r in mended if r["set"] == name]
        found[f"labels mended, {name}: shown"] = share(some, shown)
        found[f"labels mended, {name}: the t-test"] = share(some, t_test)
    tenth = changed("remove 10%", "correct 10%")
    missed = [r for r in tenth if not shown(r)]
    found["10 %: the t-test"] = share(tenth, t_test)
    found["10 %, not shown: worth less than .007 on fresh rows"] = share(
        missed, lambda r: r["fresh_rise"] < 0.007
    )
    found["labels mended, worth .05 or more: shown"] = share(
        [r for r in mended if r["fresh_rise"] >= 0.05], shown
    )
    return found


def show(records):
    """Verdicts by change, then the bars."""
    width = max(len(r["change"]) for r in records)
    for truth in ("true", "blind", "blind noisy"):
        print(f"\n{truth:{width}} " + " ".join(f"{v:>12}" for v in ORDER) + "  rise a row, fresh")
        some = [r for r in records if r["truth"] == truth]
        for change in dict.fromkeys(r["change"] for r in some):
            rows = [r for r in some if r["change"] == change]
            tally = Counter(r["verdict"] for r in rows)
            fresh = np.mean([r["fresh_rise"] for r in rows])
            print(f"{change:{width}} " + " ".join(f"{tally[v]:12}" for v in ORDER) + f"  {fresh:+.4f}")
    print("\n" + "\n".join(f"{name}: {value}" for name, value in bars(records).items()))


def _one_change(changes, drawn, split):
    """The first change of a split, for `--quick`."""
    return itertools.islice(changes(drawn, split), 1)


def main():
    """Run, print, and write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sets", nargs="+", default=["reporting"], help="reporting, settling, or names")
    parser.add_argument("--splits", nargs="+", type=int, default=[0, 1])
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--audits", action="store_true", help="audits alone, which nobody judges: DW015")
    parser.add_argument("--read", type=Path, help="a file of --out, shown again")
    parser.add_argument("--quick", action="store_true", help="a smoke test of seconds")
    args = parser.parse_args()
    if args.quick:
        args.sets, args.splits, args.jobs = ["digits"], [0], 1
        globals().update(draw=partial(draw, data=40, test=60, fresh=60))
        globals().update(all_changes=partial(_one_change, all_changes))
    if args.read is not None:
        show(json.loads(args.read.read_text())["audits"])
        return
    named = {"reporting": REPORTING, "settling": SETTLING}
    sets = [one for name in args.sets for one in named.get(name, (name,))]
    work = [delayed(judge)(name, split, args.audits) for split in args.splits for name in sets]
    records = []
    for found in Parallel(args.jobs, return_as="generator")(work):
        records += found
        if args.out and not args.audits:
            write(records, sets, args)
    if args.audits:
        fired = [(r["set"], r["split"], r["change"], r["column"]) for r in records if noticed(r)]
        print(f"DW015: {share(records, noticed)}", *fired, sep="\n")
        return
    show(records)


def write(records, sets, args):
    """What is known so far."""
    about = {"dataworth": version("dataworth"), "numpy": np.__version__, "python": platform.python_version()}
    rounded = json.loads(json.dumps(records), parse_float=lambda text: float(f"{float(text):.4g}"))
    told = {"sets": sets, "splits": args.splits, "versions": about, "bars": bars(records), "audits": rounded}
    args.out.write_text(json.dumps(told) + "\n")


if __name__ == "__main__":
    main()
