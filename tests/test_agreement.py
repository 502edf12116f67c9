"""One question, one answer: what two calls both compute is the same number."""

import pytest

import dataworth as dw
from golden.answers import tables

SETS = tables()
EXACT = 1e-9


@pytest.fixture(scope="module", params=SETS)
def problem(request):
    """Forty rows of data, a test set, and the yardstick that every call is given."""
    data, test = SETS[request.param]
    few = data.take(range(min(len(data), 40)))
    return few, test, dw.Yardstick.fit(test, prior_variance=1.0)


def test_score_is_the_total_of_values_contributions_and_forecast(problem):
    data, test, yardstick = problem
    score = dw.score(data, test, yardstick=yardstick, ignore="all").value
    half = len(data) // 2
    parts = {"a": data.take(range(half)), "b": data.take(range(half, len(data)))}
    curve = dw.forecast(data, test, yardstick=yardstick).curve
    found = {
        "values": dw.values(data, test, yardstick=yardstick).total.value,
        "contributions": dw.contributions(parts, test, yardstick=yardstick).total.value,
        "forecast": [one.value for one in curve if one.measured][-1],
        "rank": dw.rank({"all": data}, test, yardstick=yardstick, ignore="all")[0].value,
        "audit": dw.audit(data, parts["a"], test, yardstick=yardstick, ignore="all").before,
    }
    assert found == pytest.approx(dict.fromkeys(found, score), rel=EXACT, abs=EXACT)
