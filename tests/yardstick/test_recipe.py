"""The feature recipe: what standardising, one-hot coding and mapping must and must not change."""

import json

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dataworth.data.dataset import Dataset
from dataworth.yardstick.recipe import Basis, Recipe, repeated
from worlds import classes, refusal

shapes = st.tuples(st.integers(8, 40), st.integers(1, 6))
seeds = st.integers(0, 2**32 - 1)
quick = settings(max_examples=40, deadline=None)


def data(X, **more):
    """Labels do not matter here."""
    return Dataset(X, np.arange(len(X)) % 2, **more)


def numbers(n, d, seed):
    """Correlated columns of different spread."""
    rng = np.random.default_rng(seed)
    return data(rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) + rng.normal(size=d))


def inner_products(features):
    """What a model with an isotropic prior sees of features: nothing changes if axes turn or swap sign."""
    return features @ features.T


@quick
@given(shapes, seeds, st.floats(-1.0, 2.0), st.data())
def test_the_mean_square_is_one_whatever_the_exponent(shape, seed, exponent, drawn):
    T = numbers(*shape, seed)
    basis = Basis.learn(T)
    size = drawn.draw(st.integers(1, basis.on("each").rank))
    features = basis.recipe(size, exponent).features(T)
    assert features.shape == (len(T), size)
    assert (features**2).sum(axis=1).mean() == pytest.approx(1.0, rel=1e-9)
    assert features.mean(axis=0) == pytest.approx(np.zeros(size), abs=1e-9)


def test_one_half_lies_between():
    """Variances v of the axes become vᵅ, up to one constant."""
    # two columns of correlation ½: eigenvalues 1½ and ½
    a, b = np.array([1.0, 1.0, -1.0, -1.0]), np.array([1.0, -1.0, 1.0, -1.0])
    T = data(np.column_stack([a, a + np.sqrt(3.0) * b]))
    basis = Basis.learn(T)
    assert basis.on("each").variances == pytest.approx([1.5, 0.5])
    for exponent, ratio in ((0.0, 1.0), (0.5, np.sqrt(3.0)), (1.0, 3.0)):
        variances = basis.recipe(2, exponent).features(T).var(axis=0)
        assert variances[0] / variances[1] == pytest.approx(ratio)


fours = {"min_size": 4, "max_size": 4}


@quick
@given(
    seeds,
    st.lists(st.integers(-8, 8), **fours),
    st.lists(st.floats(-1e8, 1e8), **fours),
    st.lists(st.booleans(), **fours),
    st.permutations(range(4)),
)
def test_units_origins_and_order_of_columns_do_not_matter(seed, powers, shifts, mirrored, order):
    """Columns in other units (1e−8 … 1e8), from another origin (up to 1e8 units away), mirrored."""
    rng = np.random.default_rng(seed)
    T, D = rng.normal(size=(30, 4)), rng.normal(size=(10, 4))
    scales = 10.0 ** np.array(powers) * np.where(mirrored, -1.0, 1.0)

    def change(X):
        return data((X + np.array(shifts)) * scales)

    plain = Basis.learn(data(T, names=list("abcd"))).recipe(4, 0.5)
    expected = plain.features(data(D, names=list("abcd")))
    found = Basis.learn(change(T)).recipe(4, 0.5).features(change(D))
    # a shift of 1e8 leaves 8 digits of what was there
    assert inner_products(found) == pytest.approx(inner_products(expected), abs=1e-5)
    other = data(D[:, order], names=["abcd"[j] for j in order])
    assert np.array_equal(plain.features(other), expected)


@quick
@given(seeds, st.sampled_from([0.0, 0.1, -7.3, 1e8, 1e-8, 123456.789]))
def test_a_constant_column_has_no_weight(seed, constant):
    """Even where other data vary in it: the test set says nothing about what it does."""
    rng = np.random.default_rng(seed)
    T = rng.normal(size=(20, 3))
    basis = Basis.learn(data(np.insert(T, 1, constant, axis=1)))
    assert basis.on("each").rank == 3
    wild = basis.recipe(3, 0.5).features(data(np.insert(T, 1, rng.normal(size=20) * 1e6, axis=1)))
    plain = Basis.learn(data(T)).recipe(3, 0.5).features(data(T))
    assert inner_products(wild) == pytest.approx(inner_products(plain), abs=1e-8)


def table(colours, sizes=None):
    sizes = np.arange(len(colours)) if sizes is None else sizes
    frame = pl.DataFrame({"colour": colours, "size": sizes}, schema={"colour": pl.String, "size": pl.Float64})
    return Dataset(frame, np.arange(len(colours)) % 2, allow_missing=True)


def test_an_unknown_category_is_no_known_one():
    colours = ["red", "blue", "red", "green", "blue", "red"]
    T = table(colours)
    one_hot = [[c == name for c in colours] for name in ("blue", "green", "red")]
    by_hand = data(np.column_stack([*one_hot, T.X[:, 1]]))
    ours, plain = Basis.learn(T), Basis.learn(by_hand)
    assert ours.on("each").rank == plain.on("each").rank == 3  # three exclusive columns are two directions
    assert inner_products(ours.recipe(3, 0.5).features(T)) == pytest.approx(
        inner_products(plain.recipe(3, 0.5).features(by_hand)), abs=1e-9
    )
    T = table(["red", "blue", "green", "red", "blue", "green"])
    basis = Basis.learn(T)
    recipe = basis.recipe(basis.on("each").rank, 0.5)
    pink = recipe.features(table(["pink", "red"], [3.0, 3.0]))[0]
    # zeros in all three columns, standardised with the test set's means (1/3) and deviations
    deviations = np.array([np.sqrt(2) / 3] * 3 + [np.sqrt(35 / 12)])
    standard = (np.array([0.0, 0.0, 0.0, 3.0]) - [1 / 3, 1 / 3, 1 / 3, 2.5]) / deviations
    assert pink == pytest.approx(standard @ recipe.projection)
    assert pink == pytest.approx(recipe.features(table([None], [3.0]))[0], abs=1e-12)


def test_missing_numbers_take_the_medians_of_the_test_set():
    """2 of (1, 2, 9), 7.5 of (5, 7, 8, 100); the data's own numbers play no part."""
    T = data([[1.0, 5.0], [2.0, 7.0], [np.nan, 100.0], [9.0, 8.0]], allow_missing=True)
    recipe = Basis.learn(T).recipe(2, 0.5)
    D = data([[np.nan, 6.0], [1e6, np.nan]], allow_missing=True)
    assert np.array_equal(recipe.features(D), recipe.features(data([[2.0, 6.0], [1e6, 7.5]])))


@pytest.mark.parametrize("scale", ["each", "common", "rank"])
@pytest.mark.parametrize(
    "cut",
    [
        lambda basis, scale: basis.recipe(2, 0.5, scale),
        lambda basis, scale: basis.kernel(0.7, 3, scale),
        lambda basis, scale: basis.both(2, 0.7, 3, scale),
    ],
    ids=["axes", "kernel", "both"],
)
def test_json_keeps_the_features_of_a_learned_recipe(cut, scale):
    T = table(["red", "blue", "green", "red", None, "green"], [0.1, np.nan, 1e8, 1e-8, 3.0, -2.5])
    recipe = cut(Basis.learn(T), scale)
    back = Recipe.from_dict(json.loads(json.dumps(recipe.to_dict())))
    assert back.features(T).tobytes() == recipe.features(T).tobytes()


def with_column(column, seed=0, n=40):
    return data(np.column_stack([np.random.default_rng(seed).normal(size=(n, 2)), column]))


@pytest.mark.parametrize(
    ("column", "rank"),
    [
        (1.0 + 2e-14 * np.arange(40), 2),  # what float64 rounds away in a sum or two
        (1.0 + 1e-10 * np.arange(40), 3),  # told apart by float64
        (np.where(np.arange(40) % 2, np.float32(0.1), np.nextafter(np.float32(0.1), np.float32(1))), 2),
        ((np.float32(0.1) + 1e-5 * np.arange(40)).astype(np.float32), 3),
        (10_000_000.0 + np.arange(40) % 2, 3),  # whole numbers are exact: a code, however large
        (1e-304 * np.arange(40), 2),  # digits begin to vanish
        (1e-300 * np.arange(40), 3),  # a unit like any other, and so is 1e300
        (1e300 * np.arange(40), 3),
        (np.where(np.arange(40) == 7, 1e-33, 0.0), 3),
    ],
)
def test_a_scale_below_the_resolution_of_the_values_is_no_scale(column, rank):
    basis = Basis.learn(with_column(column))
    assert basis.on("each").rank == rank
    assert np.isfinite(basis.plain.inverse_scale).all()


def test_values_far_outside_the_test_set_count_as_far():
    """A column of size 1e-33 in T, 0.01 in D: 1e31 standard deviations, which left no digit for the rest."""
    T = with_column(1e-33 * np.random.default_rng(1).normal(size=40))
    features = Basis.learn(T).recipe(3, 0.5).features(with_column(np.full(40, 0.01)))
    assert 1e4 < np.abs(features).max() < 1e6


@quick
@given(shapes, seeds, st.floats(-2e4, 2e4))
def test_values_within_reach_keep_every_bit(shape, seed, far):
    """Twenty thousand standard deviations away, nothing is cut."""
    T = numbers(*shape, seed)
    recipe = Basis.learn(T).recipe(1, 0.5)
    away = T.X + far * T.X.std(axis=0)
    expected = ((away - recipe.center) * recipe.inverse_scale) @ recipe.projection
    assert recipe.features(Dataset(away, T.y)).tobytes() == expected.tobytes()


def test_repeated_columns_count_once():
    """A column twice, in other units, mirrored, or as a flag beside its category, moves no feature."""
    T = classes(40, seed=0, d=3)
    more = np.column_stack([T.X, 1000.0 * T.X[:, 1] + 3.0, -T.X[:, 0]])
    assert repeated((more - more.mean(axis=0)) / more.std(axis=0)).tolist() == [3, 4]
    nearly = np.column_stack([T.X, T.X[:, 0] + 5e-7 * (T.y - 0.5), T.X[:, 1] + 5e-6 * (T.y - 0.5)])
    assert repeated(nearly).tolist() == [3]  # as far as rounding goes, and no farther
    plain, other = (Basis.learn(one).recipe(3, 0.5).features(one) for one in (data(T.X), data(more)))
    assert np.abs(other) == pytest.approx(np.abs(plain))
    flagged = pa.table({"kind": ["x", "y"] * 20, "flag": [True, False] * 20, "n": T.X[:, 0]})
    both = Basis.learn(Dataset(flagged, T.y))
    assert (both.plain.inverse_scale > 0).sum() == 2  # of two categories and a flag one is enough


def test_equal_rows_have_equal_features():
    """To the last bit, wherever they stand: products of matrices round by the place of a row."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 6))
    recipe = Basis.learn(data(rng.normal(size=(150, 6)))).kernel(0.7, 60, "each")
    many = X[rng.permutation(np.repeat(np.arange(40), 7))[:277]]
    assert len(np.unique(recipe.features(data(many)), axis=0)) == len(np.unique(many, axis=0))


def zips():
    """Sixty rows with thirty categories."""
    frame = pl.DataFrame({"a": np.arange(60.0), "zip": [f"z{i % 30}" for i in range(60)]})
    return Dataset(frame, [0, 1] * 30)


def test_categories_that_do_not_fit_in_memory_as_columns_are_refused(monkeypatch):
    """Four copies of rows × categories, in numbers of eight bytes, of four fifths of the memory. Few rows
    at a time where categories are many: 2²⁵ numbers."""
    data = zips()
    needed = 4 * 8 * 60 * 31
    monkeypatch.setattr("dataworth.limits.free_memory", lambda: needed / 0.8 + 1)
    assert len(Basis.learn(data).standard) == 60
    monkeypatch.setattr("dataworth.limits.free_memory", lambda: needed / 0.8 - 1)
    assert "a column for each of 30 categories of 'zip' takes about" in refusal(Basis.learn, data)
    monkeypatch.undo()
    recipe = Basis.learn(data).recipe(3, 1.0)
    whole, seen, scaled = recipe.features(data), [], Recipe.scaled
    monkeypatch.setattr(Recipe, "scaled", lambda self, X: seen.append(len(X)) or scaled(self, X))
    monkeypatch.setattr("dataworth.yardstick.recipe.CELLS", 31 * 7)
    np.testing.assert_allclose(recipe.features(data), whole, rtol=1e-12)
    assert max(seen) == 7
