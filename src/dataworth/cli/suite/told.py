"""Outcomes of a suite for people and programs: lines, a summary, JUnit, JSON, and Markdown for a comment."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import typer

from dataworth.atomic import atomic_write
from dataworth.report.document import LOOKS, VERDICT_TONES, Facts, Section, Table, plain, shortened
from dataworth.report.markdown import folded, table, text
from dataworth.version import __version__
from dataworth.wording import counted

from ..guard import tame
from .file import Suite
from .run import SCHEMA, Outcome, State

WORDS: dict[State, tuple[str, str]] = {
    "passed": ("PASSED", "green"),
    "failed": ("FAILED", "red"),
    "error": ("ERROR", "red"),
}
MAX_COMMENT = 60_000
"""Characters of a comment: GitHub takes 65,536."""
MAX_SHOWN = 500
"""Characters of a line in a comment."""


def line(outcome: Outcome, width: int) -> str:
    """One line an audit, and one for every threshold that was not kept."""
    word, colour = WORDS[outcome.state]
    word = typer.style(f"{word:6}", fg=colour) if sys.stdout.isatty() else f"{word:6}"
    how = "  (cached)" if outcome.how == "cached" else ""
    lines = [f"{outcome.name:{width}}  {word}  {tame(outcome.line)}{how}"]
    return "\n".join([*lines, *(f"{'':{width}}          {tame(one)}" for one in outcome.reasons)])


def counts(outcomes: Sequence[Outcome]) -> dict[str, int]:
    """How many ended how."""
    found = Counter(one.state for one in outcomes)
    return {"passed": found["passed"], "failed": found["failed"], "errors": found["error"]}


def summary(outcomes: Sequence[Outcome], seconds: float) -> str:
    """How many passed, and how many were measured."""
    found = counts(outcomes)
    states = [f"{found[what]} {what}" for what in ("passed", "failed") if found[what] or what == "passed"]
    states += [counted(found["errors"], "error")] if found["errors"] else []
    hows = Counter(one.how for one in outcomes if one.how)
    told = ", ".join(f"{hows[how]} {how}" for how in ("measured", "cached", "unchanged") if hows[how])
    return f"{', '.join(states)} in {seconds:.1f} s{told and f' ({told})'}"


def as_json(suite: Suite, base: str, outcomes: Sequence[Outcome], seconds: float) -> str:
    """The whole of it for programs."""
    about = {"schema": SCHEMA, "suite": str(suite.path), "base": base, **counts(outcomes)}
    told = {**about, "seconds": round(seconds, 3), "audits": [one.to_dict() for one in outcomes]}
    return json.dumps(told, indent=2, allow_nan=False)


def in_xml(text: str) -> str:
    """A text without the characters that XML has not."""
    return plain(text).replace("\ufffe", "\ufffd").replace("\uffff", "\ufffd")


def write_junit(path: Path, suite: Suite, outcomes: Sequence[Outcome], seconds: float) -> None:
    """Outcomes as test cases, which every CI shows."""
    found = counts(outcomes)
    numbers = {"tests": len(outcomes), "failures": found["failed"], "errors": found["errors"], "skipped": 0}
    attributes = {
        "name": "dataworth",
        **{name: str(n) for name, n in numbers.items()},
        "time": f"{seconds:.3f}",
    }
    top = ElementTree.Element("testsuites")
    cases = ElementTree.SubElement(top, "testsuite", attributes)
    for one in outcomes:
        about = {"classname": suite.path.name, "name": in_xml(one.name), "time": f"{one.seconds:.3f}"}
        case = ElementTree.SubElement(cases, "testcase", about)
        why = in_xml("\n".join(one.reasons or [one.line]))
        if one.state != "passed":
            kind = "failure" if one.state == "failed" else "error"
            ElementTree.SubElement(case, kind, {"message": shortened(why, MAX_SHOWN)}).text = why
        ElementTree.SubElement(case, "system-out").text = in_xml(one.line)
    ElementTree.indent(top)
    with atomic_write(path) as place:
        ElementTree.ElementTree(top).write(place, encoding="utf-8", xml_declaration=True)


def write_markdown(path: Path, suite: Suite, base: str, outcomes: Sequence[Outcome]) -> None:
    """A comment for a pull request."""
    with atomic_write(path) as place:
        place.write_text(as_markdown(suite, base, outcomes), encoding="utf-8")


def as_markdown(suite: Suite, base: str, outcomes: Sequence[Outcome]) -> str:
    """The answer, a row an audit, and behind it what each changed."""
    bad = sum(one.state != "passed" for one in outcomes)
    head = f"{bad} of {counted(len(outcomes), 'audit')} failed" if bad else _all_passed(len(outcomes))
    emoji = LOOKS["bad" if bad else "good"].emoji
    columns = ("audit", "", "verdict", "rows", "what was found")
    rows = [_row(one) for one in outcomes]
    lines = [f"## {emoji} dataworth: {head}"]
    shown = Table("", columns, rows, first=len(rows))
    lines += [table(shown)] if len(rows) <= 40 else [_many(columns, rows)]
    for one in sorted(outcomes, key=lambda one: one.state == "passed"):
        section = _details(one)
        told = "" if section is None else folded(section)
        if told and sum(map(len, lines)) + len(told) < MAX_COMMENT:
            lines.append(told)
    lines.append(f"<sub>{text(suite.path.name)}, compared with {text(base)} · dataworth {__version__}</sub>")
    return "\n\n".join(lines) + "\n"


def _many(columns: tuple[str, ...], rows: Sequence[Any]) -> str:
    """A long table: first what is not well, then as much as a comment takes."""
    first = sorted(rows, key=lambda row: row[1] == WORDS["passed"][0])[:40]
    left = counted(len(rows) - len(first), "more audit")
    return f"{table(Table('', columns, first))}\n\n{left} left out here."


def _all_passed(n: int) -> str:
    return "the audit passed" if n == 1 else f"all {n} audits passed"


def _row(one: Outcome) -> tuple[str, ...]:
    audit = (one.record or {}).get("audit")
    rows = (one.record or {}).get("rows")
    size = "–" if rows is None else str(rows)
    if audit is not None:
        size = f"{audit['replay']['data']['before']['rows']} → {rows}"
    verdict = audit["word"] if audit else "–"
    emoji = LOOKS[VERDICT_TONES.get(audit["verdict"], "plain")].emoji if audit else ""
    why = "; ".join(one.reasons) if one.state == "failed" else one.line
    word = WORDS[one.state][0]
    return one.name, word, f"{emoji} {verdict}".strip(), size, shortened(why, MAX_SHOWN)


def _details(one: Outcome) -> Section | None:
    """What changed, where something was measured."""
    from dataworth.report.documents.changed import change_text, changed_blocks

    record: Mapping[str, Any] = one.record or {}
    if (audit := record.get("audit")) is None:
        return None
    failed = [f"{check['code']} {check['name']}" for check in audit["checks"] if check["failed"]]
    facts = [
        ("Found", one.line),
        *(("Not kept", reason) for reason in one.reasons),
        ("Why", audit["reason"]),
        ("Changed", change_text(audit["change"])),
        *((("Checks that failed", ", ".join(failed)),) if failed else ()),
    ]
    return Section(
        f"{one.name}: {audit['word']}",
        (Facts(facts), *changed_blocks(audit["change"], record.get("examples", ()))),
    )
