"""Preferences: columns prompt, chosen and rejected, texts or conversations.

A pair becomes one row: its two responses in an order that their hashes give, and a label that says which is
better. So a flipped pair is the same row with another label, and the order tells nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np
import pyarrow as pa

from dataworth.arrays import Flags, Rows
from dataworth.data.convert import column_kind
from dataworth.data.io.files import part_of
from dataworth.data.io.notes import naming
from dataworth.data.texts import BETWEEN
from dataworth.errors import DataworthError
from dataworth.wording import listed

RESPONSES, PREFERRED, PROMPT, LONGER = "responses", "preferred", "prompt", "longer"
"""The columns of a table of pairs: the feature, the label, the group, the attribute."""
PAIR_ROLES = {"label": PREFERRED, "group": PROMPT, "attribute": LONGER, "features": RESPONSES}
FIRST, SECOND = "first", "second"
PAIR = ("chosen", "rejected")


@dataclass(frozen=True)
class Preferences:
    """Prompts with two responses each; kept: which rows of the source these are, for some say nothing."""

    prompts: tuple[str, ...]
    chosen: tuple[str, ...]
    rejected: tuple[str, ...]
    kept: Rows
    dropped: int

    def __len__(self) -> int:
        return len(self.prompts)

    @property
    def pairs(self) -> list[tuple[str, str, str]]:
        """(prompt, chosen, rejected) of each."""
        return list(zip(self.prompts, self.chosen, self.rejected, strict=True))

    @property
    def first(self) -> Flags:
        """Whether the chosen response is the first of its row: by the hashes of the two."""
        return np.array(list(map(in_order, self.chosen, self.rejected)), dtype=bool)

    def columns(self) -> dict[str, list[str]]:
        """The columns of a table of pairs; a prompt is named by its beginning and a hash of all."""
        first = self.first.tolist()
        ordered = [(a, b) if here else (b, a) for (_, a, b), here in zip(self.pairs, first, strict=True)]
        return {
            RESPONSES: [BETWEEN.join(both) for both in ordered],
            PREFERRED: [FIRST if here else SECOND for here in first],
            PROMPT: [f"{' '.join(p[:80].split())[:40]} {_digest(p).hex()[:8]}" for p in self.prompts],
            LONGER: [("neither", FIRST, SECOND)[np.sign(len(a) - len(b))] for a, b in ordered],
        }


def read_preferences(source: str | PathLike[str]) -> Preferences:
    """The pairs of a file or directory."""
    with naming(source):
        return preferences_of(part_of(source).table)


def are_preferences(names: Sequence[str]) -> bool:
    """Whether columns of these names hold pairs of responses."""
    if {"human_ref_A", "human_ref_B"} <= set(names):
        line = "frame['chosen'] = frame.human_ref_A.where(frame.labels == 1, frame.human_ref_B)"
        raise DataworthError(f"pairs are read as prompt, chosen and rejected: in pandas, {line}, and so on")
    return set(PAIR) <= set(names)


def in_order(one: str, other: str) -> bool:
    """Whether the first of two texts comes first: a coin that falls alike for all, whatever they say."""
    return _digest(one) < _digest(other)


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def preferences_of(table: Any) -> Preferences:
    """The pairs of a pyarrow table, by the names of its columns."""
    names = table.column_names
    if not are_preferences(names):
        expected = "there are no pairs of responses: columns prompt, chosen and rejected are expected"
        raise DataworthError(f"{expected}, but there are {listed(names, 10)}")
    for name in (name for name in (PROMPT, *PAIR) if name in names):
        if (kind := column_kind(table[name])) not in ("categorical", "nested"):
            raise DataworthError(f"column {name!r} ({kind}) holds no text: give texts, or conversations")
    texts = {name: table[name].to_pylist() for name in (PROMPT, *PAIR) if name in names}
    found: list[tuple[str, str, str]] = []
    for i in range(table.num_rows):
        (*before, a), (*also, b) = (_messages(texts[name][i], name, i) or [""] for name in PAIR)
        if PROMPT in texts:
            before = also = _messages(texts[PROMPT][i], PROMPT, i)
        elif not before:
            raise DataworthError("there is no prompt: add a column of that name, or give conversations")
        if before != also:
            differ = f"the two conversations of pair {i + 1} differ before their last message"
            raise DataworthError(f"{differ}: add a column prompt")
        found.append(("\n\n".join(before), a, b))
    rows = [i for i, (_, a, b) in enumerate(found) if a.strip() and b.strip() and a.strip() != b.strip()]
    if not rows:
        raise DataworthError("every pair is empty, or the same response twice: give some that differ")
    if empty := [i for i in rows if not found[i][0].strip()]:
        raise DataworthError(f"pair {empty[0] + 1} has no prompt: fill it in, or leave the pair out")
    clean = (tuple(text.replace(BETWEEN, " ") for text in found[i]) for i in rows)
    prompts, chosen, rejected = zip(*clean, strict=True)
    return Preferences(prompts, chosen, rejected, np.array(rows, dtype=np.intp), len(found) - len(rows))


def _messages(cell: Any, name: str, row: int) -> list[str]:
    """What a text, or a conversation, says."""
    try:
        said = [cell] if isinstance(cell, str) else [message["content"] for message in cell or ()]
    except (TypeError, KeyError):
        said = [None]
    if not all(isinstance(text, str) for text in said):
        neither = f"{name} of pair {row + 1} is neither a text nor a conversation"
        raise DataworthError(f"{neither}: give messages with role and content")
    return said


def pair_table(table: Any) -> tuple[Any, int]:
    """A pyarrow table with a row for each pair: the columns of pairs, and what else the table has."""
    pairs = preferences_of(table)
    own = {*PAIR, PROMPT, RESPONSES, PREFERRED, LONGER}
    rest = table.take(pairs.kept).drop_columns([name for name in table.column_names if name in own])
    for name, values in pairs.columns().items():
        rest = rest.append_column(name, pa.array(values))
    return rest, pairs.dropped
