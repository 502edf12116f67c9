"""What the curation study found, in one table: signs, how sure, and whether the guarantee applied."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np

from dataworth import DataworthError
from dataworth.checks.attribute import TELLING

from .cells import Cells, Record
from .curation import Study
from .tables import Column, field, table

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


def read_studies(folder: Path) -> list[Record]:
    """The rows of every study kept in a directory, the fullest run of each cell."""
    files = sorted(path for path in (folder / "cells").glob("*.jsonl") if path.stem not in ("zoo", "regimes"))
    if not files:
        raise DataworthError(
            f"there are no studies in {str(folder)!r}: run 'dataworth study curation' first."
        )
    return [row for path in files for row in fullest(path).rows()]


def fullest(path: Path) -> Study:
    """The study of a file of cells: of each cell the run with the most repetitions."""
    found: dict[str, Record] = {}
    for record in Cells(path).records.values():
        key = {name: value for name, value in record["key"].items() if name != "repetitions"}
        text = json.dumps(key)
        if text not in found or record["repetitions"] >= found[text]["repetitions"]:
            found[text] = record
    seeds = sorted({record["key"]["seed"] for record in found.values()})
    if len(seeds) > 1:
        raise DataworthError(
            f"{path} holds studies of seeds {', '.join(map(str, seeds))}: give each seed a directory."
        )
    return Study(path.stem, list(found.values()))


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

    def of_priors(name: str) -> Callable[[Record], str]:
        return lambda line: f"{line[name]} of {len(line['priors'])}"

    found = table(
        lines,
        ("set", field("set")),
        ("features", field("features")),
        ("data / test", field("setting")),
        ("method", field("method")),
        ("priors", lambda line: _range(line["priors"], "g")),
        ("accuracy before", lambda line: _range(line["accuracy"], ".1f", 100.0) + " %"),
        ("attribute check fires", of_priors("fires")),
        ("ΔPMI evidence", _with_error("laplace", "evidence")),
        ("as expected beyond 3 s.e.", of_priors("as_expected")),
        ("Δaccuracy, points", lambda line: _range(line["delta_accuracy"], "+.2f", 100.0)),
        ("by EP", _with_error("ep", "evidence")),
        ("η = 0", _with_error("laplace", "eta")),
        ("product", _with_error("laplace", "product")),
    )
    counts = table(
        EXPECTED,
        ("method", str),
        _met("under the paper's priors", lines, False),
        _met("on our yardstick", lines, True),
    )
    about = (
        "\nCells where right labels give 90 % accuracy or more and the attribute check is silent: how many"
        " of them have the expected sign (filtering up, removal down) beyond three standard errors:\n"
    )
    return "\n".join([found, about, counts]) + "\n"


def _met(head: str, lines: list[Record], ours: bool) -> Column:
    """How many cells in scope have the expected sign, on the yardstick or on plain features."""

    def show(method: str) -> str:
        own = [line for line in lines if line["method"] == method]
        part = [line for line in own if line["features"].startswith("yardstick of ") == ours]
        met, scope = (sum(line[n] for line in part) for n in ("in_scope_as_expected", "in_scope"))
        return f"{met} of {scope}"

    return head, show


def _range(values: list[float], form: str, unit: float = 1.0) -> str:
    low, high = (format(unit * value, form) for value in (min(values), max(values)))
    return low if low == high else f"{low} … {high}"


def _with_error(*form: str) -> Callable[[Record], str]:
    """The range of the changes in one form, with the largest of their errors."""

    def show(line: Record) -> str:
        values, errors = line["forms"][form]
        return f"{_range(values, '+.2f')} (± {float(np.max(errors)):.2f})" if values else ""

    return show
