"""What a cold reader stumbled over: how rows, limits, controls and counts are told."""

from __future__ import annotations

import re
from types import SimpleNamespace

import numpy as np
import pytest
from typer.testing import CliRunner

import dataworth as dw
from dataworth.cli.app import app
from dataworth.measure import tempered
from dataworth.measure.designs import Arm, Sample
from worlds import classes, flipped, held_out, yardstick

DATA = classes(60, seed=1)
NOISY, BAD = flipped(DATA, 0.3, seed=1)
QUIETLY = {"yardstick": yardstick(), "ignore": "all"}


class Listener:
    """Who hears how the work goes."""

    def __init__(self):
        self.heard = []

    def preparing(self, what):
        self.heard.append(what)

    def expect(self, seconds):
        self.heard.append("expect")

    def update(self, done, total):
        pass


@pytest.fixture(scope="module")
def valued():
    listener = Listener()
    data = dw.Dataset(NOISY.X, NOISY.y, groups=["a", "b", "c"] * 20)
    return dw.values(data, held_out(), yardstick=yardstick(), progress=listener), listener.heard


def test_people_count_rows_from_one_and_programs_from_zero(valued, tmp_path):
    found, _ = valued
    first = found.least_trusted[0]
    assert re.search(rf"^\s*{first + 1}\s", found.text(), re.M)
    assert "row 1 is the first row of data" in " ".join(found.text().split())
    found.report(tmp_path / "v.md")
    told = (tmp_path / "v.md").read_text(encoding="utf-8")
    assert f"| {first + 1} |" in told
    assert "Row 1 is the first row of the data" in told
    assert [row["row"] for row in found.table_rows()[:2]] == [0, 1]


def test_every_stage_of_values_is_told(valued):
    """Rows, the total, labels, then the sources, each before its work."""
    assert valued[1] == ["valuing rows…", "expect", "looking for wrong labels…", "expect"]


@pytest.mark.parametrize("sizes", [(10, 100, 50), (100, 10, 50), (80,)])
def test_an_estimate_is_of_all_arms_whichever_comes_first(monkeypatch, sizes):
    """A fit takes a millisecond a row, of the data and of the test set; the first arm's is there already."""
    now = [0.0]
    arms = {Arm("part", str(n)): Sample(np.arange(n)) for n in sizes}
    tests = (Sample(np.arange(20)), Sample(np.arange(20)))
    task = tempered.Task(None, arms, {}, tests, (), 1.0, True)

    def scorer(task, arm):
        def score(place):
            there = len(arms) > 1 and arm == next(iter(arms))
            now[0] += 0.0 if there else 1e-3 * (len(arms[arm].rows) + 40)

        return score

    monkeypatch.setattr(tempered, "_scorer", scorer)
    monkeypatch.setattr(tempered, "time", SimpleNamespace(perf_counter=lambda: now[0]))
    expected = tempered.VISITED * sum(1e-3 * (n + 40) for n in sizes)
    assert tempered.rehearse_whole(task) == pytest.approx(expected)


@pytest.fixture(scope="module")
def with_checks():
    return dw.score(DATA, held_out(), yardstick=yardstick())


@pytest.mark.parametrize("code", ["DW001", "DW002", "DW003", "DW004", "DW005", "DW012"])
def test_a_check_that_passes_says_what_it_allows(with_checks, code):
    (found,) = [one for one in with_checks.checks if one.code == code]
    assert found.fires is False
    limit = re.search(r"(?:allowed up to|must be shown to be above the) ([\d.]+)", found.detail)
    if limit is None:  # beyond the limit, but by luck
        assert re.search(r"[\d.]+% one time in \d+, which is allowed", found.detail)
        return
    bound = float(limit[1]) * (0.01 if "%" in found.detail[limit.end() : limit.end() + 1] else 1.0)
    assert (found.value + 0.5 > bound) if code == "DW012" else (abs(found.value) <= bound)


def test_no_check_speaks_in_letters(with_checks):
    for one in with_checks.checks:
        assert not re.search(r"\bC =", one.detail)


LEAKED = dw.Dataset(np.vstack([NOISY.X, held_out().X[:4]]), np.r_[NOISY.y, held_out().y[:4]])


@pytest.fixture(scope="module")
def audited():
    """Of 64 rows 4 stand in the test set; 18 of the others go."""
    return dw.audit(LEAKED, NOISY.take(~BAD), held_out(), **QUIETLY)


def test_rows_that_were_taken_out_are_told_where_rows_are_counted(audited):
    told = " ".join(audited.text().split())
    assert "42 kept, 18 removed (rows matched by features); 60 rows before of 64 given (4 also stand" in told
    score = " ".join(dw.score(LEAKED, held_out(), **QUIETLY).text().split())
    assert "60 data rows of 64 given (4 also stand in the test set), 200 test rows" in score
    assert "given" not in " ".join(dw.score(DATA, held_out(), **QUIETLY).text().split())


def test_an_empty_control_says_why(audited, tmp_path):
    def told(found):
        found.report(tmp_path / "a.md")
        return (tmp_path / "a.md").read_text(encoding="utf-8")

    assert "– is not measured: of the control, only information and accuracy are" in told(audited)
    more = dw.Dataset(np.vstack([DATA.X[:30], NOISY.X[30:]]), np.r_[DATA.y[:30], NOISY.y[30:]])
    worse = dw.audit(DATA, more, held_out(), **QUIETLY)
    assert worse.made_of is None
    assert "– no control is needed: there are no fewer rows than before" in told(worse)


@pytest.mark.parametrize("words", [["audit", "a.csv", "b.csv"], ["values", "a.csv"], ["outlook", "a.csv"]])
def test_a_missing_test_set_is_explained(words):
    done = CliRunner().invoke(app, words)
    told = " ".join(re.sub("[│╭╮╰╯─]", " ", done.output).split())
    assert done.exit_code == 2
    assert "Missing option '--test'. It is a file of labelled rows that the data are measured on" in told
    assert "take a fifth of the rows out of the data" in told


@pytest.mark.parametrize(("variance", "least", "most"), [(1e-8, 0.499, 0.501), (1e4, 0.0, 0.49)])
def test_a_score_says_what_it_is_counted_from(variance, least, most, tmp_path):
    """A coin under a narrow prior; under a wide one a guess is sure, and often wrong."""
    yard = dw.Yardstick.fit(held_out(), prior_variance=variance)
    score = dw.score(DATA, held_out(), yardstick=yard, ignore="all")
    ranking = dw.rank({"a": DATA}, test=held_out(), yardstick=yard, ignore="all")
    for one in (score, ranking):
        one.report(tmp_path / "a.md")
        for text in (one.text(), (tmp_path / "a.md").read_text(encoding="utf-8")):
            found = re.search(r"\((0\.\d\d) without them, (0\.\d\d) with them\)", " ".join(text.split()))
            without, given = map(float, found.groups())
            assert least <= without <= most
            assert np.log(given / without) == pytest.approx(score.per_row, abs=0.03)
