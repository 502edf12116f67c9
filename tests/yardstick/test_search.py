"""The rule by which a yardstick is chosen, stage by stage; its halves; the size of its search."""

from collections import Counter
from dataclasses import dataclass, replace

import numpy as np
import pytest

from dataworth.data.dataset import Dataset
from dataworth.yardstick import candidates, predictive
from dataworth.yardstick.candidates import EFFORTS, Map, maps
from dataworth.yardstick.predictive import Known
from dataworth.yardstick.recipe import Basis
from dataworth.yardstick.search import PRIORS, START, Point, Search, searched
from dataworth.yardstick.yardstick import Yardstick
from worlds import classes


def made(n=60, d=4, kind="logistic", seed=0, test=None, cls=Search, **options):
    """A search on rows whose first column tells the label, half as often as not."""
    if test is None:
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(n, d))
        test = Dataset(X, (X[:, 0] + rng.normal(size=n) > 0).astype(int))
    sample, splits = searched(test, seed, kind)
    targets = np.unique(sample.y, return_inverse=True)[1].astype(float)
    return cls(sample, Basis.learn(sample), targets, kind, splits, **options)


def tried(n, d, kind="logistic"):
    basis = Basis.learn(Dataset(np.random.default_rng(0).normal(size=(n, d)), np.arange(n) % 2))
    return list(maps(basis, EFFORTS[kind]))


def test_axes_exponents_bandwidths_priors_and_tempering_that_are_tried():
    for n, d, sizes in ((400, 300, [3, 10, 40, 160]), (60, 300, [3, 10, 30]), (400, 7, [3, 7]), (20, 1, [1])):
        assert sorted({m.size for m in tried(n, d) if m.kind == "axes"}) == sizes
    found = {(m.size, m.exponent) for m in tried(400, 40) if m.kind == "axes" and m.scale == "common"}
    assert found == {(k, e) for k in (3, 10) for e in (0.0, 0.5, 1.0)} | {(40, 0.5), (40, 1.0)}
    kernels = {(m.bandwidth, m.landmarks) for m in tried(400, 40) if m.kind == "kernel"}
    assert kernels == {(0.35, 150), (0.7, 150), (1.4, 150)}
    assert {m.landmarks for m in tried(60, 40) if m.kind == "kernel"} == {30}
    (both,) = {replace(m, scale="") for m in tried(400, 300) if m.kind == "both"}
    assert both == Map("both", "", 160, 1.0, 0.7, 100)
    assert {m.landmarks for m in tried(400, 80, "softmax") if m.kind != "axes"} == {60}
    assert {m.size for m in tried(400, 80, "softmax")} == {0, 10, 40}
    assert EFFORTS["softmax"].levels == (1.0, 4.0, 16.0, 64.0, 256.0)
    assert EFFORTS["logistic"].levels == (1.0, 2.0, 4.0, 8.0)
    assert pytest.approx(PRIORS, rel=2e-3) == 10.0 ** np.arange(-3.0, 4.0, 0.5)
    assert made().grid(None) == [(c, (1.0, 2.0, 4.0, 8.0)) for c in PRIORS]
    assert made().grid(0.7) == [(0.7, (1.0,))]
    assert made(kind="linear").grid(0.6) == [(pytest.approx(0.6 / s), (s,)) for s in candidates.NOISES]


@pytest.mark.parametrize(
    ("n", "sizes"), [(20, (10,)), (60, (10, 15, 30)), (400, (50, 100, 200)), (1000, (100, 200, 400))]
)
def test_the_ladder_is_an_eighth_a_quarter_and_a_half(n, sizes):
    assert made(n).ladder() == sizes


@dataclass(frozen=True)
class Given(Search):
    """A search whose held-out likelihood of every row is a given function of features, prior and level."""

    likelihood: object = None

    def held_out(self, features, prior, levels, sizes, splits, predict=None, starts=None):
        return np.array([np.full(len(features), self.likelihood(features, prior, w)) for w in levels])


@pytest.mark.parametrize("best", [0.001, 1.0, 31.6, 3160.0])
def test_priors_are_climbed_wherever_the_best_is(best):
    search = made(cls=Given, likelihood=lambda X, c, w: -abs(np.log10(c / best)) - abs(w - 2.0))
    value, place = search.climb(np.zeros((60, 1)), search.grid(None), None, START)
    assert (PRIORS[place], value) == (best, pytest.approx(0.0, abs=1e-12))  # at the best of its levels


def test_the_second_stage_has_the_best_map_of_every_kind_and_scale():
    """Six kinds and scales of a table (none is common), each compared with three priors and every level."""
    search = made(200, 6, cls=Given, likelihood=lambda X, c, w: -abs(np.log10(c / 10.0)) - X.shape[1] / 1e3)
    screened = search.screen(None)
    assert len({(m.kind, m.scale) for m, _, _ in screened}) == len(screened) == 6
    assert all(m.size == 3 for m, _, _ in screened if m.kind == "axes")  # fewest features are best here
    points = list(search.compare(screened, None))
    assert Counter(p.map for p in points) == dict.fromkeys((m for m, _, _ in screened), 12)
    assert {p.prior for p in points} == {3.16, 10.0, 31.6}


def point(name, rows):
    return Point(Map(name, "each"), None, 1.0, 1.0, np.asarray(rows, dtype=float))


@dataclass(frozen=True)
class Eyes(Search):
    """A search in which how sharp a map's eye is stands in its name."""

    def sight(self, point):
        return float(point.map.kind)


def chosen(*points, n=100):
    found, sight = made(n, cls=Eyes).sharpest(list(points))
    return found.map.kind, sight


NOISE = np.where(np.arange(100) % 2, 0.05, -0.05)
"""Of a row: the standard error of a mean of 100 is 0.005."""


@pytest.mark.parametrize(
    ("other", "noise", "loss", "wins"),
    [
        ("1.16", NOISE, 0.009, True),  # 15 % sharper, and within two standard errors
        ("1.14", NOISE, 0.009, False),
        ("9", NOISE, 0.011, False),  # beyond two standard errors
        ("9", 100 * NOISE, 0.014, True),  # and fifteen thousandths of a nat a row
        ("9", 100 * NOISE, 0.016, False),
    ],
)
def test_a_sharper_eye_may_cost_two_standard_errors(other, noise, loss, wins):
    best = point("1", np.zeros(100))
    assert chosen(best, point(other, noise - loss))[0] == (other if wins else "1")


def test_three_rivals_are_looked_at_and_each_map_once():
    best, same = point("1", np.zeros(100)), point("1", NOISE)
    assert chosen(best, same) == ("1", None)  # nothing to compare with
    rivals = [point(name, NOISE) for name in ("2", "3", "2", "4", "5")]
    assert chosen(best, *rivals) == ("4", 4.0)


def test_errors_are_by_group():
    """Rows of a group that move together are one observation."""
    T = clustered(20, 5, 0)
    search, moves = made(test=T), np.random.default_rng(0).normal(size=20)
    rows = moves[np.unique(search.sample.groups, return_inverse=True)[1]]
    assert search.stderr(rows) == pytest.approx(moves.std() / np.sqrt(20))
    assert made(test=Dataset(T.X, T.y)).stderr(rows) == pytest.approx(moves.std() / 10)


def test_held_out_is_every_row_given_the_other_half():
    """Each row once for every halving and size; against `Logistic` with row weights on the same halves."""
    search = made(40)
    X = np.column_stack([search.sample.X, np.ones(40)])
    total = np.zeros(40)
    for a, b in (pair for split in search.splits for pair in (split, split[::-1])):
        for size in (10, 20):
            rows = a[:size]
            known = Known(X[rows], search.targets[rows], np.ones(size), X[b], search.targets[b], 2)
            total[b] += predictive.two_classes(known, 3.0, (2.0,)).log_p[0]
    found = search.held_out(X, 3.0, (1.0, 2.0), (10, 20), search.splits)
    assert found.shape == (2, 40)
    assert found[1] == pytest.approx(total / (2 * len(search.splits)), abs=1e-6)


@pytest.mark.parametrize(("true", "allowed"), [(0.1, {0.1}), (0.5, {0.6}), (0.95, {0.6, 1.0})])
def test_noise_of_numeric_labels_is_found(true, allowed):
    """Labels of variance 1 of which a known part is noise; 400 rows tell it to a tenth."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(400, 1))
    y = np.sqrt(1 - true) * X[:, 0] + np.sqrt(true) * rng.normal(size=400)
    assert Yardstick.fit(Dataset(X, y)).chosen.noise_variance in allowed


def test_kernels_scales_and_ranks_are_chosen_where_they_see_more():
    """Class by distance from the centre: no linear model of raw columns tells it. One column of signal and
    spread 10, forty of noise and spread 1: each alike, they drown it."""
    X = np.random.default_rng(0).normal(size=(200, 2))
    yard = Yardstick.fit(Dataset(X, ((X**2).sum(axis=1) > 1.4).astype(int)))
    assert yard.chosen.kind in ("kernel", "both")
    assert yard.chosen.held_out > np.log(0.5) + 0.2
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 41)) * np.array([10.0] + [1.0] * 40)
    chosen = Yardstick.fit(Dataset(X, (X[:, 0] > 0).astype(int))).chosen
    assert chosen.scale == "common"
    assert chosen.held_out > -0.25
    raw = np.random.default_rng(0).normal(size=(300, 6))
    y = (raw[:, 0] - raw[:, 1] + raw[:, 2] + rng.normal(size=300) > 0).astype(int)
    assert Yardstick.fit(Dataset(np.sinh(3 * raw), y)).chosen.scale == "rank"


def test_no_group_is_ever_split():
    some, splits = searched(classes(1300, seed=0), 0, "logistic")
    assert (len(some), len(splits)) == (1000, 2)
    assert len(searched(classes(900, seed=0), 0, "logistic")[0]) == 900
    assert len(searched(classes(50, seed=0), 0, "softmax")[1]) == 1
    for T in (clustered(40, 10, 0), clustered(300, 5, 1)):
        sample, splits = searched(T, 3, "logistic")
        assert len(sample) == min(len(T), 1000)
        assert len(sample) == sum((T.groups == g).sum() for g in np.unique(sample.groups))
        for a, b in splits:
            assert not set(sample.groups[a]) & set(sample.groups[b])
            assert sorted([*a, *b]) == list(range(len(sample)))
            assert abs(len(a) - len(b)) <= 10
            # group after group: the first rows of a half are a smaller sample, of whole groups but one
            assert len(set(sample.groups[a[: len(a) // 4]]) & set(sample.groups[a[len(a) // 4 :]])) <= 1


def clustered(patients, rows, seed, spread=0.02, d=30):
    """Near-identical rows of each patient; the label is the patient's, and features hardly tell it."""
    rng = np.random.default_rng([seed, 0xC1])
    X, y = rng.normal(size=(patients, d)), rng.integers(0, 2, patients)
    who = np.repeat(np.arange(patients), rows)
    return Dataset(X[who] + spread * rng.normal(size=(len(who), d)), y[who], groups=[f"p{i}" for i in who])
