"""Blind baselines: one contract for every strategy, then what each answers to each kind of change."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import dataworth as dw
from dataworth.curation import RandomSubset
from dataworth.data.changes import compare
from dataworth.measure.designs import Sample
from dataworth.valuation.audit import baselines
from dataworth.valuation.audit.arms import Arms, Curated
from dataworth.valuation.audit.attribution import check
from dataworth.valuation.audit.baselines import BASELINES, GROUP, all_baselines, budget_of, other_labels
from dataworth.valuation.audit.edits import EDITORS, Cells
from dataworth.valuation.audit.out_of_fold import CrossFit, lowest_k
from golden.sentences import all_refused
from worlds import classes, flipped, held_out, mixed, numeric_labels, with_ids, yardstick

YARD = yardstick()
CLEAN = classes(150, seed=1)
NOISY, BAD = flipped(CLEAN, 0.15, 1)
LEARNT = ("yardstick", "boosting", "ensemble", "pruned_ensemble")


def curated(before, after):
    """As in an audit: rows before, then rows that differ."""
    change = compare(before, after)
    rows = change.origin.copy()
    rows[change.own] = len(before) + np.arange(len(change.own))
    arms = Arms(change, Sample(np.arange(len(before)), before.weights), Sample(rows, after.weights))
    return Curated(before, after, arms)


def proposals(before, after, yard=YARD, known=None):
    """All that is proposed, by name; several of one strategy are numbered. And the predictions."""
    one = curated(before, after)
    budget = budget_of(one, yard)
    new = after.take(one.arms.new)
    learn = CrossFit(before, yard.features(before), yard)
    known = known or learn((new, yard.features(new)) if budget.added else None)
    known = replace(known, test=held_out().X[:, : before.n_features])
    made = {}
    for strategy in BASELINES:
        if strategy.applies(budget):
            found = [*strategy.propose(before, budget, known, np.random.default_rng(0))]
            for k, proposal in enumerate(found):
                name = f"{strategy.name} {k + 1}" if len(found) > 1 else strategy.name
                made[name] = check(strategy.name, proposal, budget, known)
    return made, known, budget


def named(made, grid=False):
    return {name: one for name, one in made.items() if ("_grid" in name) == grid}


MORE = classes(40, seed=9)
CHANGED = {
    "nothing": lambda d: d,
    "removed": lambda d: d.take(range(20, len(d))),
    "all removed": lambda d: classes(30, seed=8) if d.y.dtype.kind in "iu" else numeric_labels(30, 8, d=2),
    "relabelled": lambda d: d.with_labels(np.r_[d.y[:30][::-1], d.y[30:]]),
    "added": lambda d: dw.Dataset.concat([d, MORE if d.y.dtype.kind in "iu" else numeric_labels(40, 9, d=2)]),
    "reweighted": lambda d: d.with_weights(np.linspace(0.1, 3.0, len(d))),
    "repeated": lambda d: d.take(np.r_[: len(d), :10, :10]),
    "edited": lambda d: dw.Dataset(d.X * 1.5, d.y, ids=d.ids, groups=d.groups),
    "several": lambda d: d.with_labels(np.r_[d.y[:30][::-1], d.y[30:]]).take(np.r_[10 : len(d), 50:60]),
}


@cache
def world(name):
    ids = np.arange(120)
    if name == "numeric":
        data = numeric_labels(120, seed=6, d=2)
        return dw.Dataset(data.X, data.y, ids=ids), dw.Yardstick.fit(numeric_labels(160, seed=5, d=2))
    X, y = NOISY.X[:120], np.array(NOISY.y[:120])
    if name == "one class":
        y[:] = 1
    groups = ids // 3 if name == "grouped" else None
    return dw.Dataset(X, y, ids=ids, groups=groups), YARD


@pytest.mark.parametrize("change", CHANGED)
@pytest.mark.parametrize("kind", ["two classes", "one class", "grouped", "numeric"])
def test_every_strategy_keeps_the_contract(kind, change):
    """Rows of `before` once each, then new ones; its labels or the models'; the budget; pure in its rng."""
    before, yard = world(kind)
    after = CHANGED[change](before)
    made, known, budget = proposals(before, after, yard)
    again, _, _ = proposals(before, after, yard, known)
    blind = again
    if budget.added:  # the labels of new rows move nothing
        new = curated(before, after).arms.new
        blind, _, _ = proposals(before, after.with_labels(np.where(new, after.y[::-1], after.y)), yard)
    said = {*known.targets, *(one for name in known.predictions for one in known.labels(name))}
    said |= {one for name in known.added for one in known.added_labels(name)}
    for name, one in made.items():
        for same in (again[name], blind[name]):
            assert all(np.array_equal(a, b) for a, b in zip(one, same, strict=True) if a is not None), name
        old = one.rows[one.rows < budget.rows]
        assert len(set(one.rows)) == len(one.rows)
        assert set(one.rows) - set(old) <= set(budget.rows + np.arange(budget.added))
        changed = one.targets[: len(old)] != known.targets[old]
        if name != "affine_labels":
            assert changed.sum() <= budget.relabelled
            assert set(one.targets) <= said
        dropped = budget.rows - len(old)
        assert dropped <= budget.n_changed
        if "drop" not in name and "_grid" not in name and name not in ("affine_labels", "test_moments"):
            assert dropped == budget.removed
            if budget.reassigned is not None:
                assert sorted(one.weights[: len(old)]) == pytest.approx(sorted(budget.reassigned))
        assert (one.cells is not None) == (name in {*EDITORS, "test_moments"})


def test_a_removal_is_answered_by_the_removal_of_as_many_doubted_rows():
    made, known, _ = proposals(NOISY, NOISY.take(~BAD))
    assert set(named(made)) - {"drop, near-deduplicate"} == set(LEARNT)
    for name, one in ((name, made[name]) for name in LEARNT):
        gone = np.setdiff1d(np.arange(len(NOISY)), one.rows)
        assert set(gone) == set(lowest_k(known.self_confidence(name), int(BAD.sum())))
    data = dw.Dataset.concat([NOISY, NOISY.take(range(20))])
    made, _, _ = proposals(data, data.take(range(158)))  # 12 rows removed, of 20 copies
    assert made["drop, deduplicate"].rows.tolist() == [*range(150), *range(162, 170)]
    few, _, _ = proposals(data, data.take(range(145)))
    assert few["drop, deduplicate"].rows.tolist() == [*range(150)]
    assert "drop, deduplicate" not in proposals(NOISY, NOISY.take(~BAD))[0]


def test_a_removal_is_answered_by_dropping_what_is_least_like_the_test_set():
    """Half of the rows lie elsewhere: a classifier that never sees a label finds them."""
    far = dw.Dataset(CLEAN.X + 4.0, CLEAN.y)
    data = dw.Dataset.concat([CLEAN, far])
    learners = CrossFit(data, YARD.features(data), YARD)
    alike = learners.resemblance(held_out())
    assert np.array_equal(alike, learners.resemblance(held_out().with_labels(held_out().y[::-1])))
    known = replace(learners(), resemblance=alike)
    made, _, _ = proposals(data, data.take(range(150)), known=known)
    assert (made["resemblance"].rows < 150).mean() > 0.95


def test_a_correction_is_answered_by_as_many_relabelled_rows_at_most():
    made, known, _ = proposals(NOISY, CLEAN)
    chance = [f"random_relabel {k + 1}" for k in range(8)]
    assert set(named(made)) == {*LEARNT, "drop, pruned_ensemble", *chance}
    k, moved = int(BAD.sum()), []
    for name, one in named(made).items():
        changed = set(one.rows[one.targets != known.targets[one.rows]])
        if name in chance:
            assert len(changed) == k
            moved.append(changed)
        elif name == "drop, pruned_ensemble":
            assert not changed
            assert set(one.rows) == set(range(150)) - set(
                lowest_k(known.self_confidence("pruned_ensemble"), k)
            )
        else:  # of the k most doubted, those whose label is less likely than the other
            confidence = known.self_confidence(name)
            assert changed == {row for row in lowest_k(confidence, k) if confidence[row] < 0.5}
    assert len({frozenset(one) for one in moved}) == 8


def test_random_labels_are_any_of_the_others():
    rng, given = np.random.default_rng(0), np.arange(3000) % 3.0
    other = other_labels(given, 3, rng)
    assert not (other == given).any()
    assert abs(((other - given) % 3 == 1).mean() - 0.5) < 4 * 0.5 / 3000**0.5  # false alarm 6e-5
    numbers = rng.normal(size=50)
    moved = other_labels(numbers, 0, rng)
    assert sorted(moved) == sorted(numbers)
    assert (moved != numbers).any()


def test_new_rows_are_labelled_by_every_learner():
    made, known, _ = proposals(NOISY, dw.Dataset.concat([NOISY, MORE]))
    assert set(made) == {*LEARNT, "linear", "label_spreading"}
    for name, one in made.items():
        assert np.array_equal(one.rows, np.arange(190))
        assert np.array_equal(one.targets, np.r_[known.targets, known.added[name].argmax(axis=1)])


def test_repeated_rows_are_answered_by_repeating_other_rows():
    chosen = np.arange(0, 150, 5)
    made, known, _ = proposals(CLEAN, CLEAN.take(np.r_[:150, chosen, chosen]))
    orders = {
        "": known.self_confidence,
        "least confident": lambda name: -known.self_confidence(name),
        "smallest margin": lambda name: -np.abs(known.predictions[name][:, 1] - 0.5),
    }
    for name, one in made.items():
        assert sorted(one.weights) == [1.0] * 120 + [3.0] * 30
        learner, _, order = name.partition(", weights to ")
        if order != "random rows":
            by = orders[order](learner)
            assert by[one.weights == 3].min() >= by[one.weights == 1].max()
    assert {name.partition(", weights to ")[2] for name in made} == {*orders, "random rows"}
    assert len(made) == 9


def test_edits_are_answered_by_dropping_as_many_doubted_rows():
    """Twenty rows edited under their ids, five of them relabelled as well."""
    X, y = NOISY.X.copy(), np.array(NOISY.y)
    X[:20] += 1.0
    y[:5] = 1 - y[:5]
    made, known, _ = proposals(with_ids(NOISY), with_ids(NOISY, X, y))
    for name in LEARNT:
        gone = set(range(150)) - set(made[f"drop, {name}"].rows)
        assert gone == set(lowest_k(known.self_confidence(name), 20))


def test_a_grid_drops_fewer_rows_than_were_changed():
    """Of 150 rows 28 are removed and 12 relabelled: 5, 10, 15 and 20 % are fewer than 40, 30 % are more."""
    y = np.array(NOISY.y)
    y[:12] = 1 - y[:12]
    made, known, _ = proposals(NOISY, NOISY.with_labels(y).take(range(122)))
    parts = {"5%": 8, "10%": 15, "15%": 22, "20%": 30}
    found = named(made, grid=True)
    assert set(found) == {f"drop_grid, {n}, {p}" for n in ("ensemble", "pruned_ensemble") for p in parts}
    for name, one in found.items():
        _, learner, part = name.split(", ")
        gone = set(range(150)) - set(one.rows)
        assert gone == set(lowest_k(known.self_confidence(learner), parts[part]))
    seven, _, _ = proposals(NOISY, NOISY.take(range(143)))  # 5 % are eight
    assert not named(seven, grid=True)


def test_numeric_labels_are_relabelled_by_prediction_and_by_a_grid():
    yard, data = dw.Yardstick.fit(numeric_labels(160, seed=5, d=2)), numeric_labels(100, seed=6, d=2)
    made, known, _ = proposals(data, data.with_labels(2.0 * data.y + 0.5), yard)
    assert {"gaussian_process", "affine_labels"} <= set(made)
    np.testing.assert_allclose(
        made["affine_labels"].targets, yard.targets(data.with_labels(2.0 * data.y + 0.5))
    )
    assert len(named(made, grid=True)) == 20
    one = made["relabel_grid, ensemble, 10%"]
    changed = np.flatnonzero(one.targets != known.targets)
    assert set(changed) == set(lowest_k(known.self_confidence("ensemble"), 10))
    assert np.array_equal(one.targets[changed], known.predictions["ensemble"][changed, 0])


def edits_of(before, after, label):
    change = compare(before, after)
    rows = np.flatnonzero(change.edited)
    cells = Cells.of(before, change.origin[rows], after.X[rows], label, held_out().X)
    return {name: editor(cells, np.random.default_rng(0)) for name, (editor, _) in EDITORS.items()}


def test_rescaled_and_bent_columns_are_repeated_by_lines_and_curves():
    """Of logarithms exactly; cells that were measured anew are not, for that is knowledge."""
    before, after = with_ids(CLEAN), with_ids(CLEAN, 1.0 + 0.7 * CLEAN.X)
    made = edits_of(before, after, np.eye(2)[YARD.targets(before).astype(int)])
    for name in ("affine_edit", "affine_edit_by_label"):
        np.testing.assert_allclose(made[name], after.X, atol=1e-9)
    cells = made["permute_cells"]
    np.testing.assert_allclose(np.sort(cells, axis=0), np.sort(after.X, axis=0))
    assert not np.allclose(cells, after.X)
    label = np.eye(2)[YARD.targets(CLEAN).astype(int)]
    before, after = with_ids(CLEAN), with_ids(CLEAN, np.log1p(CLEAN.X - CLEAN.X.min(axis=0)))
    np.testing.assert_allclose(edits_of(before, after, label)["monotone_edit"], after.X, atol=1e-9)
    noisy = with_ids(CLEAN, CLEAN.X + 0.5 * np.random.default_rng(0).normal(size=CLEAN.X.shape))
    made = edits_of(noisy, before, label)["monotone_edit"]
    left = [np.mean((X - CLEAN.X) ** 2) for X in (noisy.X, made)]
    assert 0.6 * left[0] < left[1] < left[0]


def test_columns_are_moved_to_the_moments_of_the_test_set():
    """Those that were edited; all of them, where rows gave way to new ones, of which there then are none."""
    goal, moved = held_out().X, 5.0 + 3.0 * CLEAN.X
    some = moved.copy()
    some[:, 1:] = CLEAN.X[:, 1:]
    for before, after in ((with_ids(CLEAN, some), with_ids(CLEAN)), (with_ids(CLEAN, moved), MORE)):
        one = proposals(before, after)[0]["test_moments"]
        edited = slice(0, 1 if after is not MORE else 3)
        assert one.rows.max() < len(CLEAN)
        assert len(one.rows) == len(CLEAN) - (110 if after is MORE else 0)
        for moment in (np.mean, np.std):
            np.testing.assert_allclose(moment(one.cells, axis=0)[edited], moment(goal, axis=0)[edited])
        assert np.array_equal(np.delete(one.cells, edited, 1), np.delete(before.X, edited, 1))


@pytest.mark.parametrize("many", [2, 3])
def test_a_shrinking_to_class_means_is_repeated_with_the_label(many):
    y = np.random.default_rng(0).integers(0, many, len(CLEAN))
    X = CLEAN.X + np.random.default_rng(1).normal(size=(many, 3))[y]  # in no order of the classes' numbers
    centres = np.array([X[y == k].mean(axis=0) for k in range(many)])[y]
    before, after = with_ids(CLEAN, X, y), with_ids(CLEAN, 0.8 * X + 0.2 * centres, y)
    made = edits_of(before, after, np.eye(many)[y])
    np.testing.assert_allclose(made["affine_edit_by_label"], after.X, atol=1e-9)
    towards, spread = made["class_mean_edit"], X.std(axis=0)
    walked, asked = (np.linalg.norm((new - X) / spread, axis=1) for new in (towards, after.X))
    np.testing.assert_allclose(walked, asked, rtol=1e-6)
    # straight on
    np.testing.assert_allclose(towards, after.X, atol=0.2 * 0.01 * np.abs(centres - X).max())


def test_edits_of_missing_cells_and_categories():
    """Filled cells become the mean of the new ones; categories are permuted; nothing else moves."""
    before = mixed(60, 1)
    X = before.X.copy()
    missing = np.flatnonzero(np.isnan(X[:, 1]))
    X[missing, 1] = np.arange(len(missing))
    X[:9, 0] = (X[:9, 0] + 1) % 3
    X[np.setdiff1d(np.arange(20, 40), missing)[:3], 1] = np.nan
    after = before.with_features(X)
    made = edits_of(before, after, np.eye(2)[(before.y == before.y[0]).astype(int)])
    old, filled = before.X, np.isnan(before.X[:, 1])
    np.testing.assert_allclose(made["affine_edit"][filled, 1], np.mean(np.arange(len(missing))))
    for name in ("affine_edit", "affine_edit_by_label", "class_mean_edit"):
        assert np.array_equal(made[name][:, 0], old[:, 0])
        assert np.array_equal(made[name][~filled, 1], old[~filled, 1])
        assert np.isfinite(made[name][:, 1]).all()
    permuted = made["permute_cells"]
    assert sorted(permuted[filled, 1]) == list(range(len(missing)))
    assert 0 < (permuted[:, 0] != old[:, 0]).sum() <= 9
    assert np.array_equal(permuted[~filled, 1], old[~filled, 1])


def test_a_row_that_was_edited_and_repeated_is_one_edited_row():
    """Of 150 edited rows 60 come twice: no editor has more cells than rows to put them in."""
    before = with_ids(CLEAN)
    after = with_ids(CLEAN, CLEAN.X + np.random.default_rng(0).normal(size=CLEAN.X.shape))
    made, _, budget = proposals(before, after.take(np.r_[:150, :60]))
    assert budget.edited.tolist() == [*range(150)]
    np.testing.assert_allclose(np.sort(made["permute_cells"].cells, axis=0), np.sort(after.X, axis=0))


def test_editors_are_not_told_which_cells_were_wrong():
    """A unit error in a fifth of the rows: a line through old and new cells moves all rows alike."""
    wrong = np.arange(len(CLEAN)) % 5 == 0
    X = CLEAN.X.copy()
    X[wrong, 0] = 100.0 * X[wrong, 0] + 7.0
    before, after = with_ids(CLEAN, X), with_ids(CLEAN)
    made = edits_of(before, after, np.eye(2)[YARD.targets(after).astype(int)])
    np.testing.assert_allclose(made["affine_edit"][wrong, 0], CLEAN.X[wrong, 0], atol=1e-9)
    np.testing.assert_allclose(made["affine_edit"][~wrong, 0], (CLEAN.X[~wrong, 0] - 7.0) / 100.0, atol=1e-9)
    moved = made["permute_cells"][:, 0] != X[:, 0]
    assert moved.sum() == wrong.sum()
    assert not np.array_equal(moved, wrong)


class Oracle:
    """Knows which labels are right: whoever gives it as an opponent cannot be informative."""

    name, label, cost = "oracle", "an oracle", "cheap"

    def applies(self, budget):
        return budget.relabelled > 0

    def propose(self, before, budget, out_of_fold, rng):
        yield Sample(np.arange(budget.rows), targets=YARD.targets(CLEAN)[: budget.rows])


def with_baselines(*more, **options):
    return dw.audit(NOISY, CLEAN, held_out(), yardstick=YARD, ignore="all", baselines=more, **options)


def test_other_strategies_are_more_opponents(monkeypatch):
    found = with_baselines(Oracle(), RandomSubset(0.9))
    assert found.attribution.external_gain.value <= 1e-6
    arms = {str(arm): arm.label for arm in found.table.arms}
    assert arms["oracle"] == "an oracle"
    assert "baselines=[oracle, random-subset]" in found.replay.command
    assert found.table.column("data_rows", "random-subset").tolist() == [135.0] * len(held_out())

    class Point:
        @staticmethod
        def load():
            return Oracle

    monkeypatch.setattr(baselines, "entry_points", lambda group: [Point] if group == GROUP else [])
    assert all_baselines()[-1].name == "oracle"


def proposing(**wrong):
    made = {"rows": np.arange(150), **wrong}
    return type("Mine", (Oracle,), {"name": "mine", "propose": lambda self, *known: [Sample(**made)]})


NO_BASELINES = [
    [3], [lambda D, T: D], [Oracle(), Oracle()], [proposing(rows=np.array([150]))],
    [proposing(targets=np.full(150, 0.5))], [proposing(weights=np.full(150, -1.0))],
    [proposing(targets=np.zeros(3))],
]  # fmt: skip


def test_sentences():
    cases = [(with_baselines, *given) for given in NO_BASELINES]
    all_refused("baselines", [*cases, (all_baselines, Oracle())])
