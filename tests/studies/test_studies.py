"""The curation study: attributes, draws, cells that are kept, the zoo's exam and the regime map."""

import json

import numpy as np
import pytest

from commands import call, refused
from dataworth import Dataset
from dataworth.curation import MatchGroups
from dataworth.parallel import Local
from dataworth_studies import curation, summary
from dataworth_studies.cells import Cells
from dataworth_studies.curation_tables import to_markdown
from dataworth_studies.draws import METHODS, GroupDraws, Setting
from dataworth_studies.features import features
from dataworth_studies.sets import load_set
from golden.sentences import all_recorded
from worlds import refusal

RNG = np.random.default_rng(0)


@pytest.fixture(scope="module")
def digits():
    return load_set("digits", None, 0)


def test_sets_from_files(tmp_path):
    images = RNG.integers(0, 256, (40, 28, 28)).astype(np.uint8)
    y = np.arange(40) % 2
    np.savez(tmp_path / "mnist01.npz", x_train=images, y_train=y, x_test=images, y_test=y)
    mnist = load_set("colored-mnist", tmp_path, 0)
    assert mnist.train.images.shape == (40, 28, 28, 3)
    photos = RNG.integers(0, 256, (40, 32, 32, 3)).astype(np.uint8)
    np.savez(tmp_path / "cifar_airplane_automobile.npz", x_train=photos, y_train=y, x_test=photos, y_test=y)
    cifar = load_set("corrupted-cifar", tmp_path, 0, severity=5, most=10)
    assert (len(cifar.train), len(cifar.test)) == (10, 40)
    train, test = features(cifar, "pixels")
    assert train.shape == (10, 3072)
    assert np.allclose(test, cifar.test.images.reshape(40, -1) / 255.0, atol=1e-6)
    assert "give MODEL, MODEL@SIDE" in refusal(features, cifar, "pixels @ 40")


def make_draws(setting, seed=0, train=400, test=400):
    rng = np.random.default_rng(5)
    train_group, test_group = rng.integers(0, 4, train), rng.integers(0, 4, test)
    return GroupDraws.of(setting, train_group, test_group, seed), train_group, test_group


def test_a_draw_has_the_groups_that_were_asked_for():
    setting = Setting((30,) * 4, (10, 30, 30, 10))
    design, train_group, test_group = make_draws(setting)
    draw = design.draw(7)
    arms = {str(arm): sample for arm, sample in draw.arms.items()}
    count = lambda rows, groups: np.bincount(groups[rows], minlength=4).tolist()  # noqa: E731
    assert count(arms["clean"].rows, train_group) == [30] * 4
    assert count(draw.test.rows - design.held, test_group) == [10, 30, 30, 10]
    assert count(arms["removed"].rows, train_group) == [10, 30, 30, 10]
    noisy = arms["noisy"].rows
    flipped = noisy >= design.flipped
    assert flipped.sum() == 12
    assert sorted(noisy - design.flipped * flipped) == sorted(arms["clean"].rows)
    assert sorted(arms["filtered"].rows) == sorted(noisy[~flipped])
    assert len(arms["filtered to size"].rows) == len(arms["removed"].rows) == 80
    assert set(arms["filtered to size"].rows) <= set(arms["filtered"].rows)
    assert set(arms["noisy removed"].rows) <= set(arms["noisy"].rows)
    assert len(arms["random"].rows) == 80


@pytest.mark.parametrize(
    ("data", "test"), [((30,) * 4, (20, 60, 60, 20)), ((25, 30, 40, 10), (5, 9, 7, 3)), ((8,) * 4, (8,) * 4)]
)
def test_removal_keeps_what_the_curation_match_groups_keeps(data, test):
    """The study draws removal by group sizes; the curation does it on rows: they must agree."""

    def rows(sizes):
        group = np.repeat(np.arange(4), sizes)
        return Dataset(np.zeros((len(group), 1)), group % 2, attributes=(group // 2).astype(str))

    kept = MatchGroups()(rows(data), rows(test), rng=np.random.default_rng(0))
    group = 2 * kept.attributes.astype(int) + kept.y
    assert tuple(np.bincount(group, minlength=4)) == Setting(data, test).kept


def test_cells_are_computed_once_and_survive_a_cut_line(tmp_path):
    path = tmp_path / "deep" / "cells.jsonl"
    asked = []

    def compute():
        asked.append(1)
        return {"value": len(asked)}

    assert Cells(path).get({"a": 1, "b": 2.5}, compute)["value"] == 1
    path.write_text(path.read_text() + '{"key": {"a": 9}, "val')
    again = Cells(path)
    assert again.get({"b": 2.5, "a": 1}, compute)["value"] == 1
    assert (again.get({"a": 2, "b": 2.5}, compute)["value"], len(asked)) == (2, 2)
    assert Cells(path).get({"a": 2, "b": 2.5}, compute)["value"] == 2  # and was kept after the cut line


def test_the_study_runs_is_kept_and_is_the_same_again(tmp_path, monkeypatch):
    small = curation.Plan((Setting((10,) * 4, (5, 10, 10, 5)),), (1.0,), False, 3, 2, 1, 1)
    monkeypatch.setitem(curation.PLANS, "digits", small)
    found = curation.study("digits", out=tmp_path, engine=Local(1))
    rows = found.rows()
    assert {row["method"] for row in rows} == set(METHODS)
    forms = {("laplace", form) for form in ("evidence", "eta", "product")}
    assert {(row["inference"], row["form"]) for row in rows} == forms | {("ep", "evidence")}
    monkeypatch.setattr(curation, "evaluate", None)  # nothing is computed a second time
    again = curation.study("digits", out=tmp_path, engine=Local(1))
    assert json.dumps(again.rows()) == json.dumps(rows)
    assert "filtering to equal size" in to_markdown(found)
    assert {row["method"] for row in found.rows(equal_size=True)} == set(METHODS) - {"filtering"}
    lines = summary.summarise(summary.read_studies(tmp_path))
    assert {line["method"] for line in lines} == set(METHODS)
    assert "| removal | " in summary.to_markdown(lines)
    cells = tmp_path / "cells" / "digits.jsonl"
    cells.write_text(cells.read_text() + '{"key": {"cut')  # an interruption
    assert len(summary.summarise(summary.read_studies(tmp_path))) == len(lines)
    curation.study("digits", out=tmp_path, engine=Local(1), seed=0)
    other = cells.read_text().replace('"seed": 0', '"seed": 1')
    cells.write_text(cells.read_text() + other)
    assert "give each seed a directory" in refusal(summary.read_studies, tmp_path)


def test_filtering_raises_and_random_removal_lowers_the_score_on_digits(digits):
    """Fixed seed; the effects are many standard errors (see results/), a false alarm far below 1 in 1,000."""
    lab = curation.Laboratory(digits, "pixels", 0)
    setting = Setting((25,) * 4, (15, 45, 45, 15), ("filtering", "random removal"))
    cell = curation.Cell(lab, setting, curation.Logistic(1.0), None, curation.Form(), 10, 2, Local(1))
    groups = [cell.group(g) for g in range(2)]  # without its checks of the test set
    assert all(g["methods"]["filtering"]["delta"] > 0 for g in groups)
    assert all(g["methods"]["random removal"]["delta"] < 0 for g in groups)


BAD = [
    "curation --set imagenet", "curation --set corrupted-cifar", "zoo --sets mushrooms", "regimes",
    "curation --quick --groups 1", "samples --out x.png --options colour=red",
    "samples --out x.png --set digitz", "curation --quick --set corrupted-cifar", "zoo --seeds 0",
    "curation --quick --out file -q",
]  # fmt: skip


def test_sentences(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("")
    all_recorded("studies", [refused(call("study", *words.split())) for words in BAD], tmp_path)
