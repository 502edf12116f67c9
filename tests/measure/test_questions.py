"""A ladder counts questions, tells no answer that is not better, and knows its test set."""

import json
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import dataworth as dw
from dataworth.atomic import BLANK, with_checksum
from dataworth.measure.questions import better
from worlds import classes, refusal

TEST = classes(200, seed=0)
GOOD, POOR = classes(200, seed=1), classes(12, seed=2)


@pytest.fixture(scope="module")
def yard():
    return dw.Yardstick.fit(TEST, prior_variance=1.0)


def queries(path):
    return json.loads(path.read_text())["queries"]


def test_a_better_answer_is_told_and_a_worse_one_is_not(tmp_path, yard):
    book = tmp_path / "ladder.json"
    ask = {"yardstick": yard, "ladder": book}
    plain = {name: dw.score(data, TEST, yardstick=yard) for name, data in (("g", GOOD), ("p", POOR))}
    assert dw.score(POOR, TEST, **ask).value == plain["p"].value
    assert dw.score(GOOD, TEST, **ask).value == plain["g"].value
    told = refusal(dw.score, POOR, TEST, **ask)
    assert "question 3 to this test set: the data are not worth more" in told
    assert f"{plain['p'].value:.2f}" not in told
    assert queries(book) == 3  # a refusal tells something, too
    again = dw.score(GOOD, TEST, **ask)
    assert again.value == plain["g"].value
    assert again.notes[-1] == "question 4 to this test set, by its ladder: of the data of question 2"


def test_an_audit_never_has_the_verdict_of_another(tmp_path, yard):
    """Whatever it rises from: the data after must be worth more than those of the best answer."""
    book = tmp_path / "ladder.json"
    dw.score(GOOD, TEST, yardstick=yard, ladder=book)
    ask = {"yardstick": yard, "ladder": book, "ignore": "all"}
    assert dw.audit(POOR, GOOD, TEST, **ask).delta > 0
    worse = GOOD.with_labels(1 - GOOD.y)
    for before, after in ((GOOD, POOR), (GOOD, worse), (worse, POOR), (worse, GOOD)):
        assert "the data after are not worth more" in refusal(dw.audit, before, after, TEST, **ask)
    assert queries(book) == 6


def test_a_ranking_counts_its_candidates_and_is_told_once(tmp_path, yard):
    book = tmp_path / "ladder.json"
    ask = {"yardstick": yard, "ladder": book, "ignore": "all"}
    first = dw.rank({"a": GOOD, "b": POOR}, TEST, **ask)
    assert queries(book) == 2
    assert dw.rank({"a": GOOD, "b": POOR}, TEST, **ask)[0].value == first[0].value
    for names in ("ab", "c"):
        told = refusal(dw.rank, dict.fromkeys(names, POOR), TEST, **ask)
        assert "the best of these is not worth more" in told
    assert queries(book) == 7


def test_all_commands_share_one_count_and_one_best(tmp_path, yard):
    """Of the best data each command answers one question; of others, and asked otherwise, none."""
    book = tmp_path / "ladder.json"
    ask = {"yardstick": yard, "ladder": book}
    scored = dw.score(GOOD, TEST, keep_data=True, **ask)
    values = dw.values(GOOD, TEST, **ask)
    assert values.notes[-1] == "question 2 to this test set, by its ladder: of the data of question 1"
    assert dw.forecast(GOOD, TEST, **ask).notes[-1].startswith("question 3 ")
    halves = {"a": GOOD.take(range(100)), "b": GOOD.take(range(100, 200))}
    assert dw.contributions(halves, TEST, **ask).notes[-1].startswith("question 5 ")
    assert dw.sensitivity(scored, priors=[0.5]).chosen == 1.0
    assert queries(book) == 6
    assert dw.values(GOOD, TEST, **ask).total == values.total  # the same question again
    otherwise = {"a": GOOD.take(range(50)), "b": GOOD.take(range(50, 200))}
    for again in (
        lambda: dw.score(GOOD, TEST, metric="auc", **ask),
        lambda: dw.score(GOOD, TEST, pairs=20, size=100, **ask),  # more nats a pair than a block
        lambda: dw.audit(GOOD, POOR, TEST, **ask),
        lambda: dw.values(GOOD, TEST, fdr=0.2, **ask),
        lambda: dw.values(POOR, TEST, **ask),
        lambda: dw.forecast(GOOD, TEST, seed=1, **ask),
        lambda: dw.contributions(otherwise, TEST, **ask),
        lambda: dw.sensitivity(scored, priors=[0.6]),
    ):
        assert "not worth more, beyond the noise, than in answer 1" in refusal(again)
    assert queries(book) == 16


def test_a_ladder_of_another_test_set_is_refused_and_nothing_is_lost(tmp_path, yard):
    book = tmp_path / "ladder.json"
    dw.score(GOOD, TEST, yardstick=yard, ladder=book)
    before = book.read_text()
    other = TEST.take(range(150))
    assert "another test set" in refusal(dw.score, GOOD, other, yardstick=yard, ladder=book)
    assert TEST.content_hash() not in before == book.read_text()
    book.write_text("{}")
    assert "is no ladder file" in refusal(dw.score, GOOD, TEST, yardstick=yard, ladder=book)
    assert book.read_text() == "{}"
    nowhere = tmp_path / "no" / "ladder.json"
    assert "cannot be written" in refusal(dw.score, GOOD, TEST, yardstick=yard, ladder=nowhere)


FORGED = [
    *({"queries": count} for count in (-1, 10**400, 10**9 + 1, True, 1.0)),
    *(
        {"key": "short"},
        {"key": 3},
        {"test": 3},
        {"query": -1},
        {"values": [1.0]},
        {"values": [None] * 20},
        {"asked": {"score": 3}},
        {"checksum": None},
        {"checksum": "sha256:0"},
    ),
]


@pytest.mark.parametrize("change", FORGED, ids=str)
def test_a_ladder_that_nobody_can_have_written_is_refused_by_name(tmp_path, yard, change):
    """With a checksum that fits, which anybody can compute, unless that is what is missing."""
    book = tmp_path / "ladder.json"
    dw.score(GOOD, TEST, yardstick=yard, ladder=book, ignore="all")
    told = json.loads(book.read_text())
    for name, value in change.items():
        place = next(iter(told["best"].values())) if name in ("query", "values", "asked") else told
        place[name] = value
    if "checksum" in change:
        del told["checksum"]
        told = {**told, **({} if change["checksum"] is None else change)}
        book.write_text(json.dumps(told))
    else:
        book.write_bytes(with_checksum(json.dumps({**told, "checksum": BLANK}).encode()))
    before = book.read_bytes()
    sentence = refusal(dw.score, GOOD, TEST, yardstick=yard, ladder=book)
    assert sentence.startswith(f"{book} is no ladder file") or f"{book} was changed" in sentence
    assert book.read_bytes() == before


def test_several_at_once_are_all_counted(tmp_path, yard):
    book = tmp_path / "ladder.json"
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda i: dw.score(POOR, TEST, yardstick=yard, ladder=book, ignore="all"), range(8)))
    assert queries(book) == 8


@pytest.mark.parametrize(("questions", "errors"), [(1, 2.0930), (150, 4.3649)])
def test_better_is_beyond_the_noise_of_so_many_questions(questions, errors):
    """Blocks that differ by d ± 1: Student's t of 19 degrees, 2.5 % and 2.5 % / 150 above it, from tables."""
    rng = np.random.default_rng(0)
    values, blocks = rng.normal(size=(2, 20))
    wave = np.tile([1.0, -1.0], 10) * np.sqrt(19 / 20)  # of standard deviation 1 over 20 blocks
    for d, told in ((0.99, False), (1.01, True)):
        old = {"values": values - (wave + d * errors / np.sqrt(20)), "blocks": blocks}
        assert better(values, blocks, old, questions) is told
