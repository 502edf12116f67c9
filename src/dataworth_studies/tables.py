"""The curation study as text and pictures: ours beside the paper's."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from .cells import Record
from .curation import Study
from .paper import PAPER

COLUMNS = (
    "set",
    "setting",
    "features",
    "C",
    "inference",
    "form",
    "method",
    "repetitions",
    "seed",
    "accuracy",
    "before",
    "delta",
    "delta_se",
    "delta_sd",
    "delta_accuracy",
    "delta_accuracy_se",
    "delta_gain",
    "delta_gain_se",
    "attribute_check",
    "attribute_check_se",
    "doubling_check",
    "doubling_check_se",
)
LEGEND = """
Mean change of the score in nats, ± its standard error over groups of draws, when the method is applied. C:
prior variance; *(yardstick)*: features and prior found on the test set, else the features as they are.
*evidence* is the score; EP, η = 0 and product are other ways to compute it, on fewer draws. Δaccuracy in
points. Δgain: change of KL(posterior ‖ prior), which is not strategy-proof. Attribute check above 1: the
attribute predicts the label beyond the features, and the guarantee does not cover curation by it. Doubling
above 0: the model is under-confident. `dataworth study summary DIR` says in how many cells the signs are as
expected."""
FORMS = (("ep", "evidence"), ("laplace", "eta"), ("laplace", "product"))


def write_csv(rows: Sequence[Record], columns: Sequence[str], path: Path) -> None:
    """One line a row; numbers to six digits."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        for row in rows:
            values = (row.get(column) for column in columns)
            writer.writerow([f"{v:.6g}" if isinstance(v, float) else "" if v is None else v for v in values])


def to_markdown(study: Study, equal_size: bool = False) -> str:
    """A table for each setting and method: a line for each prior, the paper's number at its end."""
    rows = study.rows(equal_size)
    text = []
    settings = dict.fromkeys((row["setting"], row["method"]) for row in rows)
    for setting, method in settings:
        own = [row for row in rows if (row["setting"], row["method"]) == (setting, method)]
        printed = PAPER.get((study.set_name, setting, method), {})
        plain = [row for row in own if (row["inference"], row["form"]) == ("laplace", "evidence")]
        table = markdown_table(_head(bool(printed)), [_line(row, own, printed) for row in plain])
        text += [f"\n### {study.set_name}, {setting}: {method}\n", table]
    return "\n".join([*text, LEGEND]) + "\n"


def markdown_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown.

    >>> print(markdown_table(["a", "b"], [["1", "2"]]))
    | a | b |
    |---|---|
    | 1 | 2 |
    """
    return "\n".join([_row(head), f"|{'---|' * len(head)}", *map(_row, rows)])


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _head(printed: bool) -> list[str]:
    names = ["C", "accuracy before", "ΔPMI evidence", "by EP", "η = 0", "product", "Δaccuracy", "Δgain"]
    names += ["attribute check", "doubling"] + (["paper: ΔPMI", "Δaccuracy"] if printed else [])
    return names


def _line(row: Record, own: list[Record], printed: dict[Any, Any]) -> list[str]:
    same = [r for r in own if (r["C"], r["features"]) == (row["C"], row["features"])]
    others = {(r["inference"], r["form"]): r for r in same}
    prior = f"{row['C']:g}" + (" (yardstick)" if row["yardstick"] else "")
    cells = [prior, f"{100 * row['accuracy']:.1f} %", _pm(row, "delta")]
    cells += [_pm(others[key], "delta") if key in others else "" for key in FORMS]
    cells += [_pm(row, "delta_accuracy", 100.0), _pm(row, "delta_gain")]
    cells += [f"{row['attribute_check']:+.2f}", f"{row['doubling_check']:+.2f}"]
    if printed:
        numbers = printed.get(row["C"]) or printed.get(None)
        cells += (
            ["", ""]
            if numbers is None or row["yardstick"]
            else [_printed(numbers[:2]), _printed(numbers[2:])]
        )
    return cells


def _pm(row: Record, name: str, unit: float = 1.0) -> str:
    error = row.get(f"{name}_se")
    return f"{unit * row[name]:+.2f}" + ("" if error is None else f" ± {unit * error:.2f}")


def _printed(numbers: Sequence[float]) -> str:
    return f"{numbers[0]:+.2f} ± {numbers[1]:.2f}"


def draw_sizes(study: Study, path: Path) -> None:
    """The paper's figure: change of score and of accuracy against size, a box over groups of draws."""
    from matplotlib.figure import Figure

    records = [
        r for r in study.records if r["yardstick"] and (r["inference"], r["form"]) == ("laplace", "evidence")
    ]
    figure = Figure(figsize=(10, 4), layout="constrained")
    columns = (("delta", "ΔPMI (nats)", 1.0), ("delta_accuracy", "Δ test accuracy (points)", 100.0))
    for axes, (column, title, unit) in zip(figure.subplots(1, 2), columns, strict=True):
        for method, colour in (("filtering", "tab:blue"), ("removal", "tab:orange")):
            chosen = [r for r in records if method in r["groups"][0]["methods"]]
            sizes = [sum(r["key"]["setting"][0]) for r in chosen]
            values = [[unit * g["methods"][method][column] for g in r["groups"]] for r in chosen]
            axes.boxplot(
                values,
                positions=sizes,
                widths=20,
                manage_ticks=False,
                patch_artist=True,
                boxprops={"facecolor": colour, "alpha": 0.5},
                medianprops={"color": colour},
                label=method,
            )
        axes.axhline(0.0, color="grey", linestyle="--", linewidth=1)
        axes.set(xlabel="rows of data and of test", ylabel=title, xticks=sizes)
    axes.legend()
    save_figure(figure, path)


def save_figure(figure: Any, path: Path) -> None:
    """The same bytes for the same figure: no date in it, and no random names."""
    from matplotlib import rc_context

    with rc_context({"svg.hashsalt": "dataworth"}):
        figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)
