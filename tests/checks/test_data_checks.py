"""Checks that look at the data: each fires on its constructed case, and is silent on its honest twin."""

import warnings
from dataclasses import replace

import numpy as np
import pytest

import dataworth as dw
from dataworth.checks import CHECKS, run_checks, shift, size
from dataworth.checks.rows import LEVEL, Excess, excess, nearness, neighbours, others
from dataworth.curation import MatchGroups, RandomSubset
from dataworth.data.labels import Classes
from dataworth.models import Logistic
from dataworth.yardstick.candidates import Trial
from dataworth.yardstick.recipe import Basis
from dataworth.yardstick.yardstick import Yardstick

MINE = ("DW002", "DW003", "DW010", "DW011", "DW012", "DW013", "DW014")
OTHERS = tuple(check.code for check in CHECKS if check.code not in MINE)


def yardstick(test, axes=None, prior_variance=1.0):
    """One made by hand: the search is tested elsewhere, and takes its time."""
    basis = Basis.learn(test)
    k = basis.on("each").rank if axes is None else axes
    labels = Classes(tuple(sorted(set(map(str, test.y.tolist())))))
    return Yardstick(
        recipe=basis.recipe(k, 1.0),
        labels=labels,
        model=Logistic(prior_variance),
        chosen=Trial(size=k, exponent=1.0, prior_variance=prior_variance, held_out=0.0),
        test_hash="",
        rows=len(test),
        seed=0,
    )


def found(result, code):
    return next(finding for finding in result.checks if finding.code == code)


def scored(code, data, test, axes=None, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yard = yardstick(test, axes)
        return found(dw.score(data, test, yardstick=yard, ignore=OTHERS, **options), code)


def rows(seed, n=900, d=5, noise=0.5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, (X[:, 0] + noise * rng.normal(size=n) > 0).astype(int)


def halves(seed, **options):
    X, y = rows(seed, **options)
    return dw.Dataset(X[300:], y[300:]), dw.Dataset(X[:300], y[:300])


def jittered(data, places, by):
    extra = data.take(places)
    shaken = extra.X + by * np.random.default_rng(9).normal(size=extra.X.shape)
    return dw.Dataset.concat([data, dw.Dataset(shaken, extra.y)])


@pytest.mark.parametrize("d", [1, 2, 4])
def test_near_rows_are_as_many_whatever_the_number_of_rows(d):
    """Evenly spread rows: P(ρ < c) = 1 − (1 − cᵈ)¹⁹ for k = 20, among 500 rows as among 4,000.

    Given r_k the other k − 1 rows are uniform in the ball. 500 rows have a standard error of at most 0.022.
    """
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
    from scipy.stats import binom

    found, null = np.r_[np.zeros(30), np.ones(70)], np.r_[np.zeros(10), np.ones(90)]
    seen = excess(found, [(null, 1.0)])
    assert seen.p == pytest.approx(binom.sf(29, 40, 0.5))
    assert (seen.share, seen.chance) == (0.3, 0.1)
    thrice = excess(found, [(null, 3.0)])
    assert thrice.p == pytest.approx(binom.sf(29, 40, 0.75))
    none = np.ones(100)
    assert excess(found, [(null, 1.0), (none, 1.0)]).p == pytest.approx(seen.p)
    assert excess(none, [(null, 1.0)]) == Excess(0.0, 0.0, 1.0)


@pytest.mark.parametrize(("p", "share", "fires"), [(0.9, 0.5, True), (1.1, 0.5, False), (0.9, 0.109, False)])
def test_too_many_near_rows_are_unlikely_and_a_hundredth_more_than_chance(p, share, fires):
    assert Excess(share, 0.1, p * LEVEL).fires is fires
    assert LEVEL == 1e-3


def test_repeated_rows_fire_and_fresh_ones_do_not():
    data, test = halves(1)
    assert scored("DW002", data, test).fires is False
    assert scored("DW002", dw.Dataset.concat([data, data.take(range(20))]), test).fires
    finding = scored("DW002", jittered(data, range(20), 1e-3), test)
    assert finding.fires
    assert finding.value == pytest.approx(40 / 620, abs=0.01)  # each copy, and what it is a copy of
    assert (
        scored("DW002", dw.Dataset.concat([data, data.take([3])]), test).fires is False
    )  # one is no pattern


@pytest.mark.parametrize("repeated", [20, 60])
def test_test_rows_that_repeat_excuse_no_repeats_of_the_data(repeated):
    data, test = halves(0)
    test = test.take(np.r_[np.arange(len(test) - repeated), np.arange(repeated)])
    assert scored("DW002", data, test).fires is False
    twice = dw.Dataset.concat([data, data])
    assert scored("DW002", twice, test).fires


def test_near_copies_of_test_rows_fire_and_exact_ones_are_told():
    data, test = halves(4)
    assert scored("DW003", data, test).fires is False
    shaken = test.X[:10] + 1e-3 * np.random.default_rng(0).normal(size=(10, 5))
    leaking = dw.Dataset.concat([data, dw.Dataset(shaken, test.y[:10])])
    finding = scored("DW003", leaking, test)
    assert finding.fires
    assert finding.value == pytest.approx(10 / 300)
    exact = scored("DW003", dw.Dataset.concat([data, test.take(range(6))]), test)
    assert exact.fires is False  # they were taken out, so they do no harm
    assert "6 test rows in the data taken out of them" in exact.detail


@pytest.mark.parametrize("part", [0.05, 0.1, 0.2])
def test_rows_shaken_by_a_part_of_their_neighbourhood_fire(part):
    """A tenth of test rows, moved by parts of the distance to their 20th neighbour; 0.11 passed before."""
    data, test = halves(4)
    rng = np.random.default_rng(1)
    way = rng.normal(size=(30, 5))
    way /= np.linalg.norm(way, axis=1, keepdims=True)
    far = neighbours(test.X[:30], test.X, 21)[0][:, -1:]
    leaking = dw.Dataset.concat([data, dw.Dataset(test.X[:30] + part * far * way, test.y[:30])])
    assert scored("DW003", leaking, test).fires


def test_copies_that_are_copied_excuse_nothing():
    """Each shaken copy twice: rows of the data then have near ones as often as test rows have."""
    data, test = halves(4)
    rng = np.random.default_rng(1)
    shaken = [dw.Dataset(test.X[:60] + 1e-3 * rng.normal(size=(60, 5)), test.y[:60]) for _ in range(3)]
    assert scored("DW003", dw.Dataset.concat([data.take(range(60)), *shaken]), test).fires


def test_features_of_test_rows_on_other_rows_fire():
    """Their two axes copied, all else taken from elsewhere: only the yardstick's features show it."""
    X, y = rows(5, n=900, d=8)
    X[:, :2] *= 3.0
    test, data = dw.Dataset(X[:300], y[:300]), dw.Dataset(X[300:], y[300:])
    yard = yardstick(test, axes=2)
    F, base, step = yard.features(test)[:30], data.X[:30], 1e-3

    def features(X):
        return yard.features(dw.Dataset(X, y[:30]))

    here = features(base)
    tangent = np.stack([features(base + step * e) - here for e in np.eye(8)])
    way = [(F[i] - here[i]) @ np.linalg.pinv(tangent[:, i]) for i in range(30)]
    moved = base + step * np.stack(way)
    forged = dw.Dataset.concat([data, dw.Dataset(moved, test.y[:30])])
    np.testing.assert_allclose(yard.features(forged)[-30:], F, atol=1e-9)
    finding = scored("DW003", forged, test, axes=2)
    assert finding.fires
    assert "in the yardstick's features" in finding.detail
    assert scored("DW003", data, test, axes=2).fires is False


@pytest.mark.parametrize("by", [0.01, 0.1])
def test_shaken_copies_in_columns_of_few_values_fire(by):
    """All rows there are equal to others, so that no distance tells a copy; honest rare values are none."""
    rng = np.random.default_rng(3)
    X = np.column_stack([rng.integers(0, most, 900) for most in (2, 2, 4, 9)]).astype(float)
    X[::50, 3] = rng.integers(9, 40, 18)  # values that few rows have
    y = (X.sum(axis=1) + rng.normal(size=900) > 7).astype(int)
    data, test = dw.Dataset(X[:500], y[:500]), dw.Dataset(X[500:], y[500:])
    assert scored("DW003", data, test).fires is False
    copies = test.X[:16] + by * rng.normal(size=(16, 4))
    leaking = dw.Dataset.concat([data, dw.Dataset(copies, test.y[:16])])
    finding = scored("DW003", leaking, test)
    assert finding.fires
    assert "between the test set's values" in finding.detail


def test_labels_that_agree_only_with_the_nearest_row_fire():
    """Rows come in twins, so that copies of test rows lie no nearer to them than test rows to one another.

    Labels are noise, which only copies know (of seeds 3 to 12, each fires, and by labels alone). Honest twins
    lie as near and know nothing of it.
    """
    rng = np.random.default_rng(3)
    X = np.repeat(rng.normal(size=(800, 2)), 2, axis=0) + 0.02 * rng.normal(size=(1600, 2))
    y = rng.integers(0, 2, 1600)
    test = dw.Dataset(X[:800], y[:800])
    copied = dw.Dataset(X[:800] + 0.045 * rng.normal(size=(800, 2)), y[:800])
    finding = scored("DW003", copied, test)
    assert finding.fires
    assert "labels of nearest rows agree" in finding.detail
    assert scored("DW003", dw.Dataset(X[800:], y[800:]), test).fires is False


@pytest.mark.parametrize("code", ["DW002", "DW003"])
def test_fewer_data_rows_in_clusters_are_not_nearer(code):
    """Twelve clusters: of 240 rows the twentieth neighbour is in another one, of 400 in one's own."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(640, 4)) + 8.0 * rng.normal(size=(12, 4))[rng.integers(0, 12, 640)]
    y = rng.integers(0, 2, 640)
    finding = scored(code, dw.Dataset(X[400:], y[400:]), dw.Dataset(X[:400], y[:400]))
    assert finding.fires is False


def test_pairs_that_overlap_are_told_a_size_that_does_not():
    data, test = halves(5)
    finding = scored("DW010", data, test, pairs=20, size=100)
    assert finding.fires
    assert finding.value == pytest.approx(3.0)
    assert "a size of 37 leaves them" in finding.detail
    assert scored("DW010", data, test, pairs=20, size=37).fires is False


def test_a_value_that_is_shown_is_shown_however_few_the_rows():
    """Classes six standard deviations apart on one of ten axes: four rows, two of each, tell them apart."""
    rng = np.random.default_rng(11)
    y = np.tile([0, 1], 152)
    X = rng.normal(size=(304, 10)) + np.outer(6.0 * y - 3.0, np.eye(10)[0])
    test = dw.Dataset(X[:300], y[:300])
    result = dw.score(dw.Dataset(X[300:], y[300:]), test, yardstick=yardstick(test), ignore=OTHERS)
    finding = found(result, "DW010")
    assert result.interval[0] > 0
    assert finding.fires is False
    assert "4 rows for 11 coefficients" in finding.detail
    assert finding.value == pytest.approx(4 / 11)


def test_the_size_curve_has_the_rows_and_ends_at_the_score():
    data, test = halves(7)
    result = dw.score(data, test, yardstick=yardstick(test), thorough=True, ignore="all", keep=True)
    curve, _ = size.size_curve(result.case, result.case.arms[0])
    assert [n for n, *_ in curve] == [75, 150, 300, 600]
    # all rows, all blocks: the score itself, but at one tempering instead of a few
    assert curve[-1][1] == pytest.approx(result.value, abs=0.05)
    over_blocks = result.table.pmi[:, 0].std(ddof=1) / np.sqrt(20)
    assert curve[-1][2] == pytest.approx(over_blocks, rel=0.05)
    assert curve[0][1] < curve[-1][1]


def test_data_without_a_class_fire():
    data, test = halves(8)
    assert scored("DW011", data, test).fires is False
    lacking = scored("DW011", data.take(data.y == 1), test)
    assert lacking.fires
    assert "'0'" in lacking.detail
    weightless = data.with_weights(np.where(data.y == 1, 1.0, 0.0))
    assert scored("DW011", weightless, test).fires
    assert scored("DW011", data, test, pairs=10, size=20).fires is False
    single = scored("DW011", data, test, pairs=10, size=(20, 1))
    assert single.fires
    assert "test rows" in single.detail


def test_shuffled_labels_are_at_chance():
    data, test = halves(9)
    assert scored("DW012", data, test).fires is False
    shuffled = data.with_labels(np.random.default_rng(0).permutation(data.y))
    assert scored("DW012", shuffled, test).fires
    assert scored("DW012", shuffled, test, pairs=30, size=30).fires


def test_a_rare_class_makes_accuracy_cheap():
    """Nine in ten by always saying no is no skill."""
    rng = np.random.default_rng(10)
    X, y = rng.normal(size=(900, 3)), (rng.random(900) < 0.1).astype(int)
    finding = scored("DW012", dw.Dataset(X[300:], y[300:]), dw.Dataset(X[:300], y[:300]))
    assert finding.fires
    assert abs(finding.value) < 2 * finding.stderr


def attributed(seed, shown, agree=(0.9, 0.3)):
    """Rows whose group goes with the label more often in the test set; features show it by so much."""
    rng = np.random.default_rng([seed, 13])
    y = rng.integers(0, 2, 1200)
    a = np.where(rng.random(1200) < np.repeat(agree, 600), y, 1 - y)
    X = rng.normal(size=(1200, 4))
    X[:, 0] += y
    X[:, 1] += shown * a
    every = dw.Dataset(X, y, attributes=a.astype(str))
    return every.take(range(600, 1200)), every.take(range(600))


@pytest.mark.parametrize("shown", [0.0, 1.5])
def test_an_attribute_matters_only_if_features_show_it(shown):
    """x ⟂ a | y: silent, however well the attribute goes with the label; a false alarm has less than 1 %."""
    data, test = attributed(0, shown)
    after = MatchGroups()(data, test, rng=np.random.default_rng(0))
    result = dw.audit(data, after, test, yardstick=yardstick(test), ignore=OTHERS)
    finding = found(result, "DW013")
    assert finding.fires is bool(shown)
    assert ("do not show" in finding.detail) is not bool(shown)


def test_an_attribute_that_curation_leaves_alone_is_not_asked():
    data, test = attributed(2, 1.5)
    yard = yardstick(test)
    asked = {"yardstick": yard, "pairs": 20, "ignore": OTHERS}
    assert found(dw.audit(data, test=test, curate=RandomSubset(0.5), **asked), "DW013").fires is None
    assert found(dw.audit(data, test=test, curate=MatchGroups(), **asked), "DW013").fires
    assert found(dw.score(data, test, yardstick=yard, ignore=OTHERS), "DW013").fires is None


def test_a_shift_in_what_the_recipe_drops_fires():
    data, test = halves(11)
    still = scored("DW014", data, test, axes=2)
    assert still.fires is False
    assert "column" not in still.detail
    moved = dw.Dataset(data.X + np.array([0, 0, 0, 2.0, 3.0]), data.y)
    found = scored("DW014", moved, test, axes=2)
    assert found.fires
    assert "; farthest apart in columns 'x4', 'x3'" in found.detail
    kept = scored("DW014", moved, test)
    assert kept.fires is False  # all five axes: the model sees it
    assert "keep everything" in kept.detail


def test_the_recipe_being_learned_from_the_test_set_is_no_shift():
    """Axes of sixty rows fit those sixty better than any others, of the same world."""
    rng = np.random.default_rng(12)
    X = rng.normal(size=(660, 30))
    y = (X[:, 0] > 0).astype(int)
    finding = scored("DW014", dw.Dataset(X[60:], y[60:]), dw.Dataset(X[:60], y[:60]), axes=5)
    assert finding.fires is False


def test_unknown_categories_and_missing_values_are_a_shift():
    import pyarrow as pa

    rng = np.random.default_rng(13)

    def frame(n, colours):
        x = rng.normal(size=n)
        table = pa.table({"x": x, "colour": rng.choice(colours, n)})
        return dw.Dataset(table, (x > 0).astype(int))

    test = frame(200, ["red", "blue"])
    assert scored("DW014", frame(300, ["red", "blue"]), test).fires is False
    strange = scored("DW014", frame(300, ["red", "blue", "green", "black"]), test)
    assert strange.fires
    assert strange.detail.endswith("; farthest apart in column 'colour'")
    X, y = rows(14, n=400, d=2)
    holes = X[200:].copy()
    holes[::2, 1] = np.nan
    gappy = dw.Dataset(holes, y[200:], allow_missing=True)
    found = scored("DW014", gappy, dw.Dataset(X[:200], y[:200]))
    assert found.fires
    assert found.detail.endswith("; farthest apart in column 'x1'")


def test_columns_are_named_whose_means_are_four_errors_apart():
    own = np.arange(400) < 200
    flat = np.tile([-1.0, 1.0], 200)
    for errors, told in ((3.9, []), (4.1, ["b"])):
        # a mean of ±d/2 adds d²/4 to a variance of 1
        d = errors * np.sqrt(2 / 200)
        moved = flat + np.where(own, 0.5, -0.5) * d / np.sqrt(1 - d**2 / 4)
        assert shift.farthest(np.column_stack([flat, moved, np.ones(400)]), own, "abc") == told


@pytest.mark.parametrize("size", [1, 3, 12])
def test_a_few_rows_are_looked_at_without_a_sound(size):
    data, test = halves(19)
    for places in (range(size), [0] * size):
        for finding in [scored(code, data.take(places), test.take(range(24)), axes=2) for code in MINE]:
            assert finding.detail


@pytest.mark.parametrize("outlier", [1e30, 1e200])
def test_huge_outliers_are_looked_at_without_a_sound(outlier):
    data, test = halves(20)
    X = data.X.copy()
    X[0] = outlier
    case = dw.score(data, test, yardstick=yardstick(test, 2), ignore=OTHERS, keep=True).case
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        findings = run_checks(replace(case, data={"the data": dw.Dataset(X, data.y)}))
    assert [f.code for f in findings] == list(MINE)
    assert [f.code for f in findings if f.fires] == []
