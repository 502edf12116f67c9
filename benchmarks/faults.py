"""Faults made in healthy tables: (data, test set, yardstick, rng) → data and test set with the fault.

A third part, if there is one, holds options of the measurement; with `after` among them it is an audit.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd

import dataworth as dw
from dataworth.checks.rows import neighbours

PART = 0.1
"""Of the rows: how many are copied."""


class Unmade(Exception):
    """This fault cannot be made in this table."""


def frame_of(data, X=None):
    """A dataset's columns, perhaps with other numbers, as a frame; categories by their names."""
    X = data.X if X is None else X
    table = {}
    for j, column in enumerate(data.columns):
        if column.kind == "categorical":
            names = np.array([*column.categories, None], dtype=object)
            table[column.name] = names[np.where(X[:, j] >= 0, X[:, j], -1).astype(int)]
        else:
            table[column.name] = X[:, j]
    return pd.DataFrame(table)


def chosen(data, rng):
    return np.sort(rng.permutation(len(data))[: max(8, round(PART * len(data)))])


def shaken(data, some, part, rng):
    """Rows moved in a random direction by a part of the distance to their 20th neighbour.

    Distances and directions are in standard units of the numeric columns; categories stay.
    """
    scale = np.nanstd(data.X, axis=0) * [column.kind == "numeric" for column in data.columns]
    if not scale.any():
        raise Unmade
    units = np.nan_to_num(np.divide(data.X, scale, out=np.zeros_like(data.X), where=scale > 0))
    far = neighbours(units[some], units, min(21, len(units)))[0][:, -1]
    way = rng.normal(size=(len(some), len(scale))) * (scale > 0)
    way /= np.linalg.norm(way, axis=1, keepdims=True)
    moved = data.take(some)
    return dw.Dataset(frame_of(moved, moved.X + part * far[:, None] * way * scale), moved.y)


def repeated(D, T, yard, rng):
    return dw.Dataset.concat([D, D.take(chosen(D, rng))]), T


def nearly_repeated(D, T, yard, rng, part):
    return dw.Dataset.concat([D, shaken(D, chosen(D, rng), part, rng)]), T


def leaked(D, T, yard, rng, part):
    return dw.Dataset.concat([D, shaken(T, chosen(T, rng), part, rng)]), T


def forged(D, T, yard, rng):
    """Test rows' features on other rows: the least change of a row of the data that brings it there."""
    some = chosen(T, rng)
    numeric = np.array([column.kind == "numeric" for column in T.columns])
    scale = np.nanstd(T.X, axis=0) * numeric
    own = T.take(some)
    base = D.take(rng.integers(0, len(D), len(some)))
    X, wanted = base.X.copy(), yard.features(own)
    if np.isnan(X).any() or wanted.shape[1] >= np.linalg.matrix_rank(yard.recipe.standard(T.X)):
        raise Unmade

    def features(X):
        return yard.features(dw.Dataset(frame_of(base, X), own.y))

    X[:, ~numeric] = own.X[:, ~numeric]
    for _ in range(3):  # one step where features are linear in the columns
        here = features(X)
        tangent = np.stack(
            [features(X + 1e-4 * s * e) - here for s, e in zip(scale, np.eye(len(scale)), strict=True)]
        )
        for i in range(len(X)):
            X[i] += 1e-4 * scale * ((wanted[i] - here[i]) @ np.linalg.pinv(tangent[:, i]))
    if np.abs(features(X) - wanted).max() > 1e-4 * np.abs(wanted).max():
        raise Unmade
    return dw.Dataset.concat([D, dw.Dataset(frame_of(base, X), own.y)]), T


def few(D, T, yard, rng):
    return D.take(rng.permutation(len(D))[:8]), T


def shuffled(D, T, yard, rng):
    return D.with_labels(rng.permutation(D.y)), T


def shifted(D, T, yard, rng):
    """Thirty columns that have nothing to do with the label, half a standard deviation apart."""
    both = []
    for part, by in ((D, 0.5), (T, 0.0)):
        noise = pd.DataFrame(rng.normal(size=(len(part), 30)) + by, columns=[f"u{j}" for j in range(30)])
        both.append(dw.Dataset(pd.concat([frame_of(part), noise], axis=1), part.y))
    return tuple(both)


def with_attribute(part, attribute):
    """The attribute is a column too, so that features show it."""
    table = frame_of(part).assign(attribute=attribute.astype(float))
    return dw.Dataset(table, part.y, attributes=attribute.astype(str))


def by_attribute(D, T, rng, wrong):
    """An attribute that is the label but for a part of the rows; the curation keeps few rows of one value."""
    if D.y.dtype.kind == "f" or len(np.unique(T.y)) > 2:
        raise Unmade
    names = np.unique(T.y)
    before, test = (
        with_attribute(part, (part.y == names[1]) ^ (rng.random(len(part)) < wrong)) for part in (D, T)
    )
    kept = (before.attributes == "True") | (rng.random(len(D)) < 0.3)
    return before, test, {"after": before.take(kept)}


def attributed(D, T, yard, rng):
    return by_attribute(D, T, rng, 0.1)


def idle_attribute(D, T, yard, rng):
    return by_attribute(D, T, rng, 0.5)


def two_classes(D, T):
    if D.y.dtype.kind == "f" or len(np.unique(T.y)) > 2:
        raise Unmade


def unsure(D, T, yard, rng):
    two_classes(D, T)
    return D, T, {"model": dw.Logistic(prior_variance=1e-5)}


def another_form(D, T, yard, rng):
    two_classes(D, T)
    return D, T, {"form": "eta"}


def wide(D, T, yard, rng):
    two_classes(D, T)
    return (
        D.take(rng.permutation(len(D))[:40]),
        T,
        {"yardstick": dw.Yardstick.fit(T, prior_variance=1e4, inference="laplace")},
    )


def overlapping(D, T, yard, rng):
    return D, T, {"pairs": 20, "size": min(len(D), len(T)) // 2}


def lacking(D, T, yard, rng):
    if D.y.dtype.kind == "f":
        raise Unmade
    return D.take(D.y != np.unique(T.y)[-1]), T


FAULTS = {
    ("DW001", "a prior of 1e-5"): unsure,
    ("DW004", "form eta"): another_form,
    ("DW005", "40 rows, a prior of 1e4, by Laplace"): wide,
    ("DW002", "a tenth of the rows repeated"): repeated,
    **{
        ("DW002", f"a tenth repeated, shaken by {part} of r₂₀"): partial(nearly_repeated, part=part)
        for part in (0.05, 0.1, 0.2, 0.3)
    },
    **{
        ("DW003", f"a tenth of the test rows, shaken by {part} of r₂₀"): partial(leaked, part=part)
        for part in (0.05, 0.1, 0.2, 0.3)
    },
    ("DW003", "a tenth of the test rows' features on other rows"): forged,
    ("DW010", "8 rows"): few,
    ("DW010", "pairs of half the rows"): overlapping,
    ("DW011", "data without one of the classes"): lacking,
    ("DW012", "labels dealt out at random"): shuffled,
    ("DW013", "curated by an attribute that is the label in 9 of 10"): attributed,
    ("DW014", "thirty idle columns half a standard deviation apart"): shifted,
}
