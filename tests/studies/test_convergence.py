"""The convergence study: the world in which everything is known, and the rate."""

import json

import numpy as np
import pytest

from commands import call
from dataworth.parallel import Local
from dataworth_studies import convergence
from dataworth_studies.convergence import LinearWorld, library_values, many_values, rmse_by_k, slope_of


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


def test_values_do_not_depend_on_how_work_is_cut_between_processes(world, monkeypatch):
    monkeypatch.setattr(convergence, "CHUNK", 10)
    one, two = (many_values(world, 1, 25, Local(jobs), None) for jobs in (1, 2))
    assert np.array_equal(one, two)
    assert len(one) == 25


def test_means_of_independent_values_fall_as_the_root_of_the_count():
    """Slope −½ within 4 s.e. on 300,000 normal values: false alarm 6 in 100,000."""
    times = {10: 1000, 100: 1000, 1000: 190}
    values = np.random.default_rng(3).normal(2.0, 1.0, sum(k * r for k, r in times.items()))
    rmse = rmse_by_k(values, times, 2.0)
    slope, error = slope_of(rmse, times)
    assert abs(slope + 0.5) < 4 * error
    assert error < 0.02


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
