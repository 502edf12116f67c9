"""What results have in common: how they show themselves, what they rest on, and how to get them again.

The package `report` stands above this one: it is imported by name when a user asks a result to show itself.
"""

from __future__ import annotations

import platform
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from importlib import import_module
from importlib.metadata import version
from os import PathLike
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from ..checks import CHECKS, Finding, run_checks
from ..data.dataset import Dataset
from ..data.io.streamed import Stream
from ..evidence.pair import NATS_PER_BIT
from ..measure import Case, Counted, Details, Estimate, Options, PairTable
from ..yardstick.yardstick import Yardstick
from .sealed import Sealed

if TYPE_CHECKING:
    from .disclosure import Public

REPORTS = "dataworth.report.views"
DISCLOSURE = "dataworth.valuation.disclosure"


class Shown:
    """What every result has for people."""

    def text(self, bits: bool = False, verbose: bool = False) -> str:
        """The result as the command line prints it, without colours; `verbose` adds arms and every check."""
        return str(import_module(REPORTS).text(self, bits, verbose))

    def plot(self, path: str | PathLike[str] | None = None, bits: bool = False) -> Any:
        """The result as a matplotlib figure, also written to a `path`: .png, .svg or .pdf."""
        return import_module(REPORTS).plot(self, path, bits)

    def report(self, path: str | PathLike[str], bits: bool = False) -> None:
        """Write a report: one page for people who were not there. Of audits it shows some rows of the data,
        which `without_rows()` leaves out.

        What has to be measured again for it (parts, other priors, sizes) is on it if the result
        kept its rows (`keep_data=True`). `path` ends in .html (a page that needs nothing else), .md or .json.
        """
        import_module(REPORTS).write(self, path, bits)

    def without_rows(self) -> Self:
        """The same without rows of the data, of which reports of audits show some."""
        return self

    def _repr_html_(self) -> str:
        """The short form, for notebooks."""
        return str(import_module(REPORTS).fragment(self))


Given = Dataset | Sealed | Stream
PACKAGES = ("dataworth", "numpy", "scipy", "scikit-learn", "joblib", "pyarrow", "narwhals")
NOT_TOLD = ("seed", "jobs", "engine", "address", "run_dir", "keep_data", "progress", "key")
"""Options that do not determine a result, or stand elsewhere; and a key, which is nobody else's business."""


@dataclass(frozen=True, kw_only=True)
class Replay:
    """The call or command that made a result, and what it was given.

    `data` by name, and `test`: rows and SHA-256 (`Dataset.content_hash`) as given, and the file, if any.
    """

    command: str
    seed: int
    versions: dict[str, str]
    data: dict[str, dict[str, Any]]
    test: dict[str, Any]

    @classmethod
    def of(cls, what: str, data: Mapping[str, Given], test: Given, options: Options, **own: Any) -> Replay:
        """Of a call from Python; `own` are arguments of this function alone, told if they are not None."""
        given = {one.name: getattr(options, one.name) for one in fields(options) if one.name not in NOT_TOLD}
        given = {name: one for name, one in given.items() if one != getattr(Options, name)}
        several, curate = what in ("rank", "contributions"), own.pop("curate", None)
        names = [f"{{{', '.join(f'{name!r}: …' for name in data)}}}"] if several else [*data]
        names += ["test"] if curate is None else ["test=test", f"curate={curate}"]
        told = [f"{name}={value!r}" for name, value in own.items() if value is not None]
        told += [f"{name}={shown(value)}" for name, value in given.items()]
        return cls(
            command=f"dw.{what}({', '.join([*names, *told, f'seed={options.seed}'])})",
            seed=options.seed,
            versions=versions(),
            data={name: {"rows": len(one), "sha256": one.content_hash()} for name, one in data.items()},
            test={"rows": len(test), "sha256": test.content_hash()},
        )

    def by(self, command: str, data: Mapping[str, str], test: str) -> Replay:
        """The same from the command line, with files by the names of their data."""
        told = {name: {**one, "file": data[name]} if name in data else one for name, one in self.data.items()}
        return replace(self, command=command, data=told, test={**self.test, "file": test})


def shown(value: Any) -> str:
    """An option as it stands in a call; a yardstick by its digest, checks by codes, baselines by names."""
    if isinstance(value, list | tuple) and any(hasattr(one, "name") for one in value):
        return f"[{', '.join(str(getattr(one, 'name', one)) for one in value)}]"
    if isinstance(value, frozenset):
        return repr("all" if len(value) == len(CHECKS) else ",".join(sorted(value)))
    return f"<yardstick {value.digest[:12]}>" if isinstance(value, Yardstick) else repr(value)


def versions() -> dict[str, str]:
    """Of Python and of what numbers depend on."""
    return {"python": platform.python_version(), **{name: version(name) for name in PACKAGES}}


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

    def public(self) -> Public:
        """What others than the owner of the test set may see: the answer, and rounded numbers."""
        made: Public = import_module(DISCLOSURE).public(self)
        return made


@dataclass(frozen=True, kw_only=True, repr=False)
class BlockResult(Told):
    """What is measured on blocks of a test set, beside scores, audits and rankings."""

    test_rows: int
    blocks: int
    yardstick: Yardstick
    notes: tuple[str, ...]
    replay: Replay


@dataclass(frozen=True, kw_only=True, repr=False)
class Result(Told):
    """A result: what it was measured on, the yardstick, notes, the table it is made of, and its checks.

    `replay` says how to get it again.

    `case` holds the rows, to measure again; it is kept only if asked for (`keep_data=True`).
    """

    question: str
    details: Details
    yardstick: Yardstick
    notes: tuple[str, ...]
    checks: tuple[Finding, ...]
    replay: Replay
    table: PairTable = field(metadata={"told": False})
    case: Case | None = field(default=None, metadata={"told": False})

    def rows(self) -> list[dict[str, Any]]:
        """One record a block (or pair) and arm, for CSV; rounded (`valuation.disclosure`)."""
        records: list[dict[str, Any]] = import_module(DISCLOSURE).block_records(self.table)
        return records

    def __repr__(self) -> str:
        failed = ", ".join(one.code for one in self.checks if one.failed) or "no check"
        told = f"failed: {failed}" if self.checks else "unchecked"
        return f"{type(self).__name__}({self.headline}, {told})"

    def to_dict(self, bits: bool = False, parts: bool = False) -> dict[str, Any]:
        """Plain data for JSON, in nats or in bits; with `parts` also what the values are made of."""
        told, unit = super().to_dict(bits), NATS_PER_BIT if bits else 1.0
        if parts:
            made = self.parts  # type: ignore[attr-defined]
            several = isinstance(made, dict)
            told["parts"] = {k: v.to_dict(unit) for k, v in made.items()} if several else made.to_dict(unit)
        return told


def rests_on(case: Case, counted: Counted, **about: Any) -> dict[str, Any]:
    """What every result of a case rests on, as fields of `Result`; `about` are details of this one."""
    return {
        "details": Details.of(case, counted, **about),
        "yardstick": case.yardstick,
        "checks": run_checks(case),
        "table": case.table,
        "case": case if case.options.keep_data and not case.sealed and not case.passes else None,
    }


def tell(value: Any, unit: float) -> dict[str, Any]:
    """The fields of a result as plain data; what is in nats is divided by the unit."""
    told: dict[str, Any] = {}
    for one in fields(value):
        if one.metadata.get("told", True):
            name = one.metadata.get("name", one.name)
            given = one.metadata.get("nats", False), one.metadata.get("whole", False)
            told |= _told(name, getattr(value, one.name), unit, *given)
    return told


def _told(name: str, value: Any, unit: float, in_nats: bool, whole: bool) -> dict[str, Any]:
    if isinstance(value, Details):
        return {one: plain for one, plain in tell(value, unit).items() if plain is not None}
    if isinstance(value, Yardstick):
        return {name: value.summary()}
    if isinstance(value, Estimate):
        plain = value.to_dict(unit if in_nats else 1.0)
        if whole:
            return {name: plain}
        return {name: plain["value"], f"{name.removesuffix('_to_best')}_interval": plain["interval"]}
    if isinstance(value, tuple) and value and hasattr(value[0], "__dataclass_fields__"):
        return {name: [tell(item, unit) for item in value]}
    if hasattr(value, "__dataclass_fields__"):
        return {name: tell(value, unit)}
    if in_nats and value is not None:
        value = [bound / unit for bound in value] if isinstance(value, tuple) else value / unit
    if isinstance(value, np.ndarray):
        return {name: value.tolist()}
    return {name: list(value) if isinstance(value, tuple) else value}
