"""One audit of a suite, measured as the commands `audit` and `score` measure; imported when it is needed."""

from __future__ import annotations

import os
import re
import shlex
import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dataworth.report import views
from dataworth.wording import on_the_command_line

from ..job import Job
from ..measure import load, measure
from ..options import Showing
from ..show import quiet_line
from .file import Entry

if TYPE_CHECKING:
    from .run import Runner


def measured(entry: Entry, data: Path, before: Path | None, test: Path, runner: Runner) -> dict[str, Any]:
    """An audit if there are data before that differ, a score if there are none, both if both are asked for.

    Plain data: the line of the result, its rows, and what else thresholds and reports need.
    """
    found: dict[str, Any] = {}
    if before is not None:
        files = {"before": before, "after": data, "test": test}
        audit, lines = _carried_out("audit", files, entry, runner)
        told = views.finite(audit.to_dict())
        found = {"audit": told, "words": sorted(audit.words), "line": quiet_line(audit)}
        found["rows"] = told["replay"]["data"]["after"]["rows"]
        found["examples"] = [asdict(one) for one in audit.examples] if runner.rows else []
    if before is None or entry.thresholds.min_of_ceiling is not None:
        score, lines = _carried_out("score", {"data": data, "test": test}, entry, runner)
        told = views.finite(score.to_dict())
        found |= {"score": told, "rows": told["replay"]["data"]["data"]["rows"]}
        found.setdefault("line", quiet_line(score))
    return {**found, "read": lines}


def _carried_out(command: str, files: dict[str, Path], entry: Entry, runner: Runner) -> tuple[Any, list[str]]:
    """The result of a command, and what was decided while its files were read."""
    given: dict[str, Any] = {"columns": entry.columns, "options": {**entry.options, "cache": runner.cache}}
    words = [
        "dataworth",
        "check",
        entry.name,
        "--suite",
        str(runner.suite.path),
        "--base",
        runner.base.revision,
    ]
    job = Job(command=command, files=files, words=shlex.join(words), **given)
    silent = Showing(quiet=True)
    showing = runner.showing if runner.showing.verbose or sys.stderr.isatty() else silent
    reports = [] if runner.reports is None else [runner.reports / f"{_file_name(entry.name)}-{command}.html"]
    showing = replace(showing, report=reports or None)
    with on_the_command_line(flags=False):
        options = job.parsed()
        loaded = load(job, options, silent)
        result = measure(job, options, {}, loaded, showing)
        for path in reports:
            os.makedirs(path.parent, exist_ok=True)
            views.write(result if runner.rows else result.without_rows(), path)
    return result, loaded.inputs.lines()


def _file_name(name: str) -> str:
    return re.sub(r"[^\w.-]", "_", name)
