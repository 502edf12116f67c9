"""How the checks behave where nothing is wrong: the numbers of docs/checks.

    python benchmarks/checks.py --out results/checks.json

The demo over several seeds (which checks fire, how much of their limit DW004 and DW005 use), what the
other forms of the score would have said there, and DW014 where data and test rows are of one distribution.
"""

from __future__ import annotations

import argparse
import json
import platform
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace

import numpy as np

import dataworth as dw
from dataworth.checks import CHECKS, shift
from dataworth.checks.material import PAIRS, limit_of, shift_of
from dataworth.valuation.demo import demo
from dataworth.yardstick.basis import Basis

FORMS = (
    ("sealed", "laplace"),
    ("kl", "laplace"),
    ("eta", "laplace"),
    ("product", "laplace"),
    ("sealed", "ep"),
)
SIZES = (
    (600, 300, 10, 3),
    (5000, 60, 30, 5),
    (100, 60, 60, 3),
    (200, 900, 64, 20),
    (30, 30, 10, 2),
    (500, 500, 1281, 20),
)


def demo_checks(seeds):
    """Findings of every audit of the demo: how often each check fires, and the largest shares of a limit."""
    fired = dict.fromkeys((check.code for check in CHECKS), 0)
    shares = {"DW004": 0.0, "DW005": 0.0}
    audits = 0
    for seed in range(seeds):
        for chapter in demo(seed=seed).audits:
            audits += 1
            for finding in chapter.audit.checks:
                fired[finding.code] += finding.fires is True
                if finding.code in shares and finding.value is not None:
                    share = abs(finding.value) / limit_of(chapter.audit.case)
                    shares[finding.code] = max(shares[finding.code], share)
    return {"audits": audits, "fired": fired, "largest_share_of_limit": shares}


def other_forms():
    """Other forms less the evidence by Laplace, over the first blocks of the demo's audits (seed 0)."""
    rows = []
    for chapter in demo(seed=0).audits:
        case = chapter.audit.case
        row = {"what": chapter.name, "limit": limit_of(case)}
        for form, inference in FORMS:
            model = dw.Logistic(case.yardstick.model.prior_variance, inference)
            table = case.again(model=model, form=form, pairs=PAIRS, arms=case.arms)
            row[f"{form} by {inference}"] = shift_of(case, table).value
        rows.append(row)
    return rows


def shift_without_shift(repeats):
    """DW014's AUC where data and test rows are of one distribution, in units of its stated error."""
    rows = []
    for n, m, columns, axes in SIZES:
        values, fires = [], 0
        for seed in range(repeats if columns < 1000 else max(2, repeats // 10)):
            rng = np.random.default_rng([seed, columns])
            X = rng.normal(size=(n + m, columns)) / np.sqrt(np.arange(1, columns + 1))
            if columns == 10:
                X = rng.standard_t(2, size=(n + m, columns))
            D, T = dw.Dataset(X[:n], np.arange(n) % 2), dw.Dataset(X[n:], np.arange(m) % 2)
            yard = SimpleNamespace(recipe=Basis.learn(T).recipe(axes, 1.0))
            case = SimpleNamespace(
                yardstick=yard, test=T, data={"the data": D}, what="score", options=SimpleNamespace(seed=seed)
            )
            seen = shift.look(case)
            values.append((seen.value - 0.5) / seen.stderr)
            fires += seen.fires is True
        rows.append(
            {"data": n, "test": m, "columns": columns, "axes": axes, "runs": len(values), "fires": fires}
            | {"sd_in_stated_errors": float(np.std(values, ddof=1))}
        )
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--repeats", type=int, default=40)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    found = {
        "versions": {
            "python": platform.python_version(),
            **{p: version(p) for p in ("dataworth", "numpy", "scipy")},
        },
        "seeds": given.seeds,
        "demo": demo_checks(given.seeds),
        "forms": other_forms(),
        "shift": shift_without_shift(given.repeats),
    }
    text = json.dumps(found, indent=1)
    print(text)
    if given.out is not None:
        given.out.write_text(text + "\n")


if __name__ == "__main__":
    main()
