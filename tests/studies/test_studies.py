"""The curation study: attributes, draws, cells that are kept, the zoo's exam and the regime map."""

import json
import zipfile

import numpy as np
import pytest

from commands import call, refused
from dataworth import Dataset
from dataworth.curation import MatchGroups
from dataworth.parallel import Local
from dataworth_studies import curation, regimes, summary, zoo
from dataworth_studies.attributes import colour_background, corrupt, stylise
from dataworth_studies.cells import Cells
from dataworth_studies.curation_tables import to_markdown
from dataworth_studies.draws import METHODS, GroupDraws, Setting
from dataworth_studies.features import features
from dataworth_studies.menagerie import load_exhibit
from dataworth_studies.sets import load_set
from dataworth_studies.yardsticks import plain_yardstick, whitened_yardstick
from worlds import refusal

RNG = np.random.default_rng(0)


@pytest.fixture(scope="module")
def exhibit():
    return load_exhibit("breast cancer", None, 0)


@pytest.fixture(scope="module")
def digits():
    return load_set("digits", None, 0)


# --- attributes ------------------------------------------------------------------------------------------


def test_colour_is_in_the_background_and_ink_stays_white():
    images = RNG.integers(0, 256, (6, 5, 5)).astype(np.uint8)
    images[:, 0, 0], images[:, 1, 1] = 0, 255
    which = np.array([0, 1, 0, 1, 0, 1])
    made = colour_background(images, which)
    assert made.shape == (6, 5, 5, 3)
    assert made.dtype == np.uint8
    assert (made[:, 1, 1] == 255).all()
    assert [made[i, 0, 0].tolist() for i in (0, 1)] == [[0, 0, 255], [0, 255, 0]]
    assert (made[..., 0] == images).all()  # red is ink alone


def test_contrast_is_drawn_to_the_mean_and_brightness_raises_value():
    images = RNG.integers(0, 256, (4, 8, 8, 3)).astype(np.uint8)
    for severity, share, lift in zip(
        range(1, 6), (0.75, 0.5, 0.4, 0.3, 0.15), (0.05, 0.1, 0.15, 0.2, 0.3), strict=True
    ):
        flat = corrupt(images, np.ones(4, dtype=int), severity).astype(float)
        mean = images.mean(axis=(1, 2), keepdims=True)
        assert np.abs(flat - np.clip(mean + share * (images - mean), 0, 255)).max() <= 1.0
        bright = corrupt(images, np.zeros(4, dtype=int), severity).astype(float)
        value = np.minimum(images.max(axis=-1) + 255 * lift, 255.0)  # HSV's value is the largest channel
        assert np.abs(bright.max(axis=-1) - value).max() <= 1.0
    assert "severity is 6" in refusal(corrupt, images, np.zeros(4, dtype=int), 6)


def test_styles_differ_and_strength_zero_is_the_photograph():
    images = RNG.integers(0, 256, (2, 16, 16, 3)).astype(np.uint8)
    for style in ("palette", "texture"):
        assert (stylise(images, np.array([0, 1]), style, 0.0) == images).all()
        first, second = (stylise(images, np.full(2, w), style, 1.0) for w in (0, 1))
        assert (first != second).mean() > 0.5
    tile = stylise(images, np.zeros(2, dtype=int), "texture", 1.0)[:, :8, :8]
    assert (tile == tile[:, :1, :1]).all()
    assert "known styles" in refusal(stylise, images, np.zeros(2, dtype=int), "cubist")


# --- sets and features -----------------------------------------------------------------------------------


def test_attribute_says_nothing_of_the_label(digits):
    for part in (digits.train, digits.test):
        table = np.bincount(part.group, minlength=4).reshape(2, 2)
        expected = table.sum(1, keepdims=True) * table.sum(0) / table.sum()
        assert ((table - expected) ** 2 / expected).sum() < 10.8  # χ², 1 degree: false alarm 1 in 1,000
    again = load_set("digits", None, 0)
    assert (digits.train.images == again.train.images).all()
    assert (load_set("digits", None, 1).train.attribute != digits.train.attribute).any()


def test_sets_that_are_not_there(tmp_path):
    assert "there is no mnist01.npz in" in refusal(load_set, "colored-mnist", tmp_path, 0)
    (tmp_path / "mnist01.npz").write_bytes(b"no zip")
    assert "expected x_train" in refusal(load_set, "colored-mnist", tmp_path, 0)
    with zipfile.ZipFile(tmp_path / "cats_dogs_128.zip", "w") as file:
        file.writestr("readme", "empty")
    assert "has no train/cat" in refusal(load_set, "stylized-catsdogs", tmp_path, 0)


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


# --- draws -----------------------------------------------------------------------------------------------


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
    flipped = arms["noisy"].rows >= design.flipped
    assert flipped.sum() == 12
    rows = np.where(flipped, arms["noisy"].rows - design.flipped, arms["noisy"].rows)
    assert sorted(rows) == sorted(arms["clean"].rows)
    assert sorted(arms["filtered"].rows) == sorted(arms["noisy"].rows[~flipped])
    assert len(arms["filtered to size"].rows) == len(arms["removed"].rows) == 80
    assert set(arms["filtered to size"].rows) <= set(arms["filtered"].rows)
    assert set(arms["noisy removed"].rows) <= set(arms["noisy"].rows)
    assert len(arms["random"].rows) == 80


def test_a_draw_is_pure_in_seed_and_place():
    setting = Setting((20,) * 4, (10, 20, 20, 10))
    a, b = (make_draws(setting)[0] for _ in range(2))
    for arm in a.draw(3).arms:
        assert (a.draw(3).arms[arm].rows == b.draw(3).arms[arm].rows).all()
    assert (a.draw(3).test.rows != a.draw(4).test.rows).any()
    assert (a.draw(3).test.rows != make_draws(setting, seed=1)[0].draw(3).test.rows).any()


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


def test_groups_that_are_too_small_are_refused():
    assert "rows of group 0, but a draw takes 300" in refusal(make_draws, Setting((300,) * 4, (10,) * 4))
    assert "test images have" in refusal(make_draws, Setting((30,) * 4, (10, 10, 10, 500)))


# --- cells and the study ---------------------------------------------------------------------------------


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
    assert again.get({"a": 2, "b": 2.5}, compute)["value"] == 2
    assert len(asked) == 2
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


@pytest.mark.parametrize(
    ("method", "accuracy", "delta", "check", "covered"),
    [
        ("removal", 0.95, -0.1, 0.0, True),
        ("removal", 0.85, 0.1, 0.0, False),
        ("removal", 0.95, 0.0, 2.0, False),
        ("filtering", 0.85, 0.06, 0.5, True),
    ],
)
def test_where_the_guarantee_applies(method, accuracy, delta, check, covered):
    row = {"method": method, "accuracy": accuracy, "delta_accuracy": delta, "attribute_check": check}
    assert summary.in_scope(row) is covered


def test_filtering_raises_and_random_removal_lowers_the_score_on_digits(digits):
    """Fixed seed; the effects are many standard errors (see results/), a false alarm far below 1 in 1,000."""
    lab = curation.Laboratory(digits, "pixels", 0)
    setting = Setting((25,) * 4, (15, 45, 45, 15), ("filtering", "random removal"))
    cell = curation.Cell(lab, setting, curation.Logistic(1.0), None, curation.Form(), 10, 2, Local(1))
    groups = [cell.group(g) for g in range(2)]  # without its checks of the test set
    assert all(g["methods"]["filtering"]["delta"] > 0 for g in groups)
    assert all(g["methods"]["random removal"]["delta"] < 0 for g in groups)


# --- the zoo and the map ---------------------------------------------------------------------------------


def test_exhibits_flip_what_they_say_and_share_no_rows(exhibit):
    assert (exhibit.noisy.y != exhibit.clean.y).tolist() == exhibit.bad.tolist()
    assert exhibit.bad.sum() == 20
    keys = [set(d.row_keys().tolist()) for d in (exhibit.clean, exhibit.more, exhibit.test)]
    assert not keys[0] & keys[1]
    assert not keys[2] & (keys[0] | keys[1])
    together = exhibit.test.attributes == exhibit.test.y.astype(str)
    assert 0.65 < together.mean() < 0.85


def test_exam_counts_what_it_says():
    common = {"set": "s", "features": "yardstick", "start": "clean", "probe": -1.0, "attribute_check": 0.0}
    common |= {"delta_se": 0.1, "selection_se": 0.1}
    names = ("seed", "method", "strategic", "delta", "selection", "p_informative", "verdict")
    rows = [
        (0, "duplicate", True, -1.0, 0.0, 1.0, "costly"),
        (0, "herding half", True, 1.0, 1.0, 1e-6, "informative"),
        (0, "new rows", False, 1.0, 1.0, 1e-6, "informative"),
        (1, "duplicate", True, 1.0, 0.0, 1.0, "recycled"),
    ]
    passed = zoo.exam([common | dict(zip(names, row, strict=True)) for row in rows])
    ours = passed["yardstick, clean start"]
    assert ours["blind, informative after Holm"] == ["s 0: herding half"]
    assert ours["true, change and selection above 2 s.e."] == 1
    # cells, sign predicted, cells where the sign is sure, of these predicted
    assert list(passed["doubling"].values()) == [2, 1, 2, 1]


def test_plain_features_are_the_features(exhibit):
    plain = plain_yardstick(exhibit.test, 0, 1.0)
    assert np.array_equal(plain.features(exhibit.test), exhibit.test.X)
    assert plain.model.prior_variance == 1.0
    assert plain.tempering == 1.0


def test_the_plain_prior_is_the_best_on_halves():
    """Labels of rate σ(x·θ), θ ~ N(0, 1): a prior within a decade of the truth, of fifteen half decades."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(400, 20))
    y = (rng.random(400) < 1 / (1 + np.exp(-X @ rng.normal(size=20)))).astype(int)
    assert 0.1 <= plain_yardstick(Dataset(X, y), 0).model.prior_variance <= 10.0


def test_whitened_axes_are_white(exhibit):
    yard = whitened_yardstick(exhibit.test, 5, 0, 0.3)
    axes = yard.features(exhibit.test)
    assert axes.shape[1] == 5
    assert np.allclose(np.cov(axes.T, ddof=0), np.eye(5), atol=1e-8)
    assert yard.model.prior_variance == 0.3
    assert yard == whitened_yardstick(exhibit.test, 5, 0, 0.3)


@pytest.mark.parametrize(
    ("delta", "accuracy", "name"),
    [
        ((-1.0, 0.1), (0.02, 0.001), "headline"),
        ((1.0, 0.1), (0.02, 0.001), "fooled"),
        ((-1.0, 0.1), (-0.02, 0.001), "both fall"),
        ((-1.0, 0.1), (0.001, 0.001), "score falls"),
        ((-0.1, 0.1), (0.02, 0.001), "undecided"),
    ],
)
def test_regimes_have_names(delta, accuracy, name):
    assert regimes._name(delta, accuracy) == name


# --- the command line ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("curation --set imagenet", "known sets: digits"),
        ("curation --set corrupted-cifar", "--data DIR"),
        ("zoo --sets mushrooms", "known sets: breast cancer"),
        ("regimes", "--data DIR"),
        ("curation --quick --groups 1", "two groups or more"),
        ("samples --out x.png --options colour=red", "does not fit"),
        ("samples --out x.png --options severity=3", "does not fit"),
        ("samples --out x.png --set digitz", "known sets: digits"),
        ("samples --out x.png --set corrupted-cifar", "--data DIR"),
        ("curation --quick --set corrupted-cifar", "drop --set"),
        ("zoo --seeds 0", "seeds is 0"),
        ("curation --quick --out file -q", "give a directory"),
    ],
)
def test_bad_input_is_one_sentence(words, sentence, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("")
    assert sentence in refused(call("study", *words.split()))


def test_samples_draws_a_picture(tmp_path):
    assert call("study", "samples", "--out", tmp_path / "digits.png")[0] == 0
    assert (tmp_path / "digits.png").read_bytes().startswith(b"\x89PNG")
