"""What scores, audits and rankings have in common: how they are told, and what they rest on."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any, ClassVar

from ..checks import Finding, run_checks
from ..checks.base import fired
from ..evidence.pair import NATS_PER_BIT
from ..measure.case import Case
from ..measure.intervals import Estimate
from ..measure.summary import Counted, Details
from ..measure.table import PairTable
from ..yardstick.yardstick import Yardstick
from .replay import Replay
from .shown import Shown


def nats(**told: Any) -> Any:
    """A field that is counted in nats, and told in bits on request; `name` is what JSON calls it."""
    return field(metadata={"nats": True, **told})


class Told(Shown):
    """A result that is told as its fields are."""

    schema: ClassVar[str]

    @property
    def headline(self) -> str:
        """What came out, short."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.headline})"

    def to_dict(self, bits: bool = False) -> dict[str, Any]:
        """Plain data for JSON, in nats or in bits."""
        unit = NATS_PER_BIT if bits else 1.0
        return {"schema": self.schema, "unit": "bits" if bits else "nats", **tell(self, unit)}


@dataclass(frozen=True, kw_only=True, repr=False)
class Result(Told):
    """A result: what it was measured on, the yardstick, notes, the table it is made of, and its checks.

    `replay` says how to get it again.

    `case` holds the rows, to measure again; it is kept only if asked for (`keep=True`).
    """

    question: str
    details: Details
    yardstick: Yardstick
    notes: tuple[str, ...]
    checks: tuple[Finding, ...]
    replay: Replay
    table: PairTable = field(metadata={"told": False})
    case: Case | None = field(default=None, metadata={"told": False})

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.headline}, {fired(self.checks)})"

    def to_dict(self, bits: bool = False, parts: bool = False) -> dict[str, Any]:
        """Plain data for JSON, in nats or in bits; with `parts` also what the values are made of."""
        told = super().to_dict(bits)
        if parts:
            unit = NATS_PER_BIT if bits else 1.0
            made = self.parts  # type: ignore[attr-defined]
            told["parts"] = (
                {name: part.to_dict(unit) for name, part in made.items()}
                if isinstance(made, dict)
                else made.to_dict(unit)
            )
        return told


def rests_on(case: Case, counted: Counted, **about: Any) -> dict[str, Any]:
    """What every result of a case rests on, as fields of `Result`; `about` are details of this one."""
    return {
        "details": Details.of(case, counted, **about),
        "yardstick": case.yardstick,
        "checks": run_checks(case),
        "table": case.table,
        "case": case if case.options.keep and not case.sealed and not case.passes else None,
    }


def tell(value: Any, unit: float) -> dict[str, Any]:
    """The fields of a result as plain data; what is in nats is divided by the unit."""
    told: dict[str, Any] = {}
    for one in fields(value):
        if one.metadata.get("told", True):
            name = one.metadata.get("name", one.name)
            told |= _told(name, getattr(value, one.name), unit, one.metadata.get("nats", False))
    return told


def _told(name: str, value: Any, unit: float, in_nats: bool) -> dict[str, Any]:
    if isinstance(value, Details):
        return {one: plain for one, plain in tell(value, unit).items() if plain is not None}
    if isinstance(value, Yardstick):
        return {name: value.summary()}
    if isinstance(value, Estimate):
        plain = value.to_dict(unit if in_nats else 1.0)
        return {name: plain["value"], f"{name.removesuffix('_to_best')}_interval": plain["interval"]}
    if isinstance(value, tuple) and value and hasattr(value[0], "__dataclass_fields__"):
        return {name: [tell(item, unit) for item in value]}
    if hasattr(value, "__dataclass_fields__"):
        return {name: tell(value, unit)}
    if in_nats and value is not None:
        value = [bound / unit for bound in value] if isinstance(value, tuple) else value / unit
    return {name: list(value) if isinstance(value, tuple) else value}
