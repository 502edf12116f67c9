"""What a change did to the data: counts of rows, classes and columns that moved, and examples of rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dataworth.wording import counted

from ..document import Block, Cell, Name, Table

KINDS = {
    "removed": "Rows that were removed",
    "removed, its twin stays": "Rows that were removed, and whose twin (the same features) stays",
    "relabelled": "Rows with another label",
    "edited": "Rows that were edited",
    "new": "New rows",
}
"""Kinds of examples (`data.moved`), and what a report calls them."""


def change_text(change: dict[str, Any]) -> str:
    """What became of the rows, by kinds that add up.

    All but the new and repeated are the rows before, all but the removed the rows after. Rows may be both
    edited and relabelled, and copies of kept rows may be: then these two stand apart.

    >>> change = {"kept": 9, "unchanged": 4, "removed": 1, "new": 0, "repeated": 2, "matched_by": "ids"}
    >>> change_text({**change, "edited": 2, "relabelled": 3})
    '4 kept unchanged, 2 edited, 3 relabelled, 1 removed, 2 repeated (rows matched by ids)'
    >>> change_text({**change, "edited": 2, "relabelled": 5})
    '4 kept unchanged, 5 changed, 1 removed, 2 repeated (2 edited, 5 relabelled; rows matched by ids)'
    """

    def counts(found: dict[str, int]) -> str:
        return ", ".join(f"{n} {kind}" for kind, n in found.items() if n)

    kinds = {kind: change[kind] for kind in ("edited", "relabelled")}
    changed = {"changed": change["kept"] - change["unchanged"]}
    apart = "" if sum(kinds.values()) == changed["changed"] else f"{counts(kinds)}; "
    kept = "kept unchanged" if any(kinds.values()) else "kept"
    rest = {kind: change[kind] for kind in ("removed", "new", "repeated")}
    told = counts({kept: change["unchanged"], **(changed if apart else kinds), **rest})
    return f"{told} ({apart}rows matched by {change['matched_by']})"


def twins_text(twins: dict[str, Any]) -> str:
    """Which of rows with the same features and several labels stayed."""
    told = f"{counted(twins['sets'], 'set')} of rows have the same features and several labels"
    if not twins["thinned"]:
        return f"{told}; none lost only some"
    stayed, went = (", ".join(f"{label} {n}" for label, n in twins[k].items()) for k in ("stayed", "gone"))
    return f"{told}; {twins['thinned']} lost some: {stayed} stayed, {went} went"


def changed_blocks(change: Mapping[str, Any], examples: Sequence[Mapping[str, Any]] = ()) -> Iterator[Block]:
    """Classes and columns that moved, and some rows of each kind of change."""
    classes = change.get("classes", {})
    if any(before != after for before, after in classes.values()):
        totals = [max(1, sum(ends)) for ends in zip(*classes.values(), strict=True)]
        rows: list[Sequence[str | Cell]] = [
            (
                Cell([Name(name)]),
                *map(str, ends),
                *(f"{n / of:.1%}" for n, of in zip(ends, totals, strict=True)),
            )
            for name, ends in classes.items()
        ]
        columns = ("class", "rows before", "rows after", "share before", "share after")
        yield Table("Classes", columns, rows)
    if change.get("columns"):
        moved: list[Sequence[str | Cell]] = [
            (Cell([Name(one["column"])]), Cell([Name(one["moved"])]) if one["moved"] else "–", *_sizes(one))
            for one in change["columns"]
        ]
        caption = "Columns that moved most: by standard deviations, or by the proportion of rows (categories)"
        yield Table(caption, ("column", "what moved", "shift", "cells edited"), moved)
    for kind, title in KINDS.items():
        some = [one for one in examples if one["kind"] == kind]
        if some:
            yield _rows(title, some)


def _sizes(one: Mapping[str, Any]) -> tuple[str, str]:
    return f"{one['shift']:.2f}", str(one["cells"])


def _rows(title: str, some: Sequence[Mapping[str, Any]]) -> Table:
    """Example rows: cells are texts of others, shown and never trusted."""
    names = list(dict.fromkeys(name for one in some for name, _ in one["cells"]))
    twins = ["twin that stays"] if any(one["twin"] for one in some) else []
    rows = []
    for one in some:
        cells = dict(map(tuple, one["cells"]))
        told = [one["row"], *([one["twin"] or "–"] if twins else []), one["label"]]
        rows.append([Cell([Name(text)]) for text in (*told, *(cells.get(name, "–") for name in names))])
    caption = f"{title}: {counted(len(some), 'example')}; a row is named by its id, else by its number from 1"
    return Table(caption, ("row", *twins, "label", *map(Name, names)), rows)
