"""`dataworth seal`: rows in, a posterior out, and what that gives away; `dataworth commit`: a keyed hash."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dataworth.data.io.sealed import SUFFIX, is_sealed
from dataworth.data.io.streamed import Stream
from dataworth.data.keys import Commitment, commit
from dataworth.errors import DataworthError
from dataworth.report import terminal
from dataworth.valuation.sealed import Sealed, seal
from dataworth.valuation.streamed import seal_stream
from dataworth.wording import counted
from dataworth.yardstick.yardstick import Yardstick

from .files import Inputs, check_outputs
from .measure import check_fit
from .options import Columns
from .progress import listen

SCHEMA = "dataworth/seal/1"
REVEALS = (
    "how the label goes with the features, and the features' weighted second moments; of few rows the "
    "rows themselves; this is not differential privacy"
)
ENOUGH = 10
"""Rows for each coefficient, below which a file is said to give rows away."""


@dataclass(frozen=True)
class SealedFile:
    """What was sealed, and where it was written."""

    path: str
    sealed: Sealed

    @property
    def coefficients(self) -> int:
        """Features of the yardstick, and the intercept."""
        return len(self.sealed.mean)

    @property
    def notes(self) -> list[str]:
        """What the vendor should know before sending it."""
        rows, d = self.sealed.rows, self.coefficients
        if rows >= ENOUGH * d:
            return []
        if rows > d:
            few = f"{rows / d:.1f} rows for each of {d} coefficients: single rows may show"
            return [f"{few}; {ENOUGH} or more are better"]
        gives = f"{counted(rows, 'row')} on {d} coefficients: the file gives away the directions of the rows"
        return [f"{gives} themselves; seal many more rows than coefficients"]

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON; the key is here, and nowhere else."""
        facts = {**self.sealed.facts(), "coefficients": self.coefficients, "key": self.sealed.key}
        return {"schema": SCHEMA, "path": self.path, **facts, "notes": self.notes}

    def line(self) -> str:
        """What was sealed, in one line."""
        size = f"{counted(self.sealed.rows, 'row')} as {counted(self.coefficients, 'coefficient')}"
        return f"{self.path}: {size} on yardstick {self.sealed.yardstick[:12]}, key {self.sealed.key}"

    def full(self, verbose: bool) -> Any:
        """What the file holds, what that reveals, and the key."""
        sealed, d = self.sealed, self.coefficients
        rows, counts = counted(sealed.rows, "row"), ""
        if sealed.counts is not None:
            counts = f" ({', '.join(f'{k}: {n}' for k, n in sealed.counts.items())})"
        facts = {
            "Holds": f"mean ({d}) and precision ({d} × {d}) of the yardstick's coefficients",
            "Says": f"{rows}{counts}, the yardstick's hash, dataworth's version",
            "Reveals": REVEALS,
            "Key": f"{sealed.key}: keep it, with the rows it proves what was sealed; it is not in the file",
        }
        title = f"{self.path}: {rows} sealed on yardstick {sealed.yardstick[:12]}."
        return terminal.report(title, [*facts.items(), *(("Note", note) for note in self.notes)])


@dataclass(frozen=True)
class CommittedFile:
    """A commitment to the rows of a file."""

    path: str
    made: Commitment

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {"schema": "dataworth/commit/1", "path": self.path, **vars(self.made)}

    def line(self) -> str:
        """The hash and the key."""
        return f"{self.made.hash} key {self.made.key}"

    def full(self, verbose: bool) -> Any:
        """What to give away, and what to keep."""
        facts = {
            "Hash": f"{self.made.hash}: give it away now",
            "Key": f"{self.made.key}: keep it until the rows are shown",
            "Verify": f"dataworth audit {self.path} AFTER --test TEST --committed HASH --key KEY",
        }
        title = f"{self.path}: committed to {counted(self.made.rows, 'row')}."
        return terminal.report(title, [*facts.items()])


def commit_file(data: Path, columns: Columns, key: str | None, quiet: bool) -> CommittedFile:
    """Commit to the rows of a file, as they are read."""
    read = Inputs(columns, quiet).read([data])
    return CommittedFile(str(data), commit(read(data), key))


def seal_file(
    data: Path, yardstick: Path, output: Path, columns: Columns, quiet: bool, force: bool = False
) -> SealedFile:
    """Seal the rows of a file on a yardstick, and write what is to be sent."""
    if not is_sealed(output):
        raise DataworthError(f"{output}: sealed data are written as {SUFFIX}: give such a name.")
    if output.resolve() in (data.resolve(), yardstick.resolve()):
        raise DataworthError(f"{output} is read, and would be replaced: write to another file.")
    if output.exists() and not force:
        raise DataworthError(
            f"{output} exists, and replacing it makes its key worthless: write elsewhere, or say --force."
        )
    check_outputs(output)
    measure = Yardstick.load(yardstick)
    read = Inputs(columns, quiet).read([data], columns=measure.columns, streams=True)
    rows = read(data)
    check_fit({"data": data}, read, measure)
    with listen(quiet, preparing="sealing…"):
        sealed = seal_stream(rows, measure) if isinstance(rows, Stream) else seal(rows, measure)
    sealed.save(output)
    return SealedFile(str(output), sealed)
