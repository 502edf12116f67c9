"""`values`, `split` and `outlook` as commands, and the page that explains them, executed as written."""

import json
import re
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from dataworth.cli.app import app

PAGE = Path(__file__).parents[2] / "docs" / "values.md"
pytestmark = pytest.mark.skipif(not PAGE.exists(), reason="a source distribution has no docs")
FIXED = ["--prior-variance", "5", "-q"]


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    folder = tmp_path_factory.mktemp("page")
    program, *commands = re.findall(
        r"```(?:python|sh)\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        exec(compile(program, "values.md", "exec"), {})
        lines = [line for part in commands for line in part.splitlines() if line.startswith("dataworth")]
        told = {line.split()[1]: CliRunner().invoke(app, line.split()[1:]) for line in lines}
    return folder, told


def run(*words):
    return CliRunner().invoke(app, list(words))


def test_the_page_runs(page):
    folder, told = page
    assert list(told) == ["values", "split", "outlook"]
    assert [done.exit_code for done in told.values()] == [0, 0, 0]
    assert "worse than rows at random: b" in " ".join(told["values"].stdout.split())
    assert "b adds −" in told["split"].stdout
    assert "with 1000 more rows" in told["outlook"].stdout
    for done in told.values():
        assert not re.search(r"\b(remove|drop|delete|discard)", done.stdout)
    table = pq.read_table(folder / "values.parquet")
    assert table.column_names == ["row", "id", "value", "stderr", "log_label", "p_wrong", "harmful"]
    assert len(table) == 240


def test_an_audit_finds_the_file_of_values_beside_the_data(page, monkeypatch):
    folder, _ = page
    monkeypatch.chdir(folder)
    wrong = pq.read_table("values.parquet").column("p_wrong").to_pylist()
    worst = set(sorted(range(240), key=lambda i: -wrong[i])[:12])
    lines = Path("data.csv").read_text().splitlines()
    Path("fewer.csv").write_text("\n".join(line for i, line in enumerate(lines, -1) if i not in worst) + "\n")
    done = run("audit", "data.csv", "fewer.csv", "--test", "test.csv", "--exclude", "vendor", *FIXED)
    assert done.exit_code == 2
    assert "values.parquet puts first by" in done.stderr


def test_sources_are_named_by_source_and_by_its_older_name(page, monkeypatch):
    """In values --group is another name of --source."""
    monkeypatch.chdir(page[0])
    told = [
        json.loads(run("values", "data.csv", "--test", "test.csv", name, "vendor", *FIXED, "--json").stdout)
        for name in ("--source", "--group")
    ]
    assert told[0] == told[1]
    assert sorted(one["name"] for one in told[0]["groups"]) == ["a", "b", "c"]
