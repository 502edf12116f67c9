"""Checks that look at the data: each fires on its constructed case, and is silent on its honest twin."""

import warnings
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import binom

import dataworth as dw
from dataworth.checks import CHECKS, check_attribute, check_doubling, run_checks, shift, size
from dataworth.checks.rows import LEVEL, Excess, excess, nearness, neighbours, others, snapped
from dataworth.curation import MatchGroups, RandomSubset
from dataworth.data.labels import Classes
from dataworth.yardstick.candidates import Trial
from dataworth.yardstick.recipe import Basis

MINE = ("DW002", "DW003", "DW010", "DW011", "DW012", "DW013", "DW014")
OTHERS = tuple(check.code for check in CHECKS if check.code not in MINE)


def asked(test, axes=None, **options):
    """Options with a yardstick made by hand: the search is tested elsewhere, and takes its time."""
    basis = Basis.learn(test)
    k = basis.on("each").rank if axes is None else axes
    yard = dw.Yardstick(
        recipe=basis.recipe(k, 1.0),
        labels=Classes(tuple(sorted(set(map(str, test.y.tolist()))))),
        model=dw.Logistic(1.0),
        chosen=Trial(size=k, exponent=1.0, prior_variance=1.0, held_out=0.0),
        rows=len(test),
        seed=0,
    )
    return {"yardstick": yard, "ignore": OTHERS, **options}


def found(result, code):
    return next(finding for finding in result.checks if finding.code == code)


def scored(code, data, test, axes=None, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return found(dw.score(data, test, **asked(test, axes, **options)), code)


def rows(seed, n=900, d=5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, (X[:, 0] + 0.5 * rng.normal(size=n) > 0).astype(int)


def split(X, y, at=300):
    return dw.Dataset(X[at:], y[at:]), dw.Dataset(X[:at], y[:at])


def halves(seed, **options):
    return split(*rows(seed, **options))


def with_rows(data, *more):
    return dw.Dataset.concat([data, *(dw.Dataset(X, y) for X, y in more)])


def shaken(data, count, by=1e-3, seed=0):
    X = data.X[:count]
    return X + by * np.random.default_rng(seed).normal(size=X.shape), data.y[:count]


@pytest.mark.parametrize("d", [1, 2, 4])
def test_near_rows_are_as_many_whatever_the_number_of_rows(d):
    """Evenly spread rows: P(ρ < c) = 1 − (1 − cᵈ)¹⁹ for k = 20, among 500 rows as among 4,000. Given r_k
    the other k − 1 rows are uniform in the ball. 500 rows have a standard error of at most 0.022."""
    rng = np.random.default_rng(d)
    for n in (500, 4000):
        X = rng.random(size=(n, d))
        inner = np.flatnonzero((np.abs(X - 0.5) < 0.3).all(axis=1))[:500]
        near = nearness(others(X, inner, 20)[0])
        for c in (0.1, 0.3):
            expected = 1 - (1 - c**d) ** 19
            assert np.mean(near < c) == pytest.approx(expected, abs=4 * 0.5 / np.sqrt(len(inner)))


def test_excess_is_a_binomial_tail():
    """30 of 100 near against 10 of 100: given 40 in all, P(30 or more of them here) = P(Bin(40, ½) ≥ 30)."""
    near, null, none = np.r_[np.zeros(30), np.ones(70)], np.r_[np.zeros(10), np.ones(90)], np.ones(100)
    seen = excess(near, [(null, 1.0)])
    assert (seen.share, seen.chance, seen.p) == (0.3, 0.1, pytest.approx(binom.sf(29, 40, 0.5)))
    assert excess(near, [(null, 3.0)]).p == pytest.approx(binom.sf(29, 40, 0.75))
    assert excess(near, [(null, 1.0), (none, 1.0)]).p == pytest.approx(seen.p)
    assert excess(none, [(null, 1.0)]) == Excess(0.0, 0.0, 1.0)


@pytest.mark.parametrize(("p", "share", "fires"), [(0.9, 0.5, True), (1.1, 0.5, False), (0.9, 0.109, False)])
def test_too_many_near_rows_are_unlikely_and_a_hundredth_more_than_chance(p, share, fires):
    assert Excess(share, 0.1, p * LEVEL).failed is fires
    assert LEVEL == 1e-3


def test_repeated_rows_fire_and_fresh_ones_do_not():
    data, test = halves(1)
    assert scored("DW002", data, test).failed is False
    assert scored("DW002", dw.Dataset.concat([data, data.take([3])]), test).failed is False  # no pattern
    assert scored("DW002", dw.Dataset.concat([data, data.take(range(20))]), test).failed
    finding = scored("DW002", with_rows(data, shaken(data, 20)), test)
    assert finding.failed
    assert finding.value == pytest.approx(40 / 620, abs=0.01)  # each copy, and what it is a copy of
    for repeated in (20, 60):  # test rows that repeat excuse no repeats of the data
        again = test.take(np.r_[np.arange(len(test) - repeated), np.arange(repeated)])
        assert scored("DW002", data, again).failed is False
        assert scored("DW002", dw.Dataset.concat([data, data]), again).failed


def test_near_copies_of_test_rows_fire_and_exact_ones_are_told():
    data, test = halves(4)
    assert scored("DW003", data, test).failed is False
    finding = scored("DW003", with_rows(data, shaken(test, 10)), test)
    assert finding.failed
    assert finding.value == pytest.approx(10 / 300)
    exact = scored("DW003", dw.Dataset.concat([data, test.take(range(6))]), test)
    assert exact.failed is False  # they were taken out, so they do no harm
    assert "6 test rows in the data taken out of them" in exact.detail
    # each copy twice: rows of the data then have near ones as often as test rows have
    copies = [shaken(test, 60, seed=seed) for seed in range(3)]
    assert scored("DW003", with_rows(data.take(range(60)), *copies), test).failed
    # moved by a fifth of the distance to the 20th neighbour
    way = np.random.default_rng(1).normal(size=(30, 5))
    way *= neighbours(test.X[:30], test.X, 21)[0][:, -1:] / np.linalg.norm(way, axis=1, keepdims=True)
    assert scored("DW003", with_rows(data, (test.X[:30] + 0.2 * way, test.y[:30])), test).failed


def test_features_of_test_rows_on_other_rows_fire():
    """Their two axes copied, all else taken from elsewhere: only the yardstick's features show it."""
    X, y = rows(5, d=8)
    X[:, :2] *= 3.0
    data, test = split(X, y)
    yard = asked(test, 2)["yardstick"]
    F, base = yard.features(test)[:30], data.X[:30]

    def features(X):
        return yard.features(dw.Dataset(X, y[: len(X)]))

    here, tangent = features(base), np.stack([features(base + 1e-3 * e) for e in np.eye(8)]) - features(base)
    moved = base + 1e-3 * np.stack([(F[i] - here[i]) @ np.linalg.pinv(tangent[:, i]) for i in range(30)])
    np.testing.assert_allclose(features(moved), F, atol=1e-9)
    finding = scored("DW003", with_rows(data, (moved, test.y[:30])), test, axes=2)
    assert finding.failed
    assert "in the yardstick's features" in finding.detail
    assert scored("DW003", data, test, axes=2).failed is False


@pytest.mark.parametrize("by", [0.01, 0.1])
def test_shaken_copies_in_columns_of_few_values_fire(by):
    """All rows there are equal to others, so that no distance tells a copy; honest rare values are none."""
    rng = np.random.default_rng(3)
    X = np.column_stack([rng.integers(0, most, 900) for most in (2, 2, 4, 9)]).astype(float)
    X[::50, 3] = rng.integers(9, 40, 18)  # values that few rows have
    y = (X.sum(axis=1) + rng.normal(size=900) > 7).astype(int)
    data, test = dw.Dataset(X[:500], y[:500]), dw.Dataset(X[500:], y[500:])
    assert scored("DW003", data, test).failed is False
    copies = test.X[:16] + by * rng.normal(size=(16, 4))
    leaking = dw.Dataset.concat([data, dw.Dataset(copies, test.y[:16])])
    finding = scored("DW003", leaking, test)
    assert finding.failed
    assert "between the test set's values" in finding.detail


@pytest.mark.parametrize(("off", "hit"), [(4, True), (5, False)])
def test_a_column_is_a_grid_where_most_cells_are_the_test_sets_values(off, hit):
    base, moved = np.arange(3.0)[:, None], np.r_[np.full(off, 0.1), np.ones(10 - off)][:, None]
    assert snapped(moved, base).any() == hit


@pytest.mark.parametrize(("by", "hit"), [(1e-7, False), (1e-5, True)])
def test_rounding_is_no_move(by, hit):
    """Single precision keeps seven digits."""
    assert snapped(np.array([[1.0 + by], [1.0], [2.0]]), np.array([[1.0], [2.0]])).any() == hit


def test_labels_that_agree_only_with_the_nearest_row_fire():
    """Rows come in twins, so that copies of test rows lie no nearer to them than test rows to one another.
    Labels are noise, which only copies know (of seeds 3 to 12, each fires, and by labels alone). Honest
    twins lie as near and know nothing of it."""
    rng = np.random.default_rng(3)
    X = np.repeat(rng.normal(size=(800, 2)), 2, axis=0) + 0.02 * rng.normal(size=(1600, 2))
    data, test = split(X, rng.integers(0, 2, 1600), 800)
    finding = scored("DW003", dw.Dataset(test.X + 0.045 * rng.normal(size=(800, 2)), test.y), test)
    assert finding.failed
    assert "labels of nearest rows agree" in finding.detail
    assert scored("DW003", data, test).failed is False


@pytest.mark.parametrize("code", ["DW002", "DW003"])
def test_fewer_data_rows_in_clusters_are_not_nearer(code):
    """Twelve clusters: of 240 rows the twentieth neighbour is in another one, of 400 in one's own."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(640, 4)) + 8.0 * rng.normal(size=(12, 4))[rng.integers(0, 12, 640)]
    assert scored(code, *split(X, rng.integers(0, 2, 640), 400)).failed is False


def test_pairs_that_overlap_are_told_a_size_and_a_shown_value_is_shown():
    """Classes six standard deviations apart on one of ten axes: four rows, two of each, tell them apart."""
    data, test = halves(5)
    finding = scored("DW010", data, test, pairs=20, size=100)
    assert finding.failed
    assert finding.value == pytest.approx(3.0)
    assert "a size of 37 leaves them" in finding.detail
    assert scored("DW010", data, test, pairs=20, size=37).failed is False
    y = np.tile([0, 1], 152)
    X = np.random.default_rng(11).normal(size=(304, 10)) + np.outer(6.0 * y - 3.0, np.eye(10)[0])
    finding = scored("DW010", *split(X, y))
    assert (finding.failed, finding.value) == (False, pytest.approx(4 / 11))
    assert "show a value that is not zero" in finding.detail


def test_the_size_curve_has_the_rows_and_ends_at_the_score():
    data, test = halves(7)
    result = dw.score(data, test, **asked(test, slow_checks=True, ignore="all", keep_data=True))
    curve, _ = size.size_curve(result.case, result.case.arms[0])
    assert [n for n, *_ in curve] == [75, 150, 300, 600]
    # all rows, all blocks: the score itself, but at one tempering instead of a few
    assert curve[-1][1] == pytest.approx(result.value, abs=0.05)
    assert curve[-1][2] == pytest.approx(result.table.pmi[:, 0].std(ddof=1) / np.sqrt(20), rel=0.05)
    assert curve[0][1] < curve[-1][1]


def test_data_without_a_class_fire():
    data, test = halves(8)
    lacking = scored("DW011", data.take(data.y == 1), test)
    assert lacking.failed
    assert "'0'" in lacking.detail
    assert scored("DW011", data.with_weights(np.where(data.y == 1, 1.0, 0.0)), test).failed
    for options in ({}, {"pairs": 10, "size": 20}):
        assert scored("DW011", data, test, **options).failed is False
    single = scored("DW011", data, test, pairs=10, size=(20, 1))
    assert single.failed
    assert "test rows" in single.detail


def test_shuffled_labels_are_at_chance():
    data, test = halves(9)
    assert scored("DW012", data, test).failed is False
    shuffled = data.with_labels(np.random.default_rng(0).permutation(data.y))
    for options in ({}, {"pairs": 30, "size": 30}):
        assert scored("DW012", shuffled, test, **options).failed
    # nine in ten by always saying no is no skill
    rng = np.random.default_rng(10)
    rare = scored("DW012", *split(rng.normal(size=(900, 3)), (rng.random(900) < 0.1).astype(int)))
    assert rare.failed
    assert abs(rare.value) < 2 * rare.stderr


def attributed(seed, shown):
    """Rows whose group goes with the label more often in the test set; features show it by so much."""
    rng = np.random.default_rng([seed, 13])
    y = rng.integers(0, 2, 1200)
    a = np.where(rng.random(1200) < np.repeat([0.9, 0.3], 600), y, 1 - y)
    X = rng.normal(size=(1200, 4)) + np.column_stack([y, shown * a, 0 * y, 0 * y])
    every = dw.Dataset(X, y, attributes=a.astype(str))
    return every.take(range(600, 1200)), every.take(range(600))


@pytest.mark.parametrize("shown", [0.0, 1.5])
def test_an_attribute_matters_only_if_features_show_it(shown):
    """x ⟂ a | y: silent, however well the attribute goes with the label; a false alarm has less than 1 %."""
    data, test = attributed(0, shown)
    after = MatchGroups()(data, test, rng=np.random.default_rng(0))
    finding = found(dw.audit(data, after, test, **asked(test)), "DW013")
    assert finding.failed is bool(shown)
    assert ("do not show" in finding.detail) is not bool(shown)


def test_an_attribute_that_curation_leaves_alone_is_not_asked():
    data, test = attributed(2, 1.5)
    for curate, fires in ((RandomSubset(0.5), None), (MatchGroups(), True)):
        result = dw.audit(data, test=test, curate=curate, **asked(test, pairs=20))
        assert found(result, "DW013").failed is fires
    assert scored("DW013", data, test).failed is None


def test_unknown_categories_missing_values_and_what_the_recipe_drops_are_a_shift():
    data, test = halves(11)
    still = scored("DW014", data, test, axes=2)
    assert still.failed is False
    assert "column" not in still.detail
    moved = dw.Dataset(data.X + np.array([0, 0, 0, 2.0, 3.0]), data.y)
    seen = scored("DW014", moved, test, axes=2)
    assert seen.failed
    assert "; farthest apart in columns 'x4', 'x3'" in seen.detail
    kept = scored("DW014", moved, test)
    assert kept.failed is False  # all five axes: the model sees it
    assert "keep everything" in kept.detail
    # axes of sixty rows fit those sixty better than any others, of the same world
    X = np.random.default_rng(12).normal(size=(660, 30))
    assert scored("DW014", *split(X, (X[:, 0] > 0).astype(int), 60), axes=5).failed is False
    rng = np.random.default_rng(13)

    def frame(n, colours):
        x = rng.normal(size=n)
        return dw.Dataset(pa.table({"x": x, "colour": rng.choice(colours, n)}), (x > 0).astype(int))

    test = frame(200, ["red", "blue"])
    assert scored("DW014", frame(300, ["red", "blue"]), test).failed is False
    strange = scored("DW014", frame(300, ["red", "blue", "green", "black"]), test)
    X, y = rows(14, n=400, d=2)
    holes = X[200:].copy()
    holes[::2, 1] = np.nan
    gappy = scored("DW014", dw.Dataset(holes, y[200:], allow_missing=True), dw.Dataset(X[:200], y[:200]))
    for finding, column in ((strange, "colour"), (gappy, "x1")):
        assert finding.failed
        assert finding.detail.endswith(f"; farthest apart in column '{column}'")


def test_columns_are_named_whose_means_are_four_errors_apart():
    own, flat = np.arange(400) < 200, np.tile([-1.0, 1.0], 200)
    for errors, told in ((3.9, []), (4.1, ["b"])):
        # a mean of ±d/2 adds d²/4 to a variance of 1
        d = errors * np.sqrt(2 / 200)
        moved = flat + np.where(own, 0.5, -0.5) * d / np.sqrt(1 - d**2 / 4)
        assert shift.farthest(np.column_stack([flat, moved, np.ones(400)]), own, "abc") == told


@pytest.mark.parametrize("size", [1, 12])
def test_a_few_rows_are_looked_at_without_a_sound(size):
    data, test = halves(19)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for places in (range(size), [0] * size):
            few = test.take(range(24))
            assert all(one.detail for one in dw.score(data.take(places), few, **asked(few, 2)).checks)


@pytest.mark.parametrize("outlier", [1e30, 1e200])
def test_huge_outliers_are_looked_at_without_a_sound(outlier):
    data, test = halves(20)
    X = np.vstack([np.full((1, 5), outlier), data.X[1:]])
    case = dw.score(data, test, **asked(test, 2, keep_data=True)).case
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        findings = run_checks(replace(case, data={"the data": dw.Dataset(X, data.y)}))
    assert [(f.code, bool(f.failed)) for f in findings] == [(code, False) for code in MINE]


def world(rng, n=300, scale=1.0):
    """Labels from the prior that Logistic(scale) has."""
    theta, X = rng.normal(size=4) * np.sqrt(scale), rng.normal(size=(n, 4))
    return X, (rng.random(n) < 1.0 / (1.0 + np.exp(-X @ theta))).astype(float)


def test_doubling_fires_under_a_prior_that_is_far_too_narrow():
    X, y = world(np.random.default_rng(1), scale=4.0)
    seen = check_doubling(dw.Logistic(1e-5), X, y)
    assert seen.failed
    assert seen.value > 5 * seen.stderr
    assert not check_doubling(dw.Logistic(1e-3), X, y).failed  # which tempering still mends


@pytest.mark.parametrize("shown", [False, True])
def test_attribute_that_tells_the_label_fires_even_if_features_show_it(shown):
    rng = np.random.default_rng(4)
    X, y = world(rng, n=400)
    telling = np.where(rng.random(400) < 0.75, y, 1 - y)
    if shown:
        X = np.column_stack([X, 3.0 * telling, -telling])
    seen = check_attribute(dw.Logistic(1.0), X, y, telling)
    assert seen.failed
    assert check_attribute(dw.Logistic(1.0), X, y, telling, size=100).value < seen.value
    # where features say all, it tells nothing
    y = (X[:, 0] > 0).astype(float)
    telling = np.where(rng.random(400) < 0.75, y, 1 - y)
    assert not check_attribute(dw.Logistic(1e4), 10 * X[:, :3], y, telling).failed


def test_nothing_fires_in_worlds_of_the_models_own():
    """Doubling at two standard errors has 2.5 % alarms: more than 4 of 30 with less than 0.1 %. The log Bayes
    factor of a useless column is below zero but for luck: 3 of 30 are allowed."""
    doubled = useless = 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        X, y = world(rng)
        doubled += check_doubling(dw.Logistic(1.0, intercept=False), X, y, seed=seed).failed
        useless += check_attribute(dw.Logistic(1.0), X, y, rng.integers(0, 2, 300)).failed
    assert doubled <= 4
    assert useless <= 3
