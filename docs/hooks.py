"""What the site has beside the pages of this folder; mkdocs calls these functions.

The API reference is made of `dataworth/__init__.pyi`, and that of the command line of its commands, so that
nothing can be forgotten. The README is the first page. Results and files at the root of the repository become
pages and pictures of the site: links to them work on GitHub as they are written, and here with a level less.
"""

from __future__ import annotations

import ast
import posixpath
import re
import sys
from collections import Counter
from itertools import chain
from pathlib import Path
from typing import Any

import griffe
from mkdocs.structure.files import File

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "dataworth"
ROOMS = {
    "valuation": "What data are worth",
    "data": "Datasets",
    "yardstick": "Yardsticks",
    "models": "Models",
    "evidence": "The evidence of one pair",
    "measure": "Planning",
    "certify": "Certifying a model",
    "errors": "Errors",
}
"""Rooms with public names, in the order of the reference; others come after them."""
DOCTEST = re.compile(r"(?:^>>> .*\n?)(?:^(?!\s*$).*\n?)*", re.MULTILINE)


def on_config(config: Any) -> Any:
    """The entry `api/` of the navigation lists the pages of the API reference."""

    def fill(entry: Any) -> Any:
        if isinstance(entry, list):
            return [fill(one) for one in entry]
        if isinstance(entry, dict):
            return {name: fill(value) for name, value in entry.items()}
        return [f"api/{name}.md" for name in api_pages()] if entry == "api/" else entry

    config["nav"] = fill(config["nav"])
    return config


def on_files(files: Any, config: Any) -> Any:
    """Add the two references, the results, and what stands at the root."""
    for name, text in {
        **{f"api/{name}": text for name, text in api_pages().items()},
        "cli": cli_page(),
    }.items():
        files.append(File.generated(config, f"{name}.md", content=text))
    files.append(File.generated(config, "index.md", abs_src_path=str(ROOT / "README.md")))
    results = [path for path in (ROOT / "results").rglob("*") if path.suffix in (".md", ".svg")]
    examples = [path for path in (ROOT / "examples").rglob("*") if path.suffix in (".py", ".yaml")]
    schemas = (PACKAGE / "report" / "schemas").glob("*.json")
    for path in [ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *results, *examples, *schemas]:
        own = path.relative_to(ROOT).as_posix()
        files.append(File.generated(config, own, abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Links that leave this folder on GitHub stay in it here."""
    source = page.file.src_uri
    if source in ("index.md", "CONTRIBUTING.md", "CHANGELOG.md"):
        return re.sub(r"""(\]\(|src=")docs/""", r"\1", markdown)
    here = posixpath.dirname(f"docs/{source}")

    def inside(link: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(here, link[1]))
        return link[0] if target.startswith("docs/") else f"]({link[1].replace('../', '', 1)}"

    return re.sub(r"\]\((\.\./[^)#\s]+)", inside, markdown)


def public_names() -> dict[str, list[str]]:
    """The public names by room, as `dataworth/__init__.pyi` has them."""
    found: dict[str, list[str]] = {room: [] for room in ROOMS}
    for node in ast.parse((PACKAGE / "__init__.pyi").read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom) and node.module != "version":
            room = str(node.module).partition(".")[0]
            found.setdefault(room, []).extend(alias.name for alias in node.names)
    return {room: names for room, names in found.items() if names}


def api_pages() -> dict[str, str]:
    """A page for each room, and one that lists all names."""
    index = ["# API reference", "", "`import dataworth as dw`; every public name, by what it is about.", ""]
    pages = {}
    for room, names in public_names().items():
        title = ROOMS.get(room, room.capitalize())
        functions_first = sorted(names, key=lambda name: (name[0].isupper(), name.lower()))
        pages[room] = (
            "\n\n".join([f"# {title}", *(f"::: dataworth.{name}" for name in functions_first)]) + "\n"
        )
        links = ", ".join(f"[`dw.{name}`]({room}.md#dataworth.{name})" for name in functions_first)
        index.append(f"- **[{title}]({room}.md)**: {links}")
    pages["options"] = options_page()
    index += ["- **[Options](options.md)** of `dw.score`, `dw.audit` and `dw.rank`", ""]
    index += [
        "[Names for extensions](../CONTRIBUTING.md#names-for-extensions) lists what lies beneath these."
    ]
    return {"index": "\n".join(index) + "\n", **pages}


def options_page() -> str:
    """The options of measurements: `measure/options.py` has one list for Python and the command line."""
    tree = ast.parse((PACKAGE / "measure" / "options.py").read_text(encoding="utf-8"))
    (options,) = (node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "Options")
    lines = [
        "# Options",
        "",
        "Keywords of `dw.score`, `dw.audit` and `dw.rank`; on the command line `--prior-variance` and so on.",
        "",
    ]
    for field in options.body:
        if isinstance(field, ast.AnnAssign) and isinstance(field.value, ast.Call):
            told = ast.literal_eval(field.value.args[1])
            lines.append(f"- `{ast.unparse(field.target)}`: {told}")
    return "\n".join(lines) + "\n"


def cli_page() -> str:
    """The commands with their options, of which those of many commands stand once, at the end."""
    sys.path.insert(0, str(ROOT / "src"))
    import typer.main

    from dataworth.cli.app import app

    commands = dict(sorted(vars(typer.main.get_command(app))["commands"].items()))
    commands.pop("study", None)  # of another package, with pages of its own
    rows = {
        name: [option_row(one) for one in command.params if one.name not in ("help", "help_all")]
        for name, command in commands.items()
    }
    shared = {row for row, times in Counter(chain(*rows.values())).items() if times > 2}
    lines = ["# Command line reference", "", "After this page you know every command and option.", ""]
    for name, command in commands.items():
        said, *examples = str(command.help).split("\n\n")
        code = [
            " ".join(one.removeprefix("Example:").split()) for one in examples if one.startswith("Example:")
        ]
        lines += [f"## {name}", "", " ".join(said.split()), "", *(f"    {one}" for one in code), ""]
        lines += table([row for row in rows[name] if row not in shared])
        also = ", ".join(row.split()[1] for row in rows[name] if row in shared)
        lines += [f"Also: {also}.", ""] if also else []
    lines += ["## Options of several commands", "", *table(sorted(shared))]
    return "\n".join([*lines, "**Read next:** [Exit codes](how-to/ci-gate.md#exit-codes)."]) + "\n"


def option_row(option: Any) -> str:
    """The names of an option or argument, and its help."""
    argument = option.param_type_name == "argument"
    names = [option.metavar or option.name] if argument else [*option.opts, *option.secondary_opts]
    told = " ".join(str(option.help).split()).replace("|", "\\|")
    return f"| {' '.join(f'`{name}`' for name in names)} | {told} |"


def table(rows: list[str]) -> list[str]:
    """A table of options, if there are any."""
    return ["| option | meaning |", "|---|---|", *rows, ""] if rows else []


class Doctests(griffe.Extension):
    """Examples of docstrings are code, also where they do not stand under a heading of their own."""

    def on_object(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        """Put fences around examples."""
        if obj.docstring is not None and "Examples:" not in obj.docstring.value:
            text = obj.docstring.value
            obj.docstring.value = DOCTEST.sub(lambda m: f"```pycon\n{m[0].rstrip()}\n```\n", text)
