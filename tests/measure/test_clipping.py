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


def test_a_value_at_the_bound_stays():
    assert clip(np.array([-2.0, 2.0]), truncate=2).values.tolist() == [-2.0, 2.0]


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
    assert found.note("blocks", "Δ", 1.0, -4.0) == (
        "winsorised at ±5 nats: 3 of 6 values, in 2 of 3 blocks; Δ +1 nats, unclipped +5 (moved by −4)"
    )


def test_the_note_says_what_truncation_does():
    note = clip(np.array([1.0, 9.0]), truncate=5.0).note("pairs", "score", 0.5, -4.5)
    assert note == (
        "truncated at ±5 nats: 1 of 2 pairs (set to 0); score +0.5 nats, unclipped +5 (moved by −4.5)"
    )
    note = clip(np.array([1.0, 2.0]), truncate=5.0).note("pairs", "score", 1.5, 0.0)
    assert note == "truncated at ±5 nats: 0 of 2 pairs, which changes nothing"


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


def test_clipping_is_part_of_a_configuration_only_if_it_is_used():
    """Runs from before there was clipping have a configuration without it, and are resumed."""
    plain = Options.parse("score", {"seed": 1}).to_dict()
    assert not set(RULES) & set(plain)
    assert Options.parse("score", {"seed": 1, "truncate": 3.0}).to_dict() == plain | {"truncate": 3.0}
    assert Options.parse("score", {"seed": 1, "winsorise": 3}).to_dict() == plain | {"winsorise": 3}


def score(**options):
    return dw.score(DATA, held_out(), yardstick=yardstick(), **options)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("design", [{}, {"pairs": 30, "size": 20}])
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
    assert note.endswith(
        f"; score {signed(clipped.value)} nats, unclipped {signed(raw.value)} "
        f"(moved by {signed(clipped.value - raw.value)})"
    )
    assert raw.details.clipping is None
    assert not any("unclipped" in n for n in raw.notes)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("design", ["whole", "row", "size", "method"])
def test_an_audit_of_clipped_values(rule, design):
    """Every arm is clipped: change, control, before and after are those of the clipped table."""
    after = {"curate": lambda D: D.take(D.X[:, 0] > -1)} if design == "method" else {"after": FILTERED}
    options = {} if design == "method" else {"design": design}
    options |= {} if design == "whole" else {"pairs": 25, "size": 20}
    options |= {"yardstick": yardstick()}
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
    assert note.endswith(
        f"; Δ {signed(clipped.delta)} nats, unclipped {signed(raw.delta)} "
        f"(moved by {signed(clipped.delta - raw.delta)})"
    )
    decides = [n for n in clipped.notes if "clipping decides the verdict" in n]
    assert bool(decides) == (clipped.verdict != raw.verdict)
    assert all(f"without it, it would be {raw.verdict}" in n for n in decides)
    assert not any("clip" in n for n in raw.notes)
    assert "clipping" not in raw.to_dict()


@pytest.mark.parametrize("rule", RULES)
def test_a_ranking_of_clipped_values(rule):
    candidates = {"clean": DATA, "noisy": NOISY, "few": DATA.take(range(20))}
    raw = dw.rank(candidates, held_out(), yardstick=yardstick())
    M = float(np.quantile(np.abs(raw.table.pmi), 0.7))
    clipped = dw.rank(candidates, held_out(), yardstick=yardstick(), **{rule: M})
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
    raw = dw.audit(NOISY, FILTERED, held_out(), yardstick=yardstick())
    clipped = dw.audit(NOISY, FILTERED, held_out(), yardstick=yardstick(), truncate=1e-9)
    assert raw.verdict in ("informative", "recycled")
    assert clipped.verdict != raw.verdict
    (note,) = (n for n in clipped.notes if n.startswith("clipping decides"))
    assert note == f"clipping decides the verdict: without it, it would be {raw.verdict} ({raw.reason})"


def test_an_order_that_clipping_decides_is_said_to_be():
    candidates = {"noisy": NOISY, "after": DATA}  # a name that an arm of audits has means nothing here
    raw = dw.rank(candidates, held_out(), yardstick=yardstick())
    clipped = dw.rank(candidates, held_out(), yardstick=yardstick(), truncate=1e-9)
    assert [r.name for r in raw] == ["after", "noisy"]
    assert [r.name for r in clipped] == ["noisy", "after"]  # both 0: as they were given
    assert "clipping decides the order: without it, it would be after, noisy" in clipped.notes
    most = max(("after", "noisy"), key=lambda n: abs(raw.table.column("pmi", n).mean()))
    assert any(f"most moved: score of {most} +0 nats, unclipped" in n for n in clipped.notes)


def test_what_is_far_from_the_bound_changes_nothing():
    assert score(winsorise=1e6).value == score().value
    assert score(winsorise=1e6).details.clipping["changed"] == 0
    assert "winsorised at ±1e+06 nats: 0 of 20 blocks, which changes nothing" in score(winsorise=1e6).notes


def test_precision_is_that_of_the_clipped_values():
    """With nearly all values set to M there is nearly no spread: the fewest pairs are enough."""
    raw = score(precision=0.1, size=20)
    M = float(np.quantile(np.abs(raw.table.pmi), 0.02))
    assert raw.details.pairs > 100
    assert score(precision=0.1, size=20, winsorise=M).details.pairs == 50


def test_a_run_directory_belongs_to_one_clipping(tmp_path):
    plain = score(pairs=8, run_dir=tmp_path / "plain")
    assert not set(RULES) & set(json.loads((tmp_path / "plain" / "config.json").read_text()))
    assert "another configuration" in refusal(score, pairs=8, run_dir=tmp_path / "plain", winsorise=1.0)
    first = score(pairs=8, run_dir=tmp_path / "clipped", winsorise=1.0)
    again = score(pairs=8, run_dir=tmp_path / "clipped", winsorise=1.0)
    assert first.value == again.value != plain.value
    assert again.to_dict() == first.to_dict()


def test_a_resumed_run_keeps_raw_values(tmp_path):
    """Chunks on the disk hold values as they were measured, so clipping is not applied twice."""
    raw = score(pairs=8)
    score(pairs=8, run_dir=tmp_path, truncate=1.0)
    again = score(pairs=8, run_dir=tmp_path, truncate=1.0)
    assert again.table.pmi.tobytes() == raw.table.pmi.tobytes()


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


def test_bits_of_the_monte_carlo_error():
    result = score(pairs=8)
    nats, bits = result.to_dict(), result.to_dict(bits=True)
    assert bits["monte_carlo_stderr"] * np.log(2) == pytest.approx(nats["monte_carlo_stderr"])
    assert nats["monte_carlo_stderr"] == result.details.monte_carlo_stderr > 0
