"""Audits of a suite as tests: `pytest -p dataworth.cli.pytest_plugin dataworth.toml`, or in a conftest.py
`pytest_plugins = ["dataworth.cli.pytest_plugin"]` and then `pytest tests dataworth.toml`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dataworth.errors import DataworthError

from .options import Showing
from .suite.file import SUITE, Entry, read_suite
from .suite.run import Outcome, Runner
from .suite.sources import Base


def pytest_addoption(parser: pytest.Parser) -> None:
    """The revision that files are compared with."""
    group = parser.getgroup("dataworth")
    group.addoption("--dataworth-base", metavar="REVISION", help="Revision that data are compared with.")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """A suite that is named on the command line."""
    if file_path.name == SUITE and parent.session.isinitpath(file_path):
        return SuiteFile.from_parent(parent, path=file_path)
    return None


class NotKept(Exception):
    """An audit that did not pass."""


class SuiteFile(pytest.File):
    """A suite, whose audits are its tests."""

    def collect(self) -> Iterator[pytest.Item]:
        """An item an audit."""
        try:
            suite = read_suite(self.path)
        except DataworthError as error:
            raise self.CollectError(str(error)) from None
        base = Base(self.config.getoption("--dataworth-base") or suite.base)
        run = Runner(suite=suite, base=base, showing=Showing(quiet=True))
        for entry in suite.entries:
            yield AuditItem.from_parent(self, name=entry.name, run=run, entry=entry)


class AuditItem(pytest.Item):
    """An audit as a test."""

    def __init__(self, run: Runner, entry: Entry, **given: Any) -> None:
        super().__init__(**given)
        self._run, self._entry = run, entry

    def runtest(self) -> None:
        """Measure what changed; fail with what was not kept."""
        outcome: Outcome = self._run(self._entry)
        self.add_report_section("call", "dataworth", outcome.line)
        if outcome.state != "passed":
            raise NotKept("\n".join([outcome.line, *outcome.reasons]))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """The sentences alone; a traceback for what is a bug."""
        return str(excinfo.value) if excinfo.errisinstance(NotKept) else super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Where it stands."""
        return self.path, None, f"{self.path.name}: {self.name}"
