"""The pages on texts and preferences, executed as written."""

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from dataworth.cli.app import app

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.skipif(not DOCS.exists(), reason="a source distribution has no docs")
@pytest.mark.parametrize("page", ["text.md", "preferences.md"])
def test_the_first_example_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = (DOCS / page).read_text(encoding="utf-8")
    program, commands = re.findall(r"```(?:python|sh)\n(.*?)```", text, re.DOTALL)[:2]
    exec(compile(program, page, "exec"), {})
    for line in commands.splitlines():
        if line.startswith("dataworth"):
            done = CliRunner().invoke(app, line.split()[1:])
            assert done.exit_code == 0, done.stderr
    assert re.search(r"informative|recycled|improved", done.stdout)
