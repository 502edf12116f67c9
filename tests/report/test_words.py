"""How rows, limits, benchmarks and counts are told; texts as a whole are golden files (test_contract.py)."""

import re
from dataclasses import replace

import numpy as np
import pytest

import dataworth as dw
from commands import call
from dataworth.checks import CHECKS
from dataworth.measure import tempered
from dataworth.measure.designs import Arm, Sample
from dataworth.report.documents.audit import benchmark_sentence
from dataworth.report.numbers import unit_of
from golden.texts import BAD, DATA, NOISY, results, shown
from worlds import held_out, yardstick

QUIETLY = {"yardstick": yardstick(), "ignore": "all"}


def words(result, **how):
    return " ".join(shown(result, **how).split())


def test_the_kinds_of_changed_rows_add_up():
    """A row is kept unchanged, edited, relabelled or removed; or new, or a further copy."""
    before = dw.Dataset(DATA.X, DATA.y, ids=[f"r{i}" for i in range(60)])
    kinds = {"edited": 20, "relabelled": 12, "removed": 8, "new": 5, "repeated": 4}
    rows = np.r_[0:52, 0:4, 0:5]  # the last eight are gone, four come twice, five are new
    X, y, ids = before.X[rows].copy(), before.y[rows].copy(), before.ids[rows].astype("U8")
    X[10:30] += 1.0
    y[30:42] = 1 - y[30:42]
    X[-5:], ids[-5:] = X[-5:] + 9.0, [f"n{i}" for i in range(5)]
    audit = dw.audit(before, dw.Dataset(X, y, ids=ids), held_out(), **QUIETLY)
    told = re.search(r"Changed (.*) \(rows matched by ids\)", words(audit))[1]
    counts = {kind: int(n) for n, kind in (part.split(" ", 1) for part in told.split(", "))}
    assert counts == {"kept unchanged": 20, **kinds}
    assert sum(counts.values()) - counts["new"] - counts["repeated"] == len(before)
    assert sum(counts.values()) - counts["removed"] == len(rows)


@pytest.mark.parametrize(
    ("interval", "end"),
    [
        ((-0.002, 0.010), "moved by +0.40 points [−0.20, 1.00]: the benchmark would not have noticed."),
        ((0.001, 0.007), "the benchmark would have shown an improvement."),
        ((-0.007, -0.001), "the benchmark would have shown a loss."),
        (None, "whether the benchmark would have noticed cannot be told."),
    ],
)
def test_would_the_benchmark_have_noticed(interval, end):
    told = replace(results()["audit-cut"], benchmark_delta=0.004, benchmark_interval=interval)
    assert benchmark_sentence(told, unit_of(bits=False)).endswith(end)


class Under:
    """A model of one's own: the package's, under some prior."""

    takes = "two classes"

    def __init__(self, variance):
        self.variance = variance

    def fit(self, X, y, weights=None):
        return dw.Logistic(self.variance).fit(X, y, weights)

    def __repr__(self):
        return f"Under({self.variance:g})"


@pytest.mark.parametrize(("variance", "noted"), [(1.0, False), (1e-5, True)])
def test_a_model_that_no_tempering_mends_is_noted(variance, noted):
    """A prior a hundred thousand times too tight: doubling rows raises the score, and DW001 says so."""
    others = [check.code for check in CHECKS if check.code != "DW001"]
    score = dw.score(DATA, held_out(), model=Under(variance), yardstick=yardstick(), ignore=others)
    assert ("repeating rows raises the score" in words(score)) is noted


def test_people_count_rows_from_one_and_programs_from_zero():
    found = results()["values"]
    assert re.search(rf"^\s*{found.least_trusted[0] + 1}\s", shown(found), re.M)
    assert [row["row"] for row in found.table_rows()[:2]] == [0, 1]


@pytest.mark.parametrize("sizes", [(10, 100, 50), (100, 10, 50), (80,)])
def test_an_estimate_is_of_all_arms_whichever_comes_first(sizes):
    """An arm takes a millisecond a row, of the data and of the test set."""
    arms = {Arm("part", str(n)): Sample(np.arange(n)) for n in sizes}
    tests = (Sample(np.arange(20)), Sample(np.arange(20)))
    task = tempered.Task(None, arms, tests, 1.0, bounded=True, given={})
    told = tempered.seconds_of_all(task, 1e-3 * (sizes[0] + 40))
    assert told == pytest.approx(sum(1e-3 * (n + 40) for n in sizes))


def test_rows_that_were_taken_out_are_told_where_rows_are_counted():
    """Of 64 rows 4 stand in the test set; 18 of the others go."""
    leaked = dw.Dataset(np.vstack([NOISY.X, held_out().X[:4]]), np.r_[NOISY.y, held_out().y[:4]])
    audit = words(dw.audit(leaked, NOISY.take(~BAD), held_out(), **QUIETLY))
    assert "42 kept, 18 removed (rows matched by features); 60 rows before of 64 given (4 also stand" in audit
    score = words(dw.score(leaked, held_out(), **QUIETLY))
    assert "60 data rows of 64 given (4 also stand in the test set), 200 test rows" in score
    assert "given" not in words(results()["score"])


@pytest.mark.parametrize("command", [["audit", "a.csv", "b.csv"], ["values", "a.csv"]])
def test_a_missing_test_set_is_explained(command):
    code, _, err = call(*command)
    told = " ".join(re.sub("[│╭╮╰╯─]", " ", err).split())
    assert code == 2
    assert "Missing option '--test'. It is a file of labelled rows that the data are measured on" in told


@pytest.mark.parametrize("share", [0.5, 0.2])
def test_a_score_says_what_it_is_counted_from(share):
    """From class proportions, whatever the prior: each label by its share among the other rows, by hand."""
    y = held_out().y
    ones = np.flatnonzero(y == 1)[: round(share / (1 - share) * np.sum(y == 0))]
    test = held_out().take(np.r_[np.flatnonzero(y == 0), ones])
    chances = np.bincount(test.y) / len(test)
    expected = np.exp(chances @ np.log(chances))
    for variance in (1e-8, 1.0):
        yard = dw.Yardstick.fit(test, prior_variance=variance)
        score = dw.score(DATA, test, yardstick=yard, ignore="all")
        for one in (score, dw.rank({"a": DATA}, test=test, yardstick=yard, ignore="all")):
            found = re.search(r"\((0\.\d\d) by them, (0\.\d\d) with the data\)", words(one))
            by_them, given = map(float, found.groups())
            assert by_them == pytest.approx(expected, abs=0.015)
            assert np.log(given / by_them) == pytest.approx(score.per_row, abs=0.03)
