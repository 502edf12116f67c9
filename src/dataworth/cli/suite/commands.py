"""The commands `check` and `init`."""

from __future__ import annotations

import json
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from ..guard import BAD_INPUT, VERDICT_FAILS, say
from ..options import Showing
from .file import Suite
from .run import Outcome, Runner
from .sources import Base


@dataclass(frozen=True, kw_only=True)
class Written:
    """What is written of a run: files, a directory for pages, and whether they may show rows of the data."""

    junit: Path | None = None
    markdown: Path | None = None
    reports: Path | None = None
    rows: bool = True


def run_suite(
    suite: Suite, names: list[str], base: str | None, showing: Showing, written: Written, cache: bool = True
) -> int:
    """Run audits of a suite, and say of each what came out; the exit code."""
    from . import told

    start = time.monotonic()
    entries = suite.named(names)
    revision = Base(base or suite.base)
    run = Runner(
        suite=suite, base=revision, showing=showing, cache=cache, rows=written.rows, reports=written.reports
    )
    outcomes: list[Outcome] = []
    width = min(40, max(len(one.name) for one in entries))
    silent = showing.json or showing.quiet
    for entry in entries:
        outcomes.append(run(entry))
        if not silent:
            print(told.line(outcomes[-1], width), flush=True)
    seconds = time.monotonic() - start
    if showing.json:
        print(told.as_json(suite, revision.revision, outcomes, seconds))
    else:
        print(told.summary(outcomes, seconds))
    sys.stdout.flush()
    if written.junit is not None:
        told.write_junit(written.junit, suite, outcomes, seconds)
    if written.markdown is not None:
        told.write_markdown(written.markdown, suite, revision.revision, outcomes)
    for one in outcomes:
        if one.state == "error":
            say(f"{one.name} cannot be checked{f': {one.line}' if silent else ''}")
    states = {one.state for one in outcomes}
    return BAD_INPUT if "error" in states else VERDICT_FAILS if "failed" in states else 0


def make_suite(folder: Path, force: bool, showing: Showing) -> None:
    """Write a suite, and say what is in it."""
    from .init import write_suite

    target, found = write_suite(folder, force)
    if showing.json:
        audits = {one.name: {"data": str(one.data), "test": str(one.test)} for one in found}
        print(json.dumps({"schema": "dataworth/suite/1", "suite": str(target), "audits": audits}, indent=2))
        return
    print(f"{target}: {', '.join(one.name for one in found)}")
    if not showing.quiet:
        for one in found:
            what = f"{one.data} ({one.rows} rows), on {one.test}"
            say(f"{one.name}: {what}{f', compared with {one.before}' if one.before else ''}")
            if one.likely:
                say(f"{one.name}: no column is named like a label: write down which it is, in {target}")
        say("look at it, then: dataworth check")
