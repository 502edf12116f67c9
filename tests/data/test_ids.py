"""Columns that count rows are ids; columns that measure are not, however they are called."""

import numpy as np
import pyarrow as pa
import pytest

from dataworth.data.io import ids
from dataworth.data.io.describe import describe
from dataworth.data.io.ids import counts_up

RNG = np.random.default_rng(20)
N = 400


def column(values):
    return pa.chunked_array([pa.array(values)])


def used(name, values):
    """The roles of a column of that name among others."""
    rows = len(values)
    table = pa.table({name: values, "a": RNG.normal(size=rows), "label": np.arange(rows) % 2})
    return {role.column: role.role for role in describe(table).roles}[name]


COUNTED = RNG.permutation(100_000 + 7 * np.arange(N) + RNG.integers(0, 6, N))


@pytest.mark.parametrize(
    "name", ["Kunden-Nr", "KundenNr", "customer_no", "Nr.", "order number", "Kundennummer", "key"]
)
def test_what_counts_up_is_an_id(name):
    assert used(name, COUNTED) == "ignored"
    assert used(name, [f"K{number}" for number in COUNTED[:40]]) == "ignored"


MEASURED = {
    "a float": RNG.normal(size=N),
    "whole numbers that heap up": RNG.permutation(np.unique(RNG.normal(5e4, 9e3, 2 * N).astype(int)))[:N],
    "incomes": RNG.permutation(np.unique(RNG.lognormal(10, 1, 2 * N).astype(int)))[:N],
    "few values": RNG.integers(0, 50, N),
}


@pytest.mark.parametrize("values", MEASURED.values(), ids=MEASURED)
def test_what_is_measured_is_a_feature_whatever_its_name(values):
    assert used("Reynolds number", values) == "feature"


def test_another_name_stays_a_feature():
    assert used("postcode area", COUNTED) == "feature"


def test_how_even_is_even():
    """max |u − u^p| is (p − 1)·p^(p/(1 − p)): 0.096 at p = 1.3, 0.123 at 1.4."""
    for p, even in ((1.3, True), (1.4, False)):
        place = np.arange(3000) / 2999
        distance = (p - 1) * p ** (p / (1 - p))
        assert (distance <= ids.EVEN) == even
        assert counts_up(column(np.unique((1e9 * place**p).astype(np.int64)))) == even


def test_few_rows_must_fill_a_third_of_their_range():
    for step, up in ((2, True), (4, False)):
        assert counts_up(column(step * RNG.permutation(299))) == up
        assert counts_up(column(step * RNG.permutation(300)))  # from here on their spread tells


def test_a_few_rows_may_be_there_twice():
    for twice, up in ((7, True), (12, False)):
        assert counts_up(column(np.r_[np.arange(N), np.arange(twice)])) == up
