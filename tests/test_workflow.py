"""What stands in other people's workflows runs as written: the action, the hook, MLflow and DVC."""

import re
import shlex
import sys
from pathlib import Path

import pytest

from commands import call
from golden import texts
from worlds import classes, flipped

yaml = pytest.importorskip("yaml", reason="PyYAML is in the extra all")
from golden import comment  # noqa: E402
from golden.comment import run, table  # noqa: E402

ROOT = Path(__file__).parents[1]
QUICK = "--ignore all --prior-variance 1"


def within(command):
    """A command of ours in this process: its exit code, and what it prints."""
    name, *words = shlex.split(command)
    assert name == "dataworth"
    return call(*words)[:2]


@pytest.fixture
def folder(tmp_path):
    """Clean data; the pull request makes them worse. Nothing slow is asked of them."""
    data = classes(60, seed=1)
    (tmp_path / "raw.csv").write_text(table(data))
    (tmp_path / "worse.csv").write_text(table(flipped(data, 0.5, seed=1)[0].take(range(40))))
    (tmp_path / "test.csv").write_text(table(classes(120, seed=2)))
    return tmp_path


def test_the_action_on_a_pull_request(tmp_path):
    """A path misspelt, a file new, one truncated, labels flipped, one as it was: the comment is recorded."""
    base = comment.pull_request(tmp_path)
    ran, told = comment.acted(tmp_path, base)
    assert (ran.returncode, told["outcome"]) == (2, "error"), ran.stderr
    states = dict(re.findall(r"^(\w+) +(PASSED|FAILED|ERROR)", ran.stdout, re.MULTILINE))
    failed = {"misspelt": "ERROR", "truncated": "FAILED", "flipped": "FAILED"}
    assert states == {**failed, "added": "PASSED", "same": "PASSED"}
    made = comment.masked((Path(told["report"]) / "comment.md").read_text(), base)
    assert texts.same(comment.COMMENT.read_text(), made), f"python tests/golden/comment.py --write\n{made}"
    assert (
        '<testsuite name="dataworth" tests="5" failures="2" errors="1"'
        in (Path(told["report"]) / "junit.xml").read_text()
    )
    page = (Path(told["report"]) / "reports/flipped-audit.html").read_text()
    assert "1 → 0" in page  # rows of the data
    # once the path is right and the bad changes are taken back, nothing is measured but what is new
    suite = tmp_path / "dataworth.toml"
    suite.write_text(suite.read_text().replace("trian", "train"))
    assert comment.run("git", "checkout", "-q", base, "--", "data", cwd=tmp_path).returncode == 0
    for how in ("2 measured", "2 cached"):  # what is new, and what has a min_rows
        ran, told = comment.acted(tmp_path, base, ROWS="false")
        assert (ran.returncode, told["outcome"]) == (0, "passed"), ran.stdout
        assert f"({how}, 3 unchanged)" in ran.stdout


@pytest.mark.parametrize(
    ("install", "told"),
    [("", f"-c {ROOT}/constraints.txt {ROOT}"), ("dist/our own.whl", "dist/our own.whl"), ("none", None)],
)
def test_the_action_installs_the_repository_that_it_stands_in_or_what_it_is_told(tmp_path, install, told):
    (step,) = [
        one
        for one in yaml.safe_load((ROOT / "action.yml").read_text())["runs"]["steps"]
        if "INSTALL" in one.get("env", {})
    ]
    assert step["if"] == "inputs.install != 'none'"
    python = tmp_path / "bin/python3"
    python.parent.mkdir()
    python.write_text('#!/bin/sh\necho "$@"\n')
    python.chmod(0o755)
    if told is not None:
        own = {"INSTALL": install, "GITHUB_ACTION_PATH": str(ROOT)}
        ran = run("bash", "-euc", step["run"], cwd=tmp_path, **own)
        assert ran.stdout == f"-m pip install --quiet {told}\n"


def test_the_action_without_a_suite_fails(tmp_path):
    ran, told = comment.acted(tmp_path, "0" * 40)
    assert (ran.returncode, told) == (2, {})
    assert "there is no suite here: 'dataworth init' writes one" in ran.stderr


def test_no_input_of_the_action_is_part_of_a_script():
    for step in yaml.safe_load((ROOT / "action.yml").read_text())["runs"]["steps"]:
        assert "${{" not in step.get("run", "")


def test_the_hook_and_the_stage_of_dvc_are_commands_that_exist(folder, monkeypatch):
    monkeypatch.chdir(folder)
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    same = '[audit.a]\ndata = "raw.csv"\nbefore = "raw.csv"\ntest = "test.csv"\n'
    (folder / "dataworth.toml").write_text(same)
    code, told = within(hook["entry"])
    assert code == 0
    assert told.startswith("a  PASSED  unchanged: the same as raw.csv\n1 passed in ")
    monkeypatch.chdir(folder)
    (folder / "curated.csv").write_text((folder / "raw.csv").read_text())
    stage = yaml.safe_load((ROOT / "examples/dvc/dvc.yaml").read_text())["stages"]["audit"]
    assert within(f"{stage['cmd']} {QUICK}")[0] == 0
    assert all((folder / name).exists() for name in (*stage["outs"], *stage["metrics"][0], *stage["deps"]))


def test_the_example_of_mlflow_logs_an_audit(tmp_path):
    """To a folder, which MLflow must be told to allow; elsewhere to wherever MLFLOW_TRACKING_URI says."""
    pytest.importorskip("mlflow", reason="mlflow is an extra")
    where = {"MLFLOW_TRACKING_URI": (tmp_path / "runs").as_uri(), "MLFLOW_ALLOW_FILE_STORE": "true"}
    ran = run(sys.executable, str(ROOT / "examples/mlflow_audit.py"), cwd=tmp_path, **where)
    assert ran.returncode == 0, ran.stderr
    (found,) = (tmp_path / "runs").glob(f"*/{ran.stdout.split()[-1]}")
    assert (found / "tags/dataworth.verdict").read_text() in ("informative", "improved", "recycled")
    assert float((found / "metrics/dataworth_delta_lower").read_text().split()[1]) > 0
    assert {one.name for one in (found / "artifacts").iterdir()} == {"audit.html", "audit.json"}
