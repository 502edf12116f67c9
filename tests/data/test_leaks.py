"""Test rows that also stand in the data: found, dropped, counted; too many are refused."""

import numpy as np
import pyarrow as pa
import pytest

import dataworth as dw
from dataworth.data.chance import Sketch
from dataworth.data.dataset import Dataset
from dataworth.data.leaks import LeakScanner, Overlap, agreement, clustered_note, drop_leaks
from worlds import classes, refusal

TEST = classes(100, seed=0)
CLEAN = classes(80, seed=1)


def with_rows(data, rows):
    return Dataset.concat([data, rows])


def rows_of(data):
    return [tuple(row) for row in data.X.tolist()]


@pytest.mark.parametrize("rows", [[], [7], [3, 50, 51, 98, 99]])
def test_leaked_rows_are_taken_out_of_the_data_and_counted(rows):
    leaks = drop_leaks(TEST, {"the data": with_rows(CLEAN, TEST.take(rows))})
    assert (rows_of(leaks.data["the data"]), leaks.found) == (rows_of(CLEAN), len(rows))
    assert (leaks.note is None) if not rows else (f"{len(rows)} test row" in leaks.note)


def test_a_row_leaked_twice_counts_once_and_its_label_and_weight_do_not_matter():
    leaked = TEST.take([7, 7])
    both = with_rows(CLEAN, leaked)
    data = {
        "before": with_rows(CLEAN, leaked.with_labels(1 - leaked.y)),
        "after": with_rows(CLEAN, leaked),
        "weightless": Dataset(both.X, both.y, weights=np.arange(82) < 80),
    }
    leaks = drop_leaks(TEST, data)
    assert leaks.found == 1
    assert all(rows_of(part) == rows_of(CLEAN) for part in leaks.data.values())
    assert leaks.note.startswith("1 test row also in the data: 2 rows taken out of before, 2 rows")
    other = {"a": with_rows(CLEAN, TEST.take([1, 2])), "b": with_rows(CLEAN, TEST.take([2, 3]))}
    assert drop_leaks(TEST, other).found == 3


def test_more_than_one_in_twenty_is_refused_also_in_doubled_data_or_other_columns():
    data = {"before": CLEAN, "after": with_rows(CLEAN, TEST.take(range(6)))}
    sentence = refusal(drop_leaks, TEST, data)
    assert "6 of 100 test rows (6%)" in sentence
    assert "stand in after" in sentence
    assert drop_leaks(TEST, {"after": with_rows(CLEAN, TEST.take(range(5)))}).found == 5
    twice = data["after"].take(np.tile(np.arange(86), 2))
    assert "6 of 100" in refusal(drop_leaks, TEST, {"D": twice})
    D = with_rows(CLEAN, TEST.take([4]))
    further = Dataset(
        np.column_stack([np.arange(len(D)), D.X[:, [2, 0, 1]]]), D.y, names=["n", "c", "a", "b"]
    )
    assert drop_leaks(Dataset(TEST.X, TEST.y, names=["a", "b", "c"]), {"D": further}).found == 1


def test_a_row_vanishes_from_before_and_after_alike():
    """Edited into a test row, or out of one: neither state keeps a row that the other has lost."""
    ids = [f"r{i}" for i in range(80)]
    before = Dataset(np.vstack([CLEAN.X[:79], TEST.X[5]]), CLEAN.y, ids=ids)
    X = before.X.copy()
    X[3], X[79] = TEST.X[8], CLEAN.X[79]
    after = Dataset(X, CLEAN.y, ids=ids)
    leaks = drop_leaks(TEST, {"before": before, "after": after}, states=True)
    left = [name for name in ids if name not in ("r3", "r79")]
    assert [part.ids.tolist() for part in leaks.data.values()] == [left, left]
    apart = drop_leaks(TEST, {"before": before, "after": after})
    assert [len(part) for part in apart.data.values()] == [79, 79]


@pytest.mark.parametrize(("equal", "dropped"), [(3, 0), (18, 0), (19, 19)])
def test_equal_rows_under_other_ids_are_two_rows_unless_they_are_too_many(equal, dropped):
    """Of 400 and 400 rows up to 6 + 3·√(6·3) = 18.7 may be chance; more are copies under new names."""
    T, D = (classes(400, seed=s) for s in (0, 1))
    T = Dataset(T.X, T.y, ids=[f"t{i}" for i in range(400)])
    X = D.X.copy()
    X[:equal] = T.X[:equal]
    D = Dataset(X, D.y, ids=[f"d{i}" for i in range(400)])
    assert drop_leaks(T, {"D": D}).found == dropped
    named = Dataset(X, D.y, ids=[f"t{i}" for i in range(400)])
    assert drop_leaks(T, {"D": named}).found == equal


def sparse(n, seed, ids=None):
    """Rows of two coarse columns: most occur many times, in the data as in the test set."""
    rng = np.random.default_rng(seed)
    return Dataset(rng.integers(0, 4, size=(n, 2)), rng.integers(0, 2, size=n), ids=ids)


def test_ids_tell_rows_apart_that_repeat():
    T = sparse(100, 0, ids=[f"t{i}" for i in range(100)])
    D = sparse(80, 1, ids=[f"d{i}" for i in range(78)] + ["t5", "t60"])
    leaks = drop_leaks(T, {"D": D})
    assert leaks.data["D"].ids.tolist() == [f"d{i}" for i in range(78)]
    assert leaks.found == 2
    named = sparse(80, 1, ids=[f"d{i}" for i in range(80)])
    assert drop_leaks(T, {"D": named}).note is None
    unnamed = drop_leaks(T, {"D": named, "E": sparse(80, 2)})
    assert (unnamed.found, len(unnamed.data["E"]), "ids" in unnamed.note) == (0, 80, True)


def test_measurements_take_leaked_rows_out_of_the_data():
    """Scored with two leaked rows, and without them in the data: the same number on the whole test set."""
    yard = dw.Yardstick.fit(TEST, prior_variance=1.0)
    D = with_rows(CLEAN, TEST.take([10, 20]))
    leaky, plain = (dw.score(data, TEST, yardstick=yard) for data in (D, CLEAN))
    assert (leaky.value, leaky.details.test_rows, leaky.details.data_rows) == (plain.value, 100, 80)
    assert any("2 test rows" in note for note in leaky.notes)
    audit = dw.audit(D, CLEAN, TEST, yardstick=yard)
    both = dw.rank({"a": CLEAN, "b": D}, TEST, yardstick=yard)
    for result in (audit, both):
        assert result.details.test_rows == 100
        assert any("2 test rows" in note for note in result.notes)
    assert (audit.delta, both[0].value) == (0.0, pytest.approx(both[1].value, abs=1e-6))
    assert both[0].rows == both[1].rows == 80
    assert "test rows" in refusal(dw.score, with_rows(CLEAN, TEST), TEST, yardstick=yard)


def half(test, seed=0):
    return test.take(np.random.default_rng(seed).permutation(len(test))[: len(test) // 2])


def test_repeated_test_rows_do_not_switch_the_guard_off():
    """Eleven rows twice among 1,011: half of T as data was scored, with no check firing. Sixteen binary
    columns: 500 rows agree by chance in a few pairs only; half of T does not."""
    rows = classes(1_000, seed=3)
    T = Dataset.concat([rows, rows.take(range(11))])
    for seed in range(5):
        assert "test rows" in refusal(drop_leaks, T, {"the data": half(T, seed)})
    T = binary(500, 10, 0)
    doubled = Dataset.concat([binary(500, 16, 1), binary(20, 16, 1)])
    assert "test rows" in refusal(drop_leaks, doubled, {"D": half(doubled)})
    assert drop_leaks(T, {"D": binary(500, 10, 1)}).found == 0


def binary(n, columns, seed):
    rng = np.random.default_rng([seed, columns])
    return Dataset(rng.integers(0, 2, size=(n, columns)), rng.integers(0, 2, size=n))


@pytest.mark.parametrize("columns", [3, 8, 10])
@pytest.mark.parametrize(("test_rows", "rows"), [(300, 1_000), (1_000, 300), (1_000, 50), (500, 500)])
def test_honest_rows_of_few_values_are_no_leaks(columns, test_rows, rows):
    """Ten honest draws of binary columns each: chance explains them (of 1,000 at most 1 was refused)."""
    for seed in range(10):
        leaks = drop_leaks(binary(test_rows, columns, seed), {"D": binary(rows, columns, seed + 100)})
        assert leaks.found == 0
        assert "ids" in leaks.note


@pytest.mark.parametrize(("columns", "test_rows", "rows"), [(10, 50, 500), (12, 50, 500), (12, 100, 1_000)])
def test_a_small_test_set_of_few_values_does_not_identify_rows(columns, test_rows, rows):
    """Its rows are distinct by luck; where only repeats are counted, all of these draws are refused."""
    refused = distinct = 0
    for seed in range(20):
        T = binary(test_rows, columns, seed)
        if len(np.unique(T.X, axis=0)) == test_rows:
            distinct += 1
            refused += drop_leaks(T, {"D": binary(rows, columns, seed + 100)}).found
    assert distinct >= 2
    assert refused == 0


def test_how_often_columns_agree():
    """Against all pairs of rows: two columns that know nothing of each other."""
    a, b = np.divmod(np.arange(12), 4)
    T = Dataset(np.column_stack([a, b]), np.zeros(12))
    pairs = [(i, j) for i in range(12) for j in range(12) if i != j]
    expected = np.prod([np.mean([column[i] == column[j] for i, j in pairs]) for column in (a, b)])
    assert (agreement(T), agreement(TEST)) == (pytest.approx(expected, rel=1e-12), 0.0)


def codes(repeated, n, start):
    """n rows of one column, `repeated` of which stand there twice."""
    values = np.r_[np.arange(n - repeated), np.arange(repeated)] + start
    return Dataset(values[:, None], np.arange(n) % 2)


def sharing(hits, repeated=10):
    """100 rows of data and of T, both with some rows twice; so many of T (that stand there once) in both."""
    T, D = codes(repeated, 100, 0), codes(repeated, 100, 1_000)
    once = np.arange(repeated, 100 - repeated)
    X = D.X.copy()
    X[once[:hits]] = T.X[once[:hits]]
    return T, Dataset(X, D.y)


def test_equal_rows_are_copies_from_three_standard_deviations():
    """Twenty of 100 repeat in both: 20 ± √(20·3) are expected by chance, and 43 are three deviations more.
    T stands there twice, D repeats nothing: 6 ± √(6·3) by chance, so 18 may be and 20 may not."""
    T, D = sharing(42)
    assert drop_leaks(T, {"D": D}).found == 0
    T, D = sharing(45)
    assert "45 of 100" in refusal(drop_leaks, T, {"D": D})
    D = codes(0, 100, 0)
    few, many = (np.tile(np.arange(50) + 100 - hits // 2, 2)[:, None] for hits in (18, 20))
    assert drop_leaks(Dataset(few, np.arange(100) % 2), {"D": D}).found == 0
    assert "20 of 100" in refusal(drop_leaks, Dataset(many, np.arange(100) % 2), {"D": D})


@pytest.mark.parametrize(("again", "dropped"), [(8, 3), (15, 0)])
def test_a_hundredth_of_the_test_rows_may_repeat_and_they_still_identify_themselves(again, dropped):
    rows = classes(1_000 - again, seed=3)
    T = Dataset.concat([rows, rows.take(range(again))])
    D = Dataset.concat([classes(1_000, seed=4), rows.take([500, 600, 700])])
    leaks = drop_leaks(T, {"D": D})
    assert leaks.found == dropped
    assert ("ids" in leaks.note) == (dropped == 0)


@pytest.mark.parametrize(("off", "found"), [(5e-5, True), (5e-4, False)])
def test_leaks_are_compared_to_five_digits(off, found):
    D = with_rows(CLEAN, Dataset(TEST.X[[7]] * (1 + off), [0]))
    assert drop_leaks(TEST, {"D": D}).found == int(found)


def test_groups_in_both_are_counted():
    def patients(data, names):
        return Dataset(data.X, data.y, groups=names)

    T = patients(TEST, np.repeat([f"p{i}" for i in range(20)], 5))
    D = patients(CLEAN, np.repeat([f"p{i}" for i in range(18, 34)], 5))
    note = drop_leaks(T, {"D": D}).note
    assert note.startswith("2 groups of the test set (10 rows) also stand in the data")
    assert drop_leaks(T, {"D": patients(CLEAN, ["other"] * 80)}).note is None
    assert drop_leaks(T, {"D": CLEAN}).note is None
    both = drop_leaks(T, {"D": with_rows(D, T.take([0]))}).note
    taken = "1 test row also in the data: 1 row (of 1 group) taken out of D"
    assert both.startswith(f"{taken}; 2 groups of the test set (10 rows)")


def test_parts_find_rounded_copies():
    """Part by part as all at once: copies in six digits among rows of a thousand that are none."""
    rng = np.random.default_rng(0)
    test = Dataset(rng.standard_normal((60, 10)), np.arange(60) % 2)
    X = rng.standard_normal((1000, 10))
    X[[3, 500, 999]] = np.float32(test.X[[0, 7, 7]].round(6))
    data = Dataset(X, np.arange(1000) % 2)
    scan = LeakScanner(test, data.take(range(100)))
    parts = [data.take(range(i, i + 200)) for i in range(0, 1000, 200)]
    met = [Overlap.joined([scan(part.take(range(70))), scan(part.take(range(70, 200)))]) for part in parts]
    verdict = scan.decide(met, Sketch.joined(map(Sketch.of, parts)), False, "the data")
    leaks = drop_leaks(test, {"the data": data})
    assert (verdict.found, verdict.note) == (leaks.found, leaks.note)
    gone = [np.zeros(200) if own is None else np.unpackbits(own)[:200] for own in verdict.gone]
    assert np.flatnonzero(np.concatenate(gone)).tolist() == [3, 500, 999]
    assert all(len(scan.possible(part)) < 20 for part in parts)


def test_deduplication_is_no_leak_and_copies_that_a_curation_adds_are():
    """Rows of few values agree by chance; data without repeats do not show it, the data before them do."""
    rng = np.random.default_rng(0)
    X = rng.choice(3, size=(1100, 7), p=[0.6, 0.2, 0.2]).astype(float)
    y = (X.sum(axis=1) + rng.normal(size=1100) > 4).astype(int)
    before, test = Dataset(X[:800], y[:800]), Dataset(X[800:], y[800:])
    once = before.take(np.sort(np.unique(X[:800], axis=0, return_index=True)[1]))
    kept = drop_leaks(test, {"before": before, "after": once}, states=True)
    assert (kept.found, len(kept.data["after"])) == (0, len(once))
    fresh = Dataset(rng.normal(size=(300, 2)), rng.integers(0, 2, 300))
    data, held = fresh.take(range(200)), fresh.take(range(200, 300))
    more = Dataset.concat([data.take(range(150)), held.take(range(4))])
    found = drop_leaks(held, {"before": data, "after": more}, states=True)
    assert (found.found, len(found.data["after"]), len(found.data["before"])) == (4, 150, 200)


@pytest.mark.parametrize(
    ("name", "patients", "each", "noted"),
    [
        ("ids", 40, 10, True), ("ids", 10, 2, True), ("ids", 9, 10, False), ("patient_id", 40, 10, True),
        ("Subject", 40, 10, True), ("userid", 40, 10, True), ("user.id", 40, 10, True),
        ("width", 40, 10, False), ("idea", 40, 10, False),
    ],
)  # fmt: skip
def test_rows_that_seem_to_belong_together_get_a_note(name, patients, each, noted):
    n, names = patients * each, np.repeat(np.arange(patients), each)
    X = {"x": np.sqrt(np.arange(n))} | ({} if name == "ids" else {name: names})
    made = [
        Dataset(pa.table(X), np.arange(n) % 2, ids=names if name == "ids" else None, groups=groups)
        for groups in (None, names)
    ]
    note, grouped = map(clustered_note, made)
    assert (note is not None) == noted
    assert grouped is None
    if noted:
        what = "ids" if name == "ids" else f"values of {name!r}"
        assert note.startswith(f"{patients} {what} name {n} rows")
        assert "group=" in note
