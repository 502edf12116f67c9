"""Dataset pairs of known mutual information, and the estimators that need no network."""

import json
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commands import call, refused
from dataworth.data.dataset import Dataset
from dataworth.evidence.pair import pmi
from dataworth.models import Linear, Logistic
from dataworth.parallel import Local
from dataworth_studies.estimators.base import Guess
from dataworth_studies.estimators.centred import CentredPMI, additive, summarise
from dataworth_studies.estimators.monte_carlo import MonteCarlo
from dataworth_studies.estimators.paper_loop import PaperLoop
from dataworth_studies.estimators.pmi import MeanPMI
from dataworth_studies.estimators.proportions import Proportions
from dataworth_studies.known_mi import Randomness, make_pairs, same_side
from dataworth_studies.mi import Plan, run_plan
from dataworth_studies.mi_error import COUNTS, log_slope, rmse_by_count
from dataworth_studies.mi_tables import all_tables, beside_paper, read_results, same_pairs, to_markdown
from dataworth_studies.pools import ImagePool
from worlds import refusal


def table_information(p):
    """I of a 2×2 table in bits, by its definition."""
    rows, columns = p.sum(axis=1, keepdims=True), p.sum(axis=0, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(np.nansum(p * np.log2(p / (rows @ columns))))


@pytest.fixture(scope="module")
def pool():
    rng = np.random.default_rng(0)
    y = np.repeat([0.0, 1.0], 150)
    return rng.normal(size=(300, 3)) + y[:, None], y


@settings(deadline=None)
@given(st.floats(0.0, 1.0))
def test_the_table_has_the_information_asked_for(bits):
    rho = same_side(bits) / 2
    assert rho >= 0.25  # the other branch reverses the ranking
    p = np.array([[rho, 0.5 - rho], [0.5 - rho, rho]])
    assert table_information(p) == pytest.approx(bits, abs=1e-9)


@pytest.mark.parametrize("bits", [0.0, 0.3, 1.0])
def test_the_rates_that_are_drawn_have_it_too(pool, bits):
    """Plug-in estimate from 20,000 pairs: its bias is 1/(2k ln 2), its error at most 0.01 (5 s.e.)."""
    chance = Randomness.draw(np.random.default_rng(1), 20_000, 4)
    pairs = make_pairs(*pool, bits, chance)
    low_data, low_test = pairs.rate_data < 0.5, pairs.rate_test < 0.5
    p = np.array([[np.mean((low_data == a) & (low_test == b)) for b in (True, False)] for a in (True, False)])
    assert table_information(p) == pytest.approx(bits, abs=0.012)
    assert set(np.unique(pairs.rate_data)) == {0.1, 0.2, 0.3, 0.4, 0.6, 0.7, 0.8, 0.9}


def test_parity_reveals_the_side_and_labels_have_their_rates(pool):
    X, y = pool
    pairs = make_pairs(X, y, 0.5, Randomness.draw(np.random.default_rng(2), 4000, 60))
    for rows, rate in ((pairs.data, pairs.rate_data), (pairs.test, pairs.rate_test)):
        assert np.array_equal(y[rows].sum(axis=1) % 2 == 1, rate < 0.5)
        zeros = (y[rows[:, :-1]] == 0).mean(axis=1)  # the last label is the parity's
        for value in np.unique(rate):
            of = zeros[rate == value]
            error = np.sqrt(value * (1 - value) / 59 / len(of))
            assert abs(of.mean() - value) < 5 * error  # 16 tests: false alarms below 1e-5
        assert len(np.unique(rows)) == len(X)  # every image of the pool is drawn


def test_common_random_numbers_change_only_what_the_level_decides(pool):
    chance = Randomness.draw(np.random.default_rng(3), 500, 30)
    low, high = make_pairs(*pool, 0.2, chance), make_pairs(*pool, 0.8, chance)
    assert np.array_equal(low.data, high.data)
    same = low.rate_test == high.rate_test
    assert 0 < same.sum() < 500
    assert np.array_equal(low.test[same], high.test[same])
    assert not (low.test[~same] == high.test[~same]).all(axis=1).any()


@pytest.mark.parametrize(
    ("y", "size", "words"),
    [
        (np.zeros(10), 4, "labels are 0"),
        (np.repeat([0.0, 1.0], 5), 11, "has only 10 rows"),
        (np.repeat([0.0, 1.0], 5), 1, "at least 2"),
        (np.array([0.0, 1.0, 2.0]), 2, "labels are 0, 1, 2"),
    ],
)
def test_pools_that_will_not_do_are_a_sentence(y, size, words):
    assert words in refusal(
        make_pairs, y[:, None], y, 0.5, Randomness.draw(np.random.default_rng(0), 3, size)
    )


def test_mean_pmi_is_the_mean_of_pmi(pool):
    X, y = pool
    pairs = make_pairs(X, y, 0.5, Randomness.draw(np.random.default_rng(4), 6, 20))
    model = Logistic(2.0, intercept=False)
    for form in ("evidence", "eta", "product"):
        expected = [
            pmi(Dataset(X[d], y[d].astype(int)), Dataset(X[t], y[t].astype(int)), model, form).value
            for d, t in zip(pairs.data, pairs.test, strict=True)
        ]
        found = MeanPMI(model, form)(pairs, 0)
        assert found.value == pytest.approx(np.mean(expected), abs=1e-6)
        assert found.stderr == pytest.approx(np.std(expected, ddof=1) / np.sqrt(6), abs=1e-6)


def test_the_papers_loop_is_eta_at_zero_but_for_its_solver(pool):
    pairs = make_pairs(*pool, 0.5, Randomness.draw(np.random.default_rng(5), 10, 30))
    ours = MeanPMI(Logistic(0.1, intercept=False), "eta").values(pairs)
    assert PaperLoop(0.1).values(pairs) == pytest.approx(ours, abs=0.01)


def test_monte_carlo_agrees_where_it_can(pool):
    """Four rows under a narrow prior: 2,000 draws say log p(T|D) to 0.02, and Laplace is as near."""
    pairs = make_pairs(*pool, 0.5, Randomness.draw(np.random.default_rng(6), 200, 4))
    model = Logistic(0.1, intercept=False)
    exact, found = MeanPMI(model).values(pairs), MonteCarlo(model).values(pairs, np.random.default_rng(0))
    assert abs((found - exact).mean()) < 0.01
    assert np.abs(found - exact).max() < 0.15


def test_centred_pmi_is_zero_for_independent_pairs_and_above_for_others(pool):
    """At λ = 0 within 4 s.e. (false alarm 1e-4); at 1 bit far above."""
    estimator = CentredPMI(Logistic(1.0, intercept=False))
    nothing, all_of_it = (
        estimator(make_pairs(*pool, bits, Randomness.draw(np.random.default_rng(7), 300, 20)), 0)
        for bits in (0.0, 1.0)
    )
    assert abs(nothing.value) < 4 * nothing.stderr
    assert all_of_it.value > 5 * all_of_it.stderr
    assert nothing.details["variance_ratio"] > 1


@pytest.mark.parametrize("effects", [0.0, 1.0, 20.0])
def test_the_centred_error_is_the_spread_over_repetitions(effects):
    """Additive effects and noise: the stated error against the spread of 400 repetitions (s.e. 3.5 %)."""
    rng = np.random.default_rng(8)
    k, shifts = 60, 8
    guesses = []
    for _ in range(400):
        alpha, beta = effects * rng.normal(size=(2, k))
        noise = rng.normal(size=(k, shifts + 1))
        noise[:, 0] *= 2.0  # true pairs may vary more than others
        table = np.array([[alpha[i] + beta[(i + s) % k] for s in range(shifts + 1)] for i in range(k)])
        guesses.append(summarise(table + noise))
    spread = np.std([g.value for g in guesses], ddof=1)
    assert np.mean([g.stderr for g in guesses]) == pytest.approx(spread, rel=0.12)


def test_what_proportions_explain_of_centred_pmi(pool):
    """All of a table of their product and effects; hardly anything (one of 601 dimensions) of noise."""
    estimator = CentredPMI(Logistic(1.0, intercept=False))
    pairs = make_pairs(*pool, 0.0, Randomness.draw(np.random.default_rng(12), 100, 20))
    data, test = pairs.y[pairs.data].mean(axis=1), pairs.y[pairs.test].mean(axis=1)
    seen = np.array([np.exp(data) - np.roll(test, -s) + 10 * data * np.roll(test, -s) for s in range(9)]).T
    assert estimator.explained(pairs, seen) == pytest.approx(1.0)
    noise = np.random.default_rng(13).normal(size=seen.shape)
    assert estimator.explained(pairs, noise) < 0.04
    assert 0.2 < estimator.explained(pairs, seen + noise) < 0.8  # the product's variance is about 0.9


def test_effects_of_rows_and_columns_are_found_exactly():
    rng = np.random.default_rng(11)
    alpha, beta = rng.normal(size=(2, 30))
    table = np.array([[alpha[i] + beta[(i + s) % 30] for s in range(1, 5)] for i in range(30)])
    (rows, columns), _ = additive(table)
    for s in range(5):  # also for s = 0, which was not shown
        assert rows + np.roll(columns, -s) == pytest.approx(alpha + np.roll(beta, -s), abs=1e-9)


def test_linear_regression_estimates_its_own_information():
    """y = Xθ + ε with θ from the prior: mean PMI against I = ½ log det of the closed form, within 4 s.e."""
    rng = np.random.default_rng(9)
    C, noise, d = 0.5, 1.0, 3
    A, B = rng.normal(size=(12, d)), rng.normal(size=(10, d))

    def log_det(*parts):
        X = np.concatenate(parts)
        return np.linalg.slogdet(np.eye(len(X)) + C / noise * X @ X.T)[1]

    information = 0.5 * (log_det(A) + log_det(B) - log_det(A, B))
    model = Linear(C, noise, intercept=False)
    fitter_rows = np.arange(12), np.arange(12, 22)
    values = []
    for _ in range(4000):
        theta = rng.normal(size=d) * np.sqrt(C)
        X = np.concatenate([A, B])
        y = X @ theta + rng.normal(size=22) * np.sqrt(noise)
        fitter = model.bind(X, y)
        parts = [fitter(rows).log_z for rows in (*fitter_rows, np.arange(22))]
        values.append(parts[2] - parts[0] - parts[1])
    assert abs(np.mean(values) - information) < 4 * np.std(values) / np.sqrt(4000)


@dataclass(frozen=True)
class Correlation:
    """An estimator of a user: how proportions of labels go together."""

    name: str = "correlation"

    def __call__(self, pairs, seed):
        data, test = pairs.y[pairs.data].mean(axis=1), pairs.y[pairs.test].mean(axis=1)
        return Guess(float(np.corrcoef(data, test)[0, 1]))


def small_plan(pool, **changes):
    settings = {"estimator": "evidence", "prior": 1.0, "size": 20, "pairs": 40, "trials": 1} | changes
    return Plan(ImagePool("small", *pool, (1.0,)), **settings)


def test_a_study_orders_levels_by_an_estimator_of_ones_own(pool):
    found = run_plan(
        small_plan(pool, pairs=500, design="common", trials=2), Local(1), estimator=Correlation()
    )
    assert found.values.shape == (2, 11)
    assert found.correlations.min() > 0.98


def test_a_study_goes_on_where_it_stopped(pool, tmp_path):
    plan = small_plan(pool, trials=2)
    whole = run_plan(plan, Local(1))
    run_plan(small_plan(pool), Local(1), tmp_path / "run")
    done = []
    resumed = run_plan(plan, Local(1), tmp_path / "run", lambda count, total: done.append(count))
    assert done[0] == 11  # the first trial was kept
    assert np.array_equal(whole.values, resumed.values)
    assert whole.wall_seconds > 0
    assert resumed.wall_seconds is None
    assert "another configuration" in refusal(run_plan, small_plan(pool, seed=1), Local(1), tmp_path / "run")


def test_an_intercept_is_a_column_of_ones(pool):
    X, y = pool
    found, plain = (run_plan(small_plan(pool, pairs=10, intercept=flag), Local(1)) for flag in (True, False))
    other = run_plan(small_plan((np.column_stack([X, np.ones(len(y))]), y), pairs=10), Local(1))
    assert np.array_equal(found.values, other.values)
    assert not np.array_equal(found.values, plain.values)
    assert found.to_dict()["intercept"]
    assert "-intercept" in found.plan.name


RECORD = {
    **{"pool": "mnist", "features": 100, "size": 100, "design": "independent", "intercept": False},
    **{"pairs": 2000, "trials": 2, "spearman_sd": 0.01, "cpu_seconds_per_estimate": 2.0},
    "values_nats": [[1.0, 1.25], [1.0, 1.75]],
    "stderr_nats": [[0.1, 0.1], [0.1, 0.2]],
    "details": [[{"pairs": 500}]],
}


def record(estimator, prior, correlation, **other):
    own = {"spearman": [correlation] * 2, "spearman_mean": correlation}
    return RECORD | {"estimator": estimator, "prior_variance": prior} | own | other


def test_tables_show_the_best_prior_beside_the_papers_and_how_many_pairs_were_used():
    others = ({"intercept": True}, {"size": 50}, {"design": "common"})
    records = [record("eta", 1.0, 0.5), record("eta", 100.0, 0.875)]
    records += [record("eta", 100.0, 0.9, **other) for other in others]
    assert beside_paper(records).splitlines()[2:] == ["| eta | 0.875 ± 0.010 (2) | 0.967 |"]
    pair = [
        record("eta", 1.0, 0.7, spearman=[0.5, 0.9]),
        record("evidence", 1.0, 0.75, trials=1, spearman=[0.75]),
    ]
    assert same_pairs(pair).splitlines()[2:] == ["| mnist | 100 | 1 | 1 | 0.750 | 0.500 |  |  |"]
    assert same_pairs(records[:1]) == ""  # nothing to compare
    lines = to_markdown(records).splitlines()[2:]
    assert "| 500 | 2 | 0.500 ± 0.010 |" in lines[0]  # pairs that were used, not those that were asked for
    assert " | 100 + intercept | " in lines[2]


def test_an_estimator_that_fails_has_no_correlation(pool):
    def sometimes(pairs, seed):
        return Guess(np.nan if np.mean(pairs.rate_data) > 0.5 else 1.0 * seed)

    record = run_plan(small_plan(pool), Local(1), estimator=sometimes).to_dict()
    assert None in record["values_nats"][0]
    assert record["spearman"] == [None]
    json.dumps(record, allow_nan=False)
    assert " | failed | " in to_markdown([record])


def test_an_estimator_without_settings_is_the_same_estimator_again(pool, tmp_path):
    class Plain:  # no dataclass: its repr is its address
        name = "plain"

        def __call__(self, pairs, seed):
            return Guess(float(seed))

    for trials, estimator in ((1, Plain()), (2, Plain())):
        run_plan(small_plan(pool, trials=trials), Local(1), tmp_path / "run", estimator=estimator)


def test_label_proportions_alone_nearly_tell_the_information(pool):
    """Plug-in of majorities, odd sizes: the side is missed with r = .4 and .6 alone (4 % at 101 rows)."""
    for bits in (0.0, 0.5, 1.0):
        pairs = make_pairs(*pool, bits, Randomness.draw(np.random.default_rng(15), 4000, 101))
        assert Proportions()(pairs, 0).value / np.log(2) == pytest.approx(bits, abs=0.15)


def test_few_batches_do_not_make_the_error_small():
    """Ten batches of all values: their mean square, 2,000 times, is 1/k within 4 s.e. (4 %), not 0.9/k."""
    rng = np.random.default_rng(16)
    found = [rmse_by_count(rng.normal(size=100), (10, 20)) for _ in range(2000)]
    assert {tuple(one) for one in found} == {(10,)}  # fewer than ten batches are not counted
    squares = [one[10] ** 2 for one in found]
    assert 10 * np.mean(squares) == pytest.approx(1.0, abs=4 * 10 * np.std(squares) / np.sqrt(2000))


def test_the_slope_and_its_error_are_true_for_independent_values():
    """200 times 20,000 normal values: mean −½ within 4 s.e., spread as stated within 20 % (4 s.d.)."""
    rng = np.random.default_rng(14)
    found = np.array([log_slope(rmse_by_count(rng.normal(size=20_000), COUNTS), 20_000) for _ in range(200)])
    slopes, stated = found.T
    assert abs(slopes.mean() + 0.5) < 4 * slopes.std() / np.sqrt(200)
    assert stated.mean() == pytest.approx(slopes.std(ddof=1), rel=0.2)


FEW = ("--size", 10, "--pairs", 12, "--prior-variances", "1", "-j", 1, "-q")


def study(*words):
    """A study's output; it ends well."""
    code, out, err = call("study", *words)
    assert code == 0, err
    return out


def test_the_command_keeps_results_and_a_table_of_all_of_them(tmp_path):
    for estimators in ("evidence", "centred"):
        study("mi", "--estimators", estimators, *FEW, "--trials", 2, "--out", tmp_path)
    table = (tmp_path / "mi.md").read_text()
    assert "evidence" in table
    assert "centred" in table
    kept = json.loads((tmp_path / "digits20-10-independent-evidence-1.json").read_text())
    assert kept["trials"] == 2
    assert kept["spearman_mean"] == pytest.approx(np.mean(kept["spearman"]))
    assert (tmp_path / "digits-10-ranks.svg").read_text().startswith("<?xml")
    about = json.loads((tmp_path / "digits20-10-independent-evidence-1.about.json").read_text())
    assert {"command", "seed", "versions"} == set(about)
    fewer = call("study", "mi", "--estimators", "evidence", *FEW, "--trials", 1, "--out", tmp_path)
    assert "has 2 trials" in refused(fewer)


def test_a_study_of_one_level_prints_what_it_found_and_knows_former_names(tmp_path):
    """What was asked for and kept as `shares` is shown as `proportions`, beside what is kept today."""
    one = ("mi", "--levels", "0", "--estimators", "evidence,centred,shares", *FEW, "--trials", 1)
    shown = study(*one, "--out", tmp_path)
    assert "centred PMI at 0 bits" in shown
    assert "| digits | 10 | proportions |  | 0 | 1 | " in shown
    now = all_tables(read_results(tmp_path))
    for path in tmp_path.glob("*bits.json"):
        text = path.read_text().replace("explained_by_proportions", "explained_by_shares")
        path.write_text(text.replace('"proportions"', '"shares"'))
    assert "explained_by_shares" in "".join(path.read_text() for path in tmp_path.glob("*bits.json"))
    assert all_tables(read_results(tmp_path)) == now


def test_the_error_command_finds_the_slope(tmp_path):
    study("mi-error", "--axes", "3", "--size", 6, "--pairs", 1000, "-j", 1, "-q", "--out", tmp_path)
    (kept,) = json.loads((tmp_path / "digits-error.json").read_text())["curves"]
    assert (tmp_path / "digits-error.svg").exists()
    assert -0.8 < kept["slope"] < -0.2  # from 1,000 pairs, so roughly
    # both studies may keep their results in one directory
    study("mi", "--size", 6, "--pairs", 10, "--trials", 1, "-j", 1, "-q", "--out", tmp_path)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("mi --pool mnist", "--data DIR"),
        ("mi --pool imagenet", "known pools"),
        ("mi --size 5000", "only 1797 rows"),
        ("mi --estimators guess", "no estimator 'guess'"),
        ("mi --quick --pool cifar", "drop --quick"),
        ("mi --axes 100", "axes is 100"),
        ("mi-error --axes many", "axes"),
        ("mi --pairs 1", "pairs is 1"),
        ("mi --axes 0", "axes is 0"),
        ("mi --quick --size 1", "size is 1"),  # what is given is not overruled
        ("mi-error --pairs -5", "pairs is -5"),
        ("mi --prior-variances wide", "'wide'"),
        ("mi --levels 2", "give 0 to 1"),
        ("mi --levels 0.5,0.5", "rising order"),
        ("mi --seed -1", "seed is -1"),
        ("mi --design paired", "known designs"),
    ],
)
def test_bad_studies_end_with_a_sentence(words, sentence):
    assert sentence in refused(call("study", *words.split(), "-q"))
