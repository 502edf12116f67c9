"""The Dataset: what it accepts, what it refuses and in which words, and what never changes."""

import pickle
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from dataworth.data.convert import Column
from dataworth.data.dataset import Dataset, label_keys
from golden.sentences import all_refused

patient = settings(deadline=None)
"""The time of one example says how busy the machine is, not whether rows are right."""
FRAME = {
    "age": [31, 45, 27], "height": [1.7, 1.8, 1.6], "member": [True, False, True],
    "city": ["Ulm", "Bonn", "Ulm"], "emb": [[0.5, 1.5], [2.5, 3.5], [4.5, 5.5]],
}  # fmt: skip
MATRIX = [[31, 1.7, 1, 1, 0.5, 1.5], [45, 1.8, 0, 0, 2.5, 3.5], [27, 1.6, 1, 1, 4.5, 5.5]]
CODED, FIXED = pa.array(FRAME["city"]).dictionary_encode(), pa.array(FRAME["emb"], pa.list_(pa.float64(), 2))
TENSOR = pa.FixedShapeTensorArray.from_numpy_ndarray(np.array(FRAME["emb"]))
KINDS = {"city": "category", "age": "Int64", "member": "boolean"}
CAST = pl.col("emb").cast(pl.Array(pl.Float64, 2)), pl.col("city").cast(pl.Categorical)
FRAMES = {
    "pandas arrays": pd.DataFrame(FRAME | {"emb": [np.array(e) for e in FRAME["emb"]]}),
    "pandas categorical": pd.DataFrame(FRAME).astype(KINDS),
    "polars array": pl.DataFrame(FRAME).with_columns(*CAST),
    "pyarrow chunks": pa.concat_tables([pa.table(FRAME).slice(0, 2), pa.table(FRAME).slice(2)]),
    "pyarrow fixed": pa.table(FRAME | {"emb": FIXED}),
    "pyarrow tensor": pa.table(FRAME | {"emb": TENSOR, "city": CODED}),
    "record batch": pa.RecordBatch.from_pydict(FRAME),
}
DATA = Dataset(
    pa.table(FRAME), ["a", "b", "a"], groups=[1, 1, 2], ids=["r", "s", "t"], weights=[1.0, 0.0, 2.5]
)


def cities(*names: str | None) -> Dataset:
    frame = pl.DataFrame({"city": list(names)}, schema={"city": pl.String})
    return Dataset(frame, [0] * len(names), allow_missing=True)


@pytest.mark.parametrize("name", FRAMES)
def test_every_frame_library_gives_the_same_columns(name):
    D = Dataset(FRAMES[name], [0, 1, 1])
    assert D.names == ("age", "height", "member", "city", "emb[0]", "emb[1]")
    assert " ".join(c.kind for c in D.columns) == "numeric numeric boolean categorical numeric numeric"
    assert D.columns[3].categories == ("Bonn", "Ulm")
    np.testing.assert_array_equal(D.X, MATRIX)
    assert D.X.dtype == np.float64
    assert D.X.flags.c_contiguous
    assert D.content_hash() == Dataset(pa.table(FRAME), [0, 1, 1]).content_hash()


def test_allowed_missing_values_stay_nan():
    frame = pl.DataFrame({"a": [1, None], "c": [None, "u"], "b": [None, True], "e": [[1.0, None], None]})
    D = Dataset(frame, [0, 1], allow_missing=True)
    np.testing.assert_array_equal(D.X, [[1, np.nan, np.nan, 1, np.nan], [np.nan, 0, 1, np.nan, np.nan]])
    fixed = frame.with_columns(pl.col("e").cast(pl.Array(pl.Float64, 2)))
    np.testing.assert_array_equal(Dataset(fixed, [0, 1], allow_missing=True).X, D.X)
    assert np.isnan(Dataset([[np.nan, None]], [0], allow_missing=True).X).all()
    nothing = Dataset(pa.table({"n": pa.nulls(2)}), [0, 1], allow_missing=True)
    assert nothing.columns == (Column("n", "numeric"),)


FEATURES = [
    [1, 2], np.zeros((2, 2, 2)), 3.0, [[1, 2], [3]], [["a"], ["b"]], np.array([["1"], [2]], dtype=object),
    pl.LazyFrame({"a": [1, 2]}), pd.DataFrame([[1, 2], [3, 4]], columns=["a", "a"]),
    pd.DataFrame({"a": [1, "b"]}), pd.DataFrame({"d": pd.to_datetime(["2020-01-01"] * 2)}),
    pa.table({"s": [["k"], ["l"]]}), pa.table({"s": [b"k", b"l"]}), pa.table({"e": [[1.0], [1.0, 2.0]]}),
    pa.table({"e": [[], []]}), [[1.0, np.inf], [0.0, -np.inf]], pl.DataFrame({"e": [[1.0, 2.0], None]}),
    np.full((2, 8), np.nan), pa.table({"e": [[1.0]] * 2, "e[0]": [2.0] * 2}),
]  # fmt: skip


@pytest.mark.parametrize(
    "y",
    [
        [True, False], [1.0, 0.0], np.array([1, 0], dtype=np.uint8), np.array([1, False], dtype=object),
        (Decimal(1), Decimal(0)), pd.Series([1, 0]), pd.Series([True, False], dtype="boolean"),
        pl.Series([1, 0]), pa.array([1.0, 0.0]), pa.chunked_array([[True], [False]]), ["1", "0 "],
        pd.Series(["1", "0"], dtype="category"),
    ],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_labels_are_the_same_however_they_are_given(y):
    D = Dataset([[1], [2]], y)
    assert (label_keys(D.y).tolist(), label_keys(y).tolist()) == (["1", "0"], ["1", "0"])
    assert D.content_hash() == Dataset([[1], [2]], [1, 0]).content_hash()


PARTS = [
    {"y": [0]}, {"y": [[0], [1]]}, {"y": "label"}, {"y": ["a", float("nan")]},
    {"y": np.array([1, pd.NA], dtype=object)}, {"y": pl.Series([None, "a"])}, {"y": [0.0, np.inf]},
    {"y": [b"a", b"b"]}, {"y": np.array(["2020-01-01"] * 2, dtype="datetime64[D]")}, {"groups": [1]},
    {"ids": [["a"], ["b", "c"]]}, {"weights": [1]}, {"weights": [1, -2]}, {"weights": [1, np.inf]},
    {"weights": [0, 0]}, {"weights": ["1", "2"]}, {"names": ["a", "b"]},
]  # fmt: skip


def test_arrays_are_read_only_and_the_callers_own():
    for values in (DATA.X, DATA.y, DATA.groups, DATA.ids, DATA.weights):
        with pytest.raises(ValueError, match="read-only"):
            values[0] = values[1]
    with pytest.raises(AttributeError, match="immutable"):
        DATA.X = np.zeros((1, 1))
    with pytest.raises(AttributeError, match="immutable"):
        del DATA.y
    X, y, weights = np.ones((2, 2)), np.array([0, 1]), np.ones(2)
    view = X[:]
    view.setflags(write=False)
    series, frame = pd.Series([0.0, 1.0]), pd.DataFrame({"a": [1.0, 2.0]})
    made = [Dataset(view, y, weights=weights), Dataset(frame, series), Dataset(pl.DataFrame({"a": y}), y)]
    before = [D.content_hash() for D in made]
    X[:], y[:], weights[:] = 7, 7, 7
    series[:] = 7
    frame.loc[:, "a"] = 7
    assert [D.content_hash() for D in made] == before
    assert X.flags.writeable
    assert y.flags.writeable


def test_all_that_belongs_to_a_row_goes_where_it_goes():
    D = Dataset(DATA.X, DATA.y, DATA.groups, DATA.ids, DATA.weights, attributes=["red", 1, 2])
    taken = D.take([2, 0, 2])
    np.testing.assert_array_equal(taken.X, np.array(MATRIX)[[2, 0, 2]])
    assert (taken.y.tolist(), taken.groups.tolist()) == (["a"] * 3, ["2", "1", "2"])
    assert (taken.ids.tolist(), taken.weights.tolist()) == (["t", "r", "t"], [2.5, 1.0, 2.5])
    assert taken.attributes.tolist() == ["2", "red", "2"]
    assert D.take([False, True, False]).ids.tolist() == ["s"]
    assert len(D.take([])) == len(D.take([False] * 3)) == 0
    same = [D.with_labels(D.y), D.with_weights([1, 2, 3]), D.select(D.columns), D.pick([1])]
    again = pickle.loads(pickle.dumps(D))
    assert all(one.attributes.tolist() == D.attributes.tolist() for one in [*same, again])
    assert again.content_hash() == D.content_hash()
    assert not any(one.X.flags.writeable for one in (taken, again))
    twice, plain = Dataset.concat([D, D]), Dataset(DATA.X, DATA.y)
    assert (twice.ids.tolist(), twice.attributes.tolist()) == (["r", "s", "t"] * 2, ["red", "1", "2"] * 2)
    half = Dataset.concat([D, plain])
    assert (half.groups, half.ids, half.attributes) == (None, None, None)
    assert half.weights.tolist() == [1.0, 0.0, 2.5, 1.0, 1.0, 1.0]
    assert Dataset.concat([plain, plain]).weights is None


ROWS = [[True], [0, 3], [-1], [0.5], [[0]]]


def test_concat_and_select():
    truth, number = Dataset(np.array([[True]]), [0]), Dataset([[2]], [1])
    for parts in ([truth, number], [number, truth]):
        assert Dataset.concat(parts).columns == (Column("x0", "numeric"),)
    assert Dataset.concat([truth, truth]).columns == (Column("x0", "boolean"),)
    empty = Dataset(pa.table({"city": pa.nulls(1)}), [0], allow_missing=True)
    both = Dataset.concat([empty, cities("Ulm")])
    assert both.columns == (Column("city", "categorical", ("Ulm",)),)
    np.testing.assert_array_equal(both.X.ravel(), [np.nan, 0])
    a, b, c = Dataset([[1]], [1]), Dataset([[1]], [2.5]), Dataset([[1]], ["x"])
    assert Dataset.concat([a, b]).y.tolist() == [1.0, 2.5]
    assert Dataset.concat([a, b, c]).y.tolist() == ["1", "2.5", "x"]
    assert Dataset.concat([Dataset(np.empty((0, 1)), []), a]).y.dtype == np.int64
    train = Dataset(pl.DataFrame({"city": ["Bonn", "Ulm"], "a": [1, 2]}), [0, 1])
    frame = pl.DataFrame({"b": [7] * 4, "a": [3, 4, 5, 6], "city": ["Ulm", "Aachen", None, "Bonn"]})
    other = Dataset(frame, [0, 1, 0, 1], allow_missing=True)
    chosen = other.select(train.columns)
    np.testing.assert_array_equal(chosen.X, [[1, 3], [-1, 4], [np.nan, 5], [0, 6]])
    assert (chosen.columns, chosen.y.tolist()) == (train.columns, other.y.tolist())
    again = chosen.select([Column("city", "categorical", ("Aachen", "Bonn"))])
    np.testing.assert_array_equal(again.X.ravel(), [-1, -1, np.nan, 1])


A, AB = Dataset([[1]], [0], names=["a"]), Dataset([[1, 2]], [0], names=["a", "b"])
PLAIN = Dataset([[1, 2]], [0])


CALLS = [
    (Dataset.concat, []), (Dataset.concat, [A, AB]), (Dataset.concat, [AB, A]),
    (Dataset.concat, [Dataset([[1]], [0]), PLAIN]), (PLAIN.select, PLAIN.columns[:1]),
    (PLAIN.select, A.columns), (cities("Ulm").select, [Column("city", "numeric")]),
]  # fmt: skip


def test_hashes_see_every_part_and_are_the_same_in_every_release():
    plain = Dataset([[1.0, 2.0], [3.0, 4.0]], [0, 1])  # its hash before there were attributes
    assert plain.content_hash() == "91da9151571bde0608253e63ede3991983453df75ba9b0107fe695ca3138a286"
    D = Dataset(pa.table({"a": [1.5], "c": ["Ulm"]}), ["yes"], ids=[7])
    # Written down, so that a change of the hash cannot pass unseen: saved runs name their data by it.
    assert D.row_keys()[0] == b"aaaedecdd439a389759dd235af39278d"
    assert D.content_hash() == "7ce11d376863fea041c41913b4da3f8e8bd6ff5083af05b2c179ec38cbbb80b6"
    rest = DATA.y, DATA.groups, DATA.ids, DATA.weights
    plain = Dataset(pa.table(FRAME), DATA.y)
    variants = [
        DATA, DATA.with_labels(["a", "b", "b"]), DATA.with_weights(None), DATA.with_weights([1, 1, 2.5]),
        DATA.take([0, 2, 1]), DATA.take([0, 1]), Dataset(DATA.X, *rest, names=DATA.names),
        plain, plain._with(ids=DATA.ids), plain._with(groups=DATA.ids), plain._with(attributes=DATA.ids),
        Dataset(pa.table(FRAME | {"age": [31, 45, 28]}), *rest),
        Dataset(pa.table(FRAME).rename_columns(list("abcde")), *rest),
    ]  # fmt: skip
    assert len({D.content_hash() for D in variants}) == len(variants)


MATRICES = hnp.arrays(
    np.float64,
    st.tuples(st.integers(0, 6), st.integers(1, 3)),
    elements=st.sampled_from([0.0, -0.0, 1.0, 1.5, 1e-300, -7.0]),
)


@patient
@given(MATRICES)
def test_row_keys_agree_exactly_with_equality_of_rows(X):
    keys = Dataset(X, np.zeros(len(X))).row_keys()
    same = (X[:, None, :] == X[None, :, :]).all(axis=2)
    np.testing.assert_array_equal(keys[:, None] == keys[None, :], same)


@patient
@given(MATRICES, st.data())
def test_take_commutes_with_keys_and_concat_undoes_a_split(X, data):
    D = Dataset(X, np.arange(len(X)), ids=np.arange(len(X)), weights=np.arange(len(X)) + 1.0)
    rows = data.draw(st.lists(st.integers(0, len(X) - 1), max_size=8) if len(X) else st.just([]))
    np.testing.assert_array_equal(D.take(rows).row_keys(), D.row_keys()[np.array(rows, dtype=int)])
    more = data.draw(st.lists(st.integers(0, len(rows) - 1), max_size=8) if rows else st.just([]))
    twice, once = D.take(rows).take(more), D.take([rows[i] for i in more])
    assert twice.content_hash() == once.content_hash()
    cut = data.draw(st.integers(0, len(X)))
    index = np.arange(len(X))
    parts = [D.take(index < cut), D.take(index >= cut)]
    assert Dataset.concat(parts).content_hash() == D.content_hash()
    np.testing.assert_array_equal(D.take(index < cut).X, X[:cut])


WORDS = st.lists(st.one_of(st.none(), st.sampled_from(["a", "b", "c", "ä", ""])), min_size=1, max_size=6)


@patient
@given(WORDS, WORDS)
def test_categories_survive_concat_and_select(first, second):
    a, b = cities(*first), cities(*second)
    both = Dataset.concat([a, b])
    categories = both.columns[0].categories
    assert categories == tuple(sorted({w for w in first + second if w is not None}))
    decoded = [None if np.isnan(code) else categories[int(code)] for code in both.X.ravel()]
    assert decoded == first + second
    np.testing.assert_array_equal(both.row_keys(), np.concatenate([a.row_keys(), b.row_keys()]))
    assert a.select(both.columns).content_hash() == a.content_hash()


@patient
@given(st.lists(st.one_of(st.integers(-5, 5), st.floats(allow_nan=False, allow_infinity=False)), min_size=1))
def test_label_keys_agree_exactly_with_equality_of_numbers(values):
    keys = label_keys(values)
    for i, value in enumerate(values):
        assert [key == keys[i] for key in keys] == [other == value for other in values]


def test_sentences():
    cases = [(Dataset, X, [0, 1]) for X in FEATURES] + [(DATA.take, rows) for rows in ROWS] + CALLS
    parts = [lambda given=given: Dataset([[1], [2]], **({"y": [0, 1]} | given)) for given in PARTS]
    all_refused("dataset", cases + parts)
