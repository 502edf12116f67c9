"""The yardstick's exam: every curation on every set, measured on our yardstick and on plain features.

A curation that brings nothing from outside (θ → D → f(D)) must not be called informative; removing rows that
are known to be bad, and adding truly new rows, should be. The doubling probe, which sees the test set alone,
should say beforehand which way doubling the data will go.

Filters start from rows with a tenth of wrong labels, all else from clean rows. Everything is tried on the
wrong labels too: no model here knows of them, so a curation that happens to drop them (a core-set of typical
rows, say) brings knowledge that the model lacks, and data processing does not forbid its score to rise.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from dataworth import Audit, Dataset, DataworthError, Yardstick, audit
from dataworth.checks import check_attribute, check_doubling
from dataworth.checks.attribute import TELLING
from dataworth.curation import (
    AddRows,
    Deduplicate,
    DropLabelIssues,
    Duplicate,
    Fake,
    Herding,
    KCentre,
    MatchGroups,
    Method,
    NearDeduplicate,
    RandomSubset,
    RemoveRows,
    Resample,
    Reweight,
    SelfLabel,
    Synthesize,
)
from dataworth.measure.intervals import against_controls, over_blocks
from dataworth.valuation.rank import holm

from .cells import Cells, Record, at_least
from .menagerie import IMAGES, TABLES, Exhibit, load_exhibit
from .tables import Column, table
from .yardsticks import plain_yardstick

FURTHER = (0.01, 100.0)
"""Multiples of the plain prior at which doubling is tried too."""
COLUMNS = (
    "set",
    "seed",
    "features",
    "C",
    "start",
    "method",
    "strategic",
    "verdict",
    "delta",
    "delta_se",
    "selection",
    "selection_se",
    "p_informative",
    "control",
    "accuracy",
    "delta_accuracy",
    "delta_gain",
    "probe",
    "probe_se",
    "attribute_check",
)
LEVEL = 0.05
FILTERS = ("oracle filter", "cleanlab filter")
TRUE = ("oracle filter", "new rows")
BY_GROUPS = ("match groups", "reweight groups")
"""Methods that look at the test set's groups: the guarantee covers them if the attribute check is silent."""


def methods(exhibit: Exhibit) -> dict[str, Method]:
    """Every curation, by what it is called in the tables."""
    return {
        "oracle filter": RemoveRows(exhibit.bad),
        "new rows": AddRows(exhibit.more),
        "cleanlab filter": DropLabelIssues(),
        "match groups": MatchGroups(),
        "reweight groups": Reweight(),
        "deduplicate": Deduplicate(),
        "near-deduplicate": NearDeduplicate(),
        "duplicate": Duplicate(),
        "resample": Resample(),
        "random half": RandomSubset(0.5),
        "k-centre half": KCentre(0.5),
        "herding half": Herding(0.5),
        "self-labelled rows": SelfLabel(exhibit.more),
        "synthetic rows": Synthesize(),
        "fake": Fake(),
    }


def zoo(
    data: Path | None = None,
    out: Path | None = None,
    *,
    sets: tuple[str, ...] | None = None,
    seeds: int = 3,
    jobs: int | None = 1,
    progress: Callable[[int, int], None] | None = None,
) -> list[Record]:
    """All audits; image sets only where `data` says where they are. Finished ones in `out` are kept."""
    at_least(1, seeds=seeds)
    names = sets or (TABLES if data is None else (*TABLES, *IMAGES))
    unknown = [name for name in names if name not in (*TABLES, *IMAGES)]
    if unknown:
        raise DataworthError(f"set is {unknown[0]!r}; known sets: {', '.join((*TABLES, *IMAGES))}.")
    cells = Cells.of(out, "zoo")
    records, done = [], 0
    for name in names:
        for seed in range(seeds):
            exhibit = load_exhibit(name, data, seed)
            for kind, yard in yardsticks(exhibit.test, seed):
                records += _try_all(exhibit, kind, yard, seed, cells, jobs)
            done += 1
            if progress is not None:
                progress(done, len(names) * seeds)
    return records


def _try_all(
    exhibit: Exhibit, kind: str, yard: Yardstick, seed: int, cells: Cells, jobs: int | None
) -> list[Record]:
    """Every method on one yardstick, from clean rows and from noisy ones."""
    place = {"set": exhibit.name, "seed": seed, "features": kind, "input": exhibit.test.content_hash()[:16]}
    told = cells.get(place, partial(checks_of, yard, exhibit.test, seed))
    records = []
    for start, before in (("clean", exhibit.clean), ("noisy", exhibit.noisy)):
        for method, curate in methods(exhibit).items():
            filters = method in FILTERS
            if kind not in ("yardstick", "plain") and (method != "duplicate" or start == "noisy"):
                continue
            if (filters and start == "clean") or (kind == "plain" and start == "noisy" and not filters):
                continue
            key = {**place, "start": start, "method": method}
            compute = partial(_audit, before, exhibit.test, curate, yard, seed, jobs)
            about = {"strategic": curate.strategic, "C": yard.model.prior_variance}
            records.append({**key, **about, **told, **cells.get(key, compute)})
    return records


def _audit(
    before: Dataset, test: Dataset, curate: Any, yard: Yardstick, seed: int, jobs: int | None
) -> Record:
    return summary(
        audit(
            before,
            test=test,
            curate=curate,
            design="whole",
            yardstick=yard,
            seed=seed,
            jobs=jobs,
            ignore="all",
        )
    )


def yardsticks(test: Dataset, seed: int) -> list[tuple[str, Yardstick]]:
    """Ours; plain features under the prior with the best held-out likelihood; and far from it."""
    plain = plain_yardstick(test, seed)
    best = plain.model.prior_variance
    others = [(f"plain, C × {m:g}", plain_yardstick(test, seed, best * m)) for m in FURTHER]
    return [("yardstick", Yardstick.fit(test, seed=seed)), ("plain", plain), *others]


def checks_of(yard: Yardstick, test: Dataset, seed: int) -> Record:
    """What the two checks say of the test set alone."""
    assert test.attributes is not None
    X, y = yard.features(test), yard.targets(test)
    doubling = check_doubling(yard.model, X, y, seed=seed, tempering=yard.tempering)
    upper = np.asarray(test.attributes == np.unique(test.attributes)[-1], dtype=float)
    attribute = check_attribute(yard.model, X, y, upper, seed=seed)
    return {"probe": doubling.value, "probe_se": doubling.stderr, "attribute_check": attribute.value}


def summary(found: Audit) -> Record:
    """What the tables need of an audit."""
    table = found.table
    delta = over_blocks(table.change("pmi", "after", "before"))
    blind, own = table.of_role("pmi", "control"), table.of_role("pmi", "own")
    # where no rows are gone, the blind control is `before` itself
    selection = against_controls(table.column("pmi", "after"), blind) if blind.size else delta
    parts = [over_blocks(table.column("pmi", "after") - control) for control in own.T]
    return {
        "verdict": found.verdict,
        "delta": delta.value,
        "delta_se": delta.stderr,
        "selection": selection.value,
        "selection_se": selection.stderr,
        "p_informative": max(part.p_above() for part in (delta, selection, *parts)),
        "control": delta.value - selection.value,
        "delta_accuracy": found.accuracy_delta,
        "delta_gain": found.information_gain_delta,
        "accuracy": float(table.column("accuracy", "before").mean()),
    }


def exam(records: list[Record]) -> dict[str, Any]:
    """The bars: blind methods called informative, true ones found, doubling predicted."""
    result: dict[str, Any] = {}
    for kind, start in (("yardstick", "clean"), ("plain", "clean"), ("yardstick", "noisy")):
        own = [
            r for r in records if r["features"] == kind and (r["start"] == start or r["method"] in FILTERS)
        ]
        called = []
        for seed in sorted({r["seed"] for r in own}):
            family = [r for r in own if r["seed"] == seed]
            adjusted = holm({_name(r): r["p_informative"] for r in family})
            called += [{**r, "informative": adjusted[_name(r)] <= LEVEL} for r in family]
        blind = [r for r in called if r["strategic"] is True and not _uncovered(r)]
        true = [r for r in called if r["method"] in TRUE]
        clear = [r for r in true if min(r["delta"] / r["delta_se"], r["selection"] / r["selection_se"]) > 2]
        result[f"{kind}, {start} start"] = {
            "blind methods": len(blind),
            "by groups where the attribute tells, informative after Holm": [
                _name(r) for r in called if _uncovered(r) and r["informative"]
            ],
            "blind, informative after Holm": [_name(r) for r in blind if r["informative"]],
            "blind, verdict informative": [_name(r) for r in blind if r["verdict"] == "informative"],
            "true methods": len(true),
            "true, change and selection above 2 s.e.": len(clear),
            "of these, verdict informative": sum(r["verdict"] == "informative" for r in clear),
            "of these, informative after Holm": sum(r["informative"] for r in clear),
            "of these, not called": [_name(r) for r in clear if r["verdict"] != "informative"],
            "true, change above 2 s.e. but called otherwise": [
                f"{_name(r)}: {r['verdict']}"
                for r in true
                if r["delta"] > 2 * r["delta_se"] and r["verdict"] != "informative"
            ],
        }
    doubled = [r for r in records if r["method"] == "duplicate"]
    agree = [r for r in doubled if np.sign(r["probe"]) == np.sign(r["delta"])]
    sure = [r for r in doubled if abs(r["delta"]) > 2 * r["delta_se"]]
    result["doubling"] = {
        "cells": len(doubled),
        "sign predicted": len(agree),
        "cells where the sign is sure": len(sure),
        "of these predicted": sum(bool(np.sign(r["probe"]) == np.sign(r["delta"])) for r in sure),
    }
    return result


def _uncovered(record: Record) -> bool:
    return record["method"] in BY_GROUPS and record["attribute_check"] > TELLING


def _name(record: Record) -> str:
    return f"{record['set']} {record['seed']}: {record['method']}"


def to_markdown(records: list[Record], passed: dict[str, Any]) -> str:
    """The exam, then verdicts of all seeds by method and set, with the mean change of the score."""
    lines = ["```json", json.dumps(passed, indent=2, ensure_ascii=False), "```"]
    sets = list(dict.fromkeys(r["set"] for r in records))
    for kind, start in dict.fromkeys((r["features"], r["start"]) for r in records):
        own = [r for r in records if (r["features"], r["start"]) == (kind, start)]
        found = table(
            dict.fromkeys(r["method"] for r in own), ("method", str), *(_column(own, name) for name in sets)
        )
        lines += ["", f"### {kind}, from {start} rows", "", found]
    return "\n".join(lines) + "\n"


def _column(own: list[Record], name: str) -> Column:
    return name, lambda method: _cell([r for r in own if (r["set"], r["method"]) == (name, method)])


def _cell(own: list[Record]) -> str:
    if not own:
        return ""
    counts = Counter(r["verdict"] for r in own)
    words = ", ".join(f"{verdict} {count}" for verdict, count in counts.most_common())
    means = [float(np.mean([r[name] for r in own])) for name in ("delta", "selection", "delta_accuracy")]
    return f"{words}; Δ {means[0]:+.2f}, selection {means[1]:+.2f}, accuracy {100 * means[2]:+.1f}"
