"""One question, one answer: what two calls both compute is the same number."""

import numpy as np
import pytest

import dataworth as dw
from golden.answers import tables

SETS = tables()
EXACT, STREAMED = 1e-9, 1e-6


@pytest.fixture(scope="module", params=SETS)
def problem(request):
    """Sixty rows of data, a test set, and the yardstick that every call is given."""
    data, test = SETS[request.param]
    few = data.take(range(min(len(data), 60)))
    return few, test, dw.Yardstick.fit(test, prior_variance=1.0)


def test_score_is_the_total_of_values_contributions_and_forecast(problem):
    data, test, yardstick = problem
    score = dw.score(data, test, yardstick=yardstick, ignore="all").value
    half = len(data) // 2
    parts = {"a": data.take(range(half)), "b": data.take(range(half, len(data)))}
    found = {
        "values": dw.values(data, test, yardstick=yardstick).total.value,
        "contributions": dw.contributions(parts, test, yardstick=yardstick).total.value,
        "forecast": dw.forecast(data, test, yardstick=yardstick).curve,
        "rank": dw.rank({"all": data}, test, yardstick=yardstick, ignore="all")[0].value,
        "audit": dw.audit(data, parts["a"], test, yardstick=yardstick, ignore="all").before,
    }
    (now,) = [one.value for one in found["forecast"] if one.measured and one.rows == len(data)]
    found["forecast"] = now
    assert found == pytest.approx(dict.fromkeys(found, score), rel=EXACT, abs=EXACT)


@pytest.mark.parametrize("labels", ["two classes", "numeric labels"])
def test_a_stream_scores_as_its_rows_do(labels, tmp_path):
    """1,500 rows, which are many for six coefficients."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1900, 5)).round(3)
    noise = X[:, 0] - X[:, 1] + rng.normal(size=1900)
    y = np.where(noise > 0, "yes", "no") if labels == "two classes" else noise.round(3)
    file = tmp_path / "data.csv"
    rows = (",".join([*(f"{x:g}" for x in row), str(label)]) for row, label in zip(X, y, strict=True))
    lines = list(rows)
    head = "a,b,c,d,e,label\n"
    file.write_text(head + "\n".join(lines[:1500]) + "\n")
    (tmp_path / "test.csv").write_text(head + "\n".join(lines[1500:]) + "\n")
    test = dw.read(tmp_path / "test.csv", label="label")
    yardstick = dw.Yardstick.fit(test, prior_variance=1.0)
    given = {"label": "label", "yardstick": yardstick, "ignore": "all"}
    loaded = dw.score(file, test, **given)
    streamed = dw.score(file, test, stream=True, **given)
    assert (bool(streamed.details.passes), bool(loaded.details.passes)) == (True, False)
    assert streamed.value == pytest.approx(loaded.value, abs=STREAMED)
