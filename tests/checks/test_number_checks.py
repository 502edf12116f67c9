"""Checks that look at the numbers, DW004 to DW009: each fires on its constructed case, silent beside it.

Cases go through the public functions. What a check computes is compared with what it should be: quadrature
for the referee, the search's own number for held-out likelihoods.
"""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy.special import log_expit, logsumexp

import dataworth as dw
from dataworth.checks import CHECKS, prior
from dataworth.checks.numerics import LEFT_BY_SOLVERS, UNSTATED, limit_of, refereed
from dataworth.checks.prior import PLAUSIBLE, STEPS, Halves, at, plausible_range
from dataworth.inference import sites as ep
from dataworth.measure import weights_of
from dataworth.yardstick.search import PRIORS
from worlds import classes, flipped, held_out, numeric_labels, yardstick

CODES = [check.code for check in CHECKS]
MINE = ["DW004", "DW005", "DW006", "DW007", "DW008", "DW009"]


def finding(measure, code, *args, **options):
    result = measure(*args, ignore=[c for c in CODES if c != code], **options)
    assert [f.code for f in result.checks] == [code]
    return result.checks[0]


DRAWN = {"size": (60, 20), "pairs": 100}
"""Pairs of 60 rows and 20 to test on: of `many`, a hundred disjoint ones."""


@cache
def many():
    return classes(6000, 2, d=10), classes(2000, 3, d=10)


def test_limits_are_half_the_interval_or_what_is_stated():
    """Without one, of pairs too large; of a change that is none."""
    data, asked = classes(80, 1), {"yardstick": yardstick(), "ignore": "all", "keep_data": True}
    told = dw.score(data, held_out(), **asked)
    assert limit_of(told.case) == pytest.approx((told.interval[1] - told.interval[0]) / 2)
    assert limit_of(dw.score(data, held_out(), pairs=3, size=60, **asked).case) == UNSTATED
    assert limit_of(dw.audit(data, data, held_out(), **asked).case) == LEFT_BY_SOLVERS


def test_forms_fire_where_two_rows_under_a_wide_prior_are_all_but_gaussian():
    for variance, rows, fires in ((1e4, 2, True), (1.0, 40, False)):
        options = {"prior_variance": variance, "inference": "ep", "size": rows, "pairs": 100}
        found = finding(dw.score, "DW004", classes(200, 11), classes(1000, 5), **options)
        assert found.failed is fires
        assert "joint evidence" in found.detail

    # Laplace is 2 nats off here (the referee says so below), which is DW005's; EP's forms agree
    found = finding(dw.score, "DW004", *many(), prior_variance=1e3, inference="laplace", **DRAWN)
    assert found.failed is False
    assert abs(found.value) < 0.5
    assert "joint evidence (EP)" in found.detail
    for code in ("DW004", "DW006"):  # rows that are predicted one by one have one form and no referee
        found = finding(dw.score, code, classes(60, 6), held_out(), yardstick=yardstick(), slow_checks=True)
        assert found.failed is None
        assert "one by one" in found.detail


@pytest.mark.parametrize("drawn", [{}, {"size": 30, "pairs": 40}])
@pytest.mark.parametrize(("form", "fires"), [("eta", True), ("sealed", False)])
def test_a_form_is_compared_with_the_evidence_of_the_same_blocks(form, fires, drawn):
    """By hand: log Z(D∪T) − log Z(D) − log Z(T) of the first four, data rows counted as the result does."""
    data, test = classes(200, 1, d=6), classes(300, 3, d=6)
    others = [c for c in CODES if c != "DW004"]
    told = dw.score(data, test, form=form, ignore=others, keep_data=True, **drawn)
    case, found = told.case, told.checks[0]
    fitter, shifts = case.pool.fitter, []
    for i in range(4):
        ((arm, sample),), block = case.weighed.draw(i).arms.items(), case.weighed.draw(i).test
        counts = weights_of(sample)
        joint = fitter(np.r_[sample.rows, block.rows], weights=np.r_[counts, np.ones(len(block.rows))])
        evidence = joint.log_z - fitter(sample.rows, weights=counts).log_z - fitter(block.rows).log_z
        shifts.append(evidence - told.table.column("pmi", arm)[i])
    assert found.failed is fires
    assert found.value == pytest.approx(np.mean(shifts), abs=1e-5)


def test_laplace_fires_at_a_wide_prior_and_nothing_does_at_one_that_fits():
    for variance, inference, fires in ((1e5, "laplace", True), (1e5, "ep", False), (1.0, "laplace", False)):
        options = {"prior_variance": variance, "inference": inference, **DRAWN}
        assert finding(dw.score, "DW005", *many(), **options).failed is fires
    # a posterior that is tempered to suit the test set hardly depends on what found it
    data, test = many()
    found = finding(dw.score, "DW005", data.take(range(60)), test, prior_variance=1e5, inference="laplace")
    assert found.failed is False
    assert abs(found.value) / 100 < 0.01  # nats a row; of pairs it is 0.2


def test_the_referee_sides_with_ep_against_laplace():
    """At C = 1000 Laplace is 2 nats too high; EP is within 5 errors and what EP leaves (0.15)."""
    for inference, fires in (("laplace", True), ("ep", False)):
        options = {"prior_variance": 1e3, "inference": inference, "slow_checks": True, **DRAWN}
        found = finding(dw.score, "DW006", *many(), **options)
        assert found.failed is fires
        assert 0 < found.stderr < 0.15
    assert abs(found.value) < 5 * found.stderr + 0.15


def log_z_by_quadrature(fitter, rows, weights):
    """Two coefficients, on ±9 prior deviations."""
    axis = np.linspace(-9.0, 9.0, 241)
    grid = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1).reshape(-1, 2)
    X, y = np.sqrt(fitter.prior_variance) * fitter.X[fitter.ids[rows]], fitter.y[rows]
    total = []
    for z in np.array_split(grid, 8):
        f = z @ X.T
        likelihood = log_expit(f) @ (weights * y) + log_expit(-f) @ (weights * (1 - y))
        total.append(logsumexp(likelihood - 0.5 * (z**2).sum(axis=1)))
    return logsumexp(total) + 2 * np.log(axis[1] - axis[0]) - np.log(2 * np.pi)


@pytest.mark.parametrize("change", [False, True])
@pytest.mark.parametrize("pairs", [None, 5])
def test_what_the_referee_samples_is_the_results_quantity(change, pairs):
    """Against quadrature over two blocks or pairs, with weights, at 5 standard errors: 1 in 1.7 million."""
    data, bad = flipped(classes(60, 1, d=2), 0.2, 1)
    weights = np.random.default_rng(3).uniform(0.5, 2.0, len(data))
    data, test = dw.Dataset(data.X @ [[1.0], [-1.0]], data.y, weights=weights), classes(160, 4, d=2)
    test = dw.Dataset(test.X @ [[1.0], [-1.0]], test.y)
    options = {"ignore": "all", "pairs": pairs, "keep_data": True}
    made = dw.audit(data, data.take(~bad), test, **options) if change else dw.score(data, test, **options)
    case, fitter, truth = made.case, made.case.pool.fitter, []

    def z(*samples):
        rows, weights = [s.rows for s in samples], [weights_of(s) for s in samples]
        return log_z_by_quadrature(fitter, np.concatenate(rows), np.concatenate(weights))

    for i in range(2):
        draw = case.weighed.draw(i)
        values = [z(draw.arms[a], draw.test) - z(draw.arms[a]) - z(draw.test) for a in case.arms]
        truth.append(values[-1] - values[0] if change else values[0])
    value, stderr = refereed(case, fitter, 0.03, 2)
    assert 0 < stderr < 0.06
    assert abs(value - np.mean(truth)) < 5 * stderr


def test_fits_that_do_not_converge_are_counted(monkeypatch):
    yard = dw.Yardstick.fit(held_out(), inference="ep")
    assert finding(dw.score, "DW007", classes(60, 7), held_out(), yardstick=yard, jobs=1).failed is False
    monkeypatch.setattr(ep, "MAX_ITERATIONS", 2)
    with pytest.warns(RuntimeWarning, match="EP did not converge"):
        found = finding(dw.score, "DW007", classes(60, 7), held_out(), yardstick=yard, jobs=1)
    assert (found.failed, found.value) == (True, 20)  # of 20 blocks the data's
    assert "20 of 40" in found.detail


def test_the_edge_of_priors_fires_where_a_wider_one_is_better_unless_it_was_given():
    """One feature says all: the wider the prior the better."""
    X = np.random.default_rng(0).normal(size=(1200, 1))
    data = dw.Dataset(X, (X[:, 0] > 0).astype(int))
    data, test = data.take(range(200)), data.take(range(200, 1200))
    for given in (None, PRIORS[-1]):
        found = finding(dw.score, "DW008", data, test, prior_variance=given)
        assert found.failed is (found.value > PLAUSIBLE) is (given is None)
    for noise, fires in ((0.02, True), (0.5, False), (20.0, False)):  # an edge below, and none above
        data = numeric_labels(600, 3, noise=noise)
        assert finding(dw.score, "DW008", data.take(range(200)), data.take(range(200, 600))).failed is fires


@pytest.mark.parametrize(("rows", "sharpness", "given"), [(200, 1.0, None), (100, 3.0, 0.3)])
def test_the_range_ends_where_the_test_set_says_so(rows, sharpness, given):
    """Or two decades away."""
    test = classes(rows, 3, d=10, sharpness=sharpness)
    case = dw.score(classes(60, 7, d=10), test, prior_variance=given, ignore="all", keep_data=True).case
    parts, ends, chosen = Halves.of(case), plausible_range(case), case.yardstick.model.prior_variance
    least = parts.held_out(case.yardstick.model) - 1.92
    assert ends
    for end in ends:
        steps = round(abs(2 * np.log10(end / chosen)))
        model = replace(case.yardstick.model, prior_variance=end)
        assert parts.held_out(model) >= least
        if steps < STEPS:
            beyond = at(case, (end / chosen) * np.sqrt(10.0) ** (1 if end > chosen else -1))
            assert parts.held_out(beyond) < least


def elsewhere(monkeypatch, change):
    """A plausible prior at C = 7, where the table is what `change` makes of it."""
    monkeypatch.setattr(prior, "plausible_range", lambda case: [7.0])
    monkeypatch.setattr(prior, "measured_at", lambda case, variance: change(case.table))


def test_the_range_fires_where_another_dataset_would_be_best(monkeypatch):
    """Changes that are as often up as down."""
    few, many_rows = classes(15, 7), classes(300, 8)
    candidates, test = {"few": few, "many": many_rows}, classes(400, 3)
    elsewhere(monkeypatch, lambda table: replace(table, units=table.units[:, ::-1]))
    found = finding(dw.rank, "DW009", candidates, test, prior_variance=1.0)
    assert (found.failed, found.value) == (True, 7.0)
    assert found.detail.startswith("'many' with the chosen prior variance, 1; 'few' with 7, which")
    # the same dataset twice: whichever is first, there is no lead
    same = finding(dw.rank, "DW009", {"a": few, "b": few}, test, prior_variance=1.0)
    assert same.failed is False
    assert "a tie" in same.detail

    def balanced(table):
        return table.with_column("pmi", np.outer((-1.0) ** np.arange(len(table)), np.arange(len(table.arms))))

    data, test = classes(300, 7), classes(400, 3)
    elsewhere(monkeypatch, balanced)
    found = finding(dw.audit, "DW009", data, data.take(range(20)), test, prior_variance=1.0)
    assert found.failed is False
    assert "; 'inconclusive' with 7," in found.detail
    assert not found.detail.startswith("'inconclusive'")


def three_classes():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(260, 2))
    data = dw.Dataset(X, (X[:, 0] + 0.5 * rng.normal(size=260) > 0).astype(int) + (X[:, 1] > 0.5))
    return data.take(range(160)), data.take(range(160, 260))


@pytest.mark.parametrize(
    ("sets", "options", "silent"),
    [
        ((numeric_labels(80, 1), numeric_labels(120, 2)), {}, ("DW007", "DW008", "DW009")),
        (three_classes(), {"size": (40, 6), "pairs": 20}, ("DW007",)),
    ],
    ids=["numeric labels", "three classes"],
)
def test_models_that_know_one_way_have_nothing_to_compare(sets, options, silent):
    said = {f.code: f.failed for f in dw.score(*sets, slow_checks=True, **options).checks}
    assert [said[code] for code in ("DW004", "DW005", "DW006")] == [None] * 3
    assert not any(said[code] for code in silent)
    assert None not in [said[code] for code in silent]
