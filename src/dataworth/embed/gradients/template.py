"""What a language model reads: the paper's template around a prompt and a response, cut to a length."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dataworth.errors import DataworthError

TEMPLATE = (
    "Given a user query and a response, generate an embedding that represents the quality and helpfulness of"
    " the response.\nQuery: {q}\nResponse: {r}"
)
"""As the paper prints it."""
RESPONSE = 96
"""Tokens of a response that are kept, whatever the prompt's length."""


@dataclass(frozen=True)
class Tokens:
    """Token ids; those from `start` on are the response, whose likelihood counts."""

    ids: tuple[int, ...]
    start: int

    def __len__(self) -> int:
        return len(self.ids)


def row_hash(prompt: str, chosen: str, rejected: str) -> str:
    """What names a pair in a manifest.

    >>> row_hash("a", "b", "c")
    '0bbcc91a2106d72f'
    """
    digest = hashlib.blake2b(digest_size=8)
    for text in (prompt, chosen, rejected):
        content = text.encode("utf-8", "surrogatepass")
        digest.update(len(content).to_bytes(8, "little") + content)
    return digest.hexdigest()


class Reader:
    """Turns prompts and responses into tokens.

    The prompt is cut before the response is, from its beginning, for a response answers its end; at least
    `RESPONSE` tokens of the response stay.
    """

    def __init__(self, tokenizer: Any, longest: int) -> None:
        head, rest = TEMPLATE.split("{q}")
        ends = {tokenizer.eos_token_id, getattr(tokenizer, "sep_token_id", None)}
        first = list(tokenizer(head)["input_ids"])  # with what the model wants to see first, if anything
        self._head = first[:-1] if first[-1] in ends else first
        self._tokenizer = tokenizer
        self._middle = self._plain(rest.removesuffix("{r}"))
        self._room = longest - len(self._head) - len(self._middle)
        if self._room < RESPONSE:
            least = RESPONSE + longest - self._room
            raise DataworthError(
                f"max_tokens (--max-tokens) is {longest}, but the template and {RESPONSE} tokens of response"
                f" take {least}: give at least {least}."
            )

    def __call__(self, prompt: str, response: str) -> Tokens:
        """The tokens of one prompt with one response."""
        query, answer = self._plain(prompt), self._plain(response)
        kept, said = lengths(len(query), len(answer), self._room)
        ids = [*self._head, *query[len(query) - kept :], *self._middle]
        return Tokens((*ids, *answer[:said]), len(ids))

    def _plain(self, text: str) -> list[int]:
        return list(self._tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"])


def lengths(prompt: int, response: int, room: int) -> tuple[int, int]:
    """Tokens of the prompt and of the response that are kept.

    >>> lengths(20, 50, 200), lengths(20, 500, 200), lengths(500, 500, 200), lengths(500, 50, 200)
    ((20, 50), (20, 180), (104, 96), (150, 50))
    """
    said = min(response, max(RESPONSE, room - prompt))
    return min(prompt, room - said), said


def in_batches(tokens: Sequence[Tokens], size: int, window: int) -> list[list[int]]:
    """Places of tokens in batches of like length, found window by window so that early rows end early.

    >>> in_batches([Tokens((0,) * n, 0) for n in (5, 1, 4, 2, 9)], size=2, window=4)
    [[1, 3], [2, 0], [4]]
    """
    batches = []
    for start in range(0, len(tokens), window):
        rows = range(start, min(start + window, len(tokens)))
        ordered = sorted(rows, key=lambda i: (len(tokens[i]), i))
        batches += [ordered[i : i + size] for i in range(0, len(ordered), size)]
    return batches
