"""The convergence study: the world in which everything is known, and the rate."""

import json

import numpy as np
import pytest

from commands import call
from dataworth_studies import convergence
from dataworth_studies.convergence import LinearWorld, library_values


@pytest.fixture(scope="module")
def world():
    return LinearWorld(3, 6)


def test_fitted_and_drawn_pairs_have_the_mean_and_spread_that_are_known(world):
    """Means within 4 s.e. and variances within 4 s.e. (fourth moments): false alarm about 2 in 10,000."""
    fitted = np.array(library_values(world, ([1], 1500)))
    for values in (fitted, world.draw(np.random.default_rng(2), 20_000)):
        n, away = len(values), values - world.information
        assert abs(away.mean()) < 4 * world.spread / np.sqrt(n)
        assert abs((away**2).mean() - world.spread**2) < 4 * (away**2).std() / np.sqrt(n)


SMALL = {"DIMENSIONS": (2,), "REPETITIONS": {2: 5, 4: 5}, "LOGISTIC": {2: 5, 4: 5}}
SMALL |= {"MANY": 5, "LOGISTIC_TRUTH": 30, "DRAWN": 2000, "PLANNED": 10}


def test_the_command_keeps_what_it_found(tmp_path, monkeypatch):
    for name, value in SMALL.items():
        monkeypatch.setattr(convergence, name, value)
    code, out, err = call("study", "convergence", "--out", tmp_path, "-j", 1, "-q")
    assert code == 0, err
    for title in ("1. Linear", "2. The constant", "3. Bias", "4. The planner", "5. Logistic"):
        assert title in out
    kept = json.loads((tmp_path / "convergence.json").read_text())
    assert set(kept) == {"about", "linear", "spread", "clipping", "planner", "logistic"}
    assert kept["linear"][0]["library_pairs"] == 30
    assert (tmp_path / "convergence.svg").read_text().startswith("<?xml")
