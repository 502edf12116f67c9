"""Sizes, numbers of blocks and pairs, and options: the rules, and the sentences when they are broken."""

import inspect

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dataworth as dw
from dataworth.measure import plans
from dataworth.measure.case import Plan
from dataworth.measure.designs import DATA
from dataworth.measure.options import DESIGNS, TAKES, Options
from dataworth.measure.plans import block_count, for_precision, pair_sizes
from dataworth.measure.prepare import Measurement
from dataworth.measure.table import COLUMNS, PairTable
from golden.sentences import all_refused
from worlds import classes, held_out, refusal


def parse(given, what="score"):
    return Options.parse(what, given)


def test_blocks_by_the_documented_rule():
    """Twenty where rows allow, of four rows at least, two at least; eight test rows; groups whole."""
    assert [block_count(n) for n in (8, 11, 12, 79, 80, 10**6)] == [2, 2, 3, 19, 20, 20]
    assert [block_count(n, 7) for n in (8, 80)] == [2, 7]
    for rows in (0, 7):
        assert f"{rows} test rows are left" in refusal(block_count, rows)


@given(st.integers(16, 10**6), st.integers(16, 10**6))
def test_the_default_size_is_the_largest_that_leaves_eight_blocks(data_rows, test_rows):
    sizes = pair_sizes(data_rows, test_rows, None, None)
    n = sizes.data
    assert (sizes.test, sizes.pairs) == (n, 200)
    assert min(data_rows, test_rows) // n >= 8 > min(data_rows, test_rows) // (n + 1)
    assert sizes.blocks == pytest.approx(min(data_rows, test_rows) / n)


def chosen(what="score", **options):
    return parse(options, what).choose_design(DESIGNS[what])


FUNCTIONS = {"score": dw.score, "audit": dw.audit, "rank": dw.rank}


@pytest.mark.parametrize("what", FUNCTIONS)
def test_signatures_show_every_option_with_its_default(what):
    """What an editor completes: no `**options`, and the defaults that `Options` has."""
    shown = inspect.signature(FUNCTIONS[what]).parameters
    assert not any(p.kind is p.VAR_KEYWORD for p in shown.values())
    options = {name: p for name, p in shown.items() if name in TAKES[what].__annotations__}
    assert set(options) == set(TAKES[what].__annotations__)
    for name, parameter in options.items():
        assert parameter.kind is parameter.KEYWORD_ONLY
        assert parameter.default == getattr(Options(), name)
        assert f"    {name}: {Options.__dataclass_fields__[name].metadata['help']}" in FUNCTIONS[what].__doc__


def test_what_determines_a_result_and_what_does_not():
    """Where and how fast the work runs must not be part of a run's configuration."""
    slow, fast = parse({"seed": 1, "jobs": 1}), parse({"seed": 1, "jobs": 8, "run_dir": "x"})
    assert slow.to_dict() == fast.to_dict()
    for change in ({"seed": 2}, {"model": "logistic"}, {"prior_variance": 1.0}, {"winsorise": 9.0}):
        assert parse({"seed": 1} | change).to_dict() != slow.to_dict()


@pytest.mark.parametrize(
    ("spread", "precision", "pairs"),
    [(2.0, 0.1, 484), (2.0, 0.2, 121), (1.0, 0.0999, 122), (0.1, 0.1, 50), (2.0, 0.01, 20_000)],
)
def test_pairs_that_precision_takes(monkeypatch, spread, precision, pairs):
    """The error of k pairs is s/√k, so k = (1.1·s/ε)²: a tenth for the pilot's own error; 50 to 20,000."""
    values, asked = np.zeros((50, 1, len(COLUMNS))), []
    values[:, 0, 0] = 5.0 + np.tile([-1.0, 1.0], 25) * spread * np.sqrt(49 / 50)

    def pilot(measurement, pool, plan):
        asked.append((plan.count, measurement.options.run_dir, measurement.options.progress))
        return PairTable(arms=(DATA,), values=values, log_z_test=np.zeros(50), test_rows=np.full(50, 10.0))

    monkeypatch.setattr(plans, "measure", pilot)
    options = parse({"precision": precision, "run_dir": "somewhere"})
    own = {"what": "score", "data": {}, "test": None, "leaked": 0, "yardstick": None, "notes": ()}
    plan = for_precision(Measurement(options=options, **own), None, Plan(design=None, count=200, blocks=8.0))
    assert plan.count == pairs
    assert asked == [(50, None, None)]  # the pilot leaves no trace in the run directory
    assert ["would take 484" in n for n in plan.notes] == ([True] if pairs == 20_000 else [])


def test_sentences():
    prior = dw.GaussianPrior(np.zeros(4), np.eye(4))
    cases = [(block_count, 100, 1)]
    for rows, tested, pairs, size in (
        (100, 15, None, None), *((100, 100, n, 10) for n in (1, 2.0, True, "ten")),
        *((100, 100, 10, n) for n in (0, (0, 5), (5, 0))), (30, 100, 10, 31), (30, 100, 10, (30, 101)),
    ):  # fmt: skip
        cases.append((pair_sizes, rows, tested, pairs, size))
    for what, options in (
        ("score", {"design": "matched"}), ("curate", {"design": "matched"}), ("audit", {"precision": 0.1}),
        *(("audit", {"design": "whole", n: 10}) for n in ("pairs", "size")), ("curate", {"precision": 0.1}),
        ("score", {"pairs": 10, "precision": 0.1}), ("rank", {"pairs": 10}), ("score", {"size": (1, 2, 3)}),
        *(("score", {"seed": s}) for s in (-1, True, 1.0, None)), ("score", {"form": "eta-ish"}),
        *(("score", {"precision": p}) for p in (0, float("nan"))), ("score", {"sed": 1}),
        ("score", {"model": "forest"}), ("score", {"inference": "magic"}), ("score", {"prior_variance": -1}),
    ):  # fmt: skip
        cases.append(lambda what=what, options=options: chosen(what, **options))
    cases += [lambda: dw.audit(held_out(), held_out(), held_out(), seeds=1)]
    cases += [
        lambda model=model: dw.score(classes(40, seed=1), held_out(), model=model)
        for model in (prior, dw.Logistic, dw.Linear())
    ]
    all_refused("options", cases)
