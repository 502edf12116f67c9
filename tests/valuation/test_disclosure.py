"""What others may see: a word and rounded numbers, from which labels cannot be searched."""

import csv
import math
from itertools import product

import numpy as np
import pytest

import dataworth as dw
from dataworth.atomic import write_csv
from dataworth.measure import Estimate
from dataworth.valuation.audit.verdict import VERDICTS
from dataworth.valuation.disclosure import LEVELS, STEPS, WORDS, Public, Rounded, most_bits, round_blocks
from label_search import better_and_better, exact_answers, public_answers, questions, searched
from worlds import classes, flipped, refusal

TEST, DATA = classes(200, seed=5), classes(120, seed=6)
QUIET = {"ignore": "all"}


@pytest.fixture(scope="module")
def yard():
    return dw.Yardstick.fit(TEST, prior_variance=1.0)


@pytest.fixture(scope="module")
def results(yard):
    """One of every command that has a public form."""
    noisy, bad = flipped(DATA, 0.3, seed=1)
    halves = {"a": DATA.take(range(60)), "b": DATA.take(range(60, 120))}
    given = {"yardstick": yard, **QUIET}
    return {
        "score": dw.score(DATA, TEST, **given),
        "audit": dw.audit(noisy, noisy.take(~bad), TEST, **given),
        "rank": dw.rank({**halves, "n": noisy}, TEST, **given),
        "contributions": dw.contributions(halves, TEST, yardstick=yard),
        "forecast": dw.forecast(DATA, TEST, yardstick=yard),
    }


def test_intervals_are_rounded_outwards_to_a_grid_that_depends_on_nothing():
    rng = np.random.default_rng(0)
    for value, half in zip(
        rng.normal(size=400) * 10.0 ** rng.uniform(-3, 3, 400), 10 ** rng.uniform(-3, 2, 400), strict=True
    ):
        shown = Rounded.of("value", Estimate(value, None, (value - half, value + half)))
        low, high = shown.interval
        assert low <= value - half + 1e-9
        assert high >= value + half - 1e-9
        width = (high - low) / 2
        assert min(abs(width - level) for level in LEVELS) < 1e-9 * width
        assert shown.value / width == pytest.approx(round(shown.value / width), abs=1e-6)
        assert abs(shown.value) <= STEPS * width + 1e-9
    assert Rounded.of("v", Estimate(3.17, None, None)) == Rounded(name="v", value=3.2, interval=None)
    assert Rounded.of("v", Estimate(1e9, None, (0.0, 2e9))).interval is None


def test_the_bound_counts_every_answer_that_there_can_be():
    """By enumeration: words, a check or none, and every value with and without an interval."""
    value, half = (
        list(range(-STEPS, STEPS + 1)),
        [(level, told) for level in LEVELS for told in (True, False)],
    )
    every = len(set(product(WORDS["audit"], (True, False), value, half)))
    assert most_bits("audit", 1) == pytest.approx(math.log2(every))
    assert most_bits("audit", 1) < 14.2
    assert set(VERDICTS) | {"no verdict"} == set(WORDS["audit"])


def test_nothing_else_is_told(results):
    for what, result in results.items():
        shown = result.public()
        candidates = 1 + len(shown.tied) + len(shown.below)
        assert (shown.what, shown.bits) == (what, most_bits(what, len(shown.numbers), candidates))
        assert (candidates, len(shown.numbers)) == ((3, 1) if what == "rank" else (1, len(shown.numbers)))
        told = shown.to_dict()
        assert set(told) == {
            "schema",
            "unit",
            "what",
            "answer",
            "check_failed",
            "numbers",
            "tied",
            "below",
            "test_rows",
            "bits",
        }
        for one in told["numbers"]:
            assert set(one) == {"name", "value", "interval"}
            width = one["interval"][1] - one["value"]
            assert min(abs(width - level) for level in LEVELS) < 1e-9
        assert [one.value for one in shown.numbers] == sorted((n.value for n in shown.numbers), reverse=True)
    assert results["audit"].public().check_failed is None  # all were ignored
    with pytest.raises(ValueError, match="no answer of score"):
        Public.of("score", "perhaps", {}, 1, ())


def test_what_tells_a_number_of_every_row_has_no_public_form(yard):
    assert "Values has no public form" in refusal(dw.values(DATA, TEST, yardstick=yard).public)


def test_a_guess_of_a_few_labels_cannot_be_tried_against_an_answer(yard):
    """Up to three labels flipped of rows that a model leaves open (p from ¼ to ¾): each moves the value by
    log 3 / 10 at most, a tenth of a step. Exact values tell every guess apart, public ones few."""
    own = 1 / (1 + np.exp(-3.0 * (TEST.X[:, 0] - TEST.X[:, 1])))  # `worlds.classes` itself
    unsure = np.flatnonzero(np.abs(own - 0.5) < 0.25)
    truth = dw.score(DATA, TEST, yardstick=yard, **QUIET)
    rng, moved, exact = np.random.default_rng(0), 0, 0
    for k in range(20):
        some = rng.permutation(unsure)[: 1 + k % 3]
        labels = TEST.y.copy()
        labels[some] = 1 - labels[some]
        guess = dw.score(DATA, TEST.with_labels(labels), yardstick=yard, **QUIET)
        moved += guess.public().numbers != truth.public().numbers
        exact += abs(guess.value - truth.value) > 1e-6
    assert exact == 20
    assert moved <= 10  # of 20, each with probability 0.2: false alarm in 6e-4


def test_labels_are_not_found_by_searching_public_answers(tmp_path, yard):
    """Twelve questions on 200 labels: the linear search gains from exact values, not from public ones."""
    p = np.clip(
        1 / (1 + np.exp(-1.5 * (TEST.X[:, 0] - TEST.X[:, 1]))), 0.02, 0.98
    )  # the adversary's own model
    own = ((p > 0.5) == TEST.y).mean()
    asked = [*better_and_better(DATA, 6), *questions(DATA, 6, np.random.default_rng(1))]
    told = public_answers(asked, TEST, yard, p, tmp_path / "ladder.json")
    assert 1 <= len(told.told) < len(asked)
    assert (searched(p, told) == TEST.y).mean() <= own + 0.02
    known = exact_answers(asked, TEST, yard, p)
    predicted = known.slopes @ TEST.y + known.constants
    assert (
        np.abs(predicted - known.told).max() < 0.5
    )  # the equations are right, so that the search can succeed


def test_blocks_are_rounded_to_a_tenth_of_their_deviation(results, tmp_path):
    rng = np.random.default_rng(0)
    values = rng.normal(size=(20, 3)) * [1e-3, 1.0, 1e3]
    told = round_blocks(values)
    error = np.abs(told - values).max(axis=0) / values.std(axis=0)
    assert (error <= 0.05 + 1e-9).all()
    assert all(len(np.unique(np.round(column / column.std(), 9))) < 200 for column in told.T)
    assert (error > 0.005).all()
    assert round_blocks(np.full(5, 1.23456)).tolist() == [1.235] * 5
    write_csv(tmp_path / "a.csv", results["audit"].rows())
    with (tmp_path / "a.csv").open() as file:
        records = list(csv.DictReader(file))
    assert set(records[0]) == {"pair", "arm", "pmi", "accuracy", "information_gain", "data_rows", "test_rows"}
    exact = results["audit"].table.pmi[:, 0]
    told = np.array([float(one["pmi"]) for one in records if one["arm"] == "before"])
    assert 0 < np.abs(told - exact).max() <= exact.std() / 20 + 1e-9
