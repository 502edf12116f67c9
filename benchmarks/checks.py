"""How often each check fires where nothing is wrong, and where something is: the rates of docs/checks.md.

    python benchmarks/checks.py --out results/checks.json

Healthy: 28 real tables (`tables.REPORTED`), rows split at random into data and test set, scored. Rules were
settled on 28 others (`--settle` runs those). Faults: made in the same tables, one check's at a time.
`--page FILE` writes the rates of a file of --out into docs/checks.md. `--demo` adds the demo over several
seeds, what the other forms of the score would have said there, and DW014 where data and test rows are of one
distribution.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import warnings
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace

import numpy as np

import dataworth as dw
from dataworth.checks import CHECKS, shift
from dataworth.checks.numerics import PAIRS, limit_of, mean_of
from dataworth.valuation.demo import demo
from dataworth.yardstick.recipe import Basis
from faults import FAULTS, Unmade, idle_attribute
from tables import REPORTED, SETTLED, split

PAGE = Path(__file__).parents[1] / "docs" / "checks.md"
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
        for chapter in demo(seed=seed, keep_data=True).audits:
            audits += 1
            for finding in chapter.audit.checks:
                fired[finding.code] += finding.failed is True
                if finding.code in shares and finding.value is not None:
                    share = abs(finding.value) / limit_of(chapter.audit.case)
                    shares[finding.code] = max(shares[finding.code], share)
    return {"audits": audits, "fired": fired, "largest_share_of_limit": shares}


def other_forms():
    """Other forms less the evidence by Laplace, over the first blocks of the demo's audits (seed 0)."""
    rows = []
    for chapter in demo(seed=0, keep_data=True).audits:
        case = chapter.audit.case
        row = {"what": chapter.name, "limit": limit_of(case)}
        for form, inference in FORMS:
            model = dw.Logistic(case.yardstick.model.prior_variance, inference)
            table = case.again(model=model, form=form, pairs=PAIRS, arms=case.arms)
            row[f"{form} by {inference}"] = mean_of(case, table) - mean_of(case, case.table, len(table))
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
            seen = shift.shift(case)
            values.append((seen.value - 0.5) / seen.stderr)
            fires += seen.failed is True
        rows.append(
            {"data": n, "test": m, "columns": columns, "axes": axes, "runs": len(values), "fires": fires}
            | {"sd_in_stated_errors": float(np.std(values, ddof=1))}
        )
    return rows


def healthy(name, seed, ignored=()):
    """Which checks fire on a table whose rows were dealt out at random; with its data, for faults."""
    D, T = split(name, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            yard = dw.Yardstick.fit(T)
            found = dw.score(D, T, yardstick=yard, ignore=ignored).checks
            found = [*found, *asked_of_attributes(D, T, ignored)]
        except dw.DataworthError as error:
            return {"table": name, "seed": seed, "refused": str(error)}, None
    told = {one.code: one.detail for one in found if one.failed}
    run = [one.code for one in found if one.failed is not None]
    return {"table": name, "seed": seed, "run": run, "fired": told}, (D, T, yard)


def measured(data, test, options=None, *, yard, code):
    """One check on a score, or on an audit if there is an `after`."""
    options = {"yardstick": yard if len(test.names) == len(yard.columns) else None} | (options or {})
    options["ignore"] = [check.code for check in CHECKS if check.code != code]
    after = options.pop("after", None)
    found = dw.score(data, test, **options) if after is None else dw.audit(data, after, test, **options)
    return found.checks[0]


def asked_of_attributes(D, T, ignored):
    """DW013 where a curation goes by an attribute that was dealt out at random."""
    if "DW013" in ignored:
        return []
    try:
        made = idle_attribute(D, T, None, np.random.default_rng([0, 0xA7]))
    except Unmade:
        return []
    return [measured(*made, yard=SimpleNamespace(columns=()), code="DW013")]


def faulty(name, seed, D, T, yard, ignored=()):
    """For every fault that can be made in a table, whether its check fires, or the data are refused."""
    told = []
    for (code, fault), make in FAULTS.items():
        if code in ignored:
            continue
        rng = np.random.default_rng([seed, 0xFA])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                seen = measured(*make(D, T, yard, rng), yard=yard, code=code)
                hit, detail = seen.failed, seen.detail
            except Unmade:
                continue
            except dw.DataworthError as error:
                hit, detail = True, f"refused: {error}"
        told.append({"table": name, "seed": seed, "code": code, "fault": fault, "hit": hit, "detail": detail})
    return told


def rates(runs, faults):
    """One row a check: how often it fires on healthy tables, and on each fault made for it."""
    ran = [run for run in runs if "run" in run]
    rows = []
    for check in CHECKS:
        looked = [run for run in ran if check.code in run["run"]]
        fired = sum(check.code in run["fired"] for run in looked)
        made = {}
        for one in faults:
            if one["code"] == check.code and one["hit"] is not None:
                hits, of = made.get(one["fault"], (0, 0))
                made[one["fault"]] = (hits + one["hit"], of + 1)
        rows.append({"code": check.code, "name": check.name, "healthy": [fired, len(looked)], "faults": made})
    pairs = sum(row["healthy"][0] for row in rows), sum(row["healthy"][1] for row in rows)
    red = sum(bool(run["fired"]) for run in ran)
    return {"checks": rows, "pairs": pairs, "tables_red": [red, len(ran)], "refused": len(runs) - len(ran)}


def show(found):
    """The table for people."""
    print(f"{'check':18} {'fires on healthy tables':>24}   fires on made faults")
    for row in found["checks"]:
        made = "; ".join(f"{fault}: {hits} of {of}" for fault, (hits, of) in row["faults"].items())
        healthy = "{} of {}".format(*row["healthy"])
        print(f"{row['code']} {row['name']:12} {healthy:>24}   {made or '(none made)'}")
    fired, of = found["pairs"]
    print(f"(table, check) pairs that fire: {fired} of {of} ({fired / max(of, 1):.1%})")
    print("tables with any check fired (--strict): {} of {}".format(*found["tables_red"]))


def write_page(found):
    """The rates into docs/checks.md, between its marks."""
    lines = ["| check | fails on healthy tables | fails on planted faults |", "|---|---|---|"]
    for row in found["checks"]:
        if row["healthy"][1]:
            made = "; ".join(f"{fault}: {hits} of {n}" for fault, (hits, n) in row["faults"].items())
            lines.append(
                "| {} | {} of {} | {} |".format(row["code"], *row["healthy"], made or "none planted")
            )
    (fired, of), (red, ran) = found["pairs"], found["tables_red"]
    head = (
        f"`python benchmarks/checks.py` splits {len(found['tables'])} real tables and scores them.\n"
        f"Of {of} (table, check) pairs {fired} fail. `--strict` is red on {red} of {ran} tables.\n"
        "The rules were settled on other tables (`results/checks.json`).\n\n"
    )
    begin, end = "<!-- all rates -->", "<!-- /all rates -->"
    before, _, rest = PAGE.read_text().partition(begin)
    after = rest.partition(end)[2]
    PAGE.write_text(f"{before}{begin}\n{head}" + "\n".join(lines) + f"\n{end}{after}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--settle", action="store_true", help="the tables on which rules were settled")
    parser.add_argument("--splits", type=int, default=1)
    parser.add_argument("--tables", type=int, help="only so many")
    parser.add_argument("--only", help="one check, by its code")
    parser.add_argument("--no-faults", action="store_true")
    parser.add_argument(
        "--demo", action="store_true", help="also the demo, other forms, and DW014 without shift"
    )
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--repeats", type=int, default=40)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--page", type=Path, help="a file of --out, whose rates go into docs/checks.md")
    parser.add_argument("--quick", action="store_true", help="a smoke test of seconds")
    given = parser.parse_args()
    if given.page is not None:
        write_page(json.loads(given.page.read_text()))
        return
    if given.quick:  # a table of scikit-learn's, and the checks that take no time
        globals().update(REPORTED=["diabetes"], FAULTS=dict(list(FAULTS.items())[:1]))
        given.only = "DW004"
    names = (SETTLED if given.settle else REPORTED)[: given.tables]
    ignored = [check.code for check in CHECKS if given.only not in (None, check.code)]
    runs, faults = [], []
    for seed in range(given.splits):
        for name in names:
            run, parts = healthy(name, seed, ignored)
            runs.append(run)
            print(
                name, run.get("refused") or ", ".join(run["fired"]) or "silent", file=sys.stderr, flush=True
            )
            if parts is not None and not given.no_faults:
                faults += faulty(name, seed, *parts, ignored)
    found = rates(runs, faults)
    show(found)
    found |= {
        "versions": {
            "python": platform.python_version(),
            **{p: version(p) for p in ("dataworth", "numpy", "scipy")},
        },
        "settled_on": SETTLED,
        "reported_on": REPORTED,
        "tables": names,
        "splits": given.splits,
        "runs": runs,
        "made_faults": faults,
    }
    if given.demo:
        found |= {
            "seeds": given.seeds,
            "demo": demo_checks(given.seeds),
            "forms": other_forms(),
            "shift": shift_without_shift(given.repeats),
        }
    if given.out is not None:
        given.out.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
