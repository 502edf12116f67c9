"""The curation study as text and pictures: ours beside the paper's."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from textwrap import fill
from typing import Any

from .cells import Record
from .curation import Study
from .paper import PAPER
from .tables import COLOURS, Column, explain, field, save_figure, table, with_error

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
FORMS = {"by EP": ("ep", "evidence"), "η = 0": ("laplace", "eta"), "product": ("laplace", "product")}


def to_markdown(study: Study, equal_size: bool = False) -> str:
    """A table for each setting and method: a line for each prior, the paper's number at its end."""
    rows = study.rows(equal_size)
    text = []
    for setting, method in dict.fromkeys((row["setting"], row["method"]) for row in rows):
        own = [row for row in rows if (row["setting"], row["method"]) == (setting, method)]
        printed = PAPER.get((study.set_name, setting, method), {})
        plain = [row for row in own if (row["inference"], row["form"]) == ("laplace", "evidence")]
        text += [f"\n### {study.set_name}, {setting}: {method}\n", table(plain, *_columns(own, printed))]
    return "\n".join([*text, LEGEND]) + "\n"


def in_short(rows: Sequence[Record]) -> str:
    """What was found in a sentence: how often, and by how much, the score moved as the paper says.

    >>> cell = {"inference": "laplace", "form": "evidence", "delta_se": 0.1, "delta_accuracy": 0.01}
    >>> moves = (("filtering", 0.25), ("removal", -0.15))
    >>> print(in_short([{**cell, "method": name, "delta": delta} for name, delta in moves]))
    Shown: filtering wrong labels raised the score in 1 of 1 cells (+0.25 to +0.25 nats; accuracy +1.0
    to +1.0 points), removal to match the test set's groups lowered it in 0 of 1 cells (-0.15 to -0.15
    nats; accuracy +1.0 to +1.0 points), each beyond two standard errors.
    """
    told = []
    for method, words, sign in (
        ("filtering", "filtering wrong labels raised the score", 1.0),
        ("removal", "removal to match the test set's groups lowered it", -1.0),
    ):
        own = [row for row in rows if (row["inference"], row["form"]) == ("laplace", "evidence")]
        if own := [row for row in own if row["method"] == method]:
            moved = sum(sign * row["delta"] > 2 * row["delta_se"] for row in own)
            delta = [row["delta"] for row in own]
            points = [100 * row["delta_accuracy"] for row in own]
            by = f"{min(delta):+.2f} to {max(delta):+.2f} nats"
            by += f"; accuracy {min(points):+.1f} to {max(points):+.1f} points"
            told.append(f"{words} in {moved} of {len(own)} cells ({by})")
    return fill(f"Shown: {', '.join(told)}, each beyond two standard errors.", 100)


def _columns(own: list[Record], printed: dict[Any, Any]) -> list[Column]:
    by_form = {(r["C"], r["features"], r["inference"], r["form"]): r for r in own}

    def other(form: tuple[str, str]) -> Any:
        def show(row: Record) -> str:
            found = by_form.get((row["C"], row["features"], *form))
            return "" if found is None else with_error("delta")(found)

        return show

    def papers(value: int) -> Any:
        def show(row: Record) -> str:
            numbers = None if row["yardstick"] else printed.get(row["C"]) or printed.get(None)
            return "" if numbers is None else f"{numbers[value]:+.2f} ± {numbers[value + 1]:.2f}"

        return show

    columns: list[Column] = [
        ("C", lambda row: f"{row['C']:g}" + (" (yardstick)" if row["yardstick"] else "")),
        ("accuracy before", lambda row: f"{100 * row['accuracy']:.1f} %"),
        ("ΔPMI evidence", with_error("delta")),
        *((name, other(form)) for name, form in FORMS.items()),
        ("Δaccuracy", with_error("delta_accuracy", 100.0)),
        ("Δgain", with_error("delta_gain")),
        ("attribute check", field("attribute_check", "+.2f")),
        ("doubling", field("doubling_check", "+.2f")),
    ]
    return columns + ([("paper: ΔPMI", papers(0)), ("Δaccuracy", papers(2))] if printed else [])


def draw_sizes(study: Study, path: Path) -> None:
    """The paper's figure: change of score and of accuracy against size, a box over groups of draws."""
    from matplotlib.figure import Figure

    records = [
        r for r in study.records if r["yardstick"] and (r["inference"], r["form"]) == ("laplace", "evidence")
    ]
    figure = Figure(figsize=(9, 4.8), layout="constrained")
    columns = (("delta", "change of PMI, nats", 1.0), ("delta_accuracy", "change of accuracy, points", 100.0))
    panels = figure.subplots(1, 2)
    sizes = sorted({sum(r["key"]["setting"][0]) for r in records})
    for axes, (column, title, unit) in zip(panels, columns, strict=True):
        axes.axhline(0.0, color="grey", linestyle="--", linewidth=1)
        for method, colour, aside in (("filtering", COLOURS[0], -0.2), ("removal", COLOURS[1], 0.2)):
            chosen = [r for r in records if method in r["groups"][0]["methods"]]
            axes.boxplot(
                [[unit * g["methods"][method][column] for g in r["groups"]] for r in chosen],
                positions=[sizes.index(sum(r["key"]["setting"][0])) + aside for r in chosen],
                widths=0.34,
                manage_ticks=False,
                patch_artist=True,
                boxprops={"facecolor": colour, "alpha": 0.5},
                medianprops={"color": "black"},
                flierprops={"markersize": 3},
                label=method,
            )
        axes.set(xlabel="rows of data", ylabel=title, xlim=(-0.6, len(sizes) - 0.4))
        axes.set_xticks(range(len(sizes)), [str(size) for size in sizes])
        axes.spines[["top", "right"]].set_visible(False)
    panels[0].legend(frameon=False, loc="upper left")
    groups, draws = len(records[0]["groups"]), records[0]["repetitions"]
    explain(
        figure,
        "What filtering wrong labels does, and removing rows until the groups are as in the test set",
        f"{study.set_name}, our yardstick; a box: {groups} groups of {draws} draws; as many test rows as"
        f" data rows. {path.stem.removesuffix('-sizes')}.csv.",
    )
    save_figure(figure, path)
