"""Commands called as users call them: in this process, or as one of their own."""

import os
import subprocess
import sys
from pathlib import Path

from typer.testing import CliRunner

from dataworth.cli.app import app

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1] / "src"), "PYTHONUNBUFFERED": "1"}
MEASURING = {
    "score": ["clean.csv"], "audit": ["raw.csv", "clean.csv"], "rank": ["raw.csv", "clean.csv"],
    "values": ["clean.csv"], "contributions": ["raw.csv", "half.csv"], "forecast": ["clean.csv"],
    "sensitivity": ["clean.csv"],
}  # fmt: skip
"""Every measuring command with files of `tests/cli/conftest.py`."""
TOOLS = {
    "describe": ["raw.csv"], "yardstick": ["test.csv", "--prior-variance", "1"], "commit": ["raw.csv"],
    "checks": [], "curations": [], "explain": [],
    "seal": ["half.csv", "--yardstick", "y.json", "--force", "-o", "s.safetensors"],
}  # fmt: skip


def call(*words):
    result = CliRunner().invoke(app, list(map(str, words)))
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.stdout, result.stderr


def measured(command, *words):
    return call(command, *words, "--test", "test.csv", "--yardstick", "y.json", "--label", "target")


def on_files(command, *words):
    if command in MEASURING:
        return measured(command, *MEASURING[command], *words)
    return call(command, *TOOLS[command], *words)


def refused(outcome):
    """The one sentence of a refusal."""
    code, out, err = outcome
    assert (code, out) == (2, "")
    assert err.startswith("dataworth: ")
    assert err.count("\n") == 1
    return err


def process(*words, cwd):
    return subprocess.Popen(
        [sys.executable, "-m", "dataworth", *map(str, words)],
        cwd=cwd,
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def run(*words, cwd):
    child = process(*words, cwd=cwd)
    out, err = child.communicate(timeout=120)
    return child.returncode, out, err
