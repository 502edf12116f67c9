"""Every kind of result: plain data, pickles, the same bits again; rows are kept only if asked for."""

import json
import math
import pickle
from functools import cache, partial

import numpy as np
import pytest

import dataworth as dw
from golden.sentences import all_refused
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
    return KINDS[kind](yardstick=yardstick(), ignore="all", **options)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("keep", [False, True])
def test_every_result_comes_back_from_a_pickle(kind, keep):
    result = measured(kind, keep_data=keep)
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
    result = measured(kind, keep_data=False)
    assert result.case is None
    for call in (lambda: result.parts, lambda: result.to_dict(parts=True), lambda: dw.sensitivity(result)):
        assert "keep_data=True" in refusal(call)
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
    assert two.tobytes() == measured(kind, keep_data=False).table.values.tobytes()


def test_sentences():
    """What is no data, no method, no test set and no answer."""
    test, none = held_out(), DATA.take([])
    few, other = dw.Dataset(DATA.X[:, :2], DATA.y), DATA.with_labels([2] * 160)
    given = [(dw.score, data) for data in ([1, 2], none, few, other)]
    given += [(dw.audit, "raw.csv", DATA), *((dw.audit, DATA, after) for after in (DATA.X, none, None))]
    given += [
        (dw.rank, data) for data in ([DATA], {}, {"a": [1]}, *({"a": DATA, "b": b} for b in (none, other)))
    ]
    given += [(dw.contributions, {"a": DATA})]
    cases = [lambda f=f, g=g: f(*g, test, yardstick=yardstick()) for f, *g in given]
    methods = [{"after": DATA, "curate": half}, {"curate": "filter"}, {"curate": lambda D, T, more: D}]
    methods += [{"curate": lambda D: None}, {"curate": lambda D: D.X, "design": "whole"}]
    methods += [{"after": DATA, "test": None}]
    cases += [lambda m=m: dw.audit(DATA, **{"test": test, **m}) for m in methods]
    all_refused("results", [*cases, (dw.score, DATA, test.X), lambda: dw.score(DATA, test, keep_data="yes")])
