"""What stands in other people's workflows runs as written: the action, the hook, MLflow and DVC."""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from commands import call
from worlds import classes, flipped

yaml = pytest.importorskip("yaml", reason="PyYAML is in the extra all")
ROOT = Path(__file__).parents[1]
QUICK = "--ignore all --prior-variance 1"


def table(data):
    rows = [",".join([*map(repr, map(float, x)), str(y)]) for x, y in zip(data.X, data.y, strict=True)]
    return "\n".join([",".join([*(f"x{j}" for j in range(data.X.shape[1])), "label"]), *rows]) + "\n"


def run(*words, cwd, **environment):
    """A program with this Python's dataworth before all others."""
    script = cwd / "bin" / "dataworth"
    script.parent.mkdir(exist_ok=True)
    script.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m dataworth "$@"\n')
    script.chmod(0o755)
    path = os.pathsep.join([str(script.parent), os.environ["PATH"]])
    own = {**os.environ, "PATH": path, **environment}
    return subprocess.run(words, cwd=cwd, env=own, capture_output=True, text=True, check=False)


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


def test_the_action_audits_a_file_against_the_base_branch(folder):
    """It says the verdict, writes the report for a comment, and fails as it was told to."""
    data = folder / "train data.csv"
    (folder / "raw.csv").rename(data)
    git = (
        "git init -q && git add . && git -c user.name=a -c user.email=a@b commit -qm 1 && git rev-parse HEAD"
    )
    base = run("sh", "-c", git, cwd=folder).stdout.strip()
    data.write_text((folder / "worse.csv").read_text())
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    (step,) = [one for one in action["runs"]["steps"] if one.get("id") == "audit"]
    defaults = {name: one.get("default", "") for name, one in action["inputs"].items()}
    given = dict.fromkeys(step["env"], "") | {"FAIL_ON": defaults["fail-on"], "BASE": base}
    given |= {"DATA": data.name, "TEST": "test.csv", "OPTIONS": f"--label label {QUICK}"}
    given |= {"RUNNER_TEMP": str(folder / "temp"), "GITHUB_OUTPUT": str(folder / "out")}
    ran = run("bash", "-c", step["run"], cwd=folder, GITHUB_ACTION_PATH=str(ROOT), **given)
    assert ran.returncode == 1, ran.stderr
    told = dict(line.split("=", 1) for line in (folder / "out").read_text().splitlines())
    assert told["verdict"] == "harmful"
    report = Path(told["report"])
    assert "Audit: harmful" in (report / "report.md").read_text()
    assert "</html>" in (report / "report.html").read_text()
    command = json.loads((report / "report.json").read_text())["replay"]["command"]
    assert "'train data.csv' --test test.csv --label label" in command


def test_no_input_of_the_action_is_part_of_a_script():
    for step in yaml.safe_load((ROOT / "action.yml").read_text())["runs"]["steps"]:
        assert "${{" not in step["run"]


def test_the_hook_and_the_stage_of_dvc_are_commands_that_exist(folder, monkeypatch):
    monkeypatch.chdir(folder)
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    code, told = within(f"{hook['entry']} raw.csv raw.csv --test test.csv -q {QUICK}")
    assert code == 0
    assert told.startswith("unchanged")
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
