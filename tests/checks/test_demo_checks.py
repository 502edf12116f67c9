"""No check fires on the demo: its data are honest, and what its chapters do is for the verdict to say."""

import pytest

from dataworth.checks import CHECKS
from dataworth.valuation.demo import demo


@pytest.fixture(scope="module")
def chapters():
    return demo().audits


@pytest.mark.parametrize("code", [check.code for check in CHECKS])
def test_the_demo_is_silent(chapters, code):
    for chapter in chapters:
        finding = next(f for f in chapter.audit.checks if f.code == code)
        assert not finding.fires, (chapter.name, finding)


def test_the_demo_knows_why_its_scanners_do_not_matter(chapters):
    """They go with the label in nine of ten test rows, but the pixels do not show them."""
    matched = next(c for c in chapters if c.name == "match the test set's groups")
    finding = next(f for f in matched.audit.checks if f.code == "DW013")
    assert finding.fires is False
    assert "do not show" in finding.detail
