"""Audits: verdicts where the truth is known, every design, callables that must not see what scores them."""

import math

import numpy as np
import pyarrow as pa
import pytest
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_info, threadpool_limits

import dataworth as dw
from dataworth.data.dataset import Dataset
from dataworth.data.order import canonical
from dataworth.measure.intervals import negligible
from dataworth.yardstick.yardstick import Yardstick
from worlds import classes, flipped, held_out, on_the_yardstick, yardstick

DATA = classes(160, seed=1)
NOISY, BAD = flipped(DATA, 0.35, seed=1)
FILTERED = NOISY.take(~BAD)
SHUFFLED = DATA.with_labels(np.random.default_rng(1).permutation(DATA.y))
SMALL_PAIRS = {"pairs": 40, "size": 20}


def audit(before, after=None, **options):
    return dw.audit(before, after, held_out(), yardstick=yardstick(), **{"ignore": "all", **options})


def true_rows(D):
    """Rows whose label is the more probable one: a filter that knows the truth."""
    return D.take((D.X[:, 0] - D.X[:, 1] > 0) == (D.y == 1))


@pytest.mark.parametrize(
    "options", [{}, {"design": "matched"} | SMALL_PAIRS, {"design": "proportional"} | SMALL_PAIRS]
)
def test_a_filter_of_wrong_labels_raises_the_information(options):
    """A third of the labels wrong, then removed: shown for each of 30 seeds, in all three designs. Blind
    baselines find many of them: informative for 25, recycled for 5 in the design whole."""
    result = audit(NOISY, FILTERED, **options)
    rate = options.get("design") == "proportional"  # which has no baselines
    assert result.verdict in (("improved",) if rate else ("informative", "improved", "recycled"))
    assert result.interval[0] > 0
    assert result.delta == pytest.approx(result.after - result.before)
    assert result.control.excess_over_random == pytest.approx(result.after - result.control.value)


@pytest.mark.parametrize("options", [{}, {"design": "matched"} | SMALL_PAIRS])
def test_shuffled_labels_are_harmful(options):
    """Harmful for each of 30 seeds, in both designs."""
    result = audit(DATA, SHUFFLED, **options)
    assert result.verdict == "harmful"
    assert result.interval[1] < 0
    assert result.accuracy_delta < 0


@pytest.mark.parametrize(("data", "prior"), [(DATA, None), (NOISY, 1e-4), (DATA.take(range(6)), 1e4)])
def test_doubling_changes_nothing_under_any_prior(data, prior):
    """Rows count as often as suits them anyway: no chance involved."""
    yard = yardstick() if prior is None else Yardstick.fit(held_out(), prior_variance=prior)
    rows = np.random.default_rng(0).permutation(np.tile(np.arange(len(data)), 2))
    result = dw.audit(data, data.take(rows), held_out(), yardstick=yard, ignore="all")
    assert abs(result.delta) < negligible(result.details.rows_per_test)
    assert result.verdict == "unchanged"


def test_self_labelled_rows_are_never_informative():
    """120 rows labelled by a model of the other 40; informative for none of 30 seeds."""
    few = DATA.take(range(40))
    own = LogisticRegression().fit(few.X, few.y).predict(DATA.X[40:])
    result = audit(few, Dataset.concat([few, Dataset(DATA.X[40:], own)]))
    assert result.verdict != "informative"
    assert result.change["new"] == 120


def test_truly_new_rows_are_informative_where_data_are_poor():
    """292 rows added to 8, which say little of twelve features; informative for each of 30 seeds."""
    data, T = classes(300, seed=1, d=12), classes(300, seed=2_000, d=12)
    result = dw.audit(data.take(range(8)), data, T, prior_variance=1.0, ignore="all")
    assert result.verdict == "informative"
    assert (result.change["kept"], result.change["new"], result.change["removed"]) == (8, 292, 0)


def test_calibration_is_the_log_loss_as_trained_and_at_the_best_tempering():
    """Raw: rows count as given, by the model's own predictive; doubling them moves it, and not the other."""
    test, data = held_out(), classes(120, seed=1)
    yard = yardstick()
    found = dw.audit(data, data.take(np.r_[:120, :120]), test, yardstick=yard, ignore="all").calibration
    x, y = yard.features(test), yard.targets(test)
    for raw, times in ((found.raw_before, 1.0), (found.raw_after, 2.0)):
        fit = yard.model.fit(yard.features(data), yard.targets(data), np.full(120, times))
        p = fit.predict_proba(x)[np.arange(len(y)), y.astype(int)]
        assert raw == pytest.approx(-np.log(p).mean(), abs=2e-3 if times == 1.0 else 0.05)
    assert found.raw_before != pytest.approx(found.raw_after, abs=1e-6)
    assert found.tempered_before == pytest.approx(found.tempered_after, abs=1e-12)
    assert found.tempered_before < min(found.raw_before, found.raw_after) + 0.01


def test_arms_are_what_scores_are_made_of():
    """Each arm of the design whole is the score of that dataset alone, on the same blocks."""
    result = audit(NOISY, FILTERED, seed=3)
    for arm, data in (("before", NOISY), ("after", FILTERED)):
        alone = dw.score(data, held_out(), yardstick=yardstick(), seed=3)
        assert result.table.column("pmi", arm) == pytest.approx(alone.table.column("pmi", "data"), abs=1e-5)
        assert result.table.column("accuracy", arm) == pytest.approx(alone.table.column("accuracy", "data"))
        assert result.table.column("data_rows", arm).tolist() == [len(data)] * len(held_out())
    changes = result.table.change("pmi", "after", "before")
    assert result.delta == pytest.approx(changes.mean())
    assert result.stderr == pytest.approx(changes.std(ddof=1) / math.sqrt(len(held_out())))


def test_edited_features_count_as_they_are_after():
    """Rows kept by their ids, their features replaced by noise: the same harm as without ids."""
    ids = [f"row {i}" for i in range(160)]
    noise = np.random.default_rng(0).normal(size=(160, 3))
    noise[:40] = DATA.X[:40]
    before, after = Dataset(DATA.X, DATA.y, ids=ids), Dataset(noise, DATA.y, ids=ids)
    result = audit(before, after)
    assert result.change["edited"] == 120
    anonymous = audit(DATA, Dataset(noise, DATA.y))
    assert result.delta == pytest.approx(anonymous.delta, abs=1e-5)
    assert result.interval[1] < 0


def test_rows_are_matched_in_the_design_row():
    """Half of `before` removed: what is drawn loses about half, and the control loses as many. A count is
    hypergeometric with mean 20 and standard deviation 2.8; the mean of 30 within 5 of its deviations."""
    table = audit(DATA, DATA.take(range(0, 160, 2)), design="matched", pairs=30, size=40).table
    before, after, control = (table.column("data_rows", arm) for arm in ("before", "after", "control"))
    assert (before == 40).all()
    assert (after == control).all()
    assert abs(after.mean() - 20) < 5 * 2.8 / math.sqrt(30)
    assert after.std() > 0


@pytest.mark.parametrize(
    ("design", "before", "after", "rows"),
    [
        ("matched", DATA, Dataset.concat([DATA, classes(80, seed=9)]), (40, 60, 40)),  # 80 new to 160 old
        ("proportional", NOISY, FILTERED, (40, 26, 26)),  # 40·104/160
        ("proportional", FILTERED, NOISY, (40, 62, 62)),
        ("equal-size", NOISY, FILTERED, (40, 40)),
    ],
)
def test_rows_of_every_arm_in_the_designs_that_draw(design, before, after, rows):
    table = audit(before, after, design=design, pairs=3, size=40).table
    own = [table.column("data_rows", arm).tolist() for arm in ("before", "after", "control")[: len(rows)]]
    assert own == [[float(n)] * 3 for n in rows]


def test_a_method_that_looks_at_the_test_set_is_scored_on_other_rows():
    before, test = (
        Dataset(data.X, data.y, ids=[f"{name}{i}" for i in range(len(data))])
        for name, data in (("d", DATA), ("t", held_out()))
    )
    seen = []

    def curate(D, T):
        assert set(D.ids) <= set(before.ids)
        seen.append(T.ids.tolist())
        return D.take(range(len(D) // 2))

    options = {"yardstick": yardstick(), "pairs": 6, "size": (20, 15), "keep_data": True}
    result = dw.audit(before, test=test, curate=curate, **options)
    assert result.design == "method"
    for i, shown in enumerate(seen):
        scored = canonical(test).ids[result.case.design.draw(i).test.rows - len(before)].tolist()
        assert len(shown) == len(set(shown)) == len(scored) == len(set(scored)) == 15
        assert not set(shown) & set(scored)
    assert len(seen) == len({tuple(s) for s in seen}) == 6


def test_randomness_of_a_method_comes_from_the_seed():
    """Without any, a callable in the design whole is what it makes."""
    by_callable, by_data = audit(NOISY, curate=true_rows, design="whole"), audit(NOISY, true_rows(NOISY))
    assert (by_callable.delta, by_callable.change) == (by_data.delta, by_data.change)
    drawn = []

    def thin_out(D, *, rng):
        rows = rng.permutation(len(D))[: len(D) // 2]
        drawn.append(rows.tolist())
        return D.take(rows)

    tables = [audit(NOISY, curate=thin_out, pairs=5, size=20, seed=s).table.pmi.tobytes() for s in (1, 1, 2)]
    assert tables[0] == tables[1] != tables[2]
    assert drawn[:5] == drawn[5:10] != drawn[10:]
    assert len({tuple(rows) for rows in drawn[:5]}) == 5  # each pair has its own
    whole = [audit(NOISY, curate=thin_out, design="whole", seed=s).delta for s in (1, 1, 2)]
    assert whole[0] == whole[1] != whole[2]


def test_a_method_is_scored_on_what_it_made():
    """Pairs that draw the whole test set: the arm `after` is the PMI of what the method returned."""
    yard, fresh, made = yardstick(), classes(15, seed=33), []

    def expected(data):
        counted = on_the_yardstick(data).with_weights([yard.tempering] * len(data))
        return dw.pmi(counted, on_the_yardstick(held_out()), model=yard.model).value

    for rework in (lambda D: fresh, lambda D: Dataset.concat([D.with_labels(1 - D.y), fresh])):
        made.clear()
        found = audit(DATA, curate=lambda D, f=rework: made.append(f(D)) or made[-1], pairs=3, size=(20, 200))
        after = found.table.column("pmi", "after")
        assert after == pytest.approx([expected(one) for one in made[-3:]], abs=1e-5)


def test_an_audit_runs_on_one_thread():
    """Threads that share small matrices wait for one another: twenty times as long on a shared machine."""
    seen = []
    with threadpool_limits(2):
        audit(
            DATA,
            curate=lambda D: seen.append({pool["num_threads"] for pool in threadpool_info()}) or D,
            pairs=2,
            size=20,
        )
    assert seen
    assert all(counts == {1} for counts in seen)


def test_moved_classes_and_lost_categories_are_named_first():
    """Recoded colours and dropped labels: what moved, by how much, and what the test set has."""
    rng = np.random.default_rng(0)
    frame = pa.table({"kind": rng.choice(["red", "green", "blue"], 400), "x": rng.normal(size=400)})
    y = np.where(frame["x"].to_numpy() + rng.normal(size=400) > 0, "yes", "no")
    before, test = Dataset(frame.slice(0, 200), y[:200]), Dataset(frame.slice(200), y[200:])
    kinds = np.array(frame["kind"].to_pylist()[:200])
    recoded = frame.slice(0, 200).set_column(0, "kind", [np.where(kinds == "red", "crimson", kinds)])
    kept = np.flatnonzero((y[:200] == "yes") | (np.arange(200) % 2 == 0))
    notes = dw.audit(before, Dataset(recoded, y[:200]).take(kept), test, ignore="all").notes
    shares = [np.mean(one == "yes") for one in (y[:200], y[:200][kept], y[200:])]
    assert any("yes {:.0%} → {:.0%} (test {:.0%})".format(*shares) in note for note in notes)
    red = sum(kind == "red" for kind in frame["kind"].to_pylist()[200:])
    assert any(f"has no 'red', which {red} test rows have" in note for note in notes)
    plain = dw.audit(before, before.take(range(0, 200, 2)), test, ignore="all").notes
    assert not any("has no" in note for note in plain)
