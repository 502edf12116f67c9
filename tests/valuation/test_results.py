"""Every kind of result: it pickles, keeps rows only if asked to, and says so where they are needed."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import dataworth as dw
from worlds import classes, flipped, held_out, refusal, yardstick

DATA = classes(160, seed=1)
NOISY, BAD = flipped(DATA, 0.3, seed=1)
FILTERED = NOISY.take(~BAD)
PAIRS = {"pairs": 4, "size": 20}


def half(D):
    return D.take(range(len(D) // 2))


def measured(kind, **options):
    """A result of some kind, on 200 test rows."""
    options |= {"yardstick": yardstick(), "ignore": "all"}
    test = held_out()
    if kind.startswith("score"):
        return dw.score(DATA, test, **options, **(PAIRS if kind == "score pairs" else {}))
    if kind == "audit method":
        return dw.audit(NOISY, test=test, curate=half, **options, **PAIRS)
    if kind.startswith("audit"):
        design = kind.split()[1]
        few = {} if design == "whole" else PAIRS
        return dw.audit(NOISY, FILTERED, test, design=design, **options, **few)
    if kind == "rank":
        return dw.rank({"a": DATA, "b": NOISY}, test, **options)
    sealed = dw.seal(DATA, yardstick())
    if kind == "sealed score":
        return dw.score(sealed, test, **options)
    return dw.rank({"sealed": sealed, "open": NOISY}, test, **options)


KINDS = (
    "score whole",
    "score pairs",
    "audit whole",
    "audit row",
    "audit rate",
    "audit size",
    "audit method",
    "rank",
    "sealed score",
    "sealed rank",
)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("keep", [False, True])
def test_every_result_comes_back_from_a_pickle(kind, keep):
    result = measured(kind, keep=keep)
    again = pickle.loads(pickle.dumps(result))
    assert type(again) is type(result)
    assert again.to_dict() == result.to_dict()
    assert again.table.values.tobytes() == result.table.values.tobytes()
    assert again.table.arms == result.table.arms
    if kind.startswith("sealed"):
        assert result.case is None  # there is nothing to keep
    elif keep:
        assert again.to_dict(parts=True) == result.to_dict(parts=True)


@pytest.mark.parametrize("kind", KINDS)
def test_a_result_holds_no_rows_unless_asked_to(kind):
    result = measured(kind)
    assert result.case is None
    sentence = "the result did not keep its rows: measure with keep=True"
    assert sentence in refusal(lambda: result.parts)
    assert sentence in refusal(lambda: result.to_dict(parts=True))
    assert sentence in refusal(dw.sensitivity, result)


def test_a_pickle_is_small_however_many_rows_were_measured():
    """40,000 rows of 20 features are 6 MB; the result of them is the table and the yardstick."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40_200, 20))
    whole = dw.Dataset(X, (X[:, 0] + rng.normal(size=len(X)) > 0).astype(int))
    data, test = whole.take(range(40_000)), whole.take(range(40_000, 40_200))
    options = {"yardstick": dw.Yardstick.fit(test, prior_variance=1.0), "ignore": "all"}
    assert len(pickle.dumps(dw.score(data, test, **options))) < 100_000
    assert len(pickle.dumps(dw.score(data, test, **options, keep=True))) > 6_000_000


@pytest.mark.parametrize("keep", [1, "yes", None])
def test_keep_is_yes_or_no(keep):
    assert f"keep is {keep!r}; it must be True or False" in refusal(measured, "rank", keep=keep)
