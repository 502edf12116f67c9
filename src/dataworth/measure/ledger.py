"""A ledger of one test set: how often it was asked, and answers that do not wear it out.

150 questions, each keeping what scored a little higher, made blind changes look informative in 8 of 10. The
Ladder (Blum and Hardt 2015) gives a new number only if it is better than the best so far beyond the noise,

    mean_j (u_j − best_j) > t_{1 − LEVEL / 2k} · s.e.,

over blocks of the test set (u: the value of the data, of those after curation, or of the best candidate) at
question k; otherwise it says only that it is not. What can be learned then grows with the number of true
improvements, not of questions. The file holds the best answers and a key; it stays with whoever holds the
test set, and knows it by a keyed hash.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ..arrays import Array
from ..atomic import BLANK, atomic_write, has_checksum, parse_json, read_whole, with_checksum
from ..data.keys import is_key, keyed_hash, new_key
from ..errors import DataworthError
from ..wording import option
from .case import Case
from .designs import Arm
from .intervals import t_quantile
from .table import PairTable

SCHEMA = "dataworth/ledger/1"
LEVEL = 0.05
"""Probability, on both sides, that a question is answered anew though nothing differs; over k questions."""
MAX_QUERIES = 10**9
"""Questions that a ledger can count: more than anybody asks, and a level of 1e-11 for each."""
WAIT = 60.0
"""Seconds to wait for another process that writes to the ledger."""
SUBJECTS = {"score": "the data are", "audit": "the data after are", "rank": "the best of these is"}


def answered(case: Case) -> Case:
    """The case, if it may be told; a sentence if it is not better than the best answer so far.

    An earlier answer is about other data, and is never given in place of this one.
    """
    if case.options.ledger is None:
        return case
    with opened(Path(case.options.ledger)) as book:
        test = keyed_hash(case.test.content_hash(), book["key"])
        if book.setdefault("test", test) != test:
            raise DataworthError(
                f"{case.options.ledger} is the ledger of another test set: give that one's, or a new file."
            )
        book["queries"] += len(case.table.arms) if case.what == "rank" else 1
        number, best = book["queries"], book["best"].get(case.what)
        old = None if best is None else read_table(best["table"])
        if old is not None and case.what != "rank" and case.arms[-1] not in old.arms:
            raise DataworthError(
                f"{case.options.ledger} answers another kind of question: restore it, or give a new file."
            )
        if old is None or better(case, old, number):
            book["best"][case.what] = {"query": number, "table": write_table(case.table)}
            return replace(case, notes=(*case.notes, f"question {number} to this test set, by its ledger"))
    asked = f"question {number} to this test set"
    if old.arms == case.table.arms and np.array_equal(old.values, case.table.values, equal_nan=True):
        return replace(case, notes=(*case.notes, f"{asked}: the same as question {best['query']}"))
    raise DataworthError(
        f"{asked}: {SUBJECTS[case.what]} not worth more, beyond the noise, than in answer {best['query']} of "
        f"{case.options.ledger}, so nothing more is told: ask again when the data are better, or take a "
        "fresh test set."
    )


def better(case: Case, old: PairTable, questions: int) -> bool:
    """Whether a case's own answer is better than an old one beyond the noise of so many questions."""
    new, best = told_value(case, case.table), told_value(case, old)
    blocks, before = case.table.log_z_test, old.log_z_test
    same = new.shape == best.shape and blocks.shape == before.shape
    if same and np.allclose(blocks, before):
        gap = new - best  # the same blocks: what is hard in them cancels
        variance = float(gap.var(ddof=1)) / len(gap)
    else:
        variance = sum(float(values.var(ddof=1)) / len(values) for values in (new, best))
    noise = t_quantile(min(len(new), len(best)) - 1, 1.0 - LEVEL / questions)
    return bool(new.mean() - best.mean() > noise * np.sqrt(variance))


def told_value(case: Case, table: PairTable) -> Array:
    """What is to be beaten, block by block: the value of the data, of those after, or of the best candidate.

    Not the change from `before`, which whoever asks may choose.
    """
    values: Array = table.pmi
    return values[:, table.arms.index(case.arms[-1]) if case.what != "rank" else values.mean(axis=0).argmax()]


@contextmanager
def opened(path: Path) -> Iterator[dict[str, Any]]:
    """The ledger, locked against other processes, written whole when the block ends well."""
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
    """What a ledger holds, or a sentence."""
    try:
        content = read_whole(path)
        book = parse_json(content)
        known = book["schema"] == SCHEMA and isinstance(book["checksum"], str)
        known = known and is_count(book["queries"]) and is_key(book["key"])
        known = known and isinstance(book.get("test", ""), str)
        known = known and all(map(_is_answer, book["best"].values()))
    except (ValueError, KeyError, TypeError, AttributeError):
        known = False
    if not known:
        raise DataworthError(f"{path} is not a ledger: give one that {option('ledger')} made, or a new file.")
    if not has_checksum(content, book.pop("checksum")):
        raise DataworthError(
            f"{path} was changed after it was written, or damaged (its checksum does not match): restore it."
        )
    return dict(book)


def _is_answer(told: dict[str, Any]) -> bool:
    """Whether an entry of a ledger is an answer; what is none may also raise."""
    table = read_table(told["table"])
    words = [*(arm.role for arm in table.arms), *(arm.name or "" for arm in table.arms)]
    table.of_size(len(table.log_z_test))
    return len(table) > 1 and is_count(told["query"]) and all(isinstance(text, str) for text in words)


def is_count(value: Any) -> bool:
    """Whether this can be how often something was asked."""
    return type(value) is int and 0 <= value <= MAX_QUERIES


def write_table(table: PairTable) -> dict[str, Any]:
    """A table as plain data."""
    return {
        "arms": [[arm.role, arm.name] for arm in table.arms],
        "tempering": [[arm.role, arm.name, times] for arm, times in table.tempering.items()],
        **{name: getattr(table, name).tolist() for name in ("values", "log_z_test", "test_rows")},
    }


def read_table(told: dict[str, Any]) -> PairTable:
    """A table from plain data."""
    names = ("values", "log_z_test", "test_rows")
    numbers: dict[str, Any] = {name: np.array(told[name], dtype=float) for name in names}
    tempering = {Arm(role, name): float(times) for role, name, times in told["tempering"]}
    return PairTable(arms=tuple(Arm(*one) for one in told["arms"]), tempering=tempering, **numbers)
