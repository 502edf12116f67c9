"""`import dataworth` is cheap, and the names on its surface are what they should be."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import dataworth as dw

HEAVY = ("numpy", "scipy", "sklearn", "joblib", "pyarrow", "narwhals", "matplotlib", "typer", "rich")


def in_fresh_process(code):
    """What the code prints, as JSON, in an interpreter that has imported nothing yet."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_importing_the_package_imports_nothing_heavy():
    """Python binds every imported folder on the package; a function of that name would be gone."""
    loaded = in_fresh_process("import dataworth, sys, json; print(json.dumps(sorted(sys.modules)))")
    assert "dataworth" in loaded
    assert not {name.partition(".")[0] for name in loaded} & set(HEAVY)
    folders = {path.name for path in Path(dw.__file__).parent.iterdir() if path.suffix in ("", ".py")}
    assert not folders & set(dw.__all__)


@pytest.mark.parametrize("name", dw.__all__)
def test_every_public_name_resolves(name):
    value = getattr(dw, name)
    assert isinstance(value, str) if name == "__version__" else callable(value)


def test_a_function_that_mentions_the_package_travels():
    """Workers get functions by cloudpickle, which takes modules by their exact type."""
    source = (
        "import pickle, dataworth as dw\n"
        "from joblib.externals.loky.cloudpickle_wrapper import dumps\n"
        "f = pickle.loads(dumps(lambda: dw.Logistic(2.0).prior_variance))\n"
        "assert f() == 2.0"
    )
    subprocess.run([sys.executable, "-c", source], check=True)
