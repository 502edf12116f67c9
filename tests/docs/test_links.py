"""Links work on GitHub too (of the site, mkdocs checks them); public functions have examples."""

import inspect
import re
from importlib.resources import files
from pathlib import Path

import pytest

import dataworth as dw
from dataworth.cli.listings import glossary

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.mark.skipif(not (ROOT / "docs").exists(), reason="a source distribution has no docs")
def test_a_link_to_a_file_finds_it():
    links = [
        (page, link)
        for page in PAGES
        for link in re.findall(r"\]\((?!https?:|#)([^)\s#]+)", page.read_text(encoding="utf-8"))
    ]
    assert len(links) > 100
    lost = [f"{page.relative_to(ROOT)}: {link}" for page, link in links if not (page.parent / link).exists()]
    assert not lost, lost


@pytest.mark.parametrize("name", [name for name in dw.__all__ if inspect.isroutine(getattr(dw, name))])
def test_a_public_function_has_an_example_which_runs_as_a_doctest(name):
    assert ">>>" in inspect.getdoc(getattr(dw, name))


@pytest.mark.skipif(not (ROOT / "docs").exists(), reason="a source distribution has no docs")
def test_the_glossary_of_the_site_is_the_one_that_is_explained():
    own = files("dataworth.cli").joinpath("glossary.md").read_text(encoding="utf-8")
    assert (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8") == own, "copy one to the other"
    assert 30 < len(glossary()) <= 40
