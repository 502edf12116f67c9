"""How the tests are shared out."""

import os
import tempfile

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy: workers would fight over the cores

if "DATAWORTH_KEY" not in os.environ:  # runs of tests are not signed with the key of whoever runs them
    os.environ["DATAWORTH_KEY"] = os.path.join(tempfile.mkdtemp(), "key")

import pytest


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """A file's tests to one worker: else each worker makes the fixtures of the file again."""
    from xdist.scheduler import LoadScopeScheduling

    return LoadScopeScheduling(config, log)


@pytest.fixture(autouse=True)
def _empty_cache(monkeypatch, tmp_path_factory):
    """No test sees what the user, or another test, has kept."""
    place = tmp_path_factory.getbasetemp() / f"cache-{os.urandom(6).hex()}"  # made if something is kept
    monkeypatch.setenv("DATAWORTH_CACHE", str(place))
