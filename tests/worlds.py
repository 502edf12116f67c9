"""Small worlds whose truth is known, and the sentence of a refusal: what several test files share."""

from functools import cache

import numpy as np
import pyarrow as pa
import pytest

from dataworth import read
from dataworth.data.dataset import Dataset
from dataworth.errors import DataworthError
from dataworth.yardstick.yardstick import Yardstick


def classes(n, seed, *, d=3, sharpness=3.0):
    """Rows from the logistic model itself: P(y=1|x) = σ(sharpness·(x₀ − x₁)), x standard normal."""
    rng = np.random.default_rng([seed, 0xC1A55])
    X = rng.normal(size=(n, d))
    probability = 1 / (1 + np.exp(-sharpness * (X[:, 0] - X[:, 1])))
    return Dataset(X, (rng.random(n) < probability).astype(int))


def numeric_labels(n, seed, *, d=3, noise=0.5):
    """Rows from the linear model: y = x₀ − x₁ + noise."""
    rng = np.random.default_rng([seed, 0xA3017])
    X = rng.normal(size=(n, d))
    return Dataset(X, X[:, 0] - X[:, 1] + noise * rng.normal(size=n))


def mixed(n, seed):
    """A category and a number that is missing in a fifth of rows; the label goes with the category."""
    rng = np.random.default_rng([seed, 0x3A7])
    kind = rng.choice(["a", "b", "c"], n)
    number = np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n))
    label = np.where(rng.random(n) < 0.9, kind == "a", kind != "a").astype(int)
    table = pa.table({"id": [f"r{i}" for i in range(n)], "kind": kind, "number": number, "label": label})
    return read(table, label="label", id="id", impute=True)


def flipped(data, share, seed):
    """The data with a share of its 0/1 labels flipped, and which rows those are."""
    rng = np.random.default_rng([seed, 0xF11B])
    bad = np.zeros(len(data), dtype=bool)
    bad[rng.permutation(len(data))[: round(share * len(data))]] = True
    return data.with_labels(np.where(bad, 1 - data.y, data.y)), bad


@cache
def held_out():
    return classes(200, seed=1_000)


@cache
def yardstick():
    """Its yardstick, fitted once."""
    return Yardstick.fit(held_out())


def on_the_yardstick(data):
    """The data as `pmi` takes them: the yardstick's features and targets."""
    yard = yardstick()
    return Dataset(yard.features(data), yard.targets(data), weights=data.weights)


def with_ids(data, X=None, y=None):
    """The data with the numbers of rows as ids, with other cells or labels."""
    return Dataset(data.X if X is None else X, data.y if y is None else y, ids=np.arange(len(data)))


def refusal(call, *args, **kwargs):
    """The one sentence with which a call is refused."""
    with pytest.raises(DataworthError) as caught:
        call(*args, **kwargs)
    sentence = str(caught.value)
    assert sentence
    assert "\n" not in sentence
    return sentence
