"""Dirichlet on labels alone, against sequential prediction, quadrature, enumeration and sampling."""

from itertools import product

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

from dataworth.inference.gaussian import log_rising
from dataworth.models import Categorical
from golden.sentences import all_refused
from reference import sequential_log_p

seeds = st.integers(0, 2**32 - 1)
checked = settings(max_examples=40, deadline=None, derandomize=True)


def bare(y):
    """Rows without features."""
    y = np.asarray(y, dtype=float)
    return np.empty((len(y), 0)), y


@given(seeds, st.integers(2, 6), st.integers(0, 15), st.floats(0.05, 20))
@checked
def test_evidence_is_sequential_prediction(seed, classes, n, concentration):
    X, y = bare(np.random.default_rng(seed).integers(0, classes, n))
    posterior = Categorical(concentration, classes).fit(X, y)
    assert posterior.log_evidence == pytest.approx(
        sequential_log_p(np.full(classes, concentration), y), abs=1e-10
    )


@pytest.mark.parametrize("concentration", [0.01, 0.5, 1.0, 7.0])
def test_evidence_of_all_sequences_adds_up_to_one(concentration):
    model = Categorical(concentration, 3)
    total = sum(np.exp(model.fit(*bare(y)).log_evidence) for y in product(range(3), repeat=5))
    assert total == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("concentration", [1e-12, 1e-3, 1.0, 999.0, 1001.0, 1e6, 1e12, 1e15])
def test_evidence_in_fifty_digits(concentration):
    """Also where log Γ(a + n) − log Γ(a) has no digits left in floating point."""
    counts = [7, 0, 120]
    with mp.workdps(50):
        a = mp.mpf(concentration)
        exact = sum(mp.loggamma(a + n) - mp.loggamma(a) for n in counts)
        exact -= mp.loggamma(3 * a + sum(counts)) - mp.loggamma(3 * a)
        rising = mp.loggamma(a + mp.mpf("2.5")) - mp.loggamma(a)
    y = np.repeat(np.arange(3.0), counts)
    assert Categorical(concentration, 3).fit(*bare(y)).log_evidence == pytest.approx(float(exact), rel=1e-12)
    assert float(log_rising(concentration, 2.5)) == pytest.approx(float(rising), rel=1e-12)


def test_posterior_density_integrates_to_one_and_has_the_moments_of_a_beta():
    """θ = log p₀/p₁: quadrature over the whole line, by the density alone."""
    posterior = Categorical(0.6).fit(*bare([1, 1, 0, 1]))
    beta = stats.beta(0.6 + 1, 0.6 + 3)

    def expected(f):
        return integrate.quad(
            lambda t: f(t) * np.exp(posterior.log_density(np.array([t]))), -80, 80, limit=400
        )[0]

    assert expected(lambda t: 1.0) == pytest.approx(1.0, abs=1e-7)
    assert expected(lambda t: 1 / (1 + np.exp(-t))) == pytest.approx(beta.mean(), abs=1e-7)
    point = 0.3
    transformed = beta.logpdf(1 / (1 + np.exp(-point))) + np.log(
        1 / (1 + np.exp(-point)) / (1 + np.exp(point))
    )
    assert posterior.log_density(np.array([point])) == pytest.approx(transformed, abs=1e-12)


def test_draws_have_the_moments_of_the_dirichlet():
    """Means of 20,000 draws within 4.5 standard errors: false alarm below 1e-4 for the nine moments."""
    posterior = Categorical(0.5, 3).fit(*bare([0, 2, 2, 2, 0, 2]))
    theta = posterior.sample(np.random.default_rng(11), 20_000)
    p = np.exp([posterior.log_probabilities(t) for t in theta])
    truth = stats.dirichlet(posterior.alpha)
    for found, mean in [(p, truth.mean()), (p**2, truth.var() + truth.mean() ** 2)]:
        assert (np.abs(found.mean(axis=0) - mean) < 4.5 * found.std(axis=0) / np.sqrt(len(p))).all()
    assert (np.abs(p.mean(axis=0) - [1 / 3] * 3) > 0.05).any()
    draws = Categorical(1e-6, 3).fit(*bare([])).sample(np.random.default_rng(0), 1000)
    assert np.isfinite(draws).all()


def test_a_fitter_counts_the_pool_it_is_bound_to():
    X, y = np.zeros((6, 1)), np.array([0.0, 3.0, 1.0, 1.0, 2.0, 1.0])
    fitter = Categorical().bind(X, y)
    few = fitter(np.array([0, 2]))
    assert few.state.counts.tolist() == [1, 1, 0, 0]  # four classes, since the pool has four
    assert few.log_z == pytest.approx(sequential_log_p(np.ones(4), [0, 1]))
    assert fitter(np.array([0, 2]), targets=np.array([3.0, 3.0])).state.counts.tolist() == [0, 0, 0, 2]
    weighted = fitter(np.array([0, 2]), weights=np.array([2.0, 0.5]))
    assert weighted.state.counts.tolist() == [2, 0.5, 0, 0]
    assert fitter(np.array([0, 0, 2, 3])).log_z == pytest.approx(sequential_log_p(np.ones(4), [0, 0, 1, 1]))
    assert fitter.predict(fitter(np.arange(6)), np.arange(2)).tolist() == [1.0, 1.0]
    assert fitter.accuracy(fitter(np.arange(6)), np.arange(6)) == pytest.approx(0.5)
    assert fitter.information_gain(few) == few.state.information_gain()
    assert np.isnan(fitter.accuracy(few, np.arange(0)))
    assert Categorical().bind(X, np.zeros(6)).classes == 2


def test_simulated_labels_follow_the_prior():
    """Labels of pairs are equal with probability (a + 1)/(Ka + 1): 4,000 pairs, within 4 standard errors."""
    model, rng = Categorical(0.5, 3), np.random.default_rng(2)
    equal = [np.ptp(model.simulate(rng, np.empty((2, 0)))) == 0 for _ in range(4000)]
    expected = 1.5 / 2.5
    assert abs(np.mean(equal) - expected) < 4 * np.sqrt(expected * (1 - expected) / 4000)
    assert set(Categorical().simulate(rng, np.empty((50, 0)))) <= {0.0, 1.0}


def test_sentences():
    X, y = bare([0, 1])
    bound = Categorical().bind(X, y)
    cases = [(Categorical, 0.0), (Categorical, 1.0, 1), (Categorical, 1.0, 2.5)]
    cases += [(Categorical(classes=n).fit, *bare(labels)) for n, labels in ((2, [0, 2]), (None, [0.5, 1]))]
    cases += [(Categorical().fit, *bare([-1, 1])), (Categorical().fit(X, y).log_density, np.zeros(2))]
    all_refused("categorical", [*cases, lambda: bound(np.arange(2), targets=np.array([0.0, 5.0]))])
