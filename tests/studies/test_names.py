"""The studies stand on public names, and on those that docs/building-on.md names."""

import ast
import re
from importlib import import_module
from pathlib import Path

import pytest

import dataworth
import dataworth_studies

STUDIES = Path(dataworth_studies.__file__).parent
TABLE = Path(__file__).parents[2] / "docs" / "building-on.md"


def public_names():
    """What `import dataworth as dw` has, by the stub that declares it."""
    stub = ast.parse((Path(dataworth.__file__).parent / "__init__.pyi").read_text())
    return {alias.asname for node in stub.body if isinstance(node, ast.ImportFrom) for alias in node.names}


def documented_names():
    """(module, name) of every line of the table."""
    found = set()
    for line in TABLE.read_text().splitlines():
        cells = [cell.strip() for cell in line.split("|")]
        if line.startswith("| `"):
            (module,) = re.findall(r"`([\w.]+)`", cells[2])
            found |= {(module, name) for name in re.findall(r"`(\w+)`", cells[1])}
    return found


def imported_names(text):
    """(module, name) of all that a file takes of the product, in examples of docstrings too."""
    examples = "\n".join(re.findall(r"^\s*>>> (from dataworth.*|import dataworth.*)$", text, re.M))
    found = set()
    for node in [*ast.walk(ast.parse(text)), *ast.walk(ast.parse(examples))]:
        if isinstance(node, ast.ImportFrom) and not node.level and node.module:
            if node.module.split(".")[0] == "dataworth":
                found |= {(node.module, alias.name) for alias in node.names}
        elif isinstance(node, ast.Import):
            # the package alone may be imported whole: its attributes are looked at below
            found |= {(alias.name, "") for alias in node.names if alias.name.startswith("dataworth.")}
    attributes = {
        ("dataworth", node.attr)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "dw"
    }
    return found | attributes


ALLOWED = documented_names() | {("dataworth", name) for name in public_names()}
FILES = {str(path.relative_to(STUDIES)): path for path in sorted(STUDIES.rglob("*.py"))}


@pytest.mark.parametrize("file", FILES)
def test_studies_use_public_and_documented_names_only(file):
    private = imported_names(FILES[file].read_text()) - ALLOWED
    assert not private, f"neither public nor in docs/building-on.md: {sorted(private)}"


@pytest.mark.parametrize(("module", "name"), sorted(documented_names()))
def test_what_the_table_names_is_there(module, name):
    assert hasattr(import_module(module), name)


def test_the_table_names_nothing_that_no_study_uses():
    """Else the list of what may not move would only grow."""
    used = set().union(*(imported_names(path.read_text()) for path in FILES.values()))
    assert documented_names() <= used
