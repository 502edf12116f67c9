"""Clipping: by hand on arrays, then in score, audit and rank: all of the estimates, and never the table."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

import dataworth as dw
from dataworth.measure.clipping import check_clipping, clip, signed
from dataworth.measure.intervals import over_blocks, over_pairs
from dataworth.measure.options import Options
from dataworth.report import views
from dataworth.report.numbers import counted_pmi
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


# On arrays


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


def test_columns_are_counted_apart():
    found = clip(np.array([[1.0, 9.0], [-9.0, 9.0], [3.0, 1.0]]), winsorise=5.0)
    assert found.values.tolist() == [[1.0, 5.0], [-5.0, 5.0], [3.0, 1.0]]
    assert found.changed == (1, 2)
    assert found.moved == pytest.approx((4 / 3, -8 / 3))
    assert found.share == 0.5
    plain = json.loads(json.dumps(found.to_dict(["a", "b"], "blocks")))
    assert plain["arms"]["b"] == {"changed": 2, "mean_moved": pytest.approx(-8 / 3)}
    assert (plain["rule"], plain["bound"], plain["changed"], plain["values"]) == ("winsorise", 5.0, 3, 6)
    assert (plain["blocks"], plain["blocks_changed"]) == (3, 2)
    told = found.note("blocks", "Δ", 1.0, -4.0)
    assert all(part in told for part in ("±5", "3 of 6", "2 of 3 blocks", "+1", "+5", "−4"))
    assert "changes nothing" in clip(np.array([1.0, 5.0]), truncate=5.0).note("pairs", "score", 1.5, 0.0)


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


# As an option


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
    units = "pairs" if design else "blocks"
    (note,) = (n for n in clipped.notes if f"at ±{M:g} nats: " in n)
    assert f"nats: {details['changed']} of {len(values)} {units}" in note
    assert (details[units], details[f"{units}_changed"]) == (len(values), details["changed"])
    assert all(signed(one) in note for one in (clipped.value, raw.value, clipped.value - raw.value))
    assert raw.details.clipping is None
    assert not any("unclipped" in n for n in raw.notes)


@pytest.mark.parametrize(
    ("design", "rule"), [*zip(("whole", "row", "size", "method"), RULES * 2, strict=True)]
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
    (note,) = (n for n in clipped.notes if f"at ±{M:g} nats: " in n)
    touched = int((np.abs(raw.table.pmi) > M).any(axis=1).sum())
    units = "blocks" if design == "whole" else "pairs"
    assert f"in {touched} of {len(raw.table)} {units}" in note
    assert all(signed(one) in note for one in (clipped.delta, raw.delta, clipped.delta - raw.delta))
    decides = [n for n in clipped.notes if "clipping decides the verdict" in n]
    assert bool(decides) == (clipped.verdict != raw.verdict)
    assert all(f"without it, it would be {raw.verdict}" in n for n in decides)
    assert not any("clip" in n for n in raw.notes)
    assert "clipping" not in raw.to_dict()


@pytest.mark.parametrize("rule", RULES)
def test_a_ranking_of_clipped_values(rule):
    candidates = {"clean": DATA, "noisy": NOISY, "few": DATA.take(range(20))}
    raw = dw.rank(candidates, held_out(), **ASKED)
    M = float(np.quantile(np.abs(raw.table.pmi), 0.7))
    clipped = dw.rank(candidates, held_out(), **ASKED, **{rule: M})
    pmi = dict(zip(map(str, raw.table.arms), by_hand(raw.table.pmi, rule, M).T, strict=True))
    best = max(pmi, key=lambda n: pmi[n].mean())
    assert clipped[0].name == best
    for one in clipped:
        assert one.value == pytest.approx(pmi[one.name].mean())
        assert one.to_best.value == pytest.approx((pmi[one.name] - pmi[best]).mean())
    assert {r.name: r.value for r in clipped} != {r.name: r.value for r in raw}
    assert clipped.table.pmi.tobytes() == raw.table.pmi.tobytes()
    assert clipped.to_dict()["clipping"]["rule"] == rule
    assert "clipping" not in raw.to_dict()


def test_a_verdict_that_clipping_decides_is_said_to_be():
    """Every value beyond a tiny M becomes ±M or nothing: what was informative no longer is."""
    raw = dw.audit(NOISY, FILTERED, held_out(), **ASKED)
    clipped = dw.audit(NOISY, FILTERED, held_out(), **ASKED, truncate=1e-9)
    assert raw.verdict in ("informative", "recycled")
    assert clipped.verdict != raw.verdict
    (note,) = (n for n in clipped.notes if n.startswith("clipping decides"))
    assert raw.verdict in note


def test_an_order_that_clipping_decides_is_said_to_be():
    candidates = {"noisy": NOISY, "after": DATA}  # a name that an arm of audits has means nothing here
    raw = dw.rank(candidates, held_out(), **ASKED)
    clipped = dw.rank(candidates, held_out(), **ASKED, truncate=1e-9)
    assert [r.name for r in raw] == ["after", "noisy"]
    assert [r.name for r in clipped] == ["noisy", "after"]  # both 0: as they were given
    assert any("clipping decides the order" in note and "after, noisy" in note for note in clipped.notes)


def test_a_run_directory_belongs_to_one_clipping(tmp_path):
    plain = score(pairs=8, run_dir=tmp_path / "plain")
    assert not set(RULES) & set(json.loads((tmp_path / "plain" / "config.json").read_text()))
    assert "another configuration" in refusal(score, pairs=8, run_dir=tmp_path / "plain", winsorise=1.0)
    first = score(pairs=8, run_dir=tmp_path / "clipped", winsorise=1.0)
    again = score(pairs=8, run_dir=tmp_path / "clipped", winsorise=1.0)
    assert first.value == again.value != plain.value
    assert again.to_dict() == first.to_dict()


# As shown


def test_reports_show_what_was_counted():
    """Means of the arms and the histogram are of the clipped values, like the headline."""
    raw = score()
    M = float(np.quantile(np.abs(raw.table.pmi), 0.6))
    clipped = score(truncate=M)
    assert np.array_equal(counted_pmi(raw), raw.table.pmi)
    assert counted_pmi(clipped).tolist() == by_hand(raw.table.pmi, "truncate", M).tolist()
    console = Console(width=100)
    with console.capture() as captured:
        console.print(views.full(clipped, verbose=True))
    shown = captured.get()
    assert f"{clipped.value:.3f}" in shown
    assert f"{raw.value:.3f}" not in shown.partition("unclipped")[0]
    assert "truncated at" in shown
    (chart,) = views.document(clipped).charts
    heights = [point.y for point in chart.series[0].points]
    assert max(heights) <= M + 1e-9
    assert len(heights) == len(raw.table)
