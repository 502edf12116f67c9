"""Every kind of result: plain data, pickles, the same bits again; rows are kept only if asked for."""

import json
import math
import pickle
from functools import cache

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


def audit(design, **options):
    few = {} if design == "whole" else PAIRS
    return dw.audit(NOISY, FILTERED, held_out(), design=design, **few, **options)


KINDS = {
    "score whole": lambda **o: dw.score(DATA, held_out(), **o),
    "score pairs": lambda **o: dw.score(DATA, held_out(), **PAIRS, **o),
    "audit whole": lambda **o: audit("whole", **o),
    "audit row": lambda **o: audit("row", **o),
    "audit rate": lambda **o: audit("rate", **o),
    "audit size": lambda **o: audit("size", **o),
    "audit method": lambda **o: dw.audit(NOISY, test=held_out(), curate=half, **PAIRS, **o),
    "rank": lambda **o: dw.rank({"a": DATA, "b": NOISY}, held_out(), **o),
    "sealed score": lambda **o: dw.score(dw.seal(DATA, yardstick()), held_out(), **o),
    "sealed rank": lambda **o: dw.rank(
        {"sealed": dw.seal(DATA, yardstick()), "open": NOISY}, held_out(), **o
    ),
}


@cache
def measured(kind, **options):
    """A result of some kind, on 200 test rows."""
    return KINDS[kind](yardstick=yardstick(), ignore="all", **options)


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
    result = measured(kind, keep=False)
    assert result.case is None
    for call in (lambda: result.parts, lambda: result.to_dict(parts=True), lambda: dw.sensitivity(result)):
        assert "keep=True" in refusal(call)


@pytest.mark.parametrize("kind", KINDS)
def test_every_result_is_plain_data_in_nats_and_in_bits(kind):
    result = measured(kind, keep=False)
    nats, bits = (json.loads(json.dumps(result.to_dict(bits=b))) for b in (False, True))
    assert (nats["unit"], bits["unit"]) == ("nats", "bits")
    assert nats["schema"].startswith(f"dataworth/{type(result).__name__.lower()[:4]}")
    if "ranking" in nats:
        (told, other), found = (one["ranking"][0] for one in (nats, bits)), result[0]
        headline = {"value": found.value}
    else:
        (told, other), found = (nats, bits), result
        headline = {"delta": found.delta} if "delta" in nats else {"value": found.value}
    for name, value in headline.items():
        assert told[name] == value
    for name in {*headline, "stderr", "interval", "per_row", "information_gain", "before", "after"} & {*told}:
        if told[name] is not None:
            assert np.multiply(other[name], math.log(2)) == pytest.approx(told[name])
    for name in ("accuracy", "accuracy_delta", "p_value"):
        assert other.get(name) == told.get(name)


@pytest.mark.parametrize("kind", KINDS)
def test_the_seed_determines_everything(kind):
    one, again, other = (
        KINDS[kind](yardstick=yardstick(), ignore="all", seed=seed).table.values.tobytes()
        for seed in (1, 1, 2)
    )
    assert one == again != other


@pytest.mark.parametrize("kind", ["score whole", "score pairs", "audit row", "sealed score"])
def test_two_processes_give_the_same_bits(kind):
    two = measured(kind, jobs=2).table.values
    assert two.tobytes() == measured(kind, keep=False).table.values.tobytes()


REFUSED = {
    "the data is a list": lambda: dw.score([1, 2], held_out()),
    "the test set is a ndarray": lambda: dw.score(DATA, held_out().X),
    "the data has no rows": lambda: dw.score(DATA.take([]), held_out()),
    "2 features, but 3 are expected": lambda: dw.score(
        dw.Dataset(DATA.X[:, :2], DATA.y), held_out(), yardstick=yardstick()
    ),
    "label '2'": lambda: dw.score(DATA.with_labels([2] * 160), held_out(), yardstick=yardstick()),
    "keep is 'yes'": lambda: dw.score(DATA, held_out(), keep="yes"),
    "give either after=": lambda: dw.audit(DATA, test=held_out()),
    "not both": lambda: dw.audit(DATA, DATA, held_out(), curate=half),
    "test is a NoneType": lambda: dw.audit(DATA, DATA),
    "raw.csv: there is no such file": lambda: dw.audit("raw.csv", DATA, held_out()),
    "after is a ndarray": lambda: dw.audit(DATA, DATA.X, held_out()),
    "after has no rows": lambda: dw.audit(DATA, DATA.take([]), held_out()),
    "curate must be a callable": lambda: dw.audit(DATA, test=held_out(), curate="filter"),
    "must be a callable": lambda: dw.audit(DATA, test=held_out(), curate=lambda D, T, more: D),
    "curate returned a NoneType": lambda: dw.audit(DATA, test=held_out(), curate=lambda D: None),
    "returned a ndarray": lambda: dw.audit(DATA, test=held_out(), curate=lambda D: D.X, design="whole"),
    "rank takes a dict": lambda: dw.rank([DATA], held_out()),
    "takes a dict": lambda: dw.rank({}, held_out()),
    "contributions takes a dict": lambda: dw.contributions({"a": DATA}, held_out()),
    "a is a list": lambda: dw.rank({"a": [1]}, held_out()),
    "b has no rows": lambda: dw.rank({"a": DATA, "b": DATA.take([])}, held_out()),
    "'b': label '7'": lambda: dw.rank(
        {"a": DATA, "b": DATA.with_labels([7] * 160)}, held_out(), yardstick=yardstick()
    ),
}


@pytest.mark.parametrize("word", REFUSED)
def test_what_is_no_data_is_refused(word):
    assert word in refusal(REFUSED[word])
