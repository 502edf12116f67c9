"""What a change moved, for people: classes, columns, and a few rows of each kind of change."""

import numpy as np
import pyarrow as pa
import pytest

from dataworth import read
from dataworth.data.changes import compare
from dataworth.data.dataset import Dataset
from dataworth.data.moved import EXAMPLES, MAX_CELL, examples, moved


def table(**changes):
    """Ten people, some of them changed."""
    told = {
        "id": [f"p{i}" for i in range(10)],
        "age": [20.0 + i for i in range(10)],
        "job": ["cook", "smith"] * 5,
        "label": ["no"] * 5 + ["yes"] * 5,
    }
    return read(pa.table(told | changes), label="label", id="id")


BEFORE = table()


def shown(after, before=BEFORE, gone=None):
    made = compare(before, after)
    none = [np.zeros(len(part), dtype=bool) for part in (before, after)]
    return examples(before, after, made, gone or none)


def test_classes_and_columns_that_moved():
    after = table(age=[100.0, *(20.0 + i for i in range(1, 10))], job=["cook"] * 10)
    told = moved(BEFORE, after, compare(BEFORE, after))
    assert told["classes"] == {"no": [5, 5], "yes": [5, 5]}
    one, two = told["columns"]
    shift = 8 / np.std(np.arange(10))  # of the mean, in standard deviations before
    assert one == {"column": "age", "cells": 1, "shift": round(shift, 3), "moved": "mean 24.5 → 32.5"}
    assert two == {"column": "job", "cells": 5, "shift": 0.5, "moved": "cook: 50% → 100% of the rows"}
    fewer = BEFORE.take([0, 1, 2, 9])
    assert moved(BEFORE, fewer, compare(BEFORE, fewer))["classes"] == {"no": [5, 3], "yes": [5, 1]}
    assert moved(BEFORE, BEFORE, compare(BEFORE, BEFORE))["columns"] == []


@pytest.mark.parametrize(("by", "told"), [(0.04, 0), (0.06, 1)])
def test_columns_move_from_a_twentieth_of_a_standard_deviation(by, told):
    data = Dataset(np.array([-1.0, 1.0] * 20)[:, None], [0, 1] * 20)
    # other rows, so that no cell of a row that is kept is edited
    other = Dataset(data.X + by, data.y, ids=[f"n{i}" for i in range(40)])
    made = compare(data.take(range(0)), other)
    assert len(moved(data, other, made)["columns"]) == told


def test_labels_that_are_numbers_have_no_classes():
    data = Dataset(np.arange(30.0)[:, None], np.arange(30) / 7)
    assert "classes" not in moved(data, data, compare(data, data))


def test_rows_of_each_kind_of_change():
    after = table(
        id=["p0", "p1", "p2", *(f"n{i}" for i in range(7))],
        age=[20.0, 99.0, 22.0, *range(50, 57)],
        label=["yes", *["no"] * 4, *["yes"] * 5],
    )
    found = shown(after)
    kinds = [one.kind for one in found]
    assert {kind: kinds.count(kind) for kind in kinds} == {
        "removed": 5,
        "relabelled": 1,
        "edited": 1,
        "new": 5,
    }
    (relabelled,) = [one for one in found if one.kind == "relabelled"]
    assert (relabelled.row, relabelled.label) == ("p0", "no → yes")
    (edited,) = [one for one in found if one.kind == "edited"]
    assert (edited.row, edited.label, edited.cells[0]) == ("p1", "no", ("age", "21 → 99"))
    removed = [one.row for one in found if one.kind == "removed"]
    assert removed[0] == "p3"
    assert removed[-1] == "p9", "they are spread over the file"
    assert len(removed) == EXAMPLES


def test_which_twin_stays():
    twice = Dataset([[1.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1])
    (one,) = shown(twice.take([1, 2, 3]), twice)
    assert (one.kind, one.row, one.label, one.twin) == ("removed, its twin stays", "1", "0", "2")


def test_rows_that_stand_in_the_test_set_are_none():
    gone = [np.arange(10) == 3, np.zeros(4, dtype=bool)]
    made = compare(BEFORE.take(~gone[0]), BEFORE.take(range(3)))
    found = examples(BEFORE, BEFORE.take([0, 1, 2]), made, [gone[0], gone[1][:3]])
    assert [one.row for one in found] == ["p4", "p5", "p6", "p8", "p9"]


@pytest.mark.parametrize("value", ["x" * 500, "", "a\nb"])
def test_long_cells_are_cut(value):
    after = table(job=[value, *["smith"] * 9])
    cells = [text for one in shown(after) for _, text in one.cells]
    assert max(map(len, cells)) <= 2 * MAX_CELL + 3
