"""What buyers and vendors exchange: yardsticks, sealed data (a posterior, no rows), commitments (a hash)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dataworth.atomic import atomic_write, parse_json, read_whole
from dataworth.data.io.inputs import Reading, load_inputs
from dataworth.data.keys import commit, is_key, new_key
from dataworth.data.sealed import SUFFIX, is_sealed
from dataworth.errors import DataworthError
from dataworth.measure.prepare import find_yardstick, modelling_notes
from dataworth.report import terminal
from dataworth.valuation.entry import parse_options
from dataworth.valuation.sealed import Sealed, seal
from dataworth.wording import counted
from dataworth.yardstick.yardstick import Yardstick

from .files import check_outputs
from .guard import say
from .listings import Told
from .measure import FITTING, encoder
from .options import Columns
from .progress import listen
from .progress import reading as reading_files

SCHEMA, KEY_SCHEMA = "dataworth/seal/1", "dataworth/key/1"
REVEALS = (
    "how the label goes with the features, and the features' weighted second moments; of few rows the "
    "rows themselves; this is not differential privacy"
)
ENOUGH = 10
"""Rows for each coefficient, below which a file is said to give rows away."""


def _sealed_file(path: Path, sealed: Sealed) -> Told:
    """What was sealed, where it was written, what that gives away, and the key, which is nowhere else."""
    d, rows = len(sealed.mean), counted(sealed.rows, "row")
    notes, counts = _revealing(sealed.rows, d), ""
    if sealed.counts is not None:
        counts = f" ({', '.join(f'{k}: {n}' for k, n in sealed.counts.items())})"
    facts = {
        "Holds": f"mean ({d}) and precision ({d} × {d}) of the yardstick's coefficients",
        "Says": f"{rows}{counts}, the yardstick's hash, dataworth's version",
        "Reveals": REVEALS,
        "Key": f"{sealed.key}: keep it, with the rows it proves what was sealed; it is not in the file",
    }
    title = f"{path}: {rows} sealed on yardstick {sealed.yardstick[:12]}."
    lines = [*facts.items(), *(("Note", note) for note in notes)]
    told = {"schema": SCHEMA, "path": str(path), **sealed.facts(), "coefficients": d, "key": sealed.key}
    size = f"{rows} as {counted(d, 'coefficient')}"
    short = f"{path}: {size} on yardstick {sealed.yardstick[:12]}, key {sealed.key}"
    return Told({**told, "notes": notes}, short, lambda verbose: terminal.report(title, lines))


def _revealing(rows: int, d: int) -> list[str]:
    """What a vendor should know before sending so many rows on so many coefficients."""
    few = (
        f"{rows / d:.1f} rows for each of {d} coefficients: single rows may show; {ENOUGH} or more are better"
    )
    if rows <= d:
        few = f"{counted(rows, 'row')} on {d} coefficients: the file gives away the directions of the rows "
        few += "themselves; seal many more rows than coefficients"
    return [few] if rows < ENOUGH * d else []


def commit_file(path: Path, columns: Columns, key: str | None, quiet: bool) -> Told:
    """Commit to the rows of a file, as they are read: what to give away, and what to keep."""
    made = commit(read_one(path, columns, quiet, data=True), key)
    facts = {
        "Hash": f"{made.hash}: give it away now",
        "Key": f"{made.key}: keep it until the rows are shown",
        "Verify": f"dataworth audit {path} AFTER --test TEST --committed HASH --key KEY",
    }
    title = f"{path}: committed to {counted(made.rows, 'row')}."
    told = {"schema": "dataworth/commit/1", "path": str(path), **vars(made)}
    return Told(told, f"{made.hash} key {made.key}", lambda verbose: terminal.report(title, [*facts.items()]))


def read_one(
    path: Path, columns: Columns, quiet: bool, yardstick: Yardstick | None = None, data: bool = False
) -> Any:
    """One file, read as the test set or as data."""
    encode = encoder(columns, None, quiet)
    reading = Reading(options=columns.roles, encode=encode)
    with reading_files(quiet, [path]):
        inputs = load_inputs([path], None if data else path, reading, yardstick)
    for line in [] if quiet else inputs.lines():
        say(line)
    return inputs(path)


def seal_file(
    data: Path, yardstick: Path, output: Path, columns: Columns, quiet: bool, force: bool = False
) -> Told:
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
    rows = read_one(data, columns, quiet, measure, data=True)
    with listen(quiet, preparing="sealing…"):
        sealed = seal(rows, measure)
    sealed.save(output)
    return _sealed_file(output, sealed)


def make_yardstick(
    test: Path, columns: Columns, options: Mapping[str, Any], output: Path | None, quiet: bool
) -> Yardstick:
    """Fit a yardstick and save it."""
    check_outputs(output, None if output is None else key_file(output))
    parsed = parse_options("rank", options)
    data = read_one(test, columns, quiet)
    with listen(quiet, preparing=FITTING):
        made = find_yardstick(data, parsed)
    for note in [] if quiet else modelling_notes(made, parsed):
        say(note)
    if output is not None:
        key = new_key()
        made = made.published(data, key)
        made.save(output)
        with atomic_write(key_file(output)) as file:
            file.touch(0o600)
            file.write_text(json.dumps({"schema": KEY_SCHEMA, "key": key, "yardstick": made.digest}) + "\n")
    return made


def verify_yardstick(test: Path, published: Path, columns: Columns, quiet: bool) -> Yardstick:
    """The yardstick, if it was published with this test set under the key that lies beside it."""
    made, beside = Yardstick.load(published), key_file(published)
    try:
        key = parse_json(read_whole(beside))["key"]
        if not is_key(key):
            raise ValueError
    except (OSError, ValueError, KeyError, TypeError):
        raise DataworthError(f"{beside} is no key of a yardstick: it is written beside it by -o.") from None
    if not made.is_of(read_one(test, columns, quiet), key):
        raise DataworthError(f"{published} was not published with {test} under the key in {beside}.")
    return made


def key_file(output: Path) -> Path:
    """Where the key of a published yardstick is kept."""
    return output.with_suffix(".key.json")
