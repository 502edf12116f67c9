"""Questions to one test set: how often it was asked, and answers that do not wear it out.

150 questions, each keeping what scored a little higher, made blind changes look informative in 8 of 10. The
Ladder (Blum and Hardt 2015) gives a new number only if it is better than the best so far beyond the noise,

    mean_j (u_j − best_j) > t_{1 − LEVEL / 2k} · s.e.,

over blocks of the test set, at question k (u: nats a test row, of the data, of those after curation, of the
best candidate, or of all candidates together); otherwise it says only that it is not. All commands share one
count and one best, so that another command is no way round; of the best data themselves each command answers
one question. What can be learned then grows with the number of true improvements, not of questions.

The ladder file holds the count, the best values and a key. It stays with whoever holds the test set, and
knows it by a keyed hash. Where half of the test set judges (`valuation.values.guard`), each has its own best.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Array
from ..atomic import BLANK, atomic_write, has_checksum, parse_json, read_whole, with_checksum
from ..data.dataset import Dataset
from ..data.keys import is_key, keyed_hash, new_key
from ..errors import DataworthError
from ..wording import option
from .case import Case
from .designs import Arm
from .intervals import t_quantile
from .options import Options
from .table import PairTable

SCHEMA = "dataworth/ladder/1"
LEVEL = 0.05
"""Probability, on both sides, that a question is answered anew though nothing differs; over k questions."""
MAX_QUERIES = 10**9
"""Questions that a ladder can count: more than anybody asks, and a level of 1e-11 for each."""
SAME = 1e-6
"""Nats a test row that one dataset's value may differ by between commands."""
WAIT = 60.0
"""Seconds to wait for another process that writes to the file."""
SUBJECTS = {"audit": "the data after are", "rank": "the best of these is"}
SUBJECTS |= {"contributions": "all of these together are"}
"""What must be better, where it is not the data."""


class Asked(NamedTuple):
    """A question: its command, the test set, and the rows of it that judge, by their content; what came out.

    arm: whose value must be better than the best so far. datasets: how many were asked about. more: what
    makes it another question, beside options and values.
    """

    what: str
    options: Options
    test: str
    judged: str
    table: PairTable
    arm: Arm
    datasets: int = 1
    more: Any = None

    @property
    def values(self) -> Array:
        """What is to be beaten, block by block, nats a test row: not a change, nor nats a block or pair, for
        whoever asks may choose `before`, and how large pairs are."""
        values: Array = self.table.pmi[:, self.table.arms.index(self.arm)] / self.table.test_rows
        return values

    def digest(self, key: str) -> str:
        """By what the same question is known again."""
        told = [[str(arm) for arm in self.table.arms], np.round(self.table.pmi, 6).tolist(), self.more]
        return keyed_hash(json.dumps([*told, self.options.to_dict()], sort_keys=True, default=str), key)


def answered(case: Case, test: Dataset, judged: Dataset | None = None) -> Case:
    """A score, audit or ranking, if it may be told; `judged`: the rows that judge, if not all.

    Raises:
        DataworthError: if it is not better than the best answer so far. An earlier answer is about other
            data, and is never given in place of this one.
    """
    if case.options.ladder is None:
        return case
    table, several = case.table, case.what == "rank"
    arm = table.arms[table.pmi.mean(axis=0).argmax()] if several else case.arms[-1]
    count, by = len(table.arms) if several else 1, (judged or test).content_hash()
    asked = Asked(case.what, case.options, test.content_hash(), by, table, arm, count)
    return replace(case, notes=(*case.notes, *ask(asked)))


def ask(asked: Asked) -> tuple[str, ...]:
    """Count a question; a note if it may be answered, else a sentence. No ladder, no note."""
    if asked.options.ladder is None:
        return ()
    path = Path(asked.options.ladder)
    if not (np.isfinite(asked.values).all() and np.isfinite(asked.table.log_z_test).all()):
        raise DataworthError("a value that is no number cannot be compared with others: leave out --ladder.")
    with opened(path) as book:
        test, part = (keyed_hash(one, book["key"]) for one in (asked.test, asked.judged))
        if book.setdefault("test", test) != test:
            raise DataworthError(f"{path} is the ladder of another test set: give that one's, or a new file.")
        book["queries"] += asked.datasets
        number, best, digest = book["queries"], book["best"].get(part), asked.digest(book["key"])
        told = {"query": number, "values": asked.values.tolist(), "blocks": asked.table.log_z_test.tolist()}
        note = f"question {number} to this test set"
        if best is None or better(asked.values, told["blocks"], best, number):
            book["best"][part] = {**told, "asked": {asked.what: digest}}
            return (f"{note}, by its ladder",)
        same = len(best["values"]) == len(asked.values)
        same = same and np.allclose(best["values"], asked.values, rtol=0.0, atol=SAME)
        if same and best["asked"].setdefault(asked.what, digest) == digest:
            return (f"{note}, by its ladder: of the data of question {best['query']}",)
    what = SUBJECTS.get(asked.what, "the data are")
    raise DataworthError(
        f"{note}: {what} not worth more, beyond the noise, than in answer {best['query']} of {path}, so "
        "nothing more is told: ask again when the data are better, or take a fresh test set."
    )


def better(values: Array, blocks: Any, best: dict[str, Any], questions: int) -> bool:
    """Whether values of blocks are better than the best ones beyond the noise of so many questions."""
    old, before = np.array(best["values"]), np.array(best["blocks"])
    same = values.shape == old.shape and np.shape(blocks) == before.shape
    if same and np.allclose(blocks, before):
        gap = values - old  # the same blocks: what is hard in them cancels
        variance = float(gap.var(ddof=1)) / len(gap)
    else:
        variance = sum(float(one.var(ddof=1)) / len(one) for one in (values, old))
    noise = t_quantile(min(len(values), len(old)) - 1, 1.0 - LEVEL / questions)
    return bool(values.mean() - old.mean() > noise * np.sqrt(variance))


@contextmanager
def opened(path: Path) -> Iterator[dict[str, Any]]:
    """The file, locked against other processes, written whole when the block ends well."""
    from filelock import FileLock, Timeout

    if not path.resolve().parent.is_dir():
        raise DataworthError(f"{path} cannot be written, for there is no such directory: create it.")
    try:
        with FileLock(f"{path}.lock", timeout=WAIT):
            new = {"schema": SCHEMA, "key": new_key(), "queries": 0, "best": {}}
            book = read(path) if path.exists() else new
            yield book
            with atomic_write(path) as place:
                place.write_bytes(with_checksum(json.dumps({"checksum": BLANK, **book}).encode()))
    except Timeout:
        raise DataworthError(f"{path} is in use by another process: try again when that has ended.") from None
    except OSError as error:
        raise DataworthError(f"{path} cannot be written ({error.strerror}): choose another place.") from error


def read(path: Path) -> dict[str, Any]:
    """What a ladder file holds, or a sentence."""
    try:
        content = read_whole(path)
        book = parse_json(content)
        known = book["schema"] == SCHEMA and isinstance(book["checksum"], str)
        known = known and is_count(book["queries"]) and is_key(book["key"])
        known = known and isinstance(book.get("test", ""), str)
        known = known and all(map(_is_best, book["best"].values()))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        known = False
    if not known:
        raise DataworthError(
            f"{path} is no ladder file: give one that {option('ladder')} made, or a new file."
        )
    if not has_checksum(content, book.pop("checksum")):
        raise DataworthError(
            f"{path} was changed after it was written, or damaged (its checksum does not match): restore it."
        )
    return dict(book)


def _is_best(told: dict[str, Any]) -> bool:
    """Whether this can be the best answer so far; what cannot may also raise."""
    columns = [np.array(told[name], dtype=float) for name in ("values", "blocks")]
    numbers = all(one.ndim == 1 and len(one) > 1 and np.isfinite(one).all() for one in columns)
    words = all(isinstance(text, str) for text in dict(told["asked"]).values())
    return numbers and len(columns[0]) == len(columns[1]) and is_count(told["query"]) and words


def is_count(value: Any) -> bool:
    """Whether this can be how often something was asked."""
    return type(value) is int and 0 <= value <= MAX_QUERIES
