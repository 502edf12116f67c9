"""Columns of texts, and of pairs of texts, replaced by numbers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

import numpy as np

from ..arrays import Array
from ..errors import DataworthError
from .convert import CODED, Column, Kind
from .dataset import Dataset

FACTS = ("length", "words shared with the prompt")
"""What is known of a response beside its vector; no model sees it."""
BETWEEN = "\x1e"
"""Stands between the two texts of a pair; it separates records in ASCII, and is no part of a text."""


def text_columns(data: Dataset) -> list[str]:
    """Names of the columns that hold texts, or pairs of them."""
    return [column.name for column in data.columns if column.kind in ("text", "pair", "response")]


def parts_of(column: Column) -> tuple[Sequence[str], ...]:
    """What the categories of a column say: texts, or the first and the second texts of pairs."""
    if column.kind != "pair":
        return (column.categories,)
    both = [category.partition(BETWEEN) for category in column.categories]
    return [first for first, _, _ in both], [second for _, _, second in both]


def with_vectors(
    data: Dataset, names: Collection[str], vectors: Callable[[str, Sequence[str]], Array]
) -> Dataset:
    """The same rows with numbers `name[0]`, `name[1]`, … in place of texts; a pair is v(first) − v(second).

    A response is no feature: its numbers are the row's `outputs`. `vectors` makes texts × numbers for a
    column's name and texts. A missing text is a row of zeros.
    """
    if not any(column.name in names for column in data.columns):
        return data
    blocks: list[Array] = []
    outputs = data.outputs
    columns: list[Column] = []
    for j, column in enumerate(data.columns):
        if column.name not in names:
            blocks.append(data.X[:, j : j + 1])
            columns.append(column)
            continue
        if column.kind not in CODED:
            raise DataworthError(
                f"column {column.name!r} is {column.kind}, but text in the test set: give texts in both."
            )
        codes = data.X[:, j]
        here = codes >= 0  # neither missing nor unknown
        used, place = np.unique(codes[here].astype(int), return_inverse=True)
        each = [vectors(column.name, [texts[i] for i in used]) for texts in parts_of(column)]
        table = each[0] - each[1] if len(each) == 2 else each[0]
        block = np.zeros((len(data), table.shape[1]))
        block[here] = table[place]
        if column.kind == "response":
            outputs = block
            continue
        blocks.append(block)
        kind: Kind = "difference" if column.kind == "pair" else "numeric"
        columns += [Column(f"{column.name}[{k}]", kind) for k in range(block.shape[1])]
    facts = data.facts if outputs is data.outputs else facts_of(data)
    X = np.ascontiguousarray(np.hstack([np.zeros((len(data), 0)), *blocks]))
    return data._with(X=X, columns=tuple(columns), outputs=outputs, facts=facts)


def facts_of(data: Dataset) -> Array:
    """`FACTS` of every row: characters, and the proportion of all words of both that both have."""
    kinds = [column.kind for column in data.columns]
    prompt, response = (None if kind not in kinds else kinds.index(kind) for kind in ("text", "response"))
    assert response is not None
    texts = data.columns[response].categories
    words = [set(text.lower().split()) for text in texts]
    own = data.X[:, response].astype(int)
    lengths = np.array([len(text) for text in texts], dtype=float)[own]
    shared = np.zeros(len(data))
    if prompt is not None:
        asked = [set(text.lower().split()) for text in data.columns[prompt].categories]
        for i, (k, j) in enumerate(zip(data.X[:, prompt].astype(int), own, strict=True)):
            both = asked[k] | words[j]
            shared[i] = len(asked[k] & words[j]) / max(1, len(both))
    return np.column_stack([lengths, shared])
