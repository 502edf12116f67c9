"""No check fires on the demo: its data are honest, and what its chapters do is for the verdict to say."""

import pytest

from dataworth.checks import CHECKS
from dataworth.valuation.demo import demo

MATCHED = "match the test set's groups"
CHAPTERS = (
    "filter mislabelled rows",
    MATCHED,
    "remove rows at random",
    "double every row",
    "add self-labelled rows",
    "add new rows",
    "drop what its own model gets wrong",
)
NOT_RUN = {
    "DW006": ("slow: ", CHAPTERS),
    "DW013": ("the curation left the attributes' ", tuple(name for name in CHAPTERS if name != MATCHED)),
}
"""Checks that may not run, how their reason begins, and the chapters in which it holds."""


@pytest.fixture(scope="module")
def chapters():
    return demo().audits


def is_silent(finding, chapter):
    """Whether a check ran and found nothing, or is known to have nothing to look at there."""
    reason, excused = NOT_RUN.get(finding.code, ("", ()))
    if chapter in excused:
        return finding.fires is None and finding.detail.startswith(reason)
    return finding.fires is False


def test_the_chapters_are_those_we_know(chapters):
    assert tuple(chapter.name for chapter in chapters) == CHAPTERS


@pytest.mark.parametrize("code", [check.code for check in CHECKS])
def test_the_demo_is_silent(chapters, code):
    for chapter in chapters:
        (finding,) = (f for f in chapter.audit.checks if f.code == code)
        assert is_silent(finding, chapter.name), (chapter.name, finding)


def test_the_demo_knows_why_its_scanners_do_not_matter(chapters):
    """They go with the label in nine of ten test rows, but the pixels do not show them."""
    matched = next(c for c in chapters if c.name == MATCHED)
    finding = next(f for f in matched.audit.checks if f.code == "DW013")
    assert finding.fires is False
    assert "do not show" in finding.detail
