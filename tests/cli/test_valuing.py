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


def test_json_and_pictures(page, monkeypatch, tmp_path):
    monkeypatch.chdir(page[0])
    figure = tmp_path / "v.svg"
    done = run(
        "values",
        "a.csv",
        "--test",
        "test.csv",
        *FIXED,
        "--json",
        "--plot",
        str(figure),
        "-o",
        f"{tmp_path}/v.csv",
    )
    told = json.loads(done.stdout)
    assert told["schema"] == "dataworth/values/1"
    assert len(told["rows"]["p_wrong"]) == 80
    assert figure.stat().st_size > 1000
    assert (tmp_path / "v.csv.about.json").exists()
    for command, schema in (("split", "dataworth/split/1"), ("outlook", "dataworth/outlook/1")):
        files = ["a.csv", "b.csv"] if command == "split" else ["a.csv"]
        extra = ["--plot", str(tmp_path / f"{command}.png"), "--csv", str(tmp_path / f"{command}.csv")]
        done = run(command, *files, "--test", "test.csv", *FIXED, "--json", *extra)
        assert json.loads(done.stdout)["schema"] == schema
        assert len((tmp_path / f"{command}.csv").read_text().splitlines()) > 2


def test_sources_are_named_by_source_and_by_its_older_name(page, monkeypatch):
    """In values --group is another name of --source."""
    monkeypatch.chdir(page[0])
    told = [
        json.loads(run("values", "data.csv", "--test", "test.csv", name, "vendor", *FIXED, "--json").stdout)
        for name in ("--source", "--group")
    ]
    assert told[0] == told[1]
    assert sorted(one["name"] for one in told[0]["groups"]) == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["values", "a.csv", "--test", "test.csv", "--source", "who"], "there is no group column 'who'"),
        (["values", "a.csv", "--test", "test.csv", "-o", "v.txt"], "v.txt: values are written as .parquet"),
        (["values", "a.csv", "--test", "test.csv", "--kind", "all"], "kind is 'all'; known kinds"),
        (["values", "a.safetensors", "--test", "test.csv"], "a.safetensors is sealed, but values needs rows"),
        (["split", "a.csv", "--test", "test.csv"], "split takes a dict of names and Datasets, with two"),
        (["outlook", "a.csv", "--test", "test.csv", "--rows", "0"], "rows is 0; it must be a whole number"),
    ],
)
def test_bad_input_has_its_sentence(page, monkeypatch, words, sentence):
    monkeypatch.chdir(page[0])
    done = run(*words, "--prior-variance", "5")
    assert done.exit_code == 2
    assert sentence in done.stderr


def test_rows_of_a_sample_have_no_number_to_be_told_by(page):
    folder, _ = page
    done = run("values", str(folder / "data.csv"), "--test", str(folder / "test.csv"), "--sample", "20")
    assert done.exit_code == 2
    assert "rows of a sample do not have: leave --sample out" in " ".join(done.stderr.split())
