"""Preferences: a prompt and two responses, one of them chosen.

They come as columns (prompt, chosen, rejected), texts or conversations; as Skywork-Reward-Preference has
them, two conversations that share all but their last message; or as Stanford SHP does, with `history`,
`human_ref_A`, `human_ref_B` and `labels`, 1 where A was preferred.

A pair becomes one row: its two responses in an order that their hashes give, and a label that says which is
better. So a pair that was flipped is the same row with another label, and the order tells nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np

from dataworth.arrays import Flags, Rows
from dataworth.data.convert import column_kind
from dataworth.data.io.notes import naming
from dataworth.data.io.schema import plain_table
from dataworth.data.io.sources import part_of
from dataworth.data.texts import BETWEEN
from dataworth.errors import DataworthError
from dataworth.wording import listed

RESPONSES, PREFERRED, PROMPT, LONGER = "responses", "preferred", "prompt", "longer"
"""The columns of a table of pairs: the feature, the label, the group, the attribute."""
FIRST, SECOND = "first", "second"
PROMPTS = ("prompt", "question", "instruction", "query", "history", "input", "post")
SHP = ("human_ref_A", "human_ref_B", "labels")
TURNS = ("\n\nHuman:", "\n\nAssistant:")
"""How Anthropic's hh-rlhf writes a conversation as one text."""
SHOWN = 40
"""Characters of a prompt that name its group, before a hash of all."""


@dataclass(frozen=True)
class Preferences:
    """Prompts with two responses each.

    kept: which rows of the source these are; rows with an empty response, or with one response twice, say
    nothing and are dropped.
    """

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
        return np.array(
            [in_order(*both) for both in zip(self.chosen, self.rejected, strict=True)], dtype=bool
        )

    def columns(self) -> dict[str, list[str]]:
        """The columns of a table of pairs."""
        first = self.first.tolist()
        ordered = [
            (a, b) if here else (b, a) for a, b, here in zip(self.chosen, self.rejected, first, strict=True)
        ]
        return {
            RESPONSES: [BETWEEN.join(both) for both in ordered],
            PREFERRED: [FIRST if here else SECOND for here in first],
            PROMPT: [prompt_name(prompt) for prompt in self.prompts],
            LONGER: [longer(*both) for both in ordered],
        }


def read_preferences(source: str | PathLike[str]) -> Preferences:
    """The pairs of a file or directory; a sentence that begins with its name if it holds none."""
    with naming(source):
        return preferences_of(plain_table(part_of(source)))


def are_preferences(names: Sequence[str]) -> bool:
    """Whether columns of these names hold pairs of responses.

    >>> are_preferences(["prompt", "chosen", "rejected"]), are_preferences(["text", "label"])
    (True, False)
    """
    return {"chosen", "rejected"} <= set(names) or set(SHP) <= set(names)


def in_order(one: str, other: str) -> bool:
    """Whether the first of two texts comes first: a coin that falls alike for all, whatever they say."""
    return _digest(one) < _digest(other)


def prompt_name(prompt: str) -> str:
    """A short name of a prompt, its own.

    >>> prompt_name("Why is the sky blue?")
    'Why is the sky blue? cb5e45c6'
    """
    start = " ".join(prompt[: 2 * SHOWN].split())[:SHOWN]
    return f"{start} {_digest(prompt).hex()[:8]}"


def longer(first: str, second: str) -> str:
    """Which of two responses is longer.

    >>> longer("yes", "yes, of course"), longer("yes", "no!")
    ('second', 'neither')
    """
    return FIRST if len(first) > len(second) else SECOND if len(second) > len(first) else "neither"


def preferences_of(table: Any) -> Preferences:
    """The pairs of a pyarrow table, by the names of its columns."""
    names = table.column_names
    if not are_preferences(names):
        raise DataworthError(
            "there are no pairs of responses: columns prompt, chosen and rejected are expected, but there are"
            f" {listed(names, 10)}"
        )
    shp = not {"chosen", "rejected"} <= set(names)
    one, other = ((_column(table, name), name) for name in (SHP[:2] if shp else ("chosen", "rejected")))
    prompts, chosen, rejected = _with_prompts(table, one, other)
    if shp:
        better = _column(table, "labels")
        if not set(better) <= {0, 1}:
            raise DataworthError("labels is 1 where human_ref_A was preferred, else 0: it holds other values")
        swapped = [(a, b) if first else (b, a) for a, b, first in zip(chosen, rejected, better, strict=True)]
        chosen, rejected = [a for a, _ in swapped], [b for _, b in swapped]
    both = list(zip(chosen, rejected, strict=True))
    kept = np.array([bool(a.strip() and b.strip() and a.strip() != b.strip()) for a, b in both], dtype=bool)
    rows = np.flatnonzero(kept)
    if not len(rows):
        raise DataworthError("every pair is empty, or the same response twice: give some that differ")
    for row in rows:
        if not prompts[row].strip():
            raise DataworthError(
                f"pair {row + 1} has no prompt: fill it in, or leave the pair out (splits go by prompt)"
            )

    def taken(texts: list[str]) -> tuple[str, ...]:
        return tuple(texts[i].replace(BETWEEN, " ") for i in rows)

    return Preferences(taken(prompts), taken(chosen), taken(rejected), rows, len(kept) - len(rows))


def _with_prompts(table: Any, *responses: tuple[list[Any], str]) -> tuple[list[str], list[str], list[str]]:
    """Prompts and the two responses, as texts."""
    given = next((name for name in PROMPTS if name in table.column_names), None)
    (one, one_name), (other, other_name) = responses
    prompts = (
        None if given is None else [_said(cell, given, i) for i, cell in enumerate(_column(table, given))]
    )
    found: list[tuple[str, str, str]] = []
    for i, (a, b) in enumerate(zip(one, other, strict=True)):
        before, first = _split(a, one_name, i)
        also, second = _split(b, other_name, i)
        prompt = before if prompts is None else prompts[i]
        if prompts is None and before is None:
            raise DataworthError(
                f"there is no prompt: add a column of that name, or write {one_name} and {other_name} as"
                " conversations"
            )
        if prompts is None and before != also:
            raise DataworthError(
                f"the two conversations of pair {i + 1} differ before their last message: add a column prompt"
            )
        found.append((prompt or "", first, second))
    return [row[0] for row in found], [row[1] for row in found], [row[2] for row in found]


def _split(cell: Any, name: str, row: int) -> tuple[str | None, str]:
    """What stands before the last message, if anything does, and the last message."""
    if isinstance(cell, str):
        if cell.startswith(TURNS[0]) and TURNS[1] in cell:
            before, turn, last = cell.rpartition(TURNS[1])
            return before + turn, last.strip()
        return None, cell
    *asked, last = _messages(cell, name, row) or [""]
    return "\n\n".join(asked) if asked else None, last


def _said(cell: Any, name: str, row: int) -> str:
    return cell if isinstance(cell, str) else "\n\n".join(_messages(cell, name, row))


def _messages(cell: Any, name: str, row: int) -> list[str]:
    if cell is None:
        return []
    try:
        said = [message["content"] for message in cell]
    except (TypeError, KeyError):
        said = [None]
    if not all(isinstance(text, str) for text in said):
        raise DataworthError(
            f"{name} of pair {row + 1} is neither a text nor a conversation (messages with role and content)"
        )
    return said


def _column(table: Any, name: str) -> list[Any]:
    column = table[name]
    kind = column_kind(column.combine_chunks())
    if name != "labels" and kind not in ("categorical", "nested"):
        raise DataworthError(
            f"column {name!r} ({kind}) holds no text: prompts and responses are texts, or conversations"
        )
    return list(column.to_pylist())


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def pair_table(table: Any) -> tuple[Any, int]:
    """A pyarrow table with a row for each pair: the columns of pairs, and what else the table has."""
    import pyarrow as pa

    pairs = preferences_of(table)
    own = {"chosen", "rejected", *SHP, *PROMPTS, RESPONSES, PREFERRED, LONGER}
    rest = table.take(pairs.kept).drop_columns([name for name in table.column_names if name in own])
    for name, values in pairs.columns().items():
        rest = rest.append_column(name, pa.array(values))
    return rest, pairs.dropped
