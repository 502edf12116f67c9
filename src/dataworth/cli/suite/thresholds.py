"""What must hold of an audit: verdicts that fail, rows, share of the ceiling, slices and checks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any

from dataworth.errors import DataworthError
from dataworth.report.document import VERDICT_TONES

FAILING = ("harmful", "strategic")
NO_VALUES = ("with its association", "against it")
"""Slices of a column that are no values of it (`measure.slices`, which is not imported to judge)."""
MAX_ROWS_LOST = 0.2
"""Proportion of the rows beyond which a *costly* change fails: a truncated file is no clean-up."""


@dataclass(frozen=True, kw_only=True)
class Thresholds:
    """What an audit must keep.

    fail_on: verdicts that fail. max_rows_lost: the proportion of rows that a *costly* change may lose.
    min_rows: rows that the data must have. min_of_ceiling: their least share of the ceiling (`score`), from 0
    to 1. slices: columns of the test set of whose values none may be shown to lose. checks: codes of checks
    that may not fire, or 'all'.
    """

    fail_on: tuple[str, ...] = FAILING
    max_rows_lost: float = MAX_ROWS_LOST
    min_rows: int | None = None
    min_of_ceiling: float | None = None
    slices: tuple[str, ...] = ()
    checks: tuple[str, ...] = ()

    @classmethod
    def parse(cls, given: Mapping[str, Any], where: str) -> Thresholds:
        """Thresholds as a suite has them, or a sentence that begins with `where`."""
        found: dict[str, Any] = {}
        for name, value in given.items():
            kind = {one.name: str(one.type) for one in fields(cls)}[name]
            if "tuple" in kind:
                each = value if isinstance(value, list) else str(value).split(",")
                if isinstance(value, int | float) or not all(isinstance(one, str) for one in each):
                    raise DataworthError(f"{where}: {name} is {value!r}; give a list of texts.")
                found[name] = tuple(one.strip() for one in each if one.strip())
            elif "int" in kind:
                if isinstance(value, bool) or not isinstance(value, int) or value < 0:
                    raise DataworthError(f"{where}: {name} is {value!r}; give a whole number of rows.")
                found[name] = value
            else:
                number = isinstance(value, int | float) and not isinstance(value, bool)
                if not number or not 0 <= value <= 1:
                    raise DataworthError(f"{where}: {name} is {value!r}; give a proportion, from 0 to 1.")
                found[name] = float(value)
        for verdict in found.get("fail_on", ()):
            if verdict not in VERDICT_TONES:
                known = ", ".join(map(str, VERDICT_TONES))
                raise DataworthError(f"{where}: fail_on {verdict!r} is no verdict; the verdicts are {known}.")
        return cls(**found)

    @property
    def asks_for_worth(self) -> bool:
        """Whether data must be measured although nothing changed."""
        return self.min_rows is not None or self.min_of_ceiling is not None or bool(self.checks)


def failures(wanted: Thresholds, record: Mapping[str, Any]) -> Iterator[str]:
    """What of the thresholds a result does not keep, a sentence each.

    record: what was measured (`run.Measured`), as plain data: an audit, a score, or both.
    """
    audit, score = record.get("audit"), record.get("score")
    if audit is not None:
        change, words = audit["change"], set(record["words"])
        yield from (f"the verdict is {word}" for word in wanted.fail_on if word in words)
        rows = change["kept"] + change["removed"]
        lost = change["removed"] / rows if rows else 0.0
        if audit["verdict"] == "costly" and "costly" not in wanted.fail_on and lost > wanted.max_rows_lost:
            limit = f"more than {wanted.max_rows_lost:.0%} (max_rows_lost)"
            yield f"the change is costly, and {lost:.0%} of the rows are gone, {limit}"
        for one in audit["slices"]:
            named = "auto" in wanted.slices or one["column"] in wanted.slices
            named = named and one["value"] not in NO_VALUES
            if named and (ends := one["change_interval"]) is not None and ends[1] < 0:
                told = f"{one['change']:+.2g} nats a row [{ends[0]:.2g}, {ends[1]:.2g}]"
                yield f"the slice {one['column']}: {one['value']} loses information ({told})"
    if wanted.min_rows is not None and record["rows"] < wanted.min_rows:
        yield f"the data have {record['rows']} rows, fewer than {wanted.min_rows} (min_rows)"
    if wanted.min_of_ceiling is not None and score is not None:
        share = (score.get("ladder") or {}).get("of_ceiling")
        told = f"at least {wanted.min_of_ceiling:.0%} are wanted (min_of_ceiling)"
        if share is None:
            yield f"this test set does not show a ceiling to take a share of, and {told}: give more test rows"
        elif share < wanted.min_of_ceiling:
            yield f"the data reach {share:.1%} of the ceiling; {told}"
    found = {one["code"]: one for one in (audit or score or {}).get("checks", ())}
    for code in found if "all" in wanted.checks else wanted.checks:
        one = found.get(code) or next((one for one in found.values() if one["name"] == code), None)
        if one is None:
            known = ", ".join(found) or "none, for all are ignored"
            yield f"there is no check {code!r} here; those that were made: {known}"
        elif one["failed"]:
            yield f"check {one['code']} {one['name']} failed: {one['meaning']}"
