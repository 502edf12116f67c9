"""Values know which test rows made them, and these do not judge what was changed by the values."""

import json
from dataclasses import replace

import numpy as np
import pytest

import dataworth as dw
from dataworth.data.changes import compare
from dataworth.valuation.values import guard
from dataworth.valuation.values.guard import Stored, files_in, judges, load_values, save_values
from dataworth.valuation.values.lineage import LEVEL, choosing_half, kept_parts, p_by_chance, p_of_list


@pytest.fixture(scope="module")
def world():
    rng = np.random.default_rng(7)
    X = rng.normal(size=(380, 2))
    clean = (X[:, 0] + 0.4 * rng.normal(size=380) > 0).astype(int)
    y = np.where((rng.random(380) < 0.15) & (np.arange(380) < 180), 1 - clean, clean)
    data = dw.Dataset(X, y)
    return data.take(range(180)), data.take(range(180, 300)), data.take(range(300, 380))


@pytest.fixture(scope="module")
def found(world):
    return dw.values(world[0], world[1], prior_variance=2.0)


@pytest.fixture(scope="module")
def split(world):
    return dw.values(world[0], world[1], prior_variance=2.0, sample_splitting=True)


@pytest.fixture(scope="module")
def yard(world):
    return dw.Yardstick.fit(world[1], prior_variance=2.0)


def without(data, rows):
    return data.take(np.setdiff1d(np.arange(len(data)), rows))


@pytest.mark.parametrize("suffix", [".parquet", ".csv", ".json"])
def test_files_are_read_again_and_know_their_rows(world, found, suffix, tmp_path):
    data, test, other = world
    path = tmp_path / f"values{suffix}"
    found.report(path) if suffix == ".json" else save_values(found, path)
    stored = load_values(path)
    np.testing.assert_array_equal(stored.columns["value"], found.rows.value)
    mine, key = stored.lineage, stored.key
    assert mine.chose(test, key).all()
    assert not mine.chose(other, key).any()
    assert mine.chose(test.take([5, 3]).with_labels([0, 1]), key).all()  # of any labels
    assert mine.places(data.take([7, 2]), key).tolist() == [7, 2]
    assert (mine.places(other, key) < 0).all()
    wider = [dw.Dataset(np.column_stack([one.X, one.X[:, 0] ** 2]), one.y) for one in (data, test)]
    assert (mine.places(wider[0], key) == np.arange(180)).all()  # read with a column more
    assert mine.chose(wider[1], key).all()
    narrow = dw.Dataset(test.X[:, :1], test.y)
    assert not mine.chose(narrow, key).any()
    assert [one.name for one in files_in([tmp_path])] == [str(path)]
    text = path.read_bytes() + b"".join(p.read_bytes() for p in tmp_path.glob("*.about.json"))
    assert not any(one in text for one in test.row_keys())  # plain hashes would do for every file


def test_rows_that_were_edited_are_known_by_their_ids_and_other_files_are_none(world, tmp_path):
    data, test, _ = world
    named = dw.Dataset(data.X, data.y, ids=np.arange(180))
    stored = Stored.of(dw.values(named, test, prior_variance=2.0))
    X = data.X[[4, 9, 30]] + np.array([[0.0], [0.0], [1.0]])
    edited = dw.Dataset(X, [0, 0, 0], ids=[170, 171, 30])
    assert stored.lineage.places(edited, stored.key).tolist() == [4, 9, 30]
    for name, about in (("a.csv", "[1]"), ("c.csv", '{"schema": 3}'), ("d.parquet", '{"schema": "/1"}')):
        (tmp_path / name).write_text("a,b\n1,2\n")
        (tmp_path / f"{name}.about.json").write_text(about)
        assert load_values(tmp_path / name) is None
    assert files_in([tmp_path]) == []
    with pytest.raises(dw.DataworthError, match=r"a\.csv is no file of values"):
        dw.audit(*[dw.Dataset(np.eye(30), [0, 1] * 15)] * 3, values=tmp_path / "a.csv")


BROKEN = [
    ("key", "short"), ("key", "schlüssel" * 8), ("key", 3), ("data", "zz"), ("data", "00"), ("test", None),
    ("columns", [1]), ("sample_splitting", "yes"), ("ids", "00" * 8),
]  # fmt: skip


@pytest.mark.parametrize("change", BROKEN)
def test_files_that_are_damaged_are_named(found, change, tmp_path):
    path, told = (
        tmp_path / "values.csv",
        r"values\.csv cannot be read as values, with values\.csv\.about\.json",
    )
    save_values(found, path)
    beside = tmp_path / "values.csv.about.json"
    beside.write_text(json.dumps(json.loads(beside.read_text()) | dict([change])))
    with pytest.raises(dw.DataworthError, match=told):
        files_in([tmp_path])
    save_values(found, path)
    (beside if change[0] == "key" else path).write_bytes(b"{")
    with pytest.raises(dw.DataworthError, match=told):
        load_values(path)


def test_the_half_that_chooses_is_always_the_same(world):
    test = world[1]
    half = choosing_half(test)
    assert half.sum() == 60
    rng = np.random.default_rng(0)
    order = rng.permutation(120)
    assert np.array_equal(choosing_half(test.take(order).with_labels(test.y)), half[order])
    some = np.sort(order[:110])
    assert (choosing_half(test.take(some)) != half[some]).sum() <= 10  # those next to the middle
    groups = np.repeat(np.arange(12), 10)
    grouped = choosing_half(dw.Dataset(test.X, test.y, groups=groups))
    assert grouped.sum() == 60
    assert all(len(set(grouped[groups == g])) == 1 for g in range(12))
    assert 0 < choosing_half(dw.Dataset(np.repeat([[1.0], [2.0]], 20, axis=0), np.arange(40) % 2)).sum() < 40


def test_values_of_a_half_are_those_of_its_rows(world, split):
    data, test, _ = world
    half = test.take(choosing_half(test))
    np.testing.assert_array_equal(split.rows.value, dw.values(data, half, prior_variance=2.0).rows.value)
    assert split.test_rows == 60
    assert "sample_splitting=True" in split.replay.command
    with pytest.raises(
        dw.DataworthError, match=r"halves of the test set have 19 and 19 rows, but 20 are needed"
    ):
        dw.values(data, test.take(range(38)), sample_splitting=True)


def is_in(data, rows):
    return np.isin(np.arange(len(data)), rows)


def relabelled(data, rows):
    return data.with_labels(np.where(is_in(data, rows), 1 - data.y, data.y))


CHANGES = {
    "dropped": lambda data, first, rest: without(data, first[:12]),
    "harmful": lambda data, first, rest: without(data, first[:4]),
    "dropped with others": lambda data, first, rest: without(data, [*first[:12], *rest[:8]]),
    "weighted": lambda data, first, rest: data.with_weights(
        np.where(np.isin(np.arange(180), first[:12]), 1e-3, 1)
    ),
    "flipped": lambda data, first, rest: relabelled(data, first[:12]),
    "the last repeated": lambda data, first, rest: data.take([*range(180), *first[-12:]]),
}


@pytest.mark.parametrize("how", CHANGES)
@pytest.mark.parametrize("column", ["value", "p_mislabeled"])
def test_a_change_that_follows_values_is_refused_on_their_test_set(world, found, yard, how, column):
    data, test, other = world
    first = np.argsort(found.rows.value if column == "value" else -found.rows.p_mislabeled)
    after = CHANGES[how](data, first, np.random.default_rng(1).permutation(first[12:-12]))
    with pytest.raises(
        dw.DataworthError, match="the change follows the values more than chance explains, and 120 "
    ):
        dw.audit(data, after, test, yardstick=yard, ignore="all", values=found)
    assert judges(data, after, other, found)[0] is other
    grown = dw.Dataset.concat([test, other])  # what came later judges
    assert len(judges(data, after, grown, [found])[0]) == 80


def test_chance_changes_and_new_rows_are_judged_by_all(world, found):
    data, test, other = world
    rng = np.random.default_rng(2)
    for after in (without(data, rng.permutation(180)[:30]), dw.Dataset.concat([data, other]), data):
        assert judges(data, after, test, found) == (test, ())
    assert judges(other, other.take(range(30)), test, found) == (test, ())  # rows that were not valued


def test_the_other_half_judges_what_one_half_chose(world, split, yard):
    """Whatever was changed of these rows; not what was added."""
    data, test, other = world
    after = without(data, np.argsort(split.rows.value)[:12])
    free = test.take(~choosing_half(test))
    told = dw.audit(data, after, test, yardstick=yard, ignore="all", values=split)
    assert told.delta == dw.audit(data, after, free, yardstick=yard, ignore="all").delta
    assert told.details.test_rows == 60
    assert told.notes[0] == "judged on the 60 test rows that had no say in the values"
    edited = data.with_features(2.0 * data.X)
    for changed in (without(data, [100]), edited):
        assert len(judges(data, changed, test, split)[0]) == 60
    both = dw.Dataset.concat([data, other])  # rows that the values do not know were removed
    assert judges(both, data, test, split) == (test, ())
    assert judges(data, dw.Dataset.concat([data, other]), test, split) == (test, ())


def test_a_ladder_counts_questions_to_the_whole_test_set(world, split, yard, tmp_path):
    data, test, _ = world
    options = {"yardstick": yard, "ignore": "all", "ladder": tmp_path / "ladder.json"}
    dw.audit(data, relabelled(data, range(90)), test, **options)
    after = without(data, np.argsort(split.rows.value)[:12])
    told = dw.audit(data, after, test, values=split, **options)
    assert told.notes[-1] == "question 2 to this test set, by its ladder"
    assert told.details.test_rows == 60


def test_values_asked_again_and_again_are_made_by_the_same_rows(world, split, found):
    """Of descendants and of ancestors; and if both halves chose, nobody judges."""
    data, test, _ = world
    later = without(data, np.argsort(split.rows.value)[:12])
    again = dw.values(later, test, prior_variance=2.0, sample_splitting=True)
    after = without(later, np.argsort(again.rows.value)[:12])
    for before, known in ((data, [again]), (later, [split]), (data, [split, again])):
        assert len(judges(before, after, test, known)[0]) == 60
    other_half = dw.values(data, test.take(~choosing_half(test)), prior_variance=2.0)
    first = np.argsort(other_half.rows.value)
    with pytest.raises(dw.DataworthError, match="120 of 120 test rows made these values"):
        judges(data, without(data, first[:12]), test, [split, other_half])
    data, test, other = world
    after = without(data, np.argsort(found.rows.value)[:12])
    judging = judges(data, after, dw.Dataset.concat([test, other.take(range(20))]), found)[0]
    assert len(judging) == 20
    with pytest.raises(dw.DataworthError, match="120 of 139 test rows made these values"):
        judges(data, after, dw.Dataset.concat([test, other.take(range(19))]), found)


@pytest.mark.parametrize(("p", "chosen"), [(0.00026, False), (0.00024, True)])
def test_three_columns_and_the_list_are_looked_at(world, found, monkeypatch, p, chosen):
    monkeypatch.setattr(guard, "p_by_chance", lambda kept, order: p)
    assert Stored.of(found).chose(world[0], without(world[0], [3])) == chosen


def listed(values, rows):
    harmful = np.isin(np.arange(len(values.rows)), rows)
    return replace(values, rows=replace(values.rows, harmful=harmful))


@pytest.mark.parametrize("how", ["dropped", "flipped"])
def test_the_list_itself_is_recognised_however_short(world, found, how):
    """Two rows of the list among 180, wherever they stand in the columns: by chance 1 in 16,110."""
    data, test, _ = world
    middle = np.argsort(np.argsort(found.rows.value))
    quiet = np.flatnonzero((np.abs(middle - 90) < 40) & (found.rows.p_mislabeled < 0.3))[:2]
    after = without(data, quiet) if how == "dropped" else relabelled(data, quiet)
    own = listed(found, quiet)
    assert Stored.of(own).chose(data, after)
    assert not Stored.of(listed(found, [])).chose(data, after)
    with pytest.raises(dw.DataworthError, match="more than chance explains"):
        judges(data, after, test, own)
    assert not Stored.of(listed(found, quiet[:1])).chose(data, without(data, [*quiet[:1], *range(100)]))


def test_chance_changes_follow_no_list_of_rows():
    """P(p < α) ≤ α, exactly: of 2,000 random removals, with a list of any length."""
    rng = np.random.default_rng(8)
    for length in (1, 10, 60):
        found = []
        for _ in range(2000):
            kept = np.ones(100)
            kept[rng.permutation(100)[: rng.integers(1, 40)]] = 0.0
            found.append(p_of_list(kept, np.arange(100) < length))
        assert np.mean(np.array(found) < 0.05) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 2000)


def test_what_is_left_of_a_row():
    before = dw.Dataset(
        np.arange(8.0).reshape(-1, 1), [0, 1] * 4, ids=range(8), weights=[1, 1, 1, 1, 1, 1, 4, 0]
    )
    rows = [0, 1, 2, 3, 3, 5, 6]
    X, y = before.X[rows], before.y[rows]
    y[1], X[2], y[5], X[5] = 0, 9.0, 0, 9.0
    after = dw.Dataset(X, y, ids=rows, weights=[1, 1, 1, 1, 1, 1, 2])
    change = compare(before, after)
    assert kept_parts(before, after, change).tolist() == [1, 0.5, 0.75, 2, 0, 0.25, 0.5, 1]


def test_a_list_is_seen_among_many_other_rows():
    """The 20 first of 300 removed with some 93 others, drawn without putting them back: 4 standard errors."""
    rng, seen = np.random.default_rng(0), 0
    for _ in range(50):
        kept = np.ones(300)
        kept[[*range(20), *rng.permutation(300)[:100]]] = 0.0
        seen += 3 * p_by_chance(kept, np.arange(300.0)) < LEVEL
    assert seen >= 25  # each with probability 0.7 or more: false alarm in 2e-3


def test_random_changes_follow_no_list():
    """P(p < α) ≤ α, for few and for many rows, dropped or weighted; 2,000 changes of each kind."""
    rng, order = np.random.default_rng(3), np.arange(200.0)
    assert LEVEL == 0.001
    for k in (1, 5, 60, 150):
        for weighted in (False, True):
            p = []
            for _ in range(500):
                kept = np.ones(200)
                kept[rng.permutation(200)[:k]] = rng.random(k) if weighted else 0.0
                p.append(p_by_chance(kept, order))
            assert np.mean(np.array(p) < 0.05) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 500)
    halved, dropped = np.ones(200), np.ones(200)
    halved[:12], dropped[:12] = 0.5, 0.0
    assert p_by_chance(halved, order) == pytest.approx(p_by_chance(dropped, order))
    kept = np.ones(200)
    for first, shown in ((1, False), (3, True)):
        kept[:first] = 0.0
        assert (3 * p_by_chance(kept, order) < LEVEL) == shown
