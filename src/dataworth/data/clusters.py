"""Rows that seem to belong together though nobody said so."""

from __future__ import annotations

import re

import numpy as np

from ..wording import counted, option
from .dataset import Dataset

LIKE_AN_ID = re.compile(
    r"(^|[_\s.-])(id|ids|uuid|patient|subject|participant|person|user|customer|document|doc|prompt|session|"
    r"household|video|film)([_\s.-]?(id|no|nr|number))?$",
    re.IGNORECASE,
)
ROWS_EACH = 2.0
"""Rows per name from which names look like those of clusters: a few repeated ids are copies of a row."""
FEWEST = 10
"""Names from which a column is taken to name things: fewer are categories."""


def clustered_note(data: Dataset) -> str | None:
    """A note where ids, or a column named like one, have several rows each, and no groups are given.

    Rows of one patient are not independent: without groups they stand in different blocks, and intervals come
    out too narrow.
    """
    if data.groups is not None:
        return None
    named: list[tuple[str, np.ndarray]] = [] if data.ids is None else [("ids", data.ids)]
    columns = [(j, c.name) for j, c in enumerate(data.columns) if LIKE_AN_ID.search(c.name)]
    named += [(f"values of {name!r}", data.X[:, j]) for j, name in columns]
    for what, values in named:
        distinct = len(np.unique(values))
        if distinct >= FEWEST and len(data) >= ROWS_EACH * distinct:
            return (
                f"{distinct} {what} name {counted(len(data), 'row')}: if rows of one belong together, say so"
                f" with {option('group')}"
            )
    return None
