"""What an answer tells: which numbers leave the machine, at which resolution, and for whom.

For the owner of the test set: everything. What is told block by block (CSV files, charts) is rounded to a
tenth of its standard deviation over blocks. log p of a block before any data is never written: with the
yardstick and the unlabelled rows, it would be a test for guesses of the labels.

For anybody else (`public`): the answer in a word, whether a check failed, and for each thing that was asked
about a rounded number with an interval, of a ranking only for the best. The interval is one of `LEVELS` to
each side and holds the exact one; the number is a multiple of it, so that rounding moves it by about its
standard error. So an answer is one of finitely many, and tells at most

    log2(words) + 1 + n · log2(2 · len(LEVELS) · (2 · STEPS + 1)) + [log2(m) + m − 1]

bits of the test set, n: the numbers in it, m: the candidates of a ranking (which is best, which are tied with
it). Questions add up; a ladder counts them (`measure.questions`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import log2
from typing import Any, ClassVar

import numpy as np

from ..arrays import Array
from ..errors import DataworthError
from ..measure import Estimate, PairTable
from ..measure.table import COLUMNS
from .result import Told, nats

LEVELS = (0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0)
"""Half-widths of public intervals, nats a block. The least is that of some hundred test rows."""
STEPS = 20
"""Public numbers are at most so many steps from 0; a step is a half-width."""
FINEST = 10.0
"""Of blocks: steps in the standard deviation."""
WORDS: dict[str, tuple[str, ...]] = {
    "score": ("yes", "no", "cannot tell"),
    "audit": (
        *("informative", "improved", "recycled", "inconclusive", "unchanged", "strategic", "harmful"),
        *("costly", "no verdict"),
    ),
    "rank": ("a clear best", "a tie", "one dataset"),
    "contributions": ("shares",),
    "forecast": ("more would help", "cannot tell", "decreasing"),
}
"""Every answer in a word that each command has."""


@dataclass(frozen=True, kw_only=True)
class Rounded:
    """A number for others, in nats a block (or pair): its interval holds the exact one."""

    name: str
    value: float = nats()
    interval: tuple[float, float] | None = nats()

    @classmethod
    def of(cls, name: str, known: Any) -> Rounded:
        """Of what has a value and an interval.

        >>> Rounded.of("change", Estimate(3.17, 0.3, (2.6, 3.8)))
        Rounded(name='change', value=4.0, interval=(2.0, 6.0))
        """
        value, interval = float(known.value), known.interval
        low, high = (value, value) if interval is None else interval
        wide = 2.0 * max(value - low, high - value)  # rounding moves the number by half of the new half-width
        enough = [half for half in LEVELS if half >= wide and abs(value) <= STEPS * half]
        half = enough[0] if enough else LEVELS[-1]
        shown = round(half * float(np.clip(np.round(value / half), -STEPS, STEPS)), 9) + 0.0
        ends = (round(shown - half, 9), round(shown + half, 9)) if enough and interval is not None else None
        return cls(name=name, value=shown, interval=ends)


@dataclass(frozen=True, kw_only=True, repr=False)
class Public(Told):
    """What others than the owner of the test set may see of an answer.

    check_failed: None if no check was made.
    """

    schema: ClassVar[str] = "dataworth/public/1"
    what: str
    answer: str
    check_failed: bool | None
    numbers: tuple[Rounded, ...]
    tied: tuple[str, ...]
    below: tuple[str, ...]
    test_rows: int
    bits: float

    @classmethod
    def of(
        cls,
        what: str,
        answer: str,
        numbers: Mapping[str, Any],
        test_rows: int,
        checks: Any = (),
        others: Mapping[str, bool] | None = None,
    ) -> Public:
        """The public form; numbers by their names, in an order that depends on what is told alone.

        others: candidates of a ranking beside the best, and whether they are tied with it.
        """
        others, made = others or {}, [one.failed for one in checks if one.failed is not None]
        told = sorted(
            (Rounded.of(name, one) for name, one in numbers.items()), key=lambda one: (-one.value, one.name)
        )
        if answer not in WORDS[what]:
            raise ValueError(f"{answer!r} is no answer of {what}")
        return cls(
            what=what,
            answer=answer,
            check_failed=None if not made else any(made),
            numbers=tuple(told),
            tied=tuple(sorted(name for name, tied in others.items() if tied)),
            below=tuple(sorted(name for name, tied in others.items() if not tied)),
            test_rows=test_rows,
            bits=most_bits(what, len(told), 1 + len(others)),
        )

    @property
    def headline(self) -> str:
        """The word, and the numbers."""
        ends = ("no interval" if one.interval is None else f"{list(one.interval)}" for one in self.numbers)
        told = (f"{one.name} {one.value:g} {end}" for one, end in zip(self.numbers, ends, strict=True))
        return f"{self.what}: {self.answer}; {', '.join(told)}"

    def rows(self) -> list[dict[str, Any]]:
        """One record a number, for CSV."""
        ends = [one.interval or (None, None) for one in self.numbers]
        named = zip(self.numbers, ends, strict=True)
        return [
            {"name": one.name, "value": one.value, "lower": low, "upper": high} for one, (low, high) in named
        ]


def most_bits(what: str, numbers: int, candidates: int = 1) -> float:
    """Bits of the test set that a public answer with so many numbers and candidates tells at most.

    >>> round(most_bits("audit", 1), 1)
    14.1
    """
    ranks = log2(candidates) + candidates - 1
    return log2(len(WORDS[what])) + 1.0 + numbers * log2(2 * len(LEVELS) * (2 * STEPS + 1)) + ranks


def public(result: Any) -> Public:
    """What others may see of a result; a sentence if there is no such form of it."""
    what = str(getattr(result, "schema", "")).split("/")[1:2]
    makers = {
        "score": _score,
        "audit": _audit,
        "rank": _rank,
        "contributions": _shares,
        "forecast": _forecast,
    }
    if not what or what[0] not in makers:
        raise DataworthError(
            f"{type(result).__name__} has no public form: it tells as many numbers of the test set as there "
            f"are rows or priors. {', '.join(makers)} have one."
        )
    answer, numbers = makers[what[0]](result)
    rows = getattr(result, "test_rows", None)
    rows = result.details.test_rows if rows is None else rows
    others = {one.name: bool(one.tied) for one in result.ranking[1:]} if what[0] == "rank" else {}
    return Public.of(what[0], answer, numbers, rows, getattr(result, "checks", ()), others)


def _score(result: Any) -> tuple[str, dict[str, Any]]:
    return result.answer.partition(":")[0], {"value": result}


def _audit(result: Any) -> tuple[str, dict[str, Any]]:
    return result.verdict or "no verdict", {"change": Estimate(result.delta, None, result.interval)}


def _rank(result: Any) -> tuple[str, dict[str, Any]]:
    tied = any(one.tied for one in result.ranking[1:])
    word = "one dataset" if len(result) == 1 else "a tie" if tied else "a clear best"
    return word, {result.ranking[0].name: result.ranking[0]}


def _shares(result: Any) -> tuple[str, dict[str, Any]]:
    return "shares", {one.name: one.marginal for one in result.vendors}


def _forecast(result: Any) -> tuple[str, dict[str, Any]]:
    helps = "more would help" if result.interval[0] > result.value - result.gain else "cannot tell"
    word = "decreasing" if result.decreasing else helps
    return word, {"gain": Estimate(result.gain, None, _moved(result.interval, result.gain - result.value))}


def _moved(interval: tuple[float, float], by: float) -> tuple[float, float]:
    return interval[0] + by, interval[1] + by


# --- what is told of blocks --------------------------------------------------------------------------------


def round_blocks(values: Array) -> Array:
    """Numbers of blocks (blocks × …), each column to 1, 2 or 5 · 10^k, a tenth of its deviation or less.

    >>> round_blocks(np.array([1.2345, 2.3456, 4.1234]))
    array([1.2, 2.3, 4.1])
    """
    values = np.asarray(values, dtype=float)
    with np.errstate(divide="ignore", invalid="ignore"):
        finest = np.nanstd(values, axis=0) / FINEST
        power = np.floor(np.log10(finest))
        first = finest / 10.0**power
        step = np.where(first < 2, 1.0, np.where(first < 5, 2.0, 5.0)) * 10.0**power
        rounded = np.round(values / step) * step
    return np.where(np.isfinite(rounded), np.round(rounded, 12), np.round(values, 3))


def block_records(table: PairTable) -> list[dict[str, float | int | str]]:
    """A table as records, for CSV: one a pair (or block) and arm."""
    records: list[dict[str, float | int | str]] = []
    names = COLUMNS[:3]
    told = round_blocks(table.values[:, :, : len(names)])
    rows = table.data_rows
    for i, test_rows in enumerate(table.test_rows.tolist()):
        for j, arm in enumerate(table.arms):
            numbers = dict(zip(names, told[i, j].tolist(), strict=True))
            sizes = {"data_rows": int(rows[i, j]), "test_rows": int(test_rows)}
            records.append({"pair": i, "arm": str(arm), **numbers, **sizes})
    return records
