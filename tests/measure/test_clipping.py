"""Clipping: by hand on arrays, then in score, audit and rank: all of the estimates, and never the table."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dataworth as dw
from dataworth.measure.clipping import clip, signed
from dataworth.measure.intervals import over_blocks, over_pairs
from worlds import classes, flipped, held_out, yardstick

DATA = classes(160, seed=1)
ASKED = {"yardstick": yardstick(), "ignore": "all"}


def by_hand(values, rule, M):
    """The two rules, one value after the other."""
    beyond = {"truncate": 0.0, "winsorise": M}[rule]
    return np.array([u if abs(u) <= M else beyond * np.sign(u) for u in values])


@pytest.mark.parametrize("rule", ["truncate", "winsorise"])
@given(st.lists(st.floats(-100, 100), min_size=1, max_size=30), st.floats(0.1, 120))
@settings(max_examples=60, deadline=None, derandomize=True)
def test_the_two_rules(rule, values, M):
    values = np.array(values)
    found, expected = clip(values, **{rule: M}), by_hand(values, rule, M)
    assert found.values.tolist() == expected.tolist()
    assert found.changed == (int((np.abs(values) > M).sum()),)
    assert found.share == pytest.approx(found.changed[0] / len(values))
    assert found.moved[0] == pytest.approx(expected.mean() - values.mean(), abs=1e-12)


@pytest.mark.parametrize(("rule", "design"), [("truncate", {}), ("winsorise", {"pairs": 10, "size": 20})])
def test_a_score_of_clipped_values(rule, design):
    raw = dw.score(DATA, held_out(), **ASKED, **design)
    M = float(np.quantile(np.abs(raw.table.pmi), 0.7))
    clipped = dw.score(DATA, held_out(), **ASKED, **design, **{rule: M})
    values = by_hand(raw.table.pmi[:, 0], rule, M)
    expected = over_pairs(values, 160 / 20) if design else over_blocks(values)
    assert clipped.value == pytest.approx(values.mean()) != raw.value
    assert clipped.interval == pytest.approx(expected.interval)
    assert clipped.per_row * clipped.details.rows_per_test == pytest.approx(clipped.value)
    assert clipped.table.pmi.tobytes() == raw.table.pmi.tobytes()  # the table stays raw
    assert clipped.accuracy == raw.accuracy
    details = clipped.to_dict()["clipping"]
    assert details["arms"]["data"]["changed"] == int((np.abs(raw.table.pmi) > M).sum()) > 0
    assert details["arms"]["data"]["mean_moved"] == pytest.approx(clipped.value - raw.value)
    (note,) = (n for n in clipped.notes if f"at ±{M:g} nats: " in n)
    assert all(signed(one) in note for one in (clipped.value, raw.value, clipped.value - raw.value))


def test_a_verdict_that_clipping_decides_is_said_to_be():
    """Every value beyond a tiny M becomes ±M or nothing: what was informative no longer is."""
    noisy, bad = flipped(DATA, 0.35, seed=1)
    raw, clipped = (dw.audit(noisy, noisy.take(~bad), held_out(), **ASKED, truncate=M) for M in (None, 1e-9))
    assert raw.verdict in ("informative", "recycled")
    assert clipped.verdict != raw.verdict
    (note,) = (n for n in clipped.notes if n.startswith("clipping decides"))
    assert raw.verdict in note
