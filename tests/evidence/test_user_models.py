"""Models in user code that take no weights, ignore them or count threads; every public call on one thread."""

from pydoc import locate as import_string

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

import dataworth as dw
from user_models import Coin, Ignoring
from worlds import classes, refusal

D, T = classes(60, seed=1), classes(80, seed=2)


class Unweighted(Coin):
    def fit(self, X, y):
        return super().fit(X, y)


class Refusing(Coin):
    def fit(self, X, y, weights=None):
        if weights is not None:
            raise NotImplementedError
        return super().fit(X, y)


class ByKeyword(Coin):
    def fit(self, X, y, *, weights=None):
        return super().fit(X, y, weights)


WITHOUT = [Unweighted(), Ignoring(), Refusing()]


@pytest.mark.parametrize("model", [*WITHOUT, ByKeyword()], ids=lambda m: type(m).__name__)
def test_weights_of_one_are_no_weights_and_whole_ones_repeat_rows(model):
    assert dw.pmi(D, T, model).value == dw.pmi(D, T, Coin()).value
    ones, twice = (dw.Dataset(D.X, D.y, weights=np.full(len(D), w)) for w in (1.0, 2.0))
    assert dw.pmi(ones, T, model).value == pytest.approx(dw.pmi(D, T, Coin()).value)
    assert dw.pmi(twice, T, model).value == pytest.approx(dw.pmi(twice, T, Coin()).value)


@pytest.mark.parametrize("model", WITHOUT, ids=lambda m: type(m).__name__)
def test_fractional_weights_of_a_model_without_weights_are_refused(model):
    half = dw.Dataset(D.X, D.y, weights=np.full(len(D), 0.5))
    assert "weights" in refusal(dw.pmi, half, T, model)
    assert dw.pmi(half, T, ByKeyword()).value == dw.pmi(half, T, Coin()).value


@pytest.mark.parametrize("model", WITHOUT, ids=lambda m: type(m).__name__)
def test_a_score_by_a_model_without_weights_is_not_tempered(model):
    score = dw.score(D, T, model=model, keep_data=True)
    y, plan = score.case.pool.y, score.case.plan
    blocks = [y[plan.design.draw(j).test.rows] for j in range(plan.count)]

    def log_z(labels):
        return Coin().fit(None, labels).log_evidence

    expected = [log_z(np.r_[y[:60], block]) - log_z(y[:60]) - log_z(block) for block in blocks]
    assert score.value == pytest.approx(np.mean(expected))
    assert set(score.table.tempering.values()) == {1.0}
    assert any("tempering" in note for note in score.notes)
    assert dw.audit(D, D.take(range(40)), T, model=model).delta is not None
    assert not any("tempering" in note for note in dw.score(D, T, model=ByKeyword()).notes)


class Watching(Coin):
    """Notes how many threads linear algebra had when it was fitted."""

    def __init__(self):
        self.seen = set()

    def fit(self, X, y, weights=None):
        self.seen |= {pool["num_threads"] for pool in threadpool_info()}
        return Coin().fit(X, y, weights)


COMPUTING = {
    "pmi": lambda model: dw.pmi(D, T, model),
    "check_model": lambda model: dw.check_model(model, repeats=2),
    "score": lambda model: dw.score(D, T, model=model, ignore="all"),
}


@pytest.mark.parametrize("name", COMPUTING)
def test_linear_algebra_has_one_thread_in_every_public_call(name):
    watching = Watching()
    with threadpool_limits(2):
        COMPUTING[name](watching)
    assert watching.seen == {1}


INSIDE = {
    "parts": ("dataworth.evidence.pair.parts_of", lambda: dw.pmi(D, T).parts),
    "referee": ("dataworth.evidence.referee.referee_log_z", lambda: dw.referee(D, T)),
    "Logistic.fit": ("dataworth.models.logistic.largest_square", lambda: dw.Logistic().fit(D.X, D.y)),
    "Linear.fit": ("dataworth.models.linear.fit_gaussian", lambda: dw.Linear().fit(D.X, D.y)),
    "Softmax.fit": ("dataworth.models.softmax.check_classes", lambda: dw.Softmax().fit(D.X, D.y)),
}


@pytest.mark.parametrize("name", INSIDE)
def test_linear_algebra_of_our_models_has_one_thread(name, monkeypatch):
    """Seen from inside a function that each of them calls."""
    where, ask = INSIDE[name]
    seen, function = set(), import_string(where)

    def watched(*args, **settings):
        seen.update(pool["num_threads"] for pool in threadpool_info())
        return function(*args, **settings)

    monkeypatch.setattr(where, watched)
    with threadpool_limits(2):
        ask()
    assert seen == {1}
