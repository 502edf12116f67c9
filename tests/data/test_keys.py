"""Keyed hashes and commitments."""

import hashlib
import hmac

import numpy as np
import pytest

import dataworth as dw
from dataworth.data.keys import check_commitment, commit, keyed_hash, opens
from worlds import classes, refusal

DATA = classes(60, seed=1)
KEY = "a key of sixteen or more"


def test_it_is_hmac_sha256_by_random_keys():
    content = DATA.content_hash()
    assert keyed_hash(content, KEY) == hmac.new(KEY.encode(), content.encode(), hashlib.sha256).hexdigest()
    assert "too short" in refusal(keyed_hash, content, "short")
    first, second = commit(DATA), commit(DATA)
    assert first.key != second.key
    assert first.hash != second.hash
    assert commit(DATA, KEY) == commit(DATA, KEY)


@pytest.mark.parametrize("odd", ["é", "\ud800", "f" * 63 + "é"])
def test_whatever_stands_for_a_hash_or_a_key_is_compared(odd):
    """Of another author, and perhaps no text that can be encoded."""
    assert not opens("content", odd, KEY)
    assert not opens("content", keyed_hash("content", KEY), odd + KEY)
    assert opens("content", keyed_hash("content", odd + KEY).upper(), odd + KEY)


def test_an_audit_refuses_another_before():
    test = classes(60, seed=2)
    made = commit(DATA)
    flipped = DATA.with_labels(np.r_[1 - DATA.y[:6], DATA.y[6:]])
    yard = dw.Yardstick.fit(test, prior_variance=1.0)
    ask = {"yardstick": yard, "ignore": "all", "committed": made.hash}
    dw.audit(DATA, DATA.take(range(50)), test, key=made.key, **ask)
    assert "not those that were committed to" in refusal(dw.audit, flipped, DATA, test, key=made.key, **ask)
    assert "not those that were committed to" in refusal(dw.audit, DATA, flipped, test, key=KEY, **ask)
    assert "needs the key" in refusal(dw.audit, DATA, flipped, test, **ask)
    check_commitment(DATA, made.hash.upper(), made.key)
