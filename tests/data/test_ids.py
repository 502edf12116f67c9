"""Columns that name rows, by their names: they are ids if no two rows share one, and never features."""

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv

from dataworth.data.changes import compare
from dataworth.data.io import describe, read_together

RNG = np.random.default_rng(20)
N = 400
COUNTED = RNG.permutation(100_000 + 7 * np.arange(N) + RNG.integers(0, 6, N))
TWICE = np.r_[COUNTED[1:], COUNTED[1:2]]


def roles_of(columns, **asked):
    rows = {"a": RNG.normal(size=N), "label": np.arange(N) % 2}
    return {role.column: role.role for role in describe(pa.table({**columns, **rows}), **asked).roles}


@pytest.mark.parametrize(
    ("name", "values", "role"),
    [
        ("customer_id", COUNTED, "id"),
        ("customer_id", TWICE, "ignored"),
        ("customer_id", pa.array([None, *COUNTED[1:].tolist()]), "ignored"),
        ("Kunden-Nr", COUNTED, "feature"),  # what a number counts is not guessed from how it is spread
        ("Kunden-Nr", [f"K{number}" for number in COUNTED], "ignored"),
    ],
)
def test_a_column_named_like_an_id_names_the_rows_if_it_can(name, values, role):
    assert roles_of({name: values})[name] == role


def test_of_two_columns_named_like_an_id_neither_is_chosen():
    both = {"user_id": COUNTED, "order_id": COUNTED[::-1]}
    roles, asked = roles_of(both), roles_of(both, id="order_id")
    assert [roles["user_id"], roles["order_id"]] == ["ignored", "ignored"]
    assert [asked["user_id"], asked["order_id"]] == ["ignored", "id"]


def test_what_a_file_is_known_by_does_not_depend_on_files_beside_it(tmp_path):
    rows = {"a": RNG.normal(size=N), "label": np.arange(N) % 2}
    files = [tmp_path / "named.csv", tmp_path / "repeated.csv"]
    for file, names in zip(files, (COUNTED, TWICE), strict=True):
        csv.write_csv(pa.table({"customer_id": names, **rows}), file)
    beside = [read.data for read in read_together(files)]
    assert [one.ids is None for one in beside] == [False, True]
    for one, file in zip(beside, files, strict=True):
        assert one.content_hash() == read_together([file])[0].data.content_hash()


def test_rows_edited_under_a_customer_id_are_known(tmp_path):
    before = {"customer_id": COUNTED, "a": RNG.normal(size=N), "label": np.arange(N) % 2}
    after = before | {"a": before["a"] + (np.arange(N) < 20)}
    files = [tmp_path / "before.csv", tmp_path / "after.csv"]
    for table, file in zip((before, after), files, strict=True):
        csv.write_csv(pa.table(table), file)
    change = compare(*(read.data for read in read_together(files)))
    assert (change.by, change.counts["edited"], change.counts["new"]) == ("ids", 20, 0)
