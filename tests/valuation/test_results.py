"""Every kind of result: plain data, pickles, the same bits again; rows are kept only if asked for."""

import json
import math
import pickle
from functools import cache, partial

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


def audit(**options):
    return dw.audit(NOISY, FILTERED, held_out(), **options)


KINDS = {
    "score whole": lambda **o: dw.score(DATA, held_out(), **o),
    "score pairs": lambda **o: dw.score(DATA, held_out(), **PAIRS, **o),
    "audit whole": audit,
    **{f"audit {d}": partial(audit, design=d, **PAIRS) for d in ("matched", "proportional", "equal-size")},
    "audit method": lambda **o: dw.audit(NOISY, test=held_out(), curate=half, **PAIRS, **o),
    "rank": lambda **o: dw.rank({"a": DATA, "b": NOISY}, held_out(), **o),
    "sealed score": lambda **o: dw.score(dw.seal(DATA, yardstick()), held_out(), **o),
    "sealed rank": lambda **o: dw.rank({"s": dw.seal(DATA, yardstick()), "open": NOISY}, held_out(), **o),
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
    told, other, found = nats, bits, result
    if "ranking" in nats:
        (told, other), found = (one["ranking"][0] for one in (nats, bits)), result[0]
    counted = {"delta", "value", "stderr", "interval", "per_row", "information_gain", "before", "after"}
    for name in counted & {*told}:
        assert name == "interval" or told[name] == getattr(found, name, told[name])
        if told[name] is not None:
            assert np.multiply(other[name], math.log(2)) == pytest.approx(told[name])
    for name in ("accuracy", "accuracy_delta", "p_value"):
        assert other.get(name) == told.get(name)


@pytest.mark.parametrize("kind", KINDS)
def test_the_seed_determines_everything(kind):
    asked = {"yardstick": yardstick(), "ignore": "all"}
    one, again, other = (KINDS[kind](**asked, seed=seed).table.values.tobytes() for seed in (1, 1, 2))
    assert one == again != other


@pytest.mark.parametrize("kind", ["score whole", "score pairs", "audit matched", "sealed score"])
def test_two_processes_give_the_same_bits(kind):
    two = measured(kind, jobs=2).table.values
    assert two.tobytes() == measured(kind, keep=False).table.values.tobytes()


REFUSED = {
    "the data is a list": (dw.score, [1, 2]),
    "the data has no rows": (dw.score, DATA.take([])),
    "2 features, but 3 are expected": (dw.score, dw.Dataset(DATA.X[:, :2], DATA.y)),
    "label '2'": (dw.score, DATA.with_labels([2] * 160)),
    "raw.csv: there is no such file": (dw.audit, "raw.csv", DATA),
    "after is a ndarray": (dw.audit, DATA, DATA.X),
    "after has no rows": (dw.audit, DATA, DATA.take([])),
    "give either after=": (dw.audit, DATA, None),
    "rank takes a dict": (dw.rank, [DATA]),
    "takes a dict": (dw.rank, {}),
    "contributions takes a dict": (dw.contributions, {"a": DATA}),
    "a is a list": (dw.rank, {"a": [1]}),
    "b has no rows": (dw.rank, {"a": DATA, "b": DATA.take([])}),
    "'b': label '7'": (dw.rank, {"a": DATA, "b": DATA.with_labels([7] * 160)}),
}


@pytest.mark.parametrize("word", REFUSED)
def test_what_is_no_data_is_refused(word):
    function, *given = REFUSED[word]
    assert word in refusal(function, *given, held_out(), yardstick=yardstick())


NO_METHODS = {
    "not both": {"after": DATA, "curate": half},
    "curate must be a callable": {"curate": "filter"},
    "must be a callable": {"curate": lambda D, T, more: D},
    "curate returned a NoneType": {"curate": lambda D: None},
    "returned a ndarray": {"curate": lambda D: D.X, "design": "whole"},
    "test is a NoneType": {"after": DATA, "test": None},
}


@pytest.mark.parametrize("word", NO_METHODS)
def test_what_is_no_method_is_refused(word):
    assert word in refusal(dw.audit, DATA, **{"test": held_out(), **NO_METHODS[word]})


def test_what_is_no_test_set_and_no_answer_is_refused():
    assert "the test set is a ndarray" in refusal(dw.score, DATA, held_out().X)
    assert "keep is 'yes'" in refusal(dw.score, DATA, held_out(), keep="yes")
