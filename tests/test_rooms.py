"""The rooms of the package and their arrows: imports go down only."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

import dataworth

ROOT = Path(dataworth.__file__).parent

# From the ground up. A module may import modules of lower floors, and those of its own floor as long as they
# do not import each other in a circle. A package stands for all its modules.
FLOORS = [
    ["errors", "wording"],
    ["convert", "data", "engines", "inference"],
    ["io", "runs", "embed", "curation", "models"],
    ["recipe", "targets"],
    ["densities", "forms", "interpretation", "pmi", "pmi_change", "referee", "yardstick"],
    ["certify", "clipping", "planner"],
    [
        "pairs",
        "intervals",
        "evaluate",
        "pool",
        "changes",
        "arms",
        "leaks",
        "methods",
        "plan",
        "case",
        "parts",
    ],
    ["checks"],
    ["sealed", "verdict", "score", "audit", "rank", "sensitivity"],
    ["report", "studies"],
    ["cli"],
]
FLOOR = {room: level for level, rooms in enumerate(FLOORS) for room in rooms}

# Rooms that may use less than their floor allows: all of ours that they may import beside themselves.
NARROW = {
    "errors": set(),
    "wording": set(),
    "convert": {"errors", "wording"},
    "data": {"convert", "errors", "wording"},
    "io": {"data", "convert", "errors", "wording"},
    "engines": {"errors", "wording"},
    "runs": {"engines", "errors", "wording"},
    "inference": {"errors"},
    "models": {"inference", "errors", "wording"},
    "curation": {"data", "errors", "wording"},
    "recipe": {"data", "convert", "errors", "wording"},
    "targets": {"data", "errors", "wording"},
    "densities": {"models", "inference", "errors"},
    "forms": {"densities", "models", "inference", "errors"},
    "interpretation": {"densities", "forms", "models", "inference", "errors"},
    "pmi": {"forms", "interpretation", "models", "data", "targets", "errors", "wording"},
    "pmi_change": {"pmi", "models", "data", "targets", "errors"},
    "referee": {"densities", "forms", "pmi", "models", "inference", "data", "targets", "errors", "wording"},
    "yardstick": {"models", "data", "recipe", "targets", "errors", "wording"},
    "certify": {"models", "errors"},
    "clipping": {"models", "errors"},
    "planner": {"models", "errors"},
    "intervals": set(),
    "methods": {"data", "errors", "wording"},
    "verdict": {"intervals"},
}


def modules():
    return {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
        for path in sorted(ROOT.rglob("*.py"))
        if path != ROOT / "__init__.py"  # the surface: its names are resolved when they are used
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
            found |= {".".join(n[1:]) for n in names if n[0] == "dataworth"}
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


def test_the_parser_sees_imports():
    """It would be a comfort, not a test, if it found none."""
    assert {"data", "errors", "pairs", "wording"} <= imports_of("leaks")
    assert {"inference.newton", "models.base", "errors"} <= imports_of("models.logistic")
    assert "engines.base" in imports_of("runs")
    assert len(MODULES) > 30


@pytest.mark.parametrize("module", MODULES)
def test_every_module_stands_on_a_floor(module):
    assert room(module) in FLOOR, f"{module} is in no room: give it one in FLOORS, and in CONTRIBUTING.md"


@pytest.mark.parametrize("module", MODULES)
def test_imports_go_down_only(module):
    here = FLOOR[room(module)]
    for target in imports_of(module):
        if target == "":  # the package itself: only for its version, at the very top
            assert room(module) == "cli"
            continue
        there = FLOOR[room(target)]
        assert there <= here, f"{module} (floor {here}) imports {target} (floor {there})"


@pytest.mark.parametrize("module", [m for m in MODULES if room(m) in NARROW])
def test_narrow_rooms_keep_to_themselves(module):
    used = {room(target) for target in imports_of(module)} - {room(module)}
    assert used <= NARROW[room(module)]


def test_nothing_imports_the_command_line():
    for module in MODULES:
        if room(module) != "cli":
            assert "cli" not in {room(target) for target in imports_of(module)}, module


def test_checks_never_import_audits():
    for module in MODULES:
        if room(module) == "checks":
            assert not {room(t) for t in imports_of(module)} & {"audit", "score", "rank"}, module


def test_curation_uses_scikit_learn_and_cleanlab_only():
    allowed = {"numpy", "sklearn", "cleanlab", "dataworth"}
    for module, path in MODULES.items():
        if room(module) != "curation":
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            names = []
            if isinstance(node, ast.Import):
                names = [a.name for a in node.names]
            elif isinstance(node, ast.ImportFrom) and not node.level:
                names = [node.module or ""]
            outside = {n.partition(".")[0] for n in names} - set(sys.stdlib_module_names)
            assert outside <= allowed, module


def test_there_are_no_circles():
    """A package counts as one module, its files among themselves are looked at too."""
    graphs = [
        {m: imports_of(m) & set(MODULES) - {m} for m in MODULES},
        {
            r: {room(t) for m in MODULES if room(m) == r for t in imports_of(m) if t} - {r}
            for r in {room(m) for m in MODULES}
        },
    ]
    for graph in graphs:
        left = dict(graph)
        while left:
            free = [m for m, targets in left.items() if not targets & set(left)]
            assert free, f"these import each other in a circle: {sorted(left)}"
            for m in free:
                del left[m]
