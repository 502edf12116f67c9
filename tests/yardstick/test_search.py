"""The rule by which a yardstick is chosen, on candidates made by hand; its halves; the size of its search."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest

import dataworth as dw
from dataworth.data.dataset import Dataset
from dataworth.yardstick import search as searching
from dataworth.yardstick.probes import halves
from dataworth.yardstick.recipe import Basis
from dataworth.yardstick.search import Search, Trial, searched
from dataworth.yardstick.yardstick import Yardstick
from worlds import classes, held_out, numeric_labels, refusal


def tried(held_out, probe, stderr=0.2):
    """A candidate, known by its held-out likelihood, with what its probe will say."""
    return Trial(
        size=1, exponent=1.0, prior_variance=1.0, held_out=held_out, probe=probe, probe_stderr=stderr
    )


@dataclass(frozen=True)
class Rule(Search):
    """A search among given candidates, which remembers which it probed."""

    given: tuple[Trial, ...] = ()
    probed: list[float] = field(default_factory=list)

    def candidates(self, noises, prior_variance):
        return iter(self.given)

    def probe(self, trial):
        self.probed.append(trial.held_out)
        return trial.probe, trial.probe_stderr


def chosen(*given, **options):
    rule = Rule(None, None, None, None, [], given=given, **options)
    return rule.run((None,), None).held_out, rule.probed


# The rule


def test_the_best_calibrated_one_wins():
    assert chosen(tried(-12.0, -1.0), tried(-10.0, 1.0), tried(-11.0, -0.5)) == (-11.0, [-10.0, -11.0])


@pytest.mark.parametrize(
    ("probe", "wins"),
    [(-0.3, -10.0), (0.0, -10.0), (0.15, -10.0), (0.2, -10.0), (0.21, -11.0), (0.25, -11.0), (0.39, -11.0)],
)
def test_calibrated_is_a_probe_of_at_most_one_standard_error(probe, wins):
    assert chosen(tried(-10.0, probe, 0.2), tried(-11.0, -1.0))[0] == wins


@pytest.mark.parametrize(
    ("best", "other", "wins"),
    [
        (-10.0, -12.9, True),  # 3 nats may always be given up …
        (-10.0, -13.1, False),
        (-25.0, -27.9, True),
        (-60.0, -65.9, True),  # … and a tenth of the likelihood where that is more
        (-60.0, -66.1, False),
        (-200.0, -219.0, True),
        (-200.0, -221.0, False),
        (60.0, 54.1, True),  # densities can be above one
        (60.0, 53.9, False),
    ],
)
def test_calibration_may_cost_three_nats_or_a_tenth(best, other, wins):
    found, probed = chosen(tried(best, 1.0), tried(other, -1.0))
    assert found == (other if wins else best)
    assert probed == ([best, other] if wins else [best])


def test_if_none_is_calibrated_the_least_positive_probe_wins():
    found, probed = chosen(tried(-10.0, 2.0), tried(-11.0, 0.5), tried(-12.0, 0.7), tried(-90.0, -9.0))
    assert found == -11.0
    assert probed == [-10.0, -11.0, -12.0]


def test_no_more_than_sixty_are_probed_and_ten_of_softmax():
    many = [tried(-10.0 - i / 100, 1.0 - i / 1000) for i in range(100)]
    assert len(chosen(*many)[1]) == 60
    assert len(chosen(*many, most_probed=10)[1]) == 10
    assert (searching.MOST_PROBED, searching.PROBED_OF_SOFTMAX) == (60, 10)


def test_nothing_to_choose_from():
    assert "every feature of the test set is constant" in refusal(chosen)


# What is searched


@dataclass(frozen=True)
class Sizes(Search):
    """A search whose held-out likelihood is a given function of the features and the prior."""

    likelihood: object = None

    def held_out(self, features, prior_variance, noise):
        return self.likelihood(features, prior_variance)


def grid(n, d, likelihood, fixed=None):
    T = Dataset(np.random.default_rng(0).normal(size=(n, d)), np.arange(n) % 2)
    search = Sizes(T, Basis.learn(T), T.y, None, [], likelihood=likelihood)
    return list(search.candidates((None,), fixed))


def sizes(n, d, likelihood=lambda X, c: 0.0):
    return sorted({t.size for t in grid(n, d, likelihood, fixed=1.0)})


def test_sizes_are_a_sixth_of_the_rows_at_most():
    assert sizes(20, 30) == [1, 2, 3]
    assert sizes(60, 300) == [1, 2, 3, 5, 10]
    assert sizes(240, 300) == [1, 2, 3, 5, 10, 20, 40]


def test_every_size_up_to_forty_is_tried_and_larger_ones_until_one_brings_nothing():
    grows = {1: 0.0, 2: 0.0, 3: 0.0, 5: 0.0, 10: 0.0, 20: 0.0, 40: 1.0, 80: 2.0, 160: 2.0}
    assert sizes(1000, 200, lambda X, c: grows[X.shape[1]]) == list(grows)
    assert sizes(1000, 200) == [1, 2, 3, 5, 10, 20, 40]
    assert sizes(1000, 200, lambda X, c: -float(X.shape[1] != 40)) == [1, 2, 3, 5, 10, 20, 40, 80]


def test_all_directions_are_tried_where_there_are_few():
    assert sizes(1000, 7) == [1, 2, 3, 5, 7]


def test_exponents_are_white_half_and_as_they_are():
    found = {(t.size, t.exponent) for t in grid(30, 2, lambda X, c: 0.0, fixed=1.0)}
    assert found == {(1, 1.0), (2, 0.0), (2, 0.5), (2, 1.0)}


@pytest.mark.parametrize("best", [1e-4, 0.01, 0.316, 31.6, 1000.0])
def test_priors_are_climbed_wherever_the_best_is_and_three_wider_ones_kept(best):
    """From 1e-4 to 1e3 in half decades; a likelihood with one peak is climbed to it."""
    found = grid(30, 1, lambda X, c: -abs(np.log10(c / best)))
    assert max(found, key=lambda t: t.held_out).prior_variance == best
    wider = [t.prior_variance for t in found if t.prior_variance > best]
    expected = [c for c in (0.0316, 0.1, 0.316, 1.0, 3.16, 10.0, 31.6, 100.0, 316.0, 1000.0) if c > best]
    if best >= 0.01:
        assert set(expected[:3]) <= set(wider)


@pytest.mark.parametrize(("true", "allowed"), [(0.1, {0.1}), (0.5, {0.6}), (0.95, {0.6, 1.0})])
def test_noise_of_numeric_labels_is_found(true, allowed):
    """Labels of variance 1 of which a known part is noise; 400 rows tell it to a tenth."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(400, 1))
    y = np.sqrt(1 - true) * X[:, 0] + np.sqrt(true) * rng.normal(size=400)
    assert Yardstick.fit(Dataset(X, y)).chosen.noise_variance in allowed


def test_a_thousand_rows_are_searched_at_most():
    some, splits = searched(classes(1300, seed=0), 0, "logistic")
    assert len(some) == 1000
    assert len(searched(classes(900, seed=0), 0, "logistic")[0]) == 900
    assert len(splits) == 6
    assert len(searched(classes(50, seed=0), 0, "softmax")[1]) == 3
    assert len(halves(10, np.random.default_rng(0))) == 6


def test_halves_are_halves():
    for n in (20, 21):
        for a, b in halves(n, np.random.default_rng(0)):
            assert sorted([*a, *b]) == list(range(n))
            assert len(b) - len(a) in (0, 1)


# Groups


def clustered(patients, rows, seed, spread=0.02, d=30):
    """Near-identical rows of each patient; the label is the patient's, and features hardly tell it."""
    rng = np.random.default_rng([seed, 0xC1])
    X, y = rng.normal(size=(patients, d)), rng.integers(0, 2, patients)
    who = np.repeat(np.arange(patients), rows)
    return Dataset(X[who] + spread * rng.normal(size=(len(who), d)), y[who], groups=[f"p{i}" for i in who])


def test_no_group_is_ever_split():
    for T in (clustered(40, 10, 0), clustered(300, 5, 1)):
        sample, splits = searched(T, 3, "logistic")
        assert len(sample) == min(len(T), 1000)
        assert len(sample) == sum((T.groups == g).sum() for g in np.unique(sample.groups))
        assert len(splits) == 6
        for a, b in splits:
            assert not set(sample.groups[a]) & set(sample.groups[b])
            assert sorted([*a, *b]) == list(range(len(sample)))
            assert abs(len(a) - len(b)) <= 10


def test_uneven_groups_are_halved_as_evenly_as_they_allow():
    groups = np.repeat(["a", "b", "c", "d"], [50, 20, 20, 10])
    for a, b in halves(100, np.random.default_rng(0), groups=groups):
        assert min(len(a), len(b)) >= 30
    (a, b), *_ = halves(100, np.random.default_rng(0), groups=np.repeat(["a", "b"], [99, 1]))
    assert {len(a), len(b)} == {1, 99}


def test_groups_too_large_to_be_searched_whole_are_sampled():
    """Of groups of 1,500, or of 300 and 1,500, rows at random: 1,000 are more telling than 300."""
    for counts in ([1500, 1500], [300, 1500, 1500]):
        groups = np.repeat(["a", "b", "c"][: len(counts)], counts)
        data = Dataset(np.zeros((len(groups), 1)), np.zeros(len(groups)), groups=groups)
        sample, splits = searched(data, 0, "logistic")
        assert len(sample) == 1000
        assert set(sample.groups) == set(groups)
        for a, b in splits:
            assert not set(sample.groups[a]) & set(sample.groups[b])


def test_one_group_cannot_be_halved():
    T = classes(40, seed=0)
    assert "one group" in refusal(Yardstick.fit, Dataset(T.X, T.y, groups=["p"] * 40))


def test_copies_of_patients_fool_halves_only_where_groups_are_not_given():
    """40 patients × 10 near-identical rows whose features say nothing of the label.

    So half of the patients says nothing of the others, U(T_a, T_b) ≤ 0 on average; without groups each half
    holds copies of the other's rows, and seems to say a lot.
    """
    T = clustered(40, 10, seed=0)
    fitter = dw.Logistic(1.0).bind(T.X, T.y.astype(float))

    def told(data):
        splits = searched(data, 0, "logistic")[1]
        return np.mean([fitter(np.r_[a, b]).log_z - fitter(a).log_z - fitter(b).log_z for a, b in splits])

    assert told(Dataset(T.X, T.y)) > 20
    assert told(T) < 0


def test_without_groups_halves_are_what_they_were():
    rng = np.random.default_rng([0, 0x7E57])
    T = held_out()
    rng.permutation(len(T))
    expected = [rng.permutation(len(T)) for _ in range(6)]
    sample, splits = searched(T, 0, "logistic")
    assert sample.X.tobytes() == T.X.tobytes()
    for (a, b), p in zip(splits, expected, strict=True):
        assert np.array_equal(np.r_[a, b], p)


# What a user saw


@pytest.mark.parametrize("labels", ["classes", "numeric"])
def test_a_column_that_is_all_but_constant_does_not_blow_up_a_score(labels):
    """1e-33 in the test set, 0.01 in twelve rows of the data: −8e50 nats and +1.5e47 nats once."""
    make = classes if labels == "classes" else numeric_labels
    tiny = 1e-33 * np.random.default_rng(0).normal(size=300)
    T, D = make(200, seed=1), make(300, seed=2)
    T = Dataset(np.column_stack([T.X, tiny[:200]]), T.y)
    clean, noisy = (np.column_stack([D.X, tiny + noise * (np.arange(300) < 12)]) for noise in (0.0, 0.01))
    yard = Yardstick.fit(T, prior_variance=1.0)
    plain, far = (dw.score(Dataset(X, D.y), T, yardstick=yard, pairs=20).value for X in (clean, noisy))
    assert far == pytest.approx(plain, abs=1.0)
