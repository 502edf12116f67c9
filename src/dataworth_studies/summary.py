"""What the curation study found, in one table: signs, how sure, and whether the guarantee applied."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from dataworth.checks.attribute import TELLING
from dataworth.errors import DataworthError

from .cells import Cells, Record
from .curation import Study
from .tables import markdown_table

EXPECTED = {
    "filtering": 1.0,
    "filtering to equal size": 1.0,
    "removal": -1.0,
    "removal, noisy labels": -1.0,
    "random removal": -1.0,
}
SURE = 3.0
GOOD_ACCURACY = 0.9
FORMS = (("laplace", "evidence"), ("ep", "evidence"), ("laplace", "eta"), ("laplace", "product"))
HEAD = (
    "set",
    "features",
    "data / test",
    "method",
    "priors",
    "accuracy before",
    "attribute check fires",
    "ΔPMI evidence",
    "as expected beyond 3 s.e.",
    "Δaccuracy, points",
    "by EP",
    "η = 0",
    "product",
)


def read_studies(folder: Path) -> list[Record]:
    """The rows of every study kept in a directory, the fullest run of each cell."""
    files = sorted(path for path in (folder / "cells").glob("*.jsonl") if path.stem not in ("zoo", "regimes"))
    if not files:
        raise DataworthError(
            f"there are no studies in {str(folder)!r}: run 'dataworth study curation' first."
        )
    rows = []
    for path in files:
        fullest: dict[str, Record] = {}
        for record in Cells(path).records.values():
            key = {name: value for name, value in record["key"].items() if name != "repetitions"}
            text = json.dumps(key)
            if text not in fullest or record["repetitions"] >= fullest[text]["repetitions"]:
                fullest[text] = record
        seeds = sorted({record["key"]["seed"] for record in fullest.values()})
        if len(seeds) > 1:
            raise DataworthError(
                f"{path} holds studies of seeds {', '.join(map(str, seeds))}: give each seed a directory."
            )
        rows += Study(path.stem, list(fullest.values())).rows()
    return rows


def summarise(rows: list[Record]) -> list[Record]:
    """One line a set, features, setting and method: ranges over priors."""
    lines = []
    for plain in (True, False):
        own = [row for row in rows if (row["yardstick"] is None) == plain]
        for key in dict.fromkeys((r["set"], r["features"], r["setting"], r["method"]) for r in own):
            cell = [r for r in own if (r["set"], r["features"], r["setting"], r["method"]) == key]
            forms = {form: [r for r in cell if (r["inference"], r["form"]) == form] for form in FORMS}
            evidence = forms["laplace", "evidence"]
            if evidence:
                lines.append(_line(key, evidence, forms))
    return lines


def in_scope(row: Record) -> bool:
    """Whether the guarantee covers a cell: the attribute check is silent, and right labels give 90 %."""
    clean = row["accuracy"] + (row["delta_accuracy"] if EXPECTED[row["method"]] > 0 else 0.0)
    return bool(row["attribute_check"] <= TELLING and clean >= GOOD_ACCURACY)


def _line(
    key: tuple[str, str, str, str], evidence: list[Record], forms: dict[tuple[str, str], list[Record]]
) -> Record:
    sign = EXPECTED[key[3]]
    return {
        "set": key[0],
        "features": key[1],
        "setting": key[2],
        "method": key[3],
        "priors": [r["C"] for r in evidence],
        "accuracy": [r["accuracy"] for r in evidence],
        "fires": sum(r["attribute_check"] > TELLING for r in evidence),
        "as_expected": sum(sign * r["delta"] > SURE * r["delta_se"] for r in evidence),
        "in_scope": sum(map(in_scope, evidence)),
        "in_scope_as_expected": sum(
            sign * r["delta"] > SURE * r["delta_se"] for r in evidence if in_scope(r)
        ),
        "delta_accuracy": [r["delta_accuracy"] for r in evidence],
        "forms": {
            form: ([r["delta"] for r in own], [r["delta_se"] for r in own]) for form, own in forms.items()
        },
    }


def to_markdown(lines: list[Record]) -> str:
    """The table, and how often the bar was met where it applies."""
    rows = []
    for line in lines:
        count = len(line["priors"])
        cells = [line["set"], line["features"], line["setting"], line["method"], _range(line["priors"], "g")]
        cells += [_range(line["accuracy"], ".1f", 100.0) + " %", f"{line['fires']} of {count}"]
        cells += [_with_error(line, FORMS[0]), f"{line['as_expected']} of {count}"]
        cells += [_range(line["delta_accuracy"], "+.2f", 100.0)]
        cells += [_with_error(line, form) for form in FORMS[1:]]
        rows.append(cells)
    text = [
        markdown_table(HEAD, rows),
        "\nCells where right labels give 90 % accuracy or more and the attribute check is silent: how many"
        " of them have the expected sign (filtering up, removal down) beyond three standard errors:\n",
    ]
    rows = []
    for method in EXPECTED:
        own = [line for line in lines if line["method"] == method]
        counts = []
        for ours in (False, True):
            part = [line for line in own if line["features"].startswith("yardstick of ") == ours]
            met, scope = (sum(line[n] for line in part) for n in ("in_scope_as_expected", "in_scope"))
            counts.append(f"{met} of {scope}")
        rows.append([method, *counts])
    head = ["method", "under the paper's priors", "on our yardstick"]
    return "\n".join([*text, markdown_table(head, rows)]) + "\n"


def _range(values: list[float], form: str, unit: float = 1.0) -> str:
    low, high = (format(unit * value, form) for value in (min(values), max(values)))
    return low if low == high else f"{low} … {high}"


def _with_error(line: Record, form: tuple[str, str]) -> str:
    values, errors = line["forms"][form]
    return f"{_range(values, '+.2f')} (± {float(np.max(errors)):.2f})" if values else ""
