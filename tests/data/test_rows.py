"""One matcher of rows: copies are found however they were written, and no row is taken for another."""

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dataworth.data.changes import compare
from dataworth.data.dataset import Dataset
from dataworth.data.rows import copy_number, first_of, pair_up, same_rows


def rows(X):
    return Dataset(X, np.zeros(len(X)), allow_missing=True)


def as_text(X, digits):
    return np.array([[float(f"{value:.{digits}g}") for value in row] for row in X])


COPIES = {
    "float32": lambda X: X.astype(np.float32), "7 digits": lambda X: as_text(X, 7),
    "6 digits": lambda X: as_text(X, 6), "6 digits of float32": lambda X: as_text(X.astype(np.float32), 6),
    "6 decimals": lambda X: np.round(X, 6),
}  # fmt: skip


@pytest.mark.parametrize("columns", [1, 10, 160, 1_280])
@pytest.mark.parametrize("copy", COPIES)
def test_copies_are_found_at_any_width(columns, copy):
    """Keys made by rounding kept 368, 93 and 0 of 400 in float32 at 10, 160 and 1,280 columns."""
    X = np.random.default_rng(0).normal(size=(400, columns))
    change = compare(rows(X), rows(COPIES[copy](X)))
    assert change.kept == 400
    if columns > 1:  # one number with six digits may be another row's, too
        assert change.origin.tolist() == list(range(400))
    assert str(change) == "400 kept"


@pytest.mark.parametrize("scale", [1e-30, 1e-3, 1.0, 1e6, 1e30])
@pytest.mark.parametrize("shift", [0.0, 100.0])
def test_scale_and_place_do_not_matter(scale, shift):
    X = (np.random.default_rng(1).normal(size=(200, 20)) + shift) * scale
    own, other = same_rows(rows(X), rows(as_text(X, 6)[::-1]))
    assert own.tolist() == other[::-1].tolist() == list(range(200))


@pytest.mark.parametrize("digits", [5, 6])
def test_the_tolerance_is_one_in_the_last_digit(digits):
    """A relative difference of 0.9 units of the digit agrees, one of 1.1 does not, in any one column."""
    many = rows(np.random.default_rng(3).normal(size=(30_000, 6)))
    assert len(np.unique(same_rows(many, digits=digits)[0])) == len(many)
    X = np.random.default_rng(4).uniform(1.0, 3.0, size=(50, 8))
    unit = 10.0 ** (1 - digits)
    for factor, agree in ((0.9, True), (1.1, False)):
        other = X.copy()
        other[np.arange(50), np.arange(50) % 8] *= 1 + factor * unit
        own, found = same_rows(rows(X), rows(other), digits=digits)
        assert ((own == found).all(), (own == found).any()) == (agree, agree)


def test_whole_numbers_categories_and_gaps_are_compared_exactly():
    """All text, constant, no columns, no rows, one row: nothing is divided by nothing."""
    X = np.array([[200_000.0, 1.5], [200_001.0, 1.5], [0.0, 1.5], [1.0, 1.5]])
    assert len(set(same_rows(rows(X))[0])) == 4
    # beyond the digits they are rounded as other numbers are
    big = np.array([[12_345_678.0, 1.5], [12_345_700.0, 1.5]])
    assert len(set(same_rows(rows(big))[0])) == 1
    frame = {"size": [1.5, None, 0.0, -0.0, None], "city": ["Ulm", "Ulm", None, None, "Bonn"]}
    other = {"size": [0.0, None, 1.5], "city": [None, "Ulm", "Aachen"]}
    a, b = (Dataset(pa.table(f), np.zeros(len(f["size"])), allow_missing=True) for f in (frame, other))
    codes, others = same_rows(a, b)
    assert (codes.tolist(), others.tolist()) == ([0, 1, 2, 2, 3], [2, 1, 4])
    text = Dataset(pa.table({"a": ["x", "y", "x"]}), [0, 1, 0])
    assert same_rows(text)[0].tolist() == [0, 1, 0]
    assert same_rows(rows(np.zeros((3, 2))))[0].tolist() == [0, 0, 0]
    assert same_rows(rows(np.zeros((3, 0))))[0].tolist() == [0, 0, 0]
    assert [codes.tolist() for codes in same_rows(rows(np.zeros((0, 2))), rows(np.ones((1, 2))))] == [[], [0]]


def test_many_equal_rows_and_chains():
    """50,000 rows of three binary columns, and as many that all but agree: pairs are not listed. a ~ b ~ c
    ~ …: neighbours agree, but the ends of a chain of numbers do not."""
    rng = np.random.default_rng(5)
    binary = rng.integers(0, 2, size=(50_000, 3)).astype(float)
    dense = 1.0 + 1e-9 * rng.normal(size=(50_000, 2))
    assert len(np.unique(same_rows(rows(binary))[0])) == 8
    assert len(np.unique(same_rows(rows(dense))[0])) < 50
    X = (1.0 + 5e-6 * np.arange(100))[:, None]
    codes = same_rows(rows(X))[0]
    assert len(np.unique(codes)) >= 30
    ends = [np.ptp(X[codes == code]) for code in np.unique(codes)]
    assert max(ends) <= 3e-5


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 4), max_size=12), st.lists(st.integers(0, 4), max_size=12))
def test_the_kth_copy_goes_to_the_kth(wanted, given_):
    left, right = (np.array(v, dtype=np.intp) for v in (wanted, given_))
    places = pair_up(left, right)
    used = [p for p in places.tolist() if p >= 0]
    assert len(set(used)) == len(used)
    assert all(left[p] == right[i] for i, p in enumerate(places) if p >= 0)
    assert len(used) == sum((Counter(wanted) & Counter(given_)).values())
    for i, p in enumerate(places):
        if p >= 0:
            assert copy_number(left)[p] == copy_number(right)[i]
    assert [wanted.index(v) if v in wanted else -1 for v in given_] == first_of(left, right).tolist()
