"""What users are given goes through pickle and comes back the same."""

import pickle

import numpy as np
import pytest

import dataworth as dw
from dataworth.models import Categorical, Linear, Logistic

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 3))
Y = (X[:, 0] + RNG.normal(size=40) > 0).astype(int)
D, T = dw.Dataset(X[:25], Y[:25]), dw.Dataset(X[25:], Y[25:])


def again(value):
    return pickle.loads(pickle.dumps(value))


@pytest.mark.parametrize("form", ["evidence", "eta", "product", "kl", "sealed", "integral"])
def test_a_pmi_in_every_form(form):
    result = dw.pmi(D, T, Logistic(), form)
    assert again(result) == result
    assert again(result).to_dict() == result.to_dict()


def test_changes_judgements_and_certificates():
    for result in (
        dw.referee(D.take(np.arange(6)), T.take(np.arange(4))),
        dw.referee(D, T, Linear()),
        dw.check_model(Categorical(), repeats=20),
    ):
        assert again(result) == result
        assert again(result).to_dict() == result.to_dict()
