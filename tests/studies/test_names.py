"""The studies stand on public names, and on those that CONTRIBUTING.md names."""

import re
from importlib import import_module
from pathlib import Path

import pytest

import dataworth
import dataworth_studies

STUDIES = Path(dataworth_studies.__file__).parent
TABLE = Path(__file__).parents[2] / "CONTRIBUTING.md"


IMPORT = re.compile(r"^\s*(?:>>> )?from (dataworth(?:\.[\w.]+)?) import (?:\(([^)]*)\)|(.*))$", re.MULTILINE)


def documented_names():
    """(module, name) of every line of the table."""
    rows = [line.split("|") for line in TABLE.read_text().splitlines() if line.startswith("| `")]
    return {(row[2].strip(" `"), name) for row in rows for name in re.findall(r"`(\w+)`", row[1])}


def imported_names(text):
    """(module, name) of all that a file takes of the product, in examples of docstrings too."""
    assert not re.search(r"^\s*(>>> )?import dataworth\.", text, re.MULTILINE), (
        "the package alone is imported whole"
    )
    names = [
        (one[1], name.split()[0])
        for one in IMPORT.finditer(text)
        for name in re.findall(r"[^,]+\w", one[2] or one[3])
    ]
    return {*names, *(("dataworth", name) for name in re.findall(r"\bdw\.(\w+)", text))}


ALLOWED = documented_names() | {("dataworth", name) for name in dataworth.__all__}
FILES = {str(path.relative_to(STUDIES)): path for path in sorted(STUDIES.rglob("*.py"))}


@pytest.mark.parametrize("file", FILES)
def test_studies_use_public_and_documented_names_only(file):
    private = imported_names(FILES[file].read_text()) - ALLOWED
    assert not private, f"neither public nor in CONTRIBUTING.md: {sorted(private)}"


@pytest.mark.parametrize(("module", "name"), sorted(documented_names()))
def test_what_the_table_names_is_there(module, name):
    assert hasattr(import_module(module), name)


def test_the_table_names_nothing_that_no_study_uses():
    """Else the list of what may not move would only grow."""
    used = set().union(*(imported_names(path.read_text()) for path in FILES.values()))
    assert documented_names() <= used
