"""`dataworth review`: the list is made, then shown on a page, or written to a sheet, or read from one."""

from __future__ import annotations

import getpass
import os
import sys
import webbrowser
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dataworth.data.io.inputs import table_as_it_is
from dataworth.errors import DataworthError
from dataworth.review.corrected import check_path, usual_path
from dataworth.review.rows import Rows
from dataworth.review.session import Session, check_log, log_of

from .files import check_outputs
from .guard import say
from .job import Job
from .measure import load, measure
from .options import Columns, Showing

AUDITED = ("seed", "jobs", "engine", "address")
"""Options of the list that the audit has, too."""


@dataclass(frozen=True)
class Wanted:
    """What is asked of a review beside its data."""

    output: Path | None
    out: Path | None
    read: Path | None
    source: str | None
    images: Path | None
    who: str | None
    port: int
    browser: bool


def review(
    data: Path, test: Path, columns: Columns, options: dict[str, Any], wanted: Wanted, quiet: bool
) -> int:
    """Make the list by half of the test set, and hand it to people."""
    path = wanted.output or usual_path(data)
    if wanted.out is not None and wanted.out.suffix != ".xlsx":
        raise DataworthError(f"{wanted.out}: the list is written as .xlsx: give it such a name.")
    check_outputs(path, wanted.out)
    session = open_session(data, test, columns, options, wanted, path, quiet)
    try:
        if session.log.note:
            say(session.log.note)
        if wanted.read is not None or wanted.out is not None:
            by_sheet(session, wanted, quiet)
        else:
            by_page(session, wanted, quiet)
    finally:
        session.close()
    if not quiet:
        from dataworth.review.sheet import summary

        say(summary(session))
        say(f"corrected data written to {session.path}, every decision to {session.log.path}")
    return 0


def open_session(
    data: Path, test: Path, columns: Columns, options: dict[str, Any], wanted: Wanted, path: Path, quiet: bool
) -> Session:
    """Read, value by half of the test set, and continue the log if there is one."""
    own = {"source": wanted.source, "sample_splitting": True}
    job = Job(command="values", files={"data": data, "test": test}, columns=columns, options=options, own=own)
    showing, parsed = Showing(quiet=quiet), job.parsed()
    loaded = load(job, parsed, showing)
    part = table_as_it_is(data, columns.roles)
    check_path(path, part, data)
    label = next((role.column for role in loaded.inputs.roles(data) if role.role == "label"), None)
    rows, tested = loaded(data), loaded(test)
    if label not in part.table.column_names or len(part.table) != len(rows):
        raise DataworthError(
            f"{data} holds preference pairs, or rows that were left out: labels are reviewed row by row; "
            "give a table with a column of labels."
        )
    if log_of(path).exists():  # of other data, it is refused before the work
        check_log(log_of(path), rows, tested)
    found = measure(job, parsed, {"sample_splitting": True}, loaded._replace(sources=None), showing)
    sources = None if loaded.sources is None else loaded.sources.tolist()
    hidden = [str(label), *(role.column for role in loaded.inputs.roles(data) if role.role == "id")]
    folders = [one for one in (wanted.images, data.absolute().parent, Path.cwd()) if one is not None]
    return Session(
        data=rows,
        test=tested,
        values=found,
        part=part,
        label=str(label),
        sources=sources,
        path=path,
        source=data.name,
        who=wanted.who or user(),
        rows=Rows(
            part.table,
            tuple(hidden if wanted.source is None else [*hidden, wanted.source]),
            found.yardstick.features(rows),
            list(map(str, found.labels.label)),
            tuple(folders),
        ),
        options={n: v for n, v in options.items() if n in AUDITED and v is not None},
    )


def by_sheet(session: Session, wanted: Wanted, quiet: bool) -> None:
    """Read a sheet back, write one, or both."""
    from dataworth.review.sheet import read_sheet, write_sheet

    if wanted.read is not None:
        count = read_sheet(session, wanted.read)
        if not quiet:
            say(f"{count} labels taken from {wanted.read}")
    if wanted.out is not None:
        count = write_sheet(session, wanted.out)
        if not quiet:
            say(f"list of {count} rows written to {wanted.out}: fill the column 'right label'")


def by_page(session: Session, wanted: Wanted, quiet: bool) -> None:
    """Serve the page until somebody ends it there, or here by Ctrl-C."""
    from dataworth.review.server import Server

    server = Server(session, wanted.port)
    server.start()
    try:
        print(server.url, flush=True)
        if not quiet:
            say("open this address; Ctrl-C, or 'Save and close' on the page, ends the review")
        if wanted.browser and has_screen():
            with suppress(webbrowser.Error):
                webbrowser.open(server.url)
        server.wait()
    except KeyboardInterrupt:
        pass
    finally:
        server.stop()


def has_screen() -> bool:
    """Whether a browser has where to open; else one for terminals would take this one over."""
    return not sys.platform.startswith("linux") or any(map(os.environ.get, ("DISPLAY", "WAYLAND_DISPLAY")))


def user() -> str:
    """Who is asked, if nobody says."""
    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError):
        return "reviewer"
