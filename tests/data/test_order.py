"""The canonical order of rows: what must not matter to it, and that it tells rows apart."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dataworth.data import order
from dataworth.data.dataset import Dataset
from dataworth.data.order import canonical, canonical_order

quick = settings(max_examples=40, deadline=None)


def table(seed, n=30):
    """Numbers with ties and gaps, a category, a flag; two classes."""
    rng = np.random.default_rng(seed)
    number = np.where(rng.random(n) < 0.1, np.nan, rng.integers(0, 6, n).astype(float))
    frame = pd.DataFrame({"a": number, "b": rng.normal(size=n), "c": rng.choice(["x", "y", "z"], n)})
    return frame.assign(d=rng.random(n) < 0.3), rng.choice(["no", "yes"], n)


def rows_of(frame, y, seed):
    """Which of the given rows stands where, once rows are shuffled and put in canonical order."""
    order = np.random.default_rng(seed).permutation(len(y))
    return order[canonical_order(Dataset(frame.iloc[order], y[order], allow_missing=True))]


CHANGES = {
    "nothing": lambda frame: frame,
    "units": lambda frame: frame.assign(a=1000 * frame["a"] + 7, b=-0.01 * frame["b"]),
    "names and order of columns": lambda frame: frame[["d", "b", "c", "a"]].set_axis(list("wxyz"), axis=1),
    "a column twice": lambda frame: frame.assign(e=frame["b"], f=-2 * frame["a"]),
    "a constant": lambda frame: frame.assign(e=3.0),
    "one-hot": lambda frame: pd.get_dummies(frame, columns=["c"], dtype=float),
    "names of categories": lambda frame: frame.assign(c=frame["c"].map({"x": "r", "y": "q", "z": "p"})),
}


@quick
@given(st.integers(0, 10**6), st.sampled_from(sorted(CHANGES)))
@example(23387, "units")  # as many rows of either class, and a column of distinct numbers
def test_it_depends_on_what_rows_say_alone(seed, change):
    frame, y = table(seed)
    assert rows_of(CHANGES[change](frame), y, seed).tolist() == rows_of(frame, y, seed + 1).tolist()


@quick
@given(st.integers(0, 10**6))
def test_names_of_classes_and_labels_without_weight_do_not_matter(seed):
    frame, y = table(seed)
    renamed = np.where(y == "no", "wrong", "right")
    assert rows_of(frame, renamed, 1).tolist() == rows_of(frame, y, 1).tolist()
    light = np.random.default_rng(seed).random(len(y)) < 0.2
    weights = np.where(light, 0.0, 1.0)
    other = np.where(light, "yes", y)
    one, two = (Dataset(frame, labels, weights=weights, allow_missing=True) for labels in (y, other))
    assert canonical_order(one).tolist() == canonical_order(two).tolist()


def test_rows_with_other_labels_or_cells_are_told_apart():
    """Of equal features, the label decides; without that the order given would."""
    X, y = np.column_stack([np.arange(6) // 2, np.zeros(6)]), np.array([0, 1] * 3)
    here, again = canonical(Dataset(X, y)), canonical(Dataset(X[::-1], y[::-1]))
    assert (here.X.tolist(), here.y.tolist()) == (again.X.tolist(), again.y.tolist())


@pytest.mark.parametrize("labels", [np.arange(9.0), np.arange(9) % 3, np.array(list("abcabcabc"))])
def test_numbers_classes_and_one_class_alone(labels):
    X = np.random.default_rng(0).normal(size=(9, 2))
    assert sorted(canonical_order(Dataset(X, labels)).tolist()) == list(range(9))
    assert sorted(canonical_order(Dataset(X, np.zeros(9))).tolist()) == list(range(9))


def test_it_does_not_depend_on_how_many_cells_are_ranked_together(monkeypatch):
    """A category is a column of 0 and 1 for each of its texts, never all of them at once."""
    frame, y = table(5, 60)
    frame = frame.assign(c=[f"w{i % 23}" for i in range(60)], e=[f"v{i % 23}" for i in range(60)])
    whole = rows_of(frame, y, 1).tolist()
    monkeypatch.setattr("dataworth.data.order.CELLS", 120)  # two columns
    assert rows_of(frame, y, 1).tolist() == whole
    widths, ranks = [], order._ranks
    monkeypatch.setattr("dataworth.data.order._ranks", lambda X: widths.append(X.shape[1]) or ranks(X))
    monkeypatch.setattr("dataworth.data.order.KEPT", 0)  # made a second time
    assert (rows_of(frame, y, 1).tolist(), max(widths)) == (whole, 2)
