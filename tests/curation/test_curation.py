"""Curations: what each keeps, adds and invents; chance from the seed alone; by name, as a command too."""

import inspect
import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

import dataworth as dw
from commands import call, refused
from dataworth import curation as c
from dataworth.curation import NAMES
from dataworth.curation.density import peak_rows, smooth_rows
from dataworth.curation.diversity import mean_cosine, vendi
from dataworth.curation.names import with_files
from dataworth.data.dataset import Dataset
from dataworth.valuation.audit.methods import SENSES, apply, wants_test
from dataworth.yardstick.recipe import Recipe
from golden.sentences import all_recorded, all_refused
from worlds import classes, flipped, held_out, refusal, yardstick


def generator(seed=0):
    return np.random.default_rng(seed)


def colourful(n, seed):
    """Text labels, a number, a category and a boolean; groups, attributes, ids and weights."""
    rng = np.random.default_rng([seed, 0xC010])
    x = rng.normal(size=n)
    frame = pa.table({"size": x, "shape": rng.choice(["round", "square", "flat"], n), "big": x > 0.5})
    labels = np.where(x + 0.3 * rng.normal(size=n) > 0, "yes", "no")
    groups = np.array(["red", "blue"])[np.arange(n) % 2]
    ids = [f"row {i}" for i in range(n)]
    return Dataset(frame, labels, groups, ids, rng.integers(1, 4, n), attributes=groups)


DATA, MORE, TEST = colourful(60, 0), colourful(30, 1), colourful(80, 2)
GIVEN = {
    "remove-rows": {"bad": np.arange(60) % 3 == 0}, "near-deduplicate": {"distance": 0.2},
    "smooth": {"clusters": 5}, "add-rows": {"rows": MORE}, "self-label": {"rows": MORE},
}  # fmt: skip
ALL = {name: c.by_name(name, **GIVEN.get(name, {})) for name in NAMES}
RANDOM = ("drop-label-issues", "match-groups", "resample", "random-subset", "smooth", "peak", "synthesize")
REMOVE = ("remove-rows", "drop-label-issues", "match-groups", "deduplicate", "near-deduplicate")
REMOVE += ("random-subset", "k-centre", "herding", "smooth", "peak")
APPEND = ("add-rows", "self-label", "synthesize", "duplicate")


def made(f, data=DATA, test=TEST, seed=0):
    return apply(f, data, test, generator(seed))


@pytest.mark.parametrize("name", ALL)
def test_each_is_a_function_of_the_data_and_of_the_seed(name):
    """Without a generator chance has a fixed seed; chance has a part only where it is an argument."""
    f, before = ALL[name], DATA.content_hash()
    arguments = (DATA, TEST) if wants_test(f) else (DATA,)
    once = f(*arguments).content_hash()
    assert made(f, seed=0).content_hash() == once
    # for the filter the folds differ; that some label near the line falls is a fact of these rows
    assert (len({made(f, seed=seed).content_hash() for seed in range(8)}) > 1) == (name in RANDOM)
    assert ("rng" in inspect.signature(f).parameters) == (name in RANDOM)
    assert DATA.content_hash() == before


@pytest.mark.parametrize("name", [*REMOVE, *APPEND])
def test_rows_keep_their_order_and_what_belongs_to_them(name):
    """What removes leaves rows out; what adds leaves the data in front."""
    after = made(ALL[name])
    if name in REMOVE:
        kept = [int(i.removeprefix("row ")) for i in after.ids.tolist()]
        assert (kept, after.content_hash()) == (sorted(set(kept)), DATA.take(kept).content_hash())
        assert 0 < len(kept) <= len(DATA)
    else:
        assert after.take(range(len(DATA))).content_hash() == DATA.content_hash()
        assert len(after) > len(DATA)
        assert after.columns == DATA.columns


@pytest.mark.parametrize("name", sorted(set(ALL) - {"remove-rows", "fake"}))
def test_units_do_not_matter(name):
    """Columns in other units: the same rows stay, the same rows are drawn (in those units)."""
    units, noise = np.array([1024, 1 / 1024]), generator().normal(size=100)

    def after(units):
        data, test, more = (
            Dataset(np.c_[d.X[:, 0], noise[: len(d)]] * units, d.y, weights=d.weights, attributes=d.groups)
            for d in (DATA, TEST, MORE)
        )
        f = ALL[name]
        return type(f)(more)(data) if name in ("add-rows", "self-label") else made(f, data, test)

    first, second = after(1), after(units)
    np.testing.assert_allclose(second.X, first.X * units, rtol=1e-9)
    assert second.y.tolist() == first.y.tolist()


@pytest.mark.parametrize("name", sorted(set(ALL) - {"remove-rows", "add-rows", "self-label"}))
def test_one_class_left_and_missing_values_are_no_obstacle(name):
    if name not in ("drop-label-issues", "match-groups", "reweight"):
        assert set(made(ALL[name], DATA.take(DATA.y == "yes")).y) == {"yes"}
    X = generator().normal(size=(40, 2))
    X[::7, 1] = np.nan
    data = Dataset(X, (X[:, 0] > 0).astype(int), attributes=["a", "b"] * 20, allow_missing=True)
    assert len(made(ALL[name], data, data)) > 0


TEXTS = Dataset(pa.table({"body": ["it never came to me", "all was well with it"]}), [0, 1])
NUMERIC = Dataset([[1.0], [2.0], [3.0]], [0.5, 1.5, 7.25])
GROUPED = Dataset(np.zeros((4, 1)), [0, 0, 1, 1], groups=["a", "b", "a", "b"])


REFUSED = [
    lambda: c.Duplicate(0), lambda: c.Resample(0), lambda: c.NearDeduplicate(-1), lambda: c.Fake(rows=0),
    lambda: c.Fake(radius=float("inf")), lambda: c.DropLabelIssues(folds=1), c.RemoveRows,
    lambda: c.RemoveRows([True])(DATA), lambda: c.RemoveRows(group="x")(classes(3, seed=0)),
    lambda: c.Peak(threshold=1.0), lambda: c.Smooth()(TEXTS),
    lambda: c.SelfLabel(MORE)(DATA.take(DATA.y == "yes")), lambda: c.DropLabelIssues()(NUMERIC),
    lambda: c.Synthesize()(NUMERIC), lambda: c.Fake()(NUMERIC), lambda: c.KCentre(float("nan")),
    lambda: made(c.DropLabelIssues(), Dataset([[0.0], [1.0], [2.0]], [0, 0, 1])),
    lambda: c.MatchGroups()(GROUPED, GROUPED), lambda: c.RemoveRows(group="c").bound(GROUPED),
    lambda: c.RemoveRows(group="a").bound(Dataset([[0.0]], [0])),
]  # fmt: skip


def test_cleanlab_finds_flipped_labels():
    """A tenth of sharp labels flipped: what goes is mostly wrong, what is wrong mostly goes."""
    noisy, bad = flipped(classes(400, seed=3, sharpness=30.0), 0.1, seed=3)
    named = Dataset(noisy.X, noisy.y, ids=range(400))
    gone = np.setdiff1d(np.arange(400), made(c.DropLabelIssues(), named).ids.astype(int))
    assert bad[gone].mean() > 0.8
    assert np.isin(np.flatnonzero(bad), gone).mean() > 0.8


def grouped(**counts):
    """Rows of cells such as a0=3: group a, label 0."""
    cells = [(name[0], int(name[1])) for name, count in counts.items() for _ in range(count)]
    X = np.arange(len(cells), dtype=float)[:, None]
    return Dataset(X, [label for _, label in cells], attributes=[group for group, _ in cells])


def cell_counts(data):
    names, counts = np.unique(np.char.add(data.attributes, data.y.astype(str)), return_counts=True)
    return dict(zip(names.tolist(), counts.tolist(), strict=True))


def test_groups_are_matched_with_the_largest_subset():
    data, test = grouped(a0=10, a1=30, b0=30, b1=10), grouped(a0=30, a1=10, b0=10, b1=30)
    assert cell_counts(made(c.MatchGroups(), data, test)) == {"a0": 10, "a1": 3, "b0": 3, "b1": 10}
    data, test = grouped(a0=5, a1=5, c0=4), grouped(a0=2, a1=2)
    assert cell_counts(made(c.MatchGroups(), data, test)) == {"a0": 5, "a1": 5}
    weights = made(c.Reweight(), data, test).weights
    assert (weights[-4:].tolist(), weights.sum()) == ([0.0] * 4, pytest.approx(14))
    for f in (c.MatchGroups(), c.Reweight()):
        assert "no rows of group a × 1" in refusal(made, f, grouped(a0=5), test)
    assert "attribute=" in refusal(made, c.MatchGroups(), classes(5, seed=0), test)


def test_weights_match_the_test_sets_shares():
    data, test = grouped(a0=10, a1=30, b0=30, b1=10), grouped(a0=3, a1=1, b0=1, b1=3)
    old = np.linspace(1, 2, 80)
    after = made(c.Reweight(), data.with_weights(old), test)
    for cell, share in (("a0", 3), ("a1", 1), ("b0", 1), ("b1", 3)):
        rows = (after.attributes == cell[0]) & (after.y == int(cell[1]))
        assert after.weights[rows].sum() / after.weights.sum() == pytest.approx(share / 8)
        assert np.ptp(after.weights[rows] / old[rows]) < 1e-12, "old weights count within a group"
    by_class = made(c.Reweight(), data, Dataset(test.X, test.y)).weights
    assert by_class == pytest.approx(np.ones(80))
    heavy = test.with_weights([1, 1, 1, 9, 1, 1, 1, 1])
    assert made(c.Reweight(), data, heavy).weights[10:40].sum() == pytest.approx(80 * 9 / 16)


def test_copies_go_and_near_ones_greedily():
    """0, 1, 2 …: each is near its neighbours only, so every second one stays; other labels are never near."""
    X = [[1.0, 2.0], [1.0000000001, 2.0], [1.0, 2.0], [1.001, 2.0]]
    after = made(c.Deduplicate(), Dataset(X, [0, 0, 1, 0], weights=[1, 5, 1, 1]))
    assert (after.y.tolist(), after.weights.tolist()) == ([0, 1, 0], [1, 1, 1])
    data = classes(30, seed=0)
    assert made(c.Deduplicate(), c.Duplicate(3)(data)).content_hash() == data.content_hash()
    assert made(c.NearDeduplicate(0), c.Duplicate(3)(data)).content_hash() == data.content_hash()
    x = np.r_[np.arange(10.0), 1000.0, 2000.0, 3000.0]
    data = Dataset(x[:, None], np.r_[np.zeros(13)])
    typical = np.median(np.abs(x[:, None] - x)[np.triu_indices(13, 1)])
    kept = made(c.NearDeduplicate(1.5 / typical), data).X.ravel()
    assert kept.tolist() == [*range(0, 10, 2), 1000, 2000, 3000]
    assert len(made(c.NearDeduplicate(0.5 / typical), data)) == 13
    mixed = data.with_labels(np.arange(13) % 2)
    assert len(made(c.NearDeduplicate(1.5 / typical), mixed)) == 13


def test_synthetic_rows_follow_the_classes():
    """Means to four standard errors (seeded); classes as often as their weight says. 40 000 draws from 30
    rows of 5 features: entries to about 1 %."""
    rng = generator(1)
    X = np.r_[rng.normal([0, 0], [1, 2], (300, 2)), rng.normal([8, 0], [1, 2], (100, 2))]
    data = Dataset(X, np.repeat(["a", "b"], [300, 100]))
    new = made(c.Synthesize(rows=4000), data).take(range(400, 4400))
    for label, rows in (("a", X[:300]), ("b", X[300:])):
        own = new.X[new.y == label]
        assert np.abs(own.mean(axis=0) - rows.mean(axis=0)).max() < 4 * 2 / np.sqrt(len(own))
        assert own.std(axis=0) == pytest.approx(rows.std(axis=0), rel=0.1)
    assert (new.y == "b").mean() == pytest.approx(0.25, abs=0.03)
    heavy = data.with_weights(np.where(data.y == "b", 9.0, 1.0))
    assert (made(c.Synthesize(rows=4000), heavy).y[400:] == "b").mean() == pytest.approx(0.75, abs=0.03)
    assert not set(map(tuple, new.X)) & set(map(tuple, X)), "they are new rows"
    from sklearn.covariance import LedoitWolf

    X = generator(2).normal(size=(30, 5)) @ np.diag([1.0, 2, 3, 1, 1])
    new = made(c.Synthesize(rows=40_000), Dataset(X, np.zeros(30))).X[30:]
    spread = X.std(axis=0)
    expected = LedoitWolf().fit(X / spread).covariance_ * np.outer(spread, spread)
    assert np.abs(np.cov(new.T) - expected).max() < 0.03 * expected.max()
    after = made(c.Synthesize(rows=200))
    new = after.take(range(60, 260))
    assert set(new.X[:, 1]) <= {0.0, 1.0, 2.0}
    assert set(new.X[:, 2]) <= {0.0, 1.0}
    assert len(set(after.ids)) == 260
    assert len(set(made(c.Synthesize(rows=10), after).ids)) == 270, "a second generation has its own names"
    assert set(new.groups) == {"red", "blue"}
    single = Dataset([[1.0, 2.0], [5.0, 6.0]], [0, 1])
    assert set(map(tuple, made(c.Synthesize(rows=9), single).X)) <= {(1.0, 2.0), (5.0, 6.0)}


def test_the_herd_keeps_the_mean_and_centres_cover():
    """Three far corners and a crowd: four centres are one of each; each class keeps its share. Its mean is
    nearer to the class's than that of any of 200 random choices of the same size."""
    crowd = generator().normal(scale=0.01, size=(40, 2))
    corners = np.array([[9.0, 0], [0, 9], [9, 9]])
    data = Dataset(np.r_[crowd, corners], np.zeros(43))
    after = made(c.KCentre(4 / 43), data)
    assert {tuple(row) for row in corners} <= set(map(tuple, after.X))
    assert len(after) == 4
    copies = Dataset(np.zeros((4, 1)), [0, 0, 0, 0], ids=range(4))
    assert len(set(made(c.KCentre(0.75), copies).ids)) == 3, "no row twice"
    data = classes(100, seed=4)
    data = Dataset(np.where(data.y[:, None] == 1, 0.01, 1.0) * data.X, data.y)  # a class in a small corner
    assert (made(c.KCentre(0.3), data).y == 1).sum() == round(0.3 * (data.y == 1).sum())
    data = Dataset(generator(6).normal(size=(100, 3)), np.zeros(100))
    off = np.linalg.norm(made(c.Herding(0.2), data).X.mean(axis=0) - data.X.mean(axis=0))
    for seed in range(200):
        drawn = made(c.RandomSubset(0.2), data, seed=seed)
        assert off < np.linalg.norm(drawn.X.mean(axis=0) - data.X.mean(axis=0))
    heavy = Dataset([[0.0], [0.9], [1.1], [9.0]], np.zeros(4), weights=[9.0, 0.1, 0.1, 1.0])
    assert made(c.Herding(0.25), heavy).X.ravel().tolist() == [0.9], "the weighted mean is 0.9"


def test_self_labels_of_categories():
    """Labels that a category decides can be learned only if it is no number: round is in between."""
    shapes = np.array(["flat", "round", "square"] * 20)
    labels = np.where(shapes == "round", "yes", "no")
    data = Dataset(pa.table({"shape": shapes}), labels)
    after = made(c.SelfLabel(data.with_labels(["no"] * 60)), data)
    assert after.y[60:].tolist() == labels.tolist()
    fewer = Dataset(pa.table({"shape": ["square", "round"]}), ["no", "no"])  # other codes for the same shapes
    assert made(c.SelfLabel(fewer), data).y[60:].tolist() == ["no", "yes"]


def crowd(seed=0, n=300, d=20):
    """Three directions, the first with nine rows of ten."""
    rng = np.random.default_rng(seed)
    member = rng.choice(3, n, p=[0.9, 0.07, 0.03])
    return 5 * np.eye(3, d)[member] + 0.3 * rng.normal(size=(n, d)), member


def test_smoothing_draws_as_many_from_every_cluster_and_all_of_a_small_one():
    X, member = crowd()
    rows = smooth_rows(X, 24, 3, np.random.default_rng(0))
    assert (np.bincount(member[rows]).tolist(), len(set(rows.tolist()))) == ([8, 8, 8], 24)
    rows = smooth_rows(X, 150, 3, np.random.default_rng(0))
    assert np.bincount(member[rows])[1:].tolist() == np.bincount(member)[1:].tolist()
    assert len(rows) == 150


def test_a_peak_is_what_the_greedy_rule_says():
    """Every row that was taken was, when it was, the one nearest to any before it; all above τ."""
    X, _ = crowd()
    rows, reached = peak_rows(X, 40, 0.8, np.random.default_rng(3))
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    cosines = unit @ unit.T
    chosen = [int(np.random.default_rng(3).integers(len(X)))]
    while len(chosen) < 40:
        left = [i for i in range(len(X)) if i not in chosen]
        chosen.append(max(left, key=lambda i: cosines[i, chosen].max()))
    assert (sorted(chosen), reached) == (rows.tolist(), 0.8)


def test_a_peak_that_cannot_be_filled_says_at_which_threshold_it_was():
    X, _ = crowd()
    everything, reached = peak_rows(X, len(X), 0.8, np.random.default_rng(0))
    assert everything.tolist() == list(range(len(X)))
    assert -1 < reached < 0.8
    ends = np.repeat([[1.0, 1.0], [-1.0, -1.0]], 10, axis=0) + 0.01 * np.random.default_rng(0).normal(
        size=(20, 2)
    )
    data = Dataset(ends, np.arange(20) % 2)
    assert c.Peak(0.5).bound(data).threshold == 0.8
    assert c.Peak(0.6).bound(data).threshold < -0.9


@pytest.mark.parametrize("shape", [(7, 30), (30, 7)])
def test_read_outs_are_their_formulas(shape):
    X = np.random.default_rng(0).normal(size=shape)
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    K = unit @ unit.T
    values = np.linalg.eigvalsh(K / len(X))
    values = values[values > 1e-12]
    assert vendi(X) == pytest.approx(np.exp(-np.sum(values * np.log(values))), rel=1e-9)
    off = [K[i, j] for i in range(len(X)) for j in range(len(X)) if i != j]
    assert mean_cosine(X) == pytest.approx(np.mean(off), abs=1e-12)


def test_the_fake_is_the_same_for_all_data():
    hashes = {made(c.Fake(), classes(50, seed=seed)).content_hash() for seed in range(5)}
    assert (len(hashes), len(made(c.Fake(rows=12)))) == (1, 12)
    small = made(c.Fake(rows=8, radius=9.0), classes(50, seed=0, d=2))
    points_with_both = {(*x, y) for x in ((9, 0), (-9, 0), (0, 9), (0, -9)) for y in (0, 1)}
    assert {(*x, y) for x, y in zip(small.X.tolist(), small.y.tolist(), strict=True)} == points_with_both
    fake = made(c.Fake())
    assert (fake.columns, set(fake.y)) == (DATA.columns, {"yes", "no"})
    assert set(fake.X[:, 1]) <= {0.0, 1.0, 2.0}
    assert set(fake.X[:, 2]) <= {0.0, 1.0}


def test_by_name():
    assert c.by_name("random-subset", fraction=0.25) == c.RandomSubset(0.25)
    assert c.by_name("add-rows", rows=MORE) == c.AddRows(MORE)
    assert c.parse("duplicate:times=3") == c.Duplicate(3)
    assert c.parse(" Near-deduplicate : distance = 2 ") == c.NearDeduplicate(2.0)
    assert with_files("Add-Rows:rows=a", str.upper) == "add-rows:rows=A", "a run is known by one spelling"
    assert c.parse("add-rows:rows=m.csv", lambda path: MORE if path == "m.csv" else None) == c.AddRows(MORE)
    assert with_files("fake:radius=2,rows=5", str.upper) == "fake:rows=5,radius=2"


NAMELESS = [
    "magic", "", "deduplicate:x=1", "random-subset:fraction=half", "duplicate:", "duplicate:times",
    "duplicate:times=2,times=3", "drop-label-issues:learner=tree", "add-rows", "match-group",
    "add-rows:rows=x.csv",
]  # fmt: skip


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("curated")
    rng = generator(9)
    n = 420
    x = rng.normal(size=(n, 2))
    label = np.where(x[:, 0] + 0.3 * rng.normal(size=n) > 0, "yes", "no")
    table = pa.table({"a": x[:, 0], "b": x[:, 1], "label": label, "colour": rng.choice(["red", "blue"], n)})
    for name, start, rows in (("raw", 0, 160), ("more", 160, 60), ("test", 220, 200)):
        pa.csv.write_csv(table.slice(start, rows), folder / f"{name}.csv")
    test = dw.read(folder / "test.csv", attribute="colour")
    dw.Yardstick.fit(test, prior_variance=1.0).save(folder / "y.json")
    return folder


@pytest.fixture
def inside(files, monkeypatch):
    monkeypatch.chdir(files)


COMMON = ("--test", "test.csv", "--yardstick", "y.json", "--attribute", "colour", "--label", "label")
NEEDED = {"remove-rows": ":group=red", "add-rows": ":rows=more.csv", "self-label": ":rows=more.csv"}


@pytest.mark.parametrize("name", [*NEEDED, "match-groups", "deduplicate"])
def test_curations_are_audited_by_name(inside, name):
    curate = name + NEEDED.get(name, "")
    code, out, err = call("audit", "raw.csv", "--curate", curate, *COMMON, "--pairs", 6, "--json", "-q")
    assert (code, err) == (0, "")
    result, strategic = json.loads(out), NAMES[name].strategic
    told = result["curation"]
    assert (result["design"], told["name"], told["strategic"]) == ("method", name, strategic)
    (note,) = (note for note in result["notes"] if note.startswith("the curation is "))
    assert all(words in note for words in (name, SENSES[strategic], NAMES[name].why))


COMMANDS = [
    "raw.csv", "raw.csv more.csv --curate duplicate", "no.csv --curate magic",
    "raw.csv --curate add-rows:rows=no.csv", "raw.csv --curate duplicate --design matched",
    "no.csv --curate duplicate --curate deduplicate", "raw.csv --curate remove-rows:group=purple",
    "raw.csv --curate match-groups --size 3,20",
]  # fmt: skip


def information_gain(data, prior_variance=1.0):
    """KL(posterior ‖ prior) of a logistic model with two features, by quadrature on a polar grid."""
    radius, angle = np.meshgrid(np.geomspace(1e-6, 9, 1500), np.linspace(0, 2 * np.pi, 241)[:-1])
    theta = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=-1)
    area = np.gradient(radius[0]) * radius[0] * (2 * np.pi / 240)
    prior = -(theta**2).sum(axis=-1) / (2 * prior_variance) - np.log(2 * np.pi * prior_variance)
    signs = 2.0 * data.y - 1
    likelihood = sum(-np.logaddexp(0, -s * (theta @ x)) for x, s in zip(data.X, signs, strict=True))
    mass = np.exp(likelihood + prior) * area
    evidence = mass.sum()
    return float((mass * likelihood).sum() / evidence - np.log(evidence))


def test_the_fake_gains_more_than_other_data_and_nearly_what_its_bound_allows():
    """Against real rows, and against rows as far out that agree: those gain log 2 a feature, no more."""
    real = classes(40, seed=7, d=2)
    fake = made(c.Fake(radius=1000.0), real)
    agreeing = Dataset(np.repeat([[1000.0, 0.0], [0.0, 1000.0]], 20, axis=0), np.ones(40))
    gain = information_gain(fake)
    assert information_gain(agreeing) == pytest.approx(2 * np.log(2), abs=0.02)
    assert gain > information_gain(real) + 5
    bound = np.log(1 + 40 * 1000.0**2 / 8)
    assert bound - 2 < gain < bound


@pytest.mark.parametrize("design", ["whole", "method"])
def test_the_fake_gains_information_and_is_worth_nothing(design):
    """The appendix: a score without a test set would pay for it, PMI does not. On features as they are."""
    options = {"design": "whole"} if design == "whole" else {"pairs": 20}
    own = yardstick()
    plain = replace(own, recipe=Recipe.plain(own.recipe.columns))
    audit = dw.audit(classes(160, seed=1), test=held_out(), curate=c.Fake(), yardstick=plain, **options)
    assert audit.information_gain_delta > 5
    assert audit.delta < 0
    assert audit.verdict in ("harmful", "costly")


def test_rows_that_are_there_already_are_not_called_new():
    data, new = classes(160, seed=1), classes(30, seed=5)
    for rows, strategic, words in (
        (data.take([3]), True, "1 of 1 added row already stands in the data: it is a repeat, not new"),
        (Dataset.concat([data.take([1, 2]), new]), False, "θ; but 2 of 32 added rows already stand"),
        (data.with_labels(1 - data.y), False, "new observations of θ"),
    ):
        audit = dw.audit(data, test=held_out(), curate=c.AddRows(rows), yardstick=yardstick())
        assert (audit.design, audit.details.after_rows) == ("whole", 160 + len(rows))
        (note,) = (note for note in audit.notes if note.startswith("the curation is "))
        assert words in note
        assert SENSES[strategic] in note
        assert ("new observations" in note) is not strategic
        assert ("already" in note) is ("already" in words)
        assert audit.to_dict()["curation"]["strategic"] is strategic


PAGE = Path(__file__).parents[2] / "docs" / "auditing.md"


@pytest.mark.skipif(not PAGE.exists(), reason="a source distribution has no docs")
def test_the_page_lists_them_as_they_are():
    rows = (
        PAGE.read_text(encoding="utf-8")
        .partition("| new information? | names |\n|---|---|\n")[2]
        .partition("\n\n")[0]
    )
    told = {
        name: row.split()[1].strip(":")
        for row in rows.splitlines()
        for name in re.findall(r"`([\w-]+)`", row)
    }
    words = {True: "no", False: "yes", None: "depends"}
    assert told == {name: words[method.strategic] for name, method in NAMES.items()}


def test_sentences(inside):
    all_refused("curations", [*REFUSED, *((c.parse, text) for text in NAMELESS)])
    all_recorded("curate", [refused(call("audit", *words.split(), *COMMON)) for words in COMMANDS])
