"""Tables and pictures, made in one way for all studies."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from .cells import Record

Column = tuple[str, Callable[[Any], object]]
"""A column: its head, and what it shows of a row."""


def table(rows: Iterable[Any], *columns: Column) -> str:
    """A table in Markdown; nothing if there are no rows.

    >>> print(table([1, 2], ("n", str), ("square", lambda n: n * n)))
    | n | square |
    |---|---|
    | 1 | 1 |
    | 2 | 4 |
    >>> table([], ("n", str))
    ''
    """
    lines = [[str(show(row)) for _, show in columns] for row in rows]
    if not lines:
        return ""
    head = [name for name, _ in columns]
    first, *rest = (f"| {' | '.join(line)} |" for line in (head, *lines))
    return "\n".join([first, f"|{'---|' * len(head)}", *rest])


def field(name: str, form: str = "", unit: float = 1.0) -> Callable[[Record], str]:
    """A field of a record, formatted; a number may be shown in another unit.

    >>> field("rate", ".1f", 100.0)({"rate": 0.25}), field("name")({"name": "a"})
    ('25.0', 'a')
    """
    return lambda record: format(unit * record[name] if unit != 1.0 else record[name], form)


def with_error(name: str, unit: float = 1.0) -> Callable[[Record], str]:
    """A mean with its standard error, if it has one.

    >>> with_error("delta")({"delta": 1.0, "delta_se": 0.25}), with_error("delta")({"delta": 1.0})
    ('+1.00 ± 0.25', '+1.00')
    """

    def show(record: Record) -> str:
        error = record.get(f"{name}_se")
        return f"{unit * record[name]:+.2f}" + ("" if error is None else f" ± {unit * error:.2f}")

    return show


def write_csv(rows: Sequence[Record], columns: Sequence[str], path: Path) -> None:
    """One line a row; numbers to six digits."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        for row in rows:
            values = (row.get(column) for column in columns)
            writer.writerow([f"{v:.6g}" if isinstance(v, float) else "" if v is None else v for v in values])


COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""Of Okabe and Ito: told apart by the colour-blind too."""
MARKS = "osD^vPX"
"""A shape for each colour."""


def explain(figure: Any, title: str, note: str, legend: Sequence[Any] = ()) -> None:
    """What a figure shows, and what its marks are, above it; what it is made of, below it."""
    if legend:
        above = {"loc": "outside upper left", "ncols": 3, "frameon": False, "fontsize": 9}
        figure.legend(handles=legend, title=title, title_fontsize=11, alignment="left", **above)
    else:
        figure.suptitle(title, x=0.01, ha="left", fontsize=11)
    figure.supxlabel(note, x=0.01, ha="left", fontsize=8, color="#555555")


def save_figure(figure: Any, path: Path) -> None:
    """The same bytes for the same figure: no date in it, and no random names."""
    from matplotlib import rc_context

    with rc_context({"svg.hashsalt": "dataworth"}):
        figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)
