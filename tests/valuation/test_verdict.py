"""Every row of the table of verdicts, at its boundaries and without intervals."""

import numpy as np
import pytest
from scipy import stats

import dataworth as dw
from dataworth.data.order import canonical
from dataworth.measure.intervals import Estimate, against_controls, make_estimate
from dataworth.measure.slices import Balanced, Slice
from dataworth.valuation.audit import verdict as rules
from dataworth.valuation.audit.verdict import ACCUSED, undecided
from dataworth.yardstick.probes import Gain, Sight, sight
from worlds import classes, flipped, held_out, yardstick


def between(low, high, monte_carlo=0.0):
    return Estimate((low + high) / 2, (high - low) / 4, (low, high), monte_carlo)


UP, DOWN, ABOUT_ZERO = between(1.0, 3.0), between(-3.0, -1.0), between(-0.2, 0.2)
UNKNOWN = Estimate(5.0, None, None)
HOLDS, FALLS, UNSURE = between(0.0, 0.02), between(-0.04, -0.02), between(-0.02, 0.02)


def decide(delta, selection, accuracy, outside=None, rows=20, free=None):
    """With one control, which a rise and a fall are compared with, unless what lies beyond is given."""
    outside = selection if outside is None else outside
    beyond = None if outside == () else rules.Beyond(outside, less(outside, 0.2 * delta.value))
    return rules.decide(delta, selection, accuracy, beyond, rows, free)


def less(part, by):
    interval = None if part.interval is None else tuple(bound - by for bound in part.interval)
    return Estimate(part.value - by, part.stderr, interval)


WORDS = {"up": UP, "down": DOWN, "zero": ABOUT_ZERO, "?": UNKNOWN, "holds": HOLDS, "falls": FALLS}
WORDS |= {"unsure": UNSURE}
TABLE = """
    up up holds informative · up up falls informative · up zero holds recycled · up down holds recycled
    up ? holds improved · down up holds strategic · down up falls costly · down up unsure costly
    down up ? costly · down down holds harmful · down down falls harmful · down down ? harmful
    down zero holds costly · down zero falls costly · down ? holds costly · zero up holds inconclusive
    zero down falls inconclusive · zero zero unsure inconclusive · ? up holds inconclusive
    ? ? ? inconclusive
"""  # ΔPMI, selection, Δaccuracy, verdict
EDGES = [
    (UP, between(-2.0, 2.0), HOLDS, "improved"),
    # an interval that ends at zero contains it
    (between(0.0, 2.0), UP, HOLDS, "inconclusive"), (between(-2.0, 0.0), DOWN, HOLDS, "inconclusive"),
    (between(1e-9, 2.0), UP, HOLDS, "informative"), (between(-2.0, -1e-9), DOWN, HOLDS, "harmful"),
    (UP, between(0.0, 3.0), HOLDS, "improved"), (UP, between(1e-9, 3.0), HOLDS, "informative"),
    (DOWN, between(-3.0, 0.0), HOLDS, "costly"),
    # shown at 95 %, but an accusation takes 99 %
    (DOWN, between(-3.0, -1e-9), HOLDS, "costly"), (DOWN, between(1e-9, 3.0), HOLDS, "costly"),
    (DOWN, between(-3.0, -0.5), HOLDS, "harmful"), (DOWN, between(0.0, 3.0), HOLDS, "costly"),
    # material: a fifth of ΔPMI, which is 2 here; the last is shown, and shown to be small
    (UP, between(-1.0, 0.4), HOLDS, "improved"), (UP, between(-1.0, 0.4 - 1e-9), HOLDS, "recycled"),
    (UP, between(0.1, 0.7), HOLDS, "improved"), (UP, between(0.1, 0.7 + 1e-9), HOLDS, "informative"),
    (UP, between(0.1, 0.3), HOLDS, "recycled"),
    # the benchmark holds: above −0.5 points
    (DOWN, UP, between(-0.005, 0.02), "costly"), (DOWN, UP, between(-0.005 + 1e-9, 0.02), "strategic"),
    (DOWN, UP, between(-0.0051, 0.02), "costly"),
]  # fmt: skip
for row in TABLE.replace("·", "\n").strip().splitlines():
    *given, said = row.split()
    EDGES.append((*(WORDS[word] for word in given), said))


@pytest.mark.parametrize(("delta", "selection", "accuracy", "verdict"), EDGES)
def test_the_table(delta, selection, accuracy, verdict):
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
        (0.019, 1, "inconclusive"), (0.021, 1, "informative"), (0.021, 20, "informative"),
        (0.079, 80, "inconclusive"), (0.081, 80, "informative"),
    ],
)  # fmt: skip
def test_a_change_below_a_fiftieth_of_a_nat_or_a_thousandth_a_row_is_none_however_sure(change, rows, verdict):
    sure = shown(change, 1e-9)
    assert decide(sure, sure, HOLDS, rows=rows)[0] == verdict
    down = decide(shown(-change, 1e-9), shown(-change, 1e-9), HOLDS, rows=rows)[0]
    assert down == ("harmful" if verdict == "informative" else verdict)
    # nor is what lies beyond blind baselines
    rise = shown(0.2, 1e-9)
    beyond = rules.Beyond(sure, shown(change - 0.001, 1e-9))
    made = rules.decide(rise, rise, HOLDS, beyond, rows)[0]
    assert made == ("informative" if verdict == "informative" else "improved")


@pytest.mark.parametrize(
    ("selection", "outside", "verdict"),
    [
        (UP, between(0.1, 1.1), "informative"), (UP, between(-0.5, 0.3), "recycled"),  # below a fifth of 2
        (UP, between(-0.1, 1.3), "improved"), (UP, UNKNOWN, "improved"),  # neither above 0 nor below 0.4
        (UP, (), "improved"),  # nobody asked
        (between(-0.1, 4.0), UP, "improved"),  # not from random removals
    ],
)  # fmt: skip
def test_the_strongest_baseline_and_random_removals_must_be_beaten(selection, outside, verdict):
    assert decide(UP, selection, HOLDS, outside)[0] == verdict


def at_free(change, beyond_random=DOWN):
    """What changed where an attribute does not tell the label, nats a row."""
    side = Slice("attribute", "", 50, change, 0.0)
    return Balanced("attribute", side, side, change, 0.0, beyond_random)


UNIT = 1 / 20  # blocks have 20 rows


@pytest.mark.parametrize(
    ("delta", "accuracy", "free", "verdict"),
    [
        (UP, HOLDS, at_free(shown_row := between(-3 * UNIT, -UNIT)), "strategic"),
        (UP, FALLS, at_free(shown_row), "strategic"),  # information for the test set rises
        (UP, HOLDS, at_free(shown_row, UNSURE), "strategic"),  # removing rows at random raises nothing
        (ABOUT_ZERO, FALLS, at_free(shown_row), "strategic"),  # or holds
        (ABOUT_ZERO, HOLDS, at_free(shown_row, UNSURE), "inconclusive"),  # as random removal might
        (DOWN, HOLDS, at_free(shown_row), "strategic"),  # or the benchmark does
        (DOWN, FALLS, at_free(shown_row), "harmful"),
        (UP, HOLDS, at_free(between(-3 * UNIT, -1e-9)), "improved"),  # shown at 95 %, not at 99 %
        (UP, HOLDS, at_free(between(-0.0249, -0.0247)), "improved"),  # below a quarter of the rise, 0.1 a row
        (UP, HOLDS, at_free(between(-0.0253, -0.0251)), "strategic"),
        (ABOUT_ZERO, HOLDS, at_free(between(-0.00099, -0.00098)), "inconclusive"),  # below what is none
        (UP, HOLDS, at_free(between(-0.01, 0.3)), "improved"),  # not shown where the attribute is free
        (UP, HOLDS, at_free(between(0.01, 0.3)), "informative"),
        (DOWN, FALLS, at_free(between(-0.01, 0.01)), "inconclusive"),  # only what the attribute tells is lost
        (DOWN, FALLS, at_free(between(-0.02, 0.01)), "costly"),
        (DOWN, FALLS, at_free(between(-0.02, -0.001)), "harmful"),
    ],
)
def test_strategic_where_a_declared_attribute_is_free(delta, accuracy, free, verdict):
    selection = DOWN if delta is DOWN else UP
    word, reason = decide(delta, selection, accuracy, free=free)
    assert word == verdict
    assert ("does not tell the label" in reason) or word not in ("strategic", "costly")


@pytest.mark.parametrize(("monte_carlo", "told"), [(0.49, "only more rows"), (0.51, "more pairs")])
def test_more_pairs_are_advised_where_they_make_half_of_the_error(monte_carlo, told):
    unsure = Estimate(0.1, 1.0, (-1.9, 2.1), monte_carlo)
    assert f"zero; {told} would decide" in decide(unsure, ABOUT_ZERO, UNSURE)[1]


@pytest.mark.parametrize(("change", "word"), [(0, "unchanged"), (5e-10, "unchanged"), (5e-9, "inconclusive")])
def test_a_change_of_nothing_is_none(change, word):
    none = Estimate(change, 0.0, (change, change))
    assert decide(none, none, none, (), 20)[0] == word


# What an audit could have seen: from probes of the test set, cut as the audit cuts it, and in words

DATA, BAD = flipped(classes(160, seed=1), 0.2, seed=0)


def seen_by(data, after, test=None, **options):
    test = held_out() if test is None else test
    return dw.audit(data, after, test, yardstick=yardstick(), ignore="all", **options).power


def test_the_probes_are_cut_as_the_audit_is():
    """200 test rows in 20 blocks; a half of them stands in for 160 rows of data."""
    found, yard, T = seen_by(DATA, DATA.take(~BAD)), yardstick(), canonical(held_out())
    seen = sight(
        yard.model, yard.tempering, yard.features(T), yard.targets(T), rows_a_block=10, blocks=20, size=100
    )
    assert (found.minimum_detectable_effect, found.detectable_label_noise, found.detectable_new_rows) == (
        seen.rise,
        seen.proportion,
        seen.rows,
    )
    assert (found.n_reference_rows, seen_by(DATA.take(range(40)), DATA.take(range(30))).n_reference_rows) == (
        100,
        40,
    )
    assert (
        seen_by(DATA, DATA.take(~BAD), design="matched", pairs=5, size=40) is None
    )  # pairs have no such probes
    T, many = classes(2600, seed=3), classes(2000, seed=5)
    assert seen_by(DATA, DATA.take(~BAD), T).n_reference_rows == 160
    assert seen_by(many, many.take(range(1900)), T).n_reference_rows == 500


@pytest.mark.parametrize(
    ("change", "rows"), [(1.0, None), (0.7, None), (0.6, 250), (-0.3, 970), (0.0, None), (0.019, None)]
)
def test_rows_that_would_decide_are_told_if_these_do_not(change, rows):
    """(2.95 s / Δ)² blocks of ten rows, where there are twenty."""
    assert undecided(Sight(20, 10, 100, {}, Gain(0.0, 0.0)), change, 1.0) == rows


def test_a_change_of_as_many_rows_is_not_compared_with_removals_in_words():
    """Relabelled rows, say: there is no random removal of as many, and the data before are the control."""
    found = [rules.decide(DOWN, DOWN, HOLDS, None, 20, fewer=fewer) for fewer in (True, False)]
    assert [verdict for verdict, _ in found] == ["harmful"] * 2
    assert "more than random removal of as many rows" in found[0][1]
    assert "no loss of rows explains it" in found[1][1]
    assert "random removal" not in found[1][1]
