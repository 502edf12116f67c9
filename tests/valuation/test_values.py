"""Values of rows against fits without them; standard errors against the jackknife; trust; sources."""

from dataclasses import replace

import numpy as np
import pytest

import dataworth as dw
from dataworth.inference.logistic import Counts
from dataworth.inference.removal import see, toggle_each
from dataworth.valuation.values import label_noise as trust_file
from dataworth.valuation.values.label_noise import trust_classes, trust_numbers
from dataworth.valuation.values.rows import Part, Table, binary_fits, gaussian_fits, standard_errors
from golden.sentences import all_refused


def table_of(X, y, n, weight=1.0, groups=None, prior_variance=2.0):
    X = np.column_stack([X, np.ones(len(X))])
    data = Part(np.arange(n), y[:n], np.full(n, weight))
    test = Part(np.arange(n, len(y)), y[n:], np.ones(len(y) - n))
    return Table(X, prior_variance, weight, data, test, groups)


def with_data(table, rows):
    return replace(table, data=Part(*(part[rows] for part in table.data)))


@pytest.fixture(scope="module")
def world():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(65, 2))
    return X, (X[:, 0] + 0.7 * rng.logistic(size=65) > 0).astype(float)


def log_predictive(table, rows, tested):
    """log p(T | D) with some rows of D and of T, by two fits."""
    some = with_data(table, rows).tested_on(tested)
    data, test = (part.labelled(part.y).counted(len(table.X)) for part in (some.data, some.test))
    both = Counts(data.ones + test.ones, data.zeros + test.zeros)
    return see(table.X, table.prior_variance, both).log_z - see(table.X, table.prior_variance, data).log_z


@pytest.mark.parametrize("weight", [1.0, 3.0])
def test_a_value_is_what_the_test_set_loses_without_the_row(world, weight):
    table = table_of(*world, 40, weight)
    found = binary_fits(table, table.data.y, table.test.y).value
    every, tested = np.ones(40, dtype=bool), np.ones(25, dtype=bool)
    whole = log_predictive(table, every, tested)
    true = [whole - log_predictive(table, np.arange(40) != i, tested) for i in range(40)]
    np.testing.assert_allclose(found, true, atol=0.02 * weight)  # EP's own error grows with the counts
    assert np.corrcoef(found, true)[0, 1] > 0.999


@pytest.mark.parametrize("grouped", [False, True])
def test_standard_errors_are_the_jackknifes(world, grouped):
    groups = np.arange(25) // 3 if grouped else None
    table = table_of(*world, 40, groups=groups)
    found = standard_errors(table, [binary_fits(table, table.data.y, table.test.y)])
    units = np.arange(25) if groups is None else groups
    left_out = []
    for unit in np.unique(units):
        less = table.tested_on(units != unit)
        left_out.append(binary_fits(less, less.data.y, less.test.y).value)
    count = len(left_out)
    jackknife = np.std(left_out, axis=0, ddof=1) * (count - 1) / np.sqrt(count) * np.sqrt(1 / (1 - 1 / count))
    assert np.median(np.abs(found / jackknife - 1.0)) < (0.25 if grouped else 0.12)
    assert np.corrcoef(found, jackknife)[0, 1] > 0.98


@pytest.mark.parametrize(
    "fits",
    [lambda table: binary_fits(table, table.data.y, table.test.y), lambda table: gaussian_fits(table, 1.0)],
)
def test_a_row_that_says_nothing_is_worth_nothing(world, fits):
    """All zeros and no intercept, as a pair of texts is in which no word of the test set stands."""
    X, y = world[0].copy(), world[1]
    X[[3, 60]] = 0.0
    table = replace(table_of(X, y, 40), X=X)
    value, stderr = fits(table).value, standard_errors(table, [fits(table)])
    assert (value[3], stderr[3]) == (pytest.approx(0.0, abs=1e-12), 0.0)
    rest = np.arange(40) != 3
    others = with_data(table, rest)
    np.testing.assert_allclose(stderr[rest], standard_errors(others, [fits(others)]), rtol=1e-6)


def numbers(n, tested, seed=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n + tested, 2))
    return X, X[:, 0] + 0.5 * rng.normal(size=n + tested)


def test_numeric_labels_are_exact():
    table = table_of(*numbers(20, 15), 20, weight=2.0)
    found = gaussian_fits(table, 0.3)
    model, X = dw.Linear(2.0, 0.3, intercept=False), table.X

    def log_z(rows, tested):
        weights = np.concatenate([2.0 * rows, np.full(15, float(tested))])
        return model.fit(X, np.concatenate([table.data.y, table.test.y]), weights).log_evidence

    every = np.ones(20)
    for i in (0, 11):
        rest = every * (np.arange(20) != i)
        true = log_z(every, True) - log_z(every, False) - log_z(rest, True) + log_z(rest, False)
        assert found.value[i] == pytest.approx(true, abs=1e-9)


def test_nothing_to_go_by_leaves_one_label_in_ten_doubted(monkeypatch):
    calls = []
    monkeypatch.setattr(trust_file, "see", lambda *args: calls.append(1) or see(*args))
    table = table_of(np.zeros((30, 1)), np.arange(30) % 2.0, 20, prior_variance=1e-9)
    np.testing.assert_allclose(trust_classes(table, 2).p_mislabeled, 0.1, atol=1e-3)
    assert len(calls) == 6  # rounds


def test_wrong_labels_are_found_and_right_ones_trusted():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(240, 2))
    clean = (X[:, 0] > 0).astype(float)
    y = clean.copy()
    y[:15] = 1 - y[:15]
    table = table_of(X, y, 140, weight=2.0, prior_variance=5.0)
    found = trust_classes(table, 2)
    clear = np.abs(X[:140, 0]) > 0.4
    assert (found.p_mislabeled[:15][clear[:15]] > 0.9).all()
    assert (found.p_mislabeled[15:][clear[15:]] < 0.1).all()
    # the trust in a label: all others, test rows counted as often as the data's
    own, other = table.data.labelled(table.data.y), table.test._replace(weights=np.full(100, 2.0))
    counts = [part.counted(len(table.X)) for part in (own, other.labelled(table.test.y))]
    both = Counts(counts[0].ones + counts[1].ones, counts[0].zeros + counts[1].zeros)
    true = toggle_each(see(table.X, 5.0, both), both, own, np.inf).loo_log_likelihood
    np.testing.assert_allclose(found.loo_log_likelihood, true, atol=1e-6)


def test_several_classes_and_numbers_have_wrong_labels_too():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(240, 2))
    y = (X[:, 0] > 0.5).astype(float) + (X[:, 0] > -0.5)
    y[:8] = (y[:8] + 1) % 3
    found = trust_classes(table_of(X, y, 140, weight=2.0, prior_variance=5.0), 3)
    assert np.median(found.p_mislabeled[:8]) > 0.5
    assert np.median(found.p_mislabeled[8:]) < 0.2
    level = X[:, 0] + 0.2 * rng.normal(size=240)
    level[:8] += 2.0
    found = trust_numbers(table_of(X, level, 140), 0.04)
    assert (found.p_mislabeled[:8] > 0.9).all()
    assert (found.p_mislabeled[8:140] > 0.5).sum() <= 4


@pytest.fixture(scope="module")
def annotated():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(520, 2))
    clean = (X[:, 0] + 0.4 * rng.normal(size=520) > 0).astype(int)
    who = np.arange(520) % 3
    y = np.where((who == 1) & (rng.random(520) < 0.4) & (np.arange(520) < 320), 1 - clean, clean)
    data = dw.Dataset(X, y, groups=[f"annotator {k}" for k in who])
    test = dw.Dataset(X[320:], clean[320:])
    return data.take(range(320)), test, clean[:320] != y[:320]


@pytest.fixture(scope="module")
def found(annotated):
    data, test, _ = annotated
    return dw.values(data, test, prior_variance=2.0)


def test_rows_and_sources_of_a_dataset(annotated, found):
    *_, bad = annotated
    rows = found.rows
    assert rows.p_mislabeled[bad].mean() > 3 * rows.p_mislabeled[~bad].mean()
    assert rows.value[bad].mean() < 0 < rows.value[~bad].mean()
    assert rows.harmful.sum() > 3
    assert rows.harmful[bad].sum() > 0.7 * rows.harmful.sum()
    assert found.fdr == 0.1
    assert [one.name for one in found.groups if one.below_random] == ["annotator 1"]
    shares = sum(one.share.value for one in found.groups)
    assert shares == pytest.approx(found.total.value, abs=1e-9)
    assert found.to_dict(bits=True)["rows"]["value"][0] == pytest.approx(rows.value[0] / np.log(2))


def test_rows_of_the_test_set_have_no_value(annotated):
    data, test, _ = annotated
    one = dw.Dataset(test.X[:1], test.y[:1], groups=["annotator 0"])
    both = dw.Dataset.concat([one, data.take(range(60))])
    found = dw.values(dw.Dataset(both.X, both.y), test, prior_variance=2.0)
    assert np.isnan(found.rows.value[0])
    assert np.isfinite(found.rows.value[1:]).all()
    assert not found.rows.harmful[0]
    assert 0 not in found.ranked_label_issues


def test_cross_fit_judges_by_parts_that_did_not_choose(annotated):
    data, test, _ = annotated
    plain = dw.Dataset(data.X, data.y)
    found = dw.values(plain, test, prior_variance=2.0, cross_fit=4).cross_fit
    assert found.parts == 4
    assert found.left_out > 10
    assert found.change.positive


def test_sentences(annotated):
    data, test, _ = annotated
    few = data.take(range(40))
    plain, yard = dw.Dataset(few.X, few.y), dw.Yardstick.fit(test, prior_variance=2.0)
    wrong = ({"fdr": 2}, {"cross_fit": 1}, {"cross_fit": 11})
    cases = [lambda o=o: dw.values(plain, test, prior_variance=2.0, **o) for o in wrong]
    all_refused("values", [*cases, lambda: dw.values(dw.seal(few, yard), test, yardstick=yard)])
    for groups, words in ((["a"] * 40, "of one source, 'a'"), (range(40), "40 groups have one row each")):
        grouped = dw.Dataset(few.X, few.y, groups=list(map(str, groups)))
        told = dw.values(grouped, test, prior_variance=2.0)
        assert (told.groups, words in " ".join(told.notes)) == ((), True)
