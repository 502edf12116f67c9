"""How rows, limits, benchmarks and counts are told; texts as a whole are golden files (test_contract.py)."""

import re
from dataclasses import replace

import numpy as np
import pytest

import dataworth as dw
from dataworth.checks import CHECKS
from dataworth.measure import tempered
from dataworth.measure.designs import Arm, Sample
from dataworth.report import views
from golden.texts import DATA, results, shown
from worlds import held_out, yardstick


def words(result, **how):
    return " ".join(shown(result, **how).split())


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


def test_rows_count_from_one_on_the_screen_and_in_files():
    found = results()["values"]
    assert re.search(rf"^\s*{found.ranked_label_issues[0] + 1}\s", shown(found), re.M)
    assert [row["row"] for row in found.table_rows()[:2]] == [1, 2]


def test_the_list_says_what_a_label_is_and_what_it_would_be():
    found = results()["values"]
    first = found.ranked_label_issues[0]
    cells = [found.labels.label[first], found.labels.suggested[first], found.labels.source[first]]
    assert re.search(rf"^\s*{first + 1}\s+{cells[0]}\s+{cells[1]}\s+{cells[2]}\s", shown(found), re.M)
    assert cells[0] != cells[1]


def test_the_number_of_wrong_labels_is_the_expected_one():
    """Not how many are more likely wrong than right, of which there may be few where many are wrong."""
    found = results()["values"]
    many = replace(found, rows=replace(found.rows, p_mislabeled=np.full(60, 0.3)))
    assert "about 18 labels of 60 rows wrong, 0 labels more likely wrong than right" in words(many)
    page = views.report(many, ".md")
    assert "About 18 labels of 60 are wrong: 0 are more likely wrong than right, the others are among" in page


@pytest.mark.parametrize("sizes", [(10, 100, 50), (100, 10, 50), (80,)])
def test_an_estimate_is_of_all_arms_whichever_comes_first(sizes):
    """An arm takes a millisecond a row, of the data and of the test set."""
    arms = {Arm("part", str(n)): Sample(np.arange(n)) for n in sizes}
    tests = (Sample(np.arange(20)), Sample(np.arange(20)))
    task = tempered.Task(None, arms, tests, 1.0, bounded=True, given={})
    told = tempered.seconds_of_all(task, 1e-3 * (sizes[0] + 40))
    assert told == pytest.approx(sum(1e-3 * (n + 40) for n in sizes))
