"""Clipping: by hand on arrays, then in score, audit and rank: all of the estimates, and never the table."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dataworth as dw
from dataworth.measure.clipping import check_clipping, clip, signed
from dataworth.measure.intervals import over_blocks, over_pairs
from dataworth.measure.options import Options
from worlds import classes, flipped, held_out, refusal, yardstick

DATA = classes(160, seed=1)
NOISY, BAD = flipped(DATA, 0.35, seed=1)
FILTERED = NOISY.take(~BAD)
RULES = ("truncate", "winsorise")


def by_hand(values, rule, M):
    """The two rules, one value after the other."""

    def one(u):
        if -M <= u <= M:
            return u
        return 0.0 if rule == "truncate" else (M if u > 0 else -M)

    return np.array([one(u) for u in np.ravel(values)]).reshape(np.shape(values))


@pytest.mark.parametrize("rule", RULES)
@given(st.lists(st.floats(-100, 100), min_size=1, max_size=30), st.floats(0.1, 120))
@settings(max_examples=60, deadline=None, derandomize=True)
def test_the_two_rules(rule, values, M):
    values = np.array(values)
    before = values.copy()
    found = clip(values, **{rule: M})
    expected = by_hand(values, rule, M)
    assert found.values.tolist() == expected.tolist()
    assert values.tolist() == before.tolist()
    assert found.changed == (int((np.abs(values) > M).sum()),)
    assert found.share == pytest.approx(found.changed[0] / len(values))
    assert found.moved[0] == pytest.approx(expected.mean() - values.mean(), abs=1e-12)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("M", [0, -1.0, float("nan"), float("inf"), True, "20"])
def test_bounds_that_are_none(rule, M):
    assert f"{rule} (in nats) is {M!r}" in refusal(clip, np.zeros(2), **{rule: M})
    assert f"{rule} (in nats) is {M!r}" in refusal(Options.parse, "score", {rule: M})


def test_never_both_and_never_neither():
    assert "give one of them" in refusal(clip, np.zeros(2), truncate=1.0, winsorise=2.0)
    assert "truncate is 1.0 and winsorise is 2.0" in refusal(check_clipping, 1.0, 2.0)
    assert "give one of them" in refusal(Options.parse, "score", {"truncate": 1.0, "winsorise": 2.0})
    assert "neither" in refusal(clip, np.zeros(2))


ASKED = {"yardstick": yardstick(), "ignore": "all"}


def score(**options):
    return dw.score(DATA, held_out(), **ASKED, **options)


@pytest.mark.parametrize(("rule", "design"), [("truncate", {}), ("winsorise", {"pairs": 10, "size": 20})])
def test_a_score_of_clipped_values(rule, design):
    raw = score(**design)
    M = float(np.quantile(np.abs(raw.table.pmi), 0.7))
    clipped = score(**design, **{rule: M})
    values = by_hand(raw.table.pmi[:, 0], rule, M)
    expected = over_pairs(values, 160 / 20) if design else over_blocks(values)
    assert clipped.value == pytest.approx(values.mean())
    assert clipped.value != raw.value
    assert clipped.interval == pytest.approx(expected.interval)
    assert clipped.per_row * clipped.details.rows_per_test == pytest.approx(clipped.value)
    assert clipped.table.pmi.tobytes() == raw.table.pmi.tobytes()  # the table stays raw
    assert clipped.accuracy == raw.accuracy
    details = clipped.to_dict()["clipping"]
    assert details["changed"] == int((np.abs(raw.table.pmi) > M).sum()) > 0
    assert details["arms"]["data"]["mean_moved"] == pytest.approx(clipped.value - raw.value)
    (note,) = (n for n in clipped.notes if f"at ±{M:g} nats: " in n)
    assert all(signed(one) in note for one in (clipped.value, raw.value, clipped.value - raw.value))
    assert raw.details.clipping is None


@pytest.mark.parametrize(
    ("design", "rule"), [("whole", "truncate"), ("row", "winsorise"), ("method", "truncate")]
)
def test_an_audit_of_clipped_values(rule, design):
    """Every arm is clipped: change, control, before and after are those of the clipped table."""
    after = {"curate": lambda D: D.take(D.X[:, 0] > -1)} if design == "method" else {"after": FILTERED}
    options = {} if design == "method" else {"design": design}
    options |= {} if design == "whole" else {"pairs": 10, "size": 20}
    options |= ASKED
    raw = dw.audit(NOISY, test=held_out(), **after, **options)
    M = float(np.quantile(np.abs(raw.table.pmi), 0.8))
    clipped = dw.audit(NOISY, test=held_out(), **after, **options, **{rule: M})
    pmi = dict(zip(map(str, raw.table.arms), by_hand(raw.table.pmi, rule, M).T, strict=True))
    assert clipped.before == pytest.approx(pmi["before"].mean())
    assert clipped.after == pytest.approx(pmi["after"].mean())
    assert clipped.delta == pytest.approx((pmi["after"] - pmi["before"]).mean())
    assert clipped.delta != raw.delta
    controls = [a for a in pmi if a.startswith("control")]
    if controls:
        blind = np.column_stack([pmi[c] for c in controls]).mean(axis=1)
        assert clipped.control.value == pytest.approx(blind.mean())
        assert clipped.control.selection == pytest.approx((pmi["after"] - blind).mean())
    assert clipped.table.pmi.tobytes() == raw.table.pmi.tobytes()
    assert clipped.accuracy_delta == raw.accuracy_delta
    assert set(clipped.to_dict()["clipping"]["arms"]) == set(map(str, raw.table.arms))
    decides = [n for n in clipped.notes if "clipping decides the verdict" in n]
    assert bool(decides) == (clipped.verdict != raw.verdict)
    assert "clipping" not in raw.to_dict()


def test_a_verdict_that_clipping_decides_is_said_to_be():
    """Every value beyond a tiny M becomes ±M or nothing: what was informative no longer is."""
    raw = dw.audit(NOISY, FILTERED, held_out(), **ASKED)
    clipped = dw.audit(NOISY, FILTERED, held_out(), **ASKED, truncate=1e-9)
    assert raw.verdict in ("informative", "recycled")
    assert clipped.verdict != raw.verdict
    (note,) = (n for n in clipped.notes if n.startswith("clipping decides"))
    assert raw.verdict in note
