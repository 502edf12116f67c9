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
from worlds import classes, held_out, refusal


def parse(given, what="score"):
    return Options.parse(what, given)


@pytest.mark.parametrize("rows", [0, 1, 7])
def test_too_few_rows_for_blocks(rows):
    assert f"{rows} test rows are left" in refusal(block_count, rows)


def test_blocks_by_the_documented_rule():
    """Twenty where rows allow, of four rows at least, two at least; eight test rows at least."""
    assert [block_count(n) for n in (8, 11, 12, 79, 80, 10**6)] == [2, 2, 3, 19, 20, 20]


@given(st.integers(8, 10**4), st.integers(2, 10**4))
def test_no_more_blocks_than_groups(rows, groups):
    assert block_count(rows, groups) == min(block_count(rows), groups)


@given(st.integers(16, 10**6), st.integers(16, 10**6))
def test_the_default_size_is_the_largest_that_leaves_eight_blocks(data_rows, test_rows):
    sizes = pair_sizes(data_rows, test_rows, None, None)
    n = sizes.data
    assert sizes.test == n
    assert min(data_rows // n, test_rows // n) >= 8
    assert min(data_rows // (n + 1), test_rows // (n + 1)) < 8
    assert sizes.blocks == pytest.approx(min(data_rows, test_rows) / n)
    assert sizes.pairs == 200


REFUSED = [
    ("test rows belong to one group", lambda: block_count(100, 1)),
    *[
        ("too few for pairs", lambda rows=rows: pair_sizes(*rows, None, None))
        for rows in ((15, 100), (100, 15))
    ],
    *[("pairs is", lambda n=n: pair_sizes(100, 100, n, 10)) for n in (1, 0, -5, 2.0, True, "ten")],
    *[("1 or more", lambda n=n: pair_sizes(100, 100, 10, n)) for n in (0, -1, (0, 5), (5, 0))],
    ("the data has only 30 rows", lambda: pair_sizes(30, 100, 10, 31)),
    ("the test set has only 100 rows", lambda: pair_sizes(30, 100, 10, (30, 101))),
    *[("known designs here: whole, pairs", lambda d=d: chosen(design=d)) for d in ("row", "")],
    *[
        ("pairs and size mean nothing to it", lambda w=what, n=name: chosen(w, design="whole", **{n: 10}))
        for what in ("score", "audit", "curate")
        for name in ("pairs", "size")
    ],
    *[
        (f"the design {design} does not ask", lambda w=what: chosen(w, precision=0.1))
        for what, design in (("score", "whole"), ("audit", "whole"), ("curate", "method"))
    ],
    ("both pairs and precision", lambda: chosen(pairs=10, precision=0.1)),
    *[
        (f"there is no option {name!r} of rank", lambda n=name: parse({n: 10}, "rank"))
        for name in ("precision", "design", "pairs", "size")
    ],
    ("known designs here: method, whole, pairs", lambda: chosen("curate", design="row")),
    ("pairs is 1", lambda: chosen(pairs=1)),
    ("size is 0", lambda: chosen(design="pairs", size=(5, 0))),
    ("one for the data and one for the test", lambda: chosen(size=(1, 2, 3))),
    *[("seed is", lambda s=s: parse({"seed": s})) for s in (-1, True, 1.0, "0", None)],
    *[("precision (in nats)", lambda p=p: parse({"precision": p})) for p in (0, -0.1, float("nan"))],
    ("form is 'eta-ish'", lambda: parse({"form": "eta-ish"})),
    ("no option 'sed' of score", lambda: parse({"sed": 1})),
    ("no option 'seeds' of audit", lambda: dw.audit(held_out(), held_out(), held_out(), seeds=1)),
    ("known models: auto, logistic, linear", lambda: parse({"model": "forest"})),
    ("known inferences", lambda: parse({"inference": "magic"})),
    ("prior_variance is -1", lambda: parse({"prior_variance": -1})),
    *[
        (word, lambda model=model: dw.score(classes(40, seed=1), held_out(), model=model))
        for word, model in (
            ("give a model", dw.GaussianPrior(np.zeros(4), np.eye(4))),
            ("give an instance", dw.Logistic),
            ("but the test set has", dw.Linear()),
        )
    ],
]


@pytest.mark.parametrize(("word", "call"), REFUSED)
def test_what_makes_no_sense_is_refused(word, call):
    assert word in refusal(call)


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
    changes = [{"seed": 2}, {"model": "logistic"}, {"prior_variance": 1.0}, {"precision": 0.1}]
    changes += [{"truncate": 9.0}, {"winsorise": 9.0}]
    for change in changes:
        assert parse({"seed": 1} | change).to_dict() != slow.to_dict()


def pilot_table(spread):
    """Fifty pairs of one arm with a standard deviation of exactly `spread`."""
    values = np.zeros((50, 1, len(COLUMNS)))
    values[:, 0, 0] = np.tile([-1.0, 1.0], 25)
    values *= spread / values[:, 0, 0].std(ddof=1)
    values[:, 0, 0] += 5.0
    return PairTable(arms=(DATA,), values=values, log_z_test=np.zeros(50), test_rows=np.full(50, 10.0))


PLAN = Plan(design=None, count=200, blocks=8.0)


def precise(monkeypatch, table, precision):
    """Pairs and notes for a precision, where the pilot measures `table`; and what the pilot was asked."""
    asked = []

    def measure(measurement, pool, plan):
        options = measurement.options
        asked.append((plan.count, options.run_dir, options.progress))
        return table

    monkeypatch.setattr(plans, "measure", measure)
    options = parse({"precision": precision, "run_dir": "somewhere"})
    plan = for_precision(measurement_with(options), None, PLAN)
    return plan.count, plan.notes, asked


def measurement_with(options):
    return Measurement(what="score", data={}, test=None, leaked=0, yardstick=None, options=options, notes=())


@pytest.mark.parametrize(
    ("spread", "precision", "pairs"),
    [(2.0, 0.1, 484), (2.0, 0.2, 121), (1.0, 0.0999, 122), (0.1, 0.1, 50), (2.0, 0.01, 20_000)],
)
def test_pairs_that_precision_takes(monkeypatch, spread, precision, pairs):
    """The error of k pairs is s/√k, so k = (1.1·s/ε)²: a tenth for the pilot's own error; 50 to 20,000."""
    needed, notes, asked = precise(monkeypatch, pilot_table(spread), precision)
    assert needed == pairs
    assert asked == [(50, None, None)]  # the pilot leaves no trace in the run directory
    assert ["would take 484" in n for n in notes] == ([True] if pairs == 20_000 else [])
