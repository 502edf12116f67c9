"""Prior sensitivity, and parts of measured results: against direct measurement, by hand, through commands."""

from dataclasses import replace

import numpy as np
import pytest

import dataworth as dw
from dataworth.data.order import canonical
from dataworth.evidence.interpretation import SHOWN
from dataworth.measure.designs import DATA
from dataworth.measure.intervals import Estimate
from dataworth.measure.parts import columns
from dataworth.valuation.sensitivity import AtPrior, Sensitivity, sensitivity
from dataworth.yardstick.predictive import half_given_half
from dataworth.yardstick.search import searched
from golden.sentences import all_refused
from worlds import classes, flipped, held_out, yardstick

NOISY, BAD = flipped(classes(150, 1), 0.2, 1)
CLEAN = NOISY.take(~BAD)


@pytest.fixture(scope="module")
def score():
    return dw.score(NOISY, held_out(), yardstick=yardstick(), ignore="all", keep_data=True)


@pytest.fixture(scope="module")
def audit():
    return dw.audit(NOISY, CLEAN, held_out(), yardstick=yardstick(), ignore="all", keep_data=True)


@pytest.fixture(scope="module")
def over_priors(audit):
    return sensitivity(audit, priors=[0.01, 1000.0])


def test_parts_of_a_score_are_those_of_whole_blocks(score):
    """U(D, T_j) of blocks by dw.pmi on the yardstick's features: data and blocks cut by hand."""
    case, large = score.case, ("confidence", "against_test", "information_data")
    model, times = case.yardstick.model, case.table.tempering[DATA]
    found = columns(case, (DATA,))[DATA]
    for i in (0, 7):
        draw = case.design.draw(i)
        D, T = (dw.Dataset(case.pool.X[s.rows], case.pool.y[s.rows]) for s in (draw.arms[DATA], draw.test))
        given = model.fit(D.X, D.y, np.full(len(D), times)).as_prior()
        value = model.fit(T.X, T.y, prior=given).log_evidence - model.fit(T.X, T.y).log_evidence
        assert found["value"][i] == pytest.approx(value, abs=2e-5)  # EP ends where sites stand still
        assert found["unexplained"][i] == pytest.approx(0.0, abs=1e-9)
        parts = dw.pmi(D.with_weights(np.full(len(D), times)), T, model).parts
        for name in set(SHOWN) - {"unexplained"}:
            # the data's posterior is the prior of a block here, both are fitted at once there
            near = {"rel": 2e-4} if name in large else {"abs": 1e-4}
            assert found[name][i] == pytest.approx(getattr(parts, name), **near), name
    for name in SHOWN:
        assert getattr(score.parts, name).value == pytest.approx(found[name].mean())
    assert score.parts.value.interval[0] < score.parts.value.value < score.parts.value.interval[1]
    assert score.parts.pairs == score.parts.all_pairs == 20


def test_parts_of_an_audit_add_up_to_their_change(audit):
    """Of the PMI of whole blocks, from the prior; the change of the score is that of rows one by one."""
    parts = audit.parts
    before, after = columns(audit.case, audit.case.arms).values()
    change = after["value"] - before["value"]
    assert parts.change.value.value == pytest.approx(change.mean())
    assert parts.change.value.stderr == pytest.approx(change.std(ddof=1) / np.sqrt(len(change)))
    for one in parts:
        total = one.confidence.value - one.against_data.value - one.against_test.value
        assert total == pytest.approx(one.value.value)
    for name in set(SHOWN) - {"unexplained"}:
        gap = getattr(parts.after, name).value - getattr(parts.before, name).value
        assert getattr(parts.change, name).value == pytest.approx(gap)
    # wrong labels contradict the test set: without them the test set's rows say more of what both show
    assert parts.change.information_test.positive


def test_fewer_pairs_where_all_would_take_long(monkeypatch):
    monkeypatch.setattr("dataworth.measure.parts.WORK", 1.0)
    drawn = {"pairs": 20, "size": 12, "ignore": "all", "keep_data": True}
    s = dw.score(NOISY, held_out(), yardstick=yardstick(), **drawn)
    assert (s.parts.pairs, s.parts.all_pairs) == (4, 20)
    assert s.parts.value.value == pytest.approx(s.table.pmi[:4, 0].mean())


def test_every_point_is_a_measurement_of_its_own(audit, over_priors):
    """The same audit with a yardstick that has that prior from the start."""
    chosen = yardstick().model.prior_variance
    assert [point.prior_variance for point in over_priors.points] == sorted({0.01, chosen, 1000.0})
    for point in over_priors.points:
        yard = replace(yardstick(), model=replace(yardstick().model, prior_variance=point.prior_variance))
        alone = dw.audit(NOISY, CLEAN, held_out(), yardstick=yard, ignore="all")
        assert point.value.value == pytest.approx(alone.delta, abs=1e-6)
        assert point.value.interval == pytest.approx(alone.interval, abs=1e-6)
        # baselines are those of the audit, whose learners know its own prior
        ups = ("informative", "improved", "recycled")
        assert point.conclusion == alone.verdict or {point.conclusion, alone.verdict} <= set(ups)
    assert over_priors.at(chosen).value.value == pytest.approx(audit.delta, abs=1e-6)


def test_held_out_is_half_given_half_and_two_nats_are_plausible(over_priors, score):
    """A tenth below the chosen C, off every grid, is; a thousandth of it is not."""
    yard, T = yardstick(), canonical(held_out())
    sample, splits = searched(T, yard.seed, yard.kind)
    expected = half_given_half(
        yard.model, yard.tempering, yard.features(sample), yard.targets(sample), splits
    )
    assert over_priors.at(over_priors.chosen).held_out == pytest.approx(expected, abs=1e-6)
    assert over_priors.at(over_priors.chosen).plausible
    chosen = yardstick().model.prior_variance
    found = sensitivity(score, priors=[1e-3 * chosen, chosen / 10**0.5, chosen / 1.1])
    near = [point.held_out >= found.at(chosen).held_out - 1.92 for point in found.points]
    assert [point.plausible for point in found.points] == near
    assert [near[0], near[2]] == [False, True]


def test_sentences(score):
    cases = [lambda p=p: sensitivity(score, priors=p) for p in ([], [0.0], [-1.0], [np.nan], ["1"])]
    all_refused("sensitivity", [(sensitivity, 3), *cases])


def at(prior, value, conclusion, held_out=0.0, plausible=True):
    value = Estimate(value, 0.1, (value - 0.2, value + 0.2))
    return AtPrior(prior, value, conclusion, held_out, plausible)


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        (at(3.0, 1.1, "informative"), (True, True, True)), (at(3.0, 1.3, "informative"), (True, True, False)),
        (at(3.0, 1.1, "improved"), (True, False, True)), (at(3.0, -0.1, "harmful"), (False, False, False)),
        (at(3.0, -0.1, "harmful", plausible=False), (True, True, True)),
    ],
)  # fmt: skip
def test_sign_conclusion_and_size_are_robust_each_by_itself(other, expected):
    found = Sensitivity("audit", (at(1.0, 1.0, "informative"), other), 1.0)
    assert (tuple(found.robust.values()), "not the" in found.summary) == (expected, not all(expected))
