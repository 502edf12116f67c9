"""A ledger counts questions, tells no answer that is not better, and knows its test set."""

import json
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import dataworth as dw
from dataworth.atomic import BLANK, with_checksum
from dataworth.measure.ledger import better
from worlds import classes, refusal

TEST = classes(200, seed=0)
GOOD, POOR = classes(200, seed=1), classes(12, seed=2)


@pytest.fixture(scope="module")
def yard():
    return dw.Yardstick.fit(TEST, prior_variance=1.0)


def queries(path):
    return json.loads(path.read_text())["queries"]


def test_a_better_answer_is_told_and_a_worse_one_is_not(tmp_path, yard):
    book = tmp_path / "ledger.json"
    ask = {"yardstick": yard, "ledger": book}
    plain = {name: dw.score(data, TEST, yardstick=yard) for name, data in (("g", GOOD), ("p", POOR))}
    assert dw.score(POOR, TEST, **ask).value == plain["p"].value
    assert dw.score(GOOD, TEST, **ask).value == plain["g"].value
    told = refusal(dw.score, POOR, TEST, **ask)
    assert "question 3 to this test set: the data are not worth more" in told
    assert f"{plain['p'].value:.2f}" not in told
    assert queries(book) == 3  # a refusal tells something, too
    again = dw.score(GOOD, TEST, **ask)
    assert again.value == plain["g"].value
    assert any("question 4" in note and "the same as question 2" in note for note in again.notes)


def test_an_audit_never_has_the_verdict_of_another(tmp_path, yard):
    """Whatever it rises from: the data after must be worth more than those of the best answer."""
    book = tmp_path / "ledger.json"
    dw.score(GOOD, TEST, yardstick=yard, ledger=book)
    ask = {"yardstick": yard, "ledger": book, "ignore": "all"}
    assert dw.audit(POOR, GOOD, TEST, **ask).delta > 0
    worse = GOOD.with_labels(1 - GOOD.y)
    for before, after in ((GOOD, POOR), (GOOD, worse), (worse, POOR)):
        assert "the data after are not worth more" in refusal(dw.audit, before, after, TEST, **ask)
    assert queries(book) == 5


def test_a_ranking_counts_its_candidates_and_is_told_once(tmp_path, yard):
    book = tmp_path / "ledger.json"
    ask = {"yardstick": yard, "ledger": book, "ignore": "all"}
    first = dw.rank({"a": GOOD, "b": POOR}, TEST, **ask)
    assert queries(book) == 2
    assert dw.rank({"a": GOOD, "b": POOR}, TEST, **ask)[0].value == first[0].value
    for names in ("ab", "c"):
        told = refusal(dw.rank, dict.fromkeys(names, POOR), TEST, **ask)
        assert "the best of these is not worth more" in told
    assert queries(book) == 7


def test_a_ledger_of_another_test_set_is_refused_and_nothing_is_lost(tmp_path, yard):
    book = tmp_path / "ledger.json"
    dw.score(GOOD, TEST, yardstick=yard, ledger=book)
    before = book.read_text()
    other = TEST.take(range(150))
    assert "another test set" in refusal(dw.score, GOOD, other, yardstick=yard, ledger=book)
    assert TEST.content_hash() not in before == book.read_text()
    book.write_text("{}")
    assert "is not a ledger" in refusal(dw.score, GOOD, TEST, yardstick=yard, ledger=book)
    assert book.read_text() == "{}"
    nowhere = tmp_path / "no" / "ledger.json"
    assert "cannot be written" in refusal(dw.score, GOOD, TEST, yardstick=yard, ledger=nowhere)


FORGED = [
    *({"queries": count} for count in (-1, 10**400, 10**9 + 1, True, 1.0)),
    *({"key": "short"}, {"key": 3}, {"test": 3}, {"query": -1}, {"checksum": None}, {"checksum": "sha256:0"}),
]


@pytest.mark.parametrize("change", FORGED, ids=str)
def test_a_ledger_that_nobody_can_have_written_is_refused_by_name(tmp_path, yard, change):
    """With a checksum that fits, which anybody can compute, unless that is what is missing."""
    book = tmp_path / "ledger.json"
    dw.score(GOOD, TEST, yardstick=yard, ledger=book, ignore="all")
    told = json.loads(book.read_text())
    for name, value in change.items():
        place = told["best"]["score"] if name == "query" else told
        place[name] = value
    if "checksum" in change:
        del told["checksum"]
        told = {**told, **({} if change["checksum"] is None else change)}
        book.write_text(json.dumps(told))
    else:
        book.write_bytes(with_checksum(json.dumps({**told, "checksum": BLANK}).encode()))
    before = book.read_bytes()
    sentence = refusal(dw.score, GOOD, TEST, yardstick=yard, ledger=book)
    assert sentence.startswith(f"{book} is not a ledger") or f"{book} was changed" in sentence
    assert book.read_bytes() == before


def test_several_at_once_are_all_counted(tmp_path, yard):
    book = tmp_path / "ledger.json"
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda i: dw.score(POOR, TEST, yardstick=yard, ledger=book, ignore="all"), range(8)))
    assert queries(book) == 8


@pytest.mark.parametrize(("questions", "errors"), [(1, 2.0930), (150, 4.3649)])
def test_better_is_beyond_the_noise_of_so_many_questions(yard, questions, errors):
    """Blocks that differ by d ± 1: Student's t of 19 degrees, 2.5 % and 2.5 % / 150 above it, from tables."""
    result = dw.score(GOOD, TEST, yardstick=yard, keep=True, ignore="all")
    case, table = result.case, result.table
    wave = np.tile([1.0, -1.0], 10) * np.sqrt(19 / 20)  # of standard deviation 1 over 20 blocks
    for d, told in ((0.99, False), (1.01, True)):
        old = table.with_column("pmi", table.pmi - (wave + d * errors / np.sqrt(20))[:, None])
        assert better(case, old, questions) is told
