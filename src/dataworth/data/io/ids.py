"""Columns that name or number rows, and so say nothing of them: by their names, and by what they hold."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from dataworth.data.convert import MOST_CATEGORIES

LIST_AS_TEXT = re.compile(r"\s*\[\s*[-+]?[0-9.]+(e[-+]?[0-9]+)?(\s*[,\s].*)?(\]|…|\.\.\.)\s*$", re.DOTALL)
WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+")
FEWEST_NUMBERED = 10
"""Rows from which 1, 2, … n is taken for a row number: three rows may be 1, 2, 3 by chance."""
DISTINCT = 0.98
"""Proportion of different cells from which a column named like a number is one: some rows are twice there."""
EVEN, FEWEST_SPREAD, DENSE = 0.1, 300, 3
"""How far numbers from a counter may be from an even spread, and rows from which that shows: of 300 even ones
one set in two hundred is farther (Kolmogorov 1933), and a normal measurement is 0.17 away. Fewer rows must
fill a third of their range."""


def named_like_an_id(name: str) -> bool:
    """Whether the last word of a name is id, or another that names rows.

    >>> [named_like_an_id(name) for name in ("customer_id", "PassengerId", "user ID", "paid", "idle")]
    [True, True, True, False, False]
    """
    words = [word.lower() for word in WORD.findall(name)]
    return bool(words) and words[-1] in ("id", "ids", "uuid", "guid")


def named_like_a_number(name: str) -> bool:
    """Whether the last word of a name says that things are numbered, or keys: what it holds decides.

    >>> [named_like_a_number(name) for name in ("Kunden-Nr", "KundenNr", "customer_no", "Nr.")]
    [True, True, True, True]
    >>> [named_like_a_number(name) for name in ("order number", "Kundennummer", "key", "keyword")]
    [True, True, True, False]
    """
    words = [word.lower() for word in WORD.findall(name)]
    return bool(words) and (words[-1] in ("nr", "no", "num", "number", "key") or words[-1].endswith("nummer"))


def counts_up(column: Any) -> bool:
    """Whether nearly all cells differ, and are short texts or whole numbers as a counter gives them.

    A counter fills its range evenly, so that numbers drawn from it do: the largest distance of their
    distribution function from the uniform one, max |i/n − (x_i − x_1)/(x_n − x_1)|, is at most `EVEN`. Whole
    numbers that are measured heap up somewhere.

    >>> import pyarrow as pa
    >>> rng = np.random.default_rng(0)
    >>> given, measured = 100_000 + 7 * rng.permutation(400), rng.normal(50_000, 9_000, size=400)
    >>> [counts_up(pa.chunked_array([values])) for values in (given, measured.astype(int), given / 3)]
    [True, False, False]
    """
    import pyarrow as pa

    present = column.drop_null()
    n = len(present)
    if n < FEWEST_NUMBERED or len(present.unique()) < DISTINCT * n:
        return False
    if not (pa.types.is_integer(present.type) or pa.types.is_floating(present.type)):
        return True
    x = np.sort(present.to_numpy().astype(float))
    if not np.array_equal(x, np.round(x)):
        return False
    if n < FEWEST_SPREAD:
        return bool(x[-1] - x[0] < DENSE * n)
    return bool(np.abs(np.arange(n) / (n - 1) - (x - x[0]) / (x[-1] - x[0])).max() <= EVEN)


def names_rows(present: Any) -> int:
    """How many different texts name rows: more than fifty, and over half of the rows; 0 if they do not."""
    distinct = len(present.unique())
    lists = LIST_AS_TEXT.match(str(present[0].as_py()))
    return 0 if lists or distinct <= MOST_CATEGORIES or distinct <= len(present) / 2 else distinct


def numbers_rows(column: Any) -> bool:
    """Whether a column is 1, 2, … n or 0, 1, … n − 1, in any order: rows may have been shuffled.

    >>> import pyarrow as pa
    >>> table = pa.table({"a": range(12, 0, -1), "b": [1, *range(1, 12)]})
    >>> numbers_rows(table["a"]), numbers_rows(table["b"])
    (True, False)
    """
    import pyarrow.compute as pc

    n = len(column)
    if n < FEWEST_NUMBERED or column.null_count:
        return False
    first = column[0].as_py()  # which tells nearly always, and there may be very many columns
    if not 0 <= first <= n or first != int(first) or pc.min(column).as_py() not in (0, 1):
        return False
    ordered = np.sort(column.to_numpy())  # only then: it takes long
    return np.array_equal(ordered, np.arange(n) + ordered[0])
