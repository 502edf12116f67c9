"""The rooms of the package and their arrows: imports go down only."""

import ast
from pathlib import Path

import pytest

import dataworth

ROOT = Path(dataworth.__file__).parent
CONTRIBUTING = Path(__file__).parents[1] / "CONTRIBUTING.md"

# From the ground up. A room may import rooms of lower floors only, none of its own floor; files on the
# ground floor may import each other.
FLOORS = [
    ["arrays", "atomic", "errors", "extras", "limits", "version", "wording"], ["parallel"],
    ["data", "inference"], ["curation", "embed", "models"], ["evidence", "certify"], ["yardstick"],
    ["measure"], ["checks"], ["valuation"], ["report"], ["review"], ["cli"],
]  # fmt: skip
FLOOR = {room: level for level, rooms in enumerate(FLOORS) for room in rooms}

# Rooms that may use less than their floor allows: all of ours that they may import beside the ground floor.
NARROW = {
    "data": {"parallel"}, "inference": {"parallel"}, "curation": {"data"}, "embed": {"data", "parallel"},
    "models": {"inference", "parallel"}, "certify": {"models", "parallel"},
    "evidence": {"models", "inference", "data", "parallel"},
    "yardstick": {"models", "inference", "data", "parallel"},
}  # fmt: skip


def modules():
    return {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
        for path in sorted(ROOT.rglob("*.py"))
        # the surface, whose names are resolved when they are used, and `python -m dataworth`
        if path not in (ROOT / "__init__.py", ROOT / "__main__.py")
    }


MODULES = modules()


def imports_of(module):
    """The modules of ours that a module imports anywhere in its file, without the package's name."""
    path = MODULES[module]
    package = [] if path.parent == ROOT else list(path.relative_to(ROOT).parent.parts)
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names = [a.name.split(".") for a in node.names]
            # `import dataworth` is the surface, whose names are resolved when they are used
            found |= {".".join(n[1:]) for n in names if n[0] == "dataworth" and len(n) > 1}
        elif isinstance(node, ast.ImportFrom):
            start = (node.module or "").split(".") if node.module else []
            if node.level:
                start = package[: len(package) - node.level + 1] + start
            elif start[:1] == ["dataworth"]:
                start = start[1:]
            else:
                continue
            for alias in node.names:
                whole = ".".join([*start, alias.name])
                found.add(whole if whole in MODULES else ".".join(start))
    return found


def room(module):
    return module.partition(".")[0]


def test_the_parser_sees_imports_and_none_of_the_studies():
    """It would be a comfort, not a test, if it found none."""
    assert {"data.dataset", "errors", "arrays", "wording"} <= imports_of("data.leaks")
    assert {"inference.newton", "models.base", "errors"} <= imports_of("models.logistic")
    assert "parallel" in imports_of("parallel.runs")
    assert len(MODULES) > 30
    for module, path in MODULES.items():
        assert "dataworth_studies" not in path.read_text(), module
    for module, path in MODULES.items():
        assert len(path.read_text().splitlines()) <= 400, module


@pytest.mark.parametrize("module", MODULES)
def test_imports_go_down_only(module):
    assert room(module) in FLOOR, f"{module} is in no room: give it one in FLOORS, and in CONTRIBUTING.md"
    here = FLOOR[room(module)]
    for target in imports_of(module):
        if room(target) != room(module):
            there = FLOOR[room(target)]
            assert there < here or there == here == 0, (
                f"{module} (floor {here}) imports {target} (floor {there})"
            )


@pytest.mark.parametrize("module", [m for m in MODULES if room(m) in NARROW])
def test_narrow_rooms_keep_to_themselves(module):
    used = {room(target) for target in imports_of(module)} - {room(module), *FLOORS[0]}
    assert used <= NARROW[room(module)]


def contributing_table():
    """The rooms from the ground up, each with the first sentence of its folder."""
    lines = ["| floor | room | what is in it |", "|---|---|---|"]
    for level, rooms in enumerate(FLOORS[1:], start=1):
        for name in rooms:
            said = ast.get_docstring(ast.parse((ROOT / name / "__init__.py").read_text())) or ""
            lines.append(f"| {level} | `{name}/` | {said.splitlines()[0].removesuffix('.')} |")
    return "\n".join(lines)


def contributing_with_table():
    before, rest = CONTRIBUTING.read_text().split("<!-- rooms -->")
    after = rest.split("<!-- /rooms -->")[1]
    return f"{before}<!-- rooms -->\n{contributing_table()}\n<!-- /rooms -->{after}"


def test_contributing_lists_the_rooms_as_they_are():
    """Written from the folders: `python tests/test_rooms.py` writes it again."""
    folders = {path.name for path in ROOT.iterdir() if (path / "__init__.py").exists()}
    assert folders == {name for rooms in FLOORS[1:] for name in rooms}
    assert CONTRIBUTING.read_text() == contributing_with_table()


if __name__ == "__main__":
    CONTRIBUTING.write_text(contributing_with_table())
