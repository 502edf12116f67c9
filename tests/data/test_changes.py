"""What a curation did, counted row by row, and what its blind control may and may not contain."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dataworth.data.changes import compare, which_twins
from dataworth.data.dataset import Dataset
from dataworth.measure.designs import Sample
from dataworth.valuation.audit.arms import Arms
from worlds import classes

quick = settings(max_examples=100, deadline=None)
AFTER = 1_000
"""Where the rows of `after` start in the pool of these tests."""


@st.composite
def curations(draw):
    """`before`, `after`, and what was done, told by the key (feature value or id) of each row. Rows of
    `before` may repeat; copies have the same label. Each of its keys is kept, repeated, thinned or
    removed, all its copies relabelled or none; then come new keys, and the order is shuffled."""
    labels = draw(st.lists(st.integers(0, 1), min_size=1, max_size=8))
    copies = [draw(st.sampled_from([1, 1, 1, 2, 3])) for _ in labels]
    kept = [draw(st.integers(0, 4)) for _ in labels]
    relabelled = [draw(st.booleans()) for _ in labels]
    new = [draw(st.integers(1, 2)) for _ in range(draw(st.integers(0 if any(kept) else 1, 3)))]
    rows_before = [(key, labels[key]) for key, n in enumerate(copies) for _ in range(n)]
    rows_after = [(key, y ^ relabelled[key]) for key, y in enumerate(labels) for _ in range(kept[key])]
    rows_after += [(100 + j, j % 2) for j, n in enumerate(new) for _ in range(n)]
    rows_before, rows_after = draw(st.permutations(rows_before)), draw(st.permutations(rows_after))
    pairs = list(zip(copies, kept, strict=True))
    counts = {
        "kept": sum(min(b, a) for b, a in pairs), "removed": sum(max(b - a, 0) for b, a in pairs),
        "repeated": sum(max(a - b, 0) for b, a in pairs), "new": sum(new),
        "relabelled": sum(a for (_, a), changed in zip(pairs, relabelled, strict=True) if changed),
    }  # fmt: skip
    # what tells rows apart: their features, their ids as well, or (where nothing is added) their ids alone
    ways = ["features", "both"] if new or counts["repeated"] else ["features", "both", "ids"]
    by = draw(st.sampled_from(ways))
    made = [
        Dataset(
            [[1, 1] if by == "ids" else [key, -key] for key, _ in rows],
            [label for _, label in rows],
            ids=None if by == "features" else [f"row {key}" for key, _ in rows],
        )
        for rows in (rows_before, rows_after)
    ]
    counts["edited"] = 0
    return *made, counts


def arms_of(before, after):
    places = np.arange(len(before)), AFTER + np.arange(len(after))
    samples = [Sample(rows, data.weights) for rows, data in zip(places, (before, after), strict=True)]
    return Arms(compare(before, after), *samples)


@quick
@given(curations())
def test_counts(curation):
    before, after, counts = curation
    change = compare(before, after)
    assert {name: change.to_dict()[name] for name in counts} == counts
    assert change.kept + change.removed == len(before)
    assert change.kept + change.repeated + change.new == len(after)
    same = compare(before, before)
    assert same.counts == dict.fromkeys(same.counts, 0) | {"kept": len(before)}
    keys = (before.ids, after.ids) if change.by == "ids" else (before.X[:, 0], after.X[:, 0])
    for i, origin in enumerate(change.origin):  # each row is traced to one of its own key
        assert keys[0][origin] == keys[1][i] if origin >= 0 else keys[1][i] not in keys[0]
        assert change.relabelled[i] == (origin >= 0 and before.y[origin] != after.y[i])


def test_labels_names_and_ids_decide_which_row_is_which():
    """A file written anew counts its rows from 0 again: the features say what is what."""
    before = Dataset([[1.0], [1.0]], [0, 1])
    for rows in ([1], [1, 0]):
        change = compare(before, before.take(rows))
        assert (change.origin.tolist(), change.relabelled.any()) == (rows, False)
    before = Dataset([[1.0, 2.0], [3.0, 4.0]], [0, 1], names=["a", "b"])
    assert compare(before, Dataset([[4.0, 3.0], [2.0, 1.0]], [1, 0], names=["b", "a"])).kept == 2
    assert compare(before, Dataset([[1.0, 2.0], [3.0, 4.0]], [0, 1], names=["a", "c"])).kept == 0
    before = Dataset([[1.0], [2.0], [3.0], [4.0]], [0, 1, 0, 1], ids=["a", "b", "c", "d"])
    change = compare(before, Dataset([[1.0], [2.5], [3.0]], [0, 1, 1], ids=["a", "b", "c"]))
    assert (change.origin.tolist(), change.edited.tolist()) == ([0, 1, 2], [False, True, False])
    assert (change.relabelled.tolist(), change.own.tolist()) == ([False, False, True], [1, 2])
    before = classes(20, seed=0)
    numbered = Dataset(before.X, before.y, ids=range(20))
    rest = before.take(range(5, 20))
    change = compare(numbered, Dataset(rest.X, rest.y, ids=range(15)))
    assert (change.by, change.origin.tolist()) == ("features", list(range(5, 20)))
    assert not change.edited.any()


def test_a_change_in_words():
    before = Dataset([[1.0], [2.0], [3.0], [4.0]], [0, 1, 1, 0])
    after = Dataset([[1.0], [1.0], [2.0], [9.0]], [0, 0, 0, 1])
    assert str(compare(before, after)) == "2 kept, 2 removed, 1 new, 1 repeated, 1 relabelled"
    assert not compare(before, before.with_labels(["0", "1", "1", "0"])).relabelled.any()
    # classes, not numbers
    assert compare(before, before.with_labels(before.y + 1e-7)).counts["relabelled"] == 4
    X = before.X + np.array([[0.5], [0], [0], [0]])
    change = compare(*(Dataset(some, before.y, ids=range(4)) for some in (before.X, X)))
    assert str(change) == "4 kept, 1 edited"
    assert change.to_dict() == {**change.counts, "unchanged": 3, "matched_by": "ids"}


@quick
@given(curations(), st.integers(0, 2**32 - 1))
def test_a_random_change_of_the_same_size_has_rows_of_before_only(curation, seed):
    before, after, _ = curation
    arms = arms_of(before, after)
    made, change = arms.at_random(np.random.default_rng(seed)), arms.change
    assert len(set(made.rows)) == len(made.rows) == len(before) - max(0, change.removed - change.new)
    assert set(made.rows) <= set(range(len(before)))
    if change.repeated:  # as often as copies were
        kept = change.origin[change.origin >= 0]
        given = np.sort(np.unique(kept, return_counts=True)[1])[::-1][: len(made.rows)]
        assert np.sort(made.weights)[::-1][: len(given)].tolist() == given.tolist()


def test_a_random_change_is_blind_to_what_was_removed():
    """Each row survives with the same probability: 400 changes that keep 5 of 10. Every count is
    Binomial(400, ½), standard deviation 10; outside 200 ± 60 with probability below 2e-8."""
    before = classes(10, seed=0)
    arms = arms_of(before, before.take(range(5)))
    rng = np.random.default_rng(0)
    kept = np.bincount(np.concatenate([arms.at_random(rng).rows for _ in range(400)]), minlength=10)
    assert kept.sum() == 2_000
    assert np.abs(kept - 200).max() <= 60


@pytest.mark.parametrize(("off", "kept"), [(5e-6, 40), (5e-5, 39)])
def test_rows_are_compared_to_six_digits(off, kept):
    before = classes(40, seed=0)
    X = before.X.copy()
    X[7] *= 1 + off
    change = compare(before, Dataset(X, before.y))
    assert (change.kept, change.new) == (kept, 40 - kept)


def test_which_twin_stayed_is_counted_as_by_hand():
    """Against a loop over all sets of rows with the same features and several labels."""
    rng = np.random.default_rng(4)
    rows, labels = rng.integers(12, size=60), rng.choice(["a", "b", "c"], size=60)
    kept = rng.random(60) < 0.6
    sets = {row: np.flatnonzero(rows == row) for row in set(rows.tolist())}
    several = [some for some in sets.values() if len(set(labels[some])) > 1]
    thinned = [some for some in several if 0 < kept[some].sum() < len(some)]
    stayed = Counter(labels[i] for some in thinned for i in some if kept[i])
    gone = Counter(labels[i] for some in thinned for i in some if not kept[i])
    told = {"sets": len(several), "thinned": len(thinned), "stayed": dict(stayed), "gone": dict(gone)}
    assert which_twins(rows, labels, kept) == told
    assert which_twins(np.arange(60), labels, kept) is None
    for names, found in ((20, True), (21, False)):  # more labels than that are numbers
        many = np.concatenate([np.arange(names), [0]]).astype(str)
        same = np.array([*range(names), 1])
        assert (which_twins(same, many, np.ones(names + 1, dtype=bool)) is not None) == found


@pytest.mark.parametrize(("off", "changed"), [(0.9e-5, 0), (1.2e-5, 40)])
def test_numeric_labels_are_compared_to_six_digits(off, changed):
    rng = np.random.default_rng(0)
    before = Dataset(rng.normal(size=(40, 2)), rng.uniform(100.0, 200.0, 40))
    assert compare(before, before.with_labels(before.y * (1.0 + off))).counts["relabelled"] == changed
    assert compare(before, before.with_labels(before.y.astype(np.float32))).counts["relabelled"] == 0
