"""Dataset pairs of known mutual information, and the estimators that need no network."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commands import call, refused
from dataworth.data.dataset import Dataset
from dataworth.evidence.pair import pmi
from dataworth.models import Logistic
from dataworth.parallel import Local
from dataworth_studies.estimators.centred import CentredPMI
from dataworth_studies.estimators.monte_carlo import MonteCarlo
from dataworth_studies.estimators.paper_loop import PaperLoop
from dataworth_studies.estimators.pmi import MeanPMI
from dataworth_studies.known_mi import Randomness, make_pairs, same_side
from dataworth_studies.mi import Plan, run_plan
from dataworth_studies.pools import ImagePool
from golden.sentences import all_recorded
from worlds import refusal


def table_information(p):
    """I of a 2×2 table in bits, by its definition."""
    rows, columns = p.sum(axis=1, keepdims=True), p.sum(axis=0, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(np.nansum(p * np.log2(p / (rows @ columns))))


@pytest.fixture(scope="module")
def pool():
    rng = np.random.default_rng(0)
    y = np.repeat([0.0, 1.0], 150)
    return rng.normal(size=(300, 3)) + y[:, None], y


@settings(deadline=None)
@given(st.floats(0.0, 1.0))
def test_the_table_has_the_information_asked_for(bits):
    rho = same_side(bits) / 2
    assert rho >= 0.25  # the other branch reverses the ranking
    p = np.array([[rho, 0.5 - rho], [0.5 - rho, rho]])
    assert table_information(p) == pytest.approx(bits, abs=1e-9)


@pytest.mark.parametrize("bits", [0.0, 0.3, 1.0])
def test_the_rates_that_are_drawn_have_it_too(pool, bits):
    """Plug-in estimate from 20,000 pairs: its bias is 1/(2k ln 2), its error at most 0.01 (5 s.e.)."""
    chance = Randomness.draw(np.random.default_rng(1), 20_000, 4)
    pairs = make_pairs(*pool, bits, chance)
    low_data, low_test = pairs.rate_data < 0.5, pairs.rate_test < 0.5
    p = np.array([[np.mean((low_data == a) & (low_test == b)) for b in (True, False)] for a in (True, False)])
    assert table_information(p) == pytest.approx(bits, abs=0.012)
    assert set(np.unique(pairs.rate_data)) == {0.1, 0.2, 0.3, 0.4, 0.6, 0.7, 0.8, 0.9}


def test_mean_pmi_is_the_mean_of_pmi(pool):
    X, y = pool
    pairs = make_pairs(X, y, 0.5, Randomness.draw(np.random.default_rng(4), 6, 20))
    model = Logistic(2.0, intercept=False)
    for form in ("evidence", "eta", "product"):
        expected = [
            pmi(Dataset(X[d], y[d].astype(int)), Dataset(X[t], y[t].astype(int)), model, form).value
            for d, t in zip(pairs.data, pairs.test, strict=True)
        ]
        found = MeanPMI(model, form)(pairs, 0)
        assert found.value == pytest.approx(np.mean(expected), abs=1e-6)
        assert found.stderr == pytest.approx(np.std(expected, ddof=1) / np.sqrt(6), abs=1e-6)


def test_the_papers_loop_and_monte_carlo_agree_where_they_can(pool):
    """Four rows under a narrow prior: 2,000 draws say log p(T|D) to 0.02, and Laplace is as near."""
    pairs = make_pairs(*pool, 0.5, Randomness.draw(np.random.default_rng(5), 10, 30))
    ours = MeanPMI(Logistic(0.1, intercept=False), "eta").values(pairs)
    assert PaperLoop(0.1).values(pairs) == pytest.approx(ours, abs=0.01)
    pairs = make_pairs(*pool, 0.5, Randomness.draw(np.random.default_rng(6), 200, 4))
    model = Logistic(0.1, intercept=False)
    exact, found = MeanPMI(model).values(pairs), MonteCarlo(model).values(pairs, np.random.default_rng(0))
    assert abs((found - exact).mean()) < 0.01
    assert np.abs(found - exact).max() < 0.15


def test_centred_pmi_is_zero_for_independent_pairs_and_above_for_others(pool):
    """At λ = 0 within 4 s.e. (false alarm 1e-4); at 1 bit far above."""
    estimator = CentredPMI(Logistic(1.0, intercept=False))
    nothing, all_of_it = (
        estimator(make_pairs(*pool, bits, Randomness.draw(np.random.default_rng(7), 300, 20)), 0)
        for bits in (0.0, 1.0)
    )
    assert abs(nothing.value) < 4 * nothing.stderr
    assert all_of_it.value > 5 * all_of_it.stderr
    assert nothing.details["variance_ratio"] > 1


def small_plan(pool, **changes):
    settings = {"estimator": "evidence", "prior": 1.0, "size": 20, "pairs": 40, "trials": 1} | changes
    return Plan(ImagePool("small", *pool, (1.0,)), **settings)


def test_a_study_goes_on_where_it_stopped(pool, tmp_path):
    plan = small_plan(pool, trials=2)
    whole = run_plan(plan, Local(1))
    run_plan(small_plan(pool), Local(1), tmp_path / "run")
    done = []
    resumed = run_plan(plan, Local(1), tmp_path / "run", lambda count, total: done.append(count))
    assert done[0] == 11  # the first trial was kept
    assert np.array_equal(whole.values, resumed.values)
    assert whole.wall_seconds > 0
    assert resumed.wall_seconds is None
    assert "another configuration" in refusal(run_plan, small_plan(pool, seed=1), Local(1), tmp_path / "run")


FEW = ("--size", 10, "--pairs", 12, "--prior-variances", "1", "-j", 1, "-q")


def study(*words):
    code, out, err = call("study", *words)
    assert code == 0, err
    return out


def test_the_commands_keep_results_and_find_the_slope(tmp_path):
    for estimators in ("evidence", "centred"):
        study("mi", "--estimators", estimators, *FEW, "--trials", 2, "--out", tmp_path)
    table = (tmp_path / "mi.md").read_text()
    assert "evidence" in table
    assert "centred" in table
    kept = json.loads((tmp_path / "digits20-10-independent-evidence-1.json").read_text())
    assert (kept["trials"], kept["spearman_mean"]) == (2, pytest.approx(np.mean(kept["spearman"])))
    assert (tmp_path / "digits-10-ranks.svg").read_text().startswith("<?xml")
    about = json.loads((tmp_path / "digits20-10-independent-evidence-1.about.json").read_text())
    assert {"command", "seed", "versions"} == set(about)
    fewer = call("study", "mi", "--estimators", "evidence", *FEW, "--trials", 1, "--out", tmp_path)
    assert "has 2 trials" in refused(fewer)
    study("mi-error", "--axes", "3", "--size", 6, "--pairs", 1000, "-j", 1, "-q", "--out", tmp_path)
    (kept,) = json.loads((tmp_path / "digits-error.json").read_text())["curves"]
    assert (tmp_path / "digits-error.svg").exists()
    assert -0.8 < kept["slope"] < -0.2  # from 1,000 pairs, so roughly
    # both studies may keep their results in one directory
    study("mi", "--size", 6, "--pairs", 10, "--trials", 1, "-j", 1, "-q", "--out", tmp_path)


BAD = [
    "mi --pool imagenet", "mi --size 5000", "mi --estimators guess", "mi --quick --pool cifar",
    "mi-error --axes many", "mi --quick --size 1", "mi --prior-variances wide", "mi --levels 2",
    "mi --design paired",
]  # fmt: skip


def test_sentences():
    all_recorded("mi", [refused(call("study", *words.split(), "-q")) for words in BAD])
