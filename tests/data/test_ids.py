"""Columns that count rows are ids; columns that measure are not, however they are called."""

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv

from dataworth.data.changes import compare
from dataworth.data.io import ids
from dataworth.data.io.describe import describe
from dataworth.data.io.ids import counts_up
from dataworth.data.io.together import read_together

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
    assert used(name, COUNTED) == "id"
    assert used(name, [f"K{number}" for number in COUNTED[:40]]) == "id"


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


def test_a_column_named_like_an_id_names_the_rows_if_it_can():
    assert used("customer_id", COUNTED) == "id"
    assert used("customer_id", np.r_[COUNTED[1:], COUNTED[:1]]) == "id"
    twice = np.r_[COUNTED[1:], COUNTED[1:2]]
    assert used("customer_id", twice) == "ignored"
    missing = pa.array([None, *COUNTED[1:].tolist()])
    assert used("customer_id", missing) == "ignored"


def test_of_two_columns_named_like_an_id_neither_is_chosen():
    table = pa.table(
        {"user_id": COUNTED, "order_id": COUNTED[::-1], "a": RNG.normal(size=N), "label": np.arange(N) % 2}
    )
    roles = {role.column: role.role for role in describe(table).roles}
    assert [roles["user_id"], roles["order_id"]] == ["ignored", "ignored"]
    asked = {role.column: role.role for role in describe(table, id="order_id").roles}
    assert [asked["user_id"], asked["order_id"]] == ["ignored", "id"]


def test_what_a_file_is_known_by_does_not_depend_on_files_beside_it(tmp_path):
    rows = {"a": RNG.normal(size=N), "label": np.arange(N) % 2}
    named, repeated = tmp_path / "named.csv", tmp_path / "repeated.csv"
    csv.write_csv(pa.table({"Kunden-Nr": COUNTED, **rows}), named)
    csv.write_csv(pa.table({"Kunden-Nr": np.r_[COUNTED[1:], COUNTED[1:2]], **rows}), repeated)
    beside = [read.data for read in read_together([named, repeated])]
    assert beside[0].ids is not None
    assert beside[1].ids is None
    for one, file in zip(beside, (named, repeated), strict=True):
        assert one.content_hash() == read_together([file])[0].data.content_hash()


def test_rows_edited_under_a_customer_number_are_known(tmp_path):
    before = {"Kunden-Nr": COUNTED, "a": RNG.normal(size=N), "label": np.arange(N) % 2}
    after = before | {"a": before["a"] + (np.arange(N) < 20)}
    files = [tmp_path / "before.csv", tmp_path / "after.csv"]
    for table, file in zip((before, after), files, strict=True):
        csv.write_csv(pa.table(table), file)
    change = compare(*(read.data for read in read_together(files)))
    assert change.by == "ids"
    assert change.counts["edited"] == 20
    assert change.counts["new"] == 0
