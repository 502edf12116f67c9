"""Every row of the table of verdicts, at its boundaries and without intervals."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import dataworth as dw
from dataworth.measure.intervals import Estimate, against_controls, make_estimate
from dataworth.valuation.audit import verdict as rules
from dataworth.valuation.audit.verdict import ACCUSED
from worlds import classes, held_out, yardstick


def between(low, high, monte_carlo=0.0):
    return Estimate((low + high) / 2, (high - low) / 4, (low, high), monte_carlo)


UP, DOWN, ABOUT_ZERO = between(1.0, 3.0), between(-3.0, -1.0), between(-0.2, 0.2)
UNKNOWN = Estimate(5.0, None, None)
HOLDS, FALLS, UNSURE = between(0.0, 0.02), between(-0.04, -0.02), between(-0.02, 0.02)


def decide(delta, selection, accuracy, outside=None, rows=20):
    """With one control, which a rise and a fall are compared with, unless a rise's own are given."""
    outside = sorted([selection] if outside is None else outside, key=lambda part: part.value)
    return rules.decide(delta, selection, accuracy, outside, rows)


TABLE = [
    # ΔPMI, selection, Δaccuracy, verdict
    (UP, UP, HOLDS, "informative"),
    (UP, UP, FALLS, "informative"),
    (UP, ABOUT_ZERO, HOLDS, "recycled"),
    (UP, DOWN, HOLDS, "recycled"),
    (UP, between(-2.0, 2.0), HOLDS, "improved"),
    (UP, UNKNOWN, HOLDS, "improved"),
    (DOWN, UP, HOLDS, "strategic"),
    (DOWN, UP, FALLS, "costly"),
    (DOWN, UP, UNSURE, "costly"),
    (DOWN, UP, UNKNOWN, "costly"),
    (DOWN, DOWN, HOLDS, "harmful"),
    (DOWN, DOWN, FALLS, "harmful"),
    (DOWN, DOWN, UNKNOWN, "harmful"),
    (DOWN, ABOUT_ZERO, HOLDS, "costly"),
    (DOWN, ABOUT_ZERO, FALLS, "costly"),
    (DOWN, UNKNOWN, HOLDS, "costly"),
    (ABOUT_ZERO, UP, HOLDS, "inconclusive"),
    (ABOUT_ZERO, DOWN, FALLS, "inconclusive"),
    (ABOUT_ZERO, ABOUT_ZERO, UNSURE, "inconclusive"),
    (UNKNOWN, UP, HOLDS, "inconclusive"),
    (UNKNOWN, UNKNOWN, UNKNOWN, "inconclusive"),
]


@pytest.mark.parametrize(("delta", "selection", "accuracy", "verdict"), TABLE)
def test_the_table(delta, selection, accuracy, verdict):
    assert decide(delta, selection, accuracy)[0] == verdict


@pytest.mark.parametrize(
    ("delta", "selection", "accuracy", "verdict"),
    [
        # an interval that ends at zero contains it
        (between(0.0, 2.0), UP, HOLDS, "inconclusive"),
        (between(-2.0, 0.0), DOWN, HOLDS, "inconclusive"),
        (between(1e-9, 2.0), UP, HOLDS, "informative"),
        (between(-2.0, -1e-9), DOWN, HOLDS, "harmful"),
        (UP, between(0.0, 3.0), HOLDS, "improved"),
        (UP, between(1e-9, 3.0), HOLDS, "informative"),
        (DOWN, between(-3.0, 0.0), HOLDS, "costly"),
        # shown at 95 %, but an accusation takes 99 %
        (DOWN, between(-3.0, -1e-9), HOLDS, "costly"),
        (DOWN, between(1e-9, 3.0), HOLDS, "costly"),
        (DOWN, between(-3.0, -0.5), HOLDS, "harmful"),
        (DOWN, between(0.0, 3.0), HOLDS, "costly"),
        # small: below half of ΔPMI, which is 2 here
        (UP, between(-1.0, 1.0), HOLDS, "improved"),
        (UP, between(-1.0, 1.0 - 1e-9), HOLDS, "recycled"),
        # what is shown above zero is informative however small
        (UP, between(0.1, 0.2), HOLDS, "informative"),
        # the benchmark holds: above −0.5 points
        (DOWN, UP, between(-0.005, 0.02), "costly"),
        (DOWN, UP, between(-0.005 + 1e-9, 0.02), "strategic"),
        (DOWN, UP, between(-0.0051, 0.02), "costly"),
    ],
)
def test_boundaries(delta, selection, accuracy, verdict):
    assert decide(delta, selection, accuracy)[0] == verdict


def shown(value, stderr, degrees=float("inf")):
    return make_estimate(value, stderr, degrees)


@pytest.mark.parametrize(("selection", "accused"), [(-3.0, False), (-3.3, True), (3.0, False), (3.3, True)])
def test_an_accusation_takes_99_percent_with_the_degrees_that_there_are(selection, accused):
    """t at 99 % is 3.17 with ten degrees (2.58 with infinitely many, 2.23 at 95 %)."""
    verdict = "harmful" if selection < 0 else "strategic"
    assert decide(DOWN, shown(selection, 1.0, 10), HOLDS)[0] == (verdict if accused else "costly")
    assert decide(DOWN, shown(selection, 1.0), HOLDS)[0] == verdict  # above 2.58


def test_welchs_degrees_reach_the_accusation():
    """Two blocks and three controls leave 49/17 degrees (test_intervals): t at 99 % is 6.0, at 95 % 3.3."""
    controls = np.array([[0.0, 2.0, 4.0], [2.0, 2.0, 2.0]])
    selection = against_controls(np.array([5.0, 7.0]) - 12.0, controls)
    assert selection.degrees == pytest.approx(49 / 17)
    low, high = selection.at(ACCUSED).interval
    half = stats.t.ppf(0.995, 49 / 17) * np.sqrt(7 / 3)
    assert (low, high) == pytest.approx((-8.0 - half, -8.0 + half))
    assert selection.negative
    assert high > 0
    assert decide(DOWN, selection, HOLDS)[0] == "costly"


@pytest.mark.parametrize(
    ("change", "rows", "verdict"),
    [
        (0.019, 1, "inconclusive"),
        (0.021, 1, "informative"),
        (0.021, 20, "informative"),
        (0.079, 80, "inconclusive"),
        (0.081, 80, "informative"),
    ],
)
def test_a_change_below_a_fiftieth_of_a_nat_or_a_thousandth_a_row_is_none_however_sure(change, rows, verdict):
    sure = shown(change, 1e-9)
    assert decide(sure, sure, HOLDS, rows=rows)[0] == verdict
    down = decide(shown(-change, 1e-9), shown(-change, 1e-9), HOLDS, rows=rows)[0]
    assert down == ("harmful" if verdict == "informative" else verdict)
    # nor is what came from outside, of a rise that is large
    made = decide(UP, UP, HOLDS, [UP, sure], rows=rows)[0]
    assert made == ("informative" if verdict == "informative" else "recycled")


@pytest.mark.parametrize(
    ("outside", "verdict"),
    [
        ([UP, between(0.1, 1.1)], "informative"),
        ([UP, between(-0.1, 0.9)], "recycled"),  # below half of 2
        ([UP, between(-0.1, 1.3)], "improved"),  # neither above 0 nor below 1
        ([between(-1.0, 5.0), between(0.1, 1.1)], "improved"),  # the stronger is beaten, the other is not
        ([UP, UNKNOWN], "improved"),
        ([], "improved"),  # nobody asked
    ],
)
def test_every_control_of_a_rise_must_be_beaten(outside, verdict):
    assert decide(UP, UP, HOLDS, outside)[0] == verdict


def test_an_informative_removal_stands_out_from_random_ones_too():
    assert decide(UP, between(-0.1, 4.0), HOLDS, [UP])[0] == "improved"


@pytest.mark.parametrize(("monte_carlo", "told"), [(0.49, "only more rows"), (0.51, "more pairs")])
def test_more_pairs_are_advised_where_they_make_half_of_the_error(monte_carlo, told):
    unsure = Estimate(0.1, 1.0, (-1.9, 2.1), monte_carlo)
    assert f"zero; {told} would decide" in decide(unsure, ABOUT_ZERO, UNSURE)[1]


def test_inconclusive_says_what_would_decide():
    assert "no interval" in decide(UNKNOWN, UP, HOLDS)[1]
    assert "not yet told" in decide(UP, between(-2.0, 2.0), HOLDS)[1]


@pytest.mark.parametrize(
    ("change", "word"), [(0.0, "unchanged"), (5e-10, "unchanged"), (5e-9, "inconclusive")]
)
def test_a_change_of_nothing_is_none(change, word):
    none = Estimate(change, 0.0, (change, change))
    assert decide(none, none, none, [], 20)[0] == word


def test_doubled_data_are_unchanged():
    data = classes(60, seed=1)
    audit = dw.audit(data, data.take(np.r_[0:60, 0:60]), held_out(), yardstick=yardstick(), ignore="all")
    assert (audit.verdict, audit.delta) == ("unchanged", pytest.approx(0.0, abs=1e-9))
