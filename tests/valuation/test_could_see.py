"""What an audit could have seen: from probes of the test set, cut as the audit cuts it, and in words."""

import pytest

import dataworth as dw
from dataworth.data.order import canonical
from dataworth.report.documents.audit import rounded
from dataworth.valuation.audit.verdict import undecided
from dataworth.yardstick.probes import Gain, Sight, sight
from worlds import classes, flipped, held_out, yardstick

DATA, BAD = flipped(classes(160, seed=1), 0.2, seed=0)


def audited(after=None, **options):
    return dw.audit(
        DATA,
        DATA.take(~BAD) if after is None else after,
        held_out(),
        yardstick=yardstick(),
        ignore="all",
        **options,
    )


def test_the_probes_are_cut_as_the_audit_is():
    """200 test rows in 20 blocks; a half of them stands in for 160 rows of data."""
    found, yard, T = audited().could_see, yardstick(), canonical(held_out())
    seen = sight(
        yard.model, yard.tempering, yard.features(T), yard.targets(T), rows_a_block=10, blocks=20, size=100
    )
    assert (found.rise, found.labels, found.more_rows) == (seen.rise, seen.proportion, seen.rows)
    assert found.of_rows == 100
    few = dw.audit(DATA.take(range(40)), DATA.take(range(30)), T, yardstick=yard, ignore="all")
    assert few.could_see.of_rows == 40


def test_pairs_have_no_such_probes():
    assert audited(design="row", pairs=5, size=40).could_see is None


def test_large_test_sets_are_probed_by_a_thousand_rows():
    T = classes(2600, seed=3)
    found = dw.audit(DATA, DATA.take(~BAD), T, yardstick=yardstick(), ignore="all")
    assert found.could_see.of_rows == 160
    many = classes(2000, seed=5)
    assert (
        dw.audit(many, many.take(range(1900)), T, yardstick=yardstick(), ignore="all").could_see.of_rows
        == 500
    )


@pytest.mark.parametrize(
    ("change", "rows"), [(1.0, None), (0.7, None), (0.6, 250), (-0.3, 970), (0.0, None), (0.019, None)]
)
def test_rows_that_would_decide_are_told_if_these_do_not(change, rows):
    """(2.95 s / Δ)² blocks of ten rows, where there are twenty."""
    assert undecided(Sight(20, 10, 100, {}, Gain(0.0, 0.0)), change, 1.0) == rows


def test_estimates_of_estimates_have_two_digits():
    assert [rounded(n) for n in (7, 99, 101, 15499)] == [7, 99, 100, 15000]
