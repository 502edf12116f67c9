"""The loop: no score above what labels allow, where the work runs, how many pairs parts may take."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dataworth as dw
from dataworth.measure import case as cases
from dataworth.measure import parts, tempered
from dataworth.measure.designs import AFTER, BEFORE, DATA, Sample, Whole
from dataworth.measure.evaluate import Scores
from dataworth.measure.options import Options
from dataworth.measure.table import COLUMNS, PairTable
from dataworth.measure.tempered import Predictions, Task, score_arm
from dataworth.yardstick.recipe import Recipe
from worlds import classes

TEST = classes(48, 3)
YARD = dw.Yardstick.fit(TEST, prior_variance=1.0)


def far_out(seed, far, share=0.5):
    """Twelve rows, about half of them `far` times as far out as they should be."""
    rng, data = np.random.default_rng(seed), classes(12, seed)
    X = data.X.copy()
    X[rng.random(12) < share] *= far
    return dw.Dataset(X, data.y)


@given(seed=st.integers(0, 10**6), digits=st.integers(0, 6), share=st.floats(0, 1))
@settings(max_examples=25, deadline=None, derandomize=True)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_no_score_of_class_labels_exceeds_what_the_test_labels_hold(seed, digits, share):
    """p(T|D) ≤ 1, so that no value exceeds −log p of proportions, however far out rows are."""
    table = dw.score(far_out(seed, 10.0**digits, share), TEST, yardstick=YARD, ignore="all").table
    assert (table.pmi[:, 0] <= -table.reference).all()


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_pairs_that_were_impossible_are_told():
    """Unbounded, blocks say more than can be known, some by over 2 nats: such are counted."""
    by_laplace = replace(YARD.model, inference="laplace")
    plain = replace(YARD, recipe=Recipe.plain(YARD.recipe.columns), model=by_laplace)
    found = dw.score(far_out(2, 1e6), TEST, yardstick=plain, ignore="all", keep_data=True)
    case = replace(found.case, table=replace(found.table, tempering={}))  # rows that count once
    raw, bounded = (case.again(visit=Scores(bounded=only)) for only in (False, True))
    beyond = raw.pmi[:, 0] + raw.log_z_test
    assert (beyond > 2.0).sum() >= 2
    assert (bounded.unsettled - raw.unsettled)[:, 0].tolist() == (beyond > 2.0).astype(float).tolist()
    assert bounded.pmi[:, 0] == pytest.approx(np.minimum(raw.pmi[:, 0], -raw.log_z_test))


@pytest.mark.parametrize(("excess", "counted"), [(-0.5, 0), (1.9, 0), (2.1, 1)])
def test_the_same_of_arms_that_are_tempered(monkeypatch, excess, counted):
    """Log p(T|D) of blocks at most 0, and two nats beyond it a failed solver."""
    data, said = classes(12, 1), np.array([excess, -3.0])
    fitter = dw.Logistic(1.0).bind(data.X, data.y)
    design = Whole({DATA: Sample(np.arange(6))}, Sample(np.arange(6, 12)), 2, seed=0)
    monkeypatch.setattr(Predictions, "scores", lambda *args: said)
    monkeypatch.setattr(tempered, "predicts_rows", lambda fitter: False)
    for bounded in (True, False):
        pool = SimpleNamespace(fitter=fitter, tempering=1.0, ids=None)
        task = Task.of(design, pool, 2, bounded=bounded, given={})
        found, alone = score_arm(task, DATA)["blocks"], [fit.log_z for fit in task.fits]
        expected = min(excess, 0.0) if bounded else excess
        assert found[0][0] == pytest.approx(expected - alone[0])
        assert [block[-1] for block in found] == [counted if bounded else 0, 0]


@pytest.mark.parametrize(
    ("seconds", "asked", "jobs"), [(7.9, None, 1), (8.1, None, -1), (8.1, 1, 1), (0.1, 2, 2)]
)
def test_processes_are_started_for_more_than_eight_seconds_of_work(monkeypatch, seconds, asked, jobs):
    """What a start costs is paid back from there; a number that is asked for is taken as it is."""
    started = []

    def get_engine(name, asked, address, enough):
        started.append(enough if asked is None else asked)

    monkeypatch.setattr(cases, "get_engine", get_engine)
    work = cases.Work(None, None, Options(jobs=asked), bounded=True)
    work.carry_out(lambda run: seconds, lambda **settings: None, dict)
    assert started == [jobs]


def affordable(pairs, rows, features, fitter):
    """Pairs whose parts are looked at, of tables with so many rows a pair and features."""
    values = np.zeros((pairs, 2, len(COLUMNS)))
    values[:, :, COLUMNS.index("data_rows")] = rows - 10.0
    table = PairTable(
        arms=(BEFORE, AFTER), values=values, log_z_test=np.zeros(pairs), test_rows=np.full(pairs, 10.0)
    )
    pool = SimpleNamespace(X=np.zeros((1, features)), fitter=fitter)
    return parts.affordable(SimpleNamespace(table=table, pool=pool), (BEFORE, AFTER))


def test_parts_take_two_thousand_million_multiplications_at_most_but_four_pairs():
    """Gaussian posteriors: rows · (features + 1)² for each arm of a pair."""
    gaussian = dw.Logistic().bind(np.zeros((2, 1)), np.array([0.0, 1.0]))
    assert affordable(500, 1000, 99, gaussian) == 2e9 // (2 * 1000 * 100**2) == 100
    assert affordable(50, 1000, 99, gaussian) == 50  # no more than there are
    assert affordable(500, 10**6, 99, gaussian) == 4
    # of a posterior that is drawn from: rows · (features + 1) · 8 · 400 draws
    assert affordable(500, 1000, 99, None) == 4
    assert affordable(500, 200, 9, None) == 2e9 // (2 * 200 * 10 * 8 * 400) == 156
    # the loop itself is worth four million a pair and arm
    assert affordable(500, 10, 2, gaussian) == 2e9 // (2 * 4e6) == 250
